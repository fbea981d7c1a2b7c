"""A trainer's first call, and what is wrong with it: said, with its cause, where one looks."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any

import pytest

from relfast.cli.path import PLACES
from relfast.errors import UsageError
from relfast.rewards import shared
from relfast.rewards.openrlhf import make_reward as make_openrlhf
from relfast.rewards.trl import make_reward
from relfast.rewards.verl import make_compute_score


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_told", set())


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.WARNING]


def test_a_column_that_no_row_has_raises_and_names_those_that_are_there() -> None:
    with pytest.raises(UsageError, match=r"no column 'answer'.* 'task', 'gold': rename it.*answer_column"):
        make_reward()(completions=["<Yes>"] * 8, task=["REL-C1"] * 8, gold=[{"label": "Yes"}] * 8)
    reward = make_reward(answer_column="gold")
    assert reward(completions=["<Yes>"] * 8, task=["REL-C1"] * 8, gold=[{"label": "Yes"}] * 8) == [1.0] * 8


@pytest.mark.parametrize(
    ("task", "gold", "cause"),
    [
        ("REL-Z9", {"label": "Yes"}, "unknown task 'REL-Z9'"),
        ("REL-C1", '{"label": "Ye', "answer"),
        ("REL-C1", {"lable": "Yes"}, "label"),
        (None, None, "task cannot be inferred"),
    ],
)
def test_a_row_without_a_score_says_why(
    task: Any, gold: Any, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    columns: dict[str, list[Any]] = {}
    batch = {"task": ["REL-C1", task, task], "answer": [{"label": "Yes"}, gold, gold]}
    for _ in range(3):
        given = make_reward()(
            completions=["<Yes>"] * 3, log_extra=lambda name, column: columns.update({name: column}), **batch
        )
        assert given == [1.0, None, None]
    (line,) = logged(caplog)
    assert cause in line
    assert "response 1 of a call" in line
    assert repr(gold)[:20] in line
    reasons = columns["relfast_reason"]
    assert reasons[0] == ""
    assert cause in reasons[1]
    said = make_compute_score(on_error=0.0)(task, "<Yes>", gold)
    assert cause in said["reason"]
    assert said.keys() == make_compute_score()("REL-C1", "<Yes>", {"label": "Yes"}).keys()


def test_other_trainers_log_it_too(caplog: pytest.LogCaptureFixture) -> None:
    made = make_openrlhf(on_error=0.0)(["q <Yes>"], ["q "], ['{"label": "Ye'])
    assert made["rewards"] == [0.0]
    assert len(logged(caplog)) == 1


def test_verl_loads_the_file_that_path_names() -> None:
    """As verl does it: by its place, under a name of its own."""
    place = PLACES["verl"]()
    assert place == Path(shared.__file__).parent / "verl.py"
    spec = importlib.util.spec_from_file_location("custom_module", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("REL-C1", "<Yes>", {"label": "Yes"})["score"] == 1.0
