"""The lines that README and docs show for trainers and harnesses, each copied out of its page and run in a clean
environment: ``make test-lines``. A virtual environment a tool, with relfast's wheel, the tool's newest release
and what these need, nothing else.

What a page leaves to the reader (``…``: a model, a data set) is filled in by ``run.py`` beside this file,
which runs inside the environment. Nothing is trained for long: a line has run when the tool gave a score. Environments go after their
test, unless ``RELFAST_LINES_KEEP`` names a folder where they stay and a later run finds them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT

pytestmark = pytest.mark.lines

RUN = Path(__file__).with_name("run.py")
HOWTO = "docs/howto"
HARNESSES = f"{HOWTO}/harnesses.md"
TRAINING = "docs/training.md"
TORCH = "torch==2.13.0"


def span(page: str, start: str) -> str:
    """The code of a page that begins so: in a sentence or a table, or a command of a block."""
    text = (ROOT / page).read_text("utf-8")
    joined = re.sub(r"\\\n\s*", "", text)
    found = re.findall(rf"`({re.escape(start)}[^`]*)`|^({re.escape(start)}.*)$", joined, re.MULTILINE)
    assert found, f"{page} shows no {start!r}"
    return next(filter(None, found[0]))


def block(page: str, holds: str) -> str:
    """The code block of a page that holds this text."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found = [body for body in blocks if holds in body]
    assert found, f"{page} has no block with {holds!r}"
    return found[0]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip` would be given: built, not editable."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (made,) = folder.glob("relfast-*.whl")
    return made


class Clean:
    """A new virtual environment in a folder with `examples/` and a file of records, gone after the test."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.wheel = folder, wheel
        self.bin = folder
        shutil.copytree(ROOT / "examples", folder / "examples")
        self.tool = ""

    def install(self, tool: str, *packages: str, extras: str = "", bare: str = "") -> None:
        """relfast with what the page names as extras, and the newest of the tool."""
        kept = os.environ.get("RELFAST_LINES_KEEP")
        place = Path(kept, tool) if kept else self.folder / "venv"
        if not place.exists():
            venv.create(place, with_pip=True, symlinks=True)
        self.bin = place / "bin"
        target = f"relfast[{extras}] @ {self.wheel.as_uri()}" if extras else str(self.wheel)
        self._pip("--force-reinstall", "--no-deps", str(self.wheel))
        self._pip("--upgrade", target, *packages)
        if bare:
            self._pip("--upgrade", "--no-deps", bare)
        code = "import relfast, importlib.metadata as m, sys; print(relfast.__file__); print(m.version(sys.argv[1]))"
        where, version = self._run([self.bin / "python", "-c", code, tool]).split()[-2:]
        assert Path(where).resolve().is_relative_to(place.resolve())
        self.tool = f"{tool} {version}"
        self.script("records")

    def _pip(self, *arguments: str) -> None:
        self._run([self.bin / "python", "-m", "pip", "install", "--quiet", *arguments])

    def shell(self, line: str) -> str:
        """Run a line as a reader would."""
        return self._run(["bash", "-euo", "pipefail", "-c", line])

    def script(self, *arguments: str) -> Any:
        """What ``run.py`` says, given what was copied from a page."""
        return json.loads(self._run([self.bin / "python", RUN, *arguments]))

    def serve(self, line: str) -> subprocess.Popen[bytes]:
        """Start a server and wait until it listens."""
        server = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=self.folder, env=self.environment())
        port = int(line.split("--port ")[1].split()[0])
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return server
            assert server.poll() is None, "the server has ended"
            time.sleep(0.1)
        raise AssertionError("the server does not listen")

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
        return {
            **kept,
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(self.bin.parent),
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(self.folder / "hf"),
            "PYTHONWARNINGS": "ignore",
        }

    def _run(self, command: list[str | Path]) -> str:
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        return done.stdout


@pytest.fixture
def clean(
    tmp_path: Path, wheel: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Iterator[Clean]:
    environment = Clean(tmp_path, wheel)
    yield environment
    shutil.rmtree(tmp_path / "venv", ignore_errors=True)  # nothing where it was kept
    with capsys.disabled():
        print(f"\n{request.node.name}: {environment.tool}")


def test_trl(clean: Clean) -> None:
    clean.install("trl", "trl", TORCH)
    log = clean.script("trl_reward", block(f"{HOWTO}/trl.md", "GRPOTrainer(..."))
    assert [entry["step"] for entry in log] == [1, 2]
    assert all(0 <= entry["reward"] <= 1 and entry["relfast/unscored"] == 0 for entry in log)
    walks = block(f"{HOWTO}/environments.md", "environment_factory=SeqBenchEnvironment")
    (entry,) = clean.script("trl_walk", walks)
    assert 0 <= entry["reward"] <= 1
    line = span(f"{HOWTO}/trl.md", "python examples/trl_grpo.py")
    assert re.search(r"^step +\d+ +reward 0\.", clean.shell(line), re.MULTILINE)


def test_verl(clean: Clean) -> None:
    clean.install("verl", "verl", TORCH)
    line = span(f"{HOWTO}/verl.md", "python -m verl.trainer.main_ppo")
    row = block(f"{HOWTO}/verl.md", '"reward_model"')
    assert clean.script("verl", line, row) == [1.0, 0.0]


def test_openrlhf(clean: Clean) -> None:
    """Its own dependencies need CUDA to build; what its reward path imports does not."""
    clean.install("openrlhf", TORCH, *OPENRLHF, extras="serve", bare="openrlhf")
    page = f"{HOWTO}/openrlhf.md"
    for line in re.findall(r"^python -m openrlhf\.cli.*$", (ROOT / page).read_text("utf-8"), re.MULTILINE):
        if "http" not in line:
            assert clean.script("openrlhf", line) == [1.0, 0.0]
            continue
        server = clean.serve(span(page, "relfast serve"))
        try:
            assert clean.script("openrlhf", line) == [1.0, 0.0]
        finally:
            server.terminate()
            server.wait()


OPENRLHF = ("transformers", "ray", "aiohttp", "datasets", "pylatexenc")


def test_reasoning_gym(clean: Clean) -> None:
    clean.install("reasoning-gym", "reasoning-gym")
    register = span(TRAINING, "relfast.rewards.reasoning_gym.register()")
    named = span(f"{HOWTO}/rewards.md", "relfast.rewards.reasoning_gym.score_answer")
    assert clean.script("reasoning_gym", register, named) == [1.0, 0.0, 1.0]


def test_verifiers(clean: Clean) -> None:
    clean.install("verifiers", "verifiers")
    line = span(TRAINING, "pip install ./examples/verifiers_relfast")
    clean.shell(line)
    name = span(TRAINING, "relfast-reasoning")
    assert clean.script("verifiers", name) == [1.0, 0.0, 3]


def test_inspect(clean: Clean) -> None:
    """A tiny local model: the mock one counts tokens by a vocabulary that it fetches."""
    clean.install("inspect-ai", "inspect-ai", "transformers", "accelerate", TORCH)
    clean.script("tiny_model")
    model = "--model hf/tiny -M model_path=model --max-tokens 4"
    line = span(HARNESSES, "inspect eval relfast/relfast_task").replace("--model …", model)
    clean.shell(f"{line} --limit 4 --display plain --log-dir first")
    name = line.partition(" -T ")[0]
    of_file = f"{name} {span(HARNESSES, '-T file=')} {model}"
    clean.shell(f"{of_file} --display plain --log-dir logs")
    score = span(HARNESSES, "inspect score LOG").replace("LOG", "logs/*.eval")
    said = clean.shell(f"{score} --action overwrite --overwrite --display plain")
    assert re.search(r"correct +reward", said)
    rows = clean.shell("relfast score logs/*.eval -o rows.jsonl -q && cat rows.jsonl").splitlines()
    assert len(rows) == len((clean.folder / "records.jsonl").read_text("utf-8").splitlines())


def test_lm_eval(clean: Clean) -> None:
    clean.install("lm-eval", "lm-eval", TORCH)
    line = span(HARNESSES, "lm_eval --include_path")
    said = clean.shell(line)
    assert re.search(r"relfast_rel_c2.*correct", said)
    clean.shell("relfast score out/*/samples_relfast_rel_c2_*.jsonl -o rows.jsonl -q")


def test_lighteval(clean: Clean) -> None:
    packages = shlex.split(span(HARNESSES, "pip install lighteval"))[2:]
    clean.install("lighteval", *packages, TORCH, extras="parquet")
    clean.script("lighteval")
    line = span(HARNESSES, "lighteval accelerate").replace("NAME", "model")
    clean.shell(f"{line} --max-samples 2 --output-dir out")
    rows = clean.shell("relfast score out/details/*/*/*.parquet -o rows.jsonl -q && cat rows.jsonl")
    assert [json.loads(row)["task"] for row in rows.splitlines()] == ["REL-C2"] * 2


def test_skyrl_gym(clean: Clean) -> None:
    clean.install("skyrl-gym", "skyrl-gym")
    line = span(f"{HOWTO}/rewards.md", "register(id=")
    given, metrics = clean.script("skyrl", line)
    assert given == [1.0, 0.0, 0.0]
    means = {"correct": 1 / 3, "answered": 2 / 3, "unscored": 0.0}
    assert {name.removeprefix("avg_"): round(value, 6) for name, value in metrics.items()} == {
        name: round(value, 6) for name, value in means.items()
    }


def test_tinker_cookbook(clean: Clean) -> None:
    clean.install("tinker-cookbook", "tinker-cookbook", TORCH)
    right, wrong, none = clean.script("tinker", span(f"{HOWTO}/rewards.md", "examples/tinker_env.py"))
    assert right == [1.0, {"format": 1.0, "correct": 1.0}]
    assert wrong == [0.0, {"format": 1.0, "correct": 0.0}]
    assert none == [0.0, {"format": 0.0, "correct": 0.0}]


def test_art(clean: Clean) -> None:
    clean.install("openpipe-art", "openpipe-art")
    assert clean.script("art", span(f"{HOWTO}/rewards.md", "examples/art_rollout.py")) == [[1.0, 0.0], 1]


def test_atropos(clean: Clean) -> None:
    clean.install("atroposlib", "atroposlib")
    given = clean.script("atropos", span(f"{HOWTO}/rewards.md", "examples/atropos_reward.py"))
    assert given == [[1.0, 0.0]] * 2


def test_ms_swift(clean: Clean) -> None:
    clean.install("ms-swift", "ms-swift", TORCH)
    line = span(f"{HOWTO}/rewards.md", "swift rlhf")
    assert clean.script("swift", line) == [1.0, 0.0]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="nemo-gym wants Python 3.12")
def test_nemo_gym(clean: Clean) -> None:
    clean.install("nemo-gym", "nemo-gym")
    recipe = span(f"{HOWTO}/rewards.md", "examples/nemo_gym_relfast")
    assert clean.script("nemo_gym", recipe) == [1.0, 0.0]


def test_ray(clean: Clean) -> None:
    page = "docs/clusters.md"
    (extras,) = re.findall(r"relfast\[(.*?)\]", span(page, "pip install 'relfast["))
    clean.install("ray", extras=extras)
    line = span(page, "relfast score 's3://bucket/run/").split(" --ray-address")[0]
    local = line.replace("s3://bucket/run/", "run/").replace("s3://bucket/run.scored", "run.scored")
    clean.shell(
        "mkdir run; python -c 'import relfast, shutil, pathlib;"
        ' shutil.copy(pathlib.Path(relfast.__file__).parent / "data" / "rel_demo.jsonl.gz", "run")\''
    )
    clean.shell(local)
    manifest = json.loads((clean.folder / "run.scored" / "manifest.json").read_text("utf-8"))
    assert sum(part["rows"] for part in manifest["parts"]) == 379
