"""Finds, names and reads the runs to compare, with the signature from the summary or journal beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import Any, Final
from zlib import crc32

import numpy as np
import orjson
from numpy.typing import NDArray

from relfast.comparison.model import Run
from relfast.engine.files.io.scored import MOST, Unusable, read_scores
from relfast.engine.files.io.sources import Source, find_sources, paths_in
from relfast.engine.files.io.writer import JOURNAL_SUFFIX, past_run
from relfast.errors import InputError, UsageError
from relfast.inference.request_log import headers_of
from relfast.json_text import encode_json
from relfast.records import SCORED, Score
from relfast.results import ScoreBatch
from relfast.stats.samples import group_of, id_text
from relfast.stats.summary import Summary
from relfast.tasks import TASKS

_ROW: Final = Struct("<H8sQIdbqIIB")
_FIELDS: Final = [
    ("task", "<u2"),
    ("prompt", "<u8"),
    ("asked", "<u8"),
    ("sample", "<u4"),
    ("value", "<f8"),
    ("correct", "i1"),
    ("index", "<i8"),
    ("gold", "<u4"),
    ("shape", "<u4"),
    ("strict", "u1"),
]

UNSCORED: Final = -1
"""``correct`` of a row without a score."""


@dataclass
class Columns:
    """The rows of a run as columns, in order.

    Attributes
    ----------
    table
        A structured array with an item for each row: the place of its ``task`` in `tasks`, hash of its
        ``prompt`` (of the id, until `tell_prompts`), what its row says of the prompt besides (``asked``; 0:
        nothing), ``sample``, ``value`` of the metric (NaN: none), ``correct`` (or `UNSCORED`), ``index``,
        hash of the ``gold`` that ``--details`` shows, hash of metrics that describe the record itself, such
        as a maze's size (``shape``; both hashes 0 if absent), and whether it has metrics that only
        ``strict`` writes (``strict``).
    tasks
        Names of the tasks, in order of their first rows.
    metrics
        Names of the metrics for which some row has a number.
    """

    table: NDArray[Any]
    tasks: list[str] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.table)


def columns_of(scores: Iterable[Score], metric: str) -> Columns:
    """The columns of some rows; ``metric`` is ``correct``, ``reward`` or a metric's name."""
    packed = bytearray()
    readers: dict[str, _Reader] = {}
    for score in scores:
        name = group_of(score.task)
        reader = readers.get(name)
        if reader is None:
            reader = readers[name] = _Reader(len(readers), name, metric)
        packed += reader.pack(score)
    metrics = set[str]().union(*(reader.metrics for reader in readers.values()))
    return Columns(np.frombuffer(packed, np.dtype(_FIELDS)), list(readers), metrics)


_NO_ID: Final = blake2b(id_text(None), digest_size=8).digest()


def tell_prompts(runs: Sequence[Columns]) -> None:
    """Tell apart the prompts of runs whose ids do not.

    An id that stands for several prompts in these runs together is told by ``asked``, too, every other by
    itself: one run may have been scored from one file and another from several. Rows without an id are told
    by what they ask, or by their index if one of the runs does not say what its rows ask.
    """
    no_id = np.uint64(int.from_bytes(_NO_ID, "little"))
    without = [run.table["prompt"] == no_id for run in runs]
    by_index = any(
        lacks.any() and not (run.table["asked"][lacks] > 0).any()
        for run, lacks in zip(runs, without, strict=True)
    )
    tasks = [*dict.fromkeys(name for run in runs for name in run.tasks)]
    numbers = [np.array([tasks.index(name) for name in run.tasks], np.uint64) for run in runs]
    ids = [
        run.table["prompt"] ^ (of_task[run.table["task"]] << np.uint64(48))
        if len(of_task)
        else run.table["prompt"]
        for run, of_task in zip(runs, numbers, strict=True)
    ]
    said = [
        np.stack([of, run.table["asked"]], 1)[run.table["asked"] > 0]
        for of, run in zip(ids, runs, strict=True)
    ]
    each, times = np.unique(np.unique(np.concatenate(said), axis=0)[:, 0], return_counts=True)
    for run, of, lacks in zip(runs, ids, without, strict=True):
        prompt, asked = run.table["prompt"], run.table["asked"]
        repeats = np.isin(of, each[times > 1]) & ~lacks
        prompt[repeats] ^= asked[repeats]
        index = run.table["index"].astype(np.uint64)
        prompt[lacks] ^= np.where((asked == 0) | by_index, index, asked)[lacks]


