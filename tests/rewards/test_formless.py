"""A trainer hears once how many of its first responses had no final answer in a documented form."""

from __future__ import annotations

import logging
import pickle
import threading
from typing import Any

import pytest

from relfast.engine.online.needs import Formless
from relfast.rewards import trl, verl

FIRST = Formless.FIRST
GOLD = {"target": 3}
SILENT, RIGHT, TWO = "I would rather not say.", "The answer is 4.", "Answer: 4 or 6"


def heard(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "documented form" in record.getMessage()]


def compute(function: verl.ComputeScore, response: str) -> Any:
    return function("REL-A1", response, GOLD, {"question": "Which?"})


def test_a_batch_is_told_of_when_it_is_scored(caplog: pytest.LogCaptureFixture) -> None:
    responses = [SILENT] * 9 + [TWO] * 3 + [RIGHT] * (FIRST - 12)
    columns: dict[str, Any] = {"task": ["REL-A1"] * FIRST, "answer": [GOLD] * FIRST}
    extra: dict[str, list[Any]] = {}
    reward = trl.make_reward()
    for _ in range(2):
        reward(["Which?"] * FIRST, responses, log_extra=extra.__setitem__, **columns)
    (message,) = heard(caplog)
    assert message == (
        f"relfast: 12 of {FIRST} responses had no final answer in a documented form (no_answer 9,"
        " several_answers 3): docs/strict.md. Looked for: REL-A1: a box, a tag, a label or a line with 1 to 8"
    )
    assert extra["relfast_reason"] == ["no_answer"] * 9 + ["several_answers"] * 3 + [""] * (FIRST - 12)


def test_calls_of_one_sample_count_together(caplog: pytest.LogCaptureFixture) -> None:
    function = pickle.loads(pickle.dumps(verl.make_compute_score(on_error=0.0)))
    for at in range(FIRST - 1):
        compute(function, SILENT if at % 2 else RIGHT)
    function("REL-A1", RIGHT, {"target": "no gold"}, {})  # unscored: says nothing of a form
    assert not heard(caplog)
    compute(function, SILENT)
    compute(function, SILENT)
    (message,) = heard(caplog)
    assert message.startswith(f"relfast: {FIRST // 2} of {FIRST} responses")


def test_threads_hear_it_once(caplog: pytest.LogCaptureFixture) -> None:
    function = verl.make_compute_score(on_error=0.0)
    threads = [
        threading.Thread(target=lambda: [compute(function, SILENT) for _ in range(FIRST)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (message,) = heard(caplog)
    assert message.startswith(f"relfast: {FIRST} of {FIRST} responses")


def test_nothing_to_say(caplog: pytest.LogCaptureFixture) -> None:
    """Where all have answered, and under the reference policy, which reads no forms."""
    caplog.set_level(logging.DEBUG, "relfast")
    answered, reference = verl.make_compute_score(), verl.make_compute_score(policy="reference")
    for _ in range(FIRST + 1):
        compute(answered, RIGHT)
        compute(reference, SILENT)
    compute(answered, SILENT)
    assert not heard(caplog)


def test_verl_has_the_reason_in_every_sample() -> None:
    function = verl.make_compute_score()
    found = [compute(function, response)["reason"] for response in (SILENT, TWO, RIGHT)]
    assert found == ["no_answer", "several_answers", ""]
