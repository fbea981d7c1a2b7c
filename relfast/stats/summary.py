"""Rows to numbers: means with clustered errors, pass@k, maj@k, and summaries that merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from relfast.plain import Plain
from relfast.stats.estimates import clustered_mean
from relfast.stats.intervals import Interval
from relfast.stats.samples import collapse, group_of
from relfast.stats.tally import Tally
from relfast.stats.task_summary import TaskSummary, add_majorities
from relfast.stats.unusable import Cause, describe
from relfast.tables import to_arrow, to_pandas
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

if TYPE_CHECKING:
    from relfast.comparison.model import Comparison
    from relfast.stats.samples import SampleStore

__all__ = ["Summary", "Tally", "TaskSummary", "add_majorities", "summarize"]

_ORDER: Final = {name: place for place, name in enumerate(TASKS)}


@dataclass(slots=True, repr=False, eq=False)
class Summary(Plain):
    """What a run came to: per task the numbers, and the signature that says how they were made.

    ``output`` is where the rows went, ``seconds`` the wall time of this run, ``unusable`` why records are
    ``invalid_record``, the most frequent cause first.
    """

    tasks: dict[str, TaskSummary]
    signature: str
    output: str | None = None
    seconds: float | None = None
    notes: list[str] = field(default_factory=list)
    unusable: list[Cause] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of all tasks, those without a score among them."""
        return sum(task.rows for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        """Rows with one of these statuses."""
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)

    def __repr__(self) -> str:
        means = (f"{name} {_mean_text(task)}" for name, task in self.tasks.items())
        why = f"; {describe(self.unusable, self.rows, 'python')}" if self.unusable else ""
        return f"<Summary of {self.rows:,} responses: {', '.join(means) or 'no task'}{why}>"

    def _repr_html_(self) -> str:
        from relfast.tables import html_table

        rows = [
            [
                name,
                f"{task.prompts:,}",
                f"{task.rows:,}",
                _mean_text(task),
                _interval_text(task.correct_interval()),
                "–" if not task.rewards[0] else f"{task.rewards[1] / task.rewards[0]:.3f}",
                f"{100 * task.found / task.scored:.1f}%" if task.scored else "–",
                f"{task.rows - task.scored:,}",
            ]
            for name, task in self.tasks.items()
        ]
        header = ["task", "prompts", "responses", "correct", "95% interval", "reward", "parsed", "unscored"]
        return html_table(header, rows, notes=[self.signature, *self.notes])

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`, a row a task: counts, means with their intervals, ``metrics.NAME`` and
        pass@k, avg@k, maj@k. Raises `MissingExtraError`."""
        return to_pandas(self._columns(), "Summary.to_pandas")

    def to_arrow(self) -> Any:
        """The same as a `pyarrow.Table`. Raises `MissingExtraError`."""
        return to_arrow(self._columns(), "Summary.to_arrow")

    def _columns(self) -> dict[str, Sequence[Any]]:
        rows = [task.flat() for task in self.tasks.values()]
        names = dict.fromkeys(key for row in rows for key in row)
        return {name: [row.get(name) for row in rows] for name in names}

    def compare(self, *others: Summary, **options: Any) -> Comparison:
        """Hold the rows of this run against those of others; see `relfast.compare` for ``options``.

        Raises
        ------
        UsageError
            A summary's rows are not where it says they went, or the runs cannot be compared.
        """
        # the comparison stands on the engine, which stands on this
        result: Comparison = resolve("relfast.comparison:compare")(self, *others, **options)
        return result

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: what ``--summary`` writes, with all that `from_dict` and `merge` need."""
        return {
            "signature": self.signature,
            "records": self.rows,
            "responses": self.rows,
            "output": self.output,
            "seconds": self.seconds,
            "notes": self.notes,
            **({"unusable": [cause.to_dict() for cause in self.unusable]} if self.unusable else {}),
            "tasks": {name: task.to_dict() for name, task in self.tasks.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """The summary that `to_dict` has written, but for ``unusable``, whose causes are for reading only.

        Raises
        ------
        KeyError, TypeError, ValueError, AttributeError, IndexError
            It is no summary.
        """
        summary = cls(
            {}, data["signature"], data.get("output"), data.get("seconds"), list(data.get("notes", ()))
        )
        for name, task in data["tasks"].items():
            summary._add(TaskSummary.from_dict(group_of(name), task))
        return summary

    def merge(self, other: Summary) -> None:
        """Add the summary of another shard. Different signatures are noted, not hidden."""
        if other.signature != self.signature:
            self.notes.append(f"merged with a summary signed {other.signature}")
        for task in other.tasks.values():
            self._add(task)

    def _add(self, task: TaskSummary) -> None:
        if task.name in self.tasks:
            self.tasks[task.name].merge(task)
        else:
            self.tasks[task.name] = task


def summarize(tally: Tally, signature: str, store: SampleStore | None = None) -> Summary:
    """The summary of a tally, tasks in the order of the task table; its samples may be in a ``store``."""
    names = sorted(tally.tasks, key=lambda name: _ORDER.get(name, len(_ORDER)))
    prompts, repeated = collapse(tally.samples, names) if store is None else store.collapse(names)
    summary = Summary(
        {name: TaskSummary.of(name, tally.tasks[name], prompts[name]) for name in names}, signature
    )
    if repeated:
        what = "1 id occurs" if repeated == 1 else f"{repeated} ids occur"
        summary.notes.append(f"{what} on more than one line; such lines are samples of one prompt")
    return summary


def _interval_text(interval: Interval | None) -> str:
    return "–" if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _mean_text(task: TaskSummary) -> str:
    mean, _ = clustered_mean(task.histogram)
    return "–" if mean is None else f"{mean:.3f}"
