"""Problems as rows of a harness's data set: a task's built-in records, those of a file, or generated ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.bench.sets import SETS
from relfast.engine.calls.scorer import shared_scorer
from relfast.errors import UsageError
from relfast.records import Score
from relfast.rewards.problems import Problem, from_file, generated
from relfast.tasks import get_task

OWN: Final = ("file", "n", "seed", "policy", "parameters")
"""Keys of the harness's metadata that are for relfast."""


def rows_of(task: str, **metadata: Any) -> list[dict[str, Any]]:
    """The rows of a task: ``id``, ``task``, ``prompt``, ``question``, ``answer`` and ``policy``, all text.

    Parameters
    ----------
    task
        Name, in any case.
    **metadata
        ``file``, or ``n`` with ``seed`` and ``parameters`` (of the generator); ``policy`` (``reference``, the
        default, or ``strict``). Other keys are ignored.

    Raises
    ------
    UsageError
        There are no records of this task, or both ``file`` and ``n`` are given.
    """
    name = get_task(task).name
    options = {key: metadata[key] for key in OWN if metadata.get(key) is not None}
    policy = options.get("policy", "reference")
    shared_scorer({"policy": policy})  # raises for an unusable policy before the model is called
    rows = [_row(at, problem, policy) for at, problem in enumerate(_problems(name, options))]
    if not rows:
        raise UsageError(f"no records of {name} in {options.get('file') or 'the built-in sets'}")
    return rows


def score_of(row: Mapping[str, Any], response: object) -> Score | None:
    """The score of a response to a row of `rows_of`; None if it has none, or if the model gave no response
    (null in the harness's log), which is not wrong."""
    if response is None:
        return None
    scorer = shared_scorer({"policy": row["policy"]})
    score = scorer.score_one(row["task"], row["answer"], response, row["question"])
    return None if score.correct is None or score.reward is None else score


def _problems(name: str, options: Mapping[str, Any]) -> Iterator[Problem]:
    if "n" in options:
        if "file" in options:
            raise UsageError("metadata: 'file' or 'n', not both")
        seed, parameters = options.get("seed", 0), options.get("parameters", {})
        yield from (generated(name, at, seed, **parameters) for at in range(options["n"]))
        return
    # without a file: the built-in set of the task's benchmark
    problems = from_file(options.get("file") or SETS[name.lower().partition("-")[0]].path)
    yield from (problem for problem in problems if problem.task == name)


def _row(at: int, problem: Problem, policy: str) -> dict[str, Any]:
    """A row with gold as JSON text: as an object, a data set's column would add the keys of other records."""
    return {
        "id": problem.id or f"{problem.task.lower()}-{at}",  # else all records without one are one prompt
        "task": problem.task,
        "prompt": problem.prompt,
        "question": problem.question,
        "answer": json.dumps(problem.answer),
        "policy": policy,
    }
