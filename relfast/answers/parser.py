r"""A precedence parser: tokens become a tree (`relfast.answers.trees`).

::

    answer   = item {("," | ";" | "or" | "and") item}
    item     = ["=" | "≈"] side {("=" | "<" | ">" | "≤" | "≥" | "≠" | "≈" | "∈") side}
    side     = measured {("∪" | "∩" | "∖" | ":") measured}          the same sign between all; ":" is a ratio
    measured = words | [currency] sum [unit]
    sum      = [sign] product {sign product}                        sign: + - ± ∓
    product  = signed {["*" | "/"] signed | "%"}                    a whole number and a fraction: their sum
    signed   = ["+"] ["-"] factor
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

from relfast.answers.tokens import FAMILY, KNOWN_UNITS, NONE, SCALES, UNITS, Token, words
from relfast.answers.trees import Apply, Group, Measured, Node, Number, Relation, Symbol, Words

MAX_DEPTH: Final = 80
"""Levels of the grammar that are open at once, for 20 pairs of brackets; a deeper answer has no tree."""
_MAX_TREE: Final = 25
MAX_TOKENS: Final = 200
"""Tokens of an answer that can have a tree; the longest real ones have 130."""
_MAX_DIGITS: Final = 300
_LEVELS: Final = (words(", ; or and"), words("= < > le ge ne approx in"), words("cup cap setminus :"))
"""Signs that bind less than those of a sum: between items, sides, and sets or the parts of a ratio."""
_CLOSERS: Final[dict[str, tuple[str, ...]]] = {
    "(": (")", "]"), "[": (")", "]"),
    r"\{": (r"\}",), "{": ("}",), "|": ("|",), "lfloor": ("rfloor",), "lceil": ("rceil",),
}  # fmt: skip
_FIRST: Final = _CLOSERS.keys() | words("frac binom sqrt √")
"""Signs that a factor can start with."""
_ROUNDING: Final = {"|": "abs", "lfloor": "floor", "lceil": "ceil"}
_CURRENCIES: Final = {name for name, unit in UNITS.items() if FAMILY[unit] == "money"}
_NO_UNITS: Final = words(
    "not no to is are than if when because minus plus times over squared cubed factorial choose mod base root"
)
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
    return tree if parser.at == len(tokens) and tree.deep <= _MAX_TREE else None


def _joined(sign: str, parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Apply(sign, tuple(parts))


def _check_unmarked(tree: Node) -> None:
    """Fail if a value that gets a sign (%, °, money) has one already: 3%% is no 3."""
    while isinstance(tree, Apply) and tree.tag in ("()", "-"):
        (tree,) = tree.parts
    if tree.tag == "%" or isinstance(tree, Measured):
        raise _Failure


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

    def need(self, *signs: str) -> None:
        if not self.take(*signs):
            raise _Failure

    def answer(self, level: int = 0) -> Node:
        """An answer, an item or a side: what the signs of its level join."""
        if level == len(_LEVELS):
            return self.measured()
        while level == 1 and self.take("or", "and", "=", "approx"):
            pass
        self.depth += 1
        parts, signs = [self.answer(level + 1)], list[str]()
        while sign := self.take(*_LEVELS[level]):
            signs.append(sign)
            parts.append(self.answer(level + 1))
        self.depth -= 1
        if not signs:
            return parts[0]
        if level == 1:
            return Relation(tuple(signs), tuple(parts))
        if level == 2 and len(set(signs)) > 1:
            raise _Failure
        return Group(signs[0] if level == 2 else "or" * ("or" in signs), tuple(parts))

    def measured(self) -> Node:
        kind, text, _ = self.peek()
        money = text in _CURRENCIES and self.peek(1).kind == "number"
        if kind == "word" and len(text) > 1 and not money:
            return self.words()
        self.at += money
        tree = self.sum()
        while isinstance(tree, Number) and self.peek().text in SCALES:
            tree = Number(tree.tag * SCALES[self.peek().text])
            self.at += 1
        unit = self.unit()
        paid = [name for name in unit if name in _CURRENCIES]
        if money:  # its name may follow in words
            _check_unmarked(tree)
            paid.append(UNITS[text])
        if len(set(paid)) > 1 or len(paid) > 1 + money:
            raise _Failure
        if _NO_UNITS & set(unit) or (tree.symbols and not KNOWN_UNITS.issuperset(unit)):
            raise _Failure
        unit = (UNITS[text],) if money else unit
        return Measured(unit, (tree,)) if unit else tree

    def words(self) -> Node:
        text = ""
        while (one := self.peek()).kind in ("word", "number") or (one.text in "-'." and self.names(1)):
            text += one.text.lower() if one.text.isalnum() else ""
            self.at += 1
        text = text.removeprefix("the")
        return Symbol(_NAMED_SETS[text]) if text in _NAMED_SETS else Words(text)

    def names(self, ahead: int = 0) -> bool:
        return self.peek(ahead).kind in ("word", "letter")

    def unit(self) -> tuple[str, ...]:
        """The names of the unit behind a value; its exponents do not count."""
        found: list[str] = []
        while self.names() or (
            found and self.peek().text in "./*-" and (self.names(1) or self.peek().text == ".")
        ):
            found += [UNITS.get(self.peek().text, self.peek().text)] * self.names()
            self.at += 1
            if self.take("^"):
                self.argument()
        return tuple(found)

    def sum(self) -> Node:
        terms: list[Node] = []
        while (sign := self.take("+", "-", "pm", "mp")) or not terms:
            term = self.product()
            terms.append(Apply(sign, (term,)) if sign not in ("", "+") else term)
        return _joined("+", terms)

    def product(self) -> Node:
        factors = [self.signed(self.factor)]
        while True:
            if self.take("*"):
                factors.append(self.signed(self.factor))
            elif self.take("/"):
                factors[-1] = Apply("/", (factors[-1], self.signed(self.factor)))
            elif self.take("%"):
                _check_unmarked(factors[-1])
                factors = [Apply("%", (_joined("*", factors),))]
            elif self.starts():
                self.beside(factors)
            else:
                return _joined("*", factors)

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
        self.take("+")
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
        while mark := self.take("^", "_", "!", "'", "°"):
            if mark == "^":
                tree = Apply("^", (tree, self.exponent()))
            elif mark == "!":
                tree = Apply("!", (tree,))
            elif mark == "°":
                _check_unmarked(tree)
                tree = Measured(("°",), (tree,))
            else:
                index = f"_{self.index() if mark == '_' else mark}"
                tree = Symbol(tree.tag + index) if isinstance(tree, Symbol) else Apply(index, (tree,))
        return tree

    def index(self) -> str:
        """A subscript as text."""
        begin = self.at
        self.argument()
        return "".join(token.text for token in self.tokens[begin : self.at]).strip("{}")

    def exponent(self) -> Node:
        tree = self.argument()  # 2^3^2 = 2^9
        return Apply("^", (tree, self.exponent())) if self.take("^") else tree

    def argument(self) -> Node:
        """A group in braces, or one token with its sign."""
        if not self.take("{"):
            return self.signed(self.atom)
        tree = self.answer()
        self.need("}")
        return tree

    def digit(self) -> Node:
        """What a command takes: an argument, but of a number its first digit only."""
        kind, text, _ = self.peek()
        if kind == "number" and text.isdigit() and len(text) > 1:
            self.tokens[self.at] = Token("number", text[1:])
            return Number(int(text[0]))
        return self.argument()

    def atom(self) -> Node:
        kind, text, _ = self.peek()
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Failure
        match kind:
            case "letter" | "word" if kind == "letter" or len(text) == 1:
                tree: Node = Symbol(text)
                if (self.peek().text, self.peek(1).kind, self.peek(2).text) == ("(", "number", ")"):  # f(0)
                    tree = Symbol(f"{text}_({self.peek(1).text})")
                    self.at += 3
            case "accent":
                tree = Apply(text, (self.digit(),))
            case "number" if len(text) <= _MAX_DIGITS:
                places = 0 if "e" in text.lower() else len(text.partition(".")[2])
                tree = Number(Fraction(text), places)
            case "begin":
                tree = self.environment(text)
            case "function":
                tree = self.function(text)
            case "sign":
                tree = self.sign(text)
            case _:
                raise _Failure
        self.depth -= 1
        return tree

    def sign(self, sign: str) -> Node:
        """What starts with a bracket or with one of the commands that are signs."""
        if sign in ("frac", "binom"):
            return Apply("/" if sign == "frac" else sign, (self.digit(), self.digit()))
        if sign in ("sqrt", "√"):
            degree: Node = Number(2)
            if self.take("["):
                degree = self.answer()
                self.need("]")
            base = self.digit() if sign == "sqrt" else self.argument()
            return Apply("^", (base, Apply("/", (Number(1), degree))))
        if sign not in _CLOSERS:
            raise _Failure
        in_braces = sign in ("{", r"\{")
        outside, self.in_bars = self.in_bars, sign not in ("(", "[")
        tree = self.in_braces() if in_braces else self.answer()
        closing = self.peek().text
        self.need(*_CLOSERS[sign])
        self.in_bars = outside
        if sign in _ROUNDING:
            return Apply(_ROUNDING[sign], (tree,))
        if isinstance(tree, Group) and tree.tag in ("", "or"):
            return Group("{}" if in_braces else sign + closing, tree.parts)
        return Group("{}", (tree,)) if sign == r"\{" else Apply("()", (tree,))

    def in_braces(self) -> Node:
        """What braces hold: the items of a set, or a condition of it."""
        if self.peek().text == r"\}":
            return Symbol("emptyset")
        by_colon = self.peek().kind == "letter" and self.peek(1).text == ":"
        head = self.atom() if by_colon else self.answer()
        return Group("{|", (head, self.answer())) if self.take(":" if by_colon else "|") else head

    def function(self, name: str) -> Node:
        name, _, base = name.partition("_")
        marks: dict[str, Node] = {"_": Number(int(base))} if base else {}
        while mark := self.take("^", "_"):
            marks[mark] = self.argument()
        argument = self.atom() if self.peek().text in ("(", "{", "[") else self.factors()
        power, indices = marks.pop("^", None), tuple(marks.values())
        if power == Apply("-", (Number(1),)):
            return Apply("arc" + name, (argument,))
        tree = Apply("^", (Symbol("e"), argument)) if name == "exp" else Apply(name, (argument, *indices))
        return tree if power is None else Apply("^", (tree, power))

    def factors(self) -> Node:
        """What a function takes without brackets: 2x of \\sin 2x \\cos x."""
        found = [self.signed(self.factor)]
        while self.starts() and self.peek().kind != "function" and self.peek().text not in ("(", "["):
            found.append(self.factor())
        return _joined("*", found)

    def environment(self, name: str) -> Node:
        """A matrix; of other environments, like cases, their items."""
        rows = [list[Node]()]
        while self.peek().kind != "end":
            if self.take("\\\\"):
                rows.append([])
            else:
                self.take("&")
                rows[-1].append(self.answer())
        self.at += 1
        if name in _MATRICES:
            tree = Group("#", tuple(Group("#", tuple(row)) for row in rows if row))
            return Apply("det", (tree,)) if name == "vmatrix" else tree
        items = tuple(item for row in rows for item in row)
        return items[0] if len(items) == 1 else Group("", items)
