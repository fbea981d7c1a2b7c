"""Simple molecules without the toolkit: what equal SMILES have in common, and lists of them compared.

Nearly every answer to REL-C3 is a small molecule without charges or aromatic rings. A kernel reads it into a
graph with a canonical code, and equal codes are the same molecule exactly where the toolkit, asked whether
each is a substructure of the other, says so. What the kernel does not know it leaves to the toolkit, and
`SmilesTable.learn` then tells it the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from relfast_kernels import smiles_table as kernels
from relfast_kernels.graph_code import MAX_CODE, new_work
from relfast_kernels.smiles import INVALID, UNKNOWN, new_graph

CACHED_TEXTS: Final = 1 << 18
CACHED_CODES: Final = 1 << 17
CACHED_BYTES: Final = 1 << 23
"""A table's size: quarter of a million spellings of 32 characters and half as many molecules, in 30 MB."""

_FULL: Final = 0.75
"""How full a table may be before it is emptied (between two batches, so that classes stay comparable)."""


class Match(NamedTuple):
    """Predictions held against gold.

    Attributes
    ----------
    true_positives
        Predictions that found a gold molecule of their own.
    vote
        A number for the set of molecules predicted.
    unknown
        Texts that only the toolkit can judge; nothing else is decided while there are any.
    """

    true_positives: int
    vote: int
    unknown: tuple[object, ...]


class SmilesTable:
    """Texts and molecules seen so far. Safe to use from several threads."""

    def __init__(self) -> None:
        self._arrays = kernels.new_table(CACHED_TEXTS, CACHED_BYTES, CACHED_CODES, CACHED_BYTES)
        self._lock = threading.Lock()

    def match(self, records: Sequence[tuple[Sequence[object], Sequence[object]]]) -> list[Match]:
        """Hold predictions against gold, for many records (gold, predictions)."""
        texts: list[object] = []
        sizes: list[int] = []
        for gold, predictions in records:
            texts += gold
            texts += predictions
            sizes.append(len(gold))
            sizes.append(len(predictions))
        data = _joined(texts)
        if data is None:
            if len(records) == 1:
                return [Match(0, 0, tuple(texts))]
            return [self.match([record])[0] for record in records]
        classes = np.empty(len(texts), np.int64)
        results = np.empty(len(records) * kernels.RESULT_COLUMNS, np.int64)
        with self._lock:
            self._make_room()
            kernels.match_lists(
                np.frombuffer(data, np.uint8), np.array(sizes, np.int64), classes, results, *self._arrays
            )
        numbers = results.tolist()
        matches = []
        start = 0
        for at in range(len(records)):
            tp, vote, decided = numbers[3 * at : 3 * at + 3]
            end = start + sizes[2 * at] + sizes[2 * at + 1]
            unknown: tuple[object, ...] = ()
            if not decided:
                unknown = tuple(texts[start + place] for place in np.flatnonzero(classes[start:end] == UNKNOWN))
            matches.append(Match(tp, vote, unknown))
            start = end
        return matches

    def learn(self, text: str, code: bytes | None) -> None:
        """Remember what the toolkit said of a text: the code of its molecule, or None for no molecule."""
        with self._lock:
            self._make_room()
            kernels.learn(
                np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8),
                np.frombuffer(code or b"", np.uint8),
                *self._arrays,
            )

    def _make_room(self) -> None:
        used = self._arrays.used
        if (
            used[kernels.N_TEXTS] > _FULL * CACHED_TEXTS
            or used[kernels.N_CODES] > _FULL * CACHED_CODES
            or max(used[kernels.TEXT_BYTES], used[kernels.CODE_BYTES]) > _FULL * CACHED_BYTES
        ):
            kernels.clear(self._arrays)


def _joined(texts: Sequence[object]) -> bytes | None:
    """The texts as bytes, each ended by a newline; None if one is no text or cannot stand like that."""
    try:
        data = "\n".join(texts).encode()  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return None
    if not texts:
        return data
    return data + b"\n" if data.count(b"\n") == len(texts) - 1 else None


_GRAPH: Final = threading.local()


def _code(text: str, by_toolkit: bool) -> bytes | None | bool:
    if not text or len(text) > kernels.MAX_TEXT or not text.isascii():
        return False
    try:
        graph, work, code = _GRAPH.space
    except AttributeError:
        graph, work, code = _GRAPH.space = new_graph(), new_work(), np.empty(2 * MAX_CODE, np.uint8)
    length = kernels.code_of(np.frombuffer(text.encode(), np.uint8), by_toolkit, code, graph, work)
    if length > 0:
        return code[:length].tobytes()
    return None if length == INVALID else False


def code_of(text: str) -> bytes | None:
    """The code of a simple molecule, None for anything else."""
    return _code(text, False) or None


def code_of_canonical(text: str) -> bytes | None:
    """The code of the graph that a canonical SMILES without stereo describes, aromatic bonds and charges
    among its labels; None for wildcards, unusual bonds and graphs too symmetrical or too large."""
    return _code(text, True) or None


def hash_of(code: bytes) -> int:
    """What a molecule adds to the vote of a set."""
    return int(kernels.hash_code(np.frombuffer(code, np.uint8)))


@lru_cache(maxsize=1)
def simple_table() -> SmilesTable:
    """The process's table of REL-C3."""
    return SmilesTable()
