"""Scoring: published values against a plain twin, both policies, hostile records, batches and singles; steps and boxes."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import re
import signal
from functools import partial
from typing import Any

import naive_realign
import numpy as np
import pytest
from corpora import realign_parity, solutions
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from relfast.deadlines import Deadlines
from relfast.embed.embedder import get_embedder
from relfast.errors import MissingExtraError
from relfast.realign import StepAligner, extract_boxed_answer, parse_reasoning_to_steps
from relfast.records import Outcome, Record
from relfast.tasks import TASKS
from relfast.tasks.options import AllOptions
from relfast.tasks.realign import alignment
from relfast.tasks.realign import score as realign_scorer
from relfast.tasks.realign.extract import parse_steps, read_final_answer, same_answer, without_repeats

GOLD = "First add 2 and 3.\nThen double the sum.\nNow subtract one.\nSo the answer is $\\boxed{9}$."


class Fixed(StepAligner):
    """Similarities from a file instead of a model."""

    def __init__(self, similarity: list[list[float]]) -> None:
        super().__init__()
        self.similarity = similarity

    def compute_similarity_matrix(self, steps_a: Any, steps_b: Any) -> NDArray[np.float32]:
        return np.array(self.similarity, np.float32)


def check_published(case: dict[str, Any]) -> None:
    benchmark = [f"b{i}" for i in range(len(case["similarity"]))]
    llm = [f"l{j}" for j in range(len(case["similarity"][0]))]
    entries, average = Fixed(case["similarity"]).align_steps(benchmark, llm)
    assert [[e["type"], e["benchmark_idx"], e["llm_idx"]] for e in entries] == case["path"]
    assert average == case["avg_score"]
    for entry in entries:
        i, j = entry["benchmark_idx"], entry["llm_idx"]
        assert entry["benchmark_step"] == (None if i is None else benchmark[i])
        assert entry["llm_step"] == (None if j is None else llm[j])
        if entry["type"] == "match":
            assert entry["score"] == case["similarity"][i][j]
        else:
            assert entry["score"] == 0.0


def test_all_published_alignments() -> None:
    cases = realign_parity("align")
    assert len(cases) == 150
    for case in cases:
        check_published(case)
    with pytest.raises(ValueError, match="similarity matrix"):
        Fixed([[0.5]]).align_steps(["a b"], ["c d", "e f"])
    assert Fixed([[0.5]]).align_steps([], ["c d"]) == ([], 0.0)


def record(response: Any, gold: Any = GOLD, index: int = 0, row: dict[str, Any] | None = None) -> Record:
    answer = {"benchmark_solution": gold} if isinstance(gold, str) else gold
    return Record(index, f"p{index}", "ReAlign", answer, response, "2 + 3?", row=row)


def outcome_of(
    response: Any, options: AllOptions, gold: Any = GOLD, row: dict[str, Any] | None = None
) -> Outcome:
    item = record(response, gold, row=row)
    (outcome,) = realign_scorer.score([(item, realign_scorer.extract(item, options))], options)
    return outcome


def test_equals_the_plain_twin(tiny_options: AllOptions) -> None:
    embedder = get_embedder("tiny")
    for row in solutions()[::97]:
        bench = parse_reasoning_to_steps(row["benchmark_solution"])
        llm = parse_reasoning_to_steps(row["llm_solution"])
        a, b = embedder.encode(bench), embedder.encode(llm)
        similarity = StepAligner("tiny").compute_similarity_matrix(bench, llm)
        assert similarity == pytest.approx(
            np.array([[naive_realign.dot(x, y) for y in b] for x in a]), abs=1e-6
        )
        path, average = naive_realign.align(similarity, len(bench), len(llm))
        outcome = outcome_of(row["llm_solution"], tiny_options, row["benchmark_solution"])
        matches = sum(kind == "match" for kind, _, _ in path)
        symbolic = extract_boxed_answer(row["benchmark_solution"]), extract_boxed_answer(row["llm_solution"])
        assert outcome.metrics == {
            "alignment_score": average,
            "weighted_score": average * (matches / max(len(bench), len(llm))),
            "coverage": matches / max(len(bench), len(llm)),
            "symbolic_correct": None not in symbolic
            and symbolic[0].replace(" ", "") == symbolic[1].replace(" ", ""),
            "first_divergence": naive_realign.first_divergence(path, similarity),
            "quadrant": outcome.metrics["quadrant"],
            "n_benchmark_steps": len(bench),
            "n_llm_steps": len(llm),
            "n_matches": matches,
        }


def test_empty_gold_scores_zero_as_published_and_is_invalid_under_strict(tiny_options: AllOptions) -> None:
    outcome = outcome_of(GOLD, tiny_options, "Sure.")
    assert (outcome.error, outcome.metrics["alignment_score"]) == (None, 0.0)
    assert "no steps" in str(outcome_of(GOLD, tiny_options.with_(policy="strict"), "Sure.").error)


def test_too_many_steps_are_said(tiny_options: AllOptions) -> None:
    assert "300000 steps" in str(outcome_of("ab\n" * 300_000, tiny_options).error)


def test_strict_reads_the_final_answer_only(tiny_options: AllOptions) -> None:
    options = tiny_options.with_(policy="strict")
    thought = "<think>The answer is \\boxed{9}.</think>\nI do not know."
    assert not outcome_of(thought, options).correct
    assert outcome_of(thought, tiny_options).correct
    assert not outcome_of(thought, tiny_options.with_(strip_reasoning=True)).correct
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
        assert not outcome_of("It is nine.", tiny_options.with_(policy="strict"), row=verdicts).correct


def test_math_verify_is_a_column_of_its_own(tiny_options: AllOptions) -> None:
    options = tiny_options.with_(grader="math-verify")
    gold = "Half of it.\nSo \\boxed{\\frac{1}{2}}."
    responses = [
        "The answer is \\boxed{0.5}",
        "The answer is \\boxed{0.6}",
        "no box: 1/2",
        "",
        "\\boxed{" + "9" * 5000 + "}",
    ]
    items = [record(text, gold, k) for k, text in enumerate(responses)]
    outcomes = realign_scorer.score(
        [(item, realign_scorer.extract(item, options)) for item in items], options
    )
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
    task, options = TASKS["ReAlign"], AllOptions()
    batch = [(one, task.scorer.extract(one, options)) for one in records]
    outcomes = task.scorer.score(batch, options)
    assert [outcome.correct for outcome in outcomes] == [False, True, False, False, True]


def test_other_forms_of_gold(tiny_options: AllOptions) -> None:
    steps = parse_reasoning_to_steps(GOLD)
    for gold in (
        {"solution": GOLD},
        {"benchmark_steps": steps},
        {"benchmark_solution": GOLD, "solution": "x y"},
    ):
        assert outcome_of(GOLD, tiny_options, gold).metrics["weighted_score"] == 1.0


def test_without_math_verify_it_is_said_what_to_install(
    tiny_options: AllOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "math_verify" else whole(name, *more)
    )
    with pytest.raises(MissingExtraError, match="math-verify"):
        outcome_of(GOLD, tiny_options.with_(grader="math-verify"))


def test_a_batch_is_its_singles(tiny_options: AllOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = solutions()[::61]
    for options in (tiny_options, tiny_options.with_(policy="strict")):
        items = [record(row["llm_solution"], row["benchmark_solution"], k) for k, row in enumerate(rows)]
        items[3] = record(None, GOLD, 3)
        items[5] = record("x y", {}, 5)
        items[7] = record("", GOLD, 7)
        batch = [(item, realign_scorer.extract(item, options)) for item in items]
        together = realign_scorer.score(batch, options)
        assert together == [realign_scorer.score([pair], options)[0] for pair in batch]
        # whatever memory allows to be held at once
        with monkeypatch.context() as patch:
            patch.setattr(alignment, "STEPS_PER_WINDOW", 30)
            assert realign_scorer.score(batch, options) == together


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


def as_published(line: str) -> str:
    """The published patterns, backtracking and all; what ours removes at once they remove one by one."""
    line = re.sub(r"^(?:Step\s+)?\d+[\.:\)]\s*", "", line.strip())
    return re.sub(r"^\([a-zA-Z0-9]+\)\s*", "", line).strip()


@given(st.text(st.sampled_from("Step 12.:)(a\t\u00a0\u0663x"), max_size=12))
@example("Step12.")
@settings(max_examples=500, deadline=None)
def test_numbering_is_removed_as_published(line: str) -> None:
    expected = as_published(line)
    assert parse_steps(line) == ([expected] if len(expected) > 1 else [])


def test_symbolic_correctness_ignores_spaces_only() -> None:
    assert same_answer(r"\frac{1}{2}", r"\frac {1} {2}")
    assert not same_answer("1/2", "0.5")
    for gold, pred in (("", ""), (None, None), ("5", None), (None, "5"), ("5", "5\t")):
        assert not same_answer(gold, pred)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\boxed{3} is wrong." + "\n" + r"So \boxed{\frac{1}{2}}.", (r"\frac{1}{2}", None)),
        (r"\boxed{3} or \boxed{4}", (None, "several_answers")),
        (r"$\boxed{3}$ and $\boxed{3.0}$", ("3.0", None)),
        ("\\boxed{3}\n\\boxed{4}", ("4", None)),
        (r"\boxed{\boxed{7}}", ("7", None)),
        ("no box", (None, "no_answer")),
        (r"\boxed{open", (None, "no_answer")),
        ("\\boxed{open\n\n#### 5", ("5", None)),
        (r"\boxed{5} is wrong.", ("5", None)),
        ("The answer is 5. Wait, no, 6.", ("5", None)),
        ("<answer>\nx = 5\n</answer>", ("x = 5", None)),
        ("Answer: 5, since 2 + 3 = 5", ("5, since 2 + 3 = 5", None)),
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
