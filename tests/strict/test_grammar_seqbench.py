"""SeqBench under ``strict``: texts that a grammar makes, others in each round of ``make fuzz``."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from seeds import fresh, rounds
from strict.cases_seqbench import cases
from strict.corpus import Case
from strict.grammar_seqbench import attack, honest

import relfast


def rewards(make: Callable[[Case, random.Random], str], n: int, seed: int) -> list[tuple[str, float | None]]:
    rng = fresh(seed)
    chosen = [rng.choice(every) for every in [cases()] for _ in range(n)]
    texts = [make(case, rng) for case in chosen]
    with relfast.Scorer(policy="strict") as scorer:
        found = scorer.rewards(
            ["SeqBench"] * n,
            [case.record["answer"] for case in chosen],
            texts,
            questions=[case.record["question"] for case in chosen],
        )
    return list(zip(texts, found, strict=True))


@pytest.mark.fuzz
def test_honest_plans_earn_all() -> None:
    n = rounds(2_000)
    lost = [(reward, text) for text, reward in rewards(honest, n, 1901) if reward != 1.0]
    print(f"seqbench, grammar: honest forms that lose {len(lost)} of {n}")
    assert len(lost) <= 0.005 * n, lost[:5]


@pytest.mark.fuzz
def test_attacks_earn_nothing() -> None:
    n = rounds(2_000)
    paid = [(reward, text) for text, reward in rewards(attack, n, 1902) if reward is None or reward > 0.0]
    print(f"seqbench, grammar: attacks that pay {len(paid)} of {n}")
    assert not paid, paid[:5]
