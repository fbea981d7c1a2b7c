r"""A precedence parser: tokens become a tree (`relfast.answers.trees`).

::

    answer   = item {("," | ";" | "or" | "and") item}
    item     = ["=" | "≈"] side {("=" | "<" | ">" | "≤" | "≥" | "≠" | "≈" | "∈") side}
    side     = measured {("∪" | "∩" | "∖" | ":") measured}          the same sign between all; ":" is a ratio
    measured = words | [currency] sum [unit]
    sum      = [sign] product {sign product}                        sign: + - ± ∓
    product  = factor {["*" | "/"] factor | "%"}                    a whole number and a fraction: their sum
    factor   = atom {"^" argument | "_" argument | "!" | "'" | "°"}
    atom     = number | letter | \frac argument argument | \sqrt ["[" answer "]"] argument
             | accent argument | function | "|" answer "|" | ⌊ answer ⌋ | bracket answer bracket
             | "{" answer ("|" | ":") answer "}" | \begin{…} rows \end{…}
    argument = "{" answer "}" | one digit or ["-"] atom
    function = name {"^" argument | "_" argument} (bracket … | factors before a sign, bracket or function)

Letters side by side are multiplied. What does not fit has no tree, nor what nests deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from relfast.answers.tokens import NONE, SCALES, UNITS, Token, words
from relfast.answers.trees import Apply, Group, Indexed, Measured, Node, Number, Relation, Symbol, Words

MAX_DEPTH: Final = 20
"""Levels of nesting; a deeper answer has no tree."""
MAX_TOKENS: Final = 200
"""Tokens of an answer that can have a tree; the longest real ones have 130."""
_MAX_CHAIN: Final = 12
"""Marks behind one atom, and quotients of quotients without brackets."""
_MAX_DIGITS: Final = 300
_RELATIONS: Final = words("= < > le ge ne approx in")
_CLOSERS: Final[dict[str, tuple[str, ...]]] = {
    "(": (")", "]"), "[": (")", "]"),
    r"\{": (r"\}",), "{": ("}",), "|": ("|",), "lfloor": ("rfloor",), "lceil": ("rceil",),
}  # fmt: skip
_FIRST: Final = _CLOSERS.keys() | words("frac binom sqrt √")
"""Signs that a factor can start with."""
_ROUNDING: Final = {"|": "abs", "lfloor": "floor", "lceil": "ceil"}
_IN_UNITS: Final = words(". ' / * -")
_CURRENCIES: Final = words("dollar euro sterling yen rupee")
_NO_UNITS: Final = words(
    "not no to is are than if when because minus plus times over squared cubed factorial choose mod base root"
    " half halves third thirds quarter quarters fourths fifths sixths eighths tenths hundredths thousandths"
)
_KNOWN_UNITS: Final = frozenset(UNITS.values())
_NAMED_SETS: Final = {
    **dict.fromkeys(words("none nosolution nosolutions norealsolution norealsolutions emptyset"), "emptyset"),
    **dict.fromkeys(words("allrealnumbers allreals realnumbers"), "R"),
}
_MATRICES: Final = words("matrix pmatrix bmatrix Bmatrix vmatrix array smallmatrix")


class _Failure(Exception):
    """The tokens are no expression."""


def parse(tokens: Sequence[Token]) -> Node | None:
    """The tree of an answer's tokens, or None."""
    parser = _Parser(tokens if len(tokens) <= MAX_TOKENS else ())
    try:
        tree = parser.answer()
    except _Failure:
        return None
    return tree if parser.at == len(tokens) else None


