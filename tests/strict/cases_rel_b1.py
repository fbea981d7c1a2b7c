"""Cases of the table rel_b1: published REL-B1 records and some of our generator's."""

from __future__ import annotations

import random
import re
from typing import Any, Final

from corpora import b1_names, rel_records
from generated import generate
from strict.corpus import Case

_PUBLISHED: Final = (0, 4, 10, 16, 42, 44, 47, 48, 52, 57, 59, 64, 65, 66, 67, 1, 61)


def cases() -> list[Case]:
    published = rel_records("REL-B1")
    records = [
        *(published[at] for at in _PUBLISHED),
        *generate("REL-B1", 4, 11),
        *generate("REL-B1", 4, 12, n_convergent_taxa=5, num_leaves=20),
        *generate("REL-B1", 2, 13, n_convergent_taxa=20, yes_fraction=1.0),
        *generate("REL-B1", 2, 14, n_convergent_taxa=4, taxa_as="index", yes_fraction=1.0),
    ]
    return [_case(record) for record in records]


def _case(record: dict[str, Any]) -> Case:
    rng = random.Random(record["question"])
    shown = re.findall(r"^\s*>\s*(\S+)", record["question"], re.MULTILINE)
    gold = b1_names(record)
    if record["answer"].get("taxa_as") == "index":
        gold = [sorted(shown)[place] for place in record["answer"]["taxa"]]
    others = [name for name in shown if name not in gold]
    x, y = rng.sample(others, 2)
    mixed = rng.sample(shown, len(shown))
    middle = len(shown) // 2
    label = record["answer"]["label"]
    words = {
        "x": x,
        "y": y,
        "all": ", ".join(shown),
        "allbullets": "\n".join(f"- taxon_{name}" for name in shown),
        "most": ", ".join(mixed[: round(0.74 * len(shown))]),
        "half": ", ".join(mixed[:middle]),
        "other": ", ".join(mixed[middle:]),
        "min": min(shown, key=int),
        "max": max(shown, key=int),
    }
    tags = {label}
    if label == "yes":
        words |= {
            "list": ", ".join(gold),
            "forms": ", ".join(f"taxon_{name}" for name in gold),
            "bullets": "\n".join(f"- {name}" for name in gold),
            "enum": "\n".join(f"{at}. taxon_{name}" for at, name in enumerate(gold, 1)),
            "json": f"[{', '.join(gold)}]",
            "n": str(len(gold)),
            "a": gold[0],
        }
        tags |= {"two"} if len(gold) == 2 else set()
    return Case(record, words, tags=frozenset(tags))
