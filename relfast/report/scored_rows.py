"""Read scored rows and summaries of runs in one pass, add them up, and keep a sample of rows for the page."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from relfast.engine.files.io.scored import Unusable, is_unusable, read_scores
from relfast.engine.files.io.writer import past_run, past_votes
from relfast.engine.job import Job
from relfast.errors import UsageError, printable
from relfast.inference.request_log import read_header
from relfast.json_text import encode_json
from relfast.records import CUT_OFF, SCORED, Record, Score
from relfast.report.by_size import SizeCounter, SizeTable, display_of
from relfast.report.inputs import (
    Dump,
    Input,
    SharedRows,
    check_summaries,
    dump_beside,
    find_inputs,
    is_summary_of,
)
from relfast.report.page import OnStep, ignore_step
from relfast.stats.samples import SAMPLE, UNKNOWN_TASK, group_of, key_of, with_votes
from relfast.stats.summary import Summary, Tally, summarize
from relfast.stats.sums import add_columns, add_counts
from relfast.stats.tally import METRICS
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

T = TypeVar("T")

OF_EACH_KIND: Final = 12
"""Rows kept of each kind, even if it is rare. Kinds: a task's right rows, its mistakes by kind, its rows
without a score by cause."""


class Sample(Generic[T]):
    """A sample of rows, the same for every model: rows of the prompts with the smallest hashes. It has
    ``limit`` rows (0: none), and in addition `OF_EACH_KIND` rows of each kind."""

    def __init__(self, limit: int, of_each: int = OF_EACH_KIND) -> None:
        self.limit = limit
        self.of_each = of_each if limit else 0
        self._chosen: dict[str | None, list[tuple[int, int, str, T]]] = {}

    def _groups(self, kind: str) -> Iterator[tuple[list[tuple[int, int, str, T]], int]]:
        """The heaps that may keep a row of a kind, with their capacity; the row to drop next is on top."""
        for group, most in ((None, self.limit), (kind, self.of_each)):
            if most:
                yield self._chosen.setdefault(group, []), most

    def wants(self, prompt: int, serial: int, kind: str) -> bool:
        """Whether a row would be kept, given its prompt's hash, its number among the rows, and its kind."""
        place = -prompt, -serial
        return any(len(heap) < most or heap[0][:2] < place for heap, most in self._groups(kind))

    def add(self, prompt: int, serial: int, kind: str, item: T) -> None:
        """Offer a row; it is kept as long as it is among the first ones."""
        for heap, most in self._groups(kind):
            heappush(heap, (-prompt, -serial, kind, item))
            if len(heap) > most:
                heappop(heap)

    def merge(self, other: Sample[T], first_serial: int) -> None:
        """Add the sample of another file, whose rows are numbered from ``first_serial`` on. The result is
        the same as if its rows had been offered one by one."""
        for (serial, prompt), (kind, item) in other._items().items():
            self.add(prompt, first_serial + serial, kind, item)

    def _items(self) -> dict[tuple[int, int], tuple[str, T]]:
        """All kept rows: (number, prompt) → (kind, row)."""
        every = chain.from_iterable(self._chosen.values())
        return {(-serial, -prompt): (kind, item) for prompt, serial, kind, item in every}

    def __len__(self) -> int:
        return len(self._items())

    def __iter__(self) -> Iterator[T]:
        """The kept rows, in the order of the input."""
        items = self._items()
        return (items[key][1] for key in sorted(items))


ROWS_AT_A_TIME: Final = 10_000
MAX_KINDS: Final = 200
"""Maximum kinds of errors and mistakes that are counted; hostile rows could each have a new one."""
MAX_ERROR_CHARS: Final = 200


class Kept(NamedTuple):
    """A row for the page, with its record (if the dump has it), the kind of row, and the number of tokens
    of its response (if the dump gives it)."""

    score: Score
    record: Record | None
    kind: str
    tokens: int | None = None


