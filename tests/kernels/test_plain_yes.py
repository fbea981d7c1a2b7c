"""A plain yes, which a kernel reads without patterns, says what the extractor says; and what only looks like one."""

from __future__ import annotations

import random

import numpy as np
from relfast_kernels.compiled import native

from relfast.engine.strict_reader import StrictReader
from relfast.tasks import TASKS
from relfast.tasks.options import AllOptions
from relfast.tasks.rel_b.strict import extract_strict

BEFORE = [
    "", "Prose of 3 kinds.\n\n", "Some real prose here. " * 10 + "\n\n", "x " * 70, "It has no way to say.\n", "is 5 < 7\n", "x <\n",
    "\\right\n", "The answer: yes or no?\n\n", "Wait.\n", "{ a: \n", '{"x": 1}\n', "homoplasy is absent\n", "I say no.\n\n", "Yes!\n\n",
    "there is no doubt that no pair fits.\n\n", "maybe\n", "If ", "not\n", "a: true\n", "~~x~~\n", "The options are\n", "1. a\n2. b\n3. ",
    "3 * 5 = <<3*5=15>>15.\nA: 15\n\n", "so <<b>5>\n", "x <<\n", "5 <3 and <b\n", "<b <5\n", "is <\u200b5\n", "<<5\n> ", "<p<4\n", "<br <7>\n",
    "<div>\n", "Taxa 3 and 4:\n", "taxon 5 is near.\n", "Answer?\n", "options:\n", "return\n", "but\n", "  ", "\t", "> ", "no\n",
]  # fmt: skip
NAMED = [
    "", "The answer is ", "Answer: ", "**Answer:** ", "Final answer: ", "The final answer is ", "My answer: ", "the final Answer is: ",
    "Yes/No: ", "answer ", "Is it ", "- ", "# ", "1. ", "Not ", "maybe ", "<b>", "_", '"', "final ",
]  # fmt: skip
YES = ["Yes", "**Yes**", "YES", '"yes"', "`Yes`", "<Yes>", "_Yes_", "(Yes)", "Yes-man"]
PARTED = [
    ". ", ", ", ": ", " - ", " — ", " ", "\n", "\n\n", " (2 taxa): ", ".\n", ":\n", "  ", "; ", "! ", "? ", "-", "—", ".", "\t", ". And ", " if ",
]  # fmt: skip
LEAD = [
    "", "the taxa involved are ", "taxa: ", "The taxa are ", "taxa involved: ", "structured homoplasy is present. Taxa: ", "Taxa ",
    "the taxa ", "other taxa: ", "species ", "columns ", "at ", "taxa are: ", "**Taxa:** ", "not ", "all but ", "score: ", "groups ", "the pair ",
]  # fmt: skip
ITEM = [
    "{}", "taxon_{}", "Taxon {}", "taxon{}", "taxa {}", "#{}", '"{}"', "0{}", "t{}", "{}.0", "{}%", "_{}", "taxon-{}", "{}_", "{}b", "123456789{}",
]  # fmt: skip
JOINED = [
    ", ",
    " and ",
    ", and ",
    "; ",
    ",",
    " & ",
    " - ",
    "-",
    "\n",
    "\n- ",
    " or ",
    " to ",
    " vs ",
    ". ",
    ",  ",
    "/",
]
AFTER = [
    "", ".", "\n", ". ", ".**", "!", "...", " taxa", " columns", " (2 taxa)", "?", " only", "%", ".5", "\n\nno", ". No others.", " are not", "\r",
    "\u2003", "]}", "}", "]",
]  # fmt: skip
NOISE = '<>&\\_*`"$\n ,.;:-=|/(){}[]no1 %?!~'


def _pick(rng: random.Random, texts: list[str], odd: float = 0.08) -> str:
    return rng.choice(texts) if rng.random() < odd else rng.choice(texts[: max(1, len(texts) // 4)])


def _list(rng: random.Random) -> str:
    item, joined = _pick(rng, ITEM), _pick(rng, JOINED)
    items = [item.format(rng.randint(0, 60)) for _ in range(rng.choice((1, 2, 2, 3, 5)))]
    if rng.random() < 0.2:
        numbered = rng.random() < 0.5
        return "".join(f"\n{f'{k}.' if numbered else '-'} {one}" for k, one in enumerate(items, 1))
    return joined.join(items)


def text(rng: random.Random) -> str:
    """A yes with a list, plain in most of its parts; a sixth of them damaged."""
    if rng.random() < 0.1:
        said = (
            _pick(rng, BEFORE) + '{"answer": "Yes", "taxa": [' + _list(rng) + rng.choice(("]}", "]}\n", "]"))
        )
    else:
        parts = (BEFORE, NAMED, YES, PARTED, LEAD)
        said = "".join(_pick(rng, part) for part in parts) + _list(rng) + _pick(rng, AFTER)
    if rng.random() < 0.15:
        at = rng.randrange(len(said) + 1)
        said = said[:at] + rng.choice(NOISE) + said[at:]
    return said


def test_it_is_what_the_extractor_says() -> None:
    if native.load("text") is None:
        native.build("text")
    rng = random.Random(13)
    reader = StrictReader(AllOptions(policy="strict"))
    texts = [text(rng) for _ in range(4_000)]
    known = 0
    for one, said in zip(texts, reader.read_all(TASKS["REL-B1"], texts), strict=True):
        assert said is None or said == extract_strict(one), one
        known += said is not None
    assert known > 0.9 * len(texts)


def test_many_of_them_are_plain() -> None:
    """Of the ways in which models write a yes, by the function itself."""
    from relfast_kernels.layouts import PATTERN_WORK
    from relfast_kernels.text.patterns.plain_yes import plain_yes
    from relfast_kernels.text.patterns.reading import MARGIN, open_text

    work, scratch = np.zeros(PATTERN_WORK, np.int64), np.zeros(20_000, np.uint8)
    for said in (
        "Yes. taxon_15, taxon_49", "Yes: 15, 49", "**Yes** – taxa 15 and 49.", "Answer: Yes\n\n15, 49", "Yes\n\n- 15\n- 49",
        "**Yes**\n\n1. Taxon 15\n2. Taxon 49\n", '{"answer": "Yes", "taxa": [15, 49]}', "Yes (2 taxa): 15, 49",
        "The answer is yes. The taxa involved are taxon_15, taxon_49.",
    ):  # fmt: skip
        data = np.frombuffer(f"We see that 3 < 5.\n\n{said}".replace("<", "is less than").encode(), np.uint8)
        low, high = open_text(data, 0, len(data), scratch, 0, work)
        assert plain_yes(scratch, low, high, high + MARGIN, work) == 2, said
