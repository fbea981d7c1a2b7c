"""Compare lists of SMILES with a kernel, without RDKit.

The kernel parses a SMILES into a graph with a canonical code, with aromatic bonds as RDKit perceives them.
Two molecules have equal codes exactly if RDKit finds each to be a substructure of the other. The kernel
reads 99 in 100 molecules that models write. `relfast_kernels.smiles.parser` lists what it does not read;
RDKit reads those, and `SmilesTable.learn` tells the kernel the result. The kernel is used only if it is
compiled (`relfast_kernels.compiled.native`); otherwise RDKit does everything, with the same results.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.entry import Byte, Int, Int32, Rows, Spare, rows_of
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles import layouts

from relfast.support.system import lazy_memory

UNIT: Final = "smiles"

CACHED_TEXTS: Final = 1 << 18
CACHED_CODES: Final = 1 << 17
CACHED_BYTES: Final = 1 << 23
"""Capacity of a table: a quarter of a million SMILES of 32 characters and half as many molecules, at most
32 MB (pages that are never written take no memory)."""


def joined(texts: Sequence[str]) -> bytes | None:
    """The texts as bytes, each followed by a newline; None if one is not a text or contains a newline."""
    if not texts:
        return b""
    try:
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
    except TypeError:
        return None
    return data + b"\n" if data.count(b"\n") == len(texts) - 1 else None


class Match(NamedTuple):
    """The result of comparing predictions with gold, in the order of the kernel's `Result`.

    Attributes
    ----------
    decided
        Whether the kernel could decide; if not, only RDKit can, and the other numbers mean nothing.
    true_positives
        Number of predictions matched with a gold molecule; strict: number of gold molecules that were named.
    vote
        A 32-bit hash of the predictions, independent of their order: of the place of each one's gold
        molecule, or of its fingerprint if it has none; strict: of the distinct molecules that were named.
    n_wanted, n_neutral
        Strict: the number of distinct gold molecules; and of predictions that do not count, which are repeats
        and isomers that are neither gold nor given.
    flaw
        Strict: code of what is wrong with the first prediction that is not a clean molecule, see `FLAWS`.
    unknown
        Texts that only RDKit can read.
    """

    decided: int
    true_positives: int
    vote: int
    n_wanted: int = 0
    n_neutral: int = 0
    flaw: int = 0
    unknown: tuple[object, ...] = ()


_N_NUMBERS: Final = len(layouts.Result.declared)
assert Match._fields[:_N_NUMBERS] == tuple(layouts.Result.declared)

FLAWS: Final = {
    0: None,
    layouts.INVALID: "invalid_smiles",
    layouts.SEVERAL_FRAGMENTS: "several_fragments",
    layouts.NOT_PLAIN: "not_plain_smiles",
    layouts.ISOTOPE: "isotope",
    layouts.TOO_LONG: "too_long",
    layouts.EMPTY: "empty",
}
"""The kernel's code of a flaw → its name in rows."""


def _lazy(kind: Any, n: int) -> Any:
    """`rows_of` whose pages are allocated when they are written."""
    return rows_of(kind, n, lazy_memory(ctypes.sizeof(kind) * n))


class _Room:
    """Lists that the kernel compares, with room for what it finds; for one call at a time."""

    __slots__ = ("classes", "lists", "numbers")

    def __init__(self, table: layouts.MoleculeTable) -> None:
        self.lists = layouts.Lists(table=table, data=b"", sizes=rows_of(layouts.Sizes, 0))
        self.grow(64, 512)

    def grow(self, n: int, n_texts: int) -> None:
        """Have room for n records with so many texts."""
        if n > self.lists.n_results or n_texts > self.lists.n_texts:
            n, n_texts = 2 * n, 2 * n_texts
            results = rows_of(layouts.Result, n)
            # the numbers of all results, which are read at once
            self.numbers: Any = rows_of(Int, _N_NUMBERS * n, results)
            self.classes: Any = rows_of(Int, n_texts)
            self.lists.put(results=results, classes=self.classes, links=rows_of(Int, n_texts))


