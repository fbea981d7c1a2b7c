"""Steps and boxed answers: published outputs, hostile texts, and the strict readings."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from corpora import realign_parity, solutions
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relfast.realign import extract_boxed_answer, parse_reasoning_to_steps
from relfast.tasks.realign.extract import parse_steps, read_final_answer, same_answer, without_repeats

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
