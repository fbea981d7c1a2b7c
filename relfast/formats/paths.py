"""Paths into rows, in two languages: one for users' ``--map``, one for the table of dialects.

Both are dotted names, in which a number indexes a list. `follow` follows a user's path, `walk` a dialect's.
A dialect's path has these steps:

===============  =========================================================================================
``name``         the object's value under this name
``name?``        the same, or the object itself if it has no such name
``3``            an item of a list; a negative number counts from the end
``*``            each item of a list
``*?``           the same, or the value itself if it is no list
``name=word``    the object, if its value there is this text, ``true`` or ``false``, or a list with it
``name!``        the object, if its value under the name is there, and not null, false, empty or 0
``!…``           negates one of the latter two: the object, if it does not meet that condition
``a!|b=false``   the object, if its value under ``a`` is there, or that under ``b`` is false
``{}`` ``[]``    the value, if it is an object or a list
``~``            an object without its members that are null; other values unchanged
``@``            an object, also as JSON in a text; of a list, the first item
``name[other]``  an item of the list under ``name``, by the index under ``other`` (or first in a list there)
===============  =========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from relfast_kernels.text.steps import (
    A_LIST,
    AN_OBJECT,
    DECODED,
    DECODED_TEXT,
    EACH,
    FLAT,
    HAS,
    HAS_OR_NOT,
    INDEX,
    IS,
    NAME,
    NAME_OR_INDEX,
    OPTIONAL,
    PICK,
    SPARSE,
)

from relfast.json_text import decode_text


class _Missing:
    """A field that is not there, as distinct from one that is null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

_STEP: Final = re.compile(
    r"(?P<index>-?\d+)|(?P<sign>\*\??|[@~]|\{\}|\[\])"
    r"|(?P<lacks>!?)(?P<name>\w+)(?:(?P<optional>\?)|(?P<has>!)(?:\|(?P<denied>\w+)=false)?|=(?P<word>\w+)|\[(?P<other>\w+)\])?"
)
_SIGNS: Final = {"*": EACH, "*?": FLAT, "@": DECODED, "{}": AN_OBJECT, "[]": A_LIST, "~": SPARSE}
_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False}


class Step(NamedTuple):
    """A step of a path: its kind and name, the word or other name in it, and whether ``!`` negates its
    condition. ``at`` is the place in a list, or 1 if the word is ``true`` or ``false``."""

    kind: int
    name: str
    other: str = ""
    lacks: bool = False
    at: int = 0


Walk = Callable[[Any], Sequence[Any]]
"""A function from a value to the values that a path leads to from it, in order: mostly one or none."""


class Path(NamedTuple):
    """A path: its steps (none lead to the row itself), and a function that follows them."""

    steps: tuple[Step, ...]
    walk: Walk


def lead_of(steps: Sequence[Step]) -> str:
    """The member of a row with which a path begins; empty if it does not begin with a name."""
    return steps[0].name if steps and steps[0].kind in (NAME, OPTIONAL, NAME_OR_INDEX) else ""


@lru_cache(1 << 10)
def path_of(text: str) -> Path:
    """A path of the table; an empty one leads to the row itself."""
    steps = tuple(map(_step, text.split("."))) if text else ()
    if any(step.kind != NAME for step in steps):
        return Path(steps, partial(_walk, steps))
    names = tuple(step.name for step in steps)

    def walk_names(value: Any) -> Sequence[Any]:
        for name in names:
            # comparing the type first is ten times as fast as isinstance, and nearly all are dicts
            if (type(value) is not dict and not isinstance(value, Mapping)) or name not in value:
                return ()
            value = value[name]
        return (value,)

    return Path(steps, walk_names)


def paths_of(texts: str) -> tuple[Path, ...]:
    """Several paths of the table, separated by blanks."""
    return tuple(map(path_of, texts.split()))


def _step(text: str) -> Step:
    step = _STEP.fullmatch(text)
    if step is None:
        raise ValueError(f"no step of a path: {text!r}")
    if step["index"]:
        return Step(INDEX, text, at=int(text))
    if step["sign"]:
        return Step(_SIGNS[text], text)
    if step["other"]:
        return Step(PICK, step["name"], step["other"])
    if step["denied"]:
        return Step(HAS_OR_NOT, step["name"], step["denied"])
    if step["word"]:
        return Step(IS, step["name"], step["word"], bool(step["lacks"]), step["word"] in _WORDS)
    kind = HAS if step["has"] or step["lacks"] else OPTIONAL if step["optional"] else NAME
    return Step(kind, step["name"], lacks=bool(step["lacks"]))


def _walk(steps: Sequence[Step], value: Any) -> Sequence[Any]:
    values: Sequence[Any] = (value,)
    for step in steps:
        if len(values) == 1:
            (value,) = values
            is_object = type(value) is dict or isinstance(value, Mapping)
            values = _in_object(value, step) if is_object else _in_other(value, step)
        else:
            values = [
                inner
                for value in values
                for inner in (
                    _in_object(value, step) if isinstance(value, Mapping) else _in_other(value, step)
                )
            ]
        if not values:
            break
    return values


