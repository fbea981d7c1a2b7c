"""Lists of SMILES held against each other by a kernel, without RDKit.

A kernel reads a SMILES into a graph with a canonical code, aromatic bonds as RDKit perceives them, and
equal codes are the same molecule exactly where RDKit, asked whether each is a substructure of the
other, says so. What the kernel cannot read it leaves to RDKit, and `SmilesTable.learn` then tells it
the answer.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.layouts import (
    CODE_COLUMNS,
    COMPARE_SIZE,
    DECIDED,
    EMPTY,
    FINGERPRINT_MASK,
    GRAPH_SIZE,
    INVALID,
    ISOTOPE,
    MATCH_SIZE,
    MAX_CODE,
    MAX_SMILES,
    N_COUNTERS,
    NOT_PLAIN,
    PLACE_FACTOR,
    RESULT_COLUMNS,
    SEVERAL_FRAGMENTS,
    SIZE_COLUMNS,
    SIZE_GIVEN,
    SIZE_GOLD,
    SIZE_PREDICTED,
    TEXT_COLUMNS,
    TOO_LONG,
    TRUE_POSITIVES,
    VOTE,
    WORK_SIZE,
)

from relfast.chem.smiles_golds import KEPT_NUMBERS, KeptGolds, joined, zeros_at

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


class Verdict(NamedTuple):
    """Predictions held against gold as strict has it.

    Attributes
    ----------
    n_right
        Gold molecules that were named.
    n_wanted
        Different gold molecules.
    n_neutral
        Different predictions with the formula of all gold that are neither gold nor given.
    flaw
        What is wrong with the first prediction that is no molecule of its own.
    vote
        32 bits for the different molecules that were named, whatever their order.
    """

    n_right: int
    n_wanted: int
    n_neutral: int
    flaw: str | None
    vote: int


_FLAWS: Final = {
    0: None,
    INVALID: "invalid_smiles",
    SEVERAL_FRAGMENTS: "several_fragments",
    NOT_PLAIN: "not_plain_smiles",
    ISOTOPE: "isotope",
    TOO_LONG: "too_long",
    EMPTY: "empty",
}


class Comparison(NamedTuple):
    """How two simple molecules compare; ``fingerprint`` is the second one's, ``settled`` says whether both
    graphs decide where the hydrogens are."""

    second_in_first: bool
    first_in_second: bool
    n_first: int
    n_second: int
    fingerprint: int
    settled: bool


_TEXT_SIZES: Final = (SIZE_GOLD, SIZE_PREDICTED, SIZE_GIVEN)

Lists = tuple[Sequence[Any], Sequence[Any], Sequence[Any]]
"""Gold, predictions and given molecules of a record."""

_TEXTS_A_CALL: Final = 400
"""Texts that are looked at before the interpreter's lock may change hands: 1 ms."""


