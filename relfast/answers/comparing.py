"""Whether two answers are equal: numbers by value, sums, products, lists and sets in any order, tuples,
intervals and matrices place by place; expressions also by their values at fixed points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from relfast.answers.evaluating import close, monomial, places, values, work
from relfast.answers.reading import Answer
from relfast.answers.tokens import UNITS
from relfast.answers.trees import (
    INFINITY,
    Apply,
    Group,
    Indexed,
    Measured,
    Node,
    Number,
    Relation,
    Symbol,
    Words,
)

Nodes = Sequence[Node]
Equality = Callable[[Node, Node], bool]

ROUNDED_PLACES: Final = 8
"""A decimal with this many digits behind its point counts as rounded at its last digit."""
_MAX_PLACES: Final = 14
_MAX_UNLIKE: Final = 12
"""Maximum items of a list that are written differently in both answers."""
_ROUGHLY: Final = 1e-2
_KNOWN_UNITS: Final = frozenset(UNITS.values())
_SOLUTION: Final = "named"
"""Stands for the brackets of values that were given by name."""
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
        whole = bare(answer)
        (left, gold), (right, answer) = label(bare(gold)), label(whole)
        if isinstance(gold, Relation) and isinstance(whole, Relation):
            answer = whole
        if left and right and not _are_alike(left, right, gold):
            return False
        by_name = _is_system(gold) and _is_system(answer)
        if by_name and {*map(_stem, gold.parts)} != {*map(_stem, answer.parts)}:
            return False
        gold, answer = bare(_assigned(gold, by_name)), bare(_assigned(answer, by_name))
        match gold, answer:
            case Group("" | "{}", a), Group("" | "{}", b):
                return self.in_any_order(a, b)
            case Group("", a), Group(
                "()" | "named" as brackets, b
            ):  # (1, 2) may be an interval, (1, 2, 3) is none
                return (brackets == _SOLUTION or len(b) > 2) and self.in_order(a, b)
            case Group("()" | "named" as brackets, a), Group("", b):
                return (brackets == _SOLUTION or len(a) > 2) and self.in_order(a, b)
            case Group("cup"), Group("cup"):
                return self.same_region(gold, answer) or self.in_any_order(gold.parts, answer.parts)
            case Group(a), Group(b) if a == b or {a, b} == {"()", _SOLUTION}:
                return (self.in_any_order if a == "cap" else self.in_order)(gold.parts, answer.parts)
            case Relation(), Relation():
                return self.same_relation(gold, answer)
            case Words(a), Words(b):
                return bool(a == b)
            case Group(":", (a, b)), _ if not isinstance(answer, Group | Relation | Words):
                return self.same_expression(Apply("/", (a, b)), answer)
        if any(isinstance(tree, Group | Relation | Words) for tree in (gold, answer)):
            return self.same_region(gold, answer)
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
            at = next((k for k, other in enumerate(left) if equal(item, other)), -1)
            if at < 0:
                return False
            left.pop(at)
        return True

    def same_expression(self, gold: Node, answer: Node) -> bool:
        (g, unit, percent), (a, other, share) = _measured(gold), _measured(answer)
        if unit != other and unit and other and {*unit, *other} <= _KNOWN_UNITS:
            return False
        if percent != share:  # 25 % equals 25, since the question may ask for percent, and 1/4
            hundredths = [Apply("%", (one,)) if sign else one for one, sign in ((g, percent), (a, share))]
            return self.same_value(g, a) or self.same_value(*hundredths)
        return self.same_value(g, a)

    def same_value(self, gold: Node, answer: Node) -> bool:
        (x, pieces), (y, others) = monomial(gold), monomial(answer)
        if pieces == others and (pieces or x == y):
            return x == y and work(answer) <= work(gold)
        if not pieces and not others:
            rounded = [n for n in (places(gold), places(answer)) if n >= ROUNDED_PLACES]
            return bool(rounded) and abs(x - y) < Fraction(1, 10 ** min(_MAX_PLACES, *rounded))
        if not self.evaluate or work(answer) > work(gold):
            return False
        u, v = values(gold), values(answer)
        return bool(u) and len(u) == len(v) and all(map(close, u, v))

    def same_relation(self, gold: Node, answer: Node) -> bool:
        gold, answer = _forward(gold), _forward(answer)
        if gold.tag != answer.tag:
            return False
        if self.in_order(gold.parts, answer.parts):
            return True
        if gold.tag not in (("=",), ("ne",)):
            return False
        if self.in_order(gold.parts, answer.parts[::-1]):
            return True
        solved = not self.evaluate or named(gold.parts[0]) or work(answer) > work(gold)
        return not solved and are_multiples(gold, answer)

    def same_region(self, gold: Node, answer: Node) -> bool:
        """Whether two sets of real numbers are equal: intervals, inequalities, their unions."""
        a, b = self.joined(_region(gold)), self.joined(_region(answer))
        return bool(a) and self.in_any_order(a, b, self.same_interval)

    def same_interval(self, gold: Node, answer: Node) -> bool:
        return bool(gold.tag == answer.tag) and self.in_order(gold.parts, answer.parts)

    def joined(self, parts: Nodes) -> Nodes:
        """Intervals as few as they can be: {1} ∪ (1, 2) is [1, 2)."""
        for a in parts[:_MAX_UNLIKE]:
            for b in parts[:_MAX_UNLIKE]:
                if a is not b and a.tag[1] + b.tag[0] != ")(" and self.equal(a.parts[1], b.parts[0]):
                    whole = Group(a.tag[0] + b.tag[1], (a.parts[0], b.parts[1]))
                    return self.joined([whole, *(one for one in parts if one is not a and one is not b)])
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
    """The left side and the value of ``x = 5``, ``f(x) = 5``, ``(x, y) = (1, 2)``, ``x ∈ S``; or ""."""
    match tree:
        case Relation(signs, (first, *_, last)) if set(signs) <= {"=", "in", "approx"}:
            name = named(first)
            if name and len(signs) > 1 and signs[-1] == "approx":  # x = 1/3 ≈ 0.33
                return label(Relation(signs[:-1], tree.parts[:-1]))
            if name and (len(signs) == 1 or not last.symbols) and name not in last.symbols:
                return name, bare(last)
            if not name and signs == ("=",) and named(last) and not first.symbols:  # 5 = x
                return named(last), bare(first)
            if not name and "in" not in signs and not tree.symbols:  # 10 + 32 = 42, √2 ≈ 1.41
                numbers = [values(side) for side in tree.parts]
                near = _ROUGHLY if "approx" in signs else 0
                if all(some and close(numbers[0][0], some[0], near) for some in numbers):
                    return "", first if near else last
        case Group("{|", (head, Group("", (first, *rest)))):  # {x | x = 3k, k ∈ ℤ} is {3k | k ∈ ℤ}
            return "", Group("{|", (label(first)[1], *rest) if named(head) else (head, first, *rest))
        case Group("{|", (head, condition)):
            name = named(head.parts[0] if isinstance(head, Relation) else head)
            return (name, condition) if name else ("", tree)
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
        case Apply("*", factors) if all(isinstance(one, Symbol) and _is_point(one.tag) for one in factors):
            return "".join(map(named, factors))
        case Apply("*", (Apply("^", (Symbol(name), Apply("-", (Number(),)))), Apply("()"))):
            return f"{name}^-1()"
        case Apply("*", (first, Apply("()") | Group())):
            return named(first) and f"{named(first)}()"
    return ""


def _is_point(name: str) -> bool:
    return name.isupper() or name in ("angle", "triangle", "m")


def _are_alike(left: str, right: str, value: Node) -> bool:
    """Whether two left sides may name the same: x and x(t), y and f(x); words, if the value is a number."""
    bases = {left.removesuffix("()"), right.removesuffix("()")}
    if len(bases) == 1 or (left.endswith("()") != right.endswith("()") and "y" in bases):
        return True
    in_words = max(map(len, bases)) > 3 and "_" not in left + right
    return in_words and not value.symbols and not isinstance(value, Group | Words)


def _is_system(tree: Node) -> bool:
    return isinstance(tree, Group) and not tree.tag and all(isinstance(item, Relation) for item in tree.parts)


def _stem(tree: Node) -> str:
    """The name that a relation gives a value to, without an index: x of x_1 = 2."""
    name = label(tree)[0]
    return name if "(" in name else name.partition("_")[0]


def _assigned(tree: Node, by_name: bool) -> Node:
    """``x = 1, y = 2`` as a tuple of the values, by name or as written; ``x = 1, x = 2`` and ``x = 1, 2`` as
    their list."""
    labels = (
        [label(item) for item in tree.parts] if isinstance(tree, Group) and tree.tag in ("", "{}") else []
    )
    stems = [name if "(" in name else name.partition("_")[0] for name, _ in labels]
    if stems and all(stems) and len(set(stems)) == len(stems):
        ordered = sorted(labels, key=lambda one: one[0]) if by_name else labels
        return Group(_SOLUTION, tuple(value for _, value in ordered))
    if stems and stems[0] and len({*stems} - {""}) == 1:
        return Group("", tuple(value for _, value in labels))
    return tree


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
    if not a or len(a) != len(b) or not all(a) or not all(b):
        return False
    return all(close(x * b[0], y * a[0]) for x, y in zip(a, b, strict=True))


def _region(tree: Node) -> Nodes:
    """The intervals that a set of real numbers consists of; none if it is not known to be one."""
    tree = _forward(tree) if isinstance(tree, Relation) else tree
    lowest = Apply("-", (INFINITY,))
    match tree:
        case Group(brackets, (_, _)) if brackets in _INTERVALS:
            return [tree]
        case Group("cup" | "", parts):
            found = [_region(part) for part in parts if tree.tag or isinstance(part, Relation)]
            return [one for some in found for one in some] if len(found) == len(parts) and all(found) else []
        case Group("{}", items) | (Number() as items):
            points = items if isinstance(items, tuple) else (items,)
            return [Group("[]", (item, item)) for item in points]
        case Symbol("R"):
            return [Group("()", (lowest, INFINITY))]
        case Relation(("ne",), (Symbol(), other)) | Relation(("ne",), (other, Symbol())):
            return [Group("()", (lowest, other)), Group("()", (other, INFINITY))]
        case Relation(signs, sides) if set(signs) <= {"<", "le"}:
            ends = ["[" if signs[0] == "le" else "(", "]" if signs[-1] == "le" else ")"]
            match sides:
                case (low, Symbol(), high):
                    return [Group("".join(ends), (low, high))]
                case (Symbol() as x, high) if x != INFINITY:
                    return [Group("(" + ends[1], (lowest, high))]
                case (low, Symbol() as x) if x != INFINITY:
                    return [Group(ends[0] + ")", (low, INFINITY))]
    return []


def _measured(tree: Node) -> tuple[Node, tuple[str, ...], bool]:
    """A tree without its unit and percent sign, its unit, and whether it has the sign."""
    match tree:
        case Measured(unit, (inner,)):
            held, inner_unit, percent = _measured(inner)
            return held, unit or inner_unit, percent
        case Apply("%", (inner,)):
            return *_measured(inner)[:2], True
        case Apply("-", (inner,)):
            held, unit, percent = _measured(inner)
            return Apply("-", (held,)), unit, percent
    return tree, (), False
