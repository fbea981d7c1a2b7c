"""Made-up right answers to REL-C3 lose nothing, made-up attacks earn nothing."""

from __future__ import annotations

import pytest
from seeds import fresh, rounds
from strict import grammar_rel_c3
from strict.cases_rel_c3 import cases

import relfast


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", ["honest", "attack"])
def test_made_up_responses(kind: str) -> None:
    rng = fresh(32)
    known = cases()
    chosen = [rng.choice(known) for _ in range(rounds(2_000))]
    responses = [getattr(grammar_rel_c3, kind)(case, rng) for case in chosen]
    with relfast.Scorer(policy="strict", timeout=30.0) as scorer:
        rewards = scorer.rewards(
            ["REL-C3"] * len(chosen), [case.record["answer"] for case in chosen], responses
        )
    expected = 1.0 if kind == "honest" else 0.0
    other = [(reward, text) for reward, text in zip(rewards, responses, strict=True) if reward != expected]
    assert not other, "\n".join(f"{reward} for {text!r}" for reward, text in other[:20])
