"""Which molecules the kernels of REL-C leave to RDKit, and why: the table of docs/tasks/rel-c.md, counted anew.

    python tests/left_to_rdkit.py

Texts that are or try to be a SMILES: in 1,500 real responses of 18 models to chemistry prompts (those of the final
JSON), in the published records, in what real models wrote that RDKit refuses, and the published molecules written
in ten other ways each. A cause is found by taking away what it is: by RDKit, of the molecule, not by the kernel.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from corpora import DATA, rel_records, rows
from molecule_pairs import molecules
from rdkit import Chem, RDLogger
from relfast_kernels.compiled import native
from spellings import spell

from relfast.chem import common_substructure, smiles_table
from relfast.chem.common_substructure import Prepared, prepared
from relfast.chem.smiles_table import SmilesTable
from relfast.tasks.rel_c.extract import read_molecules

SPELLINGS = 10
_ORGANIC = frozenset(("H", "B", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Si", "Se", "As", "Te"))
_BEYOND = re.compile(r"[^\x21-\x7e]")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict):
        for inside in value.values():
            yield from _texts(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _texts(inside)


def responded() -> set[str]:
    """What real models named in the JSON that they answered with."""
    found = set()
    for row in rows("rel/chem_llm_responses.jsonl.gz"):
        for piece in re.findall(r"\{[^{}]*\}", row["response"] or ""):
            try:
                found.update(_texts(json.loads(piece)))
            except ValueError:
                continue
        found.update(re.findall(r"<(?:smiles|SMILES)>\s*([^<\r\n]+)", row["response"] or ""))
        found.add(row["gold"] or "")
    return {
        text for text in found if len(text) > 2 and read_molecules(f"<smiles>{text}</smiles>", one=True)[0]
    }


def published() -> set[str]:
    found: set[str] = set()
    for task in ("REL-C1", "REL-C2", "REL-C3"):
        for record in rel_records(task):
            answer = record["answer"]
            found.update(answer.get("molecules") or ())
            found.update(answer.get("missing_smiles") or [answer.get("smiles") or ""])
    return found - {""}


def refused() -> set[str]:
    lines = (DATA / "hostile" / "bad_smiles.txt").read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def respelled() -> set[str]:
    rng = random.Random(1)
    return {spell(smiles, rng) for smiles in molecules() for _ in range(SPELLINGS)}


def cause(text: str) -> str:
    """Why a text is not read, as far as it and RDKit's molecule tell."""
    if _BEYOND.search(text):
        return "blanks, other characters than ASCII"
    if isinstance(prepared(text), Prepared):
        return "many symmetries, so that no canonical code is found in time (C3 only)"
    mol = Chem.MolFromSmiles(text)
    if mol is None:
        return "no molecule, which only RDKit's own steps tell"
    if any(atom.GetAtomicNum() == 0 for atom in mol.GetAtoms()) or re.search(r"[~$*]|->|<-", text):
        return "wildcards, bonds beyond the ordinary"
    if mol.GetNumAtoms() > 60 or len(text) > 1_000:
        return "more than 60 atoms, or 1,000 characters"
    if any(atom.GetAtomicNum() == 1 for atom in mol.GetAtoms()):
        return "hydrogens that stay atoms"
    if any(atom.GetIsotope() for atom in mol.GetAtoms()):
        return "isotopes (searches only)"
    if any(atom.GetSymbol() not in _ORGANIC for atom in mol.GetAtoms()):
        return "metals with bonds, rare elements"
    if any(atom.GetDegree() > 6 for atom in mol.GetAtoms()):
        return "more than six bonds at an atom"
    if any(
        atom.GetSymbol() in ("P", "Cl", "Br", "I") and atom.GetTotalValence() > 2 for atom in mol.GetAtoms()
    ):
        return "phosphorus and halogens that RDKit rewrites"
    return "rings where it depends on RDKit's choice of rings what is aromatic"


def left(table: SmilesTable, text: str) -> tuple[bool, bool, bool]:
    """Whether a text is left to RDKit: by reference lists, strict lists, and comparisons of pairs."""
    theirs = prepared(text)
    return (
        bool(table.match([([text], [])])[0].unknown),
        table.judge([(["C"], [text], ())])[0] is None,
        theirs is None,
    )


def main() -> None:
    RDLogger.DisableLog("rdApp.*")
    for unit in (smiles_table.UNIT, common_substructure.UNIT):
        if native.load(unit) is None:
            native.build(unit)
    table = smiles_table.simple_table()
    assert table is not None
    assert isinstance(prepared("C"), Prepared)
    print("| texts | distinct | C3 | C3, `strict` | C2 |\n|---|---:|---:|---:|---:|")
    causes: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for name, texts in (
        ("real responses", responded()),
        ("what models wrote and RDKit refuses", refused()),
        ("published records", published()),
        ("published molecules, respelled", respelled()),
    ):
        counts = [0, 0, 0]
        for text in sorted(texts):
            found = left(table, text)
            counts = [n + one for n, one in zip(counts, found, strict=True)]
            RDLogger.DisableLog("rdApp.*")
            if any(found):
                why = cause(text)
                causes[f"{name}: {why}"] += 1
                examples.setdefault(f"{name}: {why}", text)
        shares = " | ".join(f"{100 * n / len(texts):.2f} %" for n in counts)
        print(f"| {name} | {len(texts):,} | {shares} |")
    print("\n| cause | texts | such as |\n|---|---:|---|")
    for name, n in sorted(causes.items()):
        print(f"| {name} | {n} | `{examples[name][:60]}` |")


if __name__ == "__main__":
    main()
