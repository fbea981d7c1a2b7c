"""Extracting answers from responses to REL-C1, C2 and C3: a label, one molecule, or several molecules.

The rules are kernel source, which also runs as plain Python: `relfast_kernels.text.responses` and, for
molecules, `relfast_kernels.tags.read`. `TagReader` makes a kernel extract those of many responses at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.entry import Int, Rows, rows_of
from relfast_kernels.smiles.layouts import Sizes
from relfast_kernels.tags import layouts

from relfast.records import Extracted, Options
from relfast.tasks.base import MAX_TEXTS
from relfast.tasks.reasoning import last_form, lower, read_final, read_strictly, strip_reasoning, utf8
from relfast.tasks.rel_c import RelCOptions

UNIT: Final = "tags"
"""The native unit of the kernels that read tags."""

_LABELS: Final = ("No", "Yes", "Yeſ")
"""Labels by the kernel's numbers. Where case is ignored the long s is an s, and lower case leaves it."""


def _published_text(response: object, options: Options) -> str | None:
    if not isinstance(response, str):
        return None
    return strip_reasoning(response, options.reasoning) if options.strip_reasoning else response


def extract_label(response: object, options: Options) -> Extracted[str | None]:
    """REL-C1: ``Yes``, ``No`` or None. Under ``reference`` the first ``<Yes>`` or ``<No>`` tag counts."""
    if options.strict:
        label, _, reason = read_final("VERDICT", response, options.reasoning)
        if label is None:
            return Extracted(None, found=False, reason=reason)
        return Extracted("Yes" if label == 2 else "No")  # 1 is no
    with native.uncharged():
        from relfast_kernels.text import responses as published

    data = utf8(_published_text(response, options) or "")
    number = published.find_label(data, 0, len(data))
    return Extracted(None, found=False) if number == published.NO_LABEL else Extracted(_LABELS[number])


def extract_molecule(response: object, options: Options) -> Extracted[str | None]:
    """REL-C2: the SMILES that a response names, or None."""
    found, reason = _molecules(response, options, one=True)
    smiles = found[0] if found else None
    return Extracted(smiles, found=bool(smiles), reason=reason)


def extract_molecules(response: object, options: Options) -> Extracted[list[str]]:
    """REL-C3: the SMILES that a response names, in order, duplicates kept."""
    found, reason = _molecules(response, options, one=False)
    return Extracted(found, found=bool(found), reason=reason)


def _molecules(response: object, options: Options, *, one: bool) -> tuple[list[str], str | None]:
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        return read_molecules(text, one=one) if reason is None else ([], reason)
    data = utf8(_published_text(response, options) or "")
    return [data[start:stop].decode("utf-8", "surrogatepass") for start, stop in published_tags(data)], None


