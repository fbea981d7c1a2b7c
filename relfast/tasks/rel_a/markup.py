"""Sentences about choices without their markup.

Every pattern takes time linear in its text: repetitions are possessive or of bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_SWAPS: Final[tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    ("<", re.compile(r"<(del|s|strike)>(.{0,200}?)</\1>"), r" not \2 , instead "),
    ("<", re.compile(r"<(?:final[ _-]?)?(?:answer|solution|result|response|choice|output)>"), " answer: "),
    (
        "<",
        re.compile(
            r"</(?:(?:final[ _-]?)?(?:answer|solution|result|response|choice|output)|p|div|li|td)>|<br ?/?>"
        ),
        " ; ",
    ),
    ("<", re.compile(r"<(?:wrong|incorrect|rejected|eliminated|not)\b[^<>\n]{0,40}+>"), " not "),
    ("<", re.compile(r"</?[a-z][^<>\n]{0,80}+>|<<|>>"), " "),
    ("~~", re.compile(r"~~(.{1,200}?)~~"), r" not \1 , instead "),
    ("\\", re.compile("~"), " "),
    ("\\", re.compile(r"\\[()]"), " "),
    ("[/", re.compile(r"\[/\w{1,20}\]"), " "),
    ("&", re.compile(r"&(?:nbsp|lt|gt|quot|ensp|emsp);"), " "),
    ("\\", re.compile(r"\\(?:neq|ne|not=?)(?![a-z])"), " not "),
    ("\\", re.compile(r"\\(?:cdot|times|div|over|pm)(?![a-z])"), "×"),
    ("\\", re.compile(r"\\(?:to|rightarrow|longrightarrow|implies|mapsto)(?![a-z])"), " : "),
    ("\\", re.compile(r"\\(?:boxed|fbox|framebox)"), " boxed "),
    ("\\", re.compile(r"\\therefore(?![a-z])"), " so "),
    (
        "\\",
        re.compile(
            r"\\(?:text[a-z]{0,8}|math[a-z]{0,8}|left|right|underline|quad|qquad|bf|rm|emph|begin|end|[,;! ])"
        ),
        " ",
    ),
    ("*", re.compile(r"(?<=[0-9]) ?\*\*? ?(?=[0-9])"), "×"),
    ("[", re.compile(r"\[[0-9. -]++(?:,[0-9. -]++){2,}+\]"), " values "),
    ("_", re.compile(r"(?<=[0-9])_(?=[0-9])"), "x"),
    ("!=", re.compile("!="), " not "),
    ("!", re.compile(r"(?:^|(?<=\s))!\s?(?=[0-9])"), " not "),
    (">", re.compile(r"[-=]{1,3}>"), " : "),
    ("(1", re.compile(r"\(1 ?(?:-|–|to) ?8\)"), " "),
    ("", re.compile(r"(?<=[a-z0-9:]) ?(?:[<>≤≥≈]=?|~) ?(?=[0-9]++(?!>))"), " than "),
    ("not", re.compile(r"\bnot only\b"), " "),
)
_CHARACTERS: Final = str.maketrans(
    {
        **dict.fromkeys('*`$"“”„«»{}[]#\\<>【】「」『』_\u200b\u200c\u200d\u2060\ufeff\u00a0', " "),
        **dict.fromkeys("→➡⇒⟹⟶👉➜", ":"),
        "’": "'",
        "‘": " ",
        "∴": " so ",
    }
)  # fmt: skip


def clean(text: str) -> str:
    """A sentence without markup; what struck out or unequal marks say becomes "not"."""
    for mark, pattern, instead in _SWAPS:
        if mark in text:
            text = pattern.sub(instead, text)
    return text.translate(_CHARACTERS)
