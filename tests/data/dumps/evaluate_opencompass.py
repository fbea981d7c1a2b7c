"""``opencompass_result.json``: what OpenCompass's own evaluation task says of ``opencompass.json``.

    HF_HUB_OFFLINE=1 python evaluate_opencompass.py    # opencompass 0.5.4 and what its evaluator imports

Its loader of predictions, its postprocessor for a pattern, `AccEvaluator` and its writer of results. The data set
gives the label that stands in ``gold``; ``__init__`` of its tasks and data sets is left out, for it imports the
packages of every data set.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
import types
from pathlib import Path

HERE = Path(__file__).parent
BASE = Path(importlib.util.find_spec("opencompass").origin).parent


def evaluate(predictions: Path, work: Path) -> Path:
    """The file of results."""
    for name in ("tasks", "datasets"):
        package = types.ModuleType(f"opencompass.{name}")
        package.__path__ = [str(BASE / name)]
        sys.modules[package.__name__] = package
    from datasets import Dataset, DatasetDict
    from mmengine.config import Config
    from opencompass.datasets.base import BaseDataset
    from opencompass.openicl.icl_evaluator import AccEvaluator
    from opencompass.registry import LOAD_DATASET
    from opencompass.tasks.openicl_eval import OpenICLEvalTask
    from opencompass.utils.text_postprocessors import match_answer_pattern

    @LOAD_DATASET.register_module()
    class Gold(BaseDataset):
        @staticmethod
        def load(**_):
            asked = json.loads(predictions.read_text("utf-8")).values()
            rows = [
                {"label": json.loads(row["gold"])["label"], "question": row["origin_prompt"][0]["prompt"]}
                for row in asked
            ]
            data = Dataset.from_list(rows)
            return DatasetDict(train=data, test=data)

    (work / "predictions/m").mkdir(parents=True)
    shutil.copy(predictions, work / "predictions/m/rel_c1.json")
    pattern = {"type": match_answer_pattern, "answer_pattern": r"<(Yes|No)>"}
    data_set = {
        "type": Gold,
        "abbr": "rel_c1",
        "path": "rel_c1",
        "reader_cfg": {"input_columns": ["question"], "output_column": "label"},
        "eval_cfg": {"evaluator": {"type": AccEvaluator}, "pred_postprocessor": pattern},
    }
    model = {"type": "opencompass.models.OpenAI", "abbr": "m", "path": "m"}
    task = {"models": [model], "datasets": [[data_set]], "work_dir": str(work)}
    OpenICLEvalTask(Config({**task, "eval": {"runner": {"task": {}}}})).run()
    return work / "results/m/rel_c1.json"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(evaluate(HERE / "opencompass.json", Path(folder)), HERE / "opencompass_result.json")
