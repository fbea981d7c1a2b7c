"""Read an answer: its tokens, the trees that they may stand for, and what these mean (`_meant`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, permutations
from typing import Final, NamedTuple

from relfast.answers.evaluating import close, rational, values
from relfast.answers.parser import parse
from relfast.answers.tokens import UNITS, Token, tokens_of, with_commas_joined, words
from relfast.answers.trees import Apply, Group, Measured, Named, Node, Number, Relation, Symbol, Words

MAX_CHARS: Final = 400
"""Maximum characters of an answer that is read. No reference of MATH or GSM8K has more than 200."""

_FILLERS: Final = words(
    "the The a an An about About approximately Approximately exactly Exactly only just roughly is are was"
    " answer final Answer Final"
)
_EMPHASIS: Final = words(", ; : * ^")
_ENDS: Final = _EMPHASIS | words(". ?")
_NAMED: Final = words("word letter number")
_PUNCTUATION: Final = words(". ' , - : ( ) { } and or")
_JOINING: Final = words("or and , ; / + = < >")
_OPTION: Final = re.compile(r"\( ([A-J]) \)|([A-J])(?: [).:]|$)")
_CAPITALS: Final = words("K C F J N W V")
"""Units of one letter that are no symbols when they stand apart from a number."""
_BESIDE_DIGITS: Final = words("L J N W V")
"""Units of one letter that may stand right behind a number too: 0.125L."""
_COMMA: Final = re.compile(r"[$\s]*(\d+),(\d\d?|\d{4,})[$\s]*")
_LONE: Final = re.compile(r"\{ (\S+) \}")
_POINT: Final = re.compile(r"([A-Z]|angle|triangle|m)$")
_FORWARD: Final = {">": "<", "ge": "le"}
_INFINITY: Final = Symbol("infty")
_LOWEST: Final = Apply("-", (_INFINITY,))
_ROUGHLY: Final = 1e-2
_MAX_JOINED: Final = 12
"""Maximum intervals that are joined."""


class Answer(NamedTuple):
    """What an answer may mean: its ``trees``, the likeliest first; ``loose`` ones, which count beside a plain
    number only (3 m with a unit, 3,75 with a comma for the point); the letter of the ``option`` it names; its
    tokens as ``spelled``, and in lower case without punctuation (``folded``)."""

    trees: tuple[Node, ...] = ()
    loose: tuple[Node, ...] = ()
    option: str = ""
    spelled: str = ""
    folded: str = ""
    has_words: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is one number, with or without a unit."""
        tree = self.trees[0] if self.trees else None
        return isinstance(tree, Number | Measured | Apply) and not tree.symbols


@lru_cache(maxsize=512)
def read(text: str) -> Answer:
    """What an answer's text may mean; nothing if it is empty or longer than `MAX_CHARS`."""
    if text.isascii() and text.isdigit() and len(text) < 20:  # most answers
        return Answer((Number(int(text)),), spelled=text)
    text = text if len(text) <= MAX_CHARS else ""
    option, _ = _option(tokens := trimmed(tokens_of(text)))
    trees: list[Node] = []
    loose: list[Node] = []
    for reading in dict.fromkeys([trimmed(tokens_of(with_commas_joined(text))), tokens]):
        for part in filter(None, (reading, _option(reading)[1])):
            trees += _parsed(part)
            measured = _with_unit(part)
            (trees if measured and measured[0].tag[0] in _CAPITALS else loose).extend(measured)
    if decimal := _COMMA.fullmatch(text):
        loose += _parsed([Token("number", f"{decimal[1]}.{decimal[2]}")])
    has_words = any(token.kind == "word" and len(token.text) > 1 for token in tokens)
    spelled = _LONE.sub(r"\1", " ".join(token.text for token in tokens))
    return Answer(tuple(trees), tuple(loose), option, spelled, _folded(tokens), has_words)


