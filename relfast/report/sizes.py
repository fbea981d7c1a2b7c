"""Counts a task's rows by the sizes of their problems, prompt by prompt as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from relfast.records import SCORED, Record, Score
from relfast.report.cells import SizeTable
from relfast.tasks.base import Task, resolve
from relfast.tasks.display import Display, Measures

MAX_VALUES: Final = 500
"""Different sizes of an axis that are told apart: hostile records could have a new one each."""
NO_DISPLAY: Final = Display()
COMPLETION: Final = "task completion"


class SizeCounter:
    """Adds rows to a task's `SizeTable`. Rows of one prompt that follow each other are a cluster."""

    def __init__(self, task: Task, table: SizeTable) -> None:
        self._table = table
        self._display = task.display or NO_DISPLAY
        self._measure: Callable[[Record, Mapping[str, Any]], Measures] | None = None
        if self._display.measure is not None:
            self._measure = resolve(self._display.measure)
        wanted = {
            name for layout in self._display.layouts for column in layout.columns for name in column.metrics
        }
        self._metrics = sorted(
            wanted | {*self._display.shown, *self._display.completion} - {"correct", "no_answer"}
        )
        self._metrics = [name for name in self._metrics if name not in ("correct", "no_answer")]
        self._prompt: tuple[Any, ...] | None = None
        self._measures = Measures({})
        self._rows = self._n = self._no_answer = 0
        self._values: dict[str, list[float]] = {}
        self._undefined = {name: metric.undefined for name, metric in task.metric_by_name.items()}

    def add(self, score: Score, record: Record | None) -> str | None:
        """Count a row; the class of its gold."""
        prompt = (score.index, score.id)
        if prompt != self._prompt:
            self.finish()
            self._prompt = prompt
            self._measures = self._measured(score, record)
        self._rows += 1
        if score.status in SCORED:
            self._n += 1
            self._no_answer += score.status == "no_answer"
            self._add("correct", bool(score.correct))
            metrics = score.metrics
            for name in self._metrics:
                value = metrics.get(name)
                if isinstance(value, int | float) and value != self._undefined.get(name):
                    self._add(name, value)
            completion = self._display.completion
            if completion:
                values = [metrics.get(name) for name in completion]
                known = [value for value in values if isinstance(value, int | float)]
                self._add(COMPLETION, sum(known) / len(completion))
        return self._measures.gold

    def _add(self, name: str, value: float) -> None:
        sums = self._values.get(name)
        if sums is None:
            sums = self._values[name] = [0, 0.0]
        sums[0] += 1
        sums[1] += value

    def _measured(self, score: Score, record: Record | None) -> Measures:
        if self._measure is None:
            return Measures({})
        if record is None:
            record = Record(score.index, score.id, score.task or "", None, None, None, score.sample)
        return self._measure(record, score.metrics)

    def finish(self) -> None:
        """Count the prompt whose rows have come."""
        if not self._rows:
            return
        sizes, gold = self._measures
        places: list[tuple[str | None, float | str | None]] = [(None, None)]
        for axis in self._display.axes:
            value = sizes.get(axis.name)
            known = self._table.cells.get(axis.name, {})
            if value is not None and (value in known or len(known) < MAX_VALUES):
                places.append((axis.name, value))
        for axis_name, value in places:
            cell = self._table.at(axis_name, value, gold)
            cell.rows += self._rows
            if self._n:
                cell.add(self._n, self._no_answer, self._values)
        self._rows = self._n = self._no_answer = 0
        self._values = {}
