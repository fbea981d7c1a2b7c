"""Chemistry dumps to measure with: seeded, made of published records and answers as models write them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from corpora import rel_records
from engine_runs import write_dump as write_dump
from rdkit import Chem, RDLogger

RDLogger.DisableLog("rdApp.*")

SPELLINGS: Final = 30
"""Ways of writing a molecule that a dump draws from: models repeat themselves, but not word for word."""

ROLLOUTS: Final = 8
"""Of each prompt of a batch of rewards."""

INVALID: Final = ("C1CC(", "CC(C", "C(C)(C)(C)(C)C", "not sure", "CC1CC", "OC(=O", "F=C", "C=O=C", "c1ccc")
"""Answers that are no molecules; the kinds are those of `tests/data/hostile/bad_smiles.txt`."""


@cache
def _spellings(smiles: str) -> tuple[str, ...]:
    """Different ways to write a molecule, the canonical one first."""
    rng = random.Random(smiles)
    return tuple({smiles: None} | {_random_spelling(rng, smiles): None for _ in range(SPELLINGS - 1)})


def _spell(rng: random.Random, smiles: str) -> str:
    """As a model would: half of the time the usual form."""
    return smiles if rng.random() < 0.5 else rng.choice(_spellings(smiles))


def _reasoning(rng: random.Random) -> str:
    return "Let me think about the degrees of unsaturation and the ring systems. " * rng.randrange(4)


def missing_isomers(
    n: int, seed: int = 0, samples: int = 1, *, distinct: bool = False
) -> Iterator[dict[str, Any]]:
    """REL-C3 records: right isomers in varied spellings, some repeated, wrong ones, some invalid.

    ``samples`` answers for each prompt in a row. ``distinct`` spells every molecule anew each time.
    """
    rng = random.Random(seed)
    records = rel_records("REL-C3")
    bank = sorted({smiles for record in records for smiles in record["answer"]["missing_smiles"]})
    for number in range(n):
        if number % samples == 0:
            record = rng.choice(records)
        gold = record["answer"]["missing_smiles"]
        right = rng.sample(gold, round(len(gold) * rng.uniform(0.2, 1)))
        wrong = [rng.choice(bank) for _ in range(rng.randrange(1 + len(gold) // 5))]
        given = [rng.choice(record["answer"]["molecules"])] if rng.random() < 0.2 else []
        spell = _random_spelling if distinct else _spell
        answers = [spell(rng, smiles) for smiles in right + wrong + given]
        if rng.random() < 0.3:
            answers.append(rng.choice(INVALID))
        if rng.random() < 0.2 and answers:
            answers.append(rng.choice(answers))
        rng.shuffle(answers)
        body = "\n".join(f"<smiles>{smiles}</smiles>" for smiles in answers)
        yield {**record, "id": f"{record['id']}-{number}", "response": _reasoning(rng) + body}


def _random_spelling(rng: random.Random, smiles: str) -> str:
    """Its atoms in another order, perhaps with all bonds or hydrogens explicit."""
    mol = Chem.MolFromSmiles(smiles)
    order = list(range(mol.GetNumAtoms()))
    rng.shuffle(order)
    kind = rng.random()
    return str(
        Chem.MolToSmiles(
            Chem.RenumberAtoms(mol, order),
            canonical=False,
            allBondsExplicit=kind < 0.2,
            allHsExplicit=0.1 <= kind < 0.4,
        )
    )


def motifs(n: int, seed: int = 0, samples: int = 1, *, distinct: bool = False) -> Iterator[dict[str, Any]]:
    """REL-C2 records: right motifs in varied spellings, parts and extensions of them, other molecules of
    the list, invalid text; samples and spellings as of `missing_isomers`."""
    rng = random.Random(seed)
    spell = _random_spelling if distinct else _spell
    records = rel_records("REL-C2")
    golds = sorted({record["answer"]["smiles"] for record in records})
    for number in range(n):
        if number % samples == 0:
            record = rng.choice(records)
        gold = record["answer"]["smiles"]
        kind = rng.random()
        if kind < 0.35:
            answer = spell(rng, gold)
        elif kind < 0.55:
            answer = spell(rng, _altered(rng, gold))
        elif kind < 0.85:
            answer = spell(rng, rng.choice(record["answer"]["molecules"]))
        elif kind < 0.95:
            answer = spell(rng, rng.choice(golds))
        else:
            answer = rng.choice(INVALID)
        response = f"{_reasoning(rng)}<smiles>{answer}</smiles>"
        yield {**record, "id": f"{record['id']}-{number}", "response": response}


def _altered(rng: random.Random, smiles: str) -> str:
    """The molecule with an atom more or a terminal atom less, or itself where that is none."""
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    atom = rng.randrange(mol.GetNumAtoms())
    if rng.random() < 0.5:
        mol.AddBond(atom, mol.AddAtom(Chem.Atom(rng.choice((6, 7, 8)))), Chem.BondType.SINGLE)
    else:
        ends = [a.GetIdx() for a in mol.GetAtoms() if a.GetDegree() == 1]
        if ends and mol.GetNumAtoms() > 2:
            mol.RemoveAtom(rng.choice(ends))
    text = Chem.MolToSmiles(mol)
    return text if Chem.MolFromSmiles(text) is not None else smiles


class Batch(NamedTuple):
    """Columns of a batch of rewards."""

    task: str
    answers: list[dict[str, Any]]
    responses: list[str]


def batch(task: str, n: int, seed: int) -> Batch:
    """What a GRPO step asks for: eight rollouts a prompt, every molecule spelled anew, so that nothing has been seen
    before."""
    make = missing_isomers if task == "REL-C3" else motifs
    records = list(make(n, seed, ROLLOUTS, distinct=True))
    return Batch(task, [row["answer"] for row in records], [row["response"] for row in records])
