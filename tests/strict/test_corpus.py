"""Exploits of what answers are worth pay no more than a guess, right answers are paid in full: rates per table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from seeds import SEED
from strict.cases import CASES, FULL
from strict.corpus import Sample, samples

import relfast

EACH = 4 if SEED is None else 8
"""Cases a form is tried on."""


def scored(found: Sequence[Sample]) -> list[float | None]:
    with relfast.Scorer(policy="strict", timeout=30.0) as scorer:
        return scorer.rewards(
            [sample.case.record["task"] for sample in found],
            [sample.case.record["answer"] for sample in found],
            [sample.response for sample in found],
            questions=[sample.case.record.get("question") for sample in found],
        )


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("table", CASES)
def test_attacks_pay_nothing_and_honest_forms_everything(table: str) -> None:
    rng = random.Random(table if SEED is None else f"{SEED}-{table}")
    found, full = [*samples(table, CASES[table](), rng, EACH)], FULL if table == "realign" else 1.0
    rewards = scored(found)
    n: Counter[str] = Counter()
    paid, lost = [], []
    for sample, reward in zip(found, rewards, strict=True):
        n[sample.form.kind] += 1
        about = f"{reward} for {sample.response!r} ({sample.form.why}; {sample.family})"
        if sample.form.kind == "attack":
            most = sample.case.chance if sample.form.pays is None else sample.form.pays
            if reward is None or reward > most + 1e-9:
                paid.append(about)
        elif reward is None or reward < full:
            lost.append(about)
    print(f"{table}: {len(paid)} attacks pay, {len(lost)} honest forms lose, of {dict(n)}")
    assert not paid, "\n".join(paid[:20])
    assert not lost, "\n".join(lost[:20])
