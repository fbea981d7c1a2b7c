r"""Compare final answers under ``strict``: normalise them to values, so that ``\frac12``, ``0.5`` and
``1/2`` are equal.

This is a normaliser without algebra: numbers become fractions, lists are read element by element, and
everything else stays text in a normalised spelling. Nothing is evaluated; an answer has at most
`MAX_CHARS` characters, so time is bounded.

Why not Math-Verify: on the 1,022 solutions of the test data that box an answer it agrees with 99.71 % of
the recorded verdicts, this module with 99.80 %. Math-Verify takes 1.0 ms an answer instead of 23 µs, and
needs its own process of 60 MB. It also evaluates ``2+2`` to 4, so that repeating the question unsolved
would earn reward (see `restates`). Its verdict can be an additional column:
`relfast.tasks.realign.verify`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple


class Value(NamedTuple):
    """A normalised answer: a number, a list, or else a text.

    Attributes
    ----------
    number, percent
        The number as written, and whether it has a percent sign.
    items, kind
        The elements of a list, and its brackets if order matters ("()", "[)"), else "".
    text
        The normalised text, if the answer is neither a number nor a list.
    also
        Other possible readings: "3,75" is a list or a number, "(C) 18" an option or its value.
    """

    number: Fraction | None = None
    percent: bool = False
    items: tuple[Value, ...] = ()
    kind: str = ""
    text: str = ""
    also: tuple[Value, ...] = ()

    def __bool__(self) -> bool:
        return self.number is not None or bool(self.items) or bool(self.text)


NONE: Final = Value()


class FinalAnswer(NamedTuple):
    """The final answer of a solution.

    Attributes
    ----------
    text
        The answer as written; None if there is none.
    value
        The normalised answer.
    reason
        The code of why there is no answer, else None.
    """

    text: str | None
    value: Value
    reason: str | None = None


def same(gold: Value, pred: Value) -> bool:
    """Whether two answers are equal: numbers by value, lists by elements, texts by spelling. Other readings
    (`Value.also`) count, too.

    ``25%`` equals both 25 (the question may ask for percent) and 1/4.
    """
    return (
        agree(gold, pred)
        or any(agree(gold, other) for other in pred.also)
        or any(agree(other, pred) for other in gold.also)
    )


def agree(gold: Value, pred: Value) -> bool:
    """`same` without the other readings."""
    if not gold or not pred:
        return False
    if gold.number is not None and pred.number is not None:
        return gold.number == pred.number or (gold.percent != pred.percent and _share(gold) == _share(pred))
    if gold.items and pred.items:
        if len(gold.items) != len(pred.items):
            return False
        if gold.kind and pred.kind:
            return gold.kind == pred.kind and all(map(same, gold.items, pred.items))
        return not (gold.kind or pred.kind) and _same_in_any_order(gold.items, list(pred.items))
    return bool(gold.text) and gold.text == pred.text


def _share(value: Value) -> Fraction:
    assert value.number is not None
    return value.number / 100 if value.percent else value.number


def _same_in_any_order(gold: tuple[Value, ...], pred: list[Value]) -> bool:
    for item in gold:
        at = next((k for k, other in enumerate(pred) if same(item, other)), None)
        if at is None:
            return False
        pred.pop(at)
    return True


_CHARACTERS: Final = str.maketrans(
    {
        **{digit: str(n) for n, digit in enumerate("０１２３４５６７８９")},
        **dict.fromkeys("−–—‐‑‒﹣－", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad`“”„«»\"", ""),
        **dict.fromkeys("\u00a0\u202f\u2009\u2007\u3000", " "),
        "×": "*", "·": "*", "⋅": "*", "÷": "/", "⁄": "/", "∕": "/", "／": "/", "％": "%", "，": ",",
        "、": ",", "（": "(", "）": ")", "＝": "=", "．": ".", "。": ".", "’": "'", "√": "\\sqrt ",
        "π": "\\pi ", "∞": "\\infty ", "°": "\\circ ", "½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4",
        "¾": " 3/4", "⅕": " 1/5", "⅖": " 2/5", "⅗": " 3/5", "⅘": " 4/5", "⅙": " 1/6", "⅚": " 5/6",
        "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8", "⅞": " 7/8", "²": "^2", "³": "^3", "≤": "\\le ",
        "≥": "\\ge ", "∪": "\\cup ", "∈": "\\in ", "±": "\\pm ", "≈": "=",
    }
)  # fmt: skip

_DRESS: Final = re.compile(
    r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|mathrm|mathbf|mathit|mathsf|operatorname\*?|mbox|hbox|emph"
    r"|boldsymbol|bm)\s*\{([^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+)\}"
)
_THINGS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile("[\u2600-\u27bf\u2b50\u25a0-\u25ff\ufe0f\U0001f000-\U0001faff]"), ""),  # emoji
    (re.compile(r"(?<=\d)\{,\}(?=\d+$)(?!\d{3}$)"), "."),  # "3{,}75"
    (re.compile(r"\{,\}|,\\[!,;: ]*(?=\d{3})"), ","),
    (re.compile(r"\\(?:[hv]?phantom|[hv]space\*?)\{[^{}]*\}"), " "),
    (re.compile(r"\\[!,;:> ]|~"), " "),
    (re.compile(r"\\\\|\\(?:left|right|displaystyle|textstyle|[bB]igg?[lr]?|q?quad)(?![a-zA-Z])"), " "),
    (re.compile(r"\\[()\[\]]|\\begin\{[a-z]+\*?\}|\\end\{[a-z]+\*?\}|<<[^<>]*>>"), " "),
    (re.compile(r"\\(?:approx|simeq|equiv)(?![a-zA-Z])"), "="),
    (re.compile(r"\\(?:boxed|fbox)\s*(?=\{)"), ""),
    (re.compile(r"\\?\$|[€£¥₹₩₽¢]|\b(?:USD|EUR|GBP)\b"), " "),
    (re.compile(r"\\?%|\\percent\b|\bper\s?cent(?:age points?)?\b", re.IGNORECASE), "%"),
    (re.compile(r"\^?\s*\{?\s*\\(?:circ|degree)\s*\}?|\bdegrees?\b|\bdeg\b", re.IGNORECASE), " "),
    (_DRESS, r" \1 "),
    (re.compile(r"\*\*|__|(?<![\w}])\*|\*(?![\w\\( -])|\\(?:bf|rm|it)(?![a-zA-Z])"), " "),
    (re.compile(r"\\[cdt]frac(?![a-zA-Z])"), r"\\frac"),
    (re.compile(r"\\(?:cdot|times|ast)(?![a-zA-Z])"), "*"),
    (re.compile(r"\\leq(?![a-zA-Z])"), r"\\le"),
    (re.compile(r"\\geq(?![a-zA-Z])"), r"\\ge"),
    (re.compile(r"\\(?=[{}#&_])"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r"^\W*(?:the )?(?:final )?answer(?: is\b)? ?[:=]?(?= ?\S)", re.IGNORECASE), ""),
)
"""Replacements, in this order, that remove or unify what is not part of an answer's value."""

