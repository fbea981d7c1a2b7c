"""REL-C3 by the block: kernels read the tags of all responses and hold them against their golds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relfast_kernels.smiles.layouts import (
    DECIDED,
    FLAW,
    N_NEUTRAL,
    N_WANTED,
    RESULT_COLUMNS,
    TRUE_POSITIVES,
    VOTE,
)
from relfast_kernels.tags.columns import READ_PLAIN

from relfast.records import Outcome, Record
from relfast.tasks.block_rows import Block, OutcomeJudge, Outcomes, Setting
from relfast.tasks.rel_c.block_tags import TagReader, reason_of
from relfast.tasks.rel_c.missing_isomers import given_of, gold_of, published_outcome, strict_outcome
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.smiles_table import SmilesTable
    from relfast.tasks.rel_c.isomer_golds import IsomerGolds


def open_judge(setting: Setting) -> IsomersJudge | None:
    """The judge, or None where the options or missing machine code do not allow it."""
    from relfast.chem.simple import simple_table
    from relfast.tasks.rel_c.isomer_golds import IsomerGolds

    options: RelCOptions = setting.options
    if options.strict and options.tautomers != "apart":
        return None
    table, reader = simple_table(), TagReader.open(options, one=False, plain_only=False)
    return None if table is None or reader is None else IsomersJudge(table, reader, setting, IsomerGolds())


class IsomersJudge(OutcomeJudge):
    """Isomers that responses name, judged by the block."""

    def __init__(self, table: SmilesTable, reader: TagReader, setting: Setting, golds: IsomerGolds) -> None:
        self._table, self._reader, self._golds = table, reader, golds
        self._strict, self._details = setting.options.strict, setting.details
        self._shown: list[list[object]] = []

    def make_room(self, n: int) -> bool:
        if self._golds.has_room(n):
            return False
        self._golds.forget()
        self._shown.clear()
        return True

    def gold(self, record: Record) -> int:
        """The number of a gold; -1 for one that is none, or too long."""
        answer = record.answer
        gold = gold_of(answer)
        if not isinstance(gold, list) or (self._strict and not gold):
            return -1
        number = self._golds.add(gold, given_of(answer) if self._strict else [])
        if number >= 0:
            self._shown.append(gold)
        return number

    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> Outcomes:
        """The outcomes of some records."""
        read = self._reader.read(block, records, golds, self._golds.known)
        n = sum(read.was_read)
        told = self._table.hold(
            read.texts, read.n_bytes, read.sizes, n, self._golds.kept, strict=self._strict
        )
        outcomes: list[Outcome | None] = []
        at = 0
        for n_pred, how, was_read, gold in zip(read.n, read.how, read.was_read, golds, strict=True):
            outcome = None
            if n_pred >= 0:
                n_gold = self._golds.n_gold(gold)
                outcome = told_outcome(self._table, told, at, n_pred, n_gold, how, strict=self._strict)
            outcomes.append(outcome)
            at += RESULT_COLUMNS * was_read
        if self._details:
            said = str(memoryview(read.texts)[: read.n_bytes], "latin-1")
            spans = zip(read.start, read.end, strict=True)
            for outcome, gold, (start, end) in zip(outcomes, golds, spans, strict=True):
                if outcome is not None:
                    pred = said[start : end - 1].split("\n") if end > start else []
                    outcome.details = {"pred": pred, "gold": self._shown[gold]}
        return Outcomes.of(outcomes)


def told_outcome(
    table: SmilesTable,
    told: Sequence[int],
    at: int,
    n_pred: int,
    n_gold: int,
    how: int = READ_PLAIN,
    *,
    strict: bool,
) -> Outcome | None:
    """The outcome of so many tags against so many golds of which a table has told; None where it cannot
    say. ``how`` they were read."""
    if not told[at + DECIDED]:
        return None
    tp, vote = told[at + TRUE_POSITIVES], told[at + VOTE]
    if not strict:
        return published_outcome(tp, vote, n_pred, n_gold, found=n_pred > 0)
    flaw = table.flaws[told[at + FLAW]] if n_pred else reason_of(how)
    n_predictions = n_pred - told[at + N_NEUTRAL]
    return strict_outcome(tp, told[at + N_WANTED], n_predictions, flaw, vote, found=n_pred > 0)
