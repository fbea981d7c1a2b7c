"""Records that could not be used, grouped by cause: the messages about them, with advice what to do."""

from __future__ import annotations

import builtins
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from relfast.errors import in_python, printable
from relfast.records import Plain

Side = Literal["command", "python"]
"""Whether a message names options of the command line or keywords of Python."""

MAX_CAUSES: Final = 100
"""Number of causes that are kept apart; later new ones are grouped by their error type alone."""

FIRST: Final = 3
"""Number of places that are kept for each cause."""

_SHOWN_CAUSES: Final = 8
_FURTHER: Final = "…"
_NUMBER: Final = re.compile(r"[0-9]+")
_ONE_CAUSE: Final[Mapping[str, tuple[str, str]]] = {
    "MissingGold": (" id ", " ids such as "),
    "UnknownTask": ("'task' is ", "'task' is unknown, such as "),
}
"""Error types whose message names an id or task: the words before that name, and the words that replace them
for several records. Such records have one cause, whatever their names."""


@dataclass(slots=True, repr=False, eq=False)
class Cause(Plain):
    """A reason for which records are unusable.

    Attributes
    ----------
    kind, message
        Type and message of the ``error`` in the first of their rows.
    n
        Number of rows.
    first
        The first places: line numbers, or ``FILE:LINE`` if there are several inputs.
    keys
        Keys of the first record, if the cause is a missing or misplaced field.
    advice
        What to do: an option and its values, such as ``("map", "response", "completion")``, with more pairs
        of field and path after these if several fields are to be mapped.
    varied
        Whether later rows have another message, such as one with another id.
    tried
        In how many of the first rows the advised path leads to the field, and of how many.
    """

    kind: str
    message: str
    n: int = 0
    first: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    advice: tuple[str, ...] = ()
    varied: bool = False
    tried: tuple[int, int] | None = None

    def describe(self, side: Side) -> str:
        """``4 × field 'response' is missing (line 1 has: id, text; try --map response=text)``."""
        what = self.message.partition("; ")[0].strip()
        if self.varied and self.kind in _ONE_CAUSE:
            what = what.replace(*_ONE_CAUSE[self.kind], 1)
        if _is_exception(self.kind):
            what = f"the scorer fails on the response: {self.kind}: {what}"
        details = []
        places = ", ".join(self.first) + (", …" if self.n > len(self.first) else "")
        if self.keys:
            if self.n > 1:
                details.append(f"lines {places}")
            details.append(f"line {self.first[0]} has: {', '.join(self.keys)}")
        else:
            details.append(f"{'line' if self.n == 1 else 'lines'} {places}")
        if self.advice:
            details.append(_advice(self.advice, side))
        text = f"{self.n:,} × {what} ({'; '.join(details)})"
        if self.tried is not None:
            text += " (found there in {} of the first {} rows)".format(*self.tried)
        text = printable(text)
        return in_python(text) if side == "python" else text

    def to_dict(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "type": self.kind,
            "message": self.message,
            "first": self.first,
            "advice": _advice(self.advice, "command") if self.advice else None,
        }


def _is_exception(kind: str) -> bool:
    """Whether an error type is the name of a Python exception, whose message alone explains little."""
    builtin = getattr(builtins, kind, None)
    return isinstance(builtin, type) and issubclass(builtin, Exception)


def _advice(advice: Sequence[str], side: Side) -> str:
    option, *values = advice
    if option == "map":
        fields = dict(zip(values[::2], values[1::2], strict=True))
        if side == "python":
            return f"try map={fields!r}"
        typed = (shlex.quote(f"{name}={path}") for name, path in fields.items())
        return f"try {' '.join(f'--map {pair}' for pair in typed)}"
    if option == "data":
        return f"{'--data ' if side == 'command' else 'data='}FILE joins gold records on id"
    return values[0]


class Unusable:
    """Counts rows with the status ``invalid_record``, by cause.

    Parameters
    ----------
    most
        Number of causes that are kept apart.
    """

    def __init__(self, most: int = MAX_CAUSES) -> None:
        self.causes: dict[tuple[str, str], Cause] = {}
        self.n: int = 0
        self._most = most

    @classmethod
    def of(cls, causes: Mapping[tuple[str, str], Cause]) -> Unusable:
        """A counter that has these causes already."""
        unusable = cls(len(causes))
        unusable.causes.update(causes)
        unusable.n = sum(cause.n for cause in causes.values())
        return unusable

    def add(self, error: Mapping[str, Any] | None, place: str) -> Cause | None:
        """Count a row; returns its cause if that is new, else None."""
        self.n += 1
        kind = str((error or {}).get("type", ""))
        message = str((error or {}).get("message", ""))
        named = _ONE_CAUSE.get(kind)
        key = self._key(
            (kind, _NUMBER.sub("#", message) if named is None else message.partition(named[0])[0])
        )
        cause = self.causes.get(key)
        new = cause is None
        if cause is None:
            cause = self.causes[key] = Cause(kind, message)
        cause.n += 1
        cause.varied |= message != cause.message
        if len(cause.first) < FIRST:
            cause.first.append(place)
        return cause if new else None

    def _key(self, key: tuple[str, str]) -> tuple[str, str]:
        """The key under which to count a cause: that of its type alone, if there are too many causes."""
        full = key not in self.causes and len(self.causes) >= self._most
        return (key[0], _FURTHER) if full else key

    def merge(self, later: Unusable, place: Callable[[str], str] = str) -> None:
        """Add the causes of later rows. The result is the same as from adding row by row, provided that
        ``later`` keeps all its causes apart. ``place`` turns the places of ``later``, which are line numbers,
        into those of this object."""
        self.n += later.n
        places: dict[tuple[str, str], list[str]] = {}
        for its_key, cause in later.causes.items():
            key = self._key(its_key)
            mine = self.causes.get(key)
            if mine is None:
                self.causes[key] = replace(cause, first=[])
            else:
                mine.n += cause.n
                mine.varied |= cause.varied or cause.message != mine.message
            places.setdefault(key, []).extend(cause.first)
        for key, lines in places.items():
            first = self.causes[key].first
            # sorted: several causes of ``later`` may have been grouped into this one
            first += [place(line) for line in sorted(lines, key=int)[: FIRST - len(first)]]

    def most_frequent(self) -> list[Cause]:
        return sorted(self.causes.values(), key=lambda cause: -cause.n)


def describe(causes: Sequence[Cause], n_rows: int, side: Side, *, so_far: bool = False) -> str:
    """The message about a run's unusable records: one line, or with several causes a line more for each."""
    n = sum(cause.n for cause in causes)
    of = f"{n:,} of {'the first ' if so_far else ''}{n_rows:,} records unusable"
    if len(causes) == 1:
        return f"{of}: {causes[0].describe(side)}"
    lines = [f"  {cause.describe(side)}" for cause in causes[:_SHOWN_CAUSES]]
    if rest := causes[_SHOWN_CAUSES:]:
        lines.append(
            f"  {sum(cause.n for cause in rest):,} more of {len(rest)} other causes, in the rows' error"
        )
    return "\n".join([f"{of}:", *lines])
