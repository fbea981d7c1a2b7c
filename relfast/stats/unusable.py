"""Records that could not be used, by cause: what a run says of them, and what to do about it."""

from __future__ import annotations

import builtins
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from relfast.errors import in_python, printable
from relfast.plain import Plain

Side = Literal["command", "python"]
"""In whose words: options of the command line, or Python's keywords."""

MAX_CAUSES: Final = 100
"""Causes told apart; what comes after goes by its kind alone."""

FIRST: Final = 3
"""Places kept of each cause."""

_SHOWN_CAUSES: Final = 8
_FURTHER: Final = "…"
_NUMBER: Final = re.compile(r"[0-9]+")
_ONE_CAUSE: Final[Mapping[str, tuple[str, str]]] = {
    "MissingGold": (" id ", " ids such as "),
    "UnknownTask": ("'task' is ", "'task' is unknown, such as "),
}
"""Kinds whose message names the record: after what it does, and how that is said of several. They are one
cause, whatever is named."""


@dataclass(slots=True, repr=False, eq=False)
class Cause(Plain):
    """Records that are unusable for one reason.

    Attributes
    ----------
    kind, message
        ``error`` of the first of their rows.
    n
        How many rows.
    first
        The first places: line numbers, or ``FILE:LINE`` where there are several inputs.
    keys
        Keys of the first record, where the cause is that one is missing.
    advice
        What to do: option and values, such as ``("map", "response", "completion")``, or more pairs of these.
    varied
        Whether messages of the others say something else, such as another id.
    """

    kind: str
    message: str
    n: int = 0
    first: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    advice: tuple[str, ...] = ()
    varied: bool = False

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
        text = printable(f"{self.n:,} × {what} ({'; '.join(details)})")
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
    """Whether an error is one that Python or a library raised, which says nothing to who reads it alone."""
    known = getattr(builtins, kind, None)
    return isinstance(known, type) and issubclass(known, Exception)


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
    """Counts what is ``invalid_record``, by cause, as it comes.

    Parameters
    ----------
    most
        Causes told apart.
    """

    def __init__(self, most: int = MAX_CAUSES) -> None:
        self.causes: dict[tuple[str, str], Cause] = {}
        self.n: int = 0
        self._most = most

    @classmethod
    def of(cls, causes: Mapping[tuple[str, str], Cause]) -> Unusable:
        """What has counted these."""
        unusable = cls(len(causes))
        unusable.causes.update(causes)
        unusable.n = sum(cause.n for cause in causes.values())
        return unusable

    def add(self, error: Mapping[str, Any] | None, place: str) -> Cause | None:
        """Count a row; the cause if it is a new one."""
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
        """Under what a cause goes that has come now."""
        full = key not in self.causes and len(self.causes) >= self._most
        return (key[0], _FURTHER) if full else key

    def merge(self, later: Unusable, place: Callable[[str], str] = str) -> None:
        """Count what came after all that was counted so far: the same as one by one, if ``later`` tells all
        its causes apart. ``place`` names the places of ``later``, which are line numbers."""
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
            # several causes of which none is told apart have come in turn
            first += [place(line) for line in sorted(lines, key=int)[: FIRST - len(first)]]

    def most_frequent(self) -> list[Cause]:
        return sorted(self.causes.values(), key=lambda cause: -cause.n)


def describe(causes: Sequence[Cause], n_rows: int, side: Side, *, so_far: bool = False) -> str:
    """What is said of a run's unusable records: a line, or a line a cause where there are several."""
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
