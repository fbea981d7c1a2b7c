"""REL's scorers as plainly as they can be written, from the rules of their documents.

Slow twins: the tests hold the rooms against them on input without published outputs.
"""

from __future__ import annotations

import re
from typing import Any

from rdkit import Chem, RDLogger
from rdkit.Chem import rdFMCS

RDLogger.DisableLog("rdApp.*")


def score_a(answer: dict[str, Any], response: Any) -> dict[str, Any]:
    target = answer["target"]
    pred = _panel(response)
    return {"correct": pred == target, "pred": pred, "gold": target}


def _panel(response: Any) -> int:
    if not response:
        return 0
    text = response.strip()
    match = re.search(r"Answer\s*#?\s*(\d+)", text, re.IGNORECASE)
    if match:
        number = int(match.group(1))
        return number - 1 if 1 <= number <= 8 else 0
    match = re.search(r"\b([1-8])\b", text)
    if match:
        return int(match.group(1)) - 1
    match = re.search(r"\b([0-7])\b", text)
    return int(match.group(1)) if match else 0


def score_b(answer: dict[str, Any], response: str) -> dict[str, Any]:
    text = response.lower()
    has_yes, has_no = "yes" in text, "no" in text
    label = "yes" if has_yes and not has_no else "no" if has_no and not has_yes else None
    taxa = re.findall(r"taxon[_\s]?(\d+)", text)
    if not taxa:
        taxa = re.findall(r"\b(\d+)\b", text)
    gold_label, gold_taxa = answer["label"].lower(), answer["taxa"]
    precision: float = -1
    recall: float = -1
    f1: float = -1
    if gold_label == "no":
        correct = label == "no" and len(taxa) == 0
    else:
        if len(gold_taxa) > 0:
            ours, gold = set(taxa), {str(taxon).lower() for taxon in gold_taxa}
            common = len(ours & gold)
            precision = common / len(ours) if ours else 0.0
            recall = common / len(gold)
            f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        correct = label == "yes" and (f1 > 0 or len(gold_taxa) == 0)
    return {
        "correct": correct,
        "pred_label": label,
        "gold_label": gold_label,
        "pred_taxa": taxa,
        "gold_taxa": gold_taxa,
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


def score_c1(answer: dict[str, Any], response: Any) -> dict[str, Any]:
    match = re.search(r"<\s*(yes|no)\s*>", response, re.IGNORECASE) if isinstance(response, str) else None
    pred = match.group(1).capitalize() if match else None
    return {"correct": pred == answer["label"], "pred": pred, "gold": answer["label"]}


_TAG = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)


def molecule(smiles: Any) -> Any:
    return Chem.MolFromSmiles(smiles) if isinstance(smiles, str) and smiles else None


def same(a: str, b: str) -> bool:
    """Without stereo, each is a substructure of the other."""
    first, second = molecule(a), molecule(b)
    if first is None or second is None:
        return False
    first = Chem.MolFromSmiles(Chem.MolToSmiles(first, isomericSmiles=False))
    second = Chem.MolFromSmiles(Chem.MolToSmiles(second, isomericSmiles=False))
    if first is None or second is None:
        return False
    return bool(first.HasSubstructMatch(second) and second.HasSubstructMatch(first))


def score_c2(answer: dict[str, Any], response: str) -> dict[str, Any]:
    gold = answer["smiles"]
    match = _TAG.search(response)
    pred = match.group(1).strip() if match else None
    result = {
        "correct": False,
        "pred": pred,
        "gold": gold,
        "response_is_substructure_of_correct": False,
        "correct_is_substructure_of_response": False,
        "overlap_metric": 0.0,
    }
    ours, theirs = molecule(pred), molecule(gold)
    if ours is None or theirs is None:
        return result
    result["correct"] = same(pred, gold)
    in_gold = bool(theirs.HasSubstructMatch(ours))
    in_response = bool(ours.HasSubstructMatch(theirs))
    sizes = (ours.GetNumHeavyAtoms(), theirs.GetNumHeavyAtoms())
    if in_gold or in_response:
        overlap = min(sizes)
    else:
        found = rdFMCS.FindMCS([ours, theirs], timeout=5)
        pattern = Chem.MolFromSmarts(found.smartsString) if found.smartsString else None
        overlap = pattern.GetNumHeavyAtoms() if pattern is not None else 0
    result["response_is_substructure_of_correct"] = in_gold
    result["correct_is_substructure_of_response"] = in_response
    result["overlap_metric"] = overlap / max(sizes) if max(sizes) else 0.0
    return result


def score_c3(answer: dict[str, Any], response: str) -> dict[str, Any]:
    gold = answer.get("missing_smiles", [])
    pred = [text.strip() for text in _TAG.findall(response)]
    left = list(gold)
    tp = 0
    for smiles in pred:
        for at, candidate in enumerate(left):
            if same(smiles, candidate):
                del left[at]
                tp += 1
                break
    fp, fn = len(pred) - tp, len(gold) - tp
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {
        "correct": tp == len(gold) and fp == 0,
        "pred": pred,
        "gold": gold,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


SCORERS = {"REL-A1": score_a, "REL-B1": score_b, "REL-C1": score_c1, "REL-C2": score_c2, "REL-C3": score_c3}
