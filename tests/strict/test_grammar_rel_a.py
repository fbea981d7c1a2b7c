"""Made-up right answers to REL-A lose nothing, made-up attacks pay nothing."""

from __future__ import annotations

import pytest
from seeds import fresh, rounds
from strict.cases_rel_a import cases
from strict.grammar_rel_a import attack, honest

from relfast.tasks.rel_a.strict import extract_strict

pytestmark = pytest.mark.fuzz


def test_honest_texts_score_full_marks() -> None:
    rng, every = fresh(71), cases()
    lost = []
    for _ in range(rounds(8_000)):
        case = rng.choice(every)
        text = honest(case, rng)
        if extract_strict(text).value != case.record["answer"]["target"]:
            lost.append((case.words["right"], text))
    assert not lost, f"{len(lost)} lost, such as " + "\n".join(map(repr, lost[:10]))


def test_attacks_pay_nothing() -> None:
    rng, every = fresh(72), cases()
    paid = []
    for _ in range(rounds(8_000)):
        case = rng.choice(every)
        text = attack(case, rng)
        if extract_strict(text).value == case.record["answer"]["target"]:
            paid.append((case.words["right"], text))
    assert not paid, f"{len(paid)} paid, such as " + "\n".join(map(repr, paid[:10]))
