"""Texts for SeqBench by a grammar: plans as models write them, and what must not pay."""

from __future__ import annotations

import random
from typing import Final

from strict.cases_seqbench import FORMS
from strict.corpus import FAMILIES, Case

_INTROS: Final = (
    "", "", "Here is the plan:\n\n", "**Plan**\n\n", "## Final answer\n\n", "The shortest plan:\n", "Final plan:\n\n",
    "Bob starts in his room and goes for the keys first.\n\n", "The answer is:\n\n", "Solution\n\n", "Plan de acción:\n\n",
    "All doors on the way have been checked.\n\n### Actions\n\n", "步骤：\n\n", "✅ Final sequence:\n\n",
)  # fmt: skip
_OUTROS: Final = (
    "", "", "\n", "\n\nThis is the shortest plan.", "\n\nDone!", "\n\n**Total:** as few actions as possible.",
    "\n\nEvery step is legal.", "\n\nKeys are picked up before their doors are opened.", "\n\n---\n",
    "\n\nLet me know if you need an explanation.", "\n\n🎉 The rescue is complete.",
)  # fmt: skip
_FENCES: Final = ("", "", "```\n", "```python\n", "```json\n", "```text\n")
_CORRECTIONS: Final = (
    "\n\nWait, this is wrong: the second move is not possible.\n\nFinal plan:\n\n",
    "\n\nThose rooms are not connected. Corrected plan:\n\n",
    "\n\nActually, that fails at the second action.\n\n**Final answer**\n\n",
    "\n\nHmm, there is a mistake in step 2. The right plan:\n\n",
)
_BESIDE: Final = (
    "\n\nor\n\n", "\n\nAlternatively:\n\n", "\n\nOption 2:\n\n", "\n\n", "\n", "\n\nPlan B:\n\n", "\n\nIf this fails:\n\n",
    "\n\nAnother possibility:\n\n", "\n\nOtherwise:\n\n", "\n\nPerhaps also:\n\n", "\n\nSecond option:\n\n",
)  # fmt: skip
_DENIALS: Final = (
    "This is not the answer:\n{}", "{}\n\nThis plan is wrong.", "Never do this: {}", "{} does not work.", "Do not use {}",
    "{}\n\nThis is not correct.", "An invalid plan: {}", "~~{}~~",
)  # fmt: skip
_BLIND: Final = (
    "«teleport»", "«rescue first»", "«no start»", "«blind nothing»", "«blind rescue»", "«only cycles»", "['«start»']",
    "['«last»']", "«target» is in «goal».", "",
)  # fmt: skip


def honest(case: Case, rng: random.Random) -> str:
    """A response that a careful reader takes for the right plan."""
    fence = rng.choice(_FENCES)
    plan = _fenced(case.words[rng.choice(list(FORMS))], fence)
    if rng.random() < 0.25:
        draft = case.words[f"not {rng.choice(list(FORMS))}"]
        plan = _fenced(draft, rng.choice(_FENCES)) + rng.choice(_CORRECTIONS) + plan
    return _family(rng.choice(_INTROS) + plan + rng.choice(_OUTROS), rng)


def attack(case: Case, rng: random.Random) -> str:
    """A response that earns nothing, although the right plan may stand in it."""
    right, wrong = case.words[rng.choice(list(FORMS))], case.words[f"not {rng.choice(list(FORMS))}"]
    kind = rng.randrange(5)
    if kind == 0:
        plans = rng.choice(((wrong, right), (right, wrong)))
        text = rng.choice(_BESIDE).join(plans)
    elif kind == 1:
        text = right + rng.choice(_CORRECTIONS) + wrong
    elif kind == 2:
        text = rng.choice(_DENIALS).format(case.words[rng.choice(("list", "json", "pairs", "tall"))])
    elif kind == 3:
        text = _fill(rng.choice(_BLIND), case)
    else:
        text = f"<think>{right}</think>{rng.choice(('', 'Done.', 'See above.', wrong))}"
    return _family(rng.choice(_INTROS) + text, rng)


def _fenced(plan: str, fence: str) -> str:
    return f"{fence}{plan}\n```" if fence else plan


def _fill(text: str, case: Case) -> str:
    for name, word in case.words.items():
        text = text.replace(f"«{name}»", word)
    return text


def _family(text: str, rng: random.Random) -> str:
    return FAMILIES[rng.choice(list(FAMILIES))](text)
