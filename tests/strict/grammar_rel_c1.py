"""A grammar of honest answers to REL-C1 and of attacks: parts of the table's forms, put together anew."""

from __future__ import annotations

import random

from strict.corpus import Case

_BEFORE = ["", "", "", "I counted the atoms of each molecule.\n\n", "1. «m»: counted.\n2. The others: counted.\n\n", "I have to return <Yes> or <No>.\n\n",
           "Stereo plays no role here.\n\n", "<«wrong»> Wait, I miscounted.\n\n", "At first I thought <«wrong»>. I recounted.\n\n"]  # fmt: skip
_AFTER = [
    "",
    "",
    "",
    "\n\nAll formulas were computed.",
    "\n\n(No explanation, as asked.)",
    "\n\nI hope this helps!",
]
_LEAD = ["", "", "Answer: ", "**Answer:** ", "Final answer: ", "**Final Answer:** ", "The answer is ", "So the answer is ", "### Final Answer\n\n", "Verdict: ", "Therefore: ", "My answer: "]  # fmt: skip
_FORM = ["<{}>", "<{}>", "**<{}>**", "`<{}>`", "{}", "**{}**", "\\boxed{{{}}}", "\\boxed{{\\text{{{}}}}}", "$\\boxed{{\\text{{{}}}}}$", '"{}"', "<{}>.", "{}."]  # fmt: skip
_OR = [" or ", "\n", " / ", "\n\nor\n\n", " and ", ", ", ". ", " ", "; ", ", maybe ", " or possibly "]
_DENIED = ["The answer is not {}", "It is not {}.", "I would never say {}.", "{} is wrong.", "Anything but {} might be said", "If all agree, {}.",
           "{} if all formulas match", "Whether it is {} I cannot tell.", "{}?"]  # fmt: skip


def _form(label: str, rng: random.Random) -> str:
    return rng.choice(_FORM).format(label)


def honest(case: Case, rng: random.Random) -> str:
    """A right answer to the case."""
    text = rng.choice(_BEFORE) + rng.choice(_LEAD) + _form(case.words["right"], rng) + rng.choice(_AFTER)
    return text.replace("«wrong»", case.words["wrong"]).replace("«m»", case.words["m"])


def attack(case: Case, rng: random.Random) -> str:
    """Both answers, or the right one denied or made a condition."""
    if rng.random() < 0.4:
        return rng.choice(_DENIED).format(f"<{case.words['right']}>")
    labels = ["Yes", "No"]
    rng.shuffle(labels)
    form = rng.choice(_FORM[:-2])
    lead = rng.choice(_LEAD)
    again = (
        lead
        if rng.random() < 0.5 and not lead.startswith(("Final", "**Final", "So", "###", "Therefore"))
        else ""
    )
    return lead + form.format(labels[0]) + rng.choice(_OR) + again + form.format(labels[1])
