"""Run by torchrun in each of several processes: steps of ``examples/trl_grpo.py`` on rows of one kind; the first
process prints what TRL logged, as JSON."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent

C1 = {"prompt": "isomers? CCO COC", "task": "REL-C1", "answer": '{"label": "Yes"}'}
C2 = {"prompt": "motif? CCO CCN", "task": "REL-C2", "answer": '{"smiles": "CC"}'}
C3 = {"prompt": "missing? CCO CCN", "task": "REL-C3", "answer": '{"missing_smiles": ["CC", "CO"]}'}
BROKEN = {"prompt": "broken? CCO", "task": "REL-C2", "answer": '{"smiles": null}'}
MIXED = [C1, C2, C3, BROKEN]
"""Tasks whose metrics have different names, and one that has none: what a process logs depends on its rows."""


def main(steps: int, output: str) -> None:
    from datasets import Dataset

    spec = importlib.util.spec_from_file_location("trl_grpo", ROOT / "examples" / "trl_grpo.py")
    assert spec is not None
    assert spec.loader is not None
    example: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    log = example.train(steps, output, Dataset.from_list(MIXED * 16), rollouts=8)
    if os.environ["RANK"] == "0":
        print(json.dumps(log))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
