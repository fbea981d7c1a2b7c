"""What trees are worth: their canonical text, their values at fixed points, the arithmetic they leave undone.

Numbers are exact fractions as long as that is possible. Nothing grows beyond `MAX_BITS`; what would has no
value, and equals only what is written alike.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Final
from zlib import crc32

from relfast.answers.trees import Apply, Indexed, Measured, Node, Number, Symbol

Value = Fraction | complex

MAX_BITS: Final = 8192
"""Maximum size of an exact number."""
_NEAR: Final = 1e-12
"""Maximum relative difference of two equal values that are not exact."""
_LOST: Final = 1e-9
"""A term that is a smaller share of the largest could get lost in their sum."""
_SHARES: Final = {"-": Fraction(-1), "%": Fraction(1, 100)}


def canonical(tree: Node) -> str:
    """A text that is equal for trees that differ only in order, brackets and the writing of fractions."""
    factor, pieces = monomial(tree)
    return "*".join(pieces if factor == 1 and pieces else (str(factor), *pieces))


@lru_cache(maxsize=2048)
def monomial(tree: Node) -> tuple[Fraction, tuple[str, ...]]:
    """A tree as a rational factor and the canonical texts of its other factors, sorted."""
    held = [monomial(part) for part in tree.parts]
    numbers, pieces = [factor for factor, _ in held], sorted(piece for _, some in held for piece in some)
    size = sum(map(_bits, numbers))
    match tree:
        case Number(value):
            return value, ()
        case Measured() | Apply("()" | "-" | "%"):
            return numbers[0] * _SHARES.get(tree.tag, 1), held[0][1]
        case Apply("*") if size <= MAX_BITS:
            return math.prod(numbers, start=Fraction(1)), tuple(pieces)
        case Apply("/") if numbers[1] and size <= MAX_BITS:
            below = [f"({piece})^(-1)" for piece in held[1][1]]
            return numbers[0] / numbers[1], tuple(sorted([*held[0][1], *below]))
        case Apply("^") if not pieces and numbers[1].denominator == 1 and (numbers[0] or numbers[1] > 0):
            if abs(numbers[1]) * _bits(numbers[0]) <= MAX_BITS:
                return numbers[0] ** int(numbers[1]), ()
        case Apply("+"):
            return Fraction(1), (f"({'+'.join(sorted(map(canonical, _terms(tree))))})",)
    return Fraction(1), (f"{type(tree).__name__}:{tree.tag}({','.join(map(canonical, tree.parts))})",)


def _terms(tree: Node) -> Iterator[Node]:
    for part in tree.parts:
        yield from _terms(part) if isinstance(part, Apply) and part.tag == "+" else (part,)


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def places(tree: Node) -> int:
    """The digits behind the point of a number as written."""
    return tree.places if isinstance(tree, Number) else places(tree.parts[0]) if tree.tag == "-" else 0


def work(tree: Node) -> int:
    """How much arithmetic between numbers a tree leaves undone: 1 for ``2+2``, ``3·4``, ``√16``, ``5!``; 0
    for ``1/2``, ``3·10^8``, ``2^10``, ``√2/2``."""
    undone = sum(map(work, tree.parts))
    match tree:
        case Apply("+" | "*" as sign):
            numbers = [part for part in tree.parts if _is_arithmetic(part)]
            ten = any(part.tag == "^" and part.parts[0] == Number(10) for part in numbers)
            return int(undone + max(0, len(numbers) - 1 - (ten and sign == "*")))
        case Apply("/", parts) if _is_arithmetic(tree):
            return int(undone + sum(part.tag == "/" for part in parts))
        case Apply() if not tree.symbols and not _is_arithmetic(tree) and (value := values(tree)):
            one = value[0]  # of a root or a function of numbers: undone if it is rational
            z = 720 * complex(one) if isinstance(one, complex) else 0j
            return undone + (abs(z) < 1e12 and abs(z - round(z.real)) < 1e-9)
    return undone


def _is_arithmetic(tree: Node) -> bool:
    """Whether a tree has only numbers and arithmetic in it: no roots, functions or symbols."""
    match tree:
        case Number():
            return True
        case Apply("^", (_, exponent)) if monomial(exponent)[0].denominator > 1:
            return False
        case Measured() | Apply("-" | "+" | "*" | "/" | "%" | "^"):
            return not tree.symbols and all(map(_is_arithmetic, tree.parts))
    return False


@lru_cache(maxsize=2048)
def values(tree: Node) -> tuple[Value, ...]:
    """The values of a tree at three points, of which the last is complex, or at one if it has no symbols; ()
    if it has none. A symbol's value depends on its name and the point only."""
    try:
        return tuple(_at(tree, point) for point in range(3 if tree.symbols else 1))
    except (ArithmeticError, TypeError, ValueError):
        return ()


