"""REL-C2 and C3 where kernels read tags and molecules: responses of a block of lines, and texts at hand.

`MotifJudge` and `IsomersJudge` judge either; what they leave is scored by `motif` and `missing_isomers`.
"""

from __future__ import annotations

import ctypes
import threading
from abc import abstractmethod
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from relfast_kernels.layouts import RECORD_COLUMNS, RECORD_TEXT, RECORD_TEXT_END
from relfast_kernels.smiles.layouts import (
    DECIDED,
    FLAW,
    KEPT_FACTS,
    N_NEUTRAL,
    N_WANTED,
    NOT_KEPT,
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
    READ_NEARLY,
)

from relfast.records import Outcome, Record
from relfast.tasks.base import MAX_SAID
from relfast.tasks.block_rows import MAX_AT_ONCE, Block, OutcomeJudge, Setting
from relfast.tasks.modules import MAX_TEXTS, JudgedText, judged_text
from relfast.tasks.rel_c import missing_isomers, motif
from relfast.tasks.rel_c.extract import NO_GOLDS, Golds, TagReader, Tags, reason_of
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.common_substructure import Golds as Motifs
    from relfast.chem.smiles_table import SmilesTable

GOLDS: Final = 8_192
GOLD_BYTES: Final = 1 << 24
"""Golds that are kept, and bytes of their texts, most of which are never touched."""

KNOWN: Final = 10_000
"""Answers to texts at hand of which the outcome is kept; about 1 kB each. A GRPO step has 1,000 to 10,000
rollouts."""

MAX_KNOWN_CHARS: Final = 4_000
"""Longest answer that is kept: REL-C3's is a list of molecules as long as the model likes."""


class TagJudge(OutcomeJudge):
    """Judges what responses name in tags. Safe to use from several threads, but for `make_room`.

    Parameters
    ----------
    options
        The job's.
    details
        Whether outcomes have the texts of ``--details``.
    one
        Whether the answer is one tag, or all of them.
    """

    def __init__(self, options: RelCOptions, details: bool, reader: TagReader, *, one: bool) -> None:
        self._options, self._strict, self._details, self._one = options, options.strict, details, one
        self._readers = [reader]

    def gold(self, record: Record) -> int:
        """The number of a gold; -1 for one that kernels cannot read."""
        return self.number(record.answer)

    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> list[Outcome | None]:
        """The outcomes of some records; None for those that are left."""
        reader = self.reader()
        read = reader.read(block, records, *self.for_reader(golds))
        outcomes = self.outcomes(read, golds)
        if self._details:
            said = str(memoryview(read.texts)[: read.n_bytes], "latin-1")
            for outcome, gold, n, start, end in zip(
                outcomes, golds, read.n, read.start, read.end, strict=True
            ):
                if outcome is not None:
                    outcome.details = {
                        "pred": self.shown(said[start : end - 1], n),
                        "gold": self.shown_gold(gold),
                    }
        self.give_back(reader)
        return outcomes

    def reader(self) -> TagReader:
        """One for the caller alone, until it goes back to the others."""
        try:
            return self._readers.pop()
        except IndexError:  # as many as threads are in here
            reader = TagReader.open(self._options, one=self._one)
            assert reader is not None, "there was one before"
            return reader

    def give_back(self, reader: TagReader) -> None:
        """Give a reader back; what it has read is good until another takes it."""
        self._readers.append(reader)

    @abstractmethod
    def number(self, answer: object) -> int:
        """The number of a gold; -1 for one that kernels cannot read, and without room."""

    @abstractmethod
    def has_room(self, n: int) -> bool:
        """Whether there certainly is room for ``n`` golds more."""

    @abstractmethod
    def for_reader(self, golds: Sequence[int]) -> tuple[Sequence[int], Golds]:
        """The golds of responses as the kernel that reads tags wants them."""

    @abstractmethod
    def outcomes(self, read: Tags, golds: Sequence[int]) -> list[Outcome | None]:
        """The outcomes of responses whose tags were read; None for those that are left."""

    @abstractmethod
    def shown(self, said: str, n: int) -> Any:
        """The texts of so many tags, with a newline between them, as ``--details`` has them."""

    @abstractmethod
    def shown_gold(self, number: int) -> Any:
        """Gold likewise."""


