"""What is worth what that has no score: hanging does not pay, and what the machine did costs nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from live_server import live_server
from reward_cases import HANG
from reward_doors import DOORS

import relfast
from relfast.engine.judged_texts import JudgedTexts
from relfast.engine.online.isolated_scoring import IsolatedScoring
from relfast.engine.pool.failures import fault_of, timed_out_verdict
from relfast.errors import UnscoredError, UsageError
from relfast.rewards import openrlhf, trl, verl
from relfast.tasks import TASKS

LATE = timed_out_verdict(0.5)
DEAD = ("crashed", "WorkerDied", "it ended its worker 2 times (killed by SIGSEGV)")
BROKEN = ("crashed", "WorkerError", "no workers")
INTERRUPTED = ("crashed", "Interrupted", "its caller was interrupted")
STOPPED = ("timeout", "Stopped", "the machine was busy")
BAD_GOLD = ("invalid_record", "InvalidGold", "no smiles")
RESPONSES, MACHINERYS = (LATE, DEAD), (BROKEN, INTERRUPTED, STOPPED)

GOLD = {"smiles": "CCO"}
TEXT = "<smiles>CCCCN</smiles>"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have whatever goes to workers end in a verdict, so that each kind of end can be looked at."""

    def judge(verdict: Any) -> None:
        def submit(self: IsolatedScoring, pending: Any) -> None:
            for each in pending:
                broken = each.record.answer.get("smiles") is None
                each.set_unscored(*(BAD_GOLD if broken else verdict))

        monkeypatch.setattr(IsolatedScoring, "submit", submit)
        # scorers that adapters share keep the short way that they have found
        monkeypatch.setattr(JudgedTexts, "kept", lambda self, answer, response, question: None)
        monkeypatch.setattr(
            JudgedTexts, "kept_all", lambda self, answers, responses, questions: [None] * len(responses)
        )

    return judge


@pytest.mark.parametrize("verdict", RESPONSES + MACHINERYS, ids=lambda verdict: verdict[1])
@pytest.mark.parametrize(
    ("policy", "on_error", "response", "machinery"),
    [
        ("strict", None, 0.0, None),
        ("strict", -1, 0.0, -1.0),
        ("strict", "raise", 0.0, "raise"),
        ("strict", {"machinery": -1}, 0.0, -1.0),
        ("strict", {"response": -2}, -2.0, None),
        ("strict", {"response": None}, None, None),
        ("strict", {"response": "raise", "machinery": 0.5}, "raise", 0.5),
        ("strict", {}, 0.0, None),
        ("reference", None, None, None),
        ("reference", -1, -1.0, -1.0),
        ("reference", "raise", "raise", "raise"),
        ("reference", {"machinery": -1}, -1.0, -1.0),
        ("reference", {"response": -2}, -2.0, None),
    ],
)
def test_by_whose_fault_it_is(
    judge: Any, verdict: Any, policy: Any, on_error: Any, response: Any, machinery: Any
) -> None:
    judge(verdict)
    expected = response if verdict in RESPONSES else machinery
    with relfast.Scorer(policy=policy, on_error=on_error, workers=1) as scorer:
        score = scorer.score_one("REL-C2", GOLD, TEXT)
        # the row is what it was: a file is no training loop
        assert (score.status, score.correct, score.reward) == (verdict[0], None, None)
        assert fault_of(score) == ("response" if verdict in RESPONSES else "machinery")
        if expected == "raise":
            with pytest.raises(UnscoredError):
                scorer.reward("REL-C2", GOLD, TEXT)
            with pytest.raises(UnscoredError):
                scorer.rewards("REL-C2", [GOLD], [TEXT])
        else:
            assert scorer.reward("REL-C2", GOLD, TEXT) == expected
            assert scorer.rewards("REL-C2", [GOLD], [TEXT]) == [expected]
    function = trl.make_reward(policy=policy, on_error=on_error, name="other")
    if expected != "raise":
        assert function(completions=[TEXT], answer=[GOLD], task=["REL-C2"]) == [expected]


