"""Cut a model's reasoning out of a response, and read final answers of a closed set (a choice, yes or no) as
``strict`` does. Shared by every task; knows no benchmark.

`relfast_kernels.text.marks` lists the marks of reasoning; `relfast_kernels.text.reasoning` has the rules and
cuts UTF-8 bytes; this module does the same for ``str``. Final answers are read by the kernel's source, run as
plain Python, so that both paths read the same.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.entry import Spare
from relfast_kernels.layouts import MAX_STRICT
from relfast_kernels.text.layouts import Cut, Marked
from relfast_kernels.text.marks import BARE_ANALYSIS, MARKS, TURN_ENDS, names_of

_FIRST: Final = {mark.open[0] for mark in MARKS} | {end[0] for end in TURN_ENDS}
"""The first characters of all marks."""
_LAST_OF_ENDS: Final = {end[-1] for end in TURN_ENDS}
"""The last characters of the marks that end a turn: brackets, which have no case."""


def lower(text: str) -> str:
    """The text in lower case with all offsets unchanged. Only ``İ`` has a longer lower case; it becomes i."""
    return text.lower() if text.isascii() else text.replace("İ", "I").lower()


def utf8(text: str) -> bytes:
    """A text as kernels read it; a lone surrogate becomes three bytes that are no character to them."""
    return text.encode("utf-8", "surrogatepass")


def has_surrogate(text: str) -> bool:
    """Whether a text has a lone surrogate, so that it is no UTF-8."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return True
    return False


_MOST_KEPT: Final = 1 << 17
"""Bytes of a text whose memory is kept for the next one."""


@lru_cache(maxsize=64)
def _cuts(more: tuple[tuple[str, str], ...]) -> Spare[Any]:
    """What the kernel that cuts by these marks is given."""
    names = names_of([*MARKS, *((lower(opens), lower(closes)) for opens, closes in more)])
    return Spare(lambda: Cut(own_only=not more, text=b"", out=(ctypes.c_char * 1)(), names=names))


def strip_reasoning(text: str, more: tuple[tuple[str, str], ...] = ()) -> str:
    """The text outside reasoning, without marks that end a turn: ``<think>2</think> 3`` gives `` 3``. See
    `relfast_kernels.text.reasoning.cut_reasoning`.

    Parameters
    ----------
    more
        Additional pairs of (opening, closing) marks beside `MARKS`, in any case: the option ``reasoning``.
    """
    if not more and not any(map(text.__contains__, _FIRST)) and not text.startswith(BARE_ANALYSIS):
        return text  # most texts have no mark; this takes a tenth of the time
    data = utf8(text)
    spare = _cuts(more)
    cut = spare.take()
    if len(data) > cut.n_out:
        cut.out = (ctypes.c_char * (2 * len(data)))()
    cut.text = data
    kept = cut.out if native.functions("text")["cut"](cut) else data
    left: bytes = kept[cut.kept.start : cut.kept.end]
    if len(data) <= _MOST_KEPT:
        spare.append(cut)
    return left.decode("utf-8", "surrogatepass")


def cut_turn(text: str) -> str:
    """The text without the marks that end a turn (and white space around them) at its end; else unchanged."""
    stripped = text.rstrip() if text[-1:].isspace() else text
    # most texts have no such mark and are not copied; some end with a tag: "<Yes>"
    if stripped[-1:] not in _LAST_OF_ENDS:
        return text
    data = utf8(text)
    with native.uncharged():
        from relfast_kernels.text import reasoning as kernel

        end = kernel.end_of_turn(data, 0, len(data))
    return text if end == len(data) else data[:end].decode("utf-8", "surrogatepass")