def _joined(sign: str, parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Apply(sign, tuple(parts))


class _Parser:
    """A recursive descent; each method reads what the grammar calls by its name."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = [*tokens, NONE, NONE, NONE]
        self.at = self.depth = 0
        self.in_bars = False

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[self.at + ahead]

    def take(self, *signs: str) -> str:
        """Take the next token if it is one of these signs; its text, or nothing."""
        kind, text, _ = self.tokens[self.at]
        if kind != "sign" or text not in signs:
            return ""
        self.at += 1
        return text

    def need(self, *signs: str) -> str:
        if not (taken := self.take(*signs)):
            raise _Failure
        return taken

    def deeper(self, read: Callable[[], Node]) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Failure
        tree = read()
        self.depth -= 1
        return tree

    def chain(self, read: Callable[[], Node], *signs: str) -> tuple[tuple[Node, ...], tuple[str, ...]]:
        """What ``read`` reads, once and behind each of the signs that follow; and these signs."""
        parts, found = [read()], []
        while sign := self.take(*signs):
            found.append(sign)
            parts.append(read())
        return tuple(parts), tuple(found)

    def answer(self) -> Node:
        items, _ = self.chain(lambda: self.deeper(self.item), ",", ";", "or", "and")
        return items[0] if len(items) == 1 else Group("", items)

    def item(self) -> Node:
        while self.take("or", "and", "=", "approx"):
            pass
        sides, signs = self.chain(self.side, *_RELATIONS)
        return Relation(signs, sides) if signs else sides[0]

    def side(self) -> Node:
        parts, signs = self.chain(self.measured, "cup", "cap", "setminus", ":")
        if len(set(signs)) > 1:
            raise _Failure
        return Group(signs[0], parts) if signs else parts[0]

    def measured(self) -> Node:
        first = self.peek()
        is_money = first.text in _CURRENCIES and self.peek(1).kind == "number"
        if first.kind == "word" and len(first.text) > 1 and not is_money:
            return self.words()
        self.at += is_money
        tree = self.sum()
        while isinstance(tree, Number) and self.peek().text in SCALES:
            tree = Number(tree.tag * SCALES[self.peek().text])
            self.at += 1
        unit = self.unit()
        if _NO_UNITS & set(unit) or (tree.symbols and not set(unit) <= _KNOWN_UNITS):
            raise _Failure
        unit = [first.text] if is_money else unit
        return Measured(tuple(unit), (tree,)) if unit else tree

    def words(self) -> Node:
        begin = self.at
        while self.peek().kind in ("word", "number") or (
            self.peek().text in ("-", "'", ".") and self.names(1)
        ):
            self.at += 1
        found = "".join(token.text for token in self.tokens[begin : self.at] if token.text.isalnum())
        text = found.lower().removeprefix("the")
        return Symbol(_NAMED_SETS[text]) if text in _NAMED_SETS else Words(text)

    def names(self, ahead: int = 0) -> bool:
        return self.peek(ahead).kind in ("word", "letter")

    def unit(self) -> list[str]:
        """The names of the unit behind a value; its exponents do not count."""
        found: list[str] = []
        while self.names() or (found and (self.peek().text in _IN_UNITS)):
            if self.names():
                found.append(UNITS.get(self.peek().text, self.peek().text))
            elif self.peek().text in ("/", "*", "-") and not self.names(1):
                break
            self.at += 1
            if self.take("^"):
                self.argument(digits=False)
        return found

    def sum(self) -> Node:
        terms: list[Node] = []
        while (sign := self.take("+", "-", "pm", "mp")) or not terms:
            while self.take("+"):
                pass
            term = self.product()
            terms.append(Apply(sign, (term,)) if sign not in ("", "+") else term)
        return _joined("+", terms)

    def product(self) -> Node:
        factors, chained = [self.factor()], 0
        while chained <= _MAX_CHAIN:
            if self.take("*"):
                factors.append(self.signed(self.factor))
            elif sign := self.take("/", "%"):
                chained += 1
                if sign == "%":
                    factors = [Apply("%", (_joined("*", factors),))]
                else:
                    factors[-1] = Apply("/", (factors[-1], self.signed(self.factor)))
            elif self.starts():
                self.beside(factors)
            else:
                return _joined("*", factors)
        raise _Failure

    def beside(self, factors: list[Node]) -> None:
        """Add a factor that stands right behind another; 2½ is a sum."""
        whole, factor = factors[-1], self.factor()
        if isinstance(factor, Number) and isinstance(whole, Number) and self.take("/"):  # 2 1/2
            factor = Apply("/", (factor, self.factor()))
        match whole, factor:
            case Number(n), Apply("/", (Number(a), Number(b))) if (
                len(factors) == n.denominator == 1 and a < b
            ):
                factors[-1] = Number(n + a / b)
            case _, Number():
                raise _Failure
            case _:
                factors.append(factor)

    def signed(self, read: Callable[[], Node]) -> Node:
        return Apply("-", (read(),)) if self.take("-") else read()

    def starts(self) -> bool:
        """Whether the next token can start a factor."""
        kind, text, spaced = self.peek()
        if kind == "sign":
            return text in _FIRST and (text != "|" or not self.in_bars)
        if kind == "word":
            return len(text) == 1 and not spaced and text not in UNITS
        return kind not in ("", "end")

    def factor(self) -> Node:
        tree = self.atom()
        for _ in range(_MAX_CHAIN):
            match self.take("^", "_", "!", "'", "°"):
                case "^":
                    tree = Apply("^", (tree, self.deeper(self.exponent)))
                case "_":
                    tree = Indexed(self.index(), (tree,))
                case "!":
                    tree = Apply("!", (tree,))
                case "'":
                    tree = Indexed("'", (tree,))
                case "°":
                    tree = Measured(("°",), (tree,))
                case _:
                    return tree
        raise _Failure

    def exponent(self) -> Node:
        tree = self.argument(digits=False)  # 2^3^2 = 2^9
        return Apply("^", (tree, self.deeper(self.exponent))) if self.take("^") else tree

    def index(self) -> str:
        """A subscript as text."""
        begin = self.at
        self.argument(digits=False)
        return "".join(token.text for token in self.tokens[begin : self.at] if token.text not in ("{", "}"))

    def argument(self, *, digits: bool = True) -> Node:
        """What a command takes: a group, or else one token, of a number its first digit (``digits``)."""
        if self.take("{"):
            tree = self.answer()
            self.need("}")
            return tree
        kind, text, _ = self.peek()
        if digits and kind == "number" and text.isdigit() and len(text) > 1:
            self.tokens[self.at] = Token("number", text[1:])
            return Number(int(text[0]))
        self.take("+")
        return self.signed(lambda: self.deeper(self.atom))

    def atom(self) -> Node:
        kind, text, _ = self.peek()
        self.at += 1
        match kind:
            case "letter" | "word" if kind == "letter" or len(text) == 1:
                if (self.peek().text, self.peek(1).kind, self.peek(2).text) != ("(", "number", ")"):
                    return Symbol(text)
                self.at += 3  # f(0)
                return Indexed(f"({self.peek(-2).text})", (Symbol(text),))
            case "accent":
                return Apply(text, (self.argument(),))
            case "number" if len(text) <= _MAX_DIGITS:
                places = 0 if "e" in text.lower() else len(text.partition(".")[2])
                return Number(Fraction(text), places)
            case "begin":
                return self.environment(text)
            case "function":
                return self.function(text)
            case "sign":
                return self.sign(text)
        raise _Failure

    def sign(self, sign: str) -> Node:
        """What starts with a bracket or with one of the commands that are signs."""
        if sign in ("frac", "binom"):
            return Apply("/" if sign == "frac" else sign, (self.argument(), self.argument()))
        if sign in ("sqrt", "√"):
            degree = self.answer() if self.take("[") and self.peek().text != "]" else Number(2)
            self.take("]")
            known = isinstance(degree, Number) and degree.tag > 0
            share = Number(1 / degree.tag) if known else Apply("/", (Number(1), degree))
            return Apply("^", (self.argument(digits=sign == "sqrt"), share))
        if sign not in _CLOSERS:
            raise _Failure
        outside, self.in_bars = self.in_bars, sign not in ("(", "[")
        tree = self.bracketed(sign)
        self.in_bars = outside
        return tree

    def bracketed(self, opening: str) -> Node:
        """A tree in brackets, a tuple, an interval, a set; or |x|, ⌊x⌋, ⌈x⌉."""
        in_braces = opening in ("{", r"\{")
        outside, self.in_bars = self.in_bars, in_braces or opening == "|"
        tree = self.in_braces() if in_braces else self.answer()
        closing = self.need(*_CLOSERS[opening])
        self.in_bars = outside
        if opening in _ROUNDING:
            return Apply(_ROUNDING[opening], (tree,))
        if isinstance(tree, Group) and not tree.tag:
            return Group("{}" if in_braces else opening + closing, tree.parts)
        return Group("{}", (tree,)) if opening == r"\{" else Apply("()", (tree,))

    def in_braces(self) -> Node:
        """What braces hold: the items of a set, or a condition of it."""
        if self.peek().text == r"\}":
            return Symbol("emptyset")
        by_colon = self.peek().kind == "letter" and self.peek(1).text == ":"
        head = self.atom() if by_colon else self.answer()
        return Group("{|", (head, self.answer())) if self.take(":" if by_colon else "|") else head

    def function(self, name: str) -> Node:
        power = None
        while sign := self.take("^", "_"):
            if sign == "^":
                power = self.argument(digits=False)
            else:
                name += "_" + self.index()
        argument = self.deeper(self.atom if self.peek().text in ("(", "{", "[") else self.factors)
        if power == Apply("-", (Number(1),)):
            return Apply("arc" + name, (argument,))
        tree = Apply("^", (Symbol("e"), argument)) if name == "exp" else Apply(name, (argument,))
        return tree if power is None else Apply("^", (tree, power))

    def factors(self) -> Node:
        """What a function takes without brackets: 2x of \\sin 2x \\cos x."""
        sign, found = self.take("-"), [self.factor()]
        while self.starts() and self.peek().kind != "function" and self.peek().text not in ("(", "["):
            found.append(self.factor())
        tree = _joined("*", found)
        return Apply("-", (tree,)) if sign else tree

    def environment(self, name: str) -> Node:
        """A matrix; of other environments, like cases, their items."""
        rows: list[tuple[Node, ...]] = []
        while self.peek().kind != "end":
            if not self.take("\\\\"):
                rows.append(self.chain(self.answer, "&")[0])
        self.at += 1
        if name in _MATRICES:
            tree = Group("#", tuple(Group("#", row) for row in rows))
            return Apply("det", (tree,)) if name == "vmatrix" else tree
        items = tuple(item for row in rows for item in row)
        return items[0] if len(items) == 1 else Group("", items)