_SIMPLE_FRACTION: Final = re.compile(
    r"(\d)? ?\\frac ?(?:\{ ?(-?[^{}]{1,80}?) ?\}|(\d)) ?(?:\{ ?([^{}]{1,80}?) ?\}|(\d))"
)
_ROOT: Final = re.compile(r"\\sqrt ?(?:\{([^{}]{1,80})\}|\(([^()]{1,80})\)|(\w+))")
_OVER: Final = re.compile(r"\{ ?([^{}\\]{1,80}?) ?\\over(?![a-zA-Z]) ?([^{}\\]{1,80}?) ?\}")
_ATOM: Final = re.compile(r"[\w.]+")
ARTICLES: Final = re.compile(r"(?:a|an|the|about|approximately|exactly|only|just|roughly|is|was|are)\s+")
BEGINNINGS: Final = " ,;:*_'"
ENDS: Final = " .,;:?*_'"


def in_plain(text: str) -> str:
    """An answer as plain text: without layout, currency and TeX dress, fractions and roots on one line."""
    text = text.translate(_CHARACTERS)
    for pattern, instead in _THINGS:
        text = pattern.sub(instead, text)
    if "\\math" in text or "\\text" in text:  # nested commands
        text = _DRESS.sub(r" \1 ", text)
    if "\\over" in text:
        text = _OVER.sub(r"\\frac{\1}{\2}", text)
    for pattern, write in ((_ROOT, _root), (_SIMPLE_FRACTION, _fraction)) * 2:
        text = pattern.sub(write, text)
    return text


