"""Scoring REL-C2 and C3 with kernels that read tags and molecules: `MotifScorer` and `IsomersScorer`.
Responses that the kernels cannot score are left to the scorers `motif` and `missing_isomers`.
"""

from __future__ import annotations

import ctypes
import threading
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from relfast_kernels.entry import rows_of
from relfast_kernels.tags import layouts

from relfast.chem.common_substructure import MOLECULES, GoldMolecules
from relfast.chem.smiles_table import (
    FLAWS,
    Match,
    SmilesTable,
    flaw_of_text,
    joined,
    simple_table,
)
from relfast.records import Outcome
from relfast.support.system import lazy_memory
from relfast.tasks.base import MAX_TEXTS, KernelScorer, Task
from relfast.tasks.rel_c import RelCOptions, missing_isomers, motif
from relfast.tasks.rel_c.extract import TagGolds, TagReader, can_read, reason_of

GOLDS: Final = 8_192
GOLD_BYTES: Final = 1 << 24
"""Maximum golds of an `IsomerGolds`, and bytes reserved for their texts (most are never touched)."""

KNOWN: Final = 10_000
"""Maximum answers with a cached outcome, about 1 kB each. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_ANSWER_CHARS: Final = 4_000
"""Maximum characters of a cached answer: in REL-C3 a model may list molecules without end."""


Answer = tuple[int, int, str | None]
"""Key of the outcome cache, all that an outcome depends on: the number of the gold, how the response was read
(`relfast_kernels.tags.layouts`), and the molecules that it names (None: none)."""


class TagScorer(KernelScorer):
    """Base of the kernel scorers that read ``<smiles>`` tags. Equal answers are scored once.

    The cache needs no lock: every access is one dictionary operation, and a race between threads at most
    scores an answer twice.
    """

    def __init__(self, options: RelCOptions, *, shows: bool, longest: int) -> None:
        self._options, self._strict = options, options.strict
        self._longest, self._shows = longest, shows
        self._known: dict[Answer, Outcome] = {}
        self._readers: list[TagReader] = []

    def prepare(self, answer: object, question: object) -> int:
        try:
            return self.number(answer) if type(answer) is dict else -1
        except Exception:  # whatever is wrong with this gold, the task's scorer reports it in a row
            return -1

    def score(self, golds: Sequence[int], texts: Sequence[str]) -> list[Outcome | None]:
        try:
            read = self._readers.pop()
        except IndexError:  # every reader is in use by another thread
            read = self._reader()
        read.read(texts, golds)
        if len(texts) > 1 and any(end - start > self._longest for _, start, end, _ in read.rows):
            found = [self.score((gold,), (text,))[0] for gold, text in zip(golds, texts, strict=True)]
        else:
            found = self._outcomes(read, golds)
        self._readers.append(read)
        return found

    def _outcomes(self, read: TagReader, golds: Sequence[int]) -> list[Outcome | None]:
        """The outcomes of the responses just read. Either all of them are too long, or none is."""
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
                outcome, named = outcomes[at], answer[2] or ""
                if outcome is not None and self._shows:
                    outcome.details = {
                        "pred": self.shown(named, read.rows[at][0]),
                        "gold": self.shown_gold(golds[at]),
                    }
                    if len(named) <= MAX_ANSWER_CHARS:
                        known[answer] = outcome
                found[at] = outcome
            for at, first in again:
                found[at] = found[first]
        return found

    @abstractmethod
    def number(self, answer: object) -> int:
        """Store a gold and return its number; -1 if the kernels cannot read it or there is no room."""

    @abstractmethod
    def _reader(self) -> TagReader:
        """A new reader for one thread at a time."""

    @abstractmethod
    def outcomes(self, read: TagReader, golds: Sequence[int], wanted: Iterable[int]) -> list[Outcome | None]:
        """The outcomes of the responses just read, at least of those at the places ``wanted``; None for a
        response that the task's scorer must score."""

    @abstractmethod
    def shown(self, said: str, n: int) -> Any:
        """``pred`` of ``--details``, from the texts of n tags joined by newlines."""

    @abstractmethod
    def shown_gold(self, number: int) -> Any:
        """``gold`` of ``--details``."""


