"""Declared parameters: a field of a dataclass that says of itself what it takes and what it is for.

Options of tasks and parameters of generators are frozen dataclasses whose fields are made by `parameter`.
What needs more than the value reads the declaration: the command line makes its options of it, Python's
keywords are checked by it, the signature shows what it says is to be shown.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Final, NamedTuple, Protocol

from relfast.errors import UsageError, did_you_mean

MAX_COUNT: Final = 2**63 - 1
"""Largest whole number that a file of ours can hold."""


class Kind(Protocol):
    """What values a parameter takes."""

    def check(self, name: str, value: object) -> Any:
        """The value as it is kept. Raises `UsageError`, with the parameter's name, for one that is none."""
        ...


class WrittenKind(Kind, Protocol):
    """A kind with a notation of its own on the command line."""

    @property
    def metavar(self) -> str:
        """How help names a value."""
        ...

    def parse(self, text: str) -> Any:
        """The value of a text. Raises ValueError with what is wrong."""
        ...

    def write(self, value: Any) -> str:
        """The text of a value, for help."""
        ...


class Flag:
    """A bool, and nothing that only looks like one (``"no"`` is true)."""

    def check(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise UsageError(f"{name} must be True or False, not {value!r:.60}")
        return value


class Choice(NamedTuple):
    """One of some names."""

    names: Collection[str]

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.names:
            *others, last = map(repr, self.names)
            raise UsageError(f"{name} must be {', '.join(others)} or {last}, not {value!r:.60}")
        return value


class Text:
    """A text; a path counts as one."""

    def check(self, name: str, value: object) -> str:
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if not isinstance(value, str):
            raise UsageError(f"{name} must be a text, not {value!r:.60}")
        return value


class Whole(NamedTuple):
    """A whole number, between bounds that both count."""

    low: int | None = None
    high: int | None = None

    def check(self, name: str, value: object) -> int:
        low = -math.inf if self.low is None else self.low
        high = MAX_COUNT if self.high is None else self.high
        if not isinstance(value, Integral) or isinstance(value, bool) or not low <= int(value) <= high:
            bounds = "" if self.low is None else f" from {self.low}"
            bounds += f" to {self.high:,}" if self.high is not None else " on" if bounds else ""
            raise UsageError(f"{name} must be a whole number{bounds}, not {value!r:.60}")
        return int(value)


class Number(NamedTuple):
    """A number (numpy's too, NaN not), between bounds that both count."""

    low: float | None = None
    high: float | None = None

    def check(self, name: str, value: object) -> float:
        number = number_of(value)
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if number is None or not low <= number <= high:
            bounds = "" if self.low is None else f" from {self.low:g}"
            bounds += "" if self.high is None else f" to {self.high:g}"
            raise UsageError(f"{name} must be a number{bounds}, not {value!r:.60}")
        return number


class Pair:
    """Two numbers, the lower one first."""

    def check(self, name: str, value: object) -> tuple[float, float]:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise UsageError(f"{name} must be two numbers, not {value!r:.60}")
        low, high = (Number().check(name, number) for number in value)
        return low, high


class Sizes(NamedTuple):
    """Some whole numbers, written ``5,10,20`` or ``5:50:5`` (from, to and with, step)."""

    metavar: str = "SIZES"

    def check(self, name: str, value: object) -> tuple[int, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise UsageError(f"{name} must be whole numbers, not {value!r:.60}")
        return tuple(Whole().check(name, number) for number in value)

    def parse(self, text: str) -> tuple[int, ...]:
        try:
            if ":" not in text:
                return tuple(int(part) for part in text.split(","))
            first, last, *step = (int(part) for part in text.split(":"))
            return tuple(range(first, last + 1, *step))
        except (TypeError, ValueError):
            message = f"{text!r} is neither a list such as 5,10,20 nor a range such as 5:50:5"
            raise ValueError(message) from None

    def write(self, value: Sequence[int]) -> str:
        steps = {after - before for before, after in pairwise(value)}
        if len(value) > 2 and len(steps) == 1:
            return f"{value[0]}:{value[-1]}:{steps.pop()}"
        return ",".join(map(str, value))


class Marks(NamedTuple):
    """Pairs of an opening and a closing mark, written ``OPEN…CLOSE`` (or with three full stops) or
    ``OPEN,CLOSE``; any number of them."""

    metavar: str = "MARKS"

    def check(self, name: str, value: object) -> tuple[tuple[str, str], ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            value = (value,)
        try:
            return tuple(dict.fromkeys(map(self._pair, value)))
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None

    def parse(self, text: str) -> tuple[str, str]:
        for between in ("…", "...", ","):
            opening, found, closing = text.partition(between)
            if found:
                return self._checked(opening, closing)
        raise ValueError(f"{text!r:.60} is not of the form OPEN…CLOSE or OPEN,CLOSE")

    def write(self, value: Sequence[tuple[str, str]]) -> str:
        return ",".join(map("…".join, value))

    def _pair(self, item: object) -> tuple[str, str]:
        if isinstance(item, str):
            return self.parse(item)
        pair = tuple(item) if isinstance(item, Sequence) else ()
        if len(pair) != 2 or not all(isinstance(mark, str) for mark in pair):
            raise ValueError(f"{item!r:.60} is not an opening and a closing mark")
        return self._checked(*pair)

    def _checked(self, opening: str, closing: str) -> tuple[str, str]:
        opening, closing = opening.strip(), closing.strip()
        if not (opening and closing) or opening.lower() == closing.lower():
            raise ValueError("the opening and the closing mark must differ, and neither may be empty")
        return opening, closing


class Parameter(NamedTuple):
    """The declaration of one parameter.

    Attributes
    ----------
    name
        Its keyword in Python.
    default
        Its default.
    kind
        What values it takes.
    help
        What it is for, in one line.
    flag
        Its option on the command line, where that is not ``--name``; None: it has none.
    metavar
        How help names a value, where its kind's name does not do.
    repeat
        The option may be given several times.
    strict_only
        Only the policy ``strict`` looks at it.
    shown
        Whether the signature shows it.
    within
        Its value for records with a deadline of so many seconds (0: none), where the deadline decides it.
    """

    name: str
    default: Any
    kind: Kind
    help: str
    flag: str | None
    metavar: str | None = None
    repeat: bool = False
    strict_only: bool = False
    shown: bool = True
    within: Callable[[float], Any] | None = None

    def write(self, value: Any) -> str:
        """The parameter with a value, as the signature has it: ``b1-min-f1 0.5``."""
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{self.name.replace('_', '-')} {shown}"


_DECLARED: Final = "relfast parameter"


def parameter(default: Any, kind: Kind, help: str, **more: Any) -> Any:
    """A field of a dataclass with its declaration; the arguments are the attributes of `Parameter`."""
    return field(default=default, metadata={_DECLARED: {"kind": kind, "help": help, **more}})


def parameters_of(declaring: type) -> Iterator[Parameter]:
    """The declared parameters of a dataclass, in the order of its fields."""
    for declared in fields(declaring):
        if _DECLARED in declared.metadata:
            said = {"flag": f"--{declared.name.replace('_', '-')}"} | declared.metadata[_DECLARED]
            yield Parameter(declared.name, declared.default, **said)


def check_parameters(declaring: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values as they are kept.

    Raises
    ------
    UsageError
        A name that is not declared, or a value that its kind does not take.
    """
    declared = {parameter.name: parameter.kind for parameter in parameters_of(declaring)}
    unknown = sorted(set(given) - set(declared))
    if unknown:
        meant = did_you_mean(unknown[0], declared)
        raise UsageError(f"unknown option {unknown[0]!r}; options: {', '.join(sorted(declared))}{meant}")
    return {name: declared[name].check(name, value) for name, value in given.items()}


def number_of(value: object) -> float | None:
    """A number that is one (of numpy too), or None; no bool and no NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    return None if math.isnan(number) else number
