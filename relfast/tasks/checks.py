"""What the tasks' checks of gold have in common: kinds of values, and how messages show them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from relfast.tasks.facts import Problem


def is_int(value: Any) -> TypeGuard[int]:
    """Whether a JSON value is a whole number; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value), type(value).__name__)


def shown(value: Any) -> str:
    """A value as messages show it: JSON, cut to 60 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # keys that are no text, integers of thousands of digits, nesting without end
        return kind_of(value)
    # a lone surrogate cannot be printed: "?" instead
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= 60 else text[:57] + "..."


def check_label(answer: Mapping[str, Any], allowed: tuple[str, str]) -> Iterator[Problem]:
    """What is wrong with the ``label`` of gold, which must be one of the two ``allowed`` words."""
    if "label" not in answer:
        yield Problem("answer.label", "missing")
    elif answer["label"] not in allowed:
        words = " or ".join(f'"{label}"' for label in allowed)
        yield Problem("answer.label", f"must be {words}, not {shown(answer['label'])}")
