"""Against the scoring loops that people have: lm-evaluation-harness's and verl's, whole commands on the same work.

The work: eight samples a prompt, 2 kB each, as `relfast score --policy strict` reads them, one JSON line a prompt;
verl gets the same as the Parquet that its documentation asks for. What the loops call for each response is the
published rule written plainly (`naive_rel`), which is less work than ours under strict. They run where they are
installed, and as many responses as RELFAST_BENCH_RESPONSES says (100,000).
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from .measure import against, size
from .workloads_dumps import DUMPS

RESPONSES: Final = int(os.environ.get("RELFAST_BENCH_RESPONSES", "100000"))
WORKERS: Final = 2
TESTS: Final = Path(__file__).parents[1] / "tests"

SCORE: Final = """
import json, sys
sys.path.insert(0, {tests!r})
from naive_rel import score_a, score_c1

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    score = score_c1 if data_source == "REL-C1" else score_a
    return float(score(json.loads(ground_truth), solution_str)["correct"])
"""

LM_EVAL: Final = '''
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


@pytest.fixture
def work(tmp_path: Path, benchmark: Any) -> Work:
    kind = DUMPS["8 samples a line"]
    n = size(benchmark, smoke=10 * kind.samples, quick=8_000, full=RESPONSES)
    dump = tmp_path / "dump.jsonl"
    n_bytes = kind.write(dump, n // kind.samples)
    (tmp_path / "compute_score.py").write_text(SCORE.format(tests=str(TESTS)), "utf-8")
    return Work(dump, n, n_bytes, tmp_path)


def _run(command: list[object], folder: Path) -> str:
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "hf")}
    done = subprocess.run(
        list(map(str, command)),
        check=False,
        cwd=folder,
        env={**os.environ, **offline, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def _compare(
    benchmark: Any, work: Work, loop: Callable[[], Any], name: str, relfast_command: Callable[..., None]
) -> None:
    out = work.folder / "rows.jsonl"
    against(
        benchmark,
        lambda: relfast_command(
            "score", work.dump, "-o", out, "--overwrite", "-q", "--policy", "strict", "--workers", WORKERS
        ),
        loop,
        task=f"relfast score --policy strict, 8 samples a prompt, {work.responses:,} responses, against {name}",
        items=work.responses,
        n_bytes=work.n_bytes,
        workers=WORKERS,
        name="vs",
        limit=10.0,
        at_least=True,
        rounds=1 if work.responses > 100_000 else 3,
        check=lambda *_: out.read_bytes().count(b"\n") == work.responses,
    )


@pytest.mark.trainers
@pytest.mark.skipif(importlib.util.find_spec("lm_eval") is None, reason="lm-eval is not installed")
def test_against_lm_eval(work: Work, benchmark: Any, relfast_command: Callable[..., None]) -> None:
    """lm_eval.evaluate with a model that answers from the dump: one process, as the harness scores."""
    docs = work.folder / "docs.jsonl"
    with work.dump.open(encoding="utf-8") as source, docs.open("w", encoding="utf-8") as target:
        for line in source:
            row = json.loads(line)
            row["answer"] = json.dumps(row["answer"])
            del row["response"]
            target.write(json.dumps(row) + "\n")
    script = work.folder / "harness.py"
    script.write_text(LM_EVAL.format(), "utf-8")
    command = [sys.executable, "-W", "ignore", script, work.dump, docs, work.folder / "hf"]

    def loop() -> float:
        return float(_run(command, work.folder).splitlines()[-1])

    _compare(benchmark, work, loop, "lm-evaluation-harness's loop", relfast_command)


@pytest.mark.trainers
@pytest.mark.skipif(importlib.util.find_spec("verl") is None, reason="verl is not installed")
def test_against_verl(work: Work, benchmark: Any, relfast_command: Callable[..., None]) -> None:
    """verl.trainer.main_eval, its command for scoring a file of generations: a Ray task a prompt, on two cores."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = []
    with work.dump.open(encoding="utf-8") as source:
        for line in source:
            row = json.loads(line)
            gold = {"style": "rule", "ground_truth": json.dumps(row["answer"])}
            rows.append({"data_source": row["task"], "responses": row["response"], "reward_model": gold})
    path = work.folder / "generations.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    command = [
        *(sys.executable, "-W", "ignore", "-m", "verl.trainer.main_eval"),
        *(f"data.path={path}", "data.response_key=responses"),
        # 0.9.1 looks for it there, where its own configuration does not have it
        f"+reward.custom_reward_function.path={work.folder / 'compute_score.py'}",
        "+reward.custom_reward_function.name=compute_score",
        f"+ray_kwargs.ray_init.num_cpus={WORKERS}",
        "+ray_kwargs.ray_init.address=local",  # never somebody else's cluster
    ]
    _compare(benchmark, work, lambda: _run(command, work.folder), "verl's main_eval", relfast_command)