def trimmed(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Tokens without fillers and emphasis at the beginning, and without full stops at the end."""
    while len(tokens) > 1 and tokens[0].text in (_FILLERS if tokens[0].kind == "word" else _EMPHASIS):
        tokens = tokens[1:]
    while tokens and tokens[-1].text in _ENDS:
        tokens = tokens[:-1]
    return tokens


def _option(tokens: tuple[Token, ...]) -> tuple[str, tuple[Token, ...]]:
    """The letter of an option, "(C)" or "C. 18", and the tokens behind it; not of "(C) or (D)"."""
    found = _OPTION.match(" ".join(token.text for token in tokens[:3]))
    rest = tokens[len(found[0].split()) :] if found else ()
    joined = rest and (rest[0].text in _JOINING or _option(rest)[0])
    if not found or joined or (rest and not found[1] and not rest[0].spaced):
        return "", ()
    return found[1] or found[2], rest


def _with_unit(tokens: Sequence[Token]) -> list[Node]:
    """Numbers with letters apart from them, read as a unit: 3 m, 10 m/s^2."""
    at = next((k for k, token in enumerate(tokens) if token.kind == "letter"), 0)
    glued = tokens[at].text in _BESIDE_DIGITS and tokens[at - 1].kind == "number" and at == len(tokens) - 1
    if not at or tokens[at].text not in UNITS or not (tokens[at].spaced or glued):
        return []
    unit = [Token("word", one.text, True) if one.kind == "letter" else one for one in tokens[at:]]
    return [one for one in _parsed([*tokens[:at], *unit]) if isinstance(one, Measured) and not one.symbols]


def _folded(tokens: tuple[Token, ...]) -> str:
    """`Answer.folded`, if an answer is a text: words, and letters, numbers and punctuation between them."""
    kept = [token for token in tokens if token.kind in _NAMED or token.text in ("and", "or", "-")]
    signs = {token.text for token in tokens if token.kind not in _NAMED}
    numbers = any(b.kind == "number" and (a.kind == "number" or a.text == "-") for a, b in pairwise(kept))
    is_text = any(kept) and kept[0].text.isalpha() and not numbers and signs <= _PUNCTUATION
    return "".join(token.text for token in kept if token.text != "-").lower() if is_text else ""


# what a tree means


def _parsed(tokens: Sequence[Token]) -> list[Node]:
    """What the tree of tokens means, if they have one; ± stands for both of its values."""
    if (tree := parse(tokens)) is None:
        return []
    items = (tree.parts if tree.tag in ("", "or") else ()) or (tree,)
    signs = ("pm", "mp") if any(token.text in ("pm", "mp") for token in tokens) else ("pm",)
    chosen = [one for item in items for one in dict.fromkeys(_chosen(item, sign) for sign in signs)]
    return [_meant(chosen[0] if len(chosen) == 1 else Group("or" * (tree.tag == "or"), tuple(chosen)))]


def _chosen(tree: Node, positive: str) -> Node:
    """A tree with + for the sign ``positive`` and - for the other, and without brackets but those of f(x)."""
    tree = tree.changed(lambda part: _chosen(part, positive))
    match tree:
        case Apply("pm" | "mp" as sign, (term,)):
            return term if sign == positive else Apply("-", (term,))
        case Apply("^", (Apply("^", (base, a)), b)) if (x := rational(a)) and (y := rational(b)):
            if x.denominator == 1 and (x % 2 or y.denominator % 2):
                return Apply("^", (base, Number(x * y)))  # the fourth root of x^3, but not √(x^2)
        case Apply("()", (inner,)) if not isinstance(inner, Symbol):
            return inner
    return tree


def _meant(tree: Node) -> Node:
    """What a tree means: without brackets, the braces of a set of one and a point's name before it; `Named`
    values and intervals for the relations that state them."""
    match tree:
        case Apply("()", (inner,)) | Group("{}", (inner,)):
            return _meant(inner)
        case Apply("*", (Symbol(name), Group("()") as point)) if name.isupper():
            return _meant(point)
        case Apply("*", factors) if len(factors) > 2 and named(tree).isalpha():  # ABC is not ACB
            return Words(named(tree))
        case Relation():
            return _of_relation(tree)
        case Group("{|", (head, condition)):
            return _of_set(_meant(head), condition.parts if condition.tag == "" else (condition,))
        case Group("cup", parts):
            return _union(tuple(map(_meant, parts)))
        case Group("" | "or" | "{}", parts):
            return _of_items(tree.tag, tuple(map(_meant, parts)))
        case Group():
            return Symbol("R") if tree.parts == (_LOWEST, _INFINITY) else tree.changed(_meant)
    return tree


def _of_relation(tree: Node) -> Node:
    """``x = 5``, ``f(x) = 5``, ``(x, y) = (1, 2)``, ``x ∈ S`` and ``x < 5`` as `Named`; 40 + 2 = 42 as 42."""
    if set(tree.tag) <= _FORWARD.keys():
        tree = Relation(tuple(_FORWARD[sign] for sign in tree.tag[::-1]), tree.parts[::-1])
    signs, sides = tree.tag, tree.parts
    first, last = sides[0], sides[-1]
    if set(signs) <= {"=", "in", "approx"}:
        name = named(first)
        if name and "approx" in signs[1:]:  # x = 1/3 ≈ 0.33
            exact = signs.index("approx", 1)
            return _of_relation(Relation(signs[:exact], sides[: exact + 1]))
        if name and (len(signs) == 1 or not last.symbols) and name not in last.symbols:
            held = _meant(last)
            return Named(name, (held.parts[0] if isinstance(held, Named) else held,))
        if not name and signs == ("=",) and named(last) and not first.symbols:  # 5 = x
            return Named(named(last), (_meant(first),))
        if not name and "in" not in signs and not tree.symbols:  # 10 + 32 = 42, √2 ≈ 1.41
            numbers = [values(side) for side in sides]
            near = _ROUGHLY if "approx" in signs else 0
            if all(some and close(numbers[0][0], some[0], near) for some in numbers):
                return _meant(first if near else last)
    sides = tuple(map(_meant, sides))
    if signs == ("ne",) and (name := named(sides[0])) and not last.symbols:
        below, above = Group("()", (_LOWEST, sides[1])), Group("()", (sides[1], _INFINITY))
        return Named(name, (Group("cup", (below, above)),))
    if set(signs) <= {"<", "le"}:
        if len(sides) == 2 and named(sides[0]):
            signs, sides = ("<", *signs), (_LOWEST, *sides)
        elif len(sides) == 2:
            signs, sides = (*signs, "<"), (*sides, _INFINITY)
        if len(sides) == 3 and (name := named(sides[1])):
            brackets = "(["[signs[0] == "le"] + ")]"[signs[1] == "le"]
            return Named(name, (_meant(Group(brackets, sides[::2])),))
    return Relation(tree.tag, tuple(map(_meant, tree.parts)))


def _of_set(head: Node, conditions: tuple[Node, ...]) -> Node:
    """A set by conditions of its head: {x | x > 3} is (3, ∞), {x | x = 3k, k ∈ ℤ} is {3k | k ∈ ℤ}."""
    name = head.tag if isinstance(head, Named) else named(head)
    first, *rest = map(_meant, conditions)
    if name and isinstance(first, Named) and first.tag == name:
        head, first = first, first.parts[0]
    if name and not rest:
        return Named(name, (first,))
    return Group("{|", (first, *rest) if name else (head, first, *rest))


def _of_items(tag: str, items: tuple[Node, ...]) -> Node:
    """The items of a list or set: several values of x, ``x = 1, x = 2`` or ``x = 1, 2``, are a list of x."""
    names = [item.tag if isinstance(item, Named) else "" for item in items]
    stems = [name if "(" in name else name.partition("_")[0] for name in names]
    if all(stems) and len(set(stems)) == len(stems):
        return Named(",".join(sorted(stems)), (Group("=", items),))
    held = tuple(item.parts[0] if isinstance(item, Named) else item for item in items)
    if stems[0] and len(set(names)) == 1 and all(map(_is_interval, held)):
        return Named(names[0], (_union(held) if tag == "or" else _common(held),))
    if stems[0] and len({*stems} - {""}) == 1:
        return Named(stems[0], (Group("", held),))
    return Group("{}", tuple(dict.fromkeys(items))) if tag == "{}" else Group("", items)


def _common(parts: tuple[Node, ...]) -> Node:
    """The values that two intervals have in common, x > 2 and x < 5; if there are none, those of either."""
    match sorted(parts, key=lambda one: one.parts[0] == _LOWEST):
        case [Group(left, (low, top)), Group(right, (bottom, high))] if (top, bottom) == (_INFINITY, _LOWEST):
            ends = [complex(one).real for end in (low, high) for one in values(end)]
            if len(ends) != 2 or ends[0] < ends[1]:
                return Group(left[0] + right[1], (low, high))
    return _union(parts)


def _is_interval(tree: Node) -> bool:
    return isinstance(tree, Group) and tree.tag in ("()", "[]", "(]", "[)") and len(tree.parts) == 2


def _union(parts: tuple[Node, ...]) -> Node:
    """A union of intervals, as few as they can be: {1} ∪ (1, 2) is [1, 2)."""
    sets = [part.parts if isinstance(part, Group) and part.tag == "{}" else (part,) for part in parts]
    left = [one if isinstance(one, Group) else Group("[]", (one, one)) for some in sets for one in some]
    if len(left) > _MAX_JOINED or not all(map(_is_interval, left)):
        return Group("cup", parts)
    for a, b in permutations(left, 2):
        if a.tag[1] + b.tag[0] != ")(" and a.parts[1] == b.parts[0]:
            rest = [one for one in left if one is not a and one is not b]
            return _union((Group(a.tag[0] + b.tag[1], (a.parts[0], b.parts[1])), *rest))
    return left[0] if len(left) == 1 else Group("cup", tuple(left))


def named(tree: Node) -> str:
    """What a left side names: x, x_1, f(), a line AB, (x,y); "" if it is no name."""
    match tree:
        case Symbol(name) | Words(name) if tree.symbols or isinstance(tree, Words):
            return str(name)
        case Apply("()", (Symbol(),)):  # what g(x) became
            return "()"
        case Apply("abs" | "overline" | "vec" as mark, (inner,)):
            name = named(inner)
            return name if name.isupper() or mark != "abs" else name and f"|{name}|"
        case Group("()", items) if all(isinstance(item, Symbol) for item in items):
            return ",".join(map(named, items))
        case Apply("*", factors) if all(isinstance(one, Symbol) and _POINT.match(one.tag) for one in factors):
            return "".join(map(named, factors))
        case Apply("*", (Apply("^", (Symbol(name), Apply("-"))), Apply("()"))):
            return f"{name}^-1()"
        case Apply("*", (first, Apply("()") | Group())):
            return named(first) and f"{named(first)}()"
    return ""
