"""REL-C2 for who has texts at hand: kernels read the tags of many and hold them against their motifs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from relfast.chem.common_substructure import MAX_STEPS, Compared
from relfast.chem.many_pairs import ManyPairs
from relfast.records import Outcome
from relfast.tasks.base import MAX_SAID
from relfast.tasks.modules import MAX_TEXTS, JudgedText
from relfast.tasks.rel_c import motif_strict
from relfast.tasks.rel_c.block_motifs import NO_GOLDS
from relfast.tasks.rel_c.block_tags import TagReader
from relfast.tasks.rel_c.motif_reference import decide, no_answer
from relfast.tasks.rel_c.options import RelCOptions
from relfast.tasks.rel_c.text_tags import Answer, KnownAnswers, packed

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
        self._pairs, self._options, self._strict = pairs, options, options.strict
        self._readers = [reader]
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
        for answer, places in new.items():
            if answer[1]:
                asked.append(answer)
                spans += (read.start[places[0]], read.end[places[0]] - 1)
            elif not self._strict:
                told[answer] = _NOTHING
        # none takes longer than 10 ms, and to stop a search and to begin it anew would take longer still
        chosen = [gold for gold, _ in asked]
        pairs = self._pairs.judge(
            chosen, read.texts, read.n_bytes, spans, steps=MAX_STEPS, threads=self._threads
        )
        self._readers.append(reader)
        for answer, found in zip(asked, pairs, strict=True):
            outcome = self._strictly(found, *answer) if self._strict else decide(found, answer[1])
            if outcome is not None:
                told[answer] = outcome, answer[1][:MAX_SAID]
        self._known.keep(told)
        for answer, one in told.items():
            for at in new[answer]:
                judged[at] = one
        return judged, n - len(new) - answers.count(None)

    def _new_reader(self) -> TagReader:
        reader = TagReader.open(self._options, one=True)
        assert reader is not None, "there was one before"
        return reader

    def _strictly(self, found: Compared, number: int, text: str) -> Outcome | None:
        gold = self._pairs.golds[number]
        # a plain tag has none but plain letters
        return motif_strict.of_pair(found, gold.text, gold.molecule, text, None)


_NOTHING: Final = no_answer(), None
