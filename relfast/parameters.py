"""Declared parameters: fields of dataclasses with a declaration of their allowed values, help text and
option.

Options of tasks and parameters of generators are frozen dataclasses whose fields are made by `parameter`. The
command line makes its options of the declarations, Python's keywords are checked against them, and the
run's signature shows the parameters that are declared as shown.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from relfast.errors import UsageError, did_you_mean

MAX_COUNT: Final = 2**63 - 1
"""Largest whole number that relfast's files can hold."""


class Kind(Protocol):
    """The values that a parameter accepts."""

    def check(self, name: str, value: object) -> Any:
        """The value in normal form. Raises `UsageError`, with the parameter's name, for an invalid value."""
        ...


class WrittenKind(Kind, Protocol):
    """A kind with its own notation on the command line."""

    @property
    def metavar(self) -> str:
        """The word for a value in help texts."""
        ...

    def parse(self, text: str) -> Any:
        """Read a value from text. Raises ValueError with the reason."""
        ...

    def write(self, value: Any) -> str:
        """The text of a value, for help texts."""
        ...


class Flag:
    """A bool; other values are refused, since ``bool("no")`` is True."""

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
    """A text; a path is converted to one."""

    def check(self, name: str, value: object) -> str:
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if not isinstance(value, str):
            raise UsageError(f"{name} must be a text, not {value!r:.60}")
        return value


class Texts(Text):
    """Several texts, each of which is an option's value."""

    def check(self, name: str, value: object) -> Any:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise UsageError(f"{name} must be texts, not {value!r:.60}")
        return tuple(Text.check(self, name, text) for text in value)


class Whole(NamedTuple):
    """A whole number; the bounds are inclusive."""

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
    """A number (also numpy's, but not NaN); the bounds are inclusive."""

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


class Pair(NamedTuple):
    """Two numbers, the second not below the first; the bounds of both are inclusive."""

    low: float | None = None
    high: float | None = None

    def check(self, name: str, value: object) -> tuple[float, float]:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise UsageError(f"{name} must be two numbers, not {value!r:.60}")
        low = Number(self.low, self.high).check(name, value[0])
        return low, Number(low, self.high).check(name, value[1])


class Sizes(NamedTuple):
    """One or more whole numbers within bounds (inclusive), written ``5,10,20`` or ``5:50:5`` (first, last,
    step)."""

    low: int | None = None
    high: int | None = None
    metavar: str = "SIZES"

    def check(self, name: str, value: object) -> tuple[int, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise UsageError(f"{name} must be whole numbers, not {value!r:.60}")
        if not value:
            raise UsageError(f"{name} must name at least one size")
        return tuple(Whole(self.low, self.high).check(name, number) for number in value)

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
    """Any number of pairs of an opening and a closing mark, each written ``OPEN…CLOSE`` (or with three full
    stops) or ``OPEN,CLOSE``."""

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
            opening, separator, closing = text.partition(between)
            if separator:
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
        The parameter's keyword in Python.
    default
        Its default value.
    kind
        The values that it accepts.
    help
        What it does, in one line.
    flag
        Its option on the command line, by default ``--name``; None: it has no option.
    metavar
        The word for a value in help texts, if not the kind's.
    repeat
        Whether the option may be given several times.
    strict_only
        Whether it has an effect only under the policy ``strict``.
    shown
        Whether the run's signature shows it.
    within
        For a value that depends on the deadline of a record: function of the deadline in seconds (0: none)
        that returns it.
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
        """The parameter with a value, in the form of the signature: ``b1-min-f1 0.5``."""
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{self.name.replace('_', '-')} {shown}"


_DECLARED: Final = "relfast parameter"


def parameter(default: Any, kind: Kind, help: str, **more: Any) -> Any:
    """A field of a dataclass with its declaration; the arguments are the attributes of `Parameter`, as in
    ``limit: int = parameter(10, Whole(1), "Most answers.")``."""
    return field(default=default, metadata={_DECLARED: {"kind": kind, "help": help, **more}})


def parameters_of(declaring: type) -> Iterator[Parameter]:
    """The declared parameters of a dataclass, in the order of its fields."""
    for each in fields(declaring):
        if _DECLARED in each.metadata:
            declaration = {"flag": f"--{each.name.replace('_', '-')}"} | each.metadata[_DECLARED]
            yield Parameter(each.name, each.default, **declaration)


Declaring = TypeVar("Declaring")


def declared(declaring: type[Declaring], given: Mapping[str, Any]) -> Declaring:
    """An instance of a dataclass with the given values in normal form, checked against its declarations. None
    is accepted where it is the default.

    Raises
    ------
    UsageError
        A name is not declared, or its kind does not accept a value.
    """
    known = {parameter.name: parameter for parameter in parameters_of(declaring)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise UsageError(f"unknown option {unknown[0]!r}; options: {', '.join(sorted(known))}{meant}")
    return declaring(
        **{
            name: value if value is known[name].default is None else known[name].kind.check(name, value)
            for name, value in given.items()
        }
    )


def number_of(value: object) -> float | None:
    """The value as a float if it is a number (also numpy's); None for others, bools and NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    return None if math.isnan(number) else number
