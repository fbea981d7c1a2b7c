"""``scenario_state.json`` and ``helm_stats.json``: what ``helm-run`` writes of 8 instances × 4 completions.

    python make_helm.py           # crfm_helm 0.5.16; next to records.jsonl

A whole run of HELM's runner: a scenario of our records, its generation adapter, its executor and its simple client,
whose answers are our responses, and a metric. HELM's references are choices, so gold comes from ``--data``.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.config_registry import register_builtin_configs_from_helm_package
from helm.benchmark.executor import ExecutionSpec
from helm.benchmark.metrics.metric import Metric, MetricSpec
from helm.benchmark.metrics.metric_name import MetricName
from helm.benchmark.metrics.statistic import Stat
from helm.benchmark.run_spec import RunSpec
from helm.benchmark.runner import Runner
from helm.benchmark.scenarios.scenario import (
    CORRECT_TAG,
    TEST_SPLIT,
    Input,
    Instance,
    Output,
    Reference,
    Scenario,
    ScenarioSpec,
)
from helm.clients.simple_client import SimpleClient

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]


class RelC1(Scenario):
    name = "rel_c1"
    description = "constitutional isomers"
    tags = ()

    def get_instances(self, output_path):
        return [
            Instance(
                Input(record["question"]),
                references=[Reference(Output(record["answer"]["label"]), tags=[CORRECT_TAG])],
                split=TEST_SPLIT,
            )
            for record in RECORDS
        ]


class YesOrNo(Metric):
    """The share of an instance's completions that are right."""

    def evaluate_generation(self, adapter_spec, request_state, metric_service, eval_cache_path):
        gold = request_state.instance.references[0].output.text
        stat = Stat(MetricName("yes_or_no"))
        for completion in request_state.result.completions:
            found = re.findall("<(Yes|No)>", completion.text)
            stat.add(bool(found) and found[-1] == gold)
        return [stat]


def invoke_model(self, raw_request):
    (record,) = [record for record in RECORDS if record["question"] in raw_request["prompt"]]
    return {"completions": record["response"][: raw_request["num_completions"]]}


if __name__ == "__main__":
    SimpleClient.invoke_model = invoke_model
    sys.modules["make_helm"] = sys.modules["__main__"]
    register_builtin_configs_from_helm_package()
    spec = RunSpec(
        name="rel_c1:model=simple_model1",
        scenario_spec=ScenarioSpec(class_name="make_helm.RelC1"),
        adapter_spec=AdapterSpec(
            method="generation",
            input_prefix="",
            output_prefix="",
            model="simple/model1",
            model_deployment="simple/model1",
            num_outputs=4,
            max_tokens=64,
            max_train_instances=0,
        ),
        metric_specs=[MetricSpec(class_name="make_helm.YesOrNo")],
        groups=["rel_c1"],
    )
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(
            ExecutionSpec(url=None, auth=None, local_path=folder, parallelism=1),
            output_path=folder,
            suite="s",
            skip_instances=False,
            cache_instances=False,
            cache_instances_only=False,
            skip_completed_runs=False,
            exit_on_error=True,
        )
        runner.run_one(spec)
        (made,) = Path(folder).rglob("scenario_state.json")
        (HERE / "scenario_state.json").write_bytes(made.read_bytes())
        stats = [
            stat
            for stat in json.loads((made.parent / "stats.json").read_text("utf-8"))
            if stat["name"]["name"] == "yes_or_no"
        ]
        (HERE / "helm_stats.json").write_text(json.dumps(stats, indent=2) + "\n", "utf-8")
        print(stats)
