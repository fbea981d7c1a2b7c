"""Reading answers out of responses to REL-C1, C2 and C3: a label, one molecule, or many.

The published patterns ignore case the way Python's `re` does on text, where ``ſ`` is an ``s`` and ``ı``
an ``i``. On ASCII text a plain search for the literal finds the same places at a tenth of the cost.

``strict`` reads a label as the final answer in a documented form, and molecules as
`relfast_kernels.tags.read` does. `TagReader` has a kernel read many responses the same way.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.smiles.layouts import SIZE_COLUMNS
from relfast_kernels.tags import layouts

from relfast.records import Extracted, Options
from relfast.tasks.modules import MAX_TEXTS
from relfast.tasks.reasoning import lower, read_final, read_strictly, strip_reasoning
from relfast.tasks.rel_c import RelCOptions

UNIT: Final = "tags"
"""The unit of kernels that reads them."""

SMILES_TAG: Final = re.compile(r"<smiles>\s*([^<\r\n]+)", re.IGNORECASE)
_YES_NO: Final = re.compile(r"<\s*+(yes|no)\s*+>", re.IGNORECASE)


def _published_text(response: object, options: Options) -> str | None:
    if not isinstance(response, str):
        return None
    return strip_reasoning(response, options.reasoning) if options.strip_reasoning else response


def extract_label(response: object, options: Options) -> Extracted[str | None]:
    """REL-C1: ``Yes``, ``No`` or None. As published, the first ``<Yes>`` or ``<No>`` tag counts."""
    if options.strict:
        label, _, reason = read_final("VERDICT", response, options.reasoning)
        if label is None:
            return Extracted(None, found=False, reason=reason)
        return Extracted("Yes" if label == 2 else "No")  # 1 is no
    text = _published_text(response, options)
    match = _YES_NO.search(text) if text is not None else None
    return Extracted(None, found=False) if match is None else Extracted(match[1].capitalize())


def extract_molecule(response: object, options: Options) -> Extracted[str | None]:
    """REL-C2: the SMILES text, or None."""
    found, reason = _molecules(response, options, one=True)
    smiles = found[0] if found else None
    return Extracted(smiles, found=bool(smiles), reason=reason)


def extract_molecules(response: object, options: Options) -> Extracted[list[str]]:
    """REL-C3: the list of SMILES texts, in order, duplicates kept."""
    found, reason = _molecules(response, options, one=False)
    return Extracted(found, found=bool(found), reason=reason)


def _molecules(response: object, options: Options, *, one: bool) -> tuple[list[str], str | None]:
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        return read_molecules(text, one=one) if reason is None else ([], reason)
    return [tag.strip() for tag in SMILES_TAG.findall(_published_text(response, options) or "")], None


def reason_of(how: int) -> str:
    """Why a response without a molecule is no answer to ``strict``; ``how`` it was read: one of `HOW`."""
    return _REASONS.get(how, "no_answer")


def read_molecules(text: str, *, one: bool) -> tuple[list[str], str | None]:
    """The molecules (SMILES) of a text without reasoning as ``strict`` reads them, the last ``one`` or all of
    the final list; and why there are none, or None."""
    data = text.encode("utf-8", "surrogatepass")
    out, told = ctypes.create_string_buffer(len(data) + 1), (ctypes.c_int64 * 2)()
    n_bytes = native.functions(UNIT)["read"](data, len(data), one, out, told)
    n, how = told
    found = out.raw[: max(0, n_bytes - 1)].decode("utf-8", "surrogatepass").split("\n") if n else []
    if how == layouts.HOW.form and (said := _of_form(text)) is not None:
        return [said], None
    return found, None if found else reason_of(how)


def _of_form(text: str) -> str | None:
    """The SMILES of two or more atoms that fills a box, a tag or a label behind the last ``<smiles>`` tag."""
    from relfast.tasks.final_answer import last_form, undress

    text = undress(text)
    form = last_form(text)
    if form is None or "smiles" in lower(text[form.start :]) or form.content.lower() in _NO_MOLECULES:
        return None
    said, _ = read_molecules(f"<smiles>{form.content}</smiles>", one=True)
    return said[0] if said and len(_ATOM.findall(said[0])) > 1 else None


_REASONS: Final = {
    layouts.HOW.empty: "empty",
    layouts.HOW.only_reasoning: "only_reasoning",
    layouts.HOW.several: "several_answers",
}


_ATOM: Final = re.compile(r"\[[^\]]*\]|Cl|Br|[A-Zbcnops*]")
_NO_MOLECULES: Final = frozenset(("no", "on", "so", "in", "of", "if", "is"))
"""English words that are SMILES, too."""


ROOM: Final = 1 << 20
"""Bytes for the texts of one call at first; doubled where they do not suffice."""


class Golds(NamedTuple):
    """Golds as the kernel reads them: ``n`` times `GOLD_COLUMNS` of `relfast_kernels.tags.layouts`, and their
    texts, each ended by a newline."""

    columns: ctypes.Array[ctypes.c_int64]
    n: ctypes.c_int64
    texts: ctypes.Array[ctypes.c_char]
    n_bytes: ctypes.c_int64


def can_read(options: RelCOptions) -> bool:
    """Whether kernels read tags and molecules as the options ask for, and have been compiled. They know no
    marks of reasoning but their own, and tell tautomers apart."""
    apart = not options.strict or options.tautomers == "apart"
    return apart and not options.reasoning and native.find(UNIT) is not None


class TagReader:
    """Reads the tags of up to `MAX_TEXTS` responses, all or ``one``, and writes golds (of those ``beside``)
    and tags into ``texts``. For one thread at a time; only where one `can_read` them.

    Attributes
    ----------
    rows
        Of each response that was read last: how many tags, `LEFT_TO_PYTHON` where `extract_molecule` or the
        like must read it; where in ``texts`` they begin and end; and how it was read, `HOW.plain` and the
        others of `relfast_kernels.tags.layouts`.
    texts, texts_at, n_bytes
        Golds, tags and given molecules, each ended by a newline, their address, and how many bytes they have.
    said
        The same as Latin-1: one character a byte, so that places hold.
    sizes_at
        The address of `SIZE_COLUMNS` numbers for each response that was read.
    """

    rows: list[tuple[int, int, int, int]]
    n_bytes: int
    said: str

    def __init__(self, options: RelCOptions, beside: Golds, *, one: bool) -> None:
        # all arguments are made once: to convert them at each call takes as long as to read one text
        self._gather = native.functions(UNIT)["gather"].__wrapped__  # type: ignore[attr-defined]
        self._setting = tuple(
            map(ctypes.c_int64, (options.strict, options.strict or options.strip_reasoning, one))
        )
        self._written = ctypes.c_int64()
        self._result = ctypes.byref(self._written), ctypes.byref(ctypes.c_void_p())
        self._size, self._n = ctypes.c_int64(), ctypes.c_int64()
        self._spans = (ctypes.c_int64 * (MAX_TEXTS + 1))()
        self._golds, self._told, self._sizes = (
            (ctypes.c_int64 * (columns * MAX_TEXTS))() for columns in (1, layouts.TOLD_COLUMNS, SIZE_COLUMNS)
        )
        self.sizes_at = ctypes.addressof(self._sizes)
        self._beside = beside
        self._set_room(ROOM)

    def _set_room(self, n_bytes: int) -> None:
        self.texts = (ctypes.c_char * n_bytes)()
        self.texts_at, self._bytes = ctypes.addressof(self.texts), memoryview(self.texts).cast("B")
        self._after = (
            *self._beside,
            *self._setting,
            self.texts,
            ctypes.c_int64(n_bytes),
            self._told,
            self._sizes,
        )

    def read(self, texts: Sequence[str], golds: Sequence[int]) -> None:
        """Read some texts, each with the number of its gold. Raises `UnicodeEncodeError` for lone
        surrogates."""
        parts = [*map(str.encode, texts)]
        n = self._n.value = len(parts)
        self._spans[: n + 1] = [*accumulate(map(len, parts), initial=0)]
        self._size.value = self._spans[n]
        self._golds[:n] = [*golds]
        where = parts[0] if n == 1 else b"".join(parts), self._size, self._spans, self._golds, self._n
        while True:
            status = self._gather(*self._result, *where, *self._after)
            if status:
                raise RuntimeError(f"kernel failed with status {status}")
            self.n_bytes = self._written.value
            if self.n_bytes >= 0:
                break
            self._set_room(2 * len(self.texts))
        told = iter(self._told[: n * layouts.TOLD_COLUMNS])
        self.rows = [*zip(told, told, told, told, strict=True)]
        self.said = str(self._bytes[: self.n_bytes], "latin-1")
