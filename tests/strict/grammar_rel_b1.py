"""A grammar of honest answers to REL-B1 and of attacks: parts of the table's forms, put together anew."""

from __future__ import annotations

import random

from strict.corpus import Case

_BEFORE = ["", "", "", "I compared all taxa column by column.\n\n", "The tree has «shown» leaves.\n\n", "Siblings such as «x» and «y» were skipped.\n\n",
           "Step 1: read the alignment.\nStep 2: compare distant taxa.\n\n", "I have to answer Yes/No and, if Yes, list the taxa.\n\n"]  # fmt: skip
_AFTER = [
    "",
    "",
    "",
    "\n\nI hope this helps!",
    "\n\nMotifs were compared at columns 10-14 and 55-59.",
    "\n\nNo other taxa stand out.",
]
_LEAD = ["", "", "Answer: ", "**Answer:** ", "Final answer: ", "**Final Answer:** ", "The answer is ", "So the answer is ", "### Final Answer\n\n", "Verdict: ", "Conclusion: "]  # fmt: skip
_YES = ["Yes", "**Yes**", "yes", "YES", "<Yes>", "`Yes`"]
_NO = ["No", "**No**", "no", "NO", "<No>", "`No`", "No.", "**No.**"]
_JOINT = [": ", ", ", " – ", " — ", ". Taxa: ", ". Taxa involved: ", "; taxa: ", "\nTaxa: ", "\n\nTaxa involved: ", "\n**Taxa involved:** ", ". The taxa involved are ", ", taxa ", " (taxa involved: "]  # fmt: skip
_LISTS = [
    "«list»",
    "«and»",
    "«forms»",
    "«Taxa»",
    "«semi»",
    "«hash»",
    "«padded»",
    "«scored»",
    "**«list»**",
    "`«list»`",
    "«json»",
    "«jnames»",
]
_NO_TAXA = ["", "", "\nTaxa: none", "\n\nTaxa involved: none", " Taxa «x» and «y» share only 3 columns.", " (none)", "\n\nTaxa «x» and «y» are siblings."]  # fmt: skip
_OR = [" or ", "\n", " / ", "\n\nor\n\n", " and ", ", ", ". "]


def _fill(text: str, case: Case) -> str:
    for word, value in case.words.items():
        text = text.replace(f"«{word}»", value)
    return text


def _yes(taxa: str, rng: random.Random) -> str:
    joint = rng.choice(_JOINT)
    return rng.choice(_LEAD) + rng.choice(_YES) + joint + taxa + (")" if "(" in joint else "")


def honest(case: Case, rng: random.Random) -> str:
    """A right answer to the case."""
    before, after = rng.choice(_BEFORE), rng.choice(_AFTER)
    if case.has("yes"):
        return _fill(before + _yes(rng.choice(_LISTS), rng) + after, case)
    answer = rng.choice(_NO)
    rest = rng.choice(_NO_TAXA)
    if rest.startswith(" T") and not answer.strip("*").endswith("."):
        rest = "." + rest
    return _fill(before + rng.choice(_LEAD) + answer + rest + after, case)


def attack(case: Case, rng: random.Random) -> str:
    """A response that proves nothing: both answers, everything, or the wrong taxa."""
    both = [rng.choice(_YES), rng.choice(_NO).rstrip(".*")]
    rng.shuffle(both)
    kinds = ["both", "wrong", "many"]
    kind = rng.choice(kinds)
    before = rng.choice(_BEFORE)
    if kind == "both":
        lead = rng.choice(_LEAD)
        again = lead if rng.random() < 0.5 else ""
        return _fill(before + lead + both[0] + rng.choice(_OR) + again + both[1], case)
    if kind == "many":
        return _fill(before + _yes(rng.choice(["«all»", "«most»", "«half»", "«min»-«max»"]), rng), case)
    return _fill(before + _yes("«x», «y»", rng), case)
