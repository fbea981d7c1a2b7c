"""Cases of REL-A's table: published records of A1…A4, generated ones, and A5…A7 with gold of the same form."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from corpora import rel_records
from generated import generate
from strict.corpus import Case

_NTH: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_WORD: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_ORDINAL: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")


def case(record: dict[str, Any], rng: random.Random) -> Case:
    """The record with what `rel_a.toml`'s words stand for."""
    right = record["answer"]["target"]
    wrong, other = rng.sample([n for n in range(8) if n != right], 2)
    wrongs = [str(n + 1) for n in range(8) if n != right]
    choices = record["metadata"]["choices"]
    words = {
        "right": str(right + 1),
        "wrong": str(wrong + 1),
        "other": str(other + 1),
        "wrongs": ", ".join(wrongs[:-1]) + f" and {wrongs[-1]}",
        "ordinal": _ORDINAL[right],
        "nth": _NTH[right],
        "word": _WORD[right],
        "wrong word": _WORD[wrong],
        "numeral": "一二三四五六七八"[right],
        "circled": "①②③④⑤⑥⑦⑧"[right],
        "keycap": f"{right + 1}\ufe0f\u20e3",
        "matrix": str(choices[right]),
        "wrong matrix": str(choices[wrong]),
        "question": record["question"],
    }
    return Case(record, words, tags=frozenset({"not 8"} if right != 7 else {}))


def cases() -> list[Case]:
    rng = random.Random("rel_a")
    return [case(record, rng) for record in _records(rng)]


def _records(rng: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(1, 5):
        task = f"REL-A{number}"
        # each choice is right once or twice: a rule that favours one is seen
        by_target = {record["answer"]["target"]: record for record in rel_records(task)}
        yield from by_target.values()
    yield from generate("REL-A2", 4, 7)
    for task in ("REL-A5", "REL-A6", "REL-A7"):
        for record in rng.sample(rel_records("REL-A1"), 2):
            yield {**record, "task": task}
