"""Random honest solutions and attacks for ReAlign."""

from __future__ import annotations

import pytest
from seeds import fresh, rounds
from strict.cases_realign import FULL, cases
from strict.grammar_realign import attack, honest

import relfast

pytestmark = pytest.mark.fuzz


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["honest", "attack"])
def test_a_random_text_earns_what_its_answer_proves(kind: str) -> None:
    rng = fresh(1212)
    drawn = [rng.choice(cases()) for _ in range(rounds(400))]
    texts = [(honest if kind == "honest" else attack)(case, rng) for case in drawn]
    with relfast.Scorer(policy="strict", timeout=30.0) as scorer:
        rewards = scorer.rewards(
            "ReAlign",
            [case.record["answer"] for case in drawn],
            texts,
            questions=[case.record["question"] for case in drawn],
        )
    for text, reward, case in zip(texts, rewards, drawn, strict=True):
        assert reward is not None
        fine = reward >= FULL if kind == "honest" else reward == 0.0
        assert fine, f"{reward} for {text!r}, {case.words['right']}"
