"""The recipes of docs/clusters.md, each where its package (and Java, for Spark) is installed. `make test-ray`."""

from __future__ import annotations

import json
import re
import shutil
import socket
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from corpora import ROOT
from engine_runs import honest, write_dump

import relfast
from relfast.distributed import RayScorer

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def recipe(title: str, number: int = 0) -> str:
    """A block of Python below a heading of the page."""
    page = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    below = re.split(rf"^### {title}$", page, flags=re.MULTILINE)[1].partition("\n### ")[0]
    return re.findall(r"```python\n(.*?)```", below, re.DOTALL)[number]


def follow(source: str, **names: Any) -> dict[str, Any]:
    names["RayScorer"] = RayScorer
    exec(compile(source, "docs/clusters.md", "exec"), names)
    return names


def flat(n: int, seed: int = 3) -> list[dict[str, Any]]:
    """Records as tables have them: gold is JSON text."""
    return [{**row, "answer": json.dumps(row["answer"])} for row in honest(n, seed)]


def statuses(rows: list[dict[str, Any]]) -> dict[str, tuple[str, float | None]]:
    return {
        row["id"]: (score.status, score.reward) for row, score in zip(rows, relfast.score(rows), strict=True)
    }


def test_dask() -> None:
    dask = pytest.importorskip("dask.dataframe")
    rows = flat(20)
    given = follow(recipe("Dask"), frame=dask.from_pandas(pandas.DataFrame(rows), npartitions=3))["scored"]
    scored = given.compute(scheduler="sync")
    assert {row["id"]: (row["status"], row["reward"]) for _, row in scored.iterrows()} == statuses(rows)


def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    rows = flat(40)
    spark = (
        pyspark.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "512m")
        .getOrCreate()
    )
    try:
        frame = spark.createDataFrame(
            pandas.DataFrame(rows)[["id", "task", "answer", "response"]]
        ).repartition(2)
        given = follow(recipe("Spark"), frame=frame)["scored"].toPandas()
    finally:
        spark.stop()
    expected = sorted((row["response"], *statuses([row])[row["id"]]) for row in rows)
    assert sorted(zip(given["response"], given["status"], given["reward"], strict=True)) == expected


def test_datatrove(tmp_path: Path) -> None:
    pytest.importorskip("datatrove")
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    rows = flat(60)
    (tmp_path / "in").mkdir()
    for at in range(3):
        write_dump(tmp_path / "in" / f"{at}.jsonl", rows[at::3])
    step = follow(recipe("datatrove"))["Score"]()
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(tmp_path / "in"), text_key="response"),
            step,
            JsonlWriter(str(tmp_path / "out"), compression=None),
        ],
        tasks=1,
        logging_dir=str(tmp_path / "logs"),
    ).run()
    written = [
        json.loads(line)
        for path in (tmp_path / "out").glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    given = {row["id"]: (row["metadata"]["status"], row["metadata"]["reward"]) for row in written}
    assert given == statuses(rows)


@pytest.fixture(scope="module")
def one_node() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
    yield ray
    ray.shutdown()


def strict_rewards(rows: list[dict[str, Any]]) -> list[float | None]:
    return [score.reward for score in relfast.score(rows, policy="strict")]


def test_ray_train(one_node: Any, tmp_path: Path) -> None:
    ray = one_node
    train = pytest.importorskip("ray.train")
    trainers = pytest.importorskip("ray.train.v2.api.data_parallel_trainer")
    rows = flat(12)
    rewards = follow(recipe("Ray Train, Serve, and reward actors"))["Rewards"]
    held = rewards.options(name="rewards").remote()
    target = tmp_path / "rewards.json"

    def loop(told: dict[str, Any]) -> None:
        actor = ray.get_actor("rewards")
        given = ray.get(actor.rewards.remote(told["rows"]))
        Path(told["target"]).write_text(json.dumps(given))

    trainers.DataParallelTrainer(
        loop,
        train_loop_config={"rows": rows, "target": str(target)},
        scaling_config=train.ScalingConfig(num_workers=1, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(storage_path=str(tmp_path / "train")),
    ).fit()
    ray.kill(held)
    assert json.loads(target.read_text()) == strict_rewards(rows)


def test_ray_serve(one_node: Any) -> None:
    serve = pytest.importorskip("ray.serve", exc_type=ImportError)
    rows = flat(12)
    names = follow(recipe("Ray Train, Serve, and reward actors", 1), pandas=pandas)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve.start(http_options={"port": port})
    try:
        serve.run(names["RewardServer"].bind(), route_prefix="/rewards")
        request = urllib.request.Request(f"http://127.0.0.1:{port}/rewards", json.dumps(rows).encode())
        with urllib.request.urlopen(request) as answer:
            given = json.loads(answer.read())
    finally:
        serve.shutdown()
    assert given == strict_rewards(rows)
