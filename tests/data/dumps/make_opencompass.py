"""``opencompass.json``: what OpenCompass writes under ``predictions/MODEL/DATASET.json``.

    python make_opencompass.py    # opencompass 0.5.4 on the path; next to records.jsonl

Written by its inferencer's own output handler on our responses, the first of each record; packages that the
handler's module imports and does not need (mmengine, torch, the retrievers) are stood in for.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

HERE = Path(__file__).parent


def handler():
    spec = importlib.util.find_spec("opencompass")
    path = Path(spec.origin).parent / "openicl/icl_inferencer/icl_base_inferencer.py"
    for name in (
        "mmengine",
        "mmengine.dist",
        "torch",
        "torch.utils",
        "torch.utils.data",
        "opencompass.utils",
    ):
        sys.modules[name] = MagicMock()
    for name in ("icl_prompt_template", "icl_retriever"):
        sys.modules[f"opencompass.openicl.{name}"] = MagicMock()
    sys.modules["opencompass.openicl"] = MagicMock(__path__=[str(path.parents[1])])
    sys.modules["opencompass.openicl.icl_inferencer"] = MagicMock(__path__=[str(path.parent)])
    name = "opencompass.openicl.icl_inferencer.icl_base_inferencer"
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path))
    module.__spec__.loader.exec_module(module)
    return module.GenInferencerOutputHandler()


if __name__ == "__main__":
    records = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
    output = handler()
    for n, record in enumerate(records):
        prompt = [{"role": "HUMAN", "prompt": record["question"]}]
        output.save_results(prompt, record["response"][0], n, gold=json.dumps(record["answer"]))
    output.write_to_json(str(HERE), "opencompass.json")
