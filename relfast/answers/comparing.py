"""Whether two answers are equal: numbers by value, sums, products, lists and sets in any order, tuples,
intervals and matrices place by place; expressions also by their values at fixed points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from relfast.answers.evaluating import close, rational, values, work
from relfast.answers.reading import Answer, named
from relfast.answers.tokens import KNOWN_UNITS
from relfast.answers.trees import Apply, Group, Measured, Named, Node, Number, Relation, Symbol, Words

Nodes = Sequence[Node]

ROUNDED_PLACES: Final = 8
"""A decimal with this many digits behind its point counts as rounded at its last digit."""
_MAX_PLACES: Final = 14
_MAX_UNLIKE: Final = 12
"""Maximum items of a list that are written differently in both answers."""
_STRUCTURES: Final = (Group, Relation, Words)


def same(gold: Answer, answer: Answer, *, evaluate: bool = True) -> bool:
    """Whether any tree of one equals any tree of the other, or they are spelled alike."""
    if gold.option and answer.option:
        return gold.option == answer.option
    if gold.spelled and gold.spelled == answer.spelled:
        return True
    if gold.folded and gold.folded == answer.folded and (gold.has_words or answer.has_words):
        return True
    compared = Comparison(evaluate)
    if any(compared.equal(a, b) for a in gold.trees for b in answer.trees):
        return True
    plain = [tree for tree in gold.trees if rational(_measured(tree)[0]) is not None]
    return any(compared.equal(a, b) for a in plain for b in answer.loose)


class Comparison:
    """Compares trees; with ``evaluate``, expressions of equal value are equal however they are written."""

    def __init__(self, evaluate: bool) -> None:
        self.evaluate = evaluate

    def equal(self, gold: Node, answer: Node) -> bool:
        """Whether two trees are equal."""
        if isinstance(gold, Named) and isinstance(answer, Named) and not _are_alike(gold, answer):
            return (gold.tag, answer.tag) == (named(answer.parts[0]), named(gold.parts[0]))  # V = IR, IR = V
        both = isinstance(gold, Relation) or isinstance(answer, Relation)
        gold, answer = (_as_equation(one) if both else _held(one) for one in (gold, answer))
        match gold, answer:
            case (Group("" | "{}", a), Group("" | "{}", b)):
                return self.in_any_order(a, b)
            case Group("cup" | "cap" | "=" as sign, a), Group(other, b) if sign == other:
                return self.in_any_order(a, b)
            case (Group("="), Group("" | "()")) | (Group("" | "()"), Group("=")):
                return self.in_order(gold.parts, answer.parts)
            case (Group(""), Group("()")) | (Group("()"), Group("")):  # (1, 2) may be an interval
                return len(gold.parts) > 2 and self.in_order(gold.parts, answer.parts)
            case Group(sign, a), Group(other, b) if sign == other:
                return self.in_order(a, b)
            case Relation(), Relation():
                return self.same_relation(gold, answer)
            case Group(":", (_, _)), _ if not isinstance(answer, _STRUCTURES):
                return self.same_expression(Apply("/", gold.parts), answer)
        if isinstance(gold, _STRUCTURES) or isinstance(answer, _STRUCTURES):
            return gold == answer
        return self.same_expression(gold, answer)

    def in_order(self, gold: Nodes, answer: Nodes) -> bool:
        return len(gold) == len(answer) and all(map(self.equal, gold, answer))

    def in_any_order(self, gold: Nodes, answer: Nodes) -> bool:
        """Whether the items of two lists can be paired."""
        a, b = Counter(gold), Counter(answer)
        unlike, left = list((a - b).elements()), list((b - a).elements())  # not written alike: only few
        if len(left) != len(unlike) or len(unlike) > _MAX_UNLIKE:
            return False
        for item in unlike:
            if (other := next((one for one in left if self.equal(item, one)), None)) is None:
                return False
            left.remove(other)
        return True

    def same_expression(self, gold: Node, answer: Node) -> bool:
        (g, unit, percent), (a, other, share) = _measured(gold), _measured(answer)
        if unit != other and unit and other and {*unit, *other} <= KNOWN_UNITS:
            return False
        if (percent and not share and other) or (share and not percent and unit):  # 50 % and 50 degrees
            return False
        if work(answer) > work(gold):
            return False
        # 25 % equals 25, since the question may ask for percent, and 1/4
        return self.same_value(g, a) or (percent != share and self.same_value(gold, answer))

    def same_value(self, gold: Node, answer: Node) -> bool:
        if gold == answer:
            return True
        x, y = rational(gold), rational(answer)
        if x is not None and y is not None:
            rounded = [n for n in (_places(gold), _places(answer)) if n >= ROUNDED_PLACES]
            return x == y or (bool(rounded) and abs(x - y) < Fraction(1, 10 ** min(_MAX_PLACES, *rounded)))
        u, v = (values(gold), values(answer)) if self.evaluate else ((), ())
        return bool(u) and len(u) == len(v) and all(map(close, u, v))

    def same_relation(self, gold: Node, answer: Node) -> bool:
        if gold.tag != answer.tag or self.in_order(gold.parts, answer.parts):
            return bool(gold.tag == answer.tag)
        solved = not self.evaluate or named(gold.parts[0]) or work(answer) > work(gold)
        return gold.tag in (("=",), ("ne",)) and (
            self.in_order([*map(_as_name, gold.parts)], [*map(_as_name, answer.parts[::-1])])
            or (not solved and _are_multiples(gold, answer))
        )


def _held(tree: Node) -> Node:
    return tree.parts[0] if isinstance(tree, Named) else tree


def _as_name(side: Node) -> Node:
    """A side of an equation; what may be a name as its name, as `_as_equation` has it: PV, f(x)."""
    name = named(side)
    return Symbol(name) if name else side


def _as_equation(tree: Node) -> Node:
    return Relation(("=",), (Symbol(tree.tag), *tree.parts)) if isinstance(tree, Named) else tree


def _are_alike(gold: Node, answer: Node) -> bool:
    """Whether two left sides may name the same: x and x(t), y and f(x); words, if the value is a number."""
    bases = {gold.tag.removesuffix("()"), answer.tag.removesuffix("()")}
    if len(bases) == 1 or (gold.tag.endswith("()") != answer.tag.endswith("()") and "y" in bases):
        return True
    in_words = max(map(len, bases)) > 3 and "_" not in gold.tag + answer.tag
    return in_words and not gold.symbols and not isinstance(gold.parts[0], Group | Words)


def _are_multiples(gold: Node, answer: Node) -> bool:
    """Whether two relations of two sides differ by a constant factor only."""
    a, b = (values(Apply("+", (one.parts[0], Apply("-", one.parts[1:])))) for one in (gold, answer))
    comparable = 1 < len(a) == len(b) and all(a + b)
    return comparable and all(close(x * b[0], y * a[0]) for x, y in zip(a, b, strict=True))


def _measured(tree: Node) -> tuple[Node, tuple[str, ...], bool]:
    """A tree without its unit and percent sign, its unit, and whether it has the sign."""
    match tree:
        case Measured(sign, (inner,)) | Apply("%" | "-" as sign, (inner,)):
            held, unit, percent = _measured(inner)
            held = Apply("-", (held,)) if sign == "-" else held
            return held, sign if isinstance(tree, Measured) else unit, percent or sign == "%"
    return tree, (), False


def _places(tree: Node) -> int:
    """The digits behind the point of a number as written."""
    return tree.places if isinstance(tree, Number) else _places(tree.parts[0]) if tree.tag == "-" else 0
