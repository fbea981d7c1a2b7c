"""What a text holds and does not say: what is struck out, comments. For the tasks' ``strict`` extractors."""

from __future__ import annotations

import re
from typing import Final

_MARKS: Final = (
    ("~~", "~~"),
    ("<del>", "</del>"),
    ("<strike>", "</strike>"),
    ("<!--", "-->"),
)
_FENCE: Final = re.compile(r"^[ \t]*~{3,}[ \t]*\w*[ \t]*$", re.MULTILINE)
_LATEX_COMMENT: Final = re.compile(r"^[ \t]*%[^\n]*$", re.MULTILINE)


def without_unseen(text: str) -> str:
    """The text without what is struck out (``~~x~~``, ``<del>``) and without comments (HTML, LaTeX)."""
    if "~~~" in text:
        text = _FENCE.sub("```", text)
    for opens, closes in _MARKS:
        if opens in text:
            text = _without(text, opens, closes)
    return _LATEX_COMMENT.sub("", text) if "%" in text else text


def _without(text: str, opens: str, closes: str) -> str:
    """The text without what stands between two marks."""
    kept = []
    at = 0
    while (begin := text.find(opens, at)) >= 0:
        end = text.find(closes, begin + len(opens))
        if end < 0:
            break
        kept.append(text[at:begin])
        at = end + len(closes)
    return " ".join((*kept, text[at:]))
