"""REL-C3 by the block: kernels read the tags of all responses and hold them against their golds."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from relfast_kernels.layouts import (
    DECIDED,
    FLAW,
    N_NEUTRAL,
    N_WANTED,
    RESULT_COLUMNS,
    TRUE_POSITIVES,
    VOTE,
)
from relfast_kernels.tags.columns import (
    GOLD_COLUMNS,
    GOLD_END,
    GOLD_GIVEN_END,
    GOLD_KEPT,
    GOLD_N,
    GOLD_N_GIVEN,
    GOLD_START,
)

from relfast.records import Outcome, Record
from relfast.tasks.block_rows import Block, OutcomeJudge, Setting
from relfast.tasks.rel_c.block_tags import Golds, TagReader, reason_of
from relfast.tasks.rel_c.missing_isomers import given_of, gold_of, published_outcome, strict_outcome
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.smiles_table import SmilesTable

GOLDS: Final = 8_192
GOLD_BYTES: Final = 1 << 24
"""Golds that are kept, and bytes of their texts, most of which are never touched."""


def open_judge(setting: Setting) -> IsomersJudge | None:
    """The judge, or None where the options or missing machine code do not allow it."""
    from relfast.chem.simple import simple_table

    options: RelCOptions = setting.options
    if options.strict and options.tautomers != "apart":
        return None
    table, reader = simple_table(), TagReader.open(options, one=False, plain_only=False)
    return None if table is None or reader is None else IsomersJudge(table, reader, setting)


class IsomersJudge(OutcomeJudge):
    """Isomers that responses name, judged by the block."""

    def __init__(self, table: SmilesTable, reader: TagReader, setting: Setting) -> None:
        from relfast.chem.smiles_golds import lazy_memory

        self._table, self._reader = table, reader
        self._strict, self._details = setting.options.strict, setting.details
        self._columns = (ctypes.c_int64 * (GOLD_COLUMNS * GOLDS))()
        self._texts = lazy_memory(GOLD_BYTES)
        self._forget()

    def _forget(self) -> None:
        from relfast.chem.smiles_golds import KeptGolds

        self._kept = KeptGolds()
        self._n = self._used = 0
        self._golds: list[list[object]] = []

    def make_room(self, n: int) -> bool:
        if not self._kept.is_full and self._n + n <= GOLDS and 4 * self._used <= 3 * GOLD_BYTES:
            return False
        self._forget()
        return True

    def gold(self, record: Record) -> int:
        """The number of a gold; -1 for one that is none, or too long."""
        answer = record.answer
        gold = gold_of(answer)
        if not isinstance(gold, list) or (self._strict and not gold):
            return -1
        given = given_of(answer) if self._strict else []
        kept = self._kept.keep(gold, given)
        if kept is None or self._n == GOLDS or self._used + len(kept.gold) + len(kept.given) > GOLD_BYTES:
            return -1
        at, number = GOLD_COLUMNS * self._n, self._n
        start, end = self._used, self._used + len(kept.gold)
        view = memoryview(self._texts).cast("B")
        view[start : end + len(kept.given)] = kept.gold + kept.given
        self._columns[at + GOLD_START], self._columns[at + GOLD_END] = start, end
        self._columns[at + GOLD_GIVEN_END] = self._used = end + len(kept.given)
        self._columns[at + GOLD_N], self._columns[at + GOLD_N_GIVEN] = len(gold), len(given)
        self._columns[at + GOLD_KEPT] = kept.place
        self._n += 1
        self._golds.append(gold)
        return number

    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> list[Outcome | None]:
        """The outcomes of some records; None for those that are left."""
        known = Golds(self._columns, self._n, self._texts, GOLD_BYTES)
        read = self._reader.read(block, records, golds, known)
        n = sum(read.was_read)
        told = self._table.hold(
            read.texts, read.n_bytes, read.sizes, n, self._kept.address, strict=self._strict
        )
        outcomes: list[Outcome | None] = []
        at = 0
        for n_pred, how, was_read, gold in zip(read.n, read.how, read.was_read, golds, strict=True):
            outcome = None
            if n_pred >= 0 and told[at + DECIDED]:
                n_gold = self._columns[GOLD_COLUMNS * gold + GOLD_N]
                outcome = self._outcome(told, at, n_pred, n_gold, how)
            outcomes.append(outcome)
            at += RESULT_COLUMNS * was_read
        if self._details:
            said = str(memoryview(read.texts)[: read.n_bytes], "latin-1")
            spans = zip(read.start, read.end, strict=True)
            for outcome, gold, (start, end) in zip(outcomes, golds, spans, strict=True):
                if outcome is not None:
                    pred = said[start : end - 1].split("\n") if end > start else []
                    outcome.details = {"pred": pred, "gold": self._golds[gold]}
        return outcomes

    def _outcome(self, told: Sequence[int], at: int, n_pred: int, n_gold: int, how: int) -> Outcome:
        tp, vote = told[at + TRUE_POSITIVES], told[at + VOTE]
        if not self._strict:
            return published_outcome(tp, vote, n_pred, n_gold, found=n_pred > 0)
        flaw = self._table.flaws[told[at + FLAW]] if n_pred else reason_of(how)
        n_predictions = n_pred - told[at + N_NEUTRAL]
        return strict_outcome(tp, told[at + N_WANTED], n_predictions, flaw, vote, found=n_pred > 0)
