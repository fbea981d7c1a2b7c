"""REL-C2 and C3 where kernels read tags and molecules: `MotifScorer` and `IsomersScorer`; what they leave is
scored by `motif` and `missing_isomers`.
"""

from __future__ import annotations

import ctypes
import threading
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from relfast_kernels.smiles.layouts import RESULT_COLUMNS
from relfast_kernels.tags import layouts

from relfast.chem.common_substructure import MOLECULES
from relfast.chem.common_substructure import Golds as Motifs
from relfast.chem.smiles_table import (
    FLAWS,
    Match,
    SmilesTable,
    flaw_of_text,
    joined,
    simple_table,
)
from relfast.memory import lazy_memory
from relfast.records import Outcome
from relfast.tasks.base import Task
from relfast.tasks.modules import MAX_TEXTS, KernelScorer
from relfast.tasks.rel_c import RelCOptions, missing_isomers, motif
from relfast.tasks.rel_c.extract import Golds, TagReader, can_read, reason_of

GOLDS: Final = 8_192
GOLD_BYTES: Final = 1 << 24
"""Golds that are kept, and bytes of their texts, most of which are never touched."""

KNOWN: Final = 10_000
"""Answers of which the outcome is kept; about 1 kB each. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_KNOWN_CHARS: Final = 4_000
"""Longest answer that is kept: REL-C3's is a list of molecules as long as the model likes."""


Answer = tuple[int, int, str | None]
"""The number of a gold, how a response was read, and what it names, None where that is nothing: all that an
outcome depends on."""


class TagScorer(KernelScorer):
    """Of what texts name in tags. Equal answers are scored once.

    Of what is known each step is one of a dictionary, and who comes between two of them at most has an answer
    scored again.
    """

    def __init__(self, options: RelCOptions, *, shows: bool, longest: int) -> None:
        self._options, self._strict = options, options.strict
        self._longest, self._shows = longest, shows
        self._known: dict[Answer, Outcome] = {}
        self._readers: list[TagReader] = []

    def prepare(self, answer: object, question: object) -> int:
        try:
            return self.number(answer) if type(answer) is dict else -1
        except Exception:  # whatever is wrong with it, its task's scorer says so in a row
            return -1

    def score(self, golds: Sequence[int], texts: Sequence[str]) -> list[Outcome | None]:
        try:
            read = self._readers.pop()
        except IndexError:  # as many as threads are in here
            read = self._reader()
        read.read(texts, golds)
        if len(texts) > 1 and any(end - start > self._longest for _, start, end, _ in read.rows):
            found = [self.score((gold,), (text,))[0] for gold, text in zip(golds, texts, strict=True)]
        else:
            found = self._outcomes(read, golds)
        self._readers.append(read)
        return found

    def _outcomes(self, read: TagReader, golds: Sequence[int]) -> list[Outcome | None]:
        """The outcomes of texts that were read, all or none of which are too long."""
        known = self._known
        found: list[Outcome | None] = []
        new: dict[Answer, int] = {}
        again: list[tuple[int, int]] = []
        for at, (gold, (n, start, end, how)) in enumerate(zip(golds, read.rows, strict=True)):
            outcome = None
            if n != layouts.LEFT_TO_PYTHON and end - start <= self._longest:
                answer = gold, how, read.said[start : end - 1] if n > 0 else None
                outcome = known.get(answer)
                if outcome is None and (first := new.setdefault(answer, at)) != at:
                    again.append((at, first))
            found.append(outcome)
        if new:
            if len(known) >= KNOWN:
                known.clear()
            outcomes = self.outcomes(read, golds, new.values())
            for answer, at in new.items():
                outcome, said = outcomes[at], answer[2] or ""
                if outcome is not None and self._shows:
                    outcome.details = {
                        "pred": self.shown(said, read.rows[at][0]),
                        "gold": self.shown_gold(golds[at]),
                    }
                    if len(said) <= MAX_KNOWN_CHARS:
                        known[answer] = outcome
                found[at] = outcome
            for at, first in again:
                found[at] = found[first]
        return found

    @abstractmethod
    def number(self, answer: object) -> int:
        """The number of a gold; -1 for one that kernels cannot read, and without room."""

    @abstractmethod
    def _reader(self) -> TagReader:
        """One for a thread alone."""

    @abstractmethod
    def outcomes(self, read: TagReader, golds: Sequence[int], wanted: Iterable[int]) -> list[Outcome | None]:
        """The outcomes of responses whose tags were read; None for those that are left, and for any that
        are not wanted."""

    @abstractmethod
    def shown(self, said: str, n: int) -> Any:
        """The texts of so many tags, with a newline between them, as ``--details`` has them."""

    @abstractmethod
    def shown_gold(self, number: int) -> Any:
        """Gold likewise."""


