"""``verl_v0.jsonl`` and ``verl_v1.jsonl``: what verl's ``rollout_data_dir`` and ``validation_data_dir`` receive.

    python make_verl.py           # verl 0.9.1; next to records.jsonl

Written by verl's two trainers' own writers on our responses. V0 has no id, V1 one per rollout. ``verl.json`` is
what its validation reports of the same rollouts and scores: means and deviations over the samples of a prompt.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from verl.trainer.ppo.metric_utils import process_validation_metrics
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.trainer.ppo.v1.trainer_base import PPOTrainer

HERE = Path(__file__).parent


def right(record, text):
    found = re.findall("<(Yes|No)>", text)
    return float(bool(found) and found[-1] == record["answer"]["label"])


if __name__ == "__main__":
    records = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
    rollouts = [(record, k) for record in records for k in range(4)]
    inputs = [f"system\nYou are helpful.\nuser\n{record['question']}\nassistant\n" for record, _ in rollouts]
    outputs = [record["response"][k] for record, k in rollouts]
    gold = [json.dumps(record["answer"]) for record, _ in rollouts]
    uids = [f"{n // 4:08x}-0000-4000-8000-00000000000{n // 4}_{n % 4}_0" for n in range(len(rollouts))]
    scores = [right(record, record["response"][k]) for record, k in rollouts]
    reported = process_validation_metrics(
        ["REL-C1"] * len(rollouts), [record["id"] for record, _ in rollouts], {"reward": scores}
    )
    (HERE / "verl.json").write_text(json.dumps(reported, indent=2) + "\n", "utf-8")
    for trainer, extra, name in (
        (RayPPOTrainer, {}, "verl_v0.jsonl"),
        (PPOTrainer, {"uid": uids}, "verl_v1.jsonl"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            trainer._write_generations(inputs, outputs, gold, scores, extra, folder, 3)
            (HERE / name).write_bytes((Path(folder) / "3.jsonl").read_bytes())