class MotifJudge(TagJudge):
    """REL-C2. ``steps`` a search may have; what needs more is left."""

    def __init__(
        self, options: RelCOptions, details: bool, reader: TagReader, motifs: Motifs, steps: int
    ) -> None:
        super().__init__(options, details, reader, one=True)
        self._motifs, self._steps = motifs, steps

    def make_room(self, n: int) -> bool:
        if self.has_room(n):
            return False
        self._motifs.forget()
        return True

    def has_room(self, n: int) -> bool:
        return self._motifs.room >= n

    def number(self, answer: object) -> int:
        return self._motifs.number(motif.gold_of(answer))

    def for_reader(self, golds: Sequence[int]) -> tuple[Sequence[int], Golds]:
        return [0] * len(golds), NO_GOLDS

    def outcomes(self, read: Tags, golds: Sequence[int]) -> list[Outcome | None]:
        from relfast.chem.clean_text import flaw_of_text

        said = str(memoryview(read.texts)[: read.n_bytes], "ascii")
        outcomes: list[Outcome | None] = [None] * len(golds)
        asked: list[int] = []
        spans: list[int] = []
        strict = self._strict
        for at, (n, start, end, how) in enumerate(zip(read.n, read.start, read.end, read.how, strict=True)):
            if n > 0 and end - start > 1:
                text = said[start : end - 1]
                flaw = flaw_of_text(text) if strict and how == READ_NEARLY else None
                if flaw is None:
                    asked.append(at)
                    spans += (start, end - 1)
                else:
                    outcomes[at] = motif.nothing(text, flaw)
            elif n >= 0:
                outcomes[at] = motif.no_answer(strict, None, reason_of(how))
        chosen = [golds[at] for at in asked]
        pairs = self._motifs.judge(chosen, read.texts, spans, steps=self._steps)
        for at, number, found, start, end in zip(asked, chosen, pairs, spans[::2], spans[1::2], strict=True):
            outcomes[at] = motif.decide(found, self._motifs.golds[number], said[start:end], strict=strict)
        return outcomes

    def shown(self, said: str, n: int) -> str | None:
        return said if n > 0 else None

    def shown_gold(self, number: int) -> str:
        return self._motifs.golds[number].text


class IsomersJudge(TagJudge):
    """REL-C3."""

    def __init__(self, options: RelCOptions, details: bool, reader: TagReader, table: SmilesTable) -> None:
        super().__init__(options, details, reader, one=False)
        self._table, self._golds = table, IsomerGolds()

    def make_room(self, n: int) -> bool:
        if self.has_room(n):
            return False
        self._golds = IsomerGolds()
        return True

    def has_room(self, n: int) -> bool:
        return self._golds.has_room(n)

    def number(self, answer: object) -> int:
        gold = missing_isomers.gold_of(answer)
        if not isinstance(gold, list) or (self._strict and not gold):
            return -1
        return self._golds.number(gold, missing_isomers.given_of(answer) if self._strict else ())

    def for_reader(self, golds: Sequence[int]) -> tuple[Sequence[int], Golds]:
        return golds, self._golds.known

    def outcomes(self, read: Tags, golds: Sequence[int]) -> list[Outcome | None]:
        n_read = sum(read.was_read)
        n_texts = sum(
            n + self._golds.n_texts(gold)
            for n, gold, was_read in zip(read.n, golds, read.was_read, strict=True)
            if was_read
        )
        told = self._table.hold(
            read.texts,
            read.n_bytes,
            read.sizes.buffer_info()[0],
            n_read,
            n_texts,
            self._golds.kept,
            strict=self._strict,
        )
        outcomes: list[Outcome | None] = []
        at = 2 * n_texts
        for n, how, was_read, gold in zip(read.n, read.how, read.was_read, golds, strict=True):
            outcomes.append(self._outcome(told[at : at + RESULT_COLUMNS], n, gold, how) if was_read else None)
            at += RESULT_COLUMNS * was_read
        return outcomes

    def _outcome(self, told: Sequence[int], n: int, gold: int, how: int) -> Outcome | None:
        """The outcome of so many tags against a gold; None where the table cannot say."""
        if not told[DECIDED]:
            return None
        tp, vote = told[TRUE_POSITIVES], told[VOTE]
        if not self._strict:
            return missing_isomers.published_outcome(tp, vote, n, self._golds.n_gold(gold), found=n > 0)
        from relfast.chem.smiles_table import FLAWS

        flaw = FLAWS[told[FLAW]] if n else reason_of(how)
        n_predictions = n - told[N_NEUTRAL]
        return missing_isomers.strict_outcome(tp, told[N_WANTED], n_predictions, flaw, vote, found=n > 0)

    def shown(self, said: str, n: int) -> list[str]:
        return said.split("\n") if n > 0 else []

    def shown_gold(self, number: int) -> list[str]:
        return self._golds.shown[number]


