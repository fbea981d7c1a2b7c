"""Writes the demo dump that ships with the package: published REL records with responses made up from gold.

    python benchmarks/make_demo.py tests/data/rel relfast/data/rel_demo.jsonl.gz

The records are published ones, without their metadata; the responses are written here: right, wrong, half
right, unreadable and hostile, with or without reasoning, so that every kind of row occurs. The same seed
gives the same text with one version of RDKit (it writes the molecules' other spellings).

Another benchmark joins with a line in `PLAN` and a function in `WRITERS`.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from rdkit import Chem, RDLogger, rdBase

RDLogger.DisableLog("rdApp.*")

SEED: Final = 20260321
SAMPLES: Final = 4
"""Responses of a prompt that was sampled more than once."""

SAMPLED: Final = 0.1
"""Share of prompts with several samples."""

Record = dict[str, Any]


class Part(NamedTuple):
    """Records of a file: how many, and how often the made-up model is right about them."""

    file: str
    n: int
    skill: float


PLAN: Final[dict[str, Part]] = {
    "REL-A1": Part("REL-A1", 20, 0.9),
    "REL-A2": Part("REL-A2", 20, 0.7),
    "REL-A3": Part("REL-A3", 20, 0.8),
    "REL-A4": Part("REL-A4", 20, 0.6),
    "REL-B1": Part("REL-B1_all", 25, 0.4),
    "REL-C1": Part("REL-C1", 80, 0.7),
    "REL-C2": Part("REL-C2", 80, 0.35),
    "REL-C3": Part("REL-C3", 45, 0.3),
}


def spell(smiles: str, rng: random.Random) -> str:
    """The molecule in another spelling, most of the time."""
    if rng.random() < 0.3:
        return smiles
    rdBase.SeedRandomNumberGenerator(rng.randrange(1 << 30))
    return str(Chem.MolToSmiles(Chem.MolFromSmiles(smiles), doRandom=True))


def panel(record: Record, rng: random.Random, right: bool) -> str:
    target = record["answer"]["target"] + 1
    number = target if right else rng.choice([n for n in range(1, 9) if n != target])
    forms = [
        "Answer {}",
        "{}",
        "**Answer: {}**",
        "The missing panel is {}.",
        "\\boxed{{{}}}",
        "Option {}",
        "The correct answer is option {}.",
    ]
    return rng.choice(forms).format(number)


def homoplasy(record: Record, rng: random.Random, right: bool) -> str:
    gold = record["answer"]
    says_yes = (gold["label"] == "yes") is right or (gold["label"] == "yes" and rng.random() < 0.5)
    if not says_yes:
        return rng.choice(["No", "No.", "No, I see no structured convergence."])
    taxa = [str(taxon) for taxon in gold["taxa"]] if right else []
    while len(taxa) < 2 or (not right and len(taxa) < 4) or rng.random() < 0.2:
        taxa.append(str(rng.randint(2, 50)))
    taxa = list(dict.fromkeys(taxa))
    return rng.choice(["Yes. The taxa involved are {0}.", "Yes\n{0}", "yes: {0}"]).format(
        ", ".join(f"taxon_{taxon}" for taxon in taxa)
    )


def label(record: Record, rng: random.Random, right: bool) -> str:
    gold = record["answer"]["label"]
    return f"<{gold if right else {'Yes': 'No', 'No': 'Yes'}[gold]}>"


def motif(record: Record, rng: random.Random, right: bool) -> str:
    gold = record["answer"]["smiles"]
    if right:
        return f"<smiles>{spell(gold, rng)}</smiles>"
    molecule = rng.choice([_shortened(gold, rng), "C" + gold, rng.choice(record["answer"]["molecules"])])
    return f"<smiles>{molecule}</smiles>"


def _shortened(smiles: str, rng: random.Random) -> str:
    """The molecule without one of its atoms, or its text cut off where that leaves no molecule."""
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    mol.RemoveAtom(rng.randrange(mol.GetNumAtoms()))
    text = Chem.MolToSmiles(mol)
    return text if "." not in text and Chem.MolFromSmiles(text) is not None else smiles[:-2]


def isomers(record: Record, rng: random.Random, right: bool) -> str:
    gold = record["answer"]["missing_smiles"]
    share = 1.0 if right else rng.uniform(0.1, 0.9)
    named = [spell(smiles, rng) for smiles in gold if rng.random() < share]
    if not right:
        extra = record["answer"]["molecules"] + named + ["C1CC(", "CCO"]
        named += rng.choices(extra, k=rng.randint(0, 6))
    rng.shuffle(named)
    return "\n".join(f"<smiles>{smiles}</smiles>" for smiles in named)


WRITERS: Final[dict[str, Callable[[Record, random.Random, bool], str]]] = {
    **dict.fromkeys(("REL-A1", "REL-A2", "REL-A3", "REL-A4"), panel),
    "REL-B1": homoplasy,
    "REL-C1": label,
    "REL-C2": motif,
    "REL-C3": isomers,
}

REASONING: Final = [
    "{}",
    "{}",
    "<think>\nI compare the items one by one. Then 3 of 8 remain, no, yes, 2 of 8.\n</think>\n\n{}",
    "Let me go through this step by step.\n\n1. I look at every item.\n2. One explanation is left.\n\n{}",
]

UNREADABLE: Final[list[Any]] = [
    "",
    "I am not able to answer this.",
    None,
    "<think>This is a long chain of thought that was cut off",
    "{}",
]

# each ends well within the deadline, in-process too; the published scorers take far longer for some
HOSTILE: Final[dict[str, list[str]]] = {
    "REL-A": ["Answer" + " " * 20_000, "1 2 3 4 5 6 7 8", "Answer 1 or Answer 2", "Answer " + "9" * 5_000],
    "REL-B": [
        "eyes 15", "Bayesian analysis: 15", "Yes and no",
        "Yes " + ", ".join(f"taxon_{n}" for n in range(1, 101)),
    ],
    "REL-C1": ["Return exactly one of:\n<Yes>\nor\n<No>", "<Yes> <No>", "<" + " " * 20_000],
    "REL-C2": [
        "<smiles>C.C.C.C.C.C.N.N</smiles>", "<smiles>CC |atomProp:0.molAtomMapNumber.x|</smiles>",
        "<smiles>*~*~*(~*~*)~*1~*~*~*~*~*~1</smiles>", "<smiles>" + "C(" * 5_000 + "</smiles>",
        "<smiles>YOUR_SMILES_HERE</smiles>",
    ],
    "REL-C3": ["<smiles>C~C~C(~C)~F</smiles>", "<smiles>C</smiles>" * 500, "<smiles>C1CC(</smiles>\n" * 50],
}  # fmt: skip


def response(record: Record, rng: random.Random, skill: float) -> Any:
    """One made-up response."""
    fate = rng.random()
    task = record["task"]
    if fate < 0.04:
        return rng.choice(UNREADABLE)
    if fate < 0.08:
        return rng.choice(HOSTILE[task if task in HOSTILE else task[:5]])
    text = WRITERS[task](record, rng, rng.random() < skill)
    return rng.choice(REASONING).format(text) if task != "REL-C3" else text


def dump(folder: Path) -> Iterator[Record]:
    """The records with their responses."""
    rng = random.Random(SEED)
    for part in PLAN.values():
        with gzip.open(folder / f"{part.file}.jsonl.gz", "rt", encoding="utf-8") as file:
            published = [json.loads(line) for line in file]
        for record in rng.sample(published, part.n):
            kept = {key: record[key] for key in ("id", "task", "question", "answer")}
            if rng.random() < SAMPLED:
                kept["response"] = [response(record, rng, part.skill) for _ in range(SAMPLES)]
            else:
                kept["response"] = response(record, rng, part.skill)
            kept["metadata"] = {"source": "REL (MIT licence); response made up by relfast"}
            yield kept


def main(folder: str, out: str) -> None:
    raw = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=0) as file:
        for record in dump(Path(folder)):
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n")
    Path(out).write_bytes(raw.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
