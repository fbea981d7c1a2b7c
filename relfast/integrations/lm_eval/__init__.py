"""lm-evaluation-harness: a task for each of relfast's, as YAML in ``tasks``, and the functions named there.

::

    lm_eval --include_path $(relfast path lm-eval) --tasks relfast_rel_c2 --model hf --model_args pretrained=…
    lm_eval --include_path $(relfast path lm-eval) --tasks relfast --metadata '{"n": 100, "seed": 1}' …

Documents are the task's records in the built-in set or in a file (``"file"`` in ``--metadata``), or ``"n"``
generated ones of a ``"seed"``. A response without a score has no ``correct`` and no ``reward``, so means are
over scored responses, and its ``unscored`` is 1. ``relfast score`` reads the samples that ``--log_samples``
writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from relfast.integrations.documents import rows_of, score_of

__all__ = ["FOLDER", "documents", "process_results"]

FOLDER: Final = Path(__file__).parent / "tasks"
"""The folder to pass as ``--include_path``."""


def documents(task: str, **metadata: Any) -> dict[str, Any]:
    """The data set of a task.

    Parameters
    ----------
    task
        Name of the task, in any case.
    **metadata
        As for `relfast.integrations.documents.rows_of`.

    Raises
    ------
    UsageError
        There are no records of this task, or both ``file`` and ``n`` are given.
    """
    from datasets import Dataset

    return {"test": Dataset.from_list(rows_of(task, **metadata))}


def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """The metrics of one document: ``unscored`` and, if it is scored, ``correct`` and ``reward``."""
    score = score_of(doc, results[0])
    if score is None:
        return {"unscored": 1.0}
    return {"correct": float(bool(score.correct)), "reward": score.reward or 0.0, "unscored": 0.0}
