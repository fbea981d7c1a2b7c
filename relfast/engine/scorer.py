"""`Scorer`: scoring as an object that keeps what is worth keeping between calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from relfast.engine.job import Job
from relfast.engine.rows import read_gold
from relfast.engine.scoring import Scoring
from relfast.errors import UsageError
from relfast.records import Record, Score, unscored
from relfast.results import ScoreBatch
from relfast.tasks import find_task, infer_task


class Scorer:
    """Scores records and batches; a context manager.

    Parameters
    ----------
    **options
        As `relfast.score`.
    """

    def __init__(self, *, workers: int | None = None, **options: Any) -> None:
        from relfast.api import make_job

        self.job: Job = make_job(**options)
        self.workers = workers
        self._scoring = Scoring(self.job, read_gold(self.job.data))

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what the scorer holds; it can be called more than once."""

    def score(self, records: Iterable[Mapping[str, Any]]) -> list[Score]:
        """One `Score` per sample of each record, in order."""
        entries: list[Record | Score] = []
        for index, row in enumerate(records):
            if isinstance(row, Mapping):
                entries += self._scoring.row(row, index)
            else:
                kind = type(row).__name__
                entries.append(
                    unscored(index, None, None, 0, "invalid_record", "InvalidRecord", f"{kind}, not a dict")
                )
        return list(self._scoring.entries(entries))

    def score_batch(
        self,
        tasks: str | Sequence[str | None] | None,
        answers: Sequence[Any],
        responses: Sequence[Any],
        *,
        questions: Sequence[Any] | None = None,
    ) -> ScoreBatch:
        """Results in input order, of input length, always.

        Raises
        ------
        UsageError
            The sequences differ in length.
        """
        n = len(responses)
        names = [tasks] * n if isinstance(tasks, str) or tasks is None else list(tasks)
        asked = [None] * n if questions is None else list(questions)
        if not len(names) == len(answers) == len(asked) == n:
            raise UsageError(
                f"lengths differ: {len(names)} tasks, {len(answers)} answers, {n} responses,"
                f" {len(asked)} questions"
            )
        entries: list[Record | Score] = []
        for index, (name, answer, response, question) in enumerate(
            zip(names, answers, responses, asked, strict=True)
        ):
            name = self.job.task if name is None else name
            task = infer_task(answer) if name is None else find_task(name)
            if task is None:
                message = (
                    f"unknown task {name!r}" if name is not None else "task cannot be inferred from answer"
                )
                entries.append(unscored(index, None, None, 0, "invalid_record", "UnknownTask", message))
            else:
                entries.append(Record(index, None, task.name, answer, response, question))
        return ScoreBatch.of(list(self._scoring.entries(entries)))