@pytest.mark.parametrize(
    "on_error", ["zero", [0], {"respnse": 0}, {"response": "zero"}, {"machinery": [1]}, {1: 0}, float("nan")]
)
def test_what_cannot_be_meant(on_error: Any) -> None:
    for make in (relfast.Scorer, trl.make_reward, verl.make_compute_score, openrlhf.make_reward):
        with pytest.raises(UsageError, match="on_error"):
            make(on_error=on_error)


def test_a_task_has_a_lowest_reward_of_its_own(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(LATE)
    lower = dataclasses.replace(TASKS["REL-C2"], lowest_reward=-1.0)
    monkeypatch.setattr("relfast.engine.online.scorer.find_task", lambda name: lower)
    with relfast.Scorer(policy="strict", workers=1) as scorer:
        assert scorer.reward("REL-C2", GOLD, TEXT) == -1.0


def _of_openrlhf(gold: Any, **options: Any) -> Any:
    label = json.dumps({"task": "REL-C2", "answer": gold})
    given = openrlhf.make_reward(**options)(["q" + TEXT], ["q"], [label])
    return float(given["rewards"][0]), float(given["scores"][0])


ONE_OF_EACH = [door for door in DOORS if not door.startswith("openrlhf") or "chatml" in door]


@pytest.mark.parametrize("verdict", RESPONSES, ids=lambda verdict: verdict[1])
@pytest.mark.parametrize("door", ONE_OF_EACH)
def test_hanging_pays_nothing_at_any_door(judge: Any, door: str, verdict: Any) -> None:
    judge(verdict)

    def reward(gold: Any, on_error: Any) -> Any:
        (value,) = DOORS[door]([("REL-C2", gold, TEXT, "q")], on_error=on_error)
        return value

    broken = {"smiles": None, "x": 1}
    for on_error in (None, 0.75, "raise", {"machinery": 0.75}):
        if not (door.startswith("openrlhf") and on_error == "raise"):
            assert reward(GOLD, on_error) == 0.0
    assert reward(GOLD, {"response": -1.0}) == -1.0
    # broken gold is the data's fault
    assert reward(broken, 0.75) == 0.75
    if not door.startswith("openrlhf"):
        with pytest.raises(UnscoredError):
            reward(broken, "raise")


def test_openrlhf_counts_it_as_wrong(judge: Any) -> None:
    judge(LATE)
    assert _of_openrlhf(GOLD) == (0.0, 0.0)
    judge(BROKEN)
    assert _of_openrlhf(GOLD, on_error=0.5) == (0.5, 0.0)


def test_a_molecule_that_hangs() -> None:
    with relfast.Scorer(policy="strict", timeout=0.5, workers=1) as scorer:
        assert scorer.reward("REL-C2", *HANG) == 0.0
    given = trl.make_reward(timeout=0.5, workers=1)(completions=[HANG[1]], answer=[HANG[0]])
    assert given == [0.0]


@pytest.mark.slow
def test_over_http() -> None:
    # long enough for a busy machine to give the worker its tenth of a processor: less is the machine's fault
    label = {"task": "REL-C2", "answer": HANG[0]}
    bad = {"task": "REL-C2", "answer": {"smiles": None, "x": 1}}
    values = ("--on-error", "response=-1", "--on-error", "machinery=-2")
    with live_server("--timeout", "1.5", *values) as server:
        asked = {"prompt": "q", "response": HANG[1]}
        assert server.ask("/get_reward", {**asked, "label": label}) == (200, -1.0)
        assert server.ask("/get_reward", {**asked, "label": bad}) == (200, -2.0)
        body = {"query": ["q" + HANG[1], "q"], "prompts": ["q", "q"], "labels": [label, bad]}
        status, answer = server.ask("/get_reward", body)
        assert (status, answer["rewards"]) == (200, [-1.0, -2.0])
        status, answer = server.ask("/get_reward", {"query": ["q" + TEXT], "labels": [bad]})
        assert status == 422
        assert "pass prompts" in answer["detail"]