class _Reader:
    """Packs the rows of one task into items of `Columns.table`; ``number`` is the task's place."""

    def __init__(self, number: int, task: str, metric: str) -> None:
        known = TASKS.get(task)
        described = {} if known is None else known.metric_by_name
        self._number, self._metric = number, metric
        self._undefined = described[metric].undefined if metric in described else None
        self._by = known.breakdown.by if known is not None and known.breakdown is not None else ()
        self._strict = [name for name, item in described.items() if item.strict_only or name == "reason"]
        self.metrics: set[str] = set()

    def pack(self, score: Score) -> bytes:
        scored = score.status in SCORED and score.correct is not None
        metrics = score.metrics if scored else {}
        return _ROW.pack(
            self._number,
            blake2b(id_text(score.id), digest_size=8).digest(),
            0 if score.prompt is None else int(score.prompt, 16),
            score.sample,
            self._value(score, metrics) if scored else np.nan,
            int(bool(score.correct)) if scored else UNSCORED,
            score.index,
            crc32(encode_json(metrics["gold"])) or 1 if "gold" in metrics else 0,
            _shape(metrics, self._by),
            any(name in metrics for name in self._strict),
        )

    def _value(self, score: Score, metrics: Mapping[str, Any]) -> float:
        for name, value in metrics.items():
            if name not in self.metrics and isinstance(value, int | float):
                self.metrics.add(name)
        value = metrics.get(self._metric)
        if self._metric in ("correct", "reward"):
            value = score.correct if self._metric == "correct" else score.reward
        if not isinstance(value, int | float) or value == self._undefined:
            return np.nan
        # infinities and NaN have no mean; abs() also compares integers too big for a float
        return float(value) if abs(value) <= MOST else np.nan


def _shape(metrics: Mapping[str, Any], by: Sequence[str]) -> int:
    """A hash of metrics that describe the record itself, such as a maze's size; 0 without them."""
    if not by or by[0] not in metrics:
        return 0
    return crc32(encode_json([metrics.get(name) for name in by])) or 1


RunLike = str | Path | Summary | ScoreBatch | Sequence[Score]

_NAMED: Final = re.compile(r"([^=/]{1,80})=(.+)", re.DOTALL)
_SUFFIXES: Final = re.compile(r"(\.(jsonl|json|gz|zst|parquet|csv|scored))+$")
_MOST_SUMMARIES: Final = 100
_SUMMARY_BYTES: Final = 16 * 2**20


@dataclass
class Loaded:
    """A run that has been read; ``scores`` reads its rows again, in the same order."""

    run: Run
    columns: Columns
    scores: Callable[[], Iterable[Score]]
    notes: list[str] = field(default_factory=list)


def load(runs: Sequence[RunLike], names: Sequence[str] | None, metric: str) -> list[Loaded]:
    """Read runs.

    Raises
    ------
    InputError
        A file holds no scored rows.
    UsageError
        The same run or name is given twice, a run cannot be read twice, or a summary's rows are missing.
    """
    if len(runs) < 2:
        raise UsageError("a comparison needs two runs or more")
    opened = [_open(run) for run in runs]
    called = list(names) if names is not None else _names([item.path for item in opened])
    if len(called) != len(opened):
        raise UsageError(f"{len(opened)} runs and {len(called)} names: there must be as many")
    for at, item in enumerate(opened):
        if called[at] in called[:at]:
            raise UsageError(f"two runs are called {called[at]!r}: name them apart (NAME=FILE)")
        for other in opened[:at]:
            if item.path is not None and other.path is not None and os.path.samefile(item.path, other.path):
                raise UsageError(f"{item.path} is named twice")
    loaded = [item.load(name, metric) for item, name in zip(opened, called, strict=True)]
    tell_prompts([item.columns for item in loaded])
    return loaded


