"""Whether two answers are equal: numbers by value, sums, products, lists and sets in any order, tuples,
intervals and matrices place by place; expressions also by their values at fixed points."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Final

from relfast.answers.evaluating import close, monomial, places, values, work
from relfast.answers.reading import Answer
from relfast.answers.tokens import UNITS
from relfast.answers.trees import Apply, Group, Indexed, Measured, Node, Relation, Symbol, System, Words

Nodes = Sequence[Node]
Equality = Callable[[Node, Node], bool]

ROUNDED_PLACES: Final = 8
"""A decimal with this many digits behind its point counts as rounded at its last digit."""
_MAX_PLACES: Final = 14
_MAX_UNLIKE: Final = 12
"""Maximum items of a list that are written differently in both answers."""
_ROUGHLY: Final = 1e-2
_KNOWN_UNITS: Final = frozenset(UNITS.values())
_STRUCTURES: Final = (Group, System, Relation, Words)
_INFINITY: Final = Symbol("infty")
_POINT: Final = re.compile(r"([A-Z]|angle|triangle|m)$")
_INTERVALS: Final = ("()", "[]", "(]", "[)")


def same(gold: Answer, answer: Answer, *, evaluate: bool = True) -> bool:
    """Whether any tree of one equals any tree of the other, or they are spelled alike."""
    if gold.option and answer.option:
        return gold.option == answer.option
    if gold.spelled and gold.spelled == answer.spelled:
        return True
    if gold.folded and gold.folded == answer.folded and (gold.has_words or answer.has_words):
        return True
    if any(Comparison(evaluate).equal(a, b) for a in gold.trees for b in answer.trees):
        return True
    plain = [tree for tree in gold.trees if not monomial(_measured(tree)[0])[1]]
    return any(Comparison(evaluate=False).equal(a, b) for a in plain for b in answer.loose)


class Comparison:
    """Compares trees; with ``evaluate``, expressions of equal value are equal however they are written."""

    def __init__(self, evaluate: bool) -> None:
        self.evaluate = evaluate

    def equal(self, gold: Node, answer: Node) -> bool:
        """Whether two trees are equal."""
        (left, gold), (right, held) = label(gold), label(answer)
        if left and right and not _are_alike(left, right, gold):
            return False
        answer = bare(answer) if isinstance(gold, Relation) and isinstance(bare(answer), Relation) else held
        match gold, answer:
            case System(names, a), System(others, b):
                by_name = (sorted(zip(names, a, strict=True)), sorted(zip(others, b, strict=True)))
                return self.in_order(*([part for _, part in one] for one in by_name))
            case Group("" | "{}", a), Group("" | "{}", b):
                return self.in_any_order(a, b)
            case (System(), Group("" | "()")) | (Group("" | "()"), System()):
                return self.in_order(gold.parts, answer.parts)
            case (Group(""), Group("()")) | (Group("()"), Group("")):  # (1, 2) may be an interval
                return len(gold.parts) > 2 and self.in_order(gold.parts, answer.parts)
            case Group("cup" | "cap" as sign, a), Group(other, b) if sign == other:
                return self.in_any_order(a, b) or self.same_region(gold, answer)
            case Group(sign, a), Group(other, b) if sign == other:
                return self.in_order(a, b)
            case Relation(), Relation():
                return self.same_relation(gold, answer)
            case Group(":", (_, _)), _ if not isinstance(answer, _STRUCTURES):
                return self.same_expression(Apply("/", gold.parts), answer)
        if isinstance(gold, _STRUCTURES) or isinstance(answer, _STRUCTURES):
            return gold == answer or self.same_region(gold, answer)
        return self.same_expression(gold, answer)

    def in_order(self, gold: Nodes, answer: Nodes) -> bool:
        return len(gold) == len(answer) and all(map(self.equal, gold, answer))

    def in_any_order(self, gold: Nodes, answer: Nodes, equal: Equality | None = None) -> bool:
        """Whether the items of two lists can be paired."""
        equal = equal or self.equal
        left, unlike = list(answer), list[Node]()
        for item in gold:  # those that are written alike first: only few are left
            if item in left:
                left.remove(item)
            else:
                unlike.append(item)
        if len(left) != len(unlike) or len(unlike) > _MAX_UNLIKE:
            return False
        for item in unlike:
            if (other := next((one for one in left if equal(item, one)), None)) is None:
                return False
            left.remove(other)
        return True

    def same_expression(self, gold: Node, answer: Node) -> bool:
        (g, unit, percent), (a, other, share) = _measured(gold), _measured(answer)
        if unit != other and unit and other and {*unit, *other} <= _KNOWN_UNITS:
            return False
        if (percent and not share and other) or (share and not percent and unit):  # 50 % and 50 degrees
            return False
        if work(answer) > work(gold):
            return False
        # 25 % equals 25, since the question may ask for percent, and 1/4
        return self.same_value(g, a) or (percent != share and self.same_value(gold, answer))

    def same_value(self, gold: Node, answer: Node) -> bool:
        (x, pieces), (y, others) = monomial(gold), monomial(answer)
        if pieces == others and (pieces or x == y):
            return x == y
        if not pieces and not others:
            rounded = [n for n in (places(gold), places(answer)) if n >= ROUNDED_PLACES]
            return bool(rounded) and abs(x - y) < Fraction(1, 10 ** min(_MAX_PLACES, *rounded))
        u, v = (values(gold), values(answer)) if self.evaluate else ((), ())
        return bool(u) and len(u) == len(v) and all(map(close, u, v))

    def same_relation(self, gold: Node, answer: Node) -> bool:
        gold, answer = _forward(gold), _forward(answer)
        if gold.tag != answer.tag:
            return False
        if (same := self.in_order(gold.parts, answer.parts)) or gold.tag not in (("=",), ("ne",)):
            return same
        solved = not self.evaluate or named(gold.parts[0]) or work(answer) > work(gold)
        return self.in_order(gold.parts, answer.parts[::-1]) or (not solved and are_multiples(gold, answer))

    def same_region(self, gold: Node, answer: Node) -> bool:
        """Whether two sets of real numbers are equal: intervals, inequalities, their unions."""
        a, b = self.joined(_region(gold)), self.joined(_region(answer))
        return bool(a) and self.in_any_order(a, b, self.same_interval)

    def same_interval(self, gold: Node, answer: Node) -> bool:
        return bool(gold.tag == answer.tag) and self.in_order(gold.parts, answer.parts)

    def joined(self, parts: Nodes) -> Nodes:
        """Intervals as few as they can be: {1} ∪ (1, 2) is [1, 2)."""
        for a, b in permutations(parts[:_MAX_UNLIKE], 2):
            if a.tag[1] + b.tag[0] != ")(" and self.equal(a.parts[1], b.parts[0]):
                rest = [one for one in parts if one is not a and one is not b]
                return self.joined([Group(a.tag[0] + b.tag[1], (a.parts[0], b.parts[1])), *rest])
        return parts


def bare(tree: Node) -> Node:
    """A tree without brackets, the braces of a set of one, and a point's name before it."""
    match tree:
        case Apply("()", (inner,)) | Group("{}", (inner,)):
            return bare(inner)
        case Apply("*", (Symbol(name), Group("()") as point)) if name.isupper():
            return point
    return tree


