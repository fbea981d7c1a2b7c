"""``verl_v0.jsonl`` and ``verl_v1.jsonl``: what verl's ``rollout_data_dir`` and ``validation_data_dir`` receive.

    python make_verl.py           # verl 0.9.1; next to records.jsonl

Written by verl's two trainers' own writers on our responses. V0 has no id, V1 one per rollout.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.trainer.ppo.v1.trainer_base import PPOTrainer

HERE = Path(__file__).parent

if __name__ == "__main__":
    records = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
    rollouts = [(record, k) for record in records for k in range(4)]
    inputs = [f"system\nYou are helpful.\nuser\n{record['question']}\nassistant\n" for record, _ in rollouts]
    outputs = [record["response"][k] for record, k in rollouts]
    gold = [json.dumps(record["answer"]) for record, _ in rollouts]
    uids = [f"{n // 4:08x}-0000-4000-8000-00000000000{n // 4}_{n % 4}_0" for n in range(len(rollouts))]
    for trainer, extra, name in (
        (RayPPOTrainer, {}, "verl_v0.jsonl"),
        (PPOTrainer, {"uid": uids}, "verl_v1.jsonl"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            trainer._write_generations(inputs, outputs, gold, [0.0] * len(outputs), extra, folder, 3)
            (HERE / name).write_bytes((Path(folder) / "3.jsonl").read_bytes())
