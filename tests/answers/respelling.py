"""Golds written in other ways that mean the same, and changed so that they mean something else; by fixed seeds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Final

import corpora

_BOX: Final = re.compile(r"\\boxed\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}")
_SIMPLE_FRACTION: Final = r"\\d?frac\{(\w)\}\{(\w)\}"
_TOKENS: Final = re.compile(r"\\[a-zA-Z]+|\\.|[a-zA-Z]+|\d+(?:\.\d+)?|\s+|.", re.DOTALL)


def golds() -> list[str]:
    """The distinct final answers of the references of real solutions, and of pairs of real answers."""
    boxed = [found for row in corpora.solutions() for found in _BOX.findall(row["benchmark_solution"])[-1:]]
    return sorted({*boxed, *(row["gold"] for row in corpora.answer_pairs())} - {""})


def _blanks(gold: str, rng: random.Random) -> str:
    """Blanks between tokens, but neither in nor beside a number, a word or a text."""
    if "\\text" in gold or "\\mbox" in gold or re.search(r"[a-zA-Z]{3}|\de", gold.replace("\\", "")):
        return f" {gold} "
    parts = _TOKENS.findall(gold)
    keep = re.compile(r"[\d.,!{}\\]")
    return "".join(
        part + (" " if not keep.match(part[-1]) and not keep.match(after[:1] or "{") else "")
        for part, after in zip(parts, [*parts[1:], ""], strict=True)
    )


RESPELLED: Final[dict[str, Callable[[str, random.Random], str]]] = {
    "between dollar signs": lambda gold, rng: f"${gold}$",
    "in round brackets of TeX": lambda gold, rng: rf"\({gold}\)",
    "with a full stop": lambda gold, rng: f"{gold}.",
    "blanks between tokens": _blanks,
    "large fractions": lambda gold, rng: gold.replace("\\frac", "\\dfrac").replace("\\ddfrac", "\\dfrac"),
    "fractions on a line": lambda gold, rng: re.sub(r"(?<![\dA-Z])" + _SIMPLE_FRACTION, r"(\1/\2)", gold),
    "brackets that grow": lambda gold, rng: re.sub(
        r"(?<!\\)([)\]])", r"\\right\1", re.sub(r"(?<![\\a-zA-Z])([(\[])", r"\\left\1", gold)
    ) if "\\left" not in gold and "\\frac[" not in gold and "sqrt[" not in gold else gold,
    "braces around exponents": lambda gold, rng: re.sub(r"\^(\w)(?!\w)", r"^{\1}", gold),
    "displayed": lambda gold, rng: rf"\displaystyle {gold}",
    "boxed": lambda gold, rng: rf"\boxed{{{gold}}}",
}  # fmt: skip
"""Ten rules: the rule's name → how it writes a gold in another way."""


def _digit(gold: str, rng: random.Random) -> str | None:
    places = [found.start() for found in re.finditer(r"\d", gold)]
    if not places:
        return None
    at = rng.choice(places)
    return (
        gold[:at] + str((int(gold[at]) + rng.randint(1, 9)) % 10 or 9 - int(gold[at]) or 5) + gold[at + 1 :]
    )


def _letter(gold: str, rng: random.Random) -> str | None:
    places = [found.start() for found in re.finditer(r"(?<![a-zA-Z\\])[a-z](?![a-zA-Z])", gold)]
    return None if not places else gold[: (at := rng.choice(places))] + "w" + gold[at + 1 :]


def _swapped(pattern: str, gold: str) -> str | None:
    changed = re.sub(
        pattern,
        lambda found: found[0].replace(found[1], "\0").replace(found[2], found[1]).replace("\0", found[2]),
        gold,
        count=1,
    )
    return changed if changed != gold else None


def _list(gold: str) -> list[str]:
    inner = re.fullmatch(r"\\?[({\[]?([^(){}\[\]\\]*)\\?[)}\]]?", gold)
    parts = inner[1].split(",") if inner else []
    return parts if len(parts) > 1 and len({part.strip() for part in parts}) == len(parts) else []


def _opened(gold: str) -> str | None:
    pairs = {"(": "[", "[": "("}
    return pairs[gold[0]] + gold[1:] if gold[:1] in pairs and gold[-1] in ")]" and "," in gold else None


CHANGED: Final[dict[str, Callable[[str, random.Random], str | None]]] = {
    "another digit": _digit,
    "another letter": _letter,
    "negated": lambda gold, rng: gold[1:] if gold[:1] == "-" else f"-({gold})" if re.search(r"\d", gold) and not re.search(r"[,=<>]|\\pm|\\text|\\mbox|\\[lg]e|\\in|:|[a-zA-Z]{4}", gold) else None,
    "fraction upside down": lambda gold, rng: _swapped(r"\\d?frac\{(\w+)\}\{(\w+)\}", gold),
    "plus for minus": lambda gold, rng: re.sub(r"(?<=[\w})])\s*\+", "-", gold, count=1) if re.search(r"[\w})]\s*\+", gold) else None,
    "minus for plus": lambda gold, rng: re.sub(r"(?<=[\w})])\s*-(?=\s*[\w\\])", "+", gold, count=1) if re.search(r"^[^a-zA-Z]*[\w})]\s*-\s*[\w\\]", gold) else None,
    "an item left out": lambda gold, rng: ",".join(parts[:-1]) if (parts := _list(gold)) else None,
    "an item more": lambda gold, rng: f"{gold}, 977" if re.fullmatch(r"[-\d.]+|\\frac\{\d+\}\{\d+\}", gold) else None,
    "another bracket": lambda gold, rng: _opened(gold),
    "an exponent more": lambda gold, rng: f"{gold}^2" if re.fullmatch(r"[2-9]\d*|[a-z]", gold) else None,
    "multiplied by a letter": lambda gold, rng: f"{gold}x" if re.fullmatch(r"-?[\d.]+|\\frac\{\d+\}\{\d+\}", gold) else None,
}  # fmt: skip
"""Eleven rules: the rule's name → what it makes of a gold, or None where it does not fit."""
