"""Exploits of what answers are worth pay no more than a guess, right answers are paid in full: rates per table."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from seeds import SEED
from strict.corpus import Case, Sample, samples

import relfast

NAMES = ("realign", "rel_b1", "rel_c2", "rel_c3", "seqbench")

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


def full_marks(table: str) -> float:
    """``FULL`` of a table's module, where a right answer alone does not earn 1.0."""
    return float(getattr(importlib.import_module(f"strict.cases_{table}"), "FULL", 1.0))


def corpus(table: str) -> list[Sample]:
    cases: Callable[[], Sequence[Case]] = importlib.import_module(f"strict.cases_{table}").cases
    return list(samples(table, cases(), random.Random(table if SEED is None else f"{SEED}-{table}"), EACH))


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("table", NAMES)
def test_attacks_pay_nothing_and_honest_forms_everything(table: str) -> None:
    found, full = corpus(table), full_marks(table)
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
    print(
        f"{table}: attacks that pay {len(paid)} of {n['attack']}, "
        f"honest forms that lose {len(lost)} of {n['honest']}"
    )
    assert not paid, "\n".join(paid[:20])
    assert not lost, "\n".join(lost[:20])
