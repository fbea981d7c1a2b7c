"""REL-C2 for who has texts at hand: kernels read the tags of many and hold them against their motifs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from relfast.tasks.rel_c.block_tags import TagReader
from relfast.tasks.rel_c.one_text import OneReader
from relfast.tasks.rel_c.options import RelCOptions
from relfast.tasks.rel_c.text_tags import Answer, KnownAnswers, packed

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


class MotifTexts:
    """A `relfast.tasks.modules.TextJudge`."""

    def __init__(self, pairs: ManyPairs, reader: TagReader, options: RelCOptions, threads: int) -> None:
        self._threads = threads
        self.metrics = (*PUBLISHED, "overlap_skill", "reason") if options.strict else PUBLISHED
        self._pairs, self._options, self._strict = pairs, options, options.strict
        self._setting = reader
        self._readers = [reader]
        self._one_readers: list[OneReader] = []
        self._numbers: dict[str, int] = {}
        self._known = KnownAnswers()

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

    def judge(self, golds: Sequence[int], texts: Sequence[str]) -> tuple[list[JudgedText | None], int]:
        """What each of some texts is worth against its gold, and how many of their answers were known."""
        responses = packed(texts)
        try:
            reader = self._readers.pop()
        except IndexError:  # as many as threads are in here
            reader = self._new_reader()
        n = len(texts)
        read = reader.read(responses, range(n), [0] * n, NO_GOLDS)
        said = str(memoryview(read.texts)[: read.n_bytes], "ascii")
        # a newline ends each; a response without a tag has nothing
        answers: list[Answer | None] = [
            None if n_tags < 0 else (gold, said[start : end - 1] if n_tags else "")
            for gold, n_tags, start, end in zip(golds, read.n, read.start, read.end, strict=True)
        ]
        judged, new = self._known.split(answers)
        asked: list[Answer] = []
        spans: list[int] = []
        told: dict[Answer, JudgedText] = {}
        for answer, (at, *_) in new.items():
            if answer[1]:
                asked.append(answer)
                spans += (read.start[at], read.end[at] - 1)
            elif not self._strict:
                told[answer] = _NOTHING
        if asked:
            # no search takes longer than 10 ms, and to stop it and begin it anew would take longer still
            statuses, results = self._pairs.compare(
                [gold for gold, _ in asked], read.texts, read.n_bytes, spans,
                steps=MAX_STEPS, threads=self._threads,
            )  # fmt: skip
            told.update(self._told(asked, statuses, results))
        self._readers.append(reader)
        self._known.keep(told)
        for answer, one in told.items():
            for at in new[answer]:
                judged[at] = one
        return judged, n - len(new) - answers.count(None)

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

    def _told(
        self, asked: Sequence[Answer], statuses: Ints, results: Ints
    ) -> Iterator[tuple[Answer, JudgedText]]:
        """What the answers that were compared are worth, those that are left aside."""
        golds = self._pairs.golds
        molecules = [golds[number].molecule for number, _ in asked]
        n_gold = np.array([molecule.n_atoms for molecule in molecules])
        said = [text[:MAX_SAID] for _, text in asked]
        is_open = statuses != 0
        if self._strict:
            settled = np.array([molecule.settled for molecule in molecules])
            rows, undecided = motif_columns.strict(results, n_gold, settled, said)
            is_open |= undecided
            if any(map(has_isotope, said)):
                is_open[:] = True
        else:
            rows = motif_columns.published(results, n_gold, said)
        for at in np.flatnonzero(is_open).tolist():
            number, text = asked[at]
            found = compared(int(statuses[at]), molecules[at], results[at].tolist())
            outcome = self._outcome(found, number, text)
            rows[at] = () if outcome is None else judged_text(outcome, said[at])
        return ((answer, row) for answer, row in zip(asked, rows, strict=True) if row)

    def _new_reader(self) -> TagReader:
        reader = TagReader.open(self._options, one=True)
        assert reader is not None, "there was one before"
        return reader


_NOTHING: Final = judged_text(motif_reference.no_answer(), None)
