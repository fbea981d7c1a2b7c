"""What an answer can be: the nodes that the parser makes and the comparison reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any


class Node:
    """A part of an answer: its ``tag``, its ``parts``, and the ``symbols`` in it, but for constants."""

    __match_args__ = ("tag", "parts")

    def __init__(self, tag: Any, parts: tuple[Node, ...] = ()) -> None:
        self.tag, self.parts = tag, parts
        self.symbols: frozenset[str] = frozenset().union(*(part.symbols for part in parts))
        self.hashed = hash((type(self), tag, parts))

    def __hash__(self) -> int:
        return self.hashed

    def __eq__(self, other: object) -> bool:
        same = type(self) is type(other) and isinstance(other, Node) and self.hashed == other.hashed
        return same and self.tag == other.tag and self.parts == other.parts  # type: ignore[attr-defined]

    def within(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for part in self.parts:
            yield from part.within()

    def changed(self, change: Callable[[Node], Node]) -> Node:
        """This node with ``change`` done to its parts."""
        parts = tuple(map(change, self.parts))
        return self if parts == self.parts else type(self)(self.tag, parts)


class Number(Node):
    """A fraction; ``places`` are the digits behind its point as written."""

    def __init__(self, value: Fraction | int, places: int = 0) -> None:
        super().__init__(Fraction(value))
        self.places = places


class Symbol(Node):
    """A letter or a constant, by its name: x, alpha, pi, infty, emptyset."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.symbols = frozenset([name]) - {"e", "i", "pi", "infty"}


class Words(Node):
    """Words in lower case without blanks: a name, a day."""


class Apply(Node):
    """An operation of its parts: + - * / ^ % ! pm mp, or a function by its name; "()": a tree in brackets."""


class Indexed(Node):
    """x_1, 204_5, y′, f(0): one part, told apart by the text behind it."""


class Measured(Node):
    """One part, and the names of its unit (a tuple)."""


class Group(Node):
    """Several parts, by how they are held together: "" a list and "{}" a set, whose order does not count;
    "()", "[)" … a tuple or an interval; "{|" a set by its condition; "#" the rows of a matrix; ":" a ratio;
    cup, cap, setminus."""


class System(Node):
    """Values by their names (a tuple), in the order in which they are written: x = 1, y = 2."""


class Relation(Node):
    """Sides with signs (a tuple) between them: x = 2, 1 < x ≤ 3."""
