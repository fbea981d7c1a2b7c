"""Problems as rows of a harness's data set: the built-in records of a task, those of a file, or new ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.bench.sets import SETS
from relfast.engine.online.scorer import shared_scorer
from relfast.errors import UsageError
from relfast.rewards.problems import Problem, from_file, generated
from relfast.tasks import get_task

OWN: Final = ("file", "n", "seed", "policy", "parameters")
"""What a harness's user may say."""


def rows_of(task: str, **metadata: Any) -> list[dict[str, Any]]:
    """The rows of a task: ``id``, ``task``, ``prompt``, ``question``, ``answer`` and ``policy``, all text.

    Parameters
    ----------
    task
        Name, in any case.
    **metadata
        ``file``, or ``n`` with ``seed`` and ``parameters`` (of the generator); ``policy`` (``reference``, the
        default, or ``strict``). Others are passed over.

    Raises
    ------
    UsageError
        There are no records of this task, or both a file and a number are given.
    """
    name = get_task(task).name
    given = {key: metadata[key] for key in OWN if metadata.get(key) is not None}
    policy = given.get("policy", "reference")
    shared_scorer({"policy": policy})  # says what cannot be used, before the model is asked
    rows = [_row(at, problem, policy) for at, problem in enumerate(_problems(name, given))]
    if not rows:
        raise UsageError(f"no records of {name} in {given.get('file') or 'the built-in sets'}")
    return rows


def _problems(name: str, given: Mapping[str, Any]) -> Iterator[Problem]:
    if "n" in given:
        if "file" in given:
            raise UsageError("metadata: 'file' or 'n', not both")
        seed, parameters = given.get("seed", 0), given.get("parameters", {})
        yield from (generated(name, at, seed, **parameters) for at in range(given["n"]))
        return
    # the built-in set that a task is of
    problems = from_file(given.get("file") or SETS[name.lower().partition("-")[0]].path)
    yield from (problem for problem in problems if problem.task == name)


def _row(at: int, problem: Problem, policy: str) -> dict[str, Any]:
    """A problem with gold as JSON text: a data set's columns would add other records' keys to an object."""
    return {
        "id": problem.id or f"{problem.task.lower()}-{at}",  # records without would be one prompt
        "task": problem.task,
        "prompt": problem.prompt,
        "question": problem.question,
        "answer": json.dumps(problem.answer),
        "policy": policy,
    }
