"""Rows of texts that kernels judge are those of the task: one by one, in batches, in any thread, of any text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import pytest
from corpora import solutions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_texts import UNITS, nasty_text
from relfast_kernels.compiled import native
from relfast_kernels.text import form_table
from relfast_kernels.text.responses import MAX_STRICT
from seeds import fresh

from relfast.engine.job import Job
from relfast.engine.judged_texts import MAX_MOLECULES, JudgedTexts, Judges
from relfast.engine.scoring import Scoring
from relfast.records import Record, Score
from relfast.tasks.options import AllOptions

OPTIONS: Final = AllOptions(policy="strict")
VALUES: Final[dict[str, tuple[str, ...]]] = {
    "REL-A1": ("4", "option 7", "(1)", "4 or 6", "9"),
    "REL-B1": ("Yes: 15, 49", "no", "Yes or no", "Yes\n- taxon_1\n- taxon_2"),
    "REL-C1": ("Yes", "no", "<No>", "<Yes> or <No>", "maybe"),
}
GOLD: Final[dict[str, dict[str, Any]]] = {
    "REL-A1": {"target": 3},
    "REL-B1": {"label": "yes", "taxa": ["1", "2"]},
    "REL-C1": {"label": "Yes"},
}
PARTS: Final = [
    "Yes", "No", "<Yes>", "**No**", "yes: taxon_1, taxon_2", "Answer: 4", "Answer 9", "\\boxed{4}", "15 and 49", "taxa: 1-5", "| 3 | 4 |",
    '"homoplasy": true', "not constitutional isomers", "<think>", "</think>", "<think>No</think>", "<|im_end|>", "[THINK]", "analysis",
    "assistantfinal", "</s>", "\n", "\n\n", " ", "\t", "\u2003", "\ud800", "\x00", "é", "ſ", "²", "’", "…", "{", "}", "_", "=", ":", "Wait, ",
    "so", "if", "not", "therefore", "the answer is", "maybe", "~~", "x" * 300,
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if native.load("text") is None:
        native.build("text")


@cache
def _texts(task: str) -> list[str]:
    """Every documented form, behind real solutions too, and texts that take long."""
    rng = random.Random(f"{task} reader")
    forms = [
        text.format(X=value)
        for form in (*form_table.FORMS, form_table.STATED)
        for text in form.examples
        for value in VALUES[task]
    ]
    prose = [row["llm_solution"].rstrip() for row in rng.sample(solutions(), 60)]
    blends = [f"{text}\n\n{rng.choice(forms)}" for text in prose for _ in range(2)]
    return [*forms, *blends, *(nasty_text(name, 300) for name in UNITS), "", " \n", "<think>", "\ud800 Yes"]


def _rows(task: str, texts: Sequence[object], options: AllOptions) -> list[Score]:
    """By extractor and scorer alone."""
    records = [Record(0, None, task, GOLD[task], text) for text in texts]
    return list(Scoring(Job(options=options)).entries(records))


@cache
def _judge(task: str, options: AllOptions) -> JudgedTexts:
    judge = Judges(options, Scoring(Job(options=options)).row_of).of(task)
    assert judge is not None
    return judge


def _check(task: str, texts: Sequence[Any], options: AllOptions = OPTIONS, *, left: int = 0) -> None:
    """All are judged but those with half a character, and so many more."""
    judge, expected = _judge(task, options), _rows(task, texts, options)
    asked = [GOLD[task]] * len(texts)
    for rows in ([judge.kept(GOLD[task], text, None) for text in texts], judge.kept_all(asked, texts, None)):
        assert (
            sum(row is None and "\ud800" not in text for row, text in zip(rows, texts, strict=True)) == left
        )
        for row, other, text in zip(rows, expected, texts, strict=True):
            assert row is None or row == other, text


@pytest.mark.parametrize("task", VALUES)
def test_every_form(task: str) -> None:
    _check(task, _texts(task))


@pytest.mark.parametrize("task", VALUES)
def test_what_is_long(task: str) -> None:
    """Work spaces end where they should: the longest texts that are read are read as short ones of the same end."""
    for end in ("\n\nAnswer: 4", "\n\nYes: taxon_1, taxon_2", "\n\n<No>"):
        texts = ["word " * (MAX_STRICT // 5 - 10) + end, "é" * (MAX_STRICT // 2 - len(end)) + end]
        judge, expected = _judge(task, OPTIONS), _rows(task, ["word " + end, "é" + end], OPTIONS)
        assert judge.kept_all([GOLD[task]] * 2, texts, None) == expected
        assert judge.kept(GOLD[task], "é" * MAX_STRICT + end, None) is None
        assert judge.kept_all([GOLD[task]] * 3, [None, 4, b"Yes"], None) == [None] * 3


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(sorted(VALUES)),
    st.lists(
        st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=8)), max_size=8).map(" ".join),
        min_size=1,
        max_size=9,
    ),
)
def test_anything(task: str, texts: list[str]) -> None:
    _check(task, texts)


def test_marks_of_reasoning_of_ones_own() -> None:
    for task in VALUES:
        for options in (OPTIONS, AllOptions(strip_reasoning=True)):
            marked = options.with_(reasoning=(("<cot>", "</cot>"),))
            _check(task, ["<cot>No. Answer: 3</cot>\nYes. Answer: 4", "Yes<cot>No</cot>"] * 5, marked)
        _check(
            task, ["<cot>Yes"], marked.with_(policy="strict"), left=1
        )  # only reasoning: its scorer says so


def test_many_taxa_in_a_batch() -> None:
    rng = fresh(31)
    texts = [
        "Yes. " + ", ".join(f"taxon_{taxon}" for taxon in rng.sample(range(1, 400), rng.randrange(0, 90)))
        for _ in range(600)
    ]
    _check("REL-B1", texts)
    _check("REL-B1", texts, AllOptions())


@pytest.mark.parametrize("task", ["REL-C2", "REL-C3"])
def test_what_names_many_molecules(task: str) -> None:
    """However long a response is, it is what it names that decides whether it is judged in the host."""
    judge = Judges(OPTIONS, Scoring(Job(options=OPTIONS)).row_of).of(task)
    answer = {"smiles": "CCO"} if task == "REL-C2" else {"missing_smiles": ["CCO"]}
    assert judge is not None
    short, long = "<smiles>CCO</smiles>", f"<smiles>{'C' * MAX_MOLECULES}</smiles>"
    texts = ["Let me see. " * 5_000 + short, long, short]
    rows = judge.kept_all([answer] * 3, texts, None)
    assert rows == [judge.kept(answer, text, None) for text in texts]
    assert rows[1] is None is not rows[0] == rows[2]
