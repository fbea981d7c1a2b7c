"""Read an answer: its tokens, and the trees that they may stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from relfast.answers.parser import parse
from relfast.answers.tokens import UNITS, Token, tokens_of, with_commas_joined, words
from relfast.answers.trees import Apply, Group, Measured, Node, Number, Symbol

MAX_CHARS: Final = 400
"""Maximum characters of an answer that is read. No reference of MATH or GSM8K has more than 200."""

_FILLERS: Final = words(
    "the The a an An about About approximately Approximately exactly Exactly only just roughly is are was"
    " answer final Answer Final"
)
_EMPHASIS: Final = words(", ; : * ^")
_ENDS: Final = _EMPHASIS | words(". ?")
_NAMED: Final = words("word letter number")
_PUNCTUATION: Final = words(". ' , - : ( ) { }")
_JOINING: Final = words("or and , ; / + = < >")
_OPTIONS: Final = words("A B C D E F G H I J")
_CAPITALS: Final = words("K C F J N W V")
"""Units of one letter that are no symbols when they stand apart from a number."""
_BESIDE_DIGITS: Final = words("L J N W V")
"""Units of one letter that may stand right behind a number too: 0.125L."""
_COMMA: Final = re.compile(r"[$\s]*(\d+),(\d+)[$\s]*")
_LONE: Final = re.compile(r"\{ (\S+) \}")
_MINUS: Final = re.compile(r"(?<![^\W\d] )-|- ?[^a-zA-Z]")


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
    return Answer(tuple(trees), tuple(loose), option, *_spelling(tokens))


def _parsed(tokens: Sequence[Token]) -> list[Node]:
    """The tree of tokens, if they have one, without brackets; ± stands for both of its values."""
    if (tree := parse(tokens)) is None:
        return []
    items: list[Node] = []
    for item in tree.parts if isinstance(tree, Group) and not tree.tag else (tree,):
        double = any(isinstance(part, Apply) and part.tag in ("pm", "mp") for part in item.within())
        items += [_chosen(item, "pm"), _chosen(item, "mp")] if double else [_chosen(item, "")]
    return [items[0] if len(items) == 1 else Group("", tuple(items))]


def _chosen(tree: Node, positive: str) -> Node:
    """A tree with + for the sign ``positive`` and - for the other, and without brackets but those of f(x)."""
    tree = tree.changed(lambda part: _chosen(part, positive))
    match tree:
        case Apply("pm" | "mp" as sign, (term,)):
            return term if sign == positive else Apply("-", (term,))
        case Apply("^", (Apply("^", (base, Number(a))), Number(b))) if a.denominator == 1 and (
            a % 2 or b.denominator % 2
        ):
            return Apply("^", (base, Number(a * b)))  # the fourth root of x^3, but not √(x^2)
        case Apply("()", (inner,)) if not isinstance(inner, Symbol):
            return inner
    return tree


def trimmed(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Tokens without fillers and emphasis at the beginning, and without full stops at the end."""
    begin, end = 0, len(tokens)
    while begin < end - 1 and (
        tokens[begin].text in (_FILLERS if tokens[begin].kind == "word" else _EMPHASIS)
    ):
        begin += 1
    while end > begin and tokens[end - 1].text in _ENDS:
        end -= 1
    braces = [token.text for token in tokens[begin:end] if token.text in ("{", "}")]
    if braces == ["{", "}"] and tokens[begin].text == "{" and tokens[end - 1].text == "}":
        return tokens[begin + 1 : end - 1]
    return tokens[begin:end]


def _option(tokens: tuple[Token, ...]) -> tuple[str, tuple[Token, ...]]:
    """The letter of an option, "(C)" or "C. 18", and the tokens behind it."""
    bracket = bool(tokens) and tokens[0].text == "("
    letter, mark = ([token.text for token in tokens[bracket : bracket + 2]] + ["", ""])[:2]
    rest = tokens[bracket + 2 :]
    if letter not in _OPTIONS or mark not in ((")",) if bracket else (")", ".", ":", "")):
        return "", ()
    if rest and (rest[0].text in _JOINING or _option(rest)[0] or not (bracket or rest[0].spaced)):
        return "", ()  # (C) or (D)
    return letter, rest


def _with_unit(tokens: Sequence[Token]) -> list[Node]:
    """Numbers with letters apart from them, read as a unit: 3 m, 10 m/s^2."""
    at = next((k for k, token in enumerate(tokens) if token.kind == "letter"), 0)
    glued = tokens[at].text in _BESIDE_DIGITS and tokens[at - 1].kind == "number" and at == len(tokens) - 1
    if not at or tokens[at].text not in UNITS or not (tokens[at].spaced or glued):
        return []
    unit = [Token("word", one.text, True) if one.kind == "letter" else one for one in tokens[at:]]
    return [one for one in _parsed([*tokens[:at], *unit]) if isinstance(one, Measured) and not one.symbols]


def _spelling(tokens: tuple[Token, ...]) -> tuple[str, str, bool]:
    """`Answer.spelled`, `Answer.folded` if it is a text, and `Answer.has_words`."""
    spelled = _LONE.sub(r"\1", " ".join(token.text for token in tokens))
    named = [token for token in tokens if token.kind in _NAMED or token.text in ("and", "or")]
    folded = "".join(token.text for token in named).lower()
    is_text = (
        len(folded) > 1
        and named[0].kind != "number"
        and not any(a.kind == b.kind == "number" for a, b in pairwise(named))
        and {token.text for token in tokens} - {token.text for token in named} <= _PUNCTUATION
        and not _MINUS.search(spelled)
    )
    has_words = any(token.kind == "word" and len(token.text) > 1 for token in tokens)
    return spelled, folded if is_text else "", has_words
