"""Reward batches to measure with: published REL-C2 and REL-C3 golds (MIT), seeded answers.

A batch is what a GRPO step asks for: 64 prompts with 8 rollouts each, every molecule spelled anew, so that
nothing has been seen before.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any, Final, NamedTuple

from rdkit import Chem, RDLogger

from . import workloads_chem

RDLogger.DisableLog("rdApp.*")

ROLLOUTS: Final = 8


class Batch(NamedTuple):
    """Columns of a batch, and the molecules in it."""

    task: str
    answers: list[dict[str, Any]]
    responses: list[str]
    molecules: list[str]
    pairs: list[tuple[str, str]]


@cache
def published(task: str) -> list[dict[str, Any]]:
    """The published golds of a task."""
    return [record["answer"] for record in workloads_chem.published(task)]


def _spell(rng: random.Random, smiles: str) -> str:
    mol = Chem.MolFromSmiles(smiles)
    order = list(range(mol.GetNumAtoms()))
    rng.shuffle(order)
    return str(Chem.MolToSmiles(Chem.RenumberAtoms(mol, order), canonical=False))


def missing_isomers(n: int, seed: int, spelling: int | None = None) -> Batch:
    """REL-C3: most of the missing isomers, some wrong ones; another ``spelling`` of a seed is the same
    molecules, written differently."""
    rng = random.Random(seed)
    pen = rng if spelling is None else random.Random(spelling)
    golds = published("REL-C3")
    batch = Batch("REL-C3", [], [], [], [])
    for number in range(n):
        if number % ROLLOUTS == 0:
            gold = rng.choice(golds)
        right = rng.sample(gold["missing_smiles"], max(1, round(len(gold["missing_smiles"]) * rng.random())))
        wrong = rng.sample(rng.choice(golds)["missing_smiles"], 1)
        answer = [_spell(pen, smiles) for smiles in right + wrong]
        batch.answers.append(gold)
        batch.responses.append("\n".join(f"<smiles>{smiles}</smiles>" for smiles in answer))
        batch.molecules.extend(answer + gold["missing_smiles"])
    return batch


def motifs(n: int, seed: int) -> Batch:
    """REL-C2: half of the answers right, half another record's motif."""
    rng = random.Random(seed)
    golds = published("REL-C2")
    batch = Batch("REL-C2", [], [], [], [])
    for number in range(n):
        if number % ROLLOUTS == 0:
            gold = rng.choice(golds)
        answer = _spell(rng, (gold if rng.random() < 0.5 else rng.choice(golds))["smiles"])
        batch.answers.append(gold)
        batch.responses.append(f"It is <smiles>{answer}</smiles>")
        batch.molecules.extend((answer, gold["smiles"]))
        batch.pairs.append((answer, gold["smiles"]))
    return batch


def rdkit_floor(batch: Batch, *, strict: bool) -> int:
    """What RDKit cannot do less of: each distinct SMILES parsed and made canonical once, and one
    common substructure for each distinct pair of which neither contains the other."""
    from relfast.chem.matching import common_substructure, contains, strict_common_substructure
    from relfast.chem.molecule import Molecule

    parsed = {}
    for smiles in dict.fromkeys(batch.molecules):
        mol = Chem.MolFromSmiles(smiles)
        Chem.MolToSmiles(mol)
        parsed[smiles] = Molecule(mol, smiles)
    search = strict_common_substructure if strict else common_substructure
    for ours, theirs in dict.fromkeys(batch.pairs):
        a, b = parsed[ours], parsed[theirs]
        same = a.key == b.key if strict else contains(a, b) or contains(b, a)
        if not same:
            search(a, b, 5)
    return len(parsed)


def settle_the_floor() -> None:
    """Have the C library put together what RDKit has freed, which it does when next asked for more than a
    kilobyte: up to 13 ms, which would be counted to what runs after the floor."""
    bytes(1 << 14)
