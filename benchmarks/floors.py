"""What nothing can be faster than, or claims to be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rdkit import Chem, RDLogger

from .workloads_chem import Batch

_DECODE = """
import sys, orjson
with open(sys.argv[1], "rb") as file:
    for line in file:
        orjson.loads(line)
"""


def decode(path: Path) -> None:
    """The decode floor: one process, every line through orjson, nothing else."""
    subprocess.run([sys.executable, "-c", _DECODE, str(path)], check=True)


_RDKIT = """
import sys
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFMCS
RDLogger.DisableLog("rdApp.*")
strict = rdFMCS.MCSParameters()
strict.Timeout = 5
strict.AtomCompareParameters.RingMatchesRingOnly = True
strict.AtomCompareParameters.MatchFormalCharge = True
strict.BondCompareParameters.RingMatchesRingOnly = True
strict.BondCompareParameters.CompleteRingsOnly = True
strict.BondTyper = rdFMCS.BondCompare.CompareOrderExact
for line in open(sys.argv[1], encoding="utf-8"):
    first, tab, second = line.rstrip("\\n").partition("\\t")
    mol = Chem.MolFromSmiles(first)
    if tab:
        pair = [mol, Chem.MolFromSmiles(second)]
        rdFMCS.FindMCS(pair, strict) if "strict" in sys.argv else rdFMCS.FindMCS(pair, timeout=5)
    elif mol is not None:
        Chem.MolToSmiles(mol)
"""

_TAG = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)


def distinct_work(
    rows: Iterable[tuple[dict[str, Any], str]], *, strict: bool = False
) -> tuple[dict[str, Chem.Mol], list[tuple[str, str]]]:
    """What RDKit must do for golds and responses: distinct SMILES with their molecules, None where they are none; and,
    for REL-C2, each distinct pair where neither contains the other; under ``strict`` each of molecules that differ."""
    RDLogger.DisableLog("rdApp.*")
    pairs: dict[tuple[str, str], None] = {}
    smiles: dict[str, None] = {}
    for answer, response in rows:
        answers = [text.strip() for text in _TAG.findall(response)]
        gold = answer.get("smiles")
        golds = answer.get("missing_smiles", [gold])
        smiles.update(dict.fromkeys([*answers[: None if gold is None else 1], *golds]))
        if gold is not None and answers:
            pairs[answers[0], gold] = None
    molecules = {text: Chem.MolFromSmiles(text) for text in smiles}

    def differ(pred: str, gold: str) -> bool:
        a, b = molecules[pred], molecules[gold]
        if a is None or b is None:
            return False
        there, here = a.HasSubstructMatch(b), b.HasSubstructMatch(a)
        return not (there and here if strict else there or here)

    return molecules, [pair for pair in pairs if differ(*pair)]


def write_rdkit_work(dump: Path, processes: int, *, strict: bool = False) -> list[Path]:
    """The work of a dump, dealt out to processes: a SMILES a line, or two molecules that are searched."""
    with dump.open(encoding="utf-8") as file:
        rows = [(row["answer"], row["response"]) for row in map(json.loads, file)]
    molecules, pairs = distinct_work(rows, strict=strict)
    work = [*molecules, *map("\t".join, pairs)]
    paths = [dump.with_suffix(f".work{number}") for number in range(processes)]
    for number, path in enumerate(paths):
        path.write_text("".join(f"{item}\n" for item in work[number::processes]), "utf-8")
    return paths


def rdkit_here(batch: Batch, *, strict: bool) -> int:
    """The RDKit floor of a batch in this process: each distinct SMILES parsed and made canonical once, each pair that
    needs it searched once."""
    from relfast.chem.matching import common_substructure, strict_common_substructure
    from relfast.chem.molecule import Molecule

    molecules, pairs = distinct_work(zip(batch.answers, batch.responses, strict=True), strict=strict)
    for mol in molecules.values():
        if mol is not None:
            Chem.MolToSmiles(mol)
    for pair in pairs:
        one, other = (Molecule(molecules[text], text) for text in pair)
        if strict:
            strict_common_substructure(one, other)
        else:
            common_substructure(one, other, 5)
    return len(molecules)


def rdkit_alone(work: list[Path], *, strict: bool = False) -> None:
    """The RDKit floor: parse and canonicalise each distinct SMILES once, search each pair that needs it
    once, log off, in as many processes as there are files of work."""
    options = ["strict"] if strict else []
    running = [subprocess.Popen([sys.executable, "-c", _RDKIT, str(path), *options]) for path in work]
    for process in running:
        if process.wait():
            raise RuntimeError("the RDKit floor failed")