@dataclass
class Counted:
    """What a report collects from rows beside a `Tally`; it can be merged.

    ``rewards``: values by task; ``drawn``: values that a task's own section (`Display.columns`) needs, one
    per row, NaN for null and 1 for a label; ``errors``: (task, status, type) → (rows, first message);
    ``mistakes``: task → kind → rows; ``reasons``: task → reason of ``strict`` → rows that it turned down;
    ``strict``: whether rows were scored under that policy.
    """

    rewards: dict[str, array[float]] = field(default_factory=dict)
    drawn: dict[str, dict[str, array[float]]] = field(default_factory=dict)
    sizes: dict[str, SizeTable] = field(default_factory=dict)
    errors: dict[tuple[str, str, str], tuple[int, str]] = field(default_factory=dict)
    mistakes: dict[str, dict[str, int]] = field(default_factory=dict)
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    strict: bool = False

    def merge(self, other: Counted) -> None:
        for task, values in other.rewards.items():
            self.rewards.setdefault(task, array("d")).extend(values)
        for task, drawn in other.drawn.items():
            for name, values in drawn.items():
                self.drawn.setdefault(task, {}).setdefault(name, array("d")).extend(values)
        for task, table in other.sizes.items():
            self.sizes.setdefault(task, SizeTable()).merge(table)
        for key, (n, message) in other.errors.items():
            known = self.errors.get(key, (0, message))
            self.errors[key] = known[0] + n, known[1]
        for mine, others in ((self.mistakes, other.mistakes), (self.reasons, other.reasons)):
            for task, counts in others.items():
                add_counts(mine.setdefault(task, {}), counts)
        self.strict = self.strict or other.strict


@dataclass
class Scored:
    """A run that has been read: its `relfast.stats.summary.Summary`, values to draw, and rows to show."""

    name: str
    summary: Summary
    counted: Counted
    sample: Sample[Kept]
    inputs: list[str]
    paths: list[str]
    dumps: list[str]


def read_scored(inputs: Sequence[str], **how: Any) -> Scored:
    """Read and merge scored files and summaries as one run; ``how`` has options of `read_runs`."""
    return read_runs(inputs, apart=False, **how)[0]


def read_runs(
    inputs: Sequence[str],
    *,
    shards: bool = False,
    dump: Sequence[str] = (),
    records: int = 0,
    on_step: OnStep = ignore_step,
    apart: bool = True,
) -> list[Scored]:
    """Read scored files and summaries as one run; or, if ``apart`` and files have the same rows, as one
    run per file, of several models.

    Parameters
    ----------
    dump
        The files that the rows were scored from. Default: those that the journal names, or the dump beside
        the rows. The journal says how to read them.
    records
        How many rows are kept for the page.

    Raises
    ------
    InputError, UsageError
        See `relfast.report.scored.generate_report`.
    """
    found = find_inputs(inputs)
    shared = SharedRows(shards=shards)
    parts = [_read(item, shared, dump, records, on_step) for item in found if item.summary is None]
    # summaries do not say which records they count: with summaries the files are one run, or an error
    separable = apart and not shards and len(parts) == len(found)
    groups = [(found, parts)]
    try:
        shared.check()
        models = [model_of([item.path]) for item in found]
        if separable and all(models):  # asked different records, perhaps, but no parts of one run
            of_models: dict[str, tuple[list[Input], list[Part]]] = {model: ([], []) for model in models}
            for model, item, part in zip(models, found, parts, strict=True):
                items, of_model = of_models[model]
                items.append(item)
                of_model.append(part)
            groups = list(of_models.values())
    except UsageError:
        if not separable:
            raise
        groups = [([item], [part]) for item, part in zip(found, parts, strict=True)]
    return [_together(items, of_run, shards=shards, told=separable) for items, of_run in groups]


def model_of(paths: Sequence[str]) -> str:
    """The model in the headers of a run's files; empty if headers name no model or several."""
    models = {str((read_header(path) or {}).get("model") or "") for path in paths}
    return models.pop() if len(models) == 1 else ""