NO_GOLDS: Final = TagGolds(rows_of(layouts.Gold, MOLECULES), (ctypes.c_char * 1)())
"""An empty text for every gold: `MotifScorer` needs no golds in the reader's texts."""


class MotifScorer(TagScorer):
    """The `KernelScorer` of REL-C2."""

    def __init__(self, motifs: GoldMolecules, options: RelCOptions, **settings: Any) -> None:
        super().__init__(options, **settings)
        self._motifs = motifs

    @classmethod
    def open(cls, task: Task, options: RelCOptions, **settings: Any) -> Self | None:
        motifs = GoldMolecules.open(whole_rings=options.strict) if can_read(options) else None
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
        compared: list[tuple[int, int, int]] = []
        places: list[int] = []
        for at in wanted:
            n, start, end, how = read.rows[at]
            if n > 0 and end - start > 1:
                text = said[start : end - 1]
                flaw = flaw_of_text(text) if strict and how == layouts.NEARLY else None
                if flaw is None:
                    places.append(at)
                    compared.append((golds[at], start, end - 1))
                else:
                    outcomes[at] = motif.nothing(text, flaw)
            elif n >= 0:
                outcomes[at] = motif.no_answer(strict, reason_of(how))
        pairs = self._motifs.judge(compared, read.texts)
        for at, found, (number, start, end) in zip(places, pairs, compared, strict=True):
            outcomes[at] = motif.decide(found, motifs[number], said[start:end], strict=strict)
        return outcomes

    def shown(self, said: str, n: int) -> str | None:
        return said if n > 0 else None

    def shown_gold(self, number: int) -> str:
        return self._motifs.golds[number].text


class IsomersScorer(TagScorer):
    """The `KernelScorer` of REL-C3."""

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
        results = iter(self._table.hold(read.texts, read.sizes, n_read, n_texts, strict=self._strict))
        outcomes: list[Outcome | None] = []
        for (n, _, _, how), gold in zip(read.rows, golds, strict=True):
            if n == layouts.LEFT_TO_PYTHON:
                outcomes.append(None)
            else:
                match = Match._make((*next(results), ()))
                outcome = None  # the table cannot decide: RDKit must
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
    """A store of numbered golds of REL-C3, with the molecules that the question gave, in the kernels' layout.

    Thread-safe: golds are only added and never move."""

    def __init__(self) -> None:
        self._rows = rows_of(layouts.Gold, GOLDS)
        self._texts = lazy_memory(GOLD_BYTES)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._used = 0
        self._adding = threading.Lock()
        self.known: Final = TagGolds(self._rows, self._texts)
        """The whole table, including golds that will be added later."""
        self.shown: list[list[str]] = []
        self.n_texts: list[int] = []
        """For each gold its molecules, and how many they and the given ones are."""

    def has_room(self, n: int) -> bool:
        """Whether there certainly is room for ``n`` more golds."""
        return len(self._numbers) + n <= GOLDS and 4 * self._used <= 3 * GOLD_BYTES

    def number(self, gold: list[Any], given: Sequence[str]) -> int:
        """Store a gold and return its number; -1 if a molecule is not a text or there is no room."""
        try:
            # keys with equal texts are equal; a key with anything else than texts is rejected below
            number = self._numbers.get(key := (*gold, None, *given))
        except TypeError:
            return -1
        if number is not None:
            return number
        gold_text, given_text = joined(gold), joined(given)
        with self._adding:
            number, start = len(self.shown), self._used
            if len(self._numbers) >= GOLDS:
                return -1
            if (
                gold_text is None
                or given_text is None
                or start + len(gold_text) + len(given_text) > GOLD_BYTES
            ):
                number = -1
            else:
                end, given_end = start + len(gold_text), start + len(gold_text) + len(given_text)
                memoryview(self._texts).cast("B")[start:given_end] = gold_text + given_text
                self._used = given_end
                row = self._rows[number]
                row.start, row.end, row.given_end = start, end, given_end
                row.n, row.n_given = len(gold), len(given)
                self.n_texts.append(len(gold) + len(given))
                self.shown.append(gold)
            self._numbers[key] = number
        return number
