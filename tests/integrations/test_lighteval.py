"""Tasks inside lighteval, from its pipeline to its details, which score the same again; its command line runs in
`tests/lines`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from contract_records import gold

import relfast
from relfast.errors import UsageError
from relfast.tasks import TASKS

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def lighteval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Without a network: its registry imports a task that fetches a file, unless one of that name is there."""
    module = pytest.importorskip("lighteval")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    fetched = Path(module.__file__).parent / "tasks" / "tasks" / "tinyBenchmarks.pkl"
    missing = not fetched.exists()
    if missing:
        fetched.touch()
    yield module
    if missing:
        fetched.unlink()


def scored_again(details: Path, policy: str, tmp_path: Path) -> dict[str, Any]:
    """What ``relfast score`` makes of a task's details."""
    output = tmp_path / f"{details.stem}.rows.jsonl"
    summary = relfast.score_file(details, output, policy=policy, workers=0)
    (task,) = summary.tasks.values()
    return task.to_dict()


def test_its_numbers_are_those_of_its_details(lighteval: Any, tmp_path: Path) -> None:
    """All tasks, two responses to each prompt, right and wrong, and records without a score."""
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig
    from lighteval.models.model_output import ModelResponse
    from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters

    from relfast.rewards.problems import problem_of

    pairs = [pair for task in TASKS for pair in gold(task)[:3]]
    broken = [{"task": "REL-C2", "question": f"q{n}", "answer": {"smiles": 5}} for n in range(2)]
    path = tmp_path / "records.jsonl"
    records = [record for record, _ in pairs] + broken
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    right = {problem_of(record).prompt: response for record, response in pairs}

    class Answers(DummyModel):  # type: ignore[misc]
        """Each prompt's first response is right, its second one where the prompt's length is odd."""

        def greedy_until(self, docs: Any) -> list[Any]:
            assert {doc.num_samples for doc in docs} == {2}
            return [
                ModelResponse(text=[one, one if len(doc.query) % 2 else "I do not know."])
                for doc in docs
                for one in [right.get(doc.query, "?")]
            ]

    module = tmp_path / "ours.py"
    module.write_text(
        "from relfast.integrations.lighteval import tasks\n"
        f"TASKS_TABLE = tasks(file={str(path)!r}, policy='strict', samples=2)\n",
        encoding="utf-8",
    )
    tracker = EvaluationTracker(output_dir=str(tmp_path / "out"), save_details=True)
    names = {f"relfast_{name.lower().replace('-', '_')}": name for name in TASKS}
    pipeline = Pipeline(
        tasks=",".join(names),
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.NONE, custom_tasks_directory=str(module)
        ),
        evaluation_tracker=tracker,
        model=Answers(DummyModelConfig(cache_dir=str(tmp_path / "cache"))),
    )
    pipeline.evaluate()
    pipeline.save_and_push_results()
    results = pipeline.get_results()["results"]
    for name, task in names.items():
        theirs = results[f"{name}:0"]
        (details,) = tmp_path.rglob(f"details_{name}|0_*.parquet")
        ours = scored_again(details, "strict", tmp_path)
        n_unscored = 2 if task == "REL-C2" else 0
        n = len(gold(task)[:3]) + n_unscored
        assert ours["responses"] == 2 * n
        assert theirs["unscored"] == pytest.approx(n_unscored / n)
        assert theirs["correct"] == pytest.approx(ours["correct"])
        assert theirs["reward"] == pytest.approx(ours["reward"])
        if n - n_unscored > 1:
            assert theirs["correct_stderr"] == pytest.approx(ours["correct_se"])
    assert any(0 < results[f"{name}:0"]["correct"] < 1 for name in names)


def test_which_records(lighteval: Any, tmp_path: Path) -> None:
    from relfast.integrations.lighteval import tasks

    (config,) = tasks(["rel-c1"], n=3, seed=5)
    rows = [json.loads(line) for line in Path(config.hf_repo, "test.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["rel-c1-5-0", "rel-c1-5-1", "rel-c1-5-2"]
    with pytest.raises(UsageError, match="no records of REL-A7"):
        tasks(["REL-A7"])
    with pytest.raises(UsageError, match="not both"):
        tasks(["REL-C1"], n=3, file="x.jsonl")
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no records in .*empty\.jsonl"):
        tasks(file=str(tmp_path / "empty.jsonl"))
