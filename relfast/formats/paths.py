"""Paths into rows: those that a user writes for ``--map``, and those of the table of dialects.

Both are dotted names, in which a number indexes a list. `follow` reads a user's, `walk` a dialect's, whose
steps are these:

===============  =========================================================================================
``name``         what an object has under a name
``name?``        the same, or the object itself where it has no such name
``3``            an item of a list; a negative number counts from its end
``*``            each item of a list
``*?``           the same, or the value itself if it is no list
``name=word``    the object, if it has that text, ``true`` or ``false`` there, or a list that holds it
``name!``        the object, if something is there: not null, false, empty or 0
``!…``           the object, if one of the latter two is not so
``{}`` ``[]``    the value, if it is an object or a list
``~``            an object without what is null in it; other values as they are
``@``            an object, or what a text that is JSON holds; a list's first item stands for it
``name[other]``  the item of a list, the number of which stands under another name (or first in a list there)
===============  =========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from relfast.json_text import decode_text


class _Missing:
    """A field that is not there, as distinct from one that is null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

NAME, OPTIONAL, INDEX, EACH, FLAT, IS, HAS, PICK, DECODED, AN_OBJECT, A_LIST, SPARSE = range(12)
"""Kinds of a dialect's steps."""

_STEP: Final = re.compile(
    r"(?P<index>-?\d+)|(?P<sign>\*\??|[@~]|\{\}|\[\])"
    r"|(?P<lacks>!?)(?P<name>\w+)(?:(?P<optional>\?)|(?P<has>!)|=(?P<word>\w+)|\[(?P<other>\w+)\])?"
)
_SIGNS: Final = {"*": EACH, "*?": FLAT, "@": DECODED, "{}": AN_OBJECT, "[]": A_LIST, "~": SPARSE}
_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False}


class Step(NamedTuple):
    """A step of a dialect's path: its kind, the name it goes by, the word or the other name, and whether it
    asks for the contrary."""

    kind: int
    name: str
    other: str = ""
    lacks: bool = False


@lru_cache(1 << 10)
def steps_of(path: str) -> tuple[Step, ...]:
    """The steps of a dialect's path; none for an empty one, which leads to the row itself."""
    return tuple(map(_step, path.split("."))) if path else ()


def _step(text: str) -> Step:
    step = _STEP.fullmatch(text)
    if step is None:
        raise ValueError(f"no step of a path: {text!r}")
    if step["index"]:
        return Step(INDEX, text)
    if step["sign"]:
        return Step(_SIGNS[text], text)
    if step["other"]:
        return Step(PICK, step["name"], step["other"])
    if step["word"]:
        return Step(IS, step["name"], step["word"], bool(step["lacks"]))
    kind = HAS if step["has"] or step["lacks"] else OPTIONAL if step["optional"] else NAME
    return Step(kind, step["name"], lacks=bool(step["lacks"]))


Walk = Callable[[Any], Sequence[Any]]
"""What a path leads to from a value: in most cases one value, or none."""


@lru_cache(1 << 10)
def walk(path: str) -> Walk:
    """The function that follows a dialect's path: the values it leads to, in their order."""
    steps = steps_of(path)
    if any(step.kind != NAME for step in steps):
        return partial(_walk, steps)
    names = tuple(step.name for step in steps)

    def walk_names(value: Any) -> Sequence[Any]:
        for name in names:
            # to ask for the type itself is ten times as fast, and it nearly always is that
            if (type(value) is not dict and not isinstance(value, Mapping)) or name not in value:
                return ()
            value = value[name]
        return (value,)

    return walk_names


def _walk(steps: Sequence[Step], value: Any) -> Sequence[Any]:
    values: Sequence[Any] = (value,)
    for step in steps:
        values = [
            inner
            for value in values
            for inner in (_in_object(value, step) if isinstance(value, Mapping) else _in_other(value, step))
        ]
    return values


def found(value: Any, path: str) -> Sequence[Any]:
    """The values that a dialect's path leads to, in their order."""
    return walk(path)(value)


def _in_object(value: Mapping[str, Any], step: Step) -> Sequence[Any]:
    kind, name, other, lacks = step
    if kind == NAME:
        return (value[name],) if name in value else ()
    if kind == OPTIONAL:
        return (value.get(name, value),)
    if kind == HAS:
        return (value,) if bool(value.get(name)) != lacks else ()
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
    kind = step.kind
    if kind == DECODED:
        decoded = as_object(value)
        return () if decoded is None else (decoded,)
    if not isinstance(value, list):
        return (value,) if kind in (FLAT, OPTIONAL, SPARSE) else ()
    if kind in (EACH, FLAT):
        return value
    if kind == INDEX and -len(value) <= int(step.name) < len(value):
        return (value[int(step.name)],)
    return (value,) if kind in (A_LIST, SPARSE) else ()


def as_object(value: Any) -> Mapping[str, Any] | None:
    """An object that is not empty, of a value that is one or JSON text of one; else None.

    A list stands for its first item, as harnesses keep targets and references.
    """
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = decode_text(value)
    return value if isinstance(value, Mapping) and value else None


def first(value: Any, walks: Sequence[Walk], *, as_it_is: bool = False) -> Any:
    """The first value of some paths that is not null; else null where one is, `MISSING` where none is there.
    With ``as_it_is`` the first that is there, null or not."""
    seen: Any = MISSING
    for each in walks:
        for found in each(value):
            if found is not None or as_it_is:
                return found
            seen = None
    return seen


def follow(row: Any, path: str) -> Any:
    """The value at a user's path, or `MISSING`.

    ``*`` stands for each item of a list, and gives the list of what is found there; ``@`` decodes text that
    is JSON. A key of that name comes before.
    """
    return _follow(row, path.split("."))


def _follow(value: Any, steps: Sequence[str]) -> Any:
    for at, step in enumerate(steps):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif step == "*" and isinstance(value, list):
            found = [_follow(item, steps[at + 1 :]) for item in value]
            if all(each is MISSING for each in found):
                return MISSING
            # an item without it is a sample without a response; lists of lists become one list
            found = [None if each is MISSING else each for each in found]
            if "*" in steps[at + 1 :] and all(each is None or isinstance(each, list) for each in found):
                return [sample for each in found for sample in ([None] if each is None else each)]
            return found
        elif step == "@" and isinstance(value, str):
            decoded = decode_text(value)
            value = MISSING if decoded is value else decoded
        elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value
