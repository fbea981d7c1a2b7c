"""Scored rows of any tasks and summaries of runs, read once and added up; a few rows are kept to be shown."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

import orjson

from relfast.engine.io.scored import read_scores
from relfast.engine.job import Job
from relfast.engine.past_run import past_run
from relfast.records import SCORED, Record, Score
from relfast.report.base import OnStep, ignore_step
from relfast.report.inputs import (
    Dump,
    Input,
    SharedRows,
    check_summaries,
    dump_beside,
    find_inputs,
    is_summary_of,
)
from relfast.report.sizes import SizeCounter, SizeTable
from relfast.stats.samples import group_of, id_text
from relfast.stats.summary import Summary, Tally, add_majorities, summarize
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

T = TypeVar("T")

OF_EACH_KIND: Final = 12
"""Rows that are kept of each kind (a task's right ones, its mistakes by kind, what has no score), however
rare it is."""


class Sample(Generic[T]):
    """The rows chosen so far; ``limit`` of all (0: none), beside `OF_EACH_KIND` of each kind."""

    def __init__(self, limit: int, of_each: int = OF_EACH_KIND) -> None:
        self.limit = limit
        self.of_each = of_each if limit else 0
        self._items: dict[tuple[int, int], tuple[str, T]] = {}
        self._first: list[tuple[int, int]] = []
        self._kinds: dict[str, list[tuple[int, int]]] = {}
        self._uses: dict[tuple[int, int], int] = {}

    def wants(self, prompt: int, serial: int, kind: str) -> bool:
        """Whether a row would be kept: its prompt's hash, its number among the rows, its kind."""
        key = (-prompt, -serial)
        heap = self._kinds.get(kind, [])
        return (
            len(self._first) < self.limit
            or len(heap) < self.of_each
            or bool(self.limit and key > self._first[0])
            or bool(self.of_each and key > heap[0])
        )

    def add(self, prompt: int, serial: int, kind: str, item: T) -> None:
        """Keep a row that is wanted."""
        key = (-prompt, -serial)
        self._items[key] = kind, item
        self._uses[key] = 1
        self._push(self._first, self.limit, key)
        self._push(self._kinds.setdefault(kind, []), self.of_each, key)
        self._release(key)

    def _push(self, heap: list[tuple[int, int]], limit: int, key: tuple[int, int]) -> None:
        self._uses[key] += 1
        if len(heap) < limit:
            heapq.heappush(heap, key)
            return
        self._release(heapq.heappushpop(heap, key) if limit else key)

    def _release(self, key: tuple[int, int]) -> None:
        self._uses[key] -= 1
        if not self._uses[key]:
            del self._uses[key], self._items[key]

    def merge(self, other: Sample[T], first_serial: int) -> None:
        """Add another file's choice, whose rows are numbered from ``first_serial`` on: as if they
        had been offered one by one."""
        for (prompt, serial), (kind, item) in other._items.items():
            if self.wants(-prompt, first_serial - serial, kind):
                self.add(-prompt, first_serial - serial, kind, item)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        """The rows in their order."""
        for key in sorted(self._items, key=lambda key: -key[1]):
            yield self._items[key][1]


ROWS_AT_A_TIME: Final = 10_000
MAX_KINDS: Final = 200
"""Kinds of errors and mistakes of a task that are told apart; hostile rows could have a new one each."""
MAX_ERROR_CHARS: Final = 200


@dataclass
class Drawn:
    """The values that a task's own section (`relfast.tasks.display`) needs, a row each; NaN is null."""

    columns: dict[str, array[float]]
    correct: bytearray = field(default_factory=bytearray)

    def merge(self, other: Drawn) -> None:
        self.correct += other.correct
        for name, values in other.columns.items():
            self.columns[name].extend(values)


class Kept(NamedTuple):
    """A row that a page can show, with its record where there is one, what kind of row it is, and the tokens
    of its response, where the dump says them."""

    score: Score
    record: Record | None
    kind: str
    tokens: int | None = None


@dataclass
class Counted:
    """What is counted of rows beside `Tally`. Adds up.

    ``rewards`` by task; ``errors`` and ``mistakes``: rows by task and kind, of errors with a message as
    example; ``strict`` is whether rows were scored under that policy.
    """

    rewards: dict[str, array[float]] = field(default_factory=dict)
    drawn: dict[str, Drawn] = field(default_factory=dict)
    sizes: dict[str, SizeTable] = field(default_factory=dict)
    errors: dict[tuple[str, str, str], tuple[int, str]] = field(default_factory=dict)
    mistakes: dict[str, dict[str, int]] = field(default_factory=dict)
    strict: bool = False
    joined: int = 0

    def merge(self, other: Counted) -> None:
        for task, values in other.rewards.items():
            self.rewards.setdefault(task, array("d")).extend(values)
        for task, drawn in other.drawn.items():
            if task in self.drawn:
                self.drawn[task].merge(drawn)
            else:
                self.drawn[task] = drawn
        for task, table in other.sizes.items():
            self.sizes.setdefault(task, SizeTable()).merge(table)
        for key, (n, message) in other.errors.items():
            mine = self.errors.get(key, (0, message))
            self.errors[key] = mine[0] + n, mine[1]
        for task, counts in other.mistakes.items():
            mine_counts = self.mistakes.setdefault(task, {})
            for kind, n in counts.items():
                mine_counts[kind] = mine_counts.get(kind, 0) + n
        self.strict = self.strict or other.strict
        self.joined += other.joined


@dataclass
class Scored:
    """A run's rows, read: the numbers of `relfast.stats.summary`, what is drawn, and the rows to show."""

    summary: Summary
    counted: Counted = field(default_factory=Counted)
    sample: Sample[Kept] = field(default_factory=lambda: Sample(0))
    inputs: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    dumps: list[str] = field(default_factory=list)
    name: str = ""

    @property
    def rewards(self) -> dict[str, array[float]]:
        return self.counted.rewards

    @property
    def drawn(self) -> dict[str, Drawn]:
        return self.counted.drawn


@dataclass
class Asked:
    """What a report is asked to read beside its inputs: ``dump`` (empty: the one that the journal names, or
    that lies beside the rows), and how many rows are kept to be shown. The journal says how it is read."""

    dump: Sequence[str] = ()
    records: int = 0


def read_scored(
    inputs: Sequence[str],
    *,
    shards: bool = False,
    asked: Asked | None = None,
    on_step: OnStep = ignore_step,
) -> Scored:
    """Read and add up scored files and summaries as one run.

    Raises
    ------
    InputError, UsageError
        See `relfast.report.scored.generate_report`.
    """
    found = find_inputs(inputs)
    shared = SharedRows(shards=shards)
    parts = [_read(item, shared, asked or Asked(), on_step) for item in found if item.summary is None]
    shared.check()
    return _together(found, parts, shards=shards)


def read_apart(
    inputs: Sequence[str], *, shards: bool, asked: Asked, on_step: OnStep = ignore_step
) -> list[Scored]:
    """The same; files that hold the same rows are runs of several models, each of its own."""
    found = find_inputs(inputs)
    shared = SharedRows(shards=shards)
    parts = [_read(item, shared, asked, on_step) for item in found if item.summary is None]
    # a summary says of no record that it is in both: files and summaries together are one run, or refused
    if shards or len(parts) < len(found) or not shared.meet():
        shared.check()
        whole = _together(found, parts, shards=shards)
        whole.name = found[0].path if found else ""
        return [whole]
    runs = []
    for item, part in zip(found, parts, strict=True):
        runs.append(_together([item], [part], shards=False))
        runs[-1].name = item.path
    return runs


@dataclass
class Part:
    """The rows of one file."""

    path: str
    tally: Tally
    counted: Counted
    sample: Sample[Kept]
    dump: Dump | None


def _read(item: Input, shared: SharedRows, asked: Asked, on_step: OnStep) -> Part:
    on_step(f"reading {item.path}")
    past = past_run(item.path)
    beside = dump_beside(item.path)
    names = list(asked.dump) or list(past.inputs if past is not None else ()) or ([beside] if beside else [])
    dump = Dump(names, Job() if past is None else past.job) if names else None
    part = Part(item.path, Tally(), Counted(), Sample(asked.records), dump)
    counter = _Counter(part)
    scores = shared.add(item.source, read_scores(item.source))
    while pending := list(islice(scores, ROWS_AT_A_TIME)):
        part.tally.merge(Tally.of(pending))
        for score in pending:
            counter.add(score)
    counter.finish()
    return part


class _Counter:
    """Counts the rows of a file, one after the other."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._sizes: dict[str, SizeCounter] = {}
        self._serial = 0

    def add(self, score: Score) -> None:
        counted, task = self._part.counted, group_of(score.task)
        record = self._part.dump.record_of(score) if self._part.dump is not None else None
        counted.joined += record is not None
        gold = None
        if task in TASKS:
            counter = self._sizes.get(task)
            if counter is None:
                counter = self._sizes[task] = SizeCounter(
                    TASKS[task], counted.sizes.setdefault(task, SizeTable())
                )
            gold = counter.add(score, record)
        kind = self._scored(score, task, gold) if score.status in SCORED else self._failed(score, task)
        self._keep(score, record, task, kind)
        self._serial += 1

    def finish(self) -> None:
        for counter in self._sizes.values():
            counter.finish()

    def _scored(self, score: Score, task: str, gold: str | None) -> str:
        counted = self._part.counted
        if score.reward is not None:
            values = counted.rewards.get(task)
            if values is None:
                values = counted.rewards[task] = array("d")
            values.append(score.reward)
        if "reason" in score.metrics:
            counted.strict = True
        if task in TASKS:
            _add_drawn(counted.drawn, score, task)
        if score.correct:
            return "right"
        kind = mistake_of(score, task, gold)
        counts = counted.mistakes.setdefault(task, {})
        if kind in counts or len(counts) < MAX_KINDS:
            counts[kind] = counts.get(kind, 0) + 1
        return kind

    def _failed(self, score: Score, task: str) -> str:
        error = score.error if isinstance(score.error, Mapping) else {}
        key = (task, score.status, str(error.get("type", ""))[:MAX_ERROR_CHARS])
        errors = self._part.counted.errors
        if key in errors or len(errors) < MAX_KINDS:
            n, message = errors.get(key, (0, str(error.get("message", ""))[:MAX_ERROR_CHARS]))
            errors[key] = n + 1, message
        return f"{score.status} {key[2]}".strip()

    def _keep(self, score: Score, record: Record | None, task: str, kind: str) -> None:
        sample = self._part.sample
        if not sample.limit:
            return
        prompt = prompt_hash(score)
        if sample.wants(prompt, self._serial, f"{task}\n{kind}"):
            dump = self._part.dump
            tokens = dump.tokens_of(record) if dump is not None and record is not None else None
            sample.add(prompt, self._serial, f"{task}\n{kind}", Kept(score, record, kind, tokens))


def prompt_hash(score: Score) -> int:
    """A number that is the same for all responses to a prompt, in every run."""
    key = id_text(score.id) if score.id is not None else orjson.dumps(score.index)
    return int.from_bytes(blake2b(key, digest_size=8, person=b"prompt").digest(), "little")


def mistake_of(score: Score, task: str, gold: str | None) -> str:
    """What is wrong with a scored row that is not correct, in a few words."""
    reason = score.metrics.get("reason")
    if isinstance(reason, str):
        return reason[:MAX_ERROR_CHARS]
    if score.status == "no_answer":
        return "no answer"
    display = TASKS[task].display if task in TASKS else None
    if display is None or display.mistake is None:
        return "wrong answer"
    try:
        return str(resolve(display.mistake)(score.metrics, gold))[:MAX_ERROR_CHARS]
    except (KeyError, TypeError):  # rows that relfast did not write
        return "wrong answer"


def _add_drawn(drawn: dict[str, Drawn], score: Score, task: str) -> None:
    display = TASKS[task].display
    if display is None or not display.columns or not isinstance(score.correct, bool):
        return
    values = [score.metrics.get(name) for name in display.columns]
    if not isinstance(values[0], int | float):
        return
    kept = drawn.get(task)
    if kept is None:
        kept = drawn[task] = Drawn({name: array("d") for name in display.columns})
    kept.correct.append(score.correct)
    for name, value in zip(display.columns, values, strict=True):
        kept.columns[name].append(value if isinstance(value, int | float) else float("nan"))


def _together(found: Iterable[Input], parts: Sequence[Part], *, shards: bool) -> Scored:
    """A run of some files' rows and summaries."""
    found = list(found)
    summaries = [(item.path, item.summary) for item in found if item.summary is not None]
    whole = Tally()
    scored = Scored(summarize(Tally(), ""), inputs=[Path(item.path).name for item in found])
    scored.paths = [part.path for part in parts]
    own_rows: list[tuple[str, Summary]] = []
    if parts:
        scored.sample = Sample(parts[0].sample.limit)
    n = 0
    for part in parts:
        # to be held against the summaries, and for its tasks
        own_rows.append((part.path, summarize(part.tally, "")))
        whole.merge(part.tally)
        scored.counted.merge(part.counted)
        scored.sample.merge(part.sample, n)
        n += part.tally.rows
    own, others = _pair(summaries, own_rows)
    check_summaries(others, own_rows, shards=shards)
    scored.summary = summarize(whole, "")
    _take_over(scored.summary, own, own_rows)
    for _, other in others:
        scored.summary.signature = scored.summary.signature or other.signature
        scored.summary.merge(other)
    for dump in (part.dump for part in parts if part.dump is not None):
        scored.dumps += [Path(name).name for name in dump.names if Path(name).name not in scored.dumps]
        if dump.problem is not None:
            scored.summary.notes.append(f"questions and responses are missing: {dump.problem}")
    return scored


def _pair(
    summaries: Sequence[tuple[str, Summary]], parts: Sequence[tuple[str, Summary]]
) -> tuple[dict[str, Summary], list[tuple[str, Summary]]]:
    """The summaries that are of files read here, by that file, and all others."""
    own: dict[str, Summary] = {}
    others = []
    for path, summary in summaries:
        rows = next((name for name, part in parts if is_summary_of(summary, name, part)), None)
        if rows is None:
            others.append((path, summary))
        else:
            own[rows] = summary
    return own, others


def _take_over(whole: Summary, own: Mapping[str, Summary], parts: Sequence[tuple[str, Summary]]) -> None:
    """Take from the rows' own summaries what rows do not say, signature and majority votes. Their numbers
    are the rows' and count once."""
    for name, task in whole.tasks.items():
        of_task = [(path, part.tasks[name]) for path, part in parts if name in part.tasks]
        task.majority = {}  # of rows alone: they carry no votes
        # a prompt whose samples lie in two files has two majorities there, and another one here
        prompts_apart = sum(part.prompts for _, part in of_task) == task.prompts
        if prompts_apart and all(path in own for path, _ in of_task):
            for path, _ in of_task:
                add_majorities(task.majority, own[path].tasks[name].majority)
    made = [summary.signature for summary in own.values()]
    if not own:
        pasts = [(past_run(path), part) for path, part in parts]
        made = [past.signature(part.tasks) for past, part in pasts if past is not None]
    for signature in dict.fromkeys(made):
        if whole.signature:
            whole.notes.append(f"merged with rows signed {signature}")
        else:
            whole.signature = signature
    if own:
        whole.notes.append("rows and their own summaries are counted once")


def prompts_of(rows: Iterator[Kept]) -> set[tuple[str | None, str]]:
    """Which prompts some rows answer."""
    return {(kept.score.task, repr(kept.score.id)) for kept in rows}
