"""What nothing can be faster than, or claims to be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

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


def write_rdkit_work(dump: Path, processes: int, *, strict: bool = False) -> list[Path]:
    """What RDKit must do for a dump, dealt out to processes: a distinct SMILES a line, and, for REL-C2,
    two molecules a line for each distinct pair where neither contains the other; under ``strict`` for each of
    molecules that differ."""
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    smiles: dict[str, None] = {}
    pairs: dict[tuple[str, str], None] = {}
    with dump.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            answers = [text.strip() for text in _TAG.findall(row["response"])]
            gold = row["answer"].get("smiles")
            golds = row["answer"].get("missing_smiles", [gold])
            smiles.update(dict.fromkeys([*answers[: None if gold is None else 1], *golds]))
            if gold is not None and answers:
                pairs[answers[0], gold] = None
    work = list(smiles)
    molecules = {text: Chem.MolFromSmiles(text) for text in smiles}
    for pred, gold in pairs:
        a, b = molecules[pred], molecules[gold]
        if a is None or b is None:
            continue
        there, here = a.HasSubstructMatch(b), b.HasSubstructMatch(a)
        if not (there and here if strict else there or here):
            work.append(f"{pred}\t{gold}")
    paths = [dump.with_suffix(f".work{number}") for number in range(processes)]
    for number, path in enumerate(paths):
        path.write_text("".join(f"{item}\n" for item in work[number::processes]), "utf-8")
    return paths


def rdkit_alone(work: list[Path], *, strict: bool = False) -> None:
    """The RDKit floor: parse and canonicalise each distinct SMILES once, search each pair that needs it
    once, log off, in as many processes as there are files of work."""
    options = ["strict"] if strict else []
    running = [subprocess.Popen([sys.executable, "-c", _RDKIT, str(path), *options]) for path in work]
    for process in running:
        if process.wait():
            raise RuntimeError("the RDKit floor failed")