def read_strictly(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> tuple[str, str | None]:
    """The part of a response that ``strict`` searches for the answer, or the reason why there is none.

    ``reasoning`` is the option of that name: additional marks beside `MARKS`.

    Returns
    -------
    (text, reason)
        ``reason`` is None where the text can be read, else one of ``not_text``, ``too_long``,
        ``lone_surrogate``, ``empty``, ``only_reasoning``.
    """
    if not isinstance(response, str):
        return "", "not_text"
    if len(response) > MAX_STRICT:
        return "", "too_long"
    if has_surrogate(response):
        return "", "lone_surrogate"
    text = strip_reasoning(response, reasoning)
    if not text.strip():
        return "", "only_reasoning" if response.strip() else "empty"
    return text, None


_ROOM: Final = 64


def read_final(
    kind: Literal["CHOICE", "VERDICT", "CLAIM"], response: object, reasoning: tuple[tuple[str, str], ...]
) -> tuple[int | None, list[int], str | None]:
    """Read the final answer of a closed set: (value or None, taxa, reason or None). The reason is
    ``no_answer``, ``several_answers``, ``out_of_range``, or one of `read_strictly`.

    A ``CHOICE`` (REL-A) is 1 to 8. A ``VERDICT`` (REL-C1) or ``CLAIM`` (REL-B1) is 1 for no, 2 for yes.
    Only a claimed yes has taxa, each once.
    """
    from relfast_kernels.text import answers, taxa, values

    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return None, [], reason
    data, numbers = text.encode(), [0] * (taxa.TAXA + 2 * taxa.MAX_CLAIMED)
    work = bytearray(2 * len(data) + _ROOM)
    if kind == "CLAIM":
        value, n_taxa = answers.read_claim(data, 0, len(data), work, 0, numbers)
    else:
        value, n_taxa = answers.find_value(data, 0, len(data), getattr(values, kind), work, 0, numbers)[0], 0
    if value < 1:
        reasons = {answers.SEVERAL: "several_answers", answers.OUTSIDE: "out_of_range"}
        return None, [], reasons.get(value, "no_answer")
    return value, numbers[taxa.TAXA : taxa.TAXA + n_taxa], None


class Form(NamedTuple):
    """A marked answer: the offset where its mark opens, its kind, and what it holds."""

    start: int
    kind: Literal["box", "tag", "label"]
    content: str


MAX_LABELLED: Final = 200
"""Maximum characters of an answer behind a label."""
_KINDS: Final[tuple[Literal["box", "tag", "label"] | None, ...]] = (
    None,
    "box",
    "tag",
    "label",
    None,
    "label",
)
"""Kinds of forms by the kernel's numbers; ``####`` is a label."""
_ENDS: Final = ' \t\r\n*_`"“”'


def _marked() -> Any:
    from relfast_kernels.text import marked

    return Marked(text=b"", out=(ctypes.c_char * 1)(), fences=(ctypes.c_int64 * marked.FORM_FENCES)())


_MARKED: Final = Spare[Any](_marked)


def last_form(text: str, *, keep_commands: bool = False) -> Form | None:
    r"""The marked answer that opens last, for tasks with open answers; None if there is none.

    >>> last_form(r"Answer: 3. So it is $\boxed{\frac{1}{2} \text{ for } x = 3}$.")
    Form(start=20, kind='box', content='\\frac{1}{2}')

    Parameters
    ----------
    text
        Without reasoning. A lone surrogate is read as ``?``.
    keep_commands
        Keep TeX commands that say of what kind letters are: ``\text{cm}``.
    """
    from relfast_kernels.text import dress, marked

    data = text.encode("utf-8", "replace")
    asked = _MARKED.take()
    if 2 * len(data) + marked.FORM_ROOM > asked.n_out:
        asked.out = (ctypes.c_char * (4 * len(data) + marked.FORM_ROOM))()
    asked.text, asked.how = data, dress.MATHEMATICAL if keep_commands else dress.SHOWN
    kind = _KINDS[native.functions("text")["form"](asked)]
    start, held = asked.found.start, asked.out[: asked.found.size]
    if len(data) <= _MOST_KEPT:
        _MARKED.append(asked)
    if kind is None:
        return None
    held = held.decode("utf-8", "replace").strip(_ENDS)
    held = held[:MAX_LABELLED].rstrip(_ENDS) if kind == "label" else held
    return Form(len(data[:start].decode("utf-8", "replace")), kind, held)
