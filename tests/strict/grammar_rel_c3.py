"""Right answers to REL-C3 and attacks on them, made up from parts: see `strict.corpus`."""

from __future__ import annotations

import random
from typing import Final

from strict.corpus import Case

LISTS: Final = (
    "tags", "spaced", "bullets", "numbered", "stars", "upper", "unclosed", "backquoted", "bold", "parens",
    "rows",
    "in backquotes", "in quotes", "in bold", "with stop", "in latex", "with label", "named", "checked",
    "labelled",
    "dashed notes", "headed by number", "letters", "oneline", "commas", "semicolons", "blank", "fenced",
    "respelt",
    "shuffled", "sections", "bold sections", "plain sections",
)  # fmt: skip
BEFORE: Final = (
    "", "The missing isomers are:\n\n", "Missing:\n", "Final answer:\n", "**Final Answer**\n\n",
    "## Missing isomers\n\n",
    "After removing the given ones, these remain:\n\n", "答案：\n", "As asked, <smiles>...</smiles>:\n\n",
    "All share one formula.\nSome are rings.\n\n", "The set is completed by\n\n", "Result:\n",
    "Here they are:\n\n",
    "For example, <smiles>{given1}</smiles> is given already. The missing ones:\n\n",
    "Is <smiles>{given1}</smiles> missing? No, it is in the list.\n\nMissing:\n",
    "I considered <smiles>{wrong}</smiles> but rejected it.\n\nMissing:\n",
    "<smiles>{wrong}</smiles> was my first idea, but it has the wrong formula.\n\n",
    "~~<smiles>{wrong}</smiles>~~\n\n",
)  # fmt: skip
AFTER: Final = (
    "", "\n", "\n\nI hope this helps!", "\n\n---", "\n\nThat completes the set.",
    "\n\nNone of these is in the given list.",
    "\n\nStereoisomers are not counted.", "\n\n<smiles>{first}</smiles> is the most stable of them.",
    "\n\nThe molecule <smiles>{wrong}</smiles> is not an isomer, so I left it out.",
    "\n\nNo others are missing.",
)  # fmt: skip

TAGGED: Final = ("tags", "bullets", "numbered", "stars", "commas", "semicolons", "shuffled", "respelt")
DENIALS: Final = (
    "Example:\n{}", "For example: {}", "Such as {}", "None of these is missing:\n{}",
    "These are wrong:\n{}", "Excluded:\n{}",
    "Rejected:\n\n{}", "Do not include:\n{}", "Given molecules:\n{}", "Already given:\n{}", "<!-- {} -->",
    "~~{}~~",
    "<del>{}</del>", "/* {} */", "Suppose the missing ones were:\n{}", "If the answer were\n{}",
    "Is it one of these?\n{}",
    "{}\n\nScratch that.", "{}\n\nAll of these are wrong.", "{}\n\nNone of the above is missing.",
    "{}\n\nI retract this list.",
    "The list might look like\n{}", "A student answered:\n{}", "{}\n\nActually, no isomers are missing.",
    "Let me test these:\n{}", "Sample output:\n{}", "The following are not the missing isomers:\n{}",
)  # fmt: skip
SPOILT: Final = (
    "mapped", "isotopes", "wild", "reaction", "queries", "doubled", "odd bond", "with name", "with words",
    "with cx",
    "words a line", "denied", "crossed", "wrong notes", "given notes", "given tags", "given bullets",
    "given noted",
    "carbons", "lines", "bullet lines", "comma lines", "square", "misspelt",
)  # fmt: skip
ONE: Final = (
    "It is not {}.", "{} is wrong.", "{} is not missing.", "Is it {}? No.", "{}?", "Could {} be missing?",
    "❌ {}", "{} ❌",
    "{} (already given)", "I don't think {} is missing.", "One might think {}, but it is given.", "E.g. {}",
    "Rather than {}",
    "{} does not belong to the set.", "{} has the wrong formula.", "{} or others",
)  # fmt: skip


def honest(case: Case, rng: random.Random) -> str:
    """A response that any reader takes for the right list."""
    words = {name: case.words[name] for name in ("given1", "wrong", "first")}
    name = rng.choice(LISTS)
    # an open tag reaches to the end; a remark on another spelling is a second molecule
    after = rng.choice(AFTER) if name not in ("unclosed", "respelt") else ""
    return rng.choice(BEFORE).format(**words) + case.words[name] + after.format(**words)


def attack(case: Case, rng: random.Random) -> str:
    """A response that names no missing molecule."""
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(DENIALS).format(case.words[rng.choice(TAGGED)])
    if kind == 1:
        return rng.choice(("", "Missing:\n", "Final answer:\n\n")) + case.words[rng.choice(SPOILT)]
    return rng.choice(ONE).format(f"<smiles>{case.words['first']}</smiles>")
