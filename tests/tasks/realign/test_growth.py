"""All that ReAlign does with a text takes time in proportion to it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import growth
import pytest

from relfast.answers import same_answer
from relfast.tasks.realign import extract, score

TEXTS: dict[str, Callable[[int], str]] = {
    "blanks": lambda n: "Answer: 4" + " " * n + ".", "blanks and letters": lambda n: "4 " * (n // 2) + "a!", "digits": lambda n: "9" * n, "commas": lambda n: "4," * (n // 2),
    "boxes": lambda n: r"\boxed{4} or " * (n // 13), "open boxes": lambda n: r"\boxed{" * (n // 7), "braces": lambda n: r"\boxed{" + "{" * n, "brackets": lambda n: "<<" * (n // 2),
    "fractions": lambda n: r"\frac {1}" * (n // 9), "lines": lambda n: "ab\n" * (n // 3), "numbered": lambda n: "Step 12: (a) x\n" * (n // 14), "full stops": lambda n: ". " * (n // 2),
    "full stops, blanks": lambda n: "." + " " * n, "dollars": lambda n: "$" * n, "stars": lambda n: "*" * n, "labels": lambda n: "The answer is " * (n // 14), "words": lambda n: "we get four " * (n // 12),
    "signs": lambda n: "-" * n, "steps": lambda n: "Step " * (n // 5), "quotients": lambda n: "1 / " * (n // 4), "dollar, digit": lambda n: "$4 " * (n // 3), "backslashes": lambda n: "\\" * n,
}  # fmt: skip
WORK: dict[str, Callable[[str], object]] = {
    "the final answer": extract.read_final_answer,
    "a reference's": lambda text: extract.read_final_answer(text, reference=True),
    "the published box": extract.extract_boxed_answer,
    "steps": extract.parse_steps,
    "steps without repeats": lambda text: extract.without_repeats(text.split("\n"), text.split(" ")),
    "a label's answer": extract._of_label,
    "working": lambda text: score.working(extract.parse_steps(text), text, text[:100]),
    "working, beside a question": lambda text: score.working([text], "How many?", "4"),
    "the question": lambda text: same_answer("4", "5-1", text),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("text", TEXTS)
def test_time_is_in_proportion(text: str, work: str) -> None:
    growth.assert_linear(lambda n: lambda: WORK[work](TEXTS[text](n)), 50_000)


def test_a_copy_of_the_question_is_found_in_time() -> None:
    """2,000 blanks took 12 s, and 26 letters behind a number 22 s."""
    for answer in ("1" + " " * 2_000 + "2", "12 " + "a" * 26 + "!", "1 " * 190):
        count = 0

        def profile(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(profile)
        try:
            assert not same_answer("4", answer, f"What is ${answer}$?")
        finally:
            sys.setprofile(None)
        assert count < 100_000
