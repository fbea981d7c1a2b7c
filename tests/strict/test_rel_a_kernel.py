"""REL-A's strict extractor as a kernel: where it answers, it says what the extractor says."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest
from corpora import naughty_strings, solutions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from relfast_kernels.compiled import native
from seeds import fresh, rounds
from strict import cases_rel_a
from strict.corpus import Sample, samples

from relfast.engine.strict_reader import StrictReader
from relfast.tasks import TASKS
from relfast.tasks.options import AllOptions
from relfast.tasks.rel_a.strict import extract_strict

TASK = TASKS["REL-A1"]
FINALS = [
    "**Answer: {}**", "Answer {}", "The missing panel is Answer {}.", "The answer is {}.", "Final answer: {}", "\\boxed{{{}}}",
    "Therefore, the missing panel is **Answer {}**.", "So the answer is {}.", "{}", "**Final answer**\n\n{}",
    "The answer is ({}).", "**Answer: ({})**", "I pick ({}).",
]  # fmt: skip
LINES = [
    "", " ", "---", "or", "Or:", "and", "Wait, no.", "Yes.", "That is wrong.", "Hmm.", "Not 4.", "It's 3.", "13", "0", "9", "$\\boxed{12}$",
    "The answer is 5", "Answer 5", "A: 5", "Panel 5", "The missing panel is 8", "\\[", "\\boxed{5}", "\\]", "x = 5", "2 + 3 = 5",
    "12 or 13", "12 or any other", "3.5", "3,500", "#### 5", "#### 1,200", "Panels 6 and 7 have 3 and 4 entities.", "so 5", "1. Look at it.",
    "a) one", "- 5", "* the fifth", "① ", "5\ufe0f\u20e3", "４", "é 5", "“5”", "5…", "Answer: 5 – I think.", "<b foo bar>5</b>", "~~5~~", "no. 5",
    "e.g. 5", "I lied.", "psychology", "every thing but 5", "not foo sure", "Answer 5: the one with rows", "either 5", "answer 5 or 6", "5?", "Is it 5?",
    "Answer:\u00a05", "It is\u202f5.", "\u00a05", "5\u00a0", "5²", "x₂ = 5", "² 5", "½ of 5", "a: 6, b: 8", "- **Graph B:**", "This does not match.",
    "The rest is correct.", "The volume is constant.", "not 5 but", "if 5", "only 5", "the fifth one", "Five", "the answer is five", "phone", "weight 5", "…", "5; 6", "5. 6", "5! 6?", "5 ... 6",
    "Not (5).", "(3) or (5)", "Answer (5) does not fit.", "Options: (5) - a, (6) - b", "（5）",
    "第5个选项是正确的。", "答案是第五个。", "第五行是常数。", "每行有 5 个。", "每行的和是15。", "选项5不对", "是选项5吗", "The answer is 5: [[1, 2], [3, 4]]",
]  # fmt: skip


@pytest.fixture(scope="session")
def reader() -> StrictReader:
    if native.load("text") is None:
        native.build("text")
    return StrictReader(AllOptions(policy="strict"))


@cache
def _corpus() -> list[Sample]:
    return list(samples("rel_a", cases_rel_a.cases(), random.Random("rel_a kernel"), 1))


def _known(reader: StrictReader, text: str) -> bool:
    """Whether the kernel knows the text once it has been told of its lines, and that it knows it right."""
    for _ in range(12):
        found = reader.read(TASK, text)
        if found is not None:
            assert found == extract_strict(text), text
            return True
    return False


def test_corpus(reader: StrictReader) -> None:
    known = sum(_known(reader, sample.response) for sample in _corpus())
    assert known > 0.25 * len(_corpus())


def test_real_prose(reader: StrictReader) -> None:
    """Nearly all prose of models that ends with an answer is known, most at once."""
    rng = fresh(3)
    prose = [row["llm_solution"].rstrip() for row in rng.sample(solutions(), 400)]
    texts = [f"{text}\n\n{rng.choice(FINALS).format(rng.randint(1, 8))}" for text in prose]
    for final in FINALS:
        for number in range(1, 9):
            assert _known(reader, final.format(number))
    at_once = sum(reader.read(TASK, text) is not None for text in texts)
    assert at_once > 0.9 * len(texts)
    assert sum(_known(reader, text) for text in texts) > 0.98 * len(texts)


AT_ONCE = [
    "Answer:\u00a05", "The answer is\u00a05.", "R\u00e9ponse\u00a0: 5\n\nAnswer:\u00a05", "So x\u00b2 + y\u2082 = 25.\n\nAnswer: 4", "It has 25 cm\u00b2, so answer 4.",
    "- **Graph A:** 4\n- **Graph B:** 5\n\nThe panel that completes the matrix is panel 8.", "x a: 6, b: 8 and the answer is 4",
    "A: 749\n\n- The volume is constant.\n- This does not match the rest.\n\nThe panel that completes the matrix is panel 8.",
    "The answer is 3.\n\n- All are the same.\n- This does not match the rest.\n- It is correct.",
]  # fmt: skip


@pytest.mark.parametrize("text", AT_ONCE)
def test_no_extractor_is_asked(reader: StrictReader, text: str) -> None:
    """Blanks and figures beyond ASCII, letters of a list, and talk that may confirm what was taken back."""
    for response in (text, "Look at the rows of it.\n" * 60 + text):
        assert reader.read(TASK, response) == extract_strict(response)


FRESH = [
    "So {} {}, and the answer is {k}.", "Since {} is {}, Answer {k} is correct.", "Given {}, the missing panel is **Answer {k}**.",
    "Hence {} {}: Option {k} ({}).", "- The missing panel: Answer {k}, with {} {}", "Only option {k} has {} {}.", "That leaves $\\boxed{{{k}}}$, as {} {}.",
    "Comparing {} with the choices, \"Answer {k}\" is the best fit for {}.", "It has to be {k}, since {} {}.", "Not Answer {k}, but {} {}.",
    "Answer {k}: {} {}.", "Answer {k}, I think, or {}.", "1: no. 2: no. {k}: yes, {} {}.", "Panel {k} shows {} {}.", "{} {} 3 {} {k}.",
    "Da {} {}, ist die Antwort {k}.", "Comme {} {}, la réponse est l'option {k}.", "بما أن {} {}، فإن الإجابة هي {k}.", "因为{}，所以答案是 {k}。", "因为{}，所以第{k}个选项是正确的。", "每行的{}都相同，选项{k}符合{}。", "Since {} is {}, the answer is ({k}).",
    "{}ので、答えは {k} です。", "{} 때문에 정답은 {k}번입니다.", "Поскольку {} {}, ответ: {k}.", "क्योंकि {} {}, इसलिए उत्तर {k} है।", "Wait, {} {}. Is it {k}?",
]  # fmt: skip
OPENINGS = [
    "Answer {k}\n\n{} {} is {}.",
    "**Answer: {k}**\nPanels 1 and 2 have 3 and 4 {}. {}.",
    "Answer {k}\n\nOption 3 fails, {} {}.",
]


def _fresh(rng: random.Random, form: str) -> str:
    names = iter("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(9))
    return (
        re.sub("{}", lambda _: next(names), form)
        .replace("{k}", str(rng.randint(1, 8)))
        .replace("{{", "{")
        .replace("}}", "}")
    )


def test_what_nobody_has_met_is_read_at_once(reader: StrictReader) -> None:
    """No sentence needs the extractor, whatever its words."""
    rng = fresh(5)
    prose = [row["llm_solution"] for row in solutions()]
    at_once = n = 0
    for form in (FRESH + OPENINGS) * 12:
        text = _fresh(rng, form)
        if form in FRESH:
            text = f"{rng.choice(prose)[:600]}\n\n{_fresh(rng, rng.choice(FRESH))}{rng.choice([' ', chr(10)])}{text}"
        found = reader.read(TASK, text)
        assert found is None or found == extract_strict(text), text
        at_once += found is not None
        n += 1
    assert at_once > 0.98 * n


@pytest.mark.slow
@pytest.mark.fuzz
def test_blends(reader: StrictReader) -> None:
    """Forms of the corpus, lines that hang together in every way, prose and naughty strings."""
    rng = fresh(4)
    forms = [sample.form.fill(sample.case) for sample in _corpus()]
    prose = [row["llm_solution"] for row in solutions()]
    known = n = 0
    for _ in range(rounds(3_000)):
        parts = []
        for _ in range(rng.randrange(1, 7)):
            kind = rng.random()
            if kind < 0.3:
                parts.append(rng.choice(forms))
            elif kind < 0.5:
                parts.append(rng.choice(FINALS).format(rng.randint(0, 10)))
            elif kind < 0.9:
                parts.append(rng.choice(LINES))
            elif kind < 0.95:
                parts.append(rng.choice(prose)[-rng.randrange(400) :])
            else:
                parts.append(rng.choice(naughty_strings())[:200])
        text = rng.choice(["\n", "\n\n", " ", "\n", ". "]).join(parts)
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            text = (
                text[:at]
                + rng.choice(["", " ", ".", "5", "\n", "*", "’", "not ", "\u00a0", "É"])
                + text[at + 1 :]
            )
        known += _known(reader, text)
        n += 1
    assert known > 0.15 * n


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.one_of(st.sampled_from(LINES), st.text(max_size=12), st.sampled_from(FINALS)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["\n", "\n\n", " ", "; "]),
)
def test_anything(reader: StrictReader, parts: list[str], between: str) -> None:
    _known(reader, between.join(part.replace("{}", "4") for part in parts))
