"""inspect_ai: a task of a file's records or of generated ones, and a scorer that tells unscored responses
from wrong ones.

::

    inspect eval relfast/relfast_task -T file=records.jsonl --model openai/…
    inspect eval relfast/relfast_task -T benchmark=REL-C2 -T n=100 --model openai/…
    inspect score log.eval --scorer relfast/relfast_scorer

A sample's ``metadata`` holds ``task``, ``answer`` (gold) and ``question``. The scorer needs no more, so it
scores any log whose samples have them. A response without a score is inspect's ``unscored`` (NaN, left out).
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from relfast.engine.calls.scorer import Scorer as Engine
from relfast.errors import UsageError
from relfast.formats import read_row
from relfast.formats.failure import NoResponse
from relfast.records import Score as Row
from relfast.rewards.problems import Problem, from_file, generated
from relfast.rewards.shared import field
from relfast.rewards.stored import gold_of
from relfast.tasks import TASKS

__all__ = ["relfast_scorer", "relfast_task", "sample_of"]

_VALUES: Final = {"correct": [mean(), stderr()], "reward": [mean(), stderr()]}


@scorer(metrics=_VALUES)
def relfast_scorer(policy: str = "reference", **options: Any) -> Scorer:
    """inspect's scorer with relfast's scores: ``correct`` (0 or 1) and ``reward``.

    Parameters
    ----------
    policy
        ``reference`` (as published; the default, since this is evaluation) or ``strict``.
    **options
        Options of `relfast.Scorer`.
    """
    engine = Engine(policy=policy, **options)  # type: ignore[arg-type]

    async def score(state: TaskState, target: Target) -> Score:
        about, response = state.metadata, _response_of(state)
        if isinstance(response, NoResponse):
            return Score.unscored(
                explanation=response.message,
                metadata={"status": "invalid_record", "task": field(about, "task")},
                reason="scoring_failed",
            )
        gold = field(about, "answer")
        future = engine.submit(
            field(about, "task"),
            gold_of(target.text if gold is None else gold),
            response,
            field(about, "question") or state.input_text,
        )
        return _shown(await asyncio.wrap_future(future))

    return score


def _response_of(state: TaskState) -> Any:
    """The response of a sample as `relfast score` reads it in the log: a text, or a `NoResponse` if the model
    failed, refused or was filtered, which is no wrong answer."""
    row = {"epoch": state.epoch, "target": "", "output": state.output.model_dump(mode="json")}
    return read_row(row, "inspect").samples()[0]


def _shown(row: Row) -> Score:
    metadata = {"status": row.status, "task": row.task, **row.metrics}
    if row.correct is None or row.reward is None:
        message = row.error["message"] if row.error else row.status
        return Score.unscored(explanation=message, metadata=metadata, reason="scoring_failed")
    return Score(
        value={"correct": float(row.correct), "reward": row.reward}, answer=row.pred, metadata=metadata
    )


@task
def relfast_task(
    file: str | None = None,
    benchmark: str | None = None,
    n: int = 100,
    seed: int = 0,
    policy: str = "reference",
    parameters: str = "{}",
) -> Task:
    """inspect's task of the problems of a file of records, or of the first ``n`` problems of a generator.

    Parameters
    ----------
    file
        Path of records, one a line, in any dialect that has gold.
    benchmark
        relfast's name of a task whose problems are generated.
    n, seed, parameters
        Number of problems, the generator's seed, and its parameters (JSON).
    policy
        See `relfast_scorer`.
    """
    if (file is None) == (benchmark is None):
        made = ", ".join(name for name, one in TASKS.items() if one.parameters is not None)
        raise UsageError(f"say file=PATH or benchmark=TASK; tasks that can be made: {made}")
    if file is not None:
        problems = list(from_file(file))
    else:
        values = json.loads(parameters) if isinstance(parameters, str) else dict(parameters)
        problems = [generated(str(benchmark), at, seed, **values) for at in range(n)]
    return Task(
        dataset=MemoryDataset([sample_of(problem) for problem in problems], name=benchmark or file),
        solver=generate(),
        scorer=relfast_scorer(policy=policy),
    )


def sample_of(problem: Problem) -> Sample:
    """A problem as a sample with everything that the scorer needs."""
    return Sample(
        input=problem.prompt,
        target=json.dumps(problem.answer),
        id=problem.id or None,
        metadata={"task": problem.task, "answer": problem.answer, "question": problem.question},
    )