def _root(found: re.Match[str]) -> str:
    return f" sqrt({(found[1] or found[2] or found[3]).strip()})"


def _fraction(found: re.Match[str]) -> str:
    top, bottom = found[2] or found[3], found[4] or found[5]
    whole = "" if found[1] is None else f"{found[1]} "
    parts = (part if _ATOM.fullmatch(part.lstrip("- ")) else f"({part})" for part in (top, bottom))
    return whole + "/".join(parts)


_WRITTEN: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\\(?=[a-zA-Z])"), ""),
    (re.compile(r"[\s{}]+"), ""),
    (re.compile(r"(?<![\w)])\+(?=infty)"), ""),
    (re.compile(r"(?<=[\w)])\*(?=[a-zA-Z(])"), ""),
    (re.compile(r"\((\w+)\)"), r"\1"),
)


def spelling(text: str) -> str:
    """A text in lower case without articles, spaces, braces and backslashes, to be compared."""
    text = text.lower()
    if (article := ARTICLES.match(text)) is not None:
        text = text[article.end() :]
    for pattern, instead in _WRITTEN:
        text = pattern.sub(instead, text)
    return text.lstrip(BEGINNINGS).rstrip(ENDS)


GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:, ?\d{3})+|(?: \d{3})+)(?![\d,]*\d)")
_PLAIN_NUMBER: Final = r"(?:\d+(?:\.\d*)?|\.\d+)"
_SCALES: Final = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNIT: Final = (
    r"(?: ?%| ?[^\W\d_][^\W\d_'./-]*(?:[./'-][^\W\d_]+)*\.?(?: ?\^ ?\{? ?-?\d ?\}?)?| ?/ ?(?=[a-z]))"
)
_NUMBER: Final = re.compile(
    rf"(?P<sign>[+-]?) ?(?:(?P<whole>\d+) (?:and )?(?P<part>\d+) ?/ ?(?P<of>\d+)"
    rf"|\(?(?P<top>-? ?{_PLAIN_NUMBER})\)? ?/ ?\(?(?P<bottom>{_PLAIN_NUMBER})\)?(?! ?/)"
    rf"|(?P<plain>{_PLAIN_NUMBER})(?: (?P<scale>{'|'.join(_SCALES)})s?(?![a-z]))?)(?P<unit>{_UNIT}{{0,12}})"
)
_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {word: n for n, word in enumerate(_ONES.split())} | {
    word: 10 * n for n, word in enumerate(_TENS.split(), 2)
}
_SPELLED: Final = re.compile(
    rf"(?:({'|'.join(_TENS.split())})[- ])?({'|'.join(_WORDS)})(?P<unit>(?: [^\W\d_ ]+){{0,3}})"
)


def number_of(text: str) -> Value | None:
    """The number that a text consists of, with or without a unit behind it; None if it is anything else."""
    text = GROUPED.sub(lambda found: re.sub("[, ]", "", found[0]), text)
    lowered = text.lower().strip()
    if (article := ARTICLES.match(lowered)) is not None:
        lowered = lowered[article.end() :]
    found = _NUMBER.fullmatch(lowered)
    if found is None:
        spelled = _SPELLED.fullmatch(lowered)
        if spelled is None or (spelled["unit"] and not _is_unit(spelled["unit"])):
            return None
        return Value(Fraction(_WORDS.get(spelled[1] or "", 0) + _WORDS[spelled[2]]))
    unit = found["unit"].strip()
    try:
        if found["whole"] is not None:
            number = int(found["whole"]) + Fraction(int(found["part"]), int(found["of"]))
        elif found["top"] is not None:
            number = Fraction(found["top"].replace(" ", "")) / Fraction(found["bottom"])
        else:
            number = Fraction(found["plain"].rstrip(".")) * _SCALES.get(found["scale"] or "", 1)
    except ZeroDivisionError:
        return None
    if unit and not _is_unit(unit):
        return None
    return Value(-number if found["sign"] == "-" else number, unit.startswith("%"))