class SmilesTable:
    """The kernel's cache of SMILES and their molecules, and the calls that use it.

    Thread-safe without a lock: the kernel holds the GIL during a call and writes its results into memory
    of that call. (With a lock, 64 callers would queue up, each waiting for the GIL once more.)
    """

    def __init__(self, functions: Mapping[str, Callable[..., int]]) -> None:
        self._match, self._learn, self._code = (functions[name] for name in ("match", "learn", "code"))
        self._table = layouts.MoleculeTable(
            text_slots=_lazy(Int32, 2 * CACHED_TEXTS),
            texts_index=_lazy(layouts.KnownText, CACHED_TEXTS),
            texts=lazy_memory(CACHED_BYTES),
            code_slots=_lazy(Int32, 2 * CACHED_CODES),
            codes_index=_lazy(layouts.KnownCode, CACHED_CODES),
            codes=lazy_memory(CACHED_BYTES),
            graph=rows_of(Int, layouts.GRAPH_SIZE),
            work=rows_of(Int, layouts.WORK_SIZE),
        )
        self._rooms = Spare(lambda: _Room(self._table))
        self._codings = Spare[Any](
            lambda: layouts.Coding(text=b"", code=rows_of(Byte, 2 * layouts.MAX_CODE), table=self._table)
        )

    def match(
        self, gold: Sequence[Any], pred: Sequence[Any], given: Sequence[Any] = (), *, strict: bool = False
    ) -> Match:
        """Match predictions with gold; under ``strict`` also with the molecules that the question gave."""
        texts = [*gold, *pred, *given]
        found = self._run((gold, pred, given), strict=strict)
        if found is None:
            return Match(0, 0, 0, unknown=tuple(texts))
        result, classes = found
        unknown = tuple(text for text, kind in zip(texts, classes, strict=True) if kind == UNKNOWN)
        return Match._make((*result, unknown))

    def read(self, texts: Sequence[str]) -> list[bool]:
        """For each text, whether it certainly is a molecule; False means unknown."""
        found = self._run(((), texts, ()), strict=False)
        return [False] * len(texts) if found is None else [kind >= 0 for kind in found[1]]

    def _run(
        self, lists: tuple[Sequence[Any], ...], *, strict: bool
    ) -> tuple[tuple[int, ...], list[int]] | None:
        """The numbers of a `Result` for one record, and the classes of its texts; None if one of them is not
        a text or contains a newline."""
        parts = [joined(texts) for texts in lists]
        if None in parts:
            return None
        sizes = rows_of(layouts.Sizes, 1)
        n_texts = [*map(len, lists)]
        sizes[0].gold, sizes[0].predicted, sizes[0].given = n_texts
        data = b"".join(parts)  # type: ignore[arg-type]
        classes: list[int] = []
        (result,) = self.hold(data, sizes, 1, sum(n_texts), strict=strict, classes=classes)
        return result, classes

    def hold(
        self,
        texts: bytes | ctypes.Array[ctypes.c_char],
        sizes: Rows[layouts.Sizes],
        n: int,
        n_texts: int,
        *,
        strict: bool,
        classes: list[int] | None = None,
    ) -> list[tuple[int, ...]]:
        """Call the kernel for n records whose ``n_texts`` texts are already in memory (`Lists` of
        `relfast_kernels.smiles.layouts`).

        Returns the numbers of a `Result` for each. The classes of all texts are added to ``classes``.
        """
        room = self._rooms.take()
        room.grow(n, n_texts)
        lists: Any = room.lists
        if lists.data is not texts or lists.sizes is not sizes:
            lists.put(data=texts, sizes=sizes)
        lists.strict, lists.n_records = strict, n
        self._match(lists)
        numbers = iter(room.numbers[: _N_NUMBERS * n])
        if classes is not None:
            classes += room.classes[:n_texts]
        found = [*zip(*[numbers] * _N_NUMBERS, strict=True)]
        self._rooms.append(room)
        return found

    def learn(self, text: str, code: bytes, fingerprint: int) -> None:
        """Store RDKit's result for a text: its molecule's code (empty: not a molecule) and fingerprint."""
        data = text.encode("utf-8", "surrogatepass")
        self._learn(layouts.Lesson(text=data, code=code, fingerprint=fingerprint, table=self._table))

    def code_of(self, text: str, *, by_rdkit: bool) -> bytes | None:
        """The canonical code of a molecule; None if the kernel cannot read it.

        ``by_rdkit``: the text is RDKit's canonical SMILES without stereo. Then its aromatic bonds are
        taken as written, and charges become labels of the graph; otherwise it is read as a model's text.
        """
        if not 0 < len(text) <= layouts.MAX_SMILES or not text.isascii():
            return None
        coding = self._codings.take()
        coding.text, coding.by_rdkit = text.encode(), by_rdkit
        length = self._code(coding)
        code = ctypes.string_at(coding.code, length) if length > 0 else None
        self._codings.append(coding)
        return code