NO_GOLDS: Final = Golds(
    (ctypes.c_int64 * (layouts.GOLD_COLUMNS * MOLECULES))(),
    ctypes.c_int64(MOLECULES),
    (ctypes.c_char * 1)(),
    ctypes.c_int64(1),
)
"""Nothing for each motif."""


class MotifScorer(TagScorer):
    """REL-C2."""

    def __init__(self, motifs: Motifs, options: RelCOptions, **settings: Any) -> None:
        super().__init__(options, **settings)
        self._motifs = motifs

    @classmethod
    def open(cls, task: Task, options: RelCOptions, **settings: Any) -> Self | None:
        motifs = Motifs.open(whole_rings=options.strict) if can_read(options) else None
        return None if motifs is None else cls(motifs, options, **settings)

    @property
    def is_full(self) -> bool:
        return self._motifs.room < MAX_TEXTS

    def _reader(self) -> TagReader:
        return TagReader(self._options, NO_GOLDS, one=True)

    def number(self, answer: object) -> int:
        return self._motifs.number(motif.gold_of(answer))

    def outcomes(self, read: TagReader, golds: Sequence[int], wanted: Iterable[int]) -> list[Outcome | None]:
        said, motifs, strict = read.said, self._motifs.golds, self._strict
        outcomes: list[Outcome | None] = [None] * len(golds)
        asked: list[tuple[int, int, int]] = []
        places: list[int] = []
        for at in wanted:
            n, start, end, how = read.rows[at]
            if n > 0 and end - start > 1:
                text = said[start : end - 1]
                flaw = flaw_of_text(text) if strict and how == layouts.HOW.nearly else None
                if flaw is None:
                    places.append(at)
                    asked.append((golds[at], start, end - 1))
                else:
                    outcomes[at] = motif.nothing(text, flaw)
            elif n >= 0:
                outcomes[at] = motif.no_answer(strict, reason_of(how))
        pairs = self._motifs.judge(asked, read.texts)
        for at, found, (number, start, end) in zip(places, pairs, asked, strict=True):
            outcomes[at] = motif.decide(found, motifs[number], said[start:end], strict=strict)
        return outcomes

    def shown(self, said: str, n: int) -> str | None:
        return said if n > 0 else None

    def shown_gold(self, number: int) -> str:
        return self._motifs.golds[number].text


