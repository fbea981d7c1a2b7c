"""Runs to compare: found, named and read, with the signature of the summary that lies beside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import error as StructError
from typing import Final

import orjson

from relfast.comparison.columns import UNSCORED, Columns, columns_of
from relfast.comparison.model import Run
from relfast.engine.io.scored import read_scores
from relfast.engine.io.sources import Source, find_sources
from relfast.engine.past_run import past_run
from relfast.errors import InputError, UsageError
from relfast.records import Score
from relfast.results import ScoreBatch
from relfast.stats.summary import Summary

RunLike = str | Path | Summary | ScoreBatch | Sequence[Score]

_SUFFIXES: Final = (".gz", ".zst", ".jsonl", ".parquet", ".csv", ".json", ".scored", ".jsonl")
_MOST_SUMMARIES: Final = 100
_SUMMARY_BYTES: Final = 16 * 2**20


@dataclass
class Loaded:
    """A run in columns; ``scores`` reads its rows again, in the same order."""

    run: Run
    columns: Columns
    scores: Callable[[], Iterable[Score]]


def load(runs: Sequence[RunLike], names: Sequence[str] | None, metric: str) -> list[Loaded]:
    """Read runs.

    Raises
    ------
    InputError
        A file holds no scored rows.
    UsageError
        The same run or name twice; a run that cannot be read twice; a summary without its rows.
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
    return [item.load(name, metric) for item, name in zip(opened, called, strict=True)]


@dataclass
class _Opened:
    path: str | None
    scores: Callable[[], Iterable[Score]]
    summary: Summary | None = None

    def load(self, name: str, metric: str) -> Loaded:
        try:
            columns = columns_of(self.scores(), metric)
        except (StructError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(f"is no file of scored rows: {error}", file=self.path or name) from error
        if self.summary is not None and self.path is not None and self.summary.rows != len(columns):
            raise UsageError(
                f"{self.path} has {len(columns):,} rows and the summary of {name} counts"
                f" {self.summary.rows:,}: it is not (all of) what was summarised"
            )
        summary = self.summary
        if summary is None and self.path is not None:
            summary = _summary_beside(Path(self.path), len(columns))
        signature = summary.signature or None if summary is not None else None
        if signature is None and self.path is not None:
            past = past_run(self.path)
            signature = None if past is None else past.signature(columns.tasks)
        scored = int((columns.table["correct"] != UNSCORED).sum())
        return Loaded(Run(name, self.path, signature, len(columns), scored), columns, self.scores)


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
    """The rows of a summary: where it says, or of that name in its own folder."""
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
    """The summary in a file, or None: it holds something else."""
    try:
        if path.stat().st_size > _SUMMARY_BYTES:
            return None
        return Summary.from_dict(orjson.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


def _summary_beside(path: Path, rows: int) -> Summary | None:
    """The summary that lies beside a file of rows: it names the file and counts as many rows."""
    try:
        candidates = sorted(item for item in path.parent.iterdir() if item.suffix == ".json")
    except OSError:
        return None
    for candidate in candidates[:_MOST_SUMMARIES]:
        summary = read_summary(candidate)
        if (
            summary is not None
            and summary.rows == rows
            and summary.output is not None
            and Path(summary.output).name == path.name
        ):
            return summary
    return None


def _names(paths: Sequence[str | None]) -> list[str]:
    """File names without their endings; folders before them where they are the same; letters without
    files."""
    letters = [chr(ord("A") + at) if at < 26 else f"run {at + 1}" for at in range(len(paths))]
    short = [letters[at] if path is None else _stem(path) for at, path in enumerate(paths)]
    if len(set(short)) == len(short):
        return short
    long = [
        letters[at] if path is None else f"{Path(path).resolve().parent.name}/{_stem(path)}"
        for at, path in enumerate(paths)
    ]
    return long if len(set(long)) == len(long) else letters


def _stem(path: str) -> str:
    name = Path(path).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix) or name
    return name


def rows_at(loaded: Loaded, wanted: Sequence[int]) -> Iterator[Score]:
    """Some rows of a run by number, ascending, read again."""
    pending = iter(wanted)
    number = next(pending, None)
    for at, score in enumerate(loaded.scores()):
        if number is None:
            return
        while at == number:
            yield score
            number = next(pending, None)
