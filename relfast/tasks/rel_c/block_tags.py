"""The tags of a block's responses, read by a kernel as the extractors read them."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.smiles.layouts import SIZE_COLUMNS
from relfast_kernels.tags.columns import (
    LEFT_TO_PYTHON,
    READ_EMPTY,
    READ_FORM,
    READ_ONLY_REASONING,
    READ_PLAIN,
    READ_SEVERAL,
    TOLD_COLUMNS,
    TOLD_END,
    TOLD_HOW,
    TOLD_N,
    TOLD_START,
)

from relfast.tasks.block_rows import Block
from relfast.tasks.reasoning import lower
from relfast.tasks.rel_c.options import RelCOptions

UNIT: Final = "tags"

ROOM: Final = 1 << 20
"""Bytes for the texts of one call, at first."""

_REASONS: Final = {
    READ_EMPTY: "empty",
    READ_ONLY_REASONING: "only_reasoning",
    READ_SEVERAL: "several_answers",
}


class Golds(NamedTuple):
    """Golds as the kernel reads them: their columns and how many there are, their texts and the bytes of
    those."""

    columns: ctypes.Array[ctypes.c_int64]
    n: int
    texts: ctypes.Array[ctypes.c_char]
    n_bytes: int


class Tags(NamedTuple):
    """What was read.

    Attributes
    ----------
    n, start, end
        For each response its tags, `LEFT_TO_PYTHON` where the extractor must read it, and where they are.
    how
        How it was read: `READ_PLAIN` and the others of `relfast_kernels.tags.columns`.
    was_read
        Whether the kernel read it; ``n`` can still leave it.
    texts, n_bytes
        Golds, tags and given molecules, each ended by a newline.
    sizes
        `SIZE_COLUMNS` numbers for each response that was read.
    """

    n: list[int]
    start: list[int]
    end: list[int]
    how: list[int]
    was_read: list[bool]
    texts: ctypes.Array[ctypes.c_char]
    n_bytes: int
    sizes: ctypes.Array[ctypes.c_int64]


class TagReader:
    """Reads the tags of many responses; what it gives is good until it reads again."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., int]],
        options: RelCOptions,
        *,
        one: bool,
        plain_only: bool,
    ) -> None:
        self.gather = functions["gather"]
        self._strict, self._plain_only = options.strict, plain_only
        self.setting = options.strict, options.strict or options.strip_reasoning, one
        """What the kernel is told of how to read."""
        self._texts = (ctypes.c_char * ROOM)()

    @classmethod
    def open(cls, options: RelCOptions, *, one: bool, plain_only: bool = True) -> TagReader | None:
        """A reader of all tags, or of ``one``; None where the options or missing machine code do not allow
        it.

        ``plain_only``: under ``strict`` responses with other tags or none are left to Python. Of those that
        are not who asks has to look at `Tags.how`, and at what a tag holds before it is read as a molecule.
        """
        if options.reasoning:
            return None
        functions = native.load(UNIT)
        return None if functions is None else cls(functions, options, one=one, plain_only=plain_only)

    def read(self, block: Block, numbers: Sequence[int], golds: Sequence[int], known: Golds) -> Tags:
        """The tags of some records, each with the number of its gold."""
        n = len(numbers)
        told = array("q", bytes(8 * TOLD_COLUMNS * n))
        sizes = (ctypes.c_int64 * (SIZE_COLUMNS * n))()
        chosen, theirs = array("q", numbers), array("q", golds)
        while True:
            n_bytes = self.gather(
                *block.where, chosen.buffer_info()[0], theirs.buffer_info()[0], n, known.columns, known.n,
                known.texts, known.n_bytes, *self.setting, self._texts, len(self._texts),
                told.buffer_info()[0], sizes,
            )  # fmt: skip
            if n_bytes >= 0:
                break
            self._texts = (ctypes.c_char * (2 * len(self._texts)))()
        found = told[TOLD_N::TOLD_COLUMNS].tolist()
        was_read = [count != LEFT_TO_PYTHON for count in found]
        starts, ends = told[TOLD_START::TOLD_COLUMNS].tolist(), told[TOLD_END::TOLD_COLUMNS].tolist()
        how = told[TOLD_HOW::TOLD_COLUMNS].tolist()
        if self._strict and self._plain_only:
            found = [
                count if count > 0 and kind == READ_PLAIN else LEFT_TO_PYTHON
                for count, kind in zip(found, how, strict=True)
            ]
        return Tags(found, starts, ends, how, was_read, self._texts, n_bytes, sizes)


def reason_of(how: int) -> str:
    """Why a response without a tag is no answer to ``strict``."""
    return _REASONS.get(how, "no_answer")


def read_molecules(text: str, *, one: bool) -> tuple[list[str], str | None]:
    """The molecules of a text without reasoning as ``strict`` reads them, the last one or all of the final
    list, or why there are none."""
    data = text.encode("utf-8", "surrogatepass")
    out, told = ctypes.create_string_buffer(len(data) + 1), (ctypes.c_int64 * 2)()
    n_bytes = native.functions(UNIT)["read"](data, len(data), one, out, told)
    n, how = told
    found = out.raw[: max(0, n_bytes - 1)].decode("utf-8", "surrogatepass").split("\n") if n else []
    if how == READ_FORM and (said := _of_form(text)) is not None:
        return [said], None
    return found, None if found else reason_of(how)


def _of_form(text: str) -> str | None:
    """The molecule that a box, a tag or a label behind the last ``<smiles>`` tag holds, and nothing else."""
    from relfast.tasks.final_answer import last_form, undress

    text = undress(text)
    form = last_form(text)
    if form is None or "smiles" in lower(text[form.start :]) or form.content.lower() in _NO_MOLECULES:
        return None
    said, _ = read_molecules(f"<smiles>{form.content}</smiles>", one=True)
    return said[0] if said and len(_ATOM.findall(said[0])) > 1 else None


_ATOM: Final = re.compile(r"\[[^\]]*\]|Cl|Br|[A-Zbcnops*]")
_NO_MOLECULES: Final = frozenset(("no", "on", "so", "in", "of", "if", "is"))
"""Words of SMILES letters."""
