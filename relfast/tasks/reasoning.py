"""Text of a response without the model's reasoning, and its final answer under ``strict`` if that is one of a
few. Shared by every task; knows no benchmark.

`relfast_kernels.text.marks` has the marks, `relfast_kernels.text.reasoning` the rules, and cuts UTF-8;
this is the same for ``str``. Final answers are read by the kernel's source run as plain Python; machine code
reads the same.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Final, Literal

from relfast_kernels.compiled import native
from relfast_kernels.text.marks import BARE_ANALYSIS, MARKS, TURN_ENDS, Names, names_of

MAX_STRICT_CHARS: Final = 1_000_000
"""Longest response that ``strict`` reads. Longer than any model's output window today (≈ 500 kB)."""

_FIRST: Final = {mark.open[0] for mark in MARKS} | {end[0] for end in TURN_ENDS}
"""What all marks begin with."""
_LAST_OF_ENDS: Final = {end[-1] for end in TURN_ENDS}
"""Brackets, which have no case."""


def lower(text: str) -> str:
    """The text in lower case, every character in its place: ``İ`` is the one whose lower case is longer."""
    return text.lower() if text.isascii() else text.replace("İ", "I").lower()


@lru_cache(maxsize=64)
def _names(more: tuple[tuple[str, str], ...]) -> Names:
    return names_of([*MARKS, *((lower(opens), lower(closes)) for opens, closes in more)])


def strip_reasoning(text: str, more: tuple[tuple[str, str], ...] = ()) -> str:
    """The text outside of reasoning, without the marks at the end of a turn; see
    `relfast_kernels.text.reasoning.cut_reasoning`.

    Parameters
    ----------
    more
        Pairs of marks to know beside `MARKS`, in any case: the option ``reasoning``.
    """
    if not more and not any(map(text.__contains__, _FIRST)) and not text.startswith(BARE_ANALYSIS):
        return text  # most texts, in a tenth of the time
    data = text.encode("utf-8", "surrogatepass")
    n, out, names = len(data), bytearray(len(data) + 1), _names(more)
    built = native.find("text")
    if built is None:
        from relfast_kernels.text import reasoning as kernel  # needs numpy

        start, end, copied = kernel.cut_among(data, 0, n, out, 0, *names, not more)
    else:
        span, (pool, places, beginnings) = (ctypes.c_int64 * 2)(), names
        copied = built["cut"](
            data, n, (ctypes.c_char * len(out)).from_buffer(out), pool, len(pool), places.buffer_info()[0],
            len(places), beginnings, not more, ctypes.byref(span),
        )  # fmt: skip
        start, end = span
    return (bytes(out[start:end]) if copied else data[start:end]).decode("utf-8", "surrogatepass")


def cut_turn(text: str) -> str:
    """The text without blanks and marks of the end of a turn behind it, if there is a mark."""
    said = text.rstrip() if text[-1:].isspace() else text
    # most texts have none, and are not copied; some end with a tag: "<Yes>"
    if said[-1:] not in _LAST_OF_ENDS:
        return text
    from relfast_kernels.text import reasoning as kernel

    data = text.encode("utf-8", "surrogatepass")
    end = kernel.end_of_turn(data, 0, len(data))
    return text if end == len(data) else data[:end].decode("utf-8", "surrogatepass")


def read_strictly(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> tuple[str, str | None]:
    """The final text of a response under ``strict``, or the reason why it is no answer.

    ``reasoning`` is the option of that name: marks to know beside `MARKS`.

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
    text = strip_reasoning(response, reasoning)
    if not text.strip():
        return "", "only_reasoning" if response.strip() else "empty"
    return text, None


_ROOM: Final = 64


def read_final(
    kind: Literal["CHOICE", "VERDICT", "CLAIM"], response: object, reasoning: tuple[tuple[str, str], ...]
) -> tuple[int | None, list[int], str | None]:
    """The final answer of a kind, or None and the reason: ``no_answer``, ``several_answers``, or one of
    `read_strictly`.

    REL-A's choice is 1 to 8; REL-C1's verdict and REL-B1's claim are 1 for no and 2 for yes; and the taxa of
    a claimed yes, each once.
    """
    from relfast_kernels.text import answers, forms

    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return None, [], reason
    data, numbers = text.encode(), [0] * (answers.TAXA + 2 * answers.MAX_CLAIMED)
    work = bytearray(2 * len(data) + _ROOM)
    if kind == "CLAIM":
        value, n_taxa = answers.read_claim(data, 0, len(data), work, 0, numbers)
    else:
        value, n_taxa = answers.find_value(data, 0, len(data), getattr(forms, kind), work, 0, numbers)[0], 0
    if value in (answers.NOTHING, answers.SEVERAL):
        return None, [], "no_answer" if value == answers.NOTHING else "several_answers"
    return value, numbers[answers.TAXA : answers.TAXA + n_taxa], None