def _in_object(value: Mapping[str, Any], step: Step) -> Sequence[Any]:
    """The values to which a step leads from an object."""
    kind, name, other, lacks, _ = step
    if kind == NAME:
        return (value[name],) if name in value else ()
    if kind == OPTIONAL:
        return (value.get(name, value),)
    if kind == HAS:
        return (value,) if bool(value.get(name)) != lacks else ()
    if kind == HAS_OR_NOT:
        return (value,) if value.get(name) or value.get(other) is False else ()
    if kind == SPARSE:
        return ({key: item for key, item in value.items() if item is not None},)
    there = value.get(name)
    if kind == PICK:
        at = value.get(other)
        at = at[0] if isinstance(at, list) and at else at
        if not isinstance(there, list) or not isinstance(at, int):
            return ()
        return (there[at],) if 0 <= at < len(there) else ()
    if kind == IS:
        word = _WORDS.get(other, other)
        items = there if isinstance(there, list) else [there]
        return (value,) if any(type(item) is type(word) and item == word for item in items) != lacks else ()
    return (value,) if kind in (AN_OBJECT, FLAT) or (kind == DECODED and value) else ()


def _in_other(value: Any, step: Step) -> Sequence[Any]:
    """The values to which a step leads from anything but an object."""
    kind = step.kind
    if kind == DECODED:
        decoded = as_object(value)
        return () if decoded is None else (decoded,)
    if not isinstance(value, list):
        return (value,) if kind in (FLAT, OPTIONAL, SPARSE) else ()
    if kind in (EACH, FLAT):
        return value
    if kind == INDEX and -len(value) <= step.at < len(value):
        return (value[step.at],)
    return (value,) if kind in (A_LIST, SPARSE) else ()


def as_object(value: Any) -> Mapping[str, Any] | None:
    """The value as a non-empty object, which it may hold as JSON in a text; else None.

    Of a list the first item is taken: harnesses keep targets and references in lists.
    """
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = decode_text(value)
    return value if isinstance(value, Mapping) and value else None


def first(value: Any, paths: Sequence[Path], *, as_it_is: bool = False) -> Any:
    """The first value that is not null among those that some paths lead to; else None if one of them is null,
    `MISSING` if there are none. With ``as_it_is`` the first value, null or not."""
    seen: Any = MISSING
    for _, walk in paths:
        for found in walk(value):
            if found is not None or as_it_is:
                return found
            seen = None
    return seen


@lru_cache(1 << 8)
def names_in(path: str) -> tuple[str, ...]:
    """The steps of a user's path, in which ``\\.`` is a dot."""
    return tuple(name.replace("\\.", ".") for name in _DOT.split(path))


_DOT: Final = re.compile(r"(?<!\\)\.")
_INDEX: Final = re.compile(r"-?\d{1,9}")


def _index_of(name: str) -> int | None:
    """The place in a list for which a step of a user's path can stand."""
    return int(name) if _INDEX.fullmatch(name) else None


def users_steps(names: Sequence[str]) -> tuple[Step, ...]:
    """The steps of a user's path for the kernel, which leaves ``*`` to `follow`."""
    kinds = {"*": PICK, "@": DECODED_TEXT}
    places = map(_index_of, names)
    return tuple(
        Step(kinds.get(name, NAME_OR_INDEX), name, lacks=at is not None, at=at or 0)
        for name, at in zip(names, places, strict=True)
    )


def follow(row: Any, path: str) -> Any:
    """The value at a user's path, or `MISSING`.

    ``*`` stands for each item of a list and gives a list of the values found; ``@`` decodes JSON in a text.
    If an object has a key ``*`` or ``@``, that key is meant instead. ``\\.`` is a dot in a key.
    """
    return _follow(row, names_in(path))


def _follow(value: Any, steps: Sequence[str]) -> Any:
    for at, step in enumerate(steps):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif step == "*" and isinstance(value, list):
            found = [_follow(item, steps[at + 1 :]) for item in value]
            if all(each is MISSING for each in found):
                return MISSING
            # an item without the value is a sample without a response; lists of lists become one list
            found = [None if each is MISSING else each for each in found]
            if "*" in steps[at + 1 :] and all(each is None or isinstance(each, list) for each in found):
                return [sample for each in found for sample in ([None] if each is None else each)]
            return found
        elif step == "@" and isinstance(value, str):
            decoded = decode_text(value)
            value = MISSING if decoded is value else decoded
        else:
            index = _index_of(step) if isinstance(value, list) else None
            if index is None or not -len(value) <= index < len(value):
                return MISSING
            value = value[index]
    return value
