"""Right answers to REL-C2 and C3 and attacks on them, made up from parts: see `strict.corpus`."""

from __future__ import annotations

import random
from typing import Final

from strict.corpus import Case

AROUND: Final = (
    "{}", " {} ", "`{}`", '"{}"', "'{}'", "${}$", "**{}**", "{}.", "{},", "“{}”", "\\text{{{}}}", "\n{}\n",
    "```\n{}\n```", "{}\u200b", "SMILES: {}", "- {}", "<code>{}</code>", "`{}`.", "$\\text{{{}}}$",
)  # fmt: skip
TAG: Final = (
    "<smiles>{}</smiles>", "<SMILES>{}</SMILES>", "&lt;smiles&gt;{}&lt;/smiles&gt;", "\\<smiles\\>{}\\</smiles\\>",
    "<smiles>{}</smiles>", "<smiles>{}</smiles>",
)  # fmt: skip
OUTSIDE: Final = (
    "{}",
    "**{}**",
    "`{}`",
    "```\n{}\n```",
    "> {}",
    "{}.",
    "- {}",
    "{} ✅",
    "<answer>{}</answer>",
)
BEFORE: Final = (
    "", "The motif is ", "Final answer: ", "**Final Answer**\n\n", "I'll wrap it in <smiles> tags:\n", "Answer:\n",
    "All molecules share the ring.\nThe chain differs.\n\n", "Therefore:\n", "答案：", "So the answer is ",
    "As asked, <smiles>...</smiles>:\n\n", "### Answer\n", "After checking every molecule:\n\n",
)  # fmt: skip
AFTER: Final = (
    "", "\n", "\n\nThis is connected.", "\n\nEvery molecule has it.", "\n\nI hope this helps!", "\n\n---",
    "\n\nStereochemistry is ignored.", "\n(wrapped in <smiles> tags)", "\n\nIt has been checked.",
)  # fmt: skip
DRAFTS: Final = (
    "First idea: <smiles>{}</smiles>\nThat misses an atom.\nFinal answer: ", "<smiles>{}</smiles> is not in molecule 2.\n\n",
    "Draft: <smiles>{}</smiles>\n\nFinal: ", "<smiles>{}</smiles>\n\nWait, there is more. Corrected:\n\n",
)  # fmt: skip

BETWEEN: Final = (
    "", " ", "\n", "\n\n", " or ", "\nor\n", ", ", "; ", " and ", "\nAlternatively: ", " / ", "\n2. ", "\n- ",
    " | ", "\nOption 2: ", " or maybe ", "\nAnother possibility: ", "\nMaybe ",
)  # fmt: skip
SPOILT: Final = (
    "{} is it", "{} name", "{}\n\nis it", "{}.C", "{}~C", "*{}", "[CH3:1]{}", "[13CH3]{}", "{} |$a$|", "{}>>C", "{}\nCC",
    "{} and more", "{}, CC", "[#6]{}", "{}?", "{} // core", "${}",
)  # fmt: skip
DENIALS: Final = (
    "It is not {}.",
    "{} is wrong.",
    "{} is not the answer.",
    "Is it {}? No.",
    "Not {}",
    "{}\n\nScratch that.",
)


def honest(case: Case, rng: random.Random) -> str:
    """A response that any reader takes for the right answer."""
    smiles = rng.choice((case.words["right"], case.words["respelt"]))
    answer = rng.choice(TAG).format(rng.choice(AROUND).format(smiles))
    before = rng.choice(BEFORE)
    if rng.random() < 0.2:
        before = rng.choice(DRAFTS).format(case.words["wrong"])
    return before + rng.choice(OUTSIDE).format(answer) + rng.choice(AFTER)


def attack(case: Case, rng: random.Random) -> str:
    """A response made from gold that answers nothing."""
    right, wrong = case.words["right"], case.words["wrong"]
    kind = rng.randrange(3)
    if kind == 0:
        pair = [f"<smiles>{smiles}</smiles>" for smiles in (right, wrong)]
        rng.shuffle(pair)
        return rng.choice(("", "Answer: ", "1. ")) + rng.choice(BETWEEN).join(pair)
    if kind == 1:
        return rng.choice(BEFORE) + f"<smiles>{rng.choice(SPOILT).format(right)}</smiles>" + rng.choice(AFTER)
    return rng.choice(DENIALS).format(f"<smiles>{right}</smiles>")
