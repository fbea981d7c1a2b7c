"""What trees are worth: their canonical text, their values at fixed points, the arithmetic they leave undone.

Numbers are exact fractions as long as that is possible. Nothing grows beyond `MAX_BITS`; what would has no
value, and equals only what is written alike.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, Final
from zlib import crc32

from relfast.answers.trees import Apply, Measured, Node, Number, Symbol

Value = Fraction | complex

MAX_BITS: Final = 8192
"""Maximum size of an exact number."""
_NEAR: Final = 1e-12
"""Maximum relative difference of two equal values that are not exact."""
_LOST: Final = 1e-9
"""A term that is a smaller share of the largest could get lost in their sum."""
_CONSTANTS: Final = {"e": complex(math.e), "pi": complex(math.pi), "i": 1j}


def _bits(number: Fraction | int) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def work(tree: Node) -> int:
    """How much arithmetic between numbers a tree leaves undone: 1 for ``2+2``, ``3·4``, ``√16``, ``5!``; 0
    for ``1/2``, ``3·10^8``, ``2^10``, ``√2/2``."""
    undone = sum(map(work, tree.parts))
    match tree:
        case Apply("+" | "*" as sign, parts):
            bare = [part.parts[0] if isinstance(part, Measured) else part for part in parts]
            numbers = [part for part in bare if rational(part) is not None]
            ten = sign == "*" and any(part.tag == "^" and part.parts[0] == Number(10) for part in numbers)
            return undone + max(0, len(numbers) - 1 - ten)
        case Apply(sign, parts) if not tree.symbols and (value := values(tree)):
            if isinstance(value[0], Fraction):
                return undone + (parts[0].tag == "/" if sign == "/" else sign not in ("-", "%", "^"))
            z = 720 * value[0]  # of a root or a function: undone if it is rational
            return undone + (abs(z) < 1e12 and abs(z - round(z.real)) < 1e-9)
    return undone


@lru_cache(maxsize=2048)
def values(tree: Node) -> tuple[Value, ...]:
    """The values of a tree at three points, of which the last is complex, or at one if it has no symbols; ()
    if it has none. A symbol's value depends on its name and the point only."""
    try:
        return tuple(_at(tree, point) for point in range(3 if tree.symbols else 1))
    except (ArithmeticError, TypeError, ValueError):
        return ()


def rational(tree: Node) -> Fraction | None:
    """The value of a tree, if it is an exact number."""
    found = () if tree.symbols else values(tree)
    return found[0] if found and isinstance(found[0], Fraction) else None


def _at(tree: Node, point: int) -> Value:
    held = [_at(part, point) for part in tree.parts]
    match tree:
        case Number():
            return tree.value
        case Symbol(name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case Measured(unit):
            return held[0] * complex(math.pi / 180) if unit == ("°",) else held[0]
        case Apply(name) if name in _OPERATIONS:
            return _bounded(_OPERATIONS[name](*held))
        case Symbol() | Apply() if tree.tag != "infty":
            seed = crc32(f"{point}{tree.text}".encode("utf-8", "replace"))
            if isinstance(tree, Apply):  # a function that is not known: 204_5 and 204_6 differ at one point
                return Fraction(seed + 2**32, (-1) ** point * 2**31)
            if point == 2:  # near the unit circle
                return complex((seed % 997 - 498) / 700, 0.6 + seed % 89 / 200)
            # below -2, or above 1: √((x + 2)²) is not x + 2, nor √((1 - x)²) 1 - x
            return Fraction(seed % 997 + 2009, -997) if point else Fraction(seed % 997 + 550, 499)
    raise ValueError(tree)


def close(a: Value, b: Value, near: float = 0) -> bool:
    """Whether two values are equal, if one is not exact nearly; or differ by the share ``near`` at most."""
    if isinstance(a, Fraction) and isinstance(b, Fraction) and not near:
        return a == b
    try:
        return cmath.isclose(complex(a), complex(b), rel_tol=near or _NEAR)
    except OverflowError:
        return False


def _bounded(value: Value | float) -> Value:
    if not isinstance(value, int | Fraction):
        return complex(value)
    if _bits(value) > MAX_BITS:
        raise OverflowError
    return value if isinstance(value, Fraction) else Fraction(value)


def _sum(*terms: Value) -> Value:
    sizes = [abs(complex(one)) for one in terms if one] if complex in map(type, terms) else []
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


_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: getattr(cmath, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log")},
    **{f"arc{name}": getattr(cmath, f"a{name}") for name in ("sin", "cos", "tan")},
    "sec": lambda z: 1 / cmath.cos(z), "csc": lambda z: 1 / cmath.sin(z), "cot": lambda z: 1 / cmath.tan(z),
    "()": lambda a: a, "-": lambda a: -a, "%": lambda a: a / 100, "/": lambda a, b: a / b, "+": _sum,
    "^": _power, "*": lambda *factors: reduce(lambda a, b: _bounded(a * b), factors),
    "abs": abs, "floor": math.floor, "ceil": math.ceil, "!": lambda n: math.factorial(_natural(n)),
    "binom": lambda n, k: math.comb(_natural(n), _natural(k)),
}  # fmt: skip
"""Operation → its value, or an error where it has none. ``log`` may have a base behind its argument."""
