"""Made-up responses to REL-A: right answers, and texts that must not pay, from parts that combine freely."""

from __future__ import annotations

import random
from typing import Final

from strict.corpus import FAMILIES, Case

_STATEMENTS: Final = (
    "Answer «right»", "«right»", "The answer is «right»", "The correct answer is Answer «right»", "The missing panel is Answer «right»",
    "It is Answer «right»", "Answer: «right»", "Final answer: «right»", "Option «right»", "\\boxed{«right»}", "The answer is \\boxed{«right»}",
    "Panel 8 is Answer «right»", "I choose Answer «right»", "Answer «right» is correct", "Answer «right» completes the matrix", "That is Answer «right»",
    "The answer is option «right»", "Only Answer «right» fits", "So the answer is «right»", "The correct choice is the «ordinal» option",
    "<answer>«right»</answer>", '{"answer": «right»}', "#### «right»", "答案是«right»", "The answer is «circled»",
    "The answer is («right»)", "Answer: («right»)", "Answer («right»)", "正确答案是第«right»个选项", "选项«right»是正确的",
)  # fmt: skip
_MARKS: Final = ("{}", "{}.", "**{}**", "**{}.**", "{}!", "*{}*", "> {}", "✅ {}", "{} ✅", "- {}", "`{}`")
_BEFORE: Final = (
    "Each panel shows the same matrix.", "Answer «wrong» has decimals.", "Answer «wrong» is wrong.", "It is not Answer «wrong».", "The step is 2.",
    "Panel 7 ends with 713.", "The missing panel is Panel 8.", "Rows: 327 + 57 = 384.", "Let me check Answer «wrong»: it does not fit.",
    "I first thought it was Answer «wrong».", "Answers «wrong» and «other» can be ruled out.", "Is it Answer «wrong»? No.", "There are 3 rows and 8 choices.",
    "If Answer «wrong» were right, row 2 would be constant.", "1. Compare the panels.\n2. Find the rule.", "Answer «wrong» is close, but its last row is wrong.",
)  # fmt: skip
_AFTER: Final = (
    "", "", "", "Explanation: every panel is the same.", "Answer «wrong» has other values.", "All the other choices break the rule.", "I hope this helps!",
    "Panel 7 and Panel 8 differ by 6.", "Each row falls by 2; 4 + 2 = 6.", "Answer «wrong» does not fit.", "None of the others fit.",
    "Answer «wrong» and Answer «other» have decimals.",
)  # fmt: skip
_RIVALS: Final = (
    "{0} or {1}", "{0}, {1}", "{0} and {1}", "Either {0} or {1}.", "{0}\n{1}", "{0}. Or {1}.", "{0}. Alternatively, {1}.", "Maybe {0}, maybe {1}.", "{0} / {1}",
    "{0}; {1}", "{0} (or {1})", "Both {0} and {1} fit.", "{0}. Wait, no, «wrong».", "{0}. Actually, Answer «wrong».", "{0}\n\nCorrection: Answer «wrong»",
    "{0}. No, that is wrong.", "{0}. Scratch that.",
)  # fmt: skip
_DENIALS: Final = (
    "It is not {0}.", "{0} is wrong.", "{0} does not fit.", "The answer is not «right».", "I rule out {0}.", "Anything but {0}.", "It can't be {0}.",
    "{0} is not correct.", "Neither {0} nor {1}.", "{0} is close, but not correct.", "Is it {0}?", "Suppose it is {0}.", "{0} can be excluded.", "Not {0}.",
    "The answer is not («right»).", "Answer («right») does not fit.",
)  # fmt: skip
_PARTS: Final = (
    "Answer «right»+«right»", "Answer «right».5", "Answer «right»/1", "Answer -«right»", "The step is «right».", "There are «right» rows.", "\\boxed{«right»+0}",
    "«right» of 8", "Answer «right»0", "The answer has «right» rows.", "Answer «right»%",
    "The step is («right»).", "The answer is («right») or («wrong»).", "The rules are: («right») a row, («wrong») a column",
)  # fmt: skip


def _fill(text: str, case: Case) -> str:
    for word, value in case.words.items():
        text = text.replace(f"«{word}»", value)
    return text


def _dressed(text: str, case: Case, rng: random.Random) -> str:
    return FAMILIES[rng.choice(list(FAMILIES))](_fill(text, case))


def honest(case: Case, rng: random.Random) -> str:
    """A right answer, with true talk of other choices around it."""
    before = " ".join(rng.sample(_BEFORE, rng.randrange(4)))
    stated = rng.choice(_MARKS).format("§").replace("§", rng.choice(_STATEMENTS))
    gap = rng.choice(("\n", "\n\n"))
    return _dressed(gap.join(filter(None, (before, stated, rng.choice(_AFTER)))), case, rng)


def attack(case: Case, rng: random.Random) -> str:
    """A text that names the right choice and does not give it as the answer."""
    names = [
        rng.choice(("Answer {}", "Option {}", "Answer {}", "**Answer {}**")).format(f"«{word}»")
        for word in ("right", "wrong")
    ]
    kind = rng.randrange(3)
    if kind == 0:
        text = rng.choice(_RIVALS).format(*names)
    elif kind == 1:
        text = rng.choice(_DENIALS).format(*names)
    else:
        text = rng.choice(_PARTS)
    before = rng.choice(("", "", "Each panel shows the same matrix.", "The rule is constant."))
    return _dressed("\n\n".join(filter(None, (before, text))), case, rng)
