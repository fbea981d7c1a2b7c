"""lm-evaluation-harness: a task for each of ours, as YAML in ``tasks``, and the functions that these name.

::

    lm_eval --include_path $(relfast path lm-eval) --tasks relfast_rel_c2 --model hf --model_args pretrained=…
    lm_eval --include_path $(relfast path lm-eval) --tasks relfast --metadata '{"n": 100, "seed": 1}' …

Documents are the records of the built-in set, those of a file (``"file"`` in ``--metadata``; all of it, or of
each task its own), or ``"n"`` new ones of a ``"seed"``. A response without a score gives no ``correct`` and
no ``reward``, so that means are over those that have one, and ``unscored`` is 1. ``relfast score`` reads the
samples that ``--log_samples`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from relfast.bench.sets import SETS
from relfast.engine.online.shared import shared_scorer
from relfast.errors import UsageError
from relfast.realign.problems import from_file as realign_problems
from relfast.rewards.problems import Problem, from_file, generated, problem_of
from relfast.tasks import get_task

__all__ = ["FOLDER", "documents", "process_results"]

FOLDER: Final = Path(__file__).parent / "tasks"
"""What ``--include_path`` wants."""

_OWN: Final = ("file", "n", "seed", "policy", "parameters")
"""Keys of ``--metadata`` that are ours; others are the model's, which the harness adds."""


def documents(task: str, **metadata: Any) -> dict[str, Any]:
    """The data set of a task.

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
    from datasets import Dataset

    name = get_task(task).name
    given = {key: metadata[key] for key in _OWN if metadata.get(key) is not None}
    policy = given.get("policy", "reference")
    shared_scorer({"policy": policy})  # says what cannot be used, before the model is asked
    rows = [_document(problem, policy) for problem in _problems(name, given)]
    if not rows:
        raise UsageError(f"no records of {name} in {given.get('file') or 'the built-in sets'}")
    return {"test": Dataset.from_list(rows)}


def _problems(name: str, given: Mapping[str, Any]) -> Iterator[Problem]:
    if "n" in given:
        if "file" in given:
            raise UsageError("metadata: 'file' or 'n', not both")
        seed, parameters = given.get("seed", 0), given.get("parameters", {})
        yield from (generated(name, at, seed, **parameters) for at in range(given["n"]))
        return
    problems = from_file(given["file"]) if "file" in given else _built_in(name)
    yield from (problem for problem in problems if problem.task == name)


def _built_in(name: str) -> Iterator[Problem]:
    """The problems of the built-in set that a task is of."""
    path = SETS[name.lower().partition("-")[0]].path
    if name != "ReAlign":
        yield from from_file(path)
        return
    for each in realign_problems(str(path)):
        answer = {"benchmark_solution": each.solution}
        row = {"id": each.id, "task": name, "question": each.question, "answer": answer}
        yield problem_of(row, str(path))


def _document(problem: Problem, policy: str) -> dict[str, Any]:
    """A problem with gold as JSON text: a data set's columns would add other records' keys to an object."""
    return {
        "id": problem.id,
        "task": problem.task,
        "prompt": problem.prompt,
        "question": problem.question,
        "answer": json.dumps(problem.answer),
        "policy": policy,
    }


def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """The metrics of one document: ``correct`` and ``reward``, where it has a score, and ``unscored``."""
    scorer = shared_scorer({"policy": doc["policy"]})
    score = scorer.score_one(doc["task"], doc["answer"], results[0], doc["question"])
    if score.correct is None or score.reward is None:
        return {"unscored": 1.0}
    return {"correct": float(score.correct), "reward": score.reward, "unscored": 0.0}
