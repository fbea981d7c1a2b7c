"""``samples_rel_c1.jsonl``: what ``lm_eval --log_samples`` writes of a task with 2 filters and 4 repeats.

    python make_lm_eval.py        # lm_eval 0.4.13; next to records.jsonl

The model is lm_eval's own ``dummy`` with our responses in place of "lol"; ``results_rel_c1.json`` is what
lm_eval reports on them. The filters: ``first`` takes the first of the repeats, ``maj`` the most frequent one.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import yaml
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.dummy import DummyLM
from lm_eval.tasks import TaskManager

HERE = Path(__file__).parent
RECORDS = {
    record["question"]: record
    for record in map(json.loads, (HERE / "records.jsonl").read_text("utf-8").splitlines())
}


class Planned(DummyLM):
    def generate_until(self, requests, disable_tqdm=False):
        asked: dict[str, int] = {}
        said = []
        for request in requests:
            question = request.arguments[0]
            n = asked[question] = asked.get(question, -1) + 1
            said.append(RECORDS[question]["response"][n % 4])
        return said


def task(folder: Path) -> dict:
    data = folder / "data.jsonl"
    rows = ({key: record[key] for key in record if key != "response"} for record in RECORDS.values())
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    regex = {"function": "regex", "regex_pattern": "<(Yes|No)>", "group_select": -1}
    return {
        "task": "rel_c1",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer.label}}",
        "repeats": 4,
        "generation_kwargs": {"until": [], "do_sample": True, "temperature": 1.0},
        "filter_list": [
            {"name": "first", "filter": [regex, {"function": "take_first"}]},
            {"name": "maj", "filter": [regex, {"function": "majority_vote"}, {"function": "take_first"}]},
        ],
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rel_c1.yaml").write_text(yaml.safe_dump(task(folder)), "utf-8")
        tracker = EvaluationTracker(output_path=str(folder / "out"))
        results = simple_evaluate(
            Planned(),
            tasks=["rel_c1"],
            log_samples=True,
            bootstrap_iters=100,
            task_manager=TaskManager(include_path=str(folder), include_defaults=False),
            evaluation_tracker=tracker,
        )
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples)
        tracker.save_results_samples(task_name="rel_c1", samples=samples["rel_c1"])
        (made,) = folder.rglob("samples_rel_c1_*.jsonl")
        (HERE / "samples_rel_c1.jsonl").write_bytes(made.read_bytes())
        (HERE / "results_rel_c1.json").write_text(json.dumps(results["results"], indent=2) + "\n", "utf-8")
        print(results["results"])