_PARTS_OF_VALUES: Final = (
    "x y z a b c n k p q r t i e pi sqrt to or and not pm log ln sin cos tan mod base infty cup cap"
    " minus plus"
)
_NOT_UNITS: Final = frozenset(_PARTS_OF_VALUES.split())
"""Words that are part of the value if they follow a number, not its unit."""

_NEVER_IN_UNITS: Final = frozenset(["or", "and", "not", "to", *_WORDS, *_SCALES])


def _is_unit(unit: str) -> bool:
    """Whether the words behind a number are a unit, not part of its value."""
    words = unit.replace("%", " ").split()
    first = words[0] if words else ""
    return first not in _NOT_UNITS and not any(word in _NEVER_IN_UNITS for word in words)


MAX_CHARS: Final = 400
"""Maximum characters of an answer. No reference of MATH or GSM8K has more than 200."""

MAX_ITEMS: Final = 40
_SEPARATOR: Final = re.compile(r"\s*[,;]\s*(?:and\s+|or\s+)?|\s+(?:and|or|y|et|und|e|и)\s+")
_OPENING, _CLOSING = "([{", ")]}"
_LEFT_SIDE: Final = re.compile(r"[^=<>!]*(?<![\\<>!])=(?!=)|[a-zA-Z] ?\\in(?![a-z]) ?")
_DIGITS: Final = re.compile(r"[0-9]{1,15}")
_OPTION: Final = re.compile(r"\(?([A-E])[).:]\)? *(\S.*)")
_DECIMAL_COMMA: Final = re.compile(r"([+-]?\d{1,15}),(\d{1,2}|\d{4,15})")
_POINT: Final = re.compile(r"[A-Z]\(")


def value_of(answer: str) -> Value:
    """Normalise an answer's text: "1/2 km" gives the number 1/2. `NONE` if it is empty or too long."""
    if len(answer) > MAX_CHARS:
        return NONE
    if _DIGITS.fullmatch(answer) is not None:
        return Value(Fraction(int(answer)))
    return _read(in_plain(answer), 0)


def restates(answer: str, gold: str, question: str) -> bool:
    """Whether an answer just repeats an expression of the question: 8/22 for "Simplify 8/22".

    Such an answer has the right value, but the question asks for another form of it.
    """
    bare = _bare(answer)
    return _EXPRESSION.search(bare) is not None and bare in _bare_question(question) and bare != _bare(gold)


def _bare(text: str) -> str:
    return in_plain(text).replace(" ", "").strip(ENDS)


_bare_question = lru_cache(maxsize=256)(_bare)
"""`_bare`, cached: a question is normalised once for all responses to it."""


_EXPRESSION: Final = re.compile(r"\d[/.%^*+-]|[a-zA-Z]{4}.*\d")


