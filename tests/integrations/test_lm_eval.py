"""Tasks inside lm-evaluation-harness, to the log of samples, which scores the same again: ``make test-trainers``; its
command line runs in `tests/lines`. Without it: the YAML is of the table's tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from contract_records import gold

import relfast
from relfast.cli.main import cli
from relfast.errors import UsageError
from relfast.integrations.documents import rows_of
from relfast.integrations.lm_eval import FOLDER, documents, process_results
from relfast.rewards.problems import generated
from relfast.tasks import TASKS

NAMES = {f"relfast_{name.lower().replace('-', '_')}": name for name in TASKS}
BROKEN = {"task": "REL-C2", "question": "q", "answer": {"smiles": 5}}


def test_the_table_is_there() -> None:
    found = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.yaml")}
    assert found.keys() == {*NAMES, "relfast"}
    for yaml, name in NAMES.items():
        assert found[yaml] == f"include: _relfast\ntask: {yaml}\ndataset_kwargs:\n  task: {name}\n"
        # the group is of those that have built-in records
        assert (f"  - {yaml}\n" in found["relfast"]) is (name not in ("REL-A5", "REL-A6", "REL-A7"))
    assert CliRunner().invoke(cli, ["path", "lm-eval"]).output == f"{FOLDER}\n"
    assert CliRunner().invoke(cli, ["path", "cache"], env={"RELFAST_CACHE_DIR": "/a/b"}).output == "/a/b\n"


def test_built_in_records_and_new_ones() -> None:
    pytest.importorskip("datasets")
    for name in ("REL-C1", "SeqBench", "ReAlign"):
        rows = documents(name, pretrained="x", policy="strict")["test"]
        assert {row["task"] for row in rows} == {name}
        assert {row["policy"] for row in rows} == {"strict"}
        assert len(set(rows["prompt"])) == len(rows) >= 6
    new = documents("rel-c1", n=3, seed=5)["test"]
    assert [json.loads(text) for text in new["answer"]] == [
        generated("REL-C1", at, 5).answer for at in range(3)
    ]
    with pytest.raises(UsageError, match="no records of REL-A7"):
        documents("REL-A7")
    with pytest.raises(UsageError, match="not both"):
        documents("REL-C1", n=3, file="x.jsonl")


def test_a_response_without_a_score_is_not_wrong() -> None:
    doc = {**BROKEN, "answer": json.dumps(BROKEN["answer"]), "policy": "strict"}
    assert process_results(doc, ["<smiles>C</smiles>"]) == {"unscored": 1.0}
    record, response = gold("REL-C1")[0]
    doc = {**record, "answer": json.dumps(record["answer"]), "policy": "strict"}
    assert process_results(doc, [response]) == {"correct": 1.0, "reward": 1.0, "unscored": 0.0}
    assert process_results(doc, ["lol"]) == {"correct": 0.0, "reward": 0.0, "unscored": 0.0}
    # a model that gave nothing; also where nothing would be right, as the first choice of REL-A is
    for task in ("REL-A1", "REL-C1"):
        record, _ = gold(task)[0]
        doc = {**record, "answer": json.dumps(record["answer"]), "policy": "reference"}
        assert process_results(doc, [None]) == {"unscored": 1.0}
        row = {"doc_id": 0, "doc": record, "resps": [[None]], "filtered_resps": [None], "filter": "none"}
        (score,) = relfast.score([row], workers=0)
        assert score.status == "invalid_record"


@pytest.fixture
def lm_eval() -> Any:
    return pytest.importorskip("lm_eval")


def scored_again(folder: Path, policy: str) -> dict[str, dict[str, float]]:
    """What ``relfast score`` makes of the logs of samples: by task."""
    found = {}
    for path in sorted(folder.rglob("samples_*.jsonl")):
        summary = folder / f"{path.stem}.json"
        options = ["-o", str(folder / f"{path.stem}.rows.jsonl"), "--summary", str(summary), "-q"]
        result = CliRunner().invoke(cli, ["score", str(path), *options, "--policy", policy, "--workers", "0"])
        assert result.exit_code in (0, 3), result.output
        found.update(json.loads(summary.read_text("utf-8"))["tasks"])
    return found


@pytest.mark.trainers
@pytest.mark.filterwarnings("ignore")
def test_its_numbers_are_those_of_its_log(lm_eval: Any, tmp_path: Path) -> None:
    """All tasks, responses right and wrong, and records without a score."""
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    pairs = [pair for task in TASKS for pair in gold(task)[:3]]
    right = {record["question"]: response for record, response in pairs}
    records = [record for record, _ in pairs] + [{**BROKEN, "question": f"q{n}"} for n in range(2)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")

    class Answers(LM):
        """Of each task's questions the first answered wrong, the others right."""

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [
                "I do not know." if request.doc_id == 0 else right.get(request.doc["question"], "?")
                for request in requests
            ]

        loglikelihood = loglikelihood_rolling = generate_until

    metadata = {"file": str(path), "policy": "strict"}
    out = lm_eval.simple_evaluate(
        model=Answers(),
        tasks=list(NAMES),
        task_manager=TaskManager(include_path=str(FOLDER), metadata=metadata),
        metadata=metadata,
        log_samples=True,
        bootstrap_iters=10,
    )
    tracker = EvaluationTracker(output_path=str(tmp_path / "logs"))
    tracker.save_results_aggregated(results=out, samples=out["samples"])
    for name, samples in out["samples"].items():
        tracker.save_results_samples(task_name=name, samples=samples)
    again = scored_again(tmp_path / "logs", "strict")
    assert again.keys() == set(TASKS)
    for yaml, name in NAMES.items():
        theirs, ours = out["results"][yaml], again[name]
        n_unscored = 2 if name == "REL-C2" else 0
        n = ours["responses"]
        assert n == out["n-samples"][yaml]["effective"] == len(gold(name)[:3]) + n_unscored
        assert theirs["unscored,none"] == pytest.approx(n_unscored / n)
        assert theirs["correct,none"] == pytest.approx(ours["correct"])
        assert theirs["reward,none"] == pytest.approx(ours["reward"])
        if n - n_unscored > 1:
            assert theirs["correct_stderr,none"] == pytest.approx(ours["correct_se"])


def test_records_without_ids_are_prompts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    rows = [{"task": "REL-A1", "question": f"q{n}", "answer": {"target": n}} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [row["id"] for row in rows_of("REL-A1", file=str(path))] == ["rel-a1-0", "rel-a1-1", "rel-a1-2"]
