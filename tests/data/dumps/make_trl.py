"""``completions_00003.parquet``: what TRL's GRPOTrainer writes with ``log_completions=True``.

    python make_trl.py            # trl 1.16.0; next to records.jsonl

Written by ``GRPOTrainer.log`` itself on our responses, without a model: a trainer that has nothing but what
``log`` looks at. The prompts are conversations.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

from transformers import Trainer
from trl import GRPOTrainer

HERE = Path(__file__).parent

if __name__ == "__main__":
    records = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
    rollouts = [(record, text) for record in records for text in record["response"]]
    Trainer.log = lambda self, logs, start_time=None: None
    trainer = object.__new__(GRPOTrainer)
    trainer.model = SimpleNamespace(training=True)
    trainer._metrics = {"train": {}}
    trainer.accelerator = SimpleNamespace(is_main_process=True)
    trainer.log_completions, trainer.num_completions_to_print, trainer.log_unique_prompts = True, 0, False
    trainer.log_completions_hub_repo = None
    trainer.state = SimpleNamespace(global_step=3)
    trainer._logs = {
        "prompt": [[{"role": "user", "content": record["question"]}] for record, _ in rollouts],
        "completion": [[{"role": "assistant", "content": text}] for _, text in rollouts],
        "rewards": {"rel_reward": [0.0] * len(rollouts)},
        "advantages": [0.0] * len(rollouts),
        "extra": defaultdict(list),
        "images": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "completions").mkdir()
        trainer.args = SimpleNamespace(output_dir=folder, report_to=[], log_completions_hub_repo=None)
        trainer.log({})
        (made,) = Path(folder).rglob("completions_*.parquet")
        (HERE / made.name).write_bytes(made.read_bytes())
