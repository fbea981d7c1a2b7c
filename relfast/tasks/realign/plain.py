"""Answers in one spelling: without what is no part of a value, fractions and roots on one line."""

from __future__ import annotations

import re
from typing import Final

_CHARACTERS: Final = str.maketrans(
    {
        **{digit: str(n) for n, digit in enumerate("０１２３４５６７８９")},
        **dict.fromkeys("−–—‐‑‒﹣－", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad`“”„«»\"", ""),
        **dict.fromkeys("\u00a0\u202f\u2009\u2007\u3000", " "),
        "×": "*", "·": "*", "⋅": "*", "÷": "/", "⁄": "/", "∕": "/", "／": "/", "％": "%", "，": ",", "、": ",",
        "（": "(", "）": ")", "＝": "=", "．": ".", "。": ".", "’": "'", "√": "\\sqrt ", "π": "\\pi ", "∞": "\\infty ",
        "°": "\\circ ", "½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4", "¾": " 3/4", "⅕": " 1/5", "⅖": " 2/5",
        "⅗": " 3/5", "⅘": " 4/5", "⅙": " 1/6", "⅚": " 5/6", "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8", "⅞": " 7/8",
        "²": "^2", "³": "^3", "≤": "\\le ", "≥": "\\ge ", "∪": "\\cup ", "∈": "\\in ", "±": "\\pm ", "≈": "=",
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
"""What is no part of an answer's value, in this order."""

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
    """A text without what is no part of values, fractions and roots on one line."""
    text = text.translate(_CHARACTERS)
    for pattern, instead in _THINGS:
        text = pattern.sub(instead, text)
    if "\\math" in text or "\\text" in text:  # one within another
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
    text = text.lower()
    if (article := ARTICLES.match(text)) is not None:
        text = text[article.end() :]
    for pattern, instead in _WRITTEN:
        text = pattern.sub(instead, text)
    return text.lstrip(BEGINNINGS).rstrip(ENDS)
