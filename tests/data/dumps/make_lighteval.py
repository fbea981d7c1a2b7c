"""``details_rel_c1.parquet``: what ``lighteval … --save-details`` writes of a task with 4 samples a prompt.

    python make_lighteval.py      # lighteval 0.13.0; next to records.jsonl

lighteval's own metric, loggers and tracker on our responses, without its pipeline, which wants a model;
``lighteval.json`` is what it reports on them.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]


class YesOrNo(SampleLevelComputation):
    def compute(self, doc, model_response, **_):
        right = []
        for text in model_response.text:
            found = re.findall("<(Yes|No)>", text)
            right.append(bool(found) and found[-1] == doc.get_golds()[0])
        return float(np.mean(right))


if __name__ == "__main__":
    metric = SampleLevelMetric(
        metric_name="yes_or_no",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=YesOrNo(),
        corpus_level_fn=np.mean,
        batched_compute=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        tracker = EvaluationTracker(output_dir=folder, save_details=True)
        name = "rel_c1|0"
        for n, record in enumerate(RECORDS):
            doc = Doc(
                query=record["question"],
                choices=["Yes", "No"],
                gold_index=["Yes", "No"].index(record["answer"]["label"]),
                id=str(n),
                task_name=name,
                num_samples=4,
                generation_size=64,
                specific={key: record[key] for key in ("id", "task", "answer")},
            )
            doc.sampling_methods.append(SamplingMethod.GENERATIVE)
            said = ModelResponse(
                input=record["question"], text=record["response"], input_tokens=[1], output_tokens=[[1]] * 4
            )
            outputs = {"yes_or_no": metric.sample_level_fn.compute(doc=doc, model_response=said)}
            tracker.metrics_logger.log(name, outputs)
            tracker.details_logger.log(name, doc, said, outputs)
        tracker.general_config_logger.model_name = "planned"
        tracker.general_config_logger.model_config = ModelConfig(model_name="planned")
        task = SimpleNamespace(aggregation=lambda: {"yes_or_no": np.mean})
        tracker.metrics_logger.aggregate(task_dict={name: task}, bootstrap_iters=1000)
        tracker.details_logger.aggregate()
        tracker.save()
        (made,) = Path(folder).rglob("details_*.parquet")
        (HERE / "details_rel_c1.parquet").write_bytes(made.read_bytes())
        reported = tracker.metrics_logger.metric_aggregated[name]
        (HERE / "lighteval.json").write_text(json.dumps(reported) + "\n", "utf-8")
        print(reported)
