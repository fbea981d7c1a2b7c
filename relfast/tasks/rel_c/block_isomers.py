"""REL-C3 by the block: kernels read the tags of all responses and hold them against their golds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relfast_kernels.layouts import (
    DECIDED,
    FLAW,
    N_NEUTRAL,
    N_WANTED,
    RESULT_COLUMNS,
    TRUE_POSITIVES,
    VOTE,
)

from relfast.records import Outcome
from relfast.tasks.modules import MAX_AT_ONCE, Responses
from relfast.tasks.rel_c.block_tags import TagReader
from relfast.tasks.rel_c.missing_isomers import given_of, gold_of, published_outcome, strict_outcome
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.smiles_table import SmilesTable
    from relfast.tasks.rel_c.isomer_golds import IsomerGolds


def open_judge(options: RelCOptions) -> IsomersJudge | None:
    """The judge, or None where the options or missing machine code do not allow it."""
    from relfast.chem.simple import simple_table
    from relfast.tasks.rel_c.isomer_golds import IsomerGolds

    if options.strict and options.tautomers != "apart":
        return None
    table, reader = simple_table(), TagReader.open(options, one=False)
    return None if table is None or reader is None else IsomersJudge(table, reader, options, IsomerGolds())


class IsomersJudge:
    """A `relfast.tasks.modules.BlockJudge`."""

    def __init__(
        self, table: SmilesTable, reader: TagReader, options: RelCOptions, golds: IsomerGolds
    ) -> None:
        self._table, self._reader, self._strict, self._golds = table, reader, options.strict, golds

    def forget(self) -> None:
        """Forget all golds."""
        self._golds.forget()

    @property
    def is_full(self) -> bool:
        """Whether there may be no room for more."""
        return not self._golds.has_room(MAX_AT_ONCE)

    def gold(self, answer: object) -> int:
        """The number of a gold; -1 for one that is none, or too long."""
        gold = gold_of(answer)
        if not isinstance(gold, list) or (self._strict and not gold):
            return -1
        return self._golds.add(gold, given_of(answer) if self._strict else [])

    def judge(
        self, responses: Responses, numbers: Sequence[int], golds: Sequence[int]
    ) -> list[Outcome | None]:
        """The outcomes of some records; None for those that are left."""
        read = self._reader.read(responses, numbers, golds, self._golds.known)
        n = sum(read.was_read)
        told = self._table.hold(
            read.texts, read.n_bytes, read.sizes, n, self._golds.kept, strict=self._strict
        )
        outcomes: list[Outcome | None] = []
        at = 0
        for n_pred, was_read, gold in zip(read.n, read.was_read, golds, strict=True):
            outcome = None
            if n_pred >= 0:
                n_gold = self._golds.n_gold(gold)
                outcome = told_outcome(self._table, told, at, n_pred, n_gold, strict=self._strict)
            outcomes.append(outcome)
            at += RESULT_COLUMNS * was_read
        return outcomes


def told_outcome(
    table: SmilesTable, told: Sequence[int], at: int, n_pred: int, n_gold: int, *, strict: bool
) -> Outcome | None:
    """The outcome of so many tags against so many golds of which a table has told; None where it cannot
    say."""
    if not told[at + DECIDED]:
        return None
    tp, vote = told[at + TRUE_POSITIVES], told[at + VOTE]
    if not strict:
        return published_outcome(tp, vote, n_pred, n_gold, found=n_pred > 0)
    flaw = table.flaws[told[at + FLAW]]
    n_predictions = n_pred - told[at + N_NEUTRAL]
    return strict_outcome(tp, told[at + N_WANTED], n_predictions, flaw, vote, found=True)