class IsomersScorer(TagScorer):
    """REL-C3."""

    def __init__(self, table: SmilesTable, options: RelCOptions, **settings: Any) -> None:
        super().__init__(options, **settings)
        self._table, self._golds = table, IsomerGolds()

    @classmethod
    def open(cls, task: Task, options: RelCOptions, **settings: Any) -> Self | None:
        table = simple_table() if can_read(options) else None
        return None if table is None else cls(table, options, **settings)

    @property
    def is_full(self) -> bool:
        return not self._golds.has_room(MAX_TEXTS)

    def _reader(self) -> TagReader:
        return TagReader(self._options, self._golds.known, one=False)

    def number(self, answer: object) -> int:
        gold = missing_isomers.gold_of(answer)
        if not isinstance(gold, list) or (self._strict and not gold):
            return -1
        return self._golds.number(gold, missing_isomers.given_of(answer) if self._strict else ())

    def outcomes(self, read: TagReader, golds: Sequence[int], wanted: Iterable[int]) -> list[Outcome | None]:
        n_read = n_texts = 0
        for (n, _, _, _), gold in zip(read.rows, golds, strict=True):
            if n != layouts.LEFT_TO_PYTHON:
                n_read += 1
                n_texts += n + self._golds.n_texts[gold]
        told = self._table.hold(
            read.texts_at, read.n_bytes, read.sizes_at, n_read, n_texts, strict=self._strict
        )
        outcomes: list[Outcome | None] = []
        at = 0
        for (n, _, _, how), gold in zip(read.rows, golds, strict=True):
            if n == layouts.LEFT_TO_PYTHON:
                outcomes.append(None)
            else:
                match = Match._make((*told[at : at + RESULT_COLUMNS], ()))
                at += RESULT_COLUMNS
                outcome = None  # the table cannot say
                if match.decided:
                    flaw = FLAWS[match.flaw] if n else reason_of(how)
                    size, strict = len(self._golds.shown[gold]), self._strict
                    outcome = missing_isomers.outcome_of(match, n, size, flaw, found=n > 0, strict=strict)
                outcomes.append(outcome)
        return outcomes

    def shown(self, said: str, n: int) -> list[str]:
        return said.split("\n") if n > 0 else []

    def shown_gold(self, number: int) -> list[str]:
        return self._golds.shown[number]


class IsomerGolds:
    """Golds of REL-C3 by number, with the molecules that were given beside them, as the kernels take them.

    Safe to use from several threads: they are only added, and what was added stays where it is."""

    def __init__(self) -> None:
        self._columns = (ctypes.c_int64 * (layouts.GOLD_COLUMNS * GOLDS))()
        self._texts = lazy_memory(GOLD_BYTES)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._used = 0
        self._adding = threading.Lock()
        self.known: Final = Golds(
            self._columns, ctypes.c_int64(GOLDS), self._texts, ctypes.c_int64(GOLD_BYTES)
        )
        """All of them, those to come with them."""
        self.shown: list[list[str]] = []
        self.n_texts: list[int] = []
        """Of each the molecules, and those that were given."""

    def has_room(self, n: int) -> bool:
        """Whether there certainly is room for ``n`` more."""
        return len(self._numbers) + n <= GOLDS and 4 * self._used <= 3 * GOLD_BYTES

    def number(self, gold: list[Any], given: Sequence[str]) -> int:
        """The number of a gold from now on; -1 where a molecule is no text, and without room."""
        try:
            # equal keys are equal texts, or have what is no text
            number = self._numbers.get(key := (*gold, None, *given))
        except TypeError:
            return -1
        if number is not None:
            return number
        ours, theirs = joined(gold), joined(given)
        with self._adding:
            number, start = len(self.shown), self._used
            if len(self._numbers) >= GOLDS:
                return -1
            if ours is None or theirs is None or start + len(ours) + len(theirs) > GOLD_BYTES:
                number = -1
            else:
                end, given_end = start + len(ours), start + len(ours) + len(theirs)
                memoryview(self._texts).cast("B")[start:given_end] = ours + theirs
                self._used = given_end
                at = layouts.GOLD_COLUMNS * number
                for column, value in (
                    (layouts.GOLD.start, start),
                    (layouts.GOLD.end, end),
                    (layouts.GOLD.given_end, given_end),
                    (layouts.GOLD.n, len(gold)),
                    (layouts.GOLD.n_given, len(given)),
                ):
                    self._columns[at + column] = value
                self.n_texts.append(len(gold) + len(given))
                self.shown.append(gold)
            self._numbers[key] = number
        return number
