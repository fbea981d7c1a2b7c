"""lighteval: a task for each of relfast's, with the built-in records, those of a file, or generated ones.

::

    lighteval accelerate "model_name=…" relfast_rel_c2 --custom-tasks relfast.integrations.lighteval

To choose the records, name a module of your own that calls `tasks`::

    from relfast.integrations.lighteval import tasks
    TASKS_TABLE = tasks(file="records.jsonl", policy="strict", samples=4)

lighteval passes its tasks nothing but a data set's path, so rows are written to a temporary folder, which is
removed when the process ends; nothing is downloaded. A response without a score has no ``correct`` and no
``reward``, so means are over scored responses, and it counts in ``unscored``. ``relfast score`` reads the
details that ``--save-details`` writes.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation, SamplingMetric
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

from relfast.errors import UsageError
from relfast.integrations.documents import rows_of, score_of
from relfast.rewards.problems import from_file
from relfast.tasks import TASKS

__all__ = ["tasks"]

_NAMES: Final = ("correct", "reward", "unscored")
_BETTER: Final = {"correct": True, "reward": True, "unscored": False}
_WITHOUT_RECORDS: Final = frozenset({"REL-A5", "REL-A6", "REL-A7"})
"""Tasks that no built-in set has records of."""


def tasks(
    names: Iterable[str] | None = None, *, samples: int = 1, generation_size: int = 4096, **metadata: Any
) -> list[LightevalTaskConfig]:
    """The ``TASKS_TABLE`` of a module for ``--custom-tasks``: ``TASKS_TABLE = tasks(["rel-c2"], n=100)``.

    Parameters
    ----------
    names
        Names of tasks, in any case; None: all tasks that have records.
    samples
        Number of responses to each prompt; a prompt's scores are means over its responses.
    generation_size
        Most tokens of a response.
    **metadata
        As for `relfast.integrations.documents.rows_of`.

    Raises
    ------
    UsageError
        There are no records, or both ``file`` and ``n`` are given.
    """
    if names is None:
        names = _tasks_with_records(metadata)
    table = [_config(rows_of(name, **metadata), samples, generation_size) for name in names]
    if not table:
        raise UsageError(f"no records in {metadata.get('file')}")
    return table


def _tasks_with_records(metadata: Mapping[str, Any]) -> list[str]:
    if metadata.get("file") is not None:
        return list(dict.fromkeys(problem.task for problem in from_file(metadata["file"])))
    if metadata.get("n") is not None:
        return [name for name, task in TASKS.items() if task.parameters is not None]
    return [name for name in TASKS if name not in _WITHOUT_RECORDS]


def _config(rows: list[dict[str, Any]], samples: int, generation_size: int) -> LightevalTaskConfig:
    name = f"relfast_{rows[0]['task'].lower().replace('-', '_')}"
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_folder()))
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "test.jsonl").write_text(text, encoding="utf-8")
    return LightevalTaskConfig(
        name=name,
        prompt_function=_document,
        hf_repo=str(folder),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[_metric(samples)],
        generation_size=generation_size,
        stop_sequence=[],
    )


@lru_cache(maxsize=1)
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="relfast-lighteval-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _document(row: Mapping[str, Any], task_name: str) -> Doc:
    return Doc(
        query=row["prompt"],
        choices=[row["answer"]],
        gold_index=0,
        task_name=task_name,
        specific={key: row[key] for key in ("id", "task", "question", "answer", "policy")},
    )


class RelfastScores(SampleLevelComputation, SamplingMetric):
    """The metric of a document: means over its scored responses, and the share of unscored ones."""

    def __init__(self, samples: int) -> None:
        SamplingMetric.__init__(self)
        self.n = samples

    def num_samples(self) -> int:
        """The number of responses that lighteval samples."""
        return self.n

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, float]:
        """Score the responses of a document."""
        scores = [score_of(doc.specific, text) for text in model_response.final_text]
        scored = [score for score in scores if score is not None]
        metrics = {"unscored": 1 - len(scored) / len(scores)}
        if scored:
            metrics["correct"] = float(np.mean([bool(score.correct) for score in scored]))
            metrics["reward"] = float(np.mean([score.reward or 0.0 for score in scored]))
        return metrics


def _metric(samples: int) -> SampleLevelMetricGrouping:
    return SampleLevelMetricGrouping(
        metric_name=list(_NAMES),
        higher_is_better=dict(_BETTER),
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=RelfastScores(samples),
        corpus_level_fn=dict.fromkeys(_NAMES, np.mean),
    )


def __getattr__(name: str) -> Any:
    # made on access: a module that only calls `tasks` must not read the built-in records
    if name == "TASKS_TABLE":
        return globals().setdefault(name, tasks())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
