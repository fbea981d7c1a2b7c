"""Lists of SMILES held against each other by a kernel, without RDKit.

A kernel reads a SMILES into a graph with a canonical code, aromatic bonds as RDKit perceives them, and
equal codes are the same molecule exactly where RDKit, asked whether each is a substructure of the
other, says so. Of the molecules that models write 99 in 100 are read; what is not is listed in
`relfast_kernels.smiles.parser` and left to RDKit, and `SmilesTable.learn` then tells the kernel the answer.
The kernel is used only where its machine code has been compiled (`relfast_kernels.compiled.native`); without
it RDKit does everything, with the same results.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles import layouts

from relfast.memory import lazy_memory

UNIT: Final = "smiles"

CACHED_TEXTS: Final = 1 << 18
CACHED_CODES: Final = 1 << 17
CACHED_BYTES: Final = 1 << 23
"""A table's size: quarter of a million spellings of 32 characters and half as many molecules, in 32 MB at
most (pages never written take no memory)."""


def joined(texts: Sequence[str]) -> bytes | None:
    """The texts as bytes, each ended by a newline; None if one is no text or cannot stand like that."""
    if not texts:
        return b""
    try:
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
    except TypeError:
        return None
    return data + b"\n" if data.count(b"\n") == len(texts) - 1 else None


class Match(NamedTuple):
    """Predictions held against gold, in the order of the kernel's columns.

    Attributes
    ----------
    decided
        Whether the kernel can say; else only RDKit can, and the rest means nothing.
    true_positives
        Predictions that found a gold molecule of their own; strict: gold molecules that were named.
    vote
        32 bits for the predictions, whatever their order: where each found its gold, or its fingerprint;
        strict: for the different molecules that were named.
    n_wanted, n_neutral
        Strict: different gold molecules, and repeats and isomers that are neither gold nor given.
    flaw
        Strict: what is wrong with the first prediction that is no molecule of its own, see `FLAWS`.
    unknown
        Texts that only RDKit can judge.
    """

    decided: int
    true_positives: int
    vote: int
    n_wanted: int = 0
    n_neutral: int = 0
    flaw: int = 0
    unknown: tuple[object, ...] = ()


FLAWS: Final = {
    0: None,
    layouts.INVALID: "invalid_smiles",
    layouts.SEVERAL_FRAGMENTS: "several_fragments",
    layouts.NOT_PLAIN: "not_plain_smiles",
    layouts.ISOTOPE: "isotope",
    layouts.TOO_LONG: "too_long",
    layouts.EMPTY: "empty",
}
"""What is wrong with a text, by what the kernel says."""


class SmilesTable:
    """Texts and molecules seen so far.

    Safe to use from several threads without a lock: the kernel holds the interpreter's own for the whole of
    a call, and what it tells lands in memory of that call. (Of a lock here 64 callers would make a queue in
    which each of them waits for the interpreter anew.)
    """

    def __init__(self, functions: Mapping[str, Callable[..., int]]) -> None:
        self._match, self._learn, self._code = (functions[name] for name in ("match", "learn", "code"))
        self._memory = [
            lazy_memory(n_bytes)
            for n_bytes in (
                4 * 2 * CACHED_TEXTS,
                8 * layouts.TEXT_COLUMNS * CACHED_TEXTS,
                CACHED_BYTES,
                4 * 2 * CACHED_CODES,
                8 * layouts.CODE_COLUMNS * CACHED_CODES,
                CACHED_BYTES,
                8 * layouts.N_COUNTERS,
                8 * layouts.GRAPH_SIZE,
                8 * layouts.WORK_SIZE,
            )
        ]
        self._table = (ctypes.c_int64 * layouts.TABLE_PARTS)(
            *map(ctypes.addressof, self._memory), CACHED_TEXTS, CACHED_BYTES, CACHED_CODES, CACHED_BYTES
        )

    def match(
        self, gold: Sequence[Any], pred: Sequence[Any], given: Sequence[Any] = (), *, strict: bool = False
    ) -> Match:
        """Hold predictions against gold, and under ``strict`` against what the question has given."""
        texts = [*gold, *pred, *given]
        told = self._told((gold, pred, given), strict=strict)
        if told is None:
            return Match(0, 0, 0, unknown=tuple(texts))
        result, classes = told
        unknown = tuple(text for text, kind in zip(texts, classes, strict=True) if kind == UNKNOWN)
        return Match._make((*result, unknown))

    def read(self, texts: Sequence[str]) -> list[bool]:
        """For each text whether it certainly is a molecule; False says nothing."""
        told = self._told(((), texts, ()), strict=False)
        return [False] * len(texts) if told is None else [kind >= 0 for kind in told[1]]

    def _told(self, lists: tuple[Sequence[Any], ...], *, strict: bool) -> tuple[list[int], list[int]] | None:
        """The `RESULT_COLUMNS` numbers of a record and the classes of its texts; None where one of them is no
        text, or none that can be looked at."""
        parts = [joined(texts) for texts in lists]
        if None in parts:
            return None
        data, sizes = b"".join(parts), array("q", map(len, lists))  # type: ignore[arg-type]
        told = self.hold(data, len(data), sizes.buffer_info()[0], 1, sum(sizes), strict=strict, classes=True)
        return told[: layouts.RESULT_COLUMNS], told[layouts.RESULT_COLUMNS :]

    def hold(
        self,
        texts: bytes | int,
        n_bytes: int,
        sizes: int,
        n: int,
        n_texts: int,
        *,
        strict: bool,
        classes: bool = False,
    ) -> list[int]:
        """What the kernel tells of records whose texts lie ready (`match_lists`): `RESULT_COLUMNS` numbers
        for each, and behind them, if wanted, the ``classes`` of all texts.

        ``texts`` and ``sizes`` are where they are.
        """
        n_told = layouts.RESULT_COLUMNS * n
        told = array("q", bytes(8 * (n_told + 2 * n_texts)))  # the last ones are links between texts
        at = told.buffer_info()[0]
        classes_at = at + 8 * n_told
        links_at = classes_at + 8 * n_texts
        self._match(texts, n_bytes, sizes, n, strict, classes_at, links_at, n_texts, at, self._table)
        return told[: n_told + n_texts if classes else n_told].tolist()

    def learn(self, text: str, code: bytes, fingerprint: int) -> None:
        """Remember what RDKit said of a text: the code of its molecule, empty for no molecule."""
        data = text.encode("utf-8", "surrogatepass")
        self._learn(data, len(data), code, len(code), fingerprint, self._table)

    def code_of(self, text: str, *, by_rdkit: bool) -> bytes | None:
        """The canonical code of a molecule, None for one that the kernel cannot read.

        ``by_rdkit``: the text is a canonical SMILES without stereo; its aromatic bonds are taken at their
        word then, and its charges are labels of the graph. Otherwise a molecule with charges is not read.
        """
        if not 0 < len(text) <= layouts.MAX_SMILES or not text.isascii():
            return None
        code = ctypes.create_string_buffer(2 * layouts.MAX_CODE)
        length = self._code(text.encode(), len(text), by_rdkit, code, self._table)
        return code.raw[:length] if length > 0 else None


_HAS_GIL: Final[bool] = getattr(sys, "_is_gil_enabled", lambda: True)()
"""The lock `SmilesTable` relies on; an interpreter without it does everything by RDKit."""

_table: SmilesTable | None = None
_opening = threading.Lock()


def _start_anew() -> None:
    """In a forked child: a thread that is not here may have been at work on the table."""
    global _table, _opening
    _table, _opening = None, threading.Lock()


os.register_at_fork(after_in_child=_start_anew)


def simple_table() -> SmilesTable | None:
    """The process's table; None as long as the kernel's machine code is missing."""
    global _table
    if _HAS_GIL and _table is None and (functions := native.find(UNIT)) is not None:
        with _opening:
            _table = _table or SmilesTable(functions)
    return _table


def same_clean_molecule(a: str, b: str) -> bool:
    """Whether two texts certainly are one clean molecule, as `relfast.chem.clean` has it with tautomers kept
    apart. False says nothing."""
    table = simple_table()
    if table is None:
        return False
    match = table.match([a], [b], strict=True)
    return bool(match.decided) and match.true_positives == 1


# What ``strict`` finds wrong with a SMILES before it is read as a molecule.

MAX_CHARS: Final = 1_000
"""Longest SMILES that strict reads; the longest published gold has 90 characters."""

# letters, digits, bonds, branches, rings, charges and chirality; no '~', '*', '$', '.', ':', '?'
_ALPHABET: Final = re.compile(r"[A-Za-z0-9@+\-\[\]()=#/\\%]+")
_ISOTOPE: Final = re.compile(r"\[[0-9]")
_MAP: Final = re.compile(r"\[[^\]]*:")


def flaw_of_text(smiles: str) -> str | None:
    """``empty``, ``too_long``, ``several_fragments`` or ``not_plain_smiles``; None where its letters do."""
    if not smiles:
        return "empty"
    if len(smiles) > MAX_CHARS:
        return "too_long"
    if "." in smiles:
        return "several_fragments"
    # an aromatic bond may be written out as ':'; an atom map is a ':' with a number inside brackets
    plain = smiles.replace(":", "") if ":" in smiles else smiles
    if not _ALPHABET.fullmatch(plain) or (plain is not smiles and _MAP.search(smiles)):
        return "not_plain_smiles"
    return None


def has_isotope(smiles: str) -> bool:
    """Whether its letters say that an atom is an isotope, be it of mass 0."""
    return "[" in smiles and _ISOTOPE.search(smiles) is not None


def is_clean_text(smiles: str) -> bool:
    """Whether a text is a clean molecule if a kernel reads it as one, which reads neither wildcards nor atoms
    of hydrogen."""
    return flaw_of_text(smiles) is None and not has_isotope(smiles)