@dataclass
class Foreign:
    """What rows hold that relfast does not know: rows with a score of unknown tasks, and names of metrics."""

    rows: int = 0
    metrics: dict[str, None] = field(default_factory=dict)

    def add(self, score: Score, task: str) -> None:
        self.rows += task not in METRICS
        known = METRICS.get(task, _DETAILS)
        for name, value in score.metrics.items():
            is_foreign = name not in known and name not in _DETAILS and isinstance(value, int | float)
            if is_foreign and len(self.metrics) <= MOST_NAMES:
                self.metrics.setdefault(name)

    def notes(self) -> Iterator[str]:
        if self.rows:
            rows = "1 row has" if self.rows == 1 else f"{self.rows:,} rows have"
            yield (
                f"{rows} a task that relfast does not know: counted as {UNKNOWN_TASK}, without metrics,"
                " question and response"
            )
        if self.metrics:
            more = ", …" if len(self.metrics) > MOST_NAMES else ""
            names = ", ".join(printable(f"{name:.40}") for name in [*self.metrics][:MOST_NAMES])
            yield f"metrics that relfast does not know are not averaged: {names}{more}"


_DETAILS: Final = frozenset({CUT_OFF, "pred", "gold"})
"""Names in ``metrics`` that are no metrics and may hold numbers: those of ``--details``, and `CUT_OFF`."""
MOST_NAMES: Final = 5


@dataclass
class Part:
    """The counts and the sample of one file, whose rows are added one by one. ``silent``: the tasks of rows
    with an answer whose vote is not known."""

    path: str
    dump: Dump | None
    sample: Sample[Kept]
    unusable: Unusable = field(default_factory=Unusable)
    foreign: Foreign = field(default_factory=Foreign)
    tally: Tally = field(default_factory=Tally)
    counted: Counted = field(default_factory=Counted)
    silent: set[str] = field(default_factory=set)
    _sizes: dict[str, SizeCounter] = field(default_factory=dict)
    _serial: int = 0

    def add(self, score: Score) -> None:
        counted, task = self.counted, group_of(score.task)
        readable = self.dump is not None and not is_unusable(score)
        record = self.dump.record_of(score) if self.dump is not None and readable else None
        gold = None
        if task in TASKS:
            if task not in self._sizes:
                self._sizes[task] = SizeCounter(TASKS[task], counted.sizes.setdefault(task, SizeTable()))
            gold = self._sizes[task].add(score, record)
        kind = self._scored(score, task, gold) if score.status in SCORED else self._failed(score, task)
        self._keep(score, record, task, kind)
        self._serial += 1

    def finish(self) -> None:
        for counter in self._sizes.values():
            counter.finish()

    def _scored(self, score: Score, task: str, gold: str | None) -> str:
        """Count a row with a score; returns its kind."""
        counted = self.counted
        self.foreign.add(score, task)
        if score.reward is not None:
            counted.rewards.setdefault(task, array("d")).append(score.reward)
        if "reason" in score.metrics:
            counted.strict = True
        _add_drawn(counted.drawn, score, task)
        if score.vote is None and score.status == "ok":
            self.silent.add(task)
        if score.correct:
            return "right"
        kind = mistake_of(score, task, gold)
        turned_down = isinstance(score.metrics.get("reason"), str)
        counts = (counted.reasons if turned_down else counted.mistakes).setdefault(task, {})
        if kind in counts or len(counts) < MAX_KINDS:
            counts[kind] = counts.get(kind, 0) + 1
        return kind

    def _failed(self, score: Score, task: str) -> str:
        """Count a row without a score; returns its kind."""
        error = score.error if isinstance(score.error, Mapping) else {}
        key = (task, score.status, str(error.get("type", ""))[:MAX_ERROR_CHARS])
        errors = self.counted.errors
        if key in errors or len(errors) < MAX_KINDS:
            n, message = errors.get(key, (0, str(error.get("message", ""))[:MAX_ERROR_CHARS]))
            errors[key] = n + 1, message
        return f"{score.status} {key[2]}".strip()

    def _keep(self, score: Score, record: Record | None, task: str, kind: str) -> None:
        sample = self.sample
        if not sample.limit:
            return
        prompt = prompt_hash(score)
        if sample.wants(prompt, self._serial, f"{task}\n{kind}"):
            dump = self.dump
            tokens = dump.tokens_of(record) if dump is not None and record is not None else None
            sample.add(prompt, self._serial, f"{task}\n{kind}", Kept(score, record, kind, tokens))


