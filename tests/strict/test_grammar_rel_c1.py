"""What the grammar of REL-C1 makes: honest answers pay, attacks do not."""

from __future__ import annotations

import pytest
from seeds import fresh, rounds
from strict.cases_rel_c1 import cases
from strict.corpus import FAMILIES
from strict.grammar_rel_c1 import attack, honest

import relfast

pytestmark = pytest.mark.fuzz


def test_grammar() -> None:
    rng = fresh(1202)
    tried = cases()
    families = list(FAMILIES.values())
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        for make, paid in ((honest, 1.0), (attack, 0.0)):
            for _ in range(rounds(2_000)):
                case = rng.choice(tried)
                response = rng.choice(families)(make(case, rng))
                record = case.record
                reward = scorer.reward(
                    record["task"], record["answer"], response, question=record["question"]
                )
                assert reward == paid, f"{reward} for {response!r}"
