"""The scoring loops that people have, lm-evaluation-harness's and verl's, and ours: whole commands on the same work.

The work: eight samples a prompt, 2 kB each, as `relfast score --policy strict` reads them, one JSON line a prompt;
verl gets the same as the Parquet that its documentation asks for. What the loops call for each response is the
published rule written plainly (`naive_rel`), which is less work than ours under strict.

``python -m benchmarks.loops --responses 1000000`` runs all three, one after the other, and prints a table. Each tool
runs in its own environment where RELFAST_LM_EVAL_PYTHON and RELFAST_VERL_PYTHON name an interpreter that has it, and
RDKit, which `naive_rel` needs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from .workloads_dumps import DUMPS

WORKERS: Final = 2
TESTS: Final = Path(__file__).parents[1] / "tests"
KIND: Final = DUMPS["8 samples a line"]

LM_EVAL, VERL = "lm-evaluation-harness's loop", "verl's main_eval"
INTERPRETERS: Final = {
    LM_EVAL: os.environ.get("RELFAST_LM_EVAL_PYTHON", sys.executable),
    VERL: os.environ.get("RELFAST_VERL_PYTHON", sys.executable),
}

SCORE: Final = """
import json, sys
sys.path.insert(0, {tests!r})
from naive_rel import score_a, score_c1

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    score = score_c1 if data_source == "REL-C1" else score_a
    return float(score(json.loads(ground_truth), solution_str)["correct"])
"""

HARNESS: Final = '''
import json, sys
from lm_eval import evaluate
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks import TaskManager
from compute_score import compute_score

path = sys.argv[1]
with open(path, encoding="utf-8") as file:
    responses = [json.loads(line)["response"] for line in file]

class Recorded(LM):
    """Answers with what the dump has, sample by sample."""
    def generate_until(self, requests, disable_tqdm=False):
        seen, texts = {{}}, []
        for request in requests:
            at = seen[request.doc_id] = seen.get(request.doc_id, -1) + 1
            texts.append(responses[request.doc_id][at])
        return texts
    def loglikelihood(self, requests): raise NotImplementedError
    def loglikelihood_rolling(self, requests): raise NotImplementedError

def process_results(doc, results):
    gold = json.dumps(doc["answer"]) if isinstance(doc["answer"], dict) else doc["answer"]
    (samples,) = results
    return {{"reward": sum(compute_score(doc["task"], text, gold) for text in samples) / len(samples)}}

task = ConfigurableTask(config={{
    "task": "rel", "dataset_path": "json",
    "dataset_kwargs": {{"data_files": {{"test": sys.argv[2]}}, "cache_dir": sys.argv[3]}},
    "test_split": "test", "output_type": "generate_until", "repeats": 8,
    "doc_to_text": "{{{{id}}}}", "doc_to_target": "", "process_results": process_results,
    "filter_list": [{{"name": "all", "filter": [{{"function": "take_first_k", "k": 8}}]}}],
    "metric_list": [{{"metric": "reward", "aggregation": "mean", "higher_is_better": True}}],
}})
results = evaluate(Recorded(), {{"rel": task}}, bootstrap_iters=0, log_samples=True)
print(json.dumps(results["results"]["rel"]["reward,all"]))
'''


class Work(NamedTuple):
    """The same responses for each, and the folder of what the loops need."""

    dump: Path
    responses: int
    n_bytes: int
    folder: Path


def run(command: list[object], folder: Path) -> str:
    """A command's output; it must end well, and asks nothing beyond this machine."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "hf")}
    env = {**os.environ, **offline, "PYTHONPATH": path}
    done = subprocess.run([*map(str, command)], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def lm_eval(work: Work) -> Callable[[], object]:
    """lm_eval.evaluate with a model that answers from the dump: one process, as the harness scores."""
    docs = work.folder / "docs.jsonl"
    with work.dump.open(encoding="utf-8") as source, docs.open("w", encoding="utf-8") as target:
        for line in source:
            row = json.loads(line)
            row["answer"] = json.dumps(row["answer"])
            del row["response"]
            target.write(json.dumps(row) + "\n")
    script = work.folder / "harness.py"
    script.write_text(HARNESS.format(), "utf-8")
    command = [INTERPRETERS[LM_EVAL], "-W", "ignore", script, work.dump, docs, work.folder / "hf"]
    return lambda: float(run(command, work.folder).splitlines()[-1])


def verl(work: Work) -> Callable[[], object]:
    """verl.trainer.main_eval, its command for scoring a file of generations: a Ray task a prompt, on two cores."""
    import pyarrow as pa
    from pyarrow import parquet

    path = work.folder / "generations.parquet"
    writer = None
    with work.dump.open(encoding="utf-8") as source:
        while lines := source.readlines(50_000_000):
            rows = []
            for row in map(json.loads, lines):
                gold = {"style": "rule", "ground_truth": json.dumps(row["answer"])}
                rows.append({"data_source": row["task"], "responses": row["response"], "reward_model": gold})
            table = pa.Table.from_pylist(rows)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    assert writer is not None, "there is nothing to score"
    writer.close()
    command = [
        *(INTERPRETERS[VERL], "-W", "ignore", "-m", "verl.trainer.main_eval"),
        *(f"data.path={path}", "data.response_key=responses"),
        # 0.9.1 looks for it there, where its own configuration does not have it
        f"+reward.custom_reward_function.path={work.folder / 'compute_score.py'}",
        "+reward.custom_reward_function.name=compute_score",
        f"+ray_kwargs.ray_init.num_cpus={WORKERS}",
        "+ray_kwargs.ray_init.address=local",  # never another user's cluster
    ]
    return lambda: run(command, work.folder)


LOOPS: Final[dict[str, Callable[[Work], Callable[[], object]]]] = {LM_EVAL: lm_eval, VERL: verl}
"""Whose loop → what prepares a work for it, and gives what is timed."""


def main() -> None:
    """All three on the same work; a line each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loops", description=main.__doc__)
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the work is kept meanwhile: 5 kB a response")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        dump, prompts = Path(folder) / "dump.jsonl", asked.responses // KIND.samples
        work = Work(dump, prompts * KIND.samples, KIND.write(dump, prompts), Path(folder))
        (work.folder / "compute_score.py").write_text(SCORE.format(tests=str(TESTS)), "utf-8")
        out = work.folder / "rows.jsonl"
        ours: list[object] = [
            *(sys.executable, "-m", "relfast", "score", work.dump, "-o", out, "--overwrite", "-q"),
            *("--policy", "strict", "--workers", WORKERS),
        ]
        timed: dict[str, Callable[[], object]] = {"relfast score": lambda: run(ours, work.folder)}
        timed |= {name: prepare(work) for name, prepare in LOOPS.items()}
        seconds: dict[str, float] = {}
        for name, command in timed.items():
            began = time.perf_counter()
            command()
            seconds[name] = time.perf_counter() - began
            print(f"{name}: {seconds[name]:.1f} s", file=sys.stderr, flush=True)
        assert out.read_bytes().count(b"\n") == work.responses, "rows are missing"
        gigabytes = f"{work.n_bytes / 1e9:.2f} GB"
        print(f"\n{work.responses:,} responses, {KIND.samples} a prompt, {gigabytes}, strict:\n")
        print("| whole command | s | responses/s | times relfast's |\n|---|---:|---:|---:|")
        for name, taken in seconds.items():
            times = taken / seconds["relfast score"]
            print(f"| {name} | {taken:.1f} | {work.responses / taken:,.0f} | {times:.2f} |")


if __name__ == "__main__":
    main()