def close(a: Value, b: Value, near: float = 0) -> bool:
    """Whether two values are equal, if one is not exact nearly; or differ by the share ``near`` at most."""
    if isinstance(a, Fraction) and isinstance(b, Fraction) and not near:
        return a == b
    try:
        return abs(complex(a) - complex(b)) <= max(near, _NEAR) * max(abs(complex(a)), abs(complex(b)))
    except OverflowError:
        return False


def _bounded(number: Value) -> Value:
    if isinstance(number, Fraction) and _bits(number) > MAX_BITS:
        raise OverflowError
    return number


def _sum(*terms: Value) -> Value:
    exact = all(isinstance(one, Fraction) for one in terms)
    sizes = [] if exact else [abs(complex(one)) for one in terms if one]
    if sizes and min(sizes) < _LOST * max(sizes):
        raise ArithmeticError
    return sum(terms, Fraction(0))


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            if abs(exponent) * _bits(base) > MAX_BITS:
                raise OverflowError
            return Fraction(base ** int(exponent))
        if base < 0 and exponent.denominator % 2:  # the real root
            return complex((-1) ** (exponent.numerator % 2) * float(-base) ** float(exponent))
    return complex(complex(base) ** complex(exponent))


def _natural(number: Value) -> int:
    if not isinstance(number, Fraction) or number.denominator > 1 or not 0 <= number <= 500:
        raise ValueError(number)
    return int(number)


_CONSTANTS: Final = {"e": math.e, "pi": math.pi, "i": 1j}
_OPERATIONS: Final[dict[str, Callable[..., Value]]] = {
    "()": lambda a: a, "-": lambda a: -a, "%": lambda a: a / 100, "/": lambda a, b: a / b, "+": _sum,
    "^": _power, "*": lambda *factors: reduce(lambda a, b: _bounded(a * b), factors),
    "abs": lambda a: abs(a) if isinstance(a, Fraction) else complex(abs(a)),
    "floor": lambda a: Fraction(math.floor(a)), "ceil": lambda a: Fraction(math.ceil(a)),
    "!": lambda n: Fraction(math.factorial(_natural(n))),
    "binom": lambda n, k: Fraction(math.comb(_natural(n), _natural(k))),
}  # fmt: skip
_FUNCTIONS: Final[dict[str, Callable[[complex], complex]]] = {
    **{name: getattr(cmath, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log")},
    **{f"arc{name}": getattr(cmath, f"a{name}") for name in ("sin", "cos", "tan")}, "ln": cmath.log,
    "sec": lambda z: 1 / cmath.cos(z), "csc": lambda z: 1 / cmath.sin(z), "cot": lambda z: 1 / cmath.tan(z),
}  # fmt: skip


def _at(tree: Node, point: int) -> Value:
    match tree:
        case Number(value):
            return Fraction(value)
        case Symbol(name) if name in _CONSTANTS:
            return complex(_CONSTANTS[name])
        case Measured(unit, (inner,)):
            return _at(inner, point) * (math.pi / 180 if unit == ("°",) else 1)
        case Apply(name, parts) if name in _OPERATIONS:
            return _bounded(_OPERATIONS[name](*(_at(part, point) for part in parts)))
        case Apply(name, (inner,)) if name in _FUNCTIONS:
            return _FUNCTIONS[name](complex(_at(inner, point)))
        case Apply(name, (inner,)) if name[:4] == "log_" and name[4:].isdecimal() and int(name[4:12]) > 1:
            return cmath.log(complex(_at(inner, point))) / math.log(int(name[4:]))
        case Symbol() | Indexed() | Apply() if tree.tag != "infty":
            seed = crc32(f"{point}{canonical(tree)}".encode())
            if point == 2:  # near the unit circle
                return complex((seed % 997 - 498) / 700, 0.6 + seed % 89 / 200)
            # below -2, or above 1: √((x + 2)²) is not x + 2, nor √((1 - x)²) 1 - x
            return Fraction(seed % 997 + 2009, -997) if point else Fraction(seed % 997 + 550, 499)
    raise ValueError(tree)