class IsomerGolds:
    """Golds of REL-C3 by number, with the molecules that were given beside them, as the kernels take them.

    Safe to use from several threads: they are only added, and what was added stays where it is."""

    def __init__(self) -> None:
        from relfast.chem.smiles_table import KEPT_NUMBERS, lazy_memory

        self._columns = (ctypes.c_int64 * (GOLD_COLUMNS * GOLDS))()
        self._texts = lazy_memory(GOLD_BYTES)
        self._kept = lazy_memory(8 * KEPT_NUMBERS)
        self._room_kept = KEPT_NUMBERS
        self._numbers: dict[tuple[str, int, str, int], int] = {}
        self._used = self._used_kept = 0
        self._adding = threading.Lock()
        self.shown: list[list[str]] = []

    def has_room(self, n: int) -> bool:
        """Whether there certainly is room for ``n`` more."""
        return len(self._numbers) + n <= GOLDS and 4 * self._used <= 3 * GOLD_BYTES

    @property
    def kept(self) -> ctypes.c_void_p:
        """Where the kernel keeps what it found of them."""
        return ctypes.c_void_p(ctypes.addressof(self._kept))

    @property
    def known(self) -> Golds:
        """All of them."""
        return Golds(self._columns, len(self.shown), self._texts, GOLD_BYTES)

    def n_gold(self, number: int) -> int:
        """Molecules of a gold."""
        return self._columns[GOLD_COLUMNS * number + GOLD_N]

    def n_texts(self, number: int) -> int:
        """Those and the given ones."""
        return self.n_gold(number) + self._columns[GOLD_COLUMNS * number + GOLD_N_GIVEN]

    def number(self, gold: list[Any], given: Sequence[str]) -> int:
        """The number of a gold from now on; -1 where a molecule is no text, and without room."""
        from relfast.chem.smiles_table import joined

        try:
            key = "\n".join(gold), len(gold), "\n".join(given), len(given)
        except TypeError:
            return -1
        number = self._numbers.get(key)
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
                n_kept = KEPT_FACTS + 2 * (len(gold) + len(given))
                place = self._used_kept if self._used_kept + n_kept <= self._room_kept else NOT_KEPT
                self._used_kept += n_kept if place != NOT_KEPT else 0
                at = GOLD_COLUMNS * number
                for column, value in (
                    (GOLD_START, start),
                    (GOLD_END, end),
                    (GOLD_GIVEN_END, given_end),
                    (GOLD_N, len(gold)),
                    (GOLD_N_GIVEN, len(given)),
                    (GOLD_KEPT, place),
                ):
                    self._columns[at + column] = value
                self.shown.append(gold)
            self._numbers[key] = number
        return number


class TagTexts:
    """A `relfast.tasks.modules.TextJudge` of what a judge says of texts at hand. Equal answers to a gold are
    judged once. Thread-safe: of what is known each step is one of a dictionary, and who comes between two of
    them at most has an answer judged again."""

    def __init__(self, judge: TagJudge, metrics: tuple[str, ...]) -> None:
        self._judge, self.metrics = judge, metrics
        self._known: dict[tuple[int, int, str], JudgedText] = {}

    @property
    def is_full(self) -> bool:
        """Whether there may be no room for more."""
        return not self._judge.has_room(MAX_TEXTS)

    def gold(self, answer: object) -> int:
        """The number of a gold; -1 for one that kernels cannot read."""
        return self._judge.number(answer) if type(answer) is dict else -1

    def judge(self, golds: Sequence[int], texts: Sequence[str]) -> tuple[list[JudgedText | None], int]:
        """What each of some texts is worth against its gold, and how many of their answers were known."""
        judged: list[JudgedText | None] = []
        n_known = 0
        for first in range(0, len(texts), MAX_AT_ONCE):
            some, known = self._judge_some(
                golds[first : first + MAX_AT_ONCE], texts[first : first + MAX_AT_ONCE]
            )
            judged += some
            n_known += known
        return judged, n_known

    def judge_one(self, gold: int, text: str) -> tuple[JudgedText | None, bool]:
        """`judge` of one text, and whether its answer was known."""
        (judged,), n_known = self._judge_some([gold], [text])
        return judged, n_known > 0

    def _judge_some(self, golds: Sequence[int], texts: Sequence[str]) -> tuple[list[JudgedText | None], int]:
        judge = self._judge
        block = packed(texts)
        reader = judge.reader()
        read = reader.read(block, range(len(texts)), *judge.for_reader(golds))
        said = str(memoryview(read.texts)[: read.n_bytes], "latin-1")
        answers = [
            (gold, how, said[start : end - 1] if n > 0 else "")
            for gold, n, how, start, end in zip(golds, read.n, read.how, read.start, read.end, strict=True)
        ]
        judged = [
            self._known.get(answer) if was_read else None
            for answer, was_read in zip(answers, read.was_read, strict=True)
        ]
        n_known = len(judged) - judged.count(None)
        if n_known < sum(read.was_read):
            if len(self._known) >= KNOWN:
                self._known.clear()
            new = {}
            for at, (answer, outcome) in enumerate(zip(answers, judge.outcomes(read, golds), strict=True)):
                if outcome is None or judged[at] is not None:
                    continue
                if answer in new:
                    n_known += 1
                else:
                    new[answer] = judged_text(outcome, self._said(answer[2]))
                judged[at] = new[answer]
            self._known.update(
                (answer, one) for answer, one in new.items() if len(answer[2]) <= MAX_KNOWN_CHARS
            )
        judge.give_back(reader)
        return judged, n_known

    @staticmethod
    def _said(text: str) -> str | None:
        """The molecules in alphabetical order, as `missing_isomers.said` has them."""
        return ", ".join(sorted(text.split("\n")))[:MAX_SAID] if text else None


