"""What an answer of several values is worth: the exploits of each rule, and right answers that lose nothing.

``tests/data/strict/TASK.toml`` has groups of texts with the same verdict and the same reason for it:

    [[honest]]
    why = "the last tag"
    texts = ['<smiles>«right»</smiles>']

    [[attack]]
    why = "a given molecule"
    texts = ['<smiles>«given1»</smiles>']

``«word»`` stands for what the case (a record with its gold) has under that word. Keys of a group:

``only``
    Tags that a case must have ("yes", "long"); without it a group is for every case of its table.
``bare``
    The texts are whole responses: no family's reasoning or marks are put around them.
``pays``
    Of an attack: the reward it may have at most, where that is not the case's chance level.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

TABLES: Final = Path(__file__).resolve().parent.parent / "data" / "strict"

_WORD: Final = re.compile("«([^»]+)»")


class Case(NamedTuple):
    """A record (``task``, ``answer`` and ``question``, as a dump has them) with what ``«word»`` stands for: at least
    ``right``; what else, the table's head says. ``chance`` is what a blind guess earns on it on average: an attack may
    pay as much. ``tags`` are what a group's ``only`` can ask for; the record's task is always one."""

    record: Mapping[str, Any]
    words: Mapping[str, str]
    chance: float = 0.0
    tags: frozenset[str] = frozenset()

    def has(self, tag: str) -> bool:
        return tag in self.tags or tag == self.record["task"]


class Form(NamedTuple):
    """A text of a table, ``honest`` or an ``attack``."""

    kind: str
    text: str
    why: str
    only: Sequence[str] = ()
    bare: bool = False
    pays: float | None = None

    def fits(self, case: Case) -> bool:
        return all(map(case.has, self.only)) and all(word in case.words for word in _WORD.findall(self.text))

    def fill(self, case: Case) -> str:
        return _WORD.sub(lambda found: case.words[found[1]], self.text)


class Sample(NamedTuple):
    """A response to a case, with the form and the family it is made of."""

    case: Case
    form: Form
    family: str
    response: str


def forms(table: str) -> list[Form]:
    """All texts of a table, in order."""
    groups = tomllib.loads((TABLES / f"{table}.toml").read_text("utf-8"))
    return [
        Form(kind, text, group["why"], group.get("only", ()), group.get("bare", False), group.get("pays"))
        for kind in ("honest", "attack")
        for group in groups.get(kind, ())
        for text in group["texts"]
    ]


def samples(table: str, cases: Sequence[Case], rng: random.Random, each: int) -> Iterator[Sample]:
    """Every form of a table on ``each`` of the cases it fits, in the styles of the families in turn."""
    names = list(FAMILIES)
    at = 0
    for form in forms(table):
        fitting = [case for case in cases if form.fits(case)]
        assert fitting, f"{table}: no case fits {form.text!r}"
        for case in rng.sample(fitting, min(each, len(fitting))):
            family = "bare" if form.bare else names[at % len(names)]
            at += 1
            filled = form.fill(case)
            yield Sample(case, form, family, filled if form.bare else FAMILIES[family](filled))


_MUSING: Final = (
    "Okay, let me think. First I look at what is given. Maybe Answer 3? No, wait. <Yes>? <No>? "
    "<smiles>C</smiles> yes no taxon_1 \\boxed{2} ['start: A1']\nHmm, let me check again."
)
"""Reasoning that would be read as an answer if it were not recognised as reasoning."""

WORKING: Final = (
    "We have a = 0 or a = 2. Since rows 1 and 2 were the same, this is not hard to verify; 4 or 5 remain.\n\n"
)

FAMILIES: Final[dict[str, Callable[[str], str]]] = {
    "plain": lambda answer: answer,
    # chat templates put the opening mark into the prompt
    "deepseek": lambda answer: f"{_MUSING}\n</think>\n\n{answer}",
    "qwen": lambda answer: f"<think>\n{_MUSING}\n</think>\n\n{answer}<|im_end|>",
    "qwen, not thinking": lambda answer: f"<think>\n\n</think>\n\n{answer}",
    "gpt-oss": lambda answer: (
        f"<|channel|>analysis<|message|>{_MUSING}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{answer}<|return|>"
    ),
    "gpt-oss, without special tokens": lambda answer: f"analysis{_MUSING}assistantfinal{answer}",
    "claude": lambda answer: f"<thinking>\n{_MUSING}\n</thinking>\n\n{answer}",
    "mistral": lambda answer: f"[THINK]{_MUSING}[/THINK]{answer}</s>",
    "kimi": lambda answer: f"◁think▷{_MUSING}◁/think▷{answer}",
    "llama": lambda answer: f"{WORKING}{answer}<|eot_id|>",
    "gemma": lambda answer: f"{WORKING}{answer}<end_of_turn>",
    "command": lambda answer: (
        f"<|START_THINKING|>{_MUSING}<|END_THINKING|><|START_RESPONSE|>{answer}<|END_RESPONSE|>"
    ),
    "seed-oss": lambda answer: f"<seed:think>{_MUSING}</seed:think>{answer}<seed:eos>",
    "reflection": lambda answer: f"<reasoning>\n{_MUSING}\n</reasoning>\n{answer}",
}
"""How families of models end what they say: their marks of reasoning, and of the end of a turn."""
