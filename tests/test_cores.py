"""Cores by affinity and by the quotas of control groups; workers by the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relfast import Scorer, cores
from relfast.errors import UsageError
from relfast.rewards import shared

MANY = 64


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tree of control groups, on a machine with many cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(MANY)))
    monkeypatch.setattr(cores, "_CGROUPS", tmp_path / "fs")
    monkeypatch.setattr(cores, "_OWN_CGROUPS", tmp_path / "cgroup")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("quota", "expected"), [("max 100000", MANY), ("250000 100000", 2), ("50000 100000", 1), ("", MANY)]
)
def test_quota_of_version_2(groups: Path, quota: str, expected: int) -> None:
    write(groups / "cgroup", "0::/pod/box\n")
    write(groups / "fs/pod/box/cpu.max", quota)
    assert cores.usable_cores() == expected


def test_the_tightest_of_nested_groups(groups: Path) -> None:
    write(groups / "cgroup", "0::/pod/box\n")
    write(groups / "fs/pod/box/cpu.max", "800000 100000")
    write(groups / "fs/pod/cpu.max", "300000 100000")
    assert cores.usable_cores() == 3


def test_a_container_sees_its_group_as_the_root(groups: Path) -> None:
    write(groups / "cgroup", "0::/../../elsewhere\n")
    write(groups / "fs/cpu.max", "400000 100000")
    assert cores.usable_cores() == 4


def test_quota_of_version_1(groups: Path) -> None:
    write(groups / "cgroup", "7:cpuset:/\n4:cpu,cpuacct:/box\n")
    write(groups / "fs/cpu/box/cpu.cfs_quota_us", "200000\n")
    write(groups / "fs/cpu/box/cpu.cfs_period_us", "100000\n")
    write(groups / "fs/cpu/cpu.cfs_quota_us", "-1\n")
    write(groups / "fs/cpu/cpu.cfs_period_us", "100000\n")
    assert cores.usable_cores() == 2


def test_no_control_groups(groups: Path) -> None:
    assert cores.usable_cores() == MANY


def test_workers_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELFAST_WORKERS", "3")
    assert Scorer().workers == 3
    assert Scorer(workers=1).workers == 1
    assert shared.shared_scorer({"policy": "strict", "timeout": 7.25}).workers == 3
    monkeypatch.setenv("RELFAST_WORKERS", "all")
    with pytest.raises(UsageError, match="RELFAST_WORKERS must be a whole number from 0, not 'all'"):
        Scorer()


def test_rewards_have_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELFAST_WORKERS", raising=False)
    assert shared.shared_scorer({"policy": "strict", "timeout": 7.5}).workers == 1
    assert shared.shared_scorer({"policy": "strict", "timeout": 7.5, "workers": 2}).workers == 2


def test_the_command_line_names_a_wrong_variable() -> None:
    command = [sys.executable, "-m", "relfast", "score", os.devnull, "-o", os.devnull]
    result = subprocess.run(
        command, env={**os.environ, "RELFAST_WORKERS": "-1"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "RELFAST_WORKERS must be a whole number from 0, not '-1'" in result.stderr
