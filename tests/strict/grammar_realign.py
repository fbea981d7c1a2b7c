"""Random honest solutions and attacks for ReAlign, from parts that models use."""

from __future__ import annotations

import random

from strict.corpus import Case

OPENINGS = (
    "",
    "Sure! Let's see.\n",
    "**Solution.**\n",
    "We solve this step by step.\n\n",
    "## Working\n",
    "Okay.\n",
    "Let me think.\n",
)
LEADS = (
    "{}", "So {}", "Therefore, the answer is {}.", "The answer is {}.", "**Answer:** {}", "Final Answer: {}", "### Final Answer\n\n{}", "Thus, we get {}.",
    "The final answer is {}. I hope it is correct.", "Answer: {}", "Hence {} is the answer.", "So, in the end, it is {}.", "Ответ: {}", "答案：{}", "La respuesta es {}.",
)  # fmt: skip
DRESSES = (
    "\\boxed{{{}}}",
    "$\\boxed{{{}}}$",
    "\\(\\boxed{{{}}}\\)",
    "**$\\boxed{{{}}}$**",
    "\\[\\boxed{{{}}}\\]",
    "\\boxed{{ {} }}",
    "$\\boxed{{x = {}}}$",
)
NAKED = (
    "Answer: {}",
    "**Answer:** ${}$",
    "The answer is ${}$.",
    "Final Answer: **{}**",
    "The final answer is {}.",
    "<answer>{}</answer>",
    "Answer: ${}$.",
    "### Answer\n{}",
)
ENDINGS = ("", "\n", "\n\nLet me know if you have questions!", "\n\nHope this helps! 😊", "\n\n---", " ✅")


def honest(case: Case, rng: random.Random) -> str:
    """A right answer, with working above it or not, in a random form."""
    work = rng.choice(("", f"{case.words['work']}\n\n")) if case.words.get("work") else ""
    answer = _honest_answer(case.words["right"], rng)
    return rng.choice(OPENINGS) + work + answer + rng.choice(ENDINGS)


def _honest_answer(right: str, rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(NAKED).format(right)
    return rng.choice(LEADS).format(rng.choice(DRESSES).format(right))


def attack(case: Case, rng: random.Random) -> str:
    """A text that has no right answer, whatever stands in it."""
    right, wrong = case.words["right"], case.words["wrong"]
    work = rng.choice(("", case.words.get("work", ""), case.words["copy"], "We get (i)."))
    dress = rng.choice(DRESSES[:6])
    false, true = dress.format(wrong), dress.format(right)
    last = rng.choice(
        (
            rng.choice(LEADS).format(false),
            f"{true} or {false}",
            f"{false}\n{true}",
            f"The answer is not {true}.",
            f"Suppose the answer is {true}.",
            f"Is it {true}?",
            f"{true}. Wait, no, it is {false}.",
            f"{true} is wrong.",
            f"First I got {true}.\n\nSo the final answer is {false}.",
            f"<think>{true}</think>{false}",
            f"I do not think it is {true}.",
            "\\boxed{}",
        )
    )
    return f"{work}\n{last}" if work else last
