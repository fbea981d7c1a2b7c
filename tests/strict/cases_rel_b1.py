"""Cases of the table rel_b1: published REL-B1 records and some of our generator's."""

from __future__ import annotations

import json
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
        *(_renamed(record) for record in generate("REL-B1", 3, 15, n_convergent_taxa=4, yes_fraction=1.0)),
    ]
    return [_case(record) for record in records]


def _renamed(record: dict[str, Any]) -> dict[str, Any]:
    """The same record, its gold taxa named as a run of numbers: 21, 22, …"""
    gold = record["answer"]["taxa"]
    run = list(range(21, 21 + len(gold)))
    moved = dict(zip(gold, run, strict=True))
    others = [name for name in range(1, 51) if name not in moved]
    moved |= dict(zip(others, [name for name in range(1, 51) if name not in run], strict=True))
    question = re.sub(r"(?<=>)(\d+)\n", lambda m: f"{moved[int(m[1])]}\n", record["question"])
    return {**record, "question": question, "answer": {"label": "yes", "taxa": run}}


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
        "shown": str(len(shown)),
    }
    tags = {label}
    if label == "yes":
        words |= _gold_words(gold)
        tags |= {"two"} if len(gold) == 2 else set()
        ordered = sorted(map(int, gold))
        if ordered == list(range(ordered[0], ordered[0] + len(gold))) and len(gold) > 2:
            tags.add("run")
            words |= {"from": str(ordered[0]), "to": str(ordered[-1])}
    return Case(record, words, tags=frozenset(tags))


def _gold_words(gold: list[str]) -> dict[str, str]:
    scores = [0.95 - 0.01 * at for at in range(len(gold))]
    scored = list(zip(gold, scores, strict=True))
    return {
        "list": ", ".join(gold),
        "and": f"{', '.join(gold[:-1])} and {gold[-1]}",
        "forms": ", ".join(f"taxon_{name}" for name in gold),
        "Taxa": ", ".join(f"Taxon {name}" for name in gold),
        "semi": "; ".join(gold),
        "hash": f"{', '.join(f'#{name}' for name in gold[:-1])} and #{gold[-1]}",
        "padded": ", ".join(f"taxon_{int(name):03}" for name in gold),
        "scored": ", ".join(f"{name} ({score:.2f})" for name, score in scored),
        "colon": ", ".join(f"{name}: {score:.2f}" for name, score in scored),
        "percent": ", ".join(f"{name} ({score:.0%})" for name, score in scored),
        "lines": "\n".join(gold),
        "bullets": "\n".join(f"- {name}" for name in gold),
        "fbullets": "\n".join(f"- taxon_{name}" for name in gold),
        "sbullets": "\n".join(f"- taxon_{name} ({score:.2f})" for name, score in scored),
        "cbullets": "\n".join(f"- {name}: 5 blocks" for name in gold),
        "enum": "\n".join(f"{at}. taxon_{name}" for at, name in enumerate(gold, 1)),
        "table": "| Taxon | Score |\n|---|---|\n"
        + "\n".join(f"| {name} | {score:.2f} |" for name, score in scored),
        "numtable": "| # | Taxon | Blocks |\n|---|---|---|\n"
        + "\n".join(f"| {at} | taxon_{name} | 5 |" for at, name in enumerate(gold, 1)),
        "json": f"[{', '.join(gold)}]",
        "jsons": json.dumps(gold),
        "jlines": ",\n".join(f"    {name}" for name in gold),
        "jnames": json.dumps([f"taxon_{name}" for name in gold]),
        "n": str(len(gold)),
        "a": gold[0],
        "b": gold[1],
    }