_HAS_GIL: Final[bool] = getattr(sys, "_is_gil_enabled", lambda: True)()
"""`SmilesTable` relies on the GIL; in an interpreter without it RDKit does everything."""

_table: SmilesTable | None = None
_opening = threading.Lock()


def _start_anew() -> None:
    """Drop the table in a forked child: a thread of the parent may have been writing to it."""
    global _table, _opening
    _table, _opening = None, threading.Lock()


os.register_at_fork(after_in_child=_start_anew)


def simple_table() -> SmilesTable | None:
    """The table of this process; None as long as the kernel is not compiled."""
    global _table
    if _HAS_GIL and _table is None and (functions := native.find(UNIT)) is not None:
        with _opening:
            _table = _table or SmilesTable(functions)
    return _table


def same_clean_molecule(a: str, b: str) -> bool:
    """Whether two texts certainly are the same clean molecule in the sense of `relfast.chem.clean`, with
    tautomers apart. False means unknown."""
    table = simple_table()
    if table is None:
        return False
    match = table.match([a], [b], strict=True)
    return bool(match.decided) and match.true_positives == 1


# Flaws that ``strict`` finds in a SMILES before parsing it.

# letters, digits, bonds, branches, rings, charges and chirality; no '~', '*', '$', '.', ':', '?'
_ALPHABET: Final = re.compile(r"[A-Za-z0-9@+\-\[\]()=#/\\%]+")
_ISOTOPE: Final = re.compile(r"\[[0-9]")
_MAP: Final = re.compile(r"\[[^\]]*:")


def flaw_of_text(smiles: str) -> str | None:
    """The flaw of a SMILES by its characters alone: ``empty``, ``too_long``, ``several_fragments``,
    ``not_plain_smiles``, or None."""
    if not smiles:
        return "empty"
    if len(smiles) > layouts.MAX_SMILES:
        return "too_long"
    if "." in smiles:
        return "several_fragments"
    # an aromatic bond may be written out as ':'; an atom map is a ':' with a number inside brackets
    plain = smiles.replace(":", "") if ":" in smiles else smiles
    if not _ALPHABET.fullmatch(plain) or (plain is not smiles and _MAP.search(smiles)):
        return "not_plain_smiles"
    return None


def has_isotope(smiles: str) -> bool:
    """Whether a SMILES gives an atom an isotope number, even 0: ``[13C]``."""
    return "[" in smiles and _ISOTOPE.search(smiles) is not None


def is_clean_text(smiles: str) -> bool:
    """Whether a text that a kernel can read as a molecule is a clean one. (Kernels read neither wildcards nor
    explicit hydrogen atoms.)"""
    return flaw_of_text(smiles) is None and not has_isotope(smiles)
