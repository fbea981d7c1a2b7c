"""Scores as columns: what `relfast.score_batch` returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from relfast.json_text import as_text
from relfast.records import Score
from relfast.tables import to_arrow, to_pandas

Column = npt.NDArray[np.float64] | npt.NDArray[np.object_]


@dataclass(frozen=True, repr=False)
class ScoreBatch:
    """Scores of a batch, in input order, of input length.

    Attributes
    ----------
    correct
        float64, shape (n,): 1 right, 0 wrong, NaN where unscored, so that no mean counts a failure of the
        machinery as a wrong answer (`numpy.nanmean` averages the scored responses only).
    reward
        float64, shape (n,); NaN where unscored.
    status
        object (str), shape (n,).
    metrics
        Name → array of shape (n,): float64 with NaN where a row does not have the metric, or object for
        metrics that are words.
    rows
        The same scores as `Score` objects; may be an iterable that makes them one by one.
    """

    correct: npt.NDArray[np.float64]
    reward: npt.NDArray[np.float64]
    status: npt.NDArray[np.object_]
    metrics: dict[str, Column]
    rows: Iterable[Score]

    @classmethod
    def of(cls, scores: Sequence[Score]) -> ScoreBatch:
        """A batch from `Score` objects; ``metrics`` has every metric that at least one of them has."""
        metrics = [score.metrics for score in scores]
        names = dict.fromkeys(name for one in metrics for name in one)
        return cls.of_columns(
            [score.correct for score in scores],
            [score.reward for score in scores],
            [score.status for score in scores],
            {name: [one.get(name) for one in metrics] for name in names},
            tuple(scores),
        )

    @classmethod
    def of_columns(
        cls,
        correct: Sequence[bool | None],
        reward: Sequence[float | None],
        status: Sequence[str],
        metrics: Mapping[str, Sequence[Any]],
        rows: Iterable[Score],
    ) -> ScoreBatch:
        """A batch from columns; ``rows`` may be an iterable that makes the `Score` objects one by one."""
        return cls(
            _numbers(correct),
            _numbers(reward),
            np.array(status, dtype=object),
            {name: _column(values) for name, values in metrics.items()},
            rows,
        )

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The batch as a tuple of `Score` objects."""
        return tuple(self.rows)

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        """Which responses have a score, shape (n,): ``batch.correct[batch.scored].mean()``."""
        return ~np.isnan(self.correct)

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, at: int) -> Score:
        return self.scores[at]

    def __repr__(self) -> str:
        counts = Counter(self.status.tolist())
        statuses = ", ".join(f"{n} {status}" for status, n in counts.most_common())
        scored = self.correct[self.scored]
        mean = f", correct {scored.mean():.3f}" if len(scored) else ""
        return f"<ScoreBatch of {len(self)}: {statuses or 'empty'}{mean}>"

    def _columns(self) -> dict[str, Any]:
        rows = self.scores
        prompts = ("prompt",) if any(row.prompt is not None for row in rows) else ()
        names = ("index", "id", *prompts, "task", "sample", "status", "correct")
        columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in names}
        metrics = {f"metrics.{name}": column for name, column in self.metrics.items()}
        errors = [row.error["message"] if row.error else None for row in rows]
        return columns | {"status": self.status, "reward": self.reward, **metrics, "error": errors}

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with the columns of `to_arrow`; a value that a row lacks is None or NaN.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        return to_pandas(self._columns(), "ScoreBatch.to_pandas")

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts of the output format, where ``correct`` is a bool, or None if unscored."""
        return [score.to_row() for score in self.scores]

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`: one column per field, ``metrics.NAME`` per metric. A value that a row lacks is
        null; ``correct`` is a column of bools.

        Raises
        ------
        MissingExtraError
            pyarrow is not installed.
        """
        columns = {
            name: [None if value != value else value for value in column]
            for name, column in self._columns().items()
        }
        columns["id"] = [None if value is None else as_text(value) for value in columns["id"]]
        return to_arrow(columns, "ScoreBatch.to_arrow", _TYPES)


_TYPES: Final = {"index": "int64", "id": "string", "prompt": "string", "task": "string", "sample": "int64",
                 "status": "string", "correct": "bool", "reward": "float64", "error": "string"}  # fmt: skip
"""Types of columns that are the same in every batch."""


def _numbers(values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """The values as float64, None as NaN."""
    if None in values:
        values = [np.nan if value is None else value for value in values]
    return np.array(values, np.float64)


def _column(values: Sequence[Any]) -> Column:
    if all(issubclass(kind, int | float | None) for kind in set(map(type, values))):
        return _numbers(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column