class SmilesTable:
    """Texts and molecules seen so far.

    Safe to use from several threads without a lock: the kernel holds the interpreter's own for the whole of
    a call, and what it tells lands in memory of that call. (Of a lock here 64 callers would make a queue in
    which each of them waits for the interpreter anew.)
    """

    flaws: Final = _FLAWS
    """What is wrong with a text, by what the kernel says."""

    def __init__(self, functions: Mapping[str, Callable[..., int]]) -> None:
        self._match, self._learn = functions["match"], functions["learn"]
        self._code, self._fingerprint = functions["code"], functions["fingerprint"]
        self._compare = functions["compare"]
        self._memory: list[object] = []
        zeros = partial(zeros_at, keep=self._memory)
        self._graph, self._work = zeros(8 * GRAPH_SIZE), zeros(8 * WORK_SIZE)
        self._second, self._search = zeros(8 * GRAPH_SIZE), zeros(8 * MATCH_SIZE)
        n_texts, n_codes, n_bytes = map(ctypes.c_int64, (CACHED_TEXTS, CACHED_CODES, CACHED_BYTES))
        self._table = (
            zeros(4 * 2 * CACHED_TEXTS),
            zeros(8 * TEXT_COLUMNS * CACHED_TEXTS),
            zeros(CACHED_BYTES),
            n_texts,
            n_bytes,
            zeros(4 * 2 * CACHED_CODES),
            zeros(8 * CODE_COLUMNS * CACHED_CODES),
            zeros(CACHED_BYTES),
            n_codes,
            n_bytes,
            zeros(8 * N_COUNTERS),
        )
        self._call_space = (ctypes.c_int64(KEPT_NUMBERS), *self._table, self._graph, self._work)
        self._golds = KeptGolds()

    def match(self, records: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> list[Match]:
        """Hold predictions against gold, for many records (gold, predictions)."""
        matches = []
        for record, told, at, texts_at in self._look_up([(*record, ()) for record in records], False):
            if told is None:
                matches.append(Match(0, 0, (*record[0], *record[1])))
            elif told[at + DECIDED]:
                matches.append(Match(told[at + TRUE_POSITIVES], told[at + VOTE]))
            else:
                texts = (*record[0], *record[1])
                classes = told[texts_at : texts_at + len(texts)]
                unknown = [text for text, kind in zip(texts, classes, strict=True) if kind == UNKNOWN]
                matches.append(Match(0, 0, tuple(unknown)))
        return matches

    def judge(self, records: Sequence[Lists]) -> list[Verdict | None]:
        """Hold predictions against gold as strict has it, for many records (gold, predictions, given); None
        where a text is unknown or a gold molecule unclean."""
        verdicts: list[Verdict | None] = []
        for _, told, at, _ in self._look_up(records, True):
            if told is None or not told[at + DECIDED]:
                verdicts.append(None)
                continue
            _, right, vote, wanted, neutral, flaw = told[at : at + RESULT_COLUMNS]
            verdicts.append(Verdict(right, wanted, neutral, self.flaws[flaw], vote))
        return verdicts

    def read(self, texts: Sequence[str]) -> list[bool]:
        """For each text whether it certainly is a molecule; False says nothing."""
        told: list[bool] = []
        for start in range(0, len(texts), _TEXTS_A_CALL):
            part = texts[start : start + _TEXTS_A_CALL]
            ((_, kinds, _, at),) = self._look_up([((), part, ())], False)
            told += (
                [False] * len(part) if kinds is None else [kind >= 0 for kind in kinds[at : at + len(part)]]
            )
        return told

    def _look_up(
        self, records: Sequence[Lists], strict: bool
    ) -> Iterator[tuple[Lists, array[int] | None, int, int]]:
        """For each record what the kernel told of several, and where in that its `RESULT_COLUMNS` numbers and
        the classes of its texts are; None where one of its texts is none, or none that can be looked at."""
        first = 0
        while first < len(records):
            if self._golds.is_full:
                # who is at work with the old ones goes on with them
                self._golds = KeptGolds()
            golds = self._golds
            sizes = array("q")
            parts: list[bytes] = []
            read: list[int] = []
            n_texts = 0
            last = first
            while last < len(records) and n_texts < _TEXTS_A_CALL:
                gold, predictions, given = records[last]
                kept = golds.keep(gold, given)
                said = None if kept is None else joined(predictions)
                if kept is None or said is None:
                    read.append(-1)
                else:
                    parts += (kept.gold, said, kept.given)
                    sizes.extend((len(gold), len(predictions), len(given), kept.place))
                    read.append(n_texts)
                    n_texts += len(gold) + len(predictions) + len(given)
                last += 1
            data = b"".join(parts)
            n = len(sizes) // SIZE_COLUMNS
            told = array("q", bytes(8 * (2 * n_texts + RESULT_COLUMNS * n + 1)))
            at = told.buffer_info()[0]
            self._match(
                data, len(data), sizes.buffer_info()[0], n, strict, at, at + 8 * n_texts, n_texts,
                at + 16 * n_texts, golds.address, *self._call_space,
            )  # fmt: skip
            result = 2 * n_texts
            for record, texts_at in zip(records[first:last], read, strict=True):
                if texts_at < 0:
                    yield record, None, 0, 0
                else:
                    yield record, told, result, texts_at
                    result += RESULT_COLUMNS
            first = last

    def hold(
        self, texts: ctypes.Array[ctypes.c_char], n_bytes: int, sizes: ctypes.Array[ctypes.c_int64], n: int,
        kept: ctypes.c_void_p, *, strict: bool,
    ) -> list[int]:  # fmt: skip
        """`RESULT_COLUMNS` numbers for each of ``n`` records whose texts lie ready (`match_lists`); ``kept``
        is the address of a `KeptGolds`."""
        n_texts = sum(sum(sizes[column : SIZE_COLUMNS * n : SIZE_COLUMNS]) for column in _TEXT_SIZES)
        places = ctypes.addressof(texts), ctypes.addressof(sizes)
        return self.hold_at(*places, n_bytes, n, n_texts, kept, strict=strict)

    def hold_at(
        self, texts: int, sizes: int, n_bytes: int, n: int, n_texts: int, kept: ctypes.c_void_p, *,
        strict: bool,
    ) -> list[int]:  # fmt: skip
        """`hold` of ``n_texts`` texts and their sizes at two addresses."""
        told = array("q", bytes(8 * (2 * n_texts + RESULT_COLUMNS * n + 1)))
        at = told.buffer_info()[0]
        self._match(
            texts, n_bytes, sizes, n, strict, at, at + 8 * n_texts, n_texts, at + 16 * n_texts, kept,
            *self._call_space,
        )  # fmt: skip
        return told[2 * n_texts : 2 * n_texts + RESULT_COLUMNS * n].tolist()

    def bare_match(self, *arguments: Any) -> Callable[[], int]:
        """The kernel's function with arguments that are ready, ctypes objects that a caller changes between
        calls (`relfast.chem.one_list`); it returns not 0 where it failed."""
        return partial(self._match.__wrapped__, *arguments, *self._call_space)  # type: ignore[attr-defined]

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