def published_tags(data: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of what each ``<smiles>`` tag of a text holds, as the published scorer finds them."""
    with native.uncharged():
        from relfast_kernels.tags.read import next_tag

    start, stop, at = next_tag(data, 0, len(data))
    while start >= 0:
        yield start, stop
        start, stop, at = next_tag(data, at, len(data))


def reason_of(how: int) -> str:
    """The code of why ``strict`` found no molecule, from ``how`` the kernel read the response
    (`relfast_kernels.tags.layouts`)."""
    return _REASONS.get(how, "no_answer")


def read_molecules(text: str, *, one: bool) -> tuple[list[str], str | None]:
    """Extract SMILES from a text without reasoning by the rules of ``strict``: the last one (``one``) or the
    whole final list. The second value is the reason if there are none, else None."""
    data = utf8(text)
    out = ctypes.create_string_buffer(len(data) + 1)
    answer = layouts.Answer(text=data, out=out, one=one)
    n_bytes = native.functions(UNIT)["read"](answer)
    text_read = out.raw[: max(0, n_bytes - 1)].decode("utf-8", "surrogatepass")
    found, how = text_read.split("\n") if answer.told.n else [], answer.told.how
    if how == layouts.FORM and (smiles := _of_form(text)) is not None:
        return [smiles], None
    return found, None if found else reason_of(how)


def _of_form(text: str) -> str | None:
    """The SMILES (two or more atoms) that fills a box, tag or label after the last ``<smiles>`` tag."""
    form = last_form(text)
    if form is None or "smiles" in lower(text[form.start :]) or form.content.lower() in _NO_MOLECULES:
        return None
    with native.uncharged():
        from relfast_kernels.tags.read import n_atoms

    molecules, _ = read_molecules(f"<smiles>{form.content}</smiles>", one=True)
    data = utf8(molecules[0]) if molecules else b""
    return molecules[0] if n_atoms(data, 0, len(data)) > 1 else None


_REASONS: Final = {
    layouts.EMPTY: "empty",
    layouts.ONLY_REASONING: "only_reasoning",
    layouts.SEVERAL: "several_answers",
}


_NO_MOLECULES: Final = frozenset(("no", "on", "so", "in", "of", "if", "is"))
"""English words that are also valid SMILES."""


_N_TOLD: Final = len(layouts.Told.declared)

ROOM: Final = 1 << 20
"""Initial bytes for the texts of one call; doubled when they are too few."""


class TagGolds(NamedTuple):
    """TagGolds in the kernel's layout, and their texts, each followed by a newline."""

    known: Rows[layouts.Gold]
    texts: ctypes.Array[ctypes.c_char]


def can_read(options: RelCOptions) -> bool:
    """Whether the kernels are compiled and support the options: they know no marks of reasoning but the
    built-in ones, and cannot join tautomers."""
    apart = not options.strict or options.tautomers == "apart"
    return apart and not options.reasoning and native.find(UNIT) is not None


class TagReader:
    """Extracts the ``<smiles>`` tags of up to `MAX_TEXTS` responses per call: the last tag (``one``) or
    all. It writes each response's gold (from the table ``beside``) and tags into ``texts``, where other
    kernels read them. For one thread at a time, and only if `can_read`.

    Attributes
    ----------
    rows
        For each response of the last call: number of tags (`LEFT_TO_PYTHON` if `extract_molecule` or
        `extract_molecules` must read it), begin and end of the tags in ``texts``, and how the response was
        read (`Told` of `relfast_kernels.tags.layouts`).
    texts, n_bytes
        TagGolds, tags and given molecules, each followed by a newline; their number of bytes.
    said
        ``texts`` decoded as Latin-1, one character per byte, so that offsets are the same.
    sizes
        A row for each response that was read.
    """

    rows: list[tuple[int, int, int, int]]
    n_bytes: int
    said: str

    def __init__(self, options: RelCOptions, beside: TagGolds, *, one: bool) -> None:
        self._gather = native.functions(UNIT)["gather"]
        told = rows_of(layouts.Told, MAX_TEXTS)
        # the numbers of all readings, which are read at once
        self._told: Any = rows_of(Int, _N_TOLD * MAX_TEXTS, told)
        self._spans: Any = rows_of(Int, MAX_TEXTS + 1)
        self._golds: Any = rows_of(Int, MAX_TEXTS)
        self.sizes = rows_of(Sizes, MAX_TEXTS)
        self._responses: Any = layouts.Responses(
            strict=options.strict, cuts=options.strict or options.strip_reasoning, one=one, told=told,
            spans=self._spans, golds=self._golds, sizes=self.sizes, known=beside.known, store=beside.texts,
        )  # fmt: skip
        self._set_room(ROOM)

    def _set_room(self, n_bytes: int) -> None:
        self.texts = (ctypes.c_char * n_bytes)()
        self._bytes = memoryview(self.texts).cast("B")
        self._responses.put(out=self.texts)

    def read(self, texts: Sequence[str], golds: Sequence[int]) -> None:
        """Read responses, each with the number of its gold, and set the attributes. Raises
        `UnicodeEncodeError` for lone surrogates."""
        parts, responses = [*map(str.encode, texts)], self._responses
        n = responses.n = len(parts)
        self._spans[: n + 1] = [*accumulate(map(len, parts), initial=0)]
        self._golds[:n] = [*golds]
        responses.data = parts[0] if n == 1 else b"".join(parts)
        while (n_bytes := self._gather(responses)) < 0:
            self._set_room(2 * len(self.texts))
        self.n_bytes = n_bytes
        told = iter(self._told[: _N_TOLD * n])
        self.rows = [*zip(told, told, told, told, strict=True)]
        self.said = str(self._bytes[:n_bytes], "latin-1")
