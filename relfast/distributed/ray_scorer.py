"""A callable that scores batches of a table, for your own pipelines: Ray Data, Dask, pandas on Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, Unpack

import numpy as np

from relfast.distributed.cluster import node_cpus
from relfast.distributed.shards import be_modest
from relfast.engine.calls.scorer import Scorer
from relfast.engine.job import JobKeywords, workers_of
from relfast.errors import UsageError
from relfast.json_text import encode_json
from relfast.records import Score

COLUMNS: Final = ("status", "correct", "reward", "metrics", "error")
"""Columns that are added: status (text), correct (bool or null), reward (float64, NaN if unscored), metrics
(JSON text), error (text or null)."""


class RayScorer:
    """Adds scores to batches. A batch is a dict of numpy arrays, a pandas DataFrame or a `pyarrow.Table`; the
    result is of the same type: ``scored = RayScorer(policy="strict")(batch)``.

    A row is a record with one response, in any input dialect. Every record has its own deadline; records that
    can hang are scored in worker processes. Picklable (only the options are pickled). Works without Ray, too.

    Parameters
    ----------
    workers
        Worker processes; default: the CPUs that Ray has granted to the actor or task, or 1 outside of Ray.
    prefix
        Prefix of the added columns' names, for batches that have columns of these names already.
    **options
        Options of `relfast.Scorer`.

    Raises
    ------
    UsageError, UnknownTaskError
        An option cannot be used.
    """

    def __init__(
        self, *, workers: int | None = None, prefix: str = "", **options: Unpack[JobKeywords]
    ) -> None:
        self._workers, self._prefix, self._options = workers_of(workers), prefix, options
        self._scorer: Scorer | None = None
        Scorer(workers=0, **options)  # unusable options raise here, not on a node

    @staticmethod
    def ray_options(cpus: int = 1) -> dict[str, Any]:
        """Keywords for ``Dataset.map_batches``: ``cpus`` for each actor, and as many actors as fit if one
        CPU of every node is left for reading and writing."""
        import ray

        most = sum((node - 1) // cpus for node in node_cpus(ray))
        return {"num_cpus": cpus, "concurrency": (1, max(1, most))}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scorer": None}

    def __call__(self, batch: Any) -> Any:
        """The batch with `COLUMNS`.

        Raises
        ------
        UsageError
            The batch has another type, a column of one of those names, or a row with several responses.
        """
        cells = _cells(batch)
        rows = [_record(dict(zip(cells, row, strict=True))) for row in zip(*cells.values(), strict=True)]
        names = [self._prefix + name for name in COLUMNS]
        if taken := sorted(set(names) & cells.keys()):
            raise UsageError(f"the batch has a column {taken[0]!r} already: choose a prefix")
        if self._scorer is None:
            granted = _granted()
            workers = granted if self._workers is None else self._workers
            self._scorer = Scorer(workers=workers, **self._options)
        scores: list[Score | None] = [None] * len(rows)
        several: set[int] = set()
        for score in self._scorer.score(rows):
            if scores[score.index] is not None:
                several.add(score.index)
            scores[score.index] = score
        if several:
            raise UsageError(f"row {min(several)} has several samples: a row of a batch has one response")
        return _with(batch, dict(zip(names, _columns(scores), strict=True)))

    def close(self) -> None:
        """End the workers."""
        if self._scorer is not None:
            self._scorer.close()
            self._scorer = None


def _granted() -> int:
    """CPUs of the Ray actor or task that this process runs, at least 1; also calls `be_modest` in one."""
    ray = sys.modules.get("ray")  # always imported in an actor
    if ray is None or not ray.is_initialized():
        return 1
    be_modest()
    return max(1, int(ray.get_runtime_context().get_assigned_resources().get("CPU", 1)))


def _cells(batch: Any) -> dict[str, list[Any]]:
    """The columns of a batch."""
    if isinstance(batch, Mapping):
        return {name: list(values) for name, values in batch.items()}
    if hasattr(batch, "to_pydict"):
        return dict(batch.to_pydict())
    if hasattr(batch, "to_dict") and hasattr(batch, "columns"):
        return dict(batch.to_dict("list"))
    raise UsageError(f"a batch is arrays by name, a DataFrame or a Table, not {type(batch).__name__}")


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    record = {name: _plain(value) for name, value in row.items()}
    answer = record.get("answer")
    if isinstance(answer, dict):
        # a struct column holds the union of all rows' keys; a null is a key that the row does not have
        record["answer"] = {key: value for key, value in answer.items() if value is not None}
    return record


def _plain(value: Any) -> Any:
    """A cell as a JSON value: numpy values converted, NaN (a missing value) as None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and value != value else value


def _columns(scores: Iterable[Score | None]) -> list[list[Any]]:
    rows: list[tuple[Any, ...]] = []
    for score in scores:
        if score is None:  # of a filter of lm-evaluation-harness that is not scored
            rows.append((None, None, float("nan"), None, None))
            continue
        reward = float("nan") if score.reward is None else float(score.reward)
        error = None if score.error is None else score.error["message"]
        rows.append((score.status, score.correct, reward, encode_json(score.metrics).decode(), error))
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in COLUMNS]


def _with(batch: Any, columns: Mapping[str, list[Any]]) -> Any:
    if isinstance(batch, Mapping):
        return {**batch, **{name: _array(name, values) for name, values in columns.items()}}
    if hasattr(batch, "to_pydict"):
        import pyarrow

        kinds = (pyarrow.string(), pyarrow.bool_(), pyarrow.float64(), pyarrow.string(), pyarrow.string())
        for kind, (name, values) in zip(kinds, columns.items(), strict=True):
            if kind == pyarrow.string():  # it cannot hold lone surrogates
                values = [v if v is None else v.encode("utf-8", "replace").decode() for v in values]
            batch = batch.append_column(name, pyarrow.array(values, kind))
        return batch
    return batch.assign(**{name: _array(name, values) for name, values in columns.items()})


def _array(name: str, values: list[Any]) -> Any:
    if name.endswith("reward"):
        return np.array(values, np.float64)
    array = np.empty(len(values), object)
    array[:] = values
    return array
