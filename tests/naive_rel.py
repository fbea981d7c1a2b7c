"""REL's scorers as plainly as they can be written, from the rules of their documents, with Python's own `re`: what tests and
benchmarks hold ours against."""

from __future__ import annotations

import re
from typing import Any

from rdkit import Chem, RDLogger

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


def claim(response: str) -> tuple[str | None, list[str]]:
    """REL-B1's label and taxa."""
    text = response.lower()
    yes, no = "yes" in text, "no" in text
    taxa = re.findall(r"taxon[_\s]?(\d+)", text) or re.findall(r"\b(\d+)\b", text)
    return None if yes == no else "yes" if yes else "no", taxa


def score_c1(answer: dict[str, Any], response: Any) -> dict[str, Any]:
    match = re.search(r"<\s*(yes|no)\s*>", response, re.IGNORECASE) if isinstance(response, str) else None
    pred = match.group(1).capitalize() if match else None
    return {"correct": pred == answer["label"], "pred": pred, "gold": answer["label"]}


_TAG = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)


def tags(response: str) -> list[str]:
    return [text.strip() for text in _TAG.findall(response)]


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


def score_c3(answer: dict[str, Any], response: str) -> dict[str, Any]:
    gold = answer.get("missing_smiles", [])
    pred = tags(response)
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
