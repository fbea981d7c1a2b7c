"""Cores by affinity and by the quotas of control groups; workers by the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from processes import python

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


BOX = {"cgroup": "0::/pod/box\n"}
GROUPS = [
    ({}, MANY),
    ({**BOX, "fs/pod/box/cpu.max": "max 100000"}, MANY),
    ({**BOX, "fs/pod/box/cpu.max": "250000 100000"}, 2),
    ({**BOX, "fs/pod/box/cpu.max": "50000 100000"}, 1),
    ({**BOX, "fs/pod/box/cpu.max": ""}, MANY),
    # the tightest of nested groups
    ({**BOX, "fs/pod/box/cpu.max": "800000 100000", "fs/pod/cpu.max": "300000 100000"}, 3),
    # a container sees its group as the root
    ({"cgroup": "0::/../../elsewhere\n", "fs/cpu.max": "400000 100000"}, 4),
    # version 1
    (
        {
            "cgroup": "7:cpuset:/\n4:cpu,cpuacct:/box\n",
            "fs/cpu/box/cpu.cfs_quota_us": "200000\n",
            "fs/cpu/box/cpu.cfs_period_us": "100000\n",
            "fs/cpu/cpu.cfs_quota_us": "-1\n",
            "fs/cpu/cpu.cfs_period_us": "100000\n",
        },
        2,
    ),
]
"""Files of control groups, and the cores that they leave."""


@pytest.mark.parametrize(("files", "expected"), GROUPS)
def test_quotas(groups: Path, files: dict[str, str], expected: int) -> None:
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text, "utf-8")
    assert cores.usable_cores() == expected


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
    arguments = ("-m", "relfast", "score", os.devnull, "-o", os.devnull)
    result = python(*arguments, environment={"RELFAST_WORKERS": "-1"})
    assert result.returncode == 2
    assert "RELFAST_WORKERS must be a whole number from 0, not '-1'" in result.stderr