@dataclass
class _Opened:
    """A run that has been found, but not read."""

    path: str | None
    scores: Callable[[], Iterable[Score]]
    summary: Summary | None = None

    def load(self, name: str, metric: str) -> Loaded:
        unusable = Unusable()
        try:
            columns = columns_of(unusable.watch(self.scores()), metric)
        except (StructError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(f"is no run of scored rows: {error}", file=self.path or name) from error
        if self.summary is not None and self.path is not None and self.summary.rows != len(columns):
            raise UsageError(
                f"{self.path} has {len(columns):,} rows and the summary of {name} counts"
                f" {self.summary.rows:,}: it is not (all of) what was summarised"
            )
        summary = self.summary
        if summary is None and self.path is not None:
            beside = (found for _, found in _summaries_beside(Path(self.path)))
            summary = next((found for found in beside if found.rows == len(columns)), None)
        signature = summary.signature or None if summary is not None else None
        if signature is None and self.path is not None:
            past = past_run(self.path)
            signature = None if past is None else past.signature(columns.tasks)
        scored = int((columns.table["correct"] != UNSCORED).sum())
        run = Run(name, self.path, signature, len(columns), scored)
        return Loaded(run, columns, self.scores, unusable.notes())


def _open(run: RunLike) -> _Opened:
    if isinstance(run, Summary):
        return _of_summary(run, None)
    if isinstance(run, ScoreBatch):
        scores = run.scores
        return _Opened(None, lambda: scores)
    if isinstance(run, str | Path):
        return _of_file(str(run))
    rows = list(run)
    if not all(isinstance(row, Score) for row in rows):
        raise UsageError("a run is a file of scored rows, a Summary, a ScoreBatch or a list of Score")
    return _Opened(None, lambda: rows)


def _of_file(name: str) -> _Opened:
    sources = find_sources([name])
    if len(sources) != 1:
        raise UsageError(f"{name} is {len(sources)} files: a run is one; concatenate its shards")
    (source,) = sources
    if not source.regular:
        raise UsageError(f"{source.path} cannot be read twice: name a file")
    summary = read_summary(Path(source.path)) if source.path.endswith(".json") else None
    if summary is not None:
        return _of_summary(summary, Path(source.path))
    return _Opened(source.path, lambda: read_scores(source))


def _of_summary(summary: Summary, beside: Path | None) -> _Opened:
    """The run of a summary: its rows are where it says, or under that name in the folder of ``beside``."""
    if summary.output in (None, "-"):
        raise UsageError("a summary has numbers only, and its rows went nowhere: name the file of its rows")
    output = Path(str(summary.output))
    places = [output] if beside is None else [output, beside.with_name(output.name)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UsageError(f"{output}, the rows of a summary, is not there: name the file of its rows")
    source: Source = find_sources([str(found)])[0]
    return _Opened(source.path, lambda: read_scores(source), summary)


def read_summary(path: Path) -> Summary | None:
    """The summary in a file; None if the file holds something else."""
    try:
        if path.stat().st_size > _SUMMARY_BYTES:
            return None
        return Summary.from_dict(orjson.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


def _summaries_beside(path: Path) -> Iterator[tuple[Path, Summary]]:
    """The summaries in the folder of a file of rows that name the file."""
    try:
        candidates = sorted(item for item in path.parent.iterdir() if item.suffix == ".json")
    except OSError:
        return
    for candidate in candidates[:_MOST_SUMMARIES]:
        summary = read_summary(candidate)
        if summary is not None and summary.output is not None and Path(summary.output).name == path.name:
            yield candidate, summary


def files_of(run: str) -> list[str]:
    """The files that a run's name stands for: of a summary, its rows too."""
    opened = _of_file(run)
    return list(dict.fromkeys([*paths_in(find_sources([run])), *filter(None, [opened.path])]))


def files_beside(rows: str) -> list[str]:
    """The files that are read because they belong to a file of rows: its journal, the input and gold that
    this names, the header of the responses, and summaries."""
    past = past_run(rows)
    named = () if past is None else (*past.inputs, *past.job.data)
    summaries = (str(path) for path, _ in _summaries_beside(Path(rows)))
    return [rows + JOURNAL_SUFFIX, *named, *headers_of(rows), *summaries]


def _names(paths: Sequence[str | None]) -> list[str]:
    """Default names: file names without endings, with folders if names are equal; letters without files."""
    letters = [chr(ord("A") + at) if at < 26 else f"run {at + 1}" for at in range(len(paths))]
    short = [letters[at] if path is None else stem_of(path) for at, path in enumerate(paths)]
    if len(set(short)) == len(short):
        return short
    long = [
        letters[at] if path is None else f"{Path(path).resolve().parent.name}/{stem_of(path)}"
        for at, path in enumerate(paths)
    ]
    return long if len(set(long)) == len(long) else letters


def stem_of(path: str) -> str:
    """The name of a run by its file, without endings."""
    return _SUFFIXES.sub("", Path(path).name) or "scores"


def name_and_path(given: str) -> tuple[str, str]:
    """Split ``NAME=FILE``; a file that exists under the whole text is a file without a name ("")."""
    found = _NAMED.fullmatch(given)
    if found is None or os.path.exists(given):
        return "", given
    return found[1].strip(), found[2]


def rows_at(loaded: Loaded, wanted: Sequence[int]) -> Iterator[Score]:
    """The rows of a run with these row numbers, which must ascend; reads the rows again."""
    pending = iter(wanted)
    number = next(pending, None)
    for at, score in enumerate(loaded.scores()):
        if number is None:
            return
        while at == number:
            yield score
            number = next(pending, None)
