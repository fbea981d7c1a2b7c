"""``scenario_state.json``: what ``helm-run`` writes of 8 instances × 4 completions.

    python make_helm.py           # crfm_helm 0.5.16; next to records.jsonl

HELM's own classes and the writing line of its runner on our responses, without a model. Its references are
choices, so gold comes from ``--data``.
"""

from __future__ import annotations

import json
from pathlib import Path

from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.adaptation.scenario_state import ScenarioState
from helm.benchmark.scenarios.scenario import CORRECT_TAG, Input, Instance, Output, Reference
from helm.common.general import asdict_without_nones
from helm.common.request import GeneratedOutput, Request, RequestResult

HERE = Path(__file__).parent

if __name__ == "__main__":
    records = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
    states = []
    for n, record in enumerate(records):
        reference = Reference(Output(record["answer"]["label"]), tags=[CORRECT_TAG])
        instance = Instance(Input(record["question"]), references=[reference], split="test", id=f"id{n}")
        said = [GeneratedOutput(text=text, logprob=0, tokens=[]) for text in record["response"]]
        request = Request(
            model="simple/model1",
            model_deployment="simple/model1",
            prompt=record["question"],
            num_completions=4,
        )
        result = RequestResult(success=True, embedding=[], completions=said, cached=False)
        states.append(
            RequestState(
                instance=instance,
                reference_index=None,
                request_mode=None,
                train_trial_index=0,
                output_mapping=None,
                request=request,
                result=result,
                num_train_instances=0,
                prompt_truncated=False,
            )
        )
    state = ScenarioState(AdapterSpec(method="generation", num_outputs=4), states)
    made = json.dumps(asdict_without_nones(state), indent=2)
    (HERE / "scenario_state.json").write_text(made, "utf-8")
