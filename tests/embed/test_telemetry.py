"""Scoring sends nothing: no library that counts its users gets so far as to leave a file, in no process of any door."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from contract_records import REALIGN
from engine_runs import write_dump
from live_server import live_server
from processes import python
from relfast_kernels.caches import base_directory
from tiny_bert import make_checkpoint

from relfast.embed.adding import add

RECORD = REALIGN | {"response": "First 2 + 2 = 4.\nSo \\boxed{4}."}

REWARD = """
import sys, json, relfast
record, embedder, workers = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with relfast.Scorer(workers=workers, embedder=embedder) as scorer:
    print(scorer.score([record])[0].status)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        return add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "tiny").path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty folders for everything that a library may keep; kernels stay where they are."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(base_directory()))
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        folder = tmp_path / "home" / name
        folder.mkdir(parents=True)
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS"):  # each turns it off
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def left_in(home: Path) -> list[str]:
    found = (path for path in home.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(home)) for path in found if "relfast" not in path.parts[-2])


def test_onnxruntime_by_itself_leaves_files(home: Path) -> None:
    """Else the tests below would show nothing."""
    if python("-c", "import onnxruntime as o; exit(o.__version__.split('.') < ['1', '29'])").returncode:
        pytest.skip("this ONNX Runtime has no telemetry")
    assert python("-c", "import onnxruntime").returncode == 0
    assert left_in(home)


@pytest.mark.parametrize("workers", [0, 1])
def test_nothing_is_left_by_a_command(workers: int, home: Path, model: str, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", [RECORD])
    how = ("--workers", workers, "--embedder", model, "-o", tmp_path / "out.jsonl", "-q")
    done = python("-m", "relfast", "score", dump, *how)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.jsonl").read_text())["status"] == "ok"
    assert left_in(home) == []


@pytest.mark.parametrize("workers", [0, 1])
def test_nothing_is_left_by_a_reward(workers: int, home: Path, model: str) -> None:
    done = python("-c", REWARD, json.dumps(RECORD), model, workers)
    assert (done.stdout, left_in(home)) == ("ok\n", []), done.stderr


def test_nothing_is_left_by_a_server(home: Path, model: str) -> None:
    with live_server("--embedder", model) as live:
        status, answer = live.ask("/score", {"records": [RECORD]})
        assert (status, answer["rows"][0]["status"]) == (200, "ok")
        live.stop()
    assert left_in(home) == []


def test_a_user_may_turn_it_on(home: Path) -> None:
    code = "import os, relfast.embed; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    assert python("-c", code).stdout == "1\n"
    assert python("-c", code, environment={"ORT_DISABLE_TELEMETRY": "0"}).stdout == "0\n"
    assert "ORT_DISABLE_TELEMETRY" not in os.environ
