"""REL-C2 by the block: kernels read the tags of all responses and hold them against their motifs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from relfast_kernels.tags.columns import GOLD_COLUMNS, READ_NEARLY

from relfast.chem.clean_text import flaw_of_text
from relfast.records import Outcome, Record
from relfast.tasks.block_rows import Block, OutcomeJudge, Outcomes, Setting
from relfast.tasks.rel_c import motif_reference, motif_strict
from relfast.tasks.rel_c.block_tags import Golds, TagReader, reason_of
from relfast.tasks.rel_c.motif import gold_of
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.many_pairs import ManyPairs


def open_judge(setting: Setting) -> MotifJudge | None:
    """The judge, or None where the options or missing machine code do not allow it."""
    from relfast.chem.many_pairs import ManyPairs

    options: RelCOptions = setting.options
    if options.strict and options.tautomers != "apart":
        return None
    pairs, reader = (
        ManyPairs.open(whole_rings=options.strict),
        TagReader.open(options, one=True, plain_only=False),
    )
    return None if pairs is None or reader is None else MotifJudge(pairs, reader, setting)


class MotifJudge(OutcomeJudge):
    """Motifs of responses, judged by the block."""

    def __init__(self, pairs: ManyPairs, reader: TagReader, setting: Setting) -> None:
        self._pairs, self._reader = pairs, reader
        self._strict, self._details = setting.options.strict, setting.details

    def make_room(self, n: int) -> bool:
        if self._pairs.room >= n:
            return False
        self._pairs.forget()
        return True

    def gold(self, record: Record) -> int:
        """The number of a motif; -1 for one that the kernel cannot read."""
        gold = gold_of(record.answer)
        return self._pairs.add(gold, clean=self._strict) if isinstance(gold, str) else -1

    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> Outcomes:
        """The outcomes of some records."""
        read = self._reader.read(block, records, [0] * len(golds), NO_GOLDS)
        said = str(memoryview(read.texts)[: read.n_bytes], "ascii")
        outcomes: list[Outcome | None] = [None] * len(golds)
        asked: list[int] = []
        spans: list[int] = []
        strict = self._strict
        for at, (n, start, end, how) in enumerate(zip(read.n, read.start, read.end, read.how, strict=True)):
            if n > 0 and end - start > 1:
                flaw = flaw_of_text(said[start : end - 1]) if strict and how == READ_NEARLY else None
                if flaw is not None:
                    outcomes[at] = motif_strict.nothing(said[start : end - 1], flaw)
                    continue
                asked.append(at)
                spans += (start, end - 1)
            elif n >= 0:
                outcomes[at] = _no_answer(strict, how)
        chosen = [golds[at] for at in asked]
        pairs = self._pairs.judge(chosen, read.texts, read.n_bytes, spans)
        for at, number, found, start, end in zip(asked, chosen, pairs, spans[::2], spans[1::2], strict=True):
            if strict:
                gold = self._pairs.golds[number]
                outcomes[at] = motif_strict.of_pair(found, gold.text, gold.molecule, said[start:end], None)
            else:
                outcomes[at] = motif_reference.decide(found, said[start:end])
        if self._details:
            preds = zip(read.n, read.start, read.end, strict=True)
            for outcome, gold_number, (n, start, end) in zip(outcomes, golds, preds, strict=True):
                if outcome is not None:
                    pred = said[start : end - 1] if n > 0 else None
                    outcome.details = {"pred": pred, "gold": self._pairs.golds[gold_number].text}
        return Outcomes.of(outcomes)


def _no_answer(strict: bool, how: int) -> Outcome:
    if not strict:
        return motif_reference.no_answer()
    outcome = motif_strict.nothing(None, reason_of(how))
    outcome.found = False
    return outcome


NO_GOLDS: Final = Golds((ctypes.c_int64 * GOLD_COLUMNS)(), 1, (ctypes.c_char * 1)(), 1)
"""Motifs are no texts to the kernel that reads tags."""
