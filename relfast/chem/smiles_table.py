"""Lists of SMILES held against each other by a kernel, without RDKit.

A kernel reads a SMILES into a graph with a canonical code, aromatic bonds as RDKit perceives them, and
equal codes are the same molecule exactly where RDKit, asked whether each is a substructure of the
other, says so. What the kernel cannot read it leaves to RDKit, and `SmilesTable.learn` then tells it
the answer.
"""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from relfast_kernels.layouts import (
    CODE_COLUMNS,
    COMPARE_SIZE,
    FINGERPRINT_MASK,
    GRAPH_SIZE,
    INVALID,
    MATCH_SIZE,
    MAX_CODE,
    MAX_SMILES,
    N_COUNTERS,
    PLACE_FACTOR,
    RESULT_COLUMNS,
    SETTLED_BIT,
    TEXT_COLUMNS,
    UNKNOWN,
    WORK_SIZE,
)

from relfast.chem.smiles_text import CLEAN_LINES, certainly_clean

CACHED_TEXTS: Final = 1 << 18
CACHED_CODES: Final = 1 << 17
CACHED_BYTES: Final = 1 << 23
"""A table's size: quarter of a million spellings of 32 characters and half as many molecules, in 32 MB at
most (pages never written take no memory)."""

MAX_CANONICAL: Final = 1_000
"""Longest text by RDKit that is worth a try: graphs of 60 atoms take 200 characters at most."""


def vote_of_place(place: int) -> int:
    """What a prediction that found the gold at a place adds to a vote."""
    return (place + 1) * PLACE_FACTOR & FINGERPRINT_MASK


class Match(NamedTuple):
    """Predictions held against gold.

    Attributes
    ----------
    true_positives
        Predictions that found a gold molecule of their own.
    vote
        32 bits for the predictions, whatever their order: where each found its gold, or its fingerprint.
    unknown
        Texts that only RDKit can judge; nothing else is decided while there are any.
    """

    true_positives: int
    vote: int
    unknown: tuple[object, ...] = ()


class Molecules(NamedTuple):
    """Gold and predictions of a record as classes of equal molecules, where SMILES are certain to tell apart
    what classes do.

    Attributes
    ----------
    gold, predictions
        A number for each text; predictions that are no molecules are `INVALID`.
    fingerprints
        32 bits for each prediction.
    """

    gold: list[int]
    predictions: list[int]
    fingerprints: list[int]


class Comparison(NamedTuple):
    """How two simple molecules compare; ``fingerprint`` is the second one's, ``settled`` says whether both
    graphs decide where the hydrogens are."""

    second_in_first: bool
    first_in_second: bool
    n_first: int
    n_second: int
    fingerprint: int
    settled: bool


Lists = tuple[Sequence[object], Sequence[object]]
"""Gold and predictions of a record."""