def _read(text: str, depth: int) -> Value:
    """Read plain text as a number, an option, a list or a text; ``depth``: levels of nesting."""
    text = text.lstrip(BEGINNINGS).rstrip(ENDS)
    while (
        text[:1] == "{"
        and text[-1:] == "}"
        and _closes(text) == len(text) - 1
        and len(_split(text[1:-1])) < 2
    ):
        text = text[1:-1].lstrip(BEGINNINGS).rstrip(ENDS)
    if (value := number_of(text)) is not None:
        return value
    if depth == 0 and (option := _OPTION.fullmatch(text)) is not None:
        value = _read(option[2], 1)
        if value.number is not None:
            return Value(text=option[1].lower(), also=(value,))
    if (comma := _DECIMAL_COMMA.fullmatch(text)) is not None:
        items = tuple(_read(part, depth + 1) for part in comma.groups())
        return Value(items=items, also=(Value(Fraction(f"{comma[1]}.{comma[2]}")),))
    if _POINT.match(text) is not None and _closes(text[1:]) == len(text) - 2 and len(_split(text[2:-1])) > 1:
        text = text[1:]
    if "=" in text or "\\in" in text:
        # "x = 5", "10 + 32 = 42": take what follows the last sign; "x = 2 or x = 3" is a list of two
        parts = _split(text)
        if len(parts) > 1 and depth < 3:
            items = tuple(_read(part, depth + 1) for part in parts[:MAX_ITEMS])
            return Value(items=items) if all(items) else NONE
        at = 0
        for left in _LEFT_SIDE.finditer(text):
            at = left.end()
        return _read(text[at:], depth + 1) if at and depth < 4 else Value(text=spelling(text))
    if depth < 3:
        if text[:1] and text[0] in _OPENING and text[-1] in _CLOSING and _closes(text) == len(text) - 1:
            parts = _split(text[1:-1])
            if len(parts) > 1:
                kind = "" if text[0] == "{" else text[0] + text[-1]
                return Value(items=tuple(_read(part, depth + 1) for part in parts[:MAX_ITEMS]), kind=kind)
            if text[0] + text[-1] in ("()", "[]") and len(text) > 3:
                return _read(text[1:-1], depth + 1)
        parts = _split(text)
        if len(parts) > 1:
            items = tuple(_read(part, depth + 1) for part in parts[:MAX_ITEMS])
            if items[0].number is not None and all(agree(items[0], item) for item in items[1:]):
                return items[0]  # "15/4 or 3.75"
            return Value(items=items)
    return Value(text=spelling(text))


def _closes(text: str) -> int:
    """Index of the bracket that closes the first character, or -1. Any closing bracket counts: "[0, 1)"."""
    depth = 0
    for at, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return -1


def _split(text: str) -> list[str]:
    """Split a text into list elements, outside brackets; numbers with grouped digits (1,000) stay whole."""
    text = GROUPED.sub(lambda found: re.sub("[, ]", "", found[0]), text)
    parts = []
    depth = begin = at = 0
    while at < len(text):
        character = text[at]
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif depth == 0 and character in " ,;" and (found := _SEPARATOR.match(text, at)) is not None:
            parts.append(text[begin:at])
            begin = at = found.end()
            continue
        at += 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]


_FAMILIES: Final = (
    ("cent cents ¢", "dollar dollars $"),
    ("mg milligram milligrams", "gram grams", "kg kilogram kilograms", "pound pounds lb lbs",
     "ounce ounces oz", "ton tons"),
    ("ml milliliter milliliters millilitre millilitres", "liter liters litre litres", "gallon gallons",
     "quart quarts", "pint pints", "cup cups"),
)  # fmt: skip
_UNITS: Final = {
    word: (family, n)
    for family, units in enumerate(_FAMILIES)
    for n, unit in enumerate(units)
    for word in unit.split()
}
_WORD: Final = re.compile(r"[^\W\d_]+|[$¢]")
_BEHIND: Final = re.compile(r"\d[\s\\,;!~}$*]*(?:\\?(?:text|mathrm|mbox)\s*\{\s*)?([^\W\d_]+|¢)")


def other_unit(answer: str, question: str) -> bool:
    """Whether an answer's unit does not occur in the question, although another unit of the same kind
    does: 1,250 cents if the question asks for dollars. (Values are compared without units, since most
    answers lack them.)"""
    behind = _BEHIND.findall(answer[-400:])
    unit = _UNITS.get(behind[-1].casefold()) if behind else None
    if unit is None:
        return False
    units = _units_in(question)
    return unit not in units and any(family == unit[0] for family, _ in units)


@lru_cache(maxsize=256)
def _units_in(question: str) -> frozenset[tuple[int, int]]:
    """The units that occur in a question, as (family, unit)."""
    words = map(str.casefold, _WORD.findall(question))
    return frozenset(_UNITS[word] for word in words if word in _UNITS)
