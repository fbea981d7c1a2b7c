"""What an editor tells a user: a wrong option is an error before anything runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from corpora import ROOT

RIGHT = """\
import relfast
from relfast.rewards import openrlhf, trl

with relfast.Scorer(policy="strict", workers=2, on_error=0.0) as scorer:
    reward: float | None = scorer.reward("REL-A1", {"target": 3}, "3")
scores: list[relfast.Score] = relfast.score([{}], policy="strict", timeout=None, map={"response": "text"})
summary: relfast.Summary = relfast.score_file("run.jsonl", resume=True, workers=0)
row: dict[str, object] = relfast.evaluate_response("", {"target": 3}, "3", policy="strict")
batch: relfast.ScoreBatch = relfast.score_batch("REL-A1", [{}], ["3"])
trained = trl.make_reward(policy="reference"), openrlhf.make_reward(on_error="raise")


async def awaited() -> float | None:
    return await relfast.areward("REL-A1", {"target": 3}, "3", policy="strict")
"""

WRONG = """\
import relfast
from relfast.rewards import verl

relfast.score([{}], policy="stirct")
relfast.score([{}], timout=5)
relfast.score([{}], timeout="5")
relfast.score_file("run.jsonl", overwite=True)
relfast.Scorer(wrokers=2)
relfast.evaluate_response("", {}, "", polcy="strict")
verl.make_compute_score(on_eror=0.0)
relfast.scor([{}])
number: int = relfast.score([{}], workers=0)
"""


@pytest.fixture
def users(tmp_path: Path) -> Path:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


def lines_with_errors(command: list[str], users: Path) -> dict[str, list[int]]:
    """By file the lines that a type checker finds fault with."""
    environment = {**os.environ, "MYPYPATH": f"{ROOT}:{ROOT / 'kernels'}"}
    done = subprocess.run(command, cwd=users, capture_output=True, text=True, env=environment, check=False)
    found: dict[str, list[int]] = {"right.py": [], "wrong.py": []}
    for name, line in re.findall(r"(\w+\.py):(\d+)(?::\d+)?(?: -|:) error", done.stdout):
        found[name].append(int(line))
    assert done.returncode == 1, done.stdout + done.stderr
    return found


def everything(found: dict[str, list[int]]) -> None:
    assert found["right.py"] == []
    assert sorted(set(found["wrong.py"])) == list(range(4, len(WRONG.splitlines()) + 1))


@pytest.mark.slow
def test_mypy_finds_a_users_wrong_options(users: Path) -> None:
    # nothing of ours is a user's to mend, and numba's sources need not be read for it
    lenient = ["--follow-imports=silent", "--ignore-missing-imports", "--config-file="]
    more = [*lenient, f"--cache-dir={users / 'cache'}", "right.py", "wrong.py"]
    everything(lines_with_errors([sys.executable, "-m", "mypy", *more], users))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="no pyright: nightly's job `skipped` has it")
def test_pyright_finds_a_users_wrong_options(users: Path) -> None:
    (users / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{ROOT}", "{ROOT / "kernels"}"]}}')
    everything(lines_with_errors(["pyright", "--pythonpath", sys.executable], users))