def _zeros(n_bytes: int, keep: list[object]) -> int:
    """The address of zeros that take no memory until they are written over (ctypes' own would be written at
    once); they are there as long as ``keep``."""
    # private: a process that is forked has a table of its own
    memory = mmap.mmap(-1, n_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held = (ctypes.c_char * n_bytes).from_buffer(memory)
    keep.append(held)
    return ctypes.addressof(held)


class SmilesTable:
    """Texts and molecules seen so far.

    Safe to use from several threads without a lock: the kernel holds the interpreter's own for the whole of
    a call, and what it tells lands in memory of that call. (Of a lock here 64 callers would make a queue in
    which each of them waits for the interpreter anew.)
    """

    def __init__(self, functions: Mapping[str, Callable[..., int]]) -> None:
        self._match, self._learn = functions["match"], functions["learn"]
        self._code, self._fingerprint = functions["code"], functions["fingerprint"]
        self._compare = functions["compare"]
        self._memory: list[object] = []
        zeros = partial(_zeros, keep=self._memory)
        self._graph, self._work = zeros(8 * GRAPH_SIZE), zeros(8 * WORK_SIZE)
        self._second, self._search = zeros(8 * GRAPH_SIZE), zeros(8 * MATCH_SIZE)
        self._table = (
            zeros(4 * 2 * CACHED_TEXTS),
            zeros(8 * TEXT_COLUMNS * CACHED_TEXTS),
            zeros(CACHED_BYTES),
            CACHED_TEXTS,
            CACHED_BYTES,
            zeros(4 * 2 * CACHED_CODES),
            zeros(8 * CODE_COLUMNS * CACHED_CODES),
            zeros(CACHED_BYTES),
            CACHED_CODES,
            CACHED_BYTES,
            zeros(8 * N_COUNTERS),
        )

    def match(self, records: Sequence[Lists]) -> list[Match]:
        """Hold predictions against gold, for many records (gold, predictions)."""
        texts = _flat(records)
        data = _joined(texts)
        if data is None:
            if len(records) == 1:
                return [Match(0, 0, tuple(texts))]
            return [self.match([record])[0] for record in records]
        told, results = self._look_up(data, len(texts), records)
        matches = []
        start = 0
        for at, (gold, predictions) in enumerate(records):
            tp, vote, decided = results[RESULT_COLUMNS * at : RESULT_COLUMNS * (at + 1)]
            end = start + len(gold) + len(predictions)
            if decided:
                matches.append(Match(tp, vote))
            else:
                found = told[start:end]
                unknown = [texts[at] for at, found in enumerate(found, start) if found == UNKNOWN]
                matches.append(Match(0, 0, tuple(unknown)))
            start = end
        return matches

    def molecules(self, records: Sequence[Lists]) -> list[Molecules | None]:
        """Records (gold, predictions) as classes; None where some text is unknown or not certainly clean,
        gold is no molecule, or a class may be several (tautomers of aromatic rings)."""
        texts = _flat(records)
        data = _joined(texts)
        if data is None:
            if len(records) == 1:
                return [None]
            return [self.molecules([record])[0] for record in records]
        told, _ = self._look_up(data, len(texts), records)
        all_clean = CLEAN_LINES.fullmatch(data) is not None
        found: list[Molecules | None] = []
        start = 0
        for gold, predictions in records:
            middle = start + len(gold)
            end = middle + len(predictions)
            facts = told[len(texts) + start : len(texts) + end]
            clean = all_clean or all(map(certainly_clean, texts[start:end]))
            found.append(_settled(told[start:middle], told[middle:end], facts) if clean else None)
            start = end
        return found

    def _look_up(self, data: bytes, n_texts: int, records: Sequence[Lists]) -> tuple[Any, Any]:
        """The classes of all texts and, behind them, what is known of each; and `RESULT_COLUMNS` a record."""
        sizes = array("q")
        for gold, predictions in records:
            sizes.append(len(gold))
            sizes.append(len(predictions))
        told = (ctypes.c_int64 * (2 * n_texts + 1))()
        results = (ctypes.c_int64 * (RESULT_COLUMNS * len(records)))()
        self._match(
            data,
            len(data),
            sizes.buffer_info()[0],
            len(records),
            at := ctypes.addressof(told),
            at + 8 * n_texts,
            n_texts,
            ctypes.addressof(results),
            *self._table,
            self._graph,
            self._work,
        )
        return told, results

    def learn(self, text: str, code: bytes, fingerprint: int) -> None:
        """Remember what RDKit said of a text: the code of its molecule, empty for no molecule."""
        data = text.encode("utf-8", "surrogatepass")
        self._learn(data, len(data), code, len(code), fingerprint, *self._table)

    def code_of(self, text: str, *, by_rdkit: bool) -> bytes | None:
        """The canonical code of a molecule, None for one that the kernel cannot read.

        ``by_rdkit``: the text is a canonical SMILES without stereo; its aromatic bonds are taken at their
        word then, and its charges are labels of the graph. Otherwise a molecule with charges is not read.
        """
        if not 0 < len(text) <= MAX_SMILES or not text.isascii():
            return None
        code = ctypes.create_string_buffer(2 * MAX_CODE)
        length = self._code(text.encode(), len(text), by_rdkit, code, self._graph, self._work)
        return code.raw[:length] if length > 0 else None

    def fingerprint_of(self, text: str) -> int | None:
        """The fingerprint of the graph that a SMILES by RDKit describes, None if it cannot be read."""
        if not 0 < len(text) <= MAX_CANONICAL or not text.isascii():
            return None
        fingerprint = self._fingerprint(text.encode(), len(text), self._graph)
        return fingerprint if fingerprint >= 0 else None

    def compare(self, first: str, second: str) -> Comparison | Literal["invalid"] | None:
        """Hold two molecules against each other; ``invalid`` where one certainly is none, None where only
        RDKit can say."""
        if not (0 < len(first) <= MAX_SMILES and 0 < len(second) <= MAX_SMILES):
            return None
        data = first + second
        if not data.isascii():
            return None
        result = (ctypes.c_int64 * COMPARE_SIZE)()
        status = self._compare(
            data.encode(), len(data), len(first), self._graph, self._second, self._search, result
        )
        if status:
            return "invalid" if status == INVALID else None
        in_first, in_second, n_first, n_second, fingerprint, settled = result
        return Comparison(bool(in_first), bool(in_second), n_first, n_second, fingerprint, bool(settled))


def _settled(gold: list[int], predictions: list[int], facts: list[int]) -> Molecules | None:
    """Classes of gold and predictions, and ``facts`` of each, if the classes tell molecules apart."""
    told = facts[len(gold) :]
    # what is no molecule has no facts
    if UNKNOWN in predictions or min(facts[: len(gold)], default=0) < SETTLED_BIT:
        return None
    if min(told, default=SETTLED_BIT) < SETTLED_BIT and any(
        fact < SETTLED_BIT and kind != INVALID for kind, fact in zip(predictions, told, strict=True)
    ):
        return None
    return Molecules(gold, predictions, [fact & FINGERPRINT_MASK for fact in told])


def _flat(records: Sequence[Lists]) -> list[object]:
    texts: list[object] = []
    for gold, predictions in records:
        texts += gold
        texts += predictions
    return texts


def _joined(texts: Sequence[Any]) -> bytes | None:
    """The texts as bytes, each ended by a newline; None if one is no text or cannot stand like that."""
    try:
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
    except TypeError:
        return None
    if not texts:
        return data
    return data + b"\n" if data.count(b"\n") == len(texts) - 1 else None
