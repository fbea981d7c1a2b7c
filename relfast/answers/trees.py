"""What an answer can be: the nodes that the parser makes and the comparison reads."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import is_
from typing import Any, Final

CONSTANTS: Final = frozenset(["e", "pi", "i", "infty"])
"""Symbols that are no variables."""


class Node:
    """A part of an answer: its ``tag``, its ``parts``, how ``deep`` they nest, the ``symbols`` in it, but for
    constants, and its ``text``, which is equal if only brackets and the order of sums and products differ."""

    __match_args__ = ("tag", "parts")

    def __init__(self, tag: Any, parts: tuple[Node, ...] = ()) -> None:
        self.tag, self.parts = tag, parts
        self.deep: int = 1 + max([part.deep for part in parts], default=0)
        self.symbols: frozenset[str] = frozenset().union(*[part.symbols for part in parts])
        texts = [part.text for part in parts]
        texts = sorted(texts) if tag in ("+", "*") else texts
        bare = tag == "()" and isinstance(self, Apply)
        self.text: str = texts[0] if bare else f"{type(self).__name__}:{tag}({','.join(texts)})"

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.text == other.text

    def changed(self, change: Callable[[Node], Node]) -> Node:
        """This node with ``change`` done to its parts."""
        parts = tuple(map(change, self.parts))
        return self if all(map(is_, parts, self.parts)) else type(self)(self.tag, parts)


class Number(Node):
    """A fraction; ``places`` are the digits behind its point as written."""

    def __init__(self, value: Fraction | int, places: int = 0) -> None:
        self.value = Fraction(value)
        super().__init__(self.value)
        self.places = places


class Symbol(Node):
    """A letter or a constant, by its name: x, alpha, pi, infty, emptyset; x_1, x_' and f_(0) too."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.symbols = frozenset([name]) - CONSTANTS


class Words(Node):
    """Words in lower case without blanks: a name, a day."""


class Apply(Node):
    """An operation of its parts: + - * / ^ % ! pm mp, or a function by its name; "()": a tree in brackets;
    _5: one with this index."""


class Measured(Node):
    """One part, and the names of its unit (a tuple)."""


class Group(Node):
    """Several parts, by how they are held together: "" a list, "{}" a set and "=" a system (x = 1, y = 2),
    whose order does not count; "or" alternatives; "()", "[)" … a tuple or an interval; "{|" a set by its
    condition; "#" the rows of a matrix; ":" a ratio; cup, cap, setminus."""


class Relation(Node):
    """Sides with signs (a tuple) between them: x = 2, 1 < x ≤ 3."""


class Named(Node):
    """One part, and what names it: x = 2, f(x) = 2x; x < 3 is the interval (-∞, 3) by the name of x."""
