"""REL-C3 for who has texts at hand: kernels read the tags of many and hold them against their golds."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Final

from relfast_kernels.smiles.layouts import RESULT_COLUMNS, SIZE_COLUMNS

from relfast.chem.one_list import MAX_MOLECULES, OneList
from relfast.chem.simple import simple_table
from relfast.chem.smiles_table import SmilesTable
from relfast.tasks.base import MAX_SAID
from relfast.tasks.modules import MAX_TEXTS, JudgedText, judged_text
from relfast.tasks.rel_c.block_isomers import told_outcome
from relfast.tasks.rel_c.block_tags import Golds, TagReader, Tags
from relfast.tasks.rel_c.isomer_golds import IsomerGolds
from relfast.tasks.rel_c.missing_isomers import given_of, measures
from relfast.tasks.rel_c.one_text import OneReader
from relfast.tasks.rel_c.options import RelCOptions
from relfast.tasks.rel_c.text_judge import TagJudge
from relfast.tasks.rel_c.text_tags import Answer

MOLECULES_A_CALL: Final = 400
"""Texts, those of the last response aside, that are looked at before the interpreter's lock may change hands:
1 ms."""

GOLDS: Final = 8_192
"""Golds whose number is kept, those that the kernel cannot read with them."""


def open_judge(options: RelCOptions, threads: int) -> IsomersTexts | None:
    """The judge, or None where the options or missing machine code do not allow it. It has one table of
    molecules, so that one thread does everything."""
    if options.strict and options.tautomers != "apart":
        return None
    table, reader = simple_table(), TagReader.open(options, one=False)
    return None if table is None or reader is None else IsomersTexts(table, reader, options)


class IsomersTexts(TagJudge):
    """A `relfast.tasks.modules.TextJudge`."""

    def __init__(self, table: SmilesTable, reader: TagReader, options: RelCOptions) -> None:
        super().__init__(reader, options, one=False)
        self._table = table
        counts = (*measures(0, 0, 0),)
        self.metrics = (*counts, "reason") if options.strict else counts
        self._places: list[tuple[OneReader, OneList]] = []
        self._golds = IsomerGolds()
        self._numbers: dict[tuple[Any, ...], int] = {}

    @property
    def is_full(self) -> bool:
        """Whether there may be no room for more."""
        return not self._golds.has_room(MAX_TEXTS) or len(self._numbers) > GOLDS

    def gold(self, answer: object) -> int:
        """The number of a gold; -1 for one that is none, or too long."""
        if type(answer) is not dict:
            return -1
        gold = answer.get("missing_smiles")
        if type(gold) is not list:
            return -1
        given = given_of(answer) if self._strict and "molecules" in answer else _NONE
        try:
            key = (*gold, None, *given)
            number = self._numbers.get(key)
        except TypeError:  # of no texts
            return -1
        if number is None:
            number = -1 if self._strict and not gold else self._golds.add(gold, given)
            self._numbers[key] = number
        return number

    def _golds_of(self, golds: Sequence[int]) -> tuple[Sequence[int], Golds]:
        return golds, self._golds.known

    def _told(
        self, read: Tags, golds: Sequence[int], new: Mapping[Answer, int], said: str
    ) -> list[JudgedText | None]:
        results = self._results(read, golds, {*new.values()})
        told: list[JudgedText | None] = []
        for (gold, text), at in new.items():
            n_gold = self._golds.n_gold(gold)
            outcome = told_outcome(self._table, *results[at], read.n[at], n_gold, strict=self._strict)
            told.append(None if outcome is None else judged_text(outcome, _said(text)))
        return told

    def judge_one(self, gold: int, text: str) -> tuple[JudgedText | None, bool]:
        """What one text is worth against its gold, and whether its answer was known."""
        try:
            place = self._places.pop()
        except IndexError:  # as many as threads are in here
            place = self._new_place()
        reader, lists = place
        read = reader.read(text, gold)
        if read is None:
            self._places.append(place)
            return None, False
        n_pred, said, start, end = read
        answer = gold, said.decode()
        judged = self._known.get(answer)
        if judged is not None:
            self._places.append(place)
            return judged, True
        before, behind, n_around = self._golds.around[gold]
        outcome = None
        if n_pred + n_around <= MAX_MOLECULES:
            at = reader.texts_at + start - before
            told = lists.hold(at, before + end - start + behind, n_pred + n_around)
            n_gold = self._golds.n_gold(gold)
            outcome = told_outcome(self._table, told, 0, n_pred, n_gold, strict=self._strict)
        self._places.append(place)
        if outcome is None:
            return None, False
        judged = judged_text(outcome, _said(answer[1]))
        self._known.keep_one(answer, judged)
        return judged, False

    def _new_place(self) -> tuple[OneReader, OneList]:
        reader = OneReader(self._setting, self._golds.known)
        return reader, OneList(self._table, reader.sizes, self._golds.kept, strict=self._strict)

    def _results(
        self, read: Tags, golds: Sequence[int], wanted: set[int]
    ) -> dict[int, tuple[list[int], int]]:
        """What the table tells of the responses at some places, and where in that."""
        results: dict[int, tuple[list[int], int]] = {}
        texts, sizes = ctypes.addressof(read.texts), ctypes.addressof(read.sizes)
        for run in self._runs(read, golds, wanted):
            told = self._table.hold_at(
                texts + run.start,
                sizes + 8 * SIZE_COLUMNS * run.first,
                run.end - run.start,
                len(run.places),
                run.n_texts,
                self._golds.kept,
                strict=self._strict,
            )
            for at, place in enumerate(run.places):
                results[place] = told, RESULT_COLUMNS * at
        return results

    def _runs(self, read: Tags, golds: Sequence[int], wanted: set[int]) -> list[_Run]:
        around = self._golds.around
        runs: list[_Run] = []
        run: _Run | None = None
        n_read = 0
        for place, gold in enumerate(golds):
            if not read.was_read[place]:
                continue
            if place in wanted:
                before, behind, n_around = around[gold]
                if run is None or run.n_texts > MOLECULES_A_CALL:
                    run = _Run(n_read, read.start[place] - before)
                    runs.append(run)
                run.places.append(place)
                run.n_texts += read.n[place] + n_around
                run.end = read.end[place] + behind
            else:
                run = None
            n_read += 1
        return runs


class _Run:
    """Responses that are read beside each other, for one call.

    Attributes
    ----------
    places
        Where they are among all.
    first
        With which of those that were read it begins.
    start, end
        Where the texts are: gold's, tags and given ones.
    n_texts
        How many these are.
    """

    __slots__ = ("end", "first", "n_texts", "places", "start")

    def __init__(self, first: int, start: int) -> None:
        self.first, self.start, self.end = first, start, start
        self.places: list[int] = []
        self.n_texts = 0


_NONE: Final[list[str]] = []


def _said(text: str) -> str | None:
    """The molecules in alphabetical order, as `relfast.tasks.rel_c.missing_isomers.said` has them."""
    return ", ".join(sorted(text.split("\n")[:-1]))[:MAX_SAID] if text else None