def label(tree: Node) -> tuple[str, Node]:
    """The left side and the value of ``x = 5``, ``f(x) = 5``, ``(x, y) = (1, 2)``, ``x ∈ S``; or "" and the
    tree. Several values of x, ``x = 1, x = 2`` or ``x = 1, 2``, are a list; ``x = 1, y = 2`` a `System`."""
    match tree := bare(tree):
        case Relation(signs, (first, *_, last)) if set(signs) <= {"=", "in", "approx"}:
            name = named(first)
            if name and "approx" in signs[1:]:  # x = 1/3 ≈ 0.33
                exact = signs.index("approx", 1)
                return label(Relation(signs[:exact], tree.parts[: exact + 1]))
            if name and (len(signs) == 1 or not last.symbols) and name not in last.symbols:
                return name, label(last)[1]
            if not name and signs == ("=",) and named(last) and not first.symbols:  # 5 = x
                return named(last), bare(first)
            if not name and "in" not in signs and not tree.symbols:  # 10 + 32 = 42, √2 ≈ 1.41
                numbers = [values(side) for side in tree.parts]
                near = _ROUGHLY if "approx" in signs else 0
                if all(some and close(numbers[0][0], some[0], near) for some in numbers):
                    return "", bare(first if near else last)
        case Group("{|", (head, Group("", (first, *rest)))):  # {x | x = 3k, k ∈ ℤ} is {3k | k ∈ ℤ}
            return "", Group("{|", (label(first)[1], *rest) if named(head) else (head, first, *rest))
        case Group("{|", (head, condition)):
            name = named(head.parts[0] if isinstance(head, Relation) else head)
            return (name, bare(condition)) if name else ("", tree)
        case Group("" | "{}", items) if any(isinstance(item, Relation) for item in items):
            names, held = zip(*map(label, items), strict=True)
            stems = [name if "(" in name else name.partition("_")[0] for name in names]
            if all(stems) and len(set(stems)) == len(stems):
                return ",".join(sorted(stems)), System(names, held)
            if stems[0] and len({*stems} - {""}) == 1:
                return stems[0], Group("", held)
    return "", tree


