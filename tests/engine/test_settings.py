"""Settings that cannot be used are said in one line before anything starts, wherever they are given."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import relfast
from relfast.cli.main import cli
from relfast.engine.job import Job
from relfast.engine.settings import MAX_TIMEOUT
from relfast.errors import UsageError
from relfast.rewards import openrlhf, trl

RECORD = {"id": 1, "task": "REL-C2", "answer": {"smiles": "C1CC1CO"}, "response": "<smiles>CCN(C)CO</smiles>"}
TIMEOUT = "timeout must be seconds from 0 (no limit) to 1,000,000, not "


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    path.write_text(f"{json.dumps(RECORD)}\n")
    return path


UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"timeout": -1}, f"{TIMEOUT}-1"),
    ({"timeout": math.nan}, f"{TIMEOUT}nan"),
    ({"timeout": 1e12}, f"{TIMEOUT}1000000000000.0"),
    ({"timeout": -math.inf}, f"{TIMEOUT}-inf"),
    ({"timeout": "5"}, f"{TIMEOUT}'5'"),
    ({"timeout": True}, f"{TIMEOUT}True"),
    ({"workers": -1}, "workers must be a whole number from 0 to 10,000, not -1"),
    ({"workers": 1.5}, "workers must be a whole number from 0 to 10,000, not 1.5"),
    ({"workers": "two"}, "workers must be a whole number from 0 to 10,000, not 'two'"),
    ({"max_line_bytes": 0}, "max_line_bytes must be a whole number from 1 on, not 0"),
    ({"max_line_bytes": None}, "max_line_bytes must be a whole number from 1 on, not None"),
    ({"details": "no"}, "details must be True or False, not 'no'"),
    ({"strip_reasoning": "no"}, "strip_reasoning must be True or False, not 'no'"),
    ({"input_format": "csv"}, "input_format must be 'auto', 'openai-batch', "),
    (
        {"map": {"response": 3}},
        "map must map fields to paths, such as {'response': 'choices.0.message.content'}, not {'response': 3}",
    ),
    (
        {"reward": "REL-C2=correct"},
        "rewards must map task names to metrics, such as {'TASK': 'METRIC'}, not 'REL-C2=correct'",
    ),
    ({"data": 5}, "data must be a path or several, not 5"),
    ({"b1_min_f1": math.nan}, "b1_min_f1 must be a number from 0 to 1, not nan"),
    ({"tautomers": "both"}, "tautomers must be 'apart' or 'joined', not 'both'"),
    ({"grader": "human"}, "grader must be 'symbolic' or 'math-verify', not 'human'"),
]


@pytest.mark.parametrize(("options", "message"), UNUSABLE)
def test_what_cannot_be_used(options: dict[str, Any], message: str, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    for use in (
        lambda: relfast.Scorer(**options),
        lambda: relfast.score([RECORD], **options),
        lambda: relfast.score_file(dump, out, **options),
        lambda: trl.make_reward(**options),
        lambda: openrlhf.make_reward(**options),
    ):
        with pytest.raises(UsageError) as caught:
            use()
        assert str(caught.value).startswith(message)
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": -1}, "limit must be a whole number from 0 on, not -1"),
        ({"limit": 1.5}, "limit must be a whole number from 0 on, not 1.5"),
        ({"shard": "0/2"}, "shard must be a pair (I, N), not '0/2'"),
        ({"shard": (0.5, 2)}, "shard I must be a whole number from 0 on, not 0.5"),
        ({"shard": (2, 2)}, "shard 2/2 does not exist: I counts from 0 to N-1"),
    ],
)
def test_what_files_cannot_use(options: dict[str, Any], message: str, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    with pytest.raises(UsageError) as caught:
        relfast.score_file(dump, out, **options)
    assert str(caught.value) == message
    assert not out.exists()


@pytest.mark.parametrize(
    ("timeout", "workers"),
    [
        *((value, 0) for value in (0, None, math.inf, MAX_TIMEOUT, np.float32(30))),
        (np.int64(30), np.int64(1)),
    ],
)
def test_what_can_be_used(timeout: Any, workers: Any, dump: Path, tmp_path: Path) -> None:
    score = relfast.score([RECORD], timeout=timeout, workers=workers)[0]
    assert (score.status, type(Job(timeout=timeout).timeout)) == ("ok", float)
    relfast.score_file(dump, tmp_path / "rows.jsonl", timeout=timeout, workers=workers)
    assert json.loads((tmp_path / "rows.jsonl").read_text()) == score.to_row()


def test_no_limit_has_one_name() -> None:
    assert {Job(timeout=value).timeout for value in (0, 0.0, None, math.inf)} == {0.0}  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["-1", "nan", "1e12", "soon"])
@pytest.mark.parametrize("command", ["score", "serve"])
def test_the_command_line(command: str, value: str, dump: Path) -> None:
    arguments = [command, *([str(dump)] if command == "score" else []), f"--timeout={value}"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: Invalid value for '--timeout': ")
    assert value == "soon" or TIMEOUT in last