_NO_SCRATCH: Final = (ctypes.c_char * 1)()


def packed(texts: Sequence[str]) -> Block:
    """The texts as responses of a block, from 0 on. Raises `UnicodeEncodeError` for lone surrogates."""
    n = len(texts)
    joined = "".join(texts)
    data = joined.encode()
    ends = [*accumulate(map(len, texts if joined.isascii() else map(str.encode, texts)), initial=0)]
    # zeros elsewhere: all texts are in the data
    records = _numbers(RECORD_COLUMNS * n)()
    view = memoryview(records).cast("B").cast("q")
    view[RECORD_TEXT::RECORD_COLUMNS] = array("q", ends[:-1])
    view[RECORD_TEXT_END::RECORD_COLUMNS] = array("q", ends[1:])
    return Block.of(data, _NO_SCRATCH, records)


@lru_cache(MAX_AT_ONCE)
def _numbers(n: int) -> type[ctypes.Array[ctypes.c_int64]]:
    """The type of arrays of a length: to make one takes 50 µs."""
    return ctypes.c_int64 * n


# What `relfast.tasks.rel_c` names; each gives None where the options or missing machine code do not allow it


def open_motifs(setting: Setting) -> MotifJudge | None:
    """The judge of REL-C2's blocks."""
    from relfast.chem.common_substructure import SHORT_STEPS

    return _motif_judge(setting.options, setting.details, SHORT_STEPS)


def open_isomers(setting: Setting) -> IsomersJudge | None:
    """The judge of REL-C3's blocks."""
    return _isomers_judge(setting.options, setting.details)


def open_motif_texts(options: RelCOptions, threads: int) -> TagTexts | None:
    """The judge of texts for REL-C2; ``threads`` are not used."""
    from relfast.chem.common_substructure import MAX_STEPS

    # no search takes longer than 10 ms, and to stop it and begin it anew would take longer still
    judge = _motif_judge(options, False, MAX_STEPS)
    metrics = (*motif.metrics_of(False, False, 0.0), *(("overlap_skill", "reason") if options.strict else ()))
    return None if judge is None else TagTexts(judge, metrics)


def open_isomer_texts(options: RelCOptions, threads: int) -> TagTexts | None:
    """The judge of texts for REL-C3; ``threads`` are not used."""
    judge = _isomers_judge(options, False)
    metrics = (*missing_isomers.measures(0, 0, 0), *(("reason",) if options.strict else ()))
    return None if judge is None else TagTexts(judge, metrics)


def _motif_judge(options: RelCOptions, details: bool, steps: int) -> MotifJudge | None:
    from relfast.chem.common_substructure import Golds as Motifs

    if options.strict and options.tautomers != "apart":
        return None
    motifs, reader = Motifs.open(whole_rings=options.strict), TagReader.open(options, one=True)
    return None if motifs is None or reader is None else MotifJudge(options, details, reader, motifs, steps)


def _isomers_judge(options: RelCOptions, details: bool) -> IsomersJudge | None:
    from relfast.chem.smiles_table import simple_table

    if options.strict and options.tautomers != "apart":
        return None
    table, reader = simple_table(), TagReader.open(options, one=False)
    return None if table is None or reader is None else IsomersJudge(options, details, reader, table)