def named(tree: Node) -> str:
    """What a left side names: x, x_1, f(), a line AB, (x,y); "" if it is no name."""
    match tree:
        case Symbol(name) | Words(name):
            return str(name)
        case Indexed(index, (base,)):
            return named(base) and f"{named(base)}_{index}"
        case Apply("abs" | "overline" | "vec", (inner,)):
            return named(inner)
        case Apply("()", (Symbol(),)):
            return "()"
        case Group("()", items) if all(isinstance(item, Symbol) for item in items):
            return ",".join(map(named, items))
        case Apply("*", factors) if all(isinstance(one, Symbol) and _POINT.match(one.tag) for one in factors):
            return "".join(map(named, factors))
        case Apply("*", (Apply("^", (Symbol(name), Apply("-"))), Apply("()"))):
            return f"{name}^-1()"
        case Apply("*", (first, Apply("()") | Group())):
            return named(first) and f"{named(first)}()"
    return ""


def _are_alike(left: str, right: str, value: Node) -> bool:
    """Whether two left sides may name the same: x and x(t), y and f(x); words, if the value is a number."""
    bases = {left.removesuffix("()"), right.removesuffix("()")}
    if len(bases) == 1 or (left.endswith("()") != right.endswith("()") and "y" in bases):
        return True
    in_words = max(map(len, bases)) > 3 and "_" not in left + right
    return in_words and not value.symbols and not isinstance(value, Group | Words)


def _forward(tree: Node) -> Node:
    """A relation with < and ≤ only, not > and ≥."""
    flipped = {">": "<", "ge": "le"}
    if not set(tree.tag) <= flipped.keys():
        return tree
    return Relation(tuple(flipped[sign] for sign in tree.tag[::-1]), tree.parts[::-1])


def are_multiples(gold: Node, answer: Node) -> bool:
    """Whether two relations of two sides differ by a constant factor only."""
    if not len(gold.parts) == len(answer.parts) == 2:
        return False
    a, b = (values(Apply("+", (one.parts[0], Apply("-", one.parts[1:])))) for one in (gold, answer))
    comparable = 0 < len(a) == len(b) and all(a + b)
    return comparable and all(close(x * b[0], y * a[0]) for x, y in zip(a, b, strict=True))


def _region(tree: Node) -> Nodes:
    """The intervals that a set of real numbers consists of; none if it is not known to be one."""
    tree = _forward(tree) if isinstance(tree, Relation) else tree
    lowest = Apply("-", (_INFINITY,))
    match tree:
        case Group(brackets, (_, _)) if brackets in _INTERVALS:
            return [tree]
        case Group("cup" | "", parts):
            found = [_region(part) for part in parts if tree.tag or isinstance(part, Relation)]
            return [one for some in found for one in some] if len(found) == len(parts) and all(found) else []
        case Group("{}", items):
            return [Group("[]", (item, item)) for item in items]
        case Symbol("R"):
            return [Group("()", (lowest, _INFINITY))]
        case Relation(("ne",), (Symbol(), other)) | Relation(("ne",), (other, Symbol())):
            return [Group("()", (lowest, other)), Group("()", (other, _INFINITY))]
        case Relation(signs, sides) if set(signs) <= {"<", "le"}:
            if len(sides) == 2 and _is_variable(sides[0]):
                signs, sides = ("<", *signs), (lowest, *sides)
            elif len(sides) == 2:
                signs, sides = (*signs, "<"), (*sides, _INFINITY)
            if len(sides) == 3 and _is_variable(sides[1]):
                closed = [sign == "le" for sign in signs]
                return [Group("(["[closed[0]] + ")]"[closed[1]], sides[::2])]
    return []


def _is_variable(tree: Node) -> bool:
    return isinstance(tree, Symbol) and bool(tree.symbols)


def _measured(tree: Node) -> tuple[Node, tuple[str, ...], bool]:
    """A tree without its unit and percent sign, its unit, and whether it has the sign."""
    match tree:
        case Measured(sign, (inner,)) | Apply("%" | "-" as sign, (inner,)):
            held, unit, percent = _measured(inner)
            held = Apply("-", (held,)) if sign == "-" else held
            return held, sign if isinstance(tree, Measured) else unit, percent or sign == "%"
    return tree, (), False
