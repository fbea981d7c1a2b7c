"""Text of a response without the model's reasoning. Shared by every task; knows no benchmark."""

from __future__ import annotations

from typing import Final

OPEN: Final = "<think>"
CLOSE: Final = "</think>"

MAX_STRICT_CHARS: Final = 1_000_000
"""Longest response that ``strict`` reads. Longer than any model's output window today (≈ 500 kB)."""


def strip_reasoning(text: str) -> str:
    """The text outside ``<think>…</think>``; an unclosed block reaches to the end.

    A closing tag without an opening one ends reasoning too (chat templates put the opening tag into the
    prompt): all before it is dropped. Linear time: each tag is searched for once.
    """
    close = text.find(CLOSE)
    opening = text.find(OPEN)
    if close < 0 and opening < 0:
        return text
    parts: list[str] = []
    at = 0
    while True:
        if 0 <= opening < at:
            opening = text.find(OPEN, at)
        if 0 <= close < at:
            close = text.find(CLOSE, at)
        if close >= 0 and (opening < 0 or close < opening):
            parts.clear()
            at = close + len(CLOSE)
        elif opening >= 0:
            parts.append(text[at:opening])
            if close < 0:
                break
            at = close + len(CLOSE)
        else:
            parts.append(text[at:])
            break
    return "".join(parts)


def read_strictly(response: object) -> tuple[str, str | None]:
    """The final text of a response under ``strict``, or the reason why it is no answer.

    Returns
    -------
    (text, reason)
        ``reason`` is None where the text can be read, else one of ``not_text``, ``too_long``,
        ``lone_surrogate``, ``empty``, ``only_reasoning``.
    """
    if not isinstance(response, str):
        return "", "not_text"
    if len(response) > MAX_STRICT_CHARS:
        return "", "too_long"
    if not response.isascii():
        try:
            response.encode("utf-8")
        except UnicodeEncodeError:
            return "", "lone_surrogate"
    text = strip_reasoning(response)
    if not text.strip():
        return "", "only_reasoning" if response.strip() else "empty"
    return text, None
