"""Inputs and output in an object store that speaks S3, on this machine. `make test-ray`."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_runs import honest, write_dump

from relfast.distributed import score_on_ray
from relfast.distributed.run import score_here
from relfast.engine.file_run.files import score_files
from relfast.engine.job import make_job
from relfast.errors import OutputExistsError

moto = pytest.importorskip("moto.server", exc_type=ImportError)
s3fs = pytest.importorskip("s3fs")

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

JOB = make_job()


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    """A file system on a bucket ``dumps``; who opens ``s3://`` URLs finds it by the environment."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        system = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
        system.mkdir("dumps")
        yield system
    server.stop()


@pytest.fixture
def dumps(store: Any, tmp_path: Path) -> Iterator[list[Path]]:
    """Two dumps here, and in the bucket."""
    plain = write_dump(tmp_path / "a.jsonl", [*honest(300, 1), {"task": "REL-C2", "answer": 1}])
    zipped = tmp_path / "b.jsonl.gz"
    zipped.write_bytes(gzip.compress(write_dump(tmp_path / "b", honest(200, 2)).read_bytes()))
    for path in (plain, zipped):
        store.put_file(str(path), f"dumps/in/{path.name}")
    yield [plain, zipped]
    store.rm("dumps/in", recursive=True)
    if store.exists("dumps/out"):
        store.rm("dumps/out", recursive=True)


def rows_in(store: Any) -> bytes:
    store.invalidate_cache()
    return b"".join(store.cat_file(path) for path in sorted(store.glob("dumps/out/part-*")))


def numbers(summary: dict[str, Any], home: str) -> dict[str, Any]:
    told = {key: value for key, value in summary.items() if key not in ("output", "seconds")}
    return dict(json.loads(json.dumps(told).replace(home, "HOME")))


def test_rows_are_those_of_files(store: Any, dumps: list[Path], tmp_path: Path) -> None:
    names = ["s3://dumps/in"]
    local = score_files([str(path) for path in dumps], str(tmp_path / "rows.jsonl"), JOB, workers=0)
    expected = (tmp_path / "rows.jsonl").read_bytes()
    given = score_here(names, "s3://dumps/out", JOB, part_bytes=9_000)
    assert rows_in(store) == expected
    assert numbers(given.to_dict(), "s3://dumps/in") == numbers(local.to_dict(), str(tmp_path))
    with pytest.raises(OutputExistsError):
        score_here(names, "s3://dumps/out", JOB, part_bytes=9_000)
    # what is there stays as it is, what is not comes back
    parts = sorted(store.glob("dumps/out/part-*"))
    stood = store.info(parts[0])["LastModified"], store.info(parts[0])["ETag"]
    store.rm(parts[1])
    again = score_here(names, "s3://dumps/out", JOB, part_bytes=9_000, resume=True)
    assert rows_in(store) == expected
    assert again.to_dict()["tasks"] == given.to_dict()["tasks"]
    assert (store.info(parts[0])["LastModified"], store.info(parts[0])["ETag"]) == stood


def test_on_ray(store: Any, dumps: list[Path], tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    score_files([str(path) for path in dumps], str(tmp_path / "rows.jsonl"), JOB, workers=0)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
    try:
        score_on_ray(["s3://dumps/in"], "s3://dumps/out", JOB, part_bytes=9_000, workers=1)
    finally:
        ray.shutdown()
    assert rows_in(store) == (tmp_path / "rows.jsonl").read_bytes()
