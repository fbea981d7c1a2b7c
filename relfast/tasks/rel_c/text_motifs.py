"""REL-C2 for who has texts at hand: kernels read the tags of many and hold them against their motifs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from relfast.chem.clean_text import has_isotope
from relfast.chem.common_substructure import MAX_STEPS, Compared, compared
from relfast.chem.common_substructure import judge as judge_pair
from relfast.chem.many_pairs import Ints, ManyPairs
from relfast.records import Outcome
from relfast.tasks.base import MAX_SAID
from relfast.tasks.modules import MAX_TEXTS, JudgedText, judged_text
from relfast.tasks.rel_c import motif_columns, motif_reference, motif_strict
from relfast.tasks.rel_c.block_motifs import NO_GOLDS
from relfast.tasks.rel_c.block_tags import Golds, TagReader, Tags
from relfast.tasks.rel_c.one_text import OneReader
from relfast.tasks.rel_c.options import RelCOptions
from relfast.tasks.rel_c.text_judge import TagJudge
from relfast.tasks.rel_c.text_tags import Answer

PUBLISHED: Final = (*motif_reference.metrics_of(False, False, 0.0),)
"""Measures of both policies."""

MOTIFS: Final = 8_192
"""Texts whose number is kept, those that the kernel cannot read with them."""


def open_judge(options: RelCOptions, threads: int) -> MotifTexts | None:
    """The judge, or None where the options or missing machine code do not allow it."""
    if options.strict and options.tautomers != "apart":
        return None
    pairs, reader = ManyPairs.open(whole_rings=options.strict), TagReader.open(options, one=True)
    return None if pairs is None or reader is None else MotifTexts(pairs, reader, options, threads)


class MotifTexts(TagJudge):
    """A `relfast.tasks.modules.TextJudge`."""

    def __init__(self, pairs: ManyPairs, reader: TagReader, options: RelCOptions, threads: int) -> None:
        super().__init__(reader, options, one=True)
        self._threads = threads
        self.metrics = (*PUBLISHED, "overlap_skill", "reason") if options.strict else PUBLISHED
        self._pairs = pairs
        self._one_readers: list[OneReader] = []
        self._numbers: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether there may be no room for more."""
        return self._pairs.room < MAX_TEXTS or len(self._numbers) > MOTIFS

    def gold(self, answer: object) -> int:
        """The number of a motif; -1 for one that the kernel cannot read."""
        smiles = answer.get("smiles") if type(answer) is dict else None
        if type(smiles) is not str:
            return -1
        number = self._numbers.get(smiles)
        if number is None:
            number = self._numbers[smiles] = self._pairs.add(smiles, clean=self._strict)
        return number

    def _golds_of(self, golds: Sequence[int]) -> tuple[Sequence[int], Golds]:
        return [0] * len(golds), NO_GOLDS

    def _told(
        self, read: Tags, golds: Sequence[int], new: Mapping[Answer, int], said: str
    ) -> list[JudgedText | None]:
        asked: Collection[Answer] = new.keys()
        nothing = [number for number, (_, text) in enumerate(asked) if not text]
        if nothing:
            asked = [answer for answer in asked if answer[1]]
        if not asked:
            return [None if self._strict else _NOTHING] * len(nothing)
        places = [new[answer] for answer in asked] if nothing else [*new.values()]
        chosen = np.array([gold for gold, _ in asked], np.int64)
        spans = np.empty((len(places), 2), np.int64)
        spans[:, 0], spans[:, 1] = [read.start[at] for at in places], [read.end[at] - 1 for at in places]
        # no search takes longer than 10 ms, and to stop it and begin it anew would take longer still
        statuses, results = self._pairs.compare(
            chosen, read.texts, read.n_bytes, spans, steps=MAX_STEPS, threads=self._threads
        )
        told = self._rows(asked, chosen, statuses, results, may_have_isotopes=has_isotope(said))
        for number in nothing:
            told.insert(number, None if self._strict else _NOTHING)
        return told

    def judge_one(self, gold: int, text: str) -> tuple[JudgedText | None, bool]:
        """What one text is worth against its gold, and whether its answer was known."""
        try:
            reader = self._one_readers.pop()
        except IndexError:  # as many as threads are in here
            reader = OneReader(self._setting, NO_GOLDS)
        read = reader.read(text, 0)
        self._one_readers.append(reader)
        if read is None:
            return None, False
        said = read[1][:-1].decode()
        if not said:
            return (None if self._strict else _NOTHING), False
        answer = gold, said
        judged = self._known.get(answer)
        if judged is not None:
            return judged, True
        first = self._pairs.golds[gold].molecule
        found = judge_pair(first, said, whole_rings=self._strict)
        if found == "unfinished":
            found = judge_pair(first, said, whole_rings=self._strict, steps=MAX_STEPS)
        outcome = self._outcome(found, gold, said)
        if outcome is None:
            return None, False
        judged = judged_text(outcome, said[:MAX_SAID])
        self._known.keep_one(answer, judged)
        return judged, False

    def _outcome(self, found: Compared, number: int, text: str) -> Outcome | None:
        if not self._strict:
            return motif_reference.decide(found, text)
        gold = self._pairs.golds[number]
        # a plain tag has none but plain letters
        return motif_strict.of_pair(found, gold.text, gold.molecule, text, None)

    def _rows(
        self,
        asked: Collection[Answer],
        chosen: Ints,
        statuses: Ints,
        results: Ints,
        *,
        may_have_isotopes: bool,
    ) -> list[JudgedText | None]:
        """What the answers that were compared are worth, None for those that are left aside."""
        golds = self._pairs.golds
        n_gold = self._pairs.n_atoms[chosen]
        said = [text[:MAX_SAID] for _, text in asked]
        is_open = statuses != 0
        if self._strict:
            rows, undecided = motif_columns.strict(results, n_gold, self._pairs.settled[chosen], said)
            is_open |= undecided
            if may_have_isotopes:
                is_open[:] = True
        else:
            rows = motif_columns.published(results, n_gold, said)
        told: list[JudgedText | None] = [*rows]
        left = np.flatnonzero(is_open).tolist()
        answers = [*asked] if left else []
        for at in left:
            number, text = answers[at]
            found = compared(int(statuses[at]), golds[number].molecule, results[at].tolist())
            outcome = self._outcome(found, number, text)
            told[at] = None if outcome is None else judged_text(outcome, said[at])
        return told


_NOTHING: Final = judged_text(motif_reference.no_answer(), None)