def _read(item: Input, shared: SharedRows, dump: Sequence[str], records: int, on_step: OnStep) -> Part:
    on_step(f"reading {item.path}")
    past = past_run(item.path)
    beside = dump_beside(item.path)
    names = list(dump) or list(past.inputs if past is not None else ()) or ([beside] if beside else [])
    read = Dump(names, Job() if past is None else past.job) if names else None
    part = Part(item.path, read, Sample(records))
    scores = shared.add(item.source, part.unusable.watch(read_scores(item.source)))
    while pending := list(islice(scores, ROWS_AT_A_TIME)):
        for score in pending:
            score.vote = _vote_in(score)
            part.add(score)
        part.tally.merge(Tally.of(pending))
    part.finish()
    votes = past_votes(item.path) if part.silent and item.source.regular else None
    if votes is not None and len(votes) == 4 * (len(part.tally.samples) // SAMPLE.size):
        part.tally.samples = bytearray(with_votes(part.tally.samples, votes))
        part.silent.clear()
    return part


def _vote_in(score: Score) -> str | None:
    """The vote of a row that holds its answer (``--details``); wrong answers that are written differently are
    different votes."""
    said = [score.metrics[name] for name in _ANSWER if score.metrics.get(name) is not None]
    if score.status != "ok" or not said:
        return None
    lists = [sorted({*map(str, part)}) if isinstance(part, list) else part for part in said]
    return "right" if score.correct else encode_json(lists).decode()


_ANSWER: Final = ("pred", "pred_label", "pred_taxa")
"""Names of ``--details`` that hold the answer that was read."""


def prompt_hash(score: Score) -> int:
    """A 64-bit hash of a row's prompt: the same for all responses to it, in every run."""
    key = key_of(score.id, score.prompt, score.index)
    return int.from_bytes(blake2b(key, digest_size=8, person=b"prompt").digest(), "little")


def mistake_of(score: Score, task: str, gold: str | None) -> str:
    """The kind of mistake of a scored row that is not correct, in a few words."""
    reason = score.metrics.get("reason")
    if isinstance(reason, str):
        return reason[:MAX_ERROR_CHARS]
    if score.status == "no_answer":
        return "no answer"
    mistake = display_of(task).mistake
    if mistake is None:
        return "wrong answer"
    try:
        return str(resolve(mistake)(score.metrics, gold))[:MAX_ERROR_CHARS]
    except (LookupError, TypeError, ValueError, AttributeError):  # the row was not written by relfast
        return "wrong answer"


def _add_drawn(drawn: dict[str, dict[str, array[float]]], score: Score, task: str) -> None:
    wanted = display_of(task).columns
    if not wanted or not isinstance(score.correct, bool):
        return
    values = {name: score.metrics.get(name) for name in wanted}
    if isinstance(values[wanted[0]], int | float):
        columns = drawn.setdefault(task, {})
        for name, value in {"correct": score.correct, **values}.items():
            number = value if isinstance(value, int | float) else float("nan" if value is None else 1)
            columns.setdefault(name, array("d")).append(number)


def _together(found: Sequence[Input], parts: Sequence[Part], *, shards: bool, told: bool) -> Scored:
    """Merge the rows and summaries of some files into one run; ``told``: a note says what was added up."""
    summaries = [(item.path, item.summary) for item in found if item.summary is not None]
    # each file's own summary, to find out which of the summaries belongs to it
    own_rows = [(part.path, summarize(part.tally, "")) for part in parts]
    whole, counted, sample, n = Tally(), Counted(), Sample[Kept](parts[0].sample.limit if parts else 0), 0
    for part in parts:
        whole.merge(part.tally)
        counted.merge(part.counted)
        sample.merge(part.sample, n)
        n += part.tally.rows
    matched, others = _pair(summaries, own_rows)
    check_summaries(others, own_rows, shards=shards)
    summary = summarize(whole, "")
    _take_over(summary, matched, own_rows, set[str]().union(*(part.silent for part in parts)))
    for _, other in others:
        summary.signature = summary.signature or other.signature
        summary.merge(other)
    _number(sample)
    summary.notes += _notes_on(parts, told=told and not any(model_of([part.path]) for part in parts))
    dumps = [part.dump for part in parts if part.dump is not None]
    problems = [dump.problem for dump in dumps if dump.problem is not None]
    summary.notes += [f"questions and responses are missing: {problem}" for problem in problems]
    named = dict.fromkeys(Path(name).name for dump in dumps for name in dump.names)
    paths, inputs = [part.path for part in parts], [Path(item.path).name for item in found]
    name = found[0].path if found else ""
    return Scored(name, summary, counted, sample, inputs, paths, list(named))


def _number(sample: Sample[Kept]) -> None:
    """Number the samples of prompts that stand on several lines, so that each kept row of a run has a name of
    its own on the page."""
    of_prompt: dict[tuple[str, bytes], list[Score]] = {}
    for kept in sample:
        score = kept.score
        key = group_of(score.task), key_of(score.id, score.prompt, score.index)
        of_prompt.setdefault(key, []).append(score)
    for scores in of_prompt.values():
        if len({score.sample for score in scores}) < len(scores):
            for number, score in enumerate(scores):
                score.sample = number


def _notes_on(parts: Sequence[Part], *, told: bool) -> Iterator[str]:
    """What a reader has to know of files of rows: those that were added up, empty ones, and foreign rows."""
    full = [part.path for part in parts if part.tally.rows]
    if told and len(full) > 1:
        yield (
            f"{', '.join(full[:3])}{', …' if len(full) > 3 else ''} have no record in common and are added"
            " up as one run; NAME=FILE has them side by side, --shards says that they are parts of one run"
        )
    for part in parts:
        if not part.tally.rows:
            yield f"{part.path} has no rows"
        named = f"{Path(part.path).name}: " if len(parts) > 1 else ""
        yield from (f"{named}{note}" for note in part.foreign.notes())
        yield from part.unusable.notes()


def _pair(
    summaries: Sequence[tuple[str, Summary]], parts: Sequence[tuple[str, Summary]]
) -> tuple[dict[str, Summary], list[tuple[str, Summary]]]:
    """Split summaries into those that belong to a file read here (file → summary), and all others."""
    matched: dict[str, Summary] = {}
    others = []
    for path, summary in summaries:
        rows = next((name for name, part in parts if is_summary_of(summary, name, part)), None)
        if rows is None:
            others.append((path, summary))
        else:
            matched[rows] = summary
    return matched, others


def _take_over(
    whole: Summary, matched: Mapping[str, Summary], parts: Sequence[tuple[str, Summary]], silent: Set[str]
) -> None:
    """Take from the summaries that belong to the rows the signature, and the majorities of ``silent`` tasks,
    whose votes rows and journals lack. Their numbers are those of the rows and are not counted again."""
    for name in silent:
        task = whole.tasks[name]
        of_task = [(path, part.tasks[name]) for path, part in parts if name in part.tasks]
        task.majorities = {}
        # if a prompt's samples are in two files, the majorities of these files cannot be combined
        prompts_apart = sum(part.prompts for _, part in of_task) == task.prompts
        if prompts_apart and all(path in matched for path, _ in of_task):
            for path, _ in of_task:
                add_columns(task.majorities, matched[path].tasks[name].majorities)
    made = [summary.signature for summary in matched.values()]
    if not matched:
        pasts = [(past_run(path), part) for path, part in parts]
        made = [past.signature(part.tasks) for past, part in pasts if past is not None]
    for signature in dict.fromkeys(made):
        if whole.signature:
            whole.notes.append(f"merged with rows signed {signature}")
        else:
            whole.signature = signature
    if matched:
        whole.notes.append("rows and their own summaries are counted once")
