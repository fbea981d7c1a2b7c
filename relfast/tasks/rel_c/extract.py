"""Reading answers out of responses to REL-C1, C2 and C3: a label, one molecule, or many.

The published patterns ignore case the way Python's `re` does on text, where ``ſ`` is an ``s`` and ``ı``
an ``i``. On ASCII text a plain search for the literal finds the same places at a tenth of the cost.

``strict`` reads a label as the final answer in a documented form, and molecules as
`relfast_kernels.tags.strict` does. `TagReader` has a kernel read many responses the same way.
"""

from __future__ import annotations

import ctypes
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.smiles.layouts import SIZE_COLUMNS
from relfast_kernels.tags.columns import (
    GOLD_COLUMNS,
    LEFT_TO_PYTHON,
    READ_EMPTY,
    READ_FORM,
    READ_ONLY_REASONING,
    READ_SEVERAL,
    TOLD_COLUMNS,
    TOLD_END,
    TOLD_HOW,
    TOLD_N,
    TOLD_START,
)

from relfast.records import Extracted, Options
from relfast.tasks.block_rows import Block
from relfast.tasks.final_value import read_label
from relfast.tasks.reasoning import lower, read_strictly, strip_reasoning
from relfast.tasks.rel_c.options import RelCOptions

UNIT: Final = "tags"

SMILES_TAG: Final = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)
_YES_NO: Final = re.compile(r"<\s*+(yes|no)\s*+>", re.IGNORECASE)


def _reference_text(response: object, options: Options) -> str | None:
    if not isinstance(response, str):
        return None
    return strip_reasoning(response, options.reasoning) if options.strip_reasoning else response


def extract_label(response: object, options: Options) -> Extracted[str | None]:
    """REL-C1: ``Yes``, ``No`` or None. As published, of the first ``<Yes>`` or ``<No>`` tag."""
    if options.strict:
        label, reason = read_label(response, options.reasoning)
        if label is None:
            return Extracted(None, found=False, reason=reason)
        return Extracted("Yes" if label == 2 else "No")
    text = _reference_text(response, options)
    match = _YES_NO.search(text) if text is not None else None
    return Extracted(None, found=False) if match is None else Extracted(match[1].capitalize())


def extract_molecule(response: object, options: Options) -> Extracted[str | None]:
    """REL-C2: the SMILES text, or None."""
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is not None:
            return Extracted(None, found=False, reason=reason)
        found, reason = read_molecules(text, one=True)
        return Extracted(found[0] if found else None, found=bool(found), reason=reason)
    text_or_none = _reference_text(response, options)
    match = SMILES_TAG.search(text_or_none) if text_or_none is not None else None
    if match is None:
        return Extracted(None, found=False)
    smiles = match[1].strip()
    return Extracted(smiles, found=bool(smiles))


def extract_molecules(response: object, options: Options) -> Extracted[list[str]]:
    """REL-C3: the list of SMILES texts, in order, duplicates kept."""
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is not None:
            return Extracted([], found=False, reason=reason)
        smiles, reason = read_molecules(text, one=False)
        return Extracted(smiles, found=bool(smiles), reason=reason)
    text_or_none = _reference_text(response, options)
    smiles = [s.strip() for s in SMILES_TAG.findall(text_or_none)] if text_or_none is not None else []
    return Extracted(smiles, found=bool(smiles))


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


_REASONS: Final = {
    READ_EMPTY: "empty",
    READ_ONLY_REASONING: "only_reasoning",
    READ_SEVERAL: "several_answers",
}


_ATOM: Final = re.compile(r"\[[^\]]*\]|Cl|Br|[A-Zbcnops*]")
_NO_MOLECULES: Final = frozenset(("no", "on", "so", "in", "of", "if", "is"))
"""Words of SMILES letters."""


ROOM: Final = 1 << 20
"""Bytes for the texts of one call, at first."""


class Golds(NamedTuple):
    """Golds as the kernel reads them: their columns and how many there are, their texts and the bytes of
    those."""

    columns: ctypes.Array[ctypes.c_int64]
    n: int
    texts: ctypes.Array[ctypes.c_char]
    n_bytes: int


NO_GOLDS: Final = Golds((ctypes.c_int64 * GOLD_COLUMNS)(), 1, (ctypes.c_char * 1)(), 1)
"""Of tags that are read alone."""


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
    sizes: array[int]


class TagReader:
    """Reads the tags of many responses; what it gives is good until it reads again."""

    def __init__(
        self, functions: Mapping[str, Callable[..., int]], options: RelCOptions, *, one: bool
    ) -> None:
        self._gather = functions["gather"]
        self._setting = options.strict, options.strict or options.strip_reasoning, one
        self._texts = (ctypes.c_char * ROOM)()

    @classmethod
    def open(cls, options: RelCOptions, *, one: bool) -> TagReader | None:
        """A reader of all tags, or of ``one``; None where the options or missing machine code do not allow
        it. Who asks has to look at `Tags.how`, and at what a tag holds before it is read as a molecule."""
        if options.reasoning:
            return None
        functions = native.load(UNIT)
        return None if functions is None else cls(functions, options, one=one)

    def read(self, block: Block, numbers: Sequence[int], golds: Sequence[int], known: Golds) -> Tags:
        """The tags of some records, each with the number of its gold."""
        n = len(numbers)
        told = array("q", bytes(8 * TOLD_COLUMNS * n))
        sizes = array("q", bytes(8 * SIZE_COLUMNS * n))
        chosen, theirs = array("q", numbers), array("q", golds)
        while True:
            n_bytes = self._gather(
                *block.where, chosen.buffer_info()[0], theirs.buffer_info()[0], n, known.columns, known.n,
                known.texts, known.n_bytes, *self._setting, self._texts, len(self._texts),
                told.buffer_info()[0], sizes.buffer_info()[0],
            )  # fmt: skip
            if n_bytes >= 0:
                break
            self._texts = (ctypes.c_char * (2 * len(self._texts)))()
        found = told[TOLD_N::TOLD_COLUMNS].tolist()
        was_read = [count != LEFT_TO_PYTHON for count in found]
        starts, ends = told[TOLD_START::TOLD_COLUMNS].tolist(), told[TOLD_END::TOLD_COLUMNS].tolist()
        how = told[TOLD_HOW::TOLD_COLUMNS].tolist()
        return Tags(found, starts, ends, how, was_read, self._texts, n_bytes, sizes)
