"""Texts that kernels judge at hand: rows are those of the task, one by one, in batches, in any thread, of any text, for
gold of any form."""

from __future__ import annotations

import json
import random
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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

import relfast
from relfast.engine import judged_texts
from relfast.engine.job import Job
from relfast.engine.judged_texts import MAX_MOLECULES, JudgedTexts, Judges
from relfast.engine.online.pending import key_of
from relfast.engine.scoring import Scoring
from relfast.json_text import plain
from relfast.records import Extracted, Record, Score
from relfast.rewards.queries import response_in, sample_of
from relfast.tasks.options import AllOptions

FASTA: Final = ">taxon_1\nACDEFGHIKL\n>taxon_2\nACDEFGHIKL\n>taxon_10\nMCDEFGHIKV\n"


class Named(str):
    """A text of another type."""


GOLD: Final[dict[str, list[Any]]] = {
    "REL-A1": [
        {"target": 3}, {"target": 0}, {"target": True}, {"target": 1}, {"target": 1.0}, {"target": 9},
        {"target": None}, {"target": "3"}, {}, OrderedDict(target=3), None, [3], '{"target": 3}', "{",
    ],
    "REL-B1": [
        {"label": "yes", "taxa": ["1", "2"]}, {"label": "YES", "taxa": [1, 2]}, {"label": "yes", "taxa": [0, 1]},
        {"label": "yes", "taxa": []}, {"label": "yes"}, {"label": "no", "taxa": []}, {"label": "No"},
        {"label": "no", "taxa": None}, {"label": "no", "taxa": ["1"]}, {"label": "yes", "taxa": "12"},
        {"label": "yes", "taxa": [True, 2.0]}, {"label": "yes", "taxa": [0, 1], "taxa_as": "name"},
        {"label": Named("yes"), "taxa": ["1"]}, {"label": " yes", "taxa": ["1"]}, {"label": 1}, {}, None,
        '{"label": "yes", "taxa": ["1", "2"]}',
    ],
    "REL-C1": [
        {"label": "Yes"}, {"label": "no"}, {"label": " YES "}, {"label": Named("No")}, {"label": "maybe"},
        {"label": None}, {"label": True}, {}, OrderedDict(label="Yes"), None, '{"label": "No"}',
    ],
}  # fmt: skip
RESPONSES: Final[list[Any]] = [
    "Answer: 4", "The answer is 2.", "Answer: 9", "yes: taxon_1, taxon_2", "Yes", "No", "<Yes>", "<No>", "Yes, 1 and 2",
    "no: taxon_1", "", " \n", "I cannot say.", "<think>Yes</think>", "<think>No</think>\nYes", "\ud800 Yes", None, 7,
    [{"role": "assistant", "content": "Answer: 4"}], Named("No"),
]  # fmt: skip
LONG: Final = "x" * 70_000 + " Answer: 4"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if native.load("text") is None:
        native.build("text")


@pytest.fixture(scope="module")
def scorer() -> Iterator[relfast.Scorer]:
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        yield scorer


def _alone(scorer: relfast.Scorer, at: int, task: str, answer: Any, response: Any, question: Any) -> Score:
    """What the task itself says of a record: its extractor, its scorer, and a row of that."""
    record = scorer._record(at, task, answer, response, question)
    assert isinstance(record, Record)
    (score,) = Scoring(scorer.job).entries([record])
    return score


def _rows(task: str) -> list[tuple[str, Any, Any, Any]]:
    """Every response with every gold; the long one, which plain code reads slowly, with the first."""
    return [
        (task, answer, response, question)
        for at, answer in enumerate(GOLD[task])
        for response in (RESPONSES if at else [*RESPONSES, LONG])
        for question in ((FASTA, None) if task == "REL-B1" else (None,))
    ]


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("task", GOLD)
def test_rows_are_those_of_the_task(task: str, details: bool) -> None:
    """Each twice: scored, and remembered."""
    with relfast.Scorer(policy="strict", workers=0, details=details) as scorer:
        rows = _rows(task)
        expected = [_alone(scorer, 0, *row) for row in rows]
        for _ in range(2):
            found = [scorer.score_one(*row) for row in rows]
            assert found == expected
            # JSON tells 1, 1.0 and true apart
            assert list(map(repr, found)) == list(map(repr, expected))
        judges = scorer._judges
        assert (judges is None) is details
        assert judges is None or task in judges.found
        assert len({score.status for score in expected}) == 3
        assert {score.correct for score in expected} == {True, False, None}


def test_what_a_caller_does_to_a_row_is_its_own(scorer: relfast.Scorer) -> None:
    row = ("REL-C1", {"label": "Yes"}, "<Yes>", None)
    for _ in range(3):
        score = scorer.score_one(*row)
        assert (score.correct, score.metrics, score.pred) == (True, {"reason": None}, "Yes")
        score.metrics["reason"] = "mine"
        score.correct = None
    with relfast.Scorer(policy="strict", details=True) as detailed:
        for _ in range(3):
            taxa = detailed.score_one("REL-B1", {"label": "yes", "taxa": ["1"]}, "No", FASTA).metrics[
                "pred_taxa"
            ]
            assert taxa == []
            taxa.append("1")


def test_64_threads_get_their_own_rows(scorer: relfast.Scorer) -> None:
    rows = [row for task in GOLD for row in _rows(task)]
    expected = [scorer.score_one(*row) for row in rows]
    wrong: list[Any] = []
    before = scorer.stats()

    def call(seed: int) -> None:
        rng = random.Random(seed)
        some = [rng.randrange(len(rows)) for _ in range(40)]
        for at in some:
            if scorer.score_one(*rows[at]) != expected[at]:
                wrong.append(rows[at])
        tasks, answers, responses, questions = zip(*(rows[at] for at in some), strict=True)
        batch = scorer.scores(list(tasks), list(answers), list(responses), questions=list(questions))
        for place, (at, score) in enumerate(zip(some, batch, strict=True)):
            score.index = 0
            if score != expected[at]:
                wrong.append((place, rows[at]))

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(call, range(64)))
    assert not wrong
    after = scorer.stats()
    names = ("ok", "no_answer", "invalid_record")
    assert sum(after[name] - before[name] for name in names) == 64 * 80


def test_gold_that_is_changed_in_place_is_read_anew(scorer: relfast.Scorer) -> None:
    gold: dict[str, Any] = {"label": "yes", "taxa": [1, 2]}
    right = "Yes: taxon_1, taxon_2"
    question = ">1\nAC\n>2\nAC\n>3\nAC\n"
    for _ in range(2):
        assert scorer.reward("REL-B1", gold, right, question) == 1.0
    gold["taxa"][0] = True  # equal to 1, and no name
    assert scorer.score_one("REL-B1", gold, right, question) == _alone(
        scorer, 0, "REL-B1", gold, right, question
    )
    gold["taxa"][0] = 3
    assert scorer.reward("REL-B1", gold, right, question) == 0.0
    assert scorer.reward("REL-B1", gold, "Yes: 2 and 3", question) == 1.0
    gold["taxa"] = [1, 2]
    gold["label"] = "no"
    assert scorer.reward("REL-B1", gold, right, question) == 0.0
    gold["label"] = "yes"
    # places in the sorted names of another question
    assert scorer.reward("REL-B1", gold, right, question.replace(">3", ">0").replace(">1", ">7")) == 0.0


def test_the_same_question_in_another_object() -> None:
    gold = {"label": "yes", "taxa": [0, 1]}
    shown = "".join(f">taxon_{n}\n{sequence}\n" for n, sequence in ((5, "ACGTACGTAA"), (7, "ACGTACGTCC")))
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        for question in (shown, f"{shown} ", None, shown[:-1] + "\n"):
            row = scorer.score_one("REL-B1", gold, "Yes: taxon_5, taxon_7", question)
            assert row == _alone(scorer, 0, "REL-B1", gold, "Yes: taxon_5, taxon_7", question)
            assert row.reward == (0.0 if question is None else 1.0)


def test_a_kernel_that_fails_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(judged_texts, "_told_of", set())
    gold = {"label": "yes", "taxa": ["1", "2"]}
    responses = [response for response in RESPONSES if type(response) is str] * 2
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        scorer.score_one("REL-B1", gold, "No")
        judges = scorer._judges
        assert judges is not None
        for name in ("_judge", "_judge_long"):
            monkeypatch.setattr(judges.found["REL-B1"]._judge, name, lambda *given: 1)
        rows = scorer.scores("REL-B1", [gold] * len(responses), responses)
        assert rows == [_alone(scorer, at, "REL-B1", gold, text, None) for at, text in enumerate(responses)]
        assert [scorer.reward("REL-B1", gold, text) for text in responses] == [row.reward for row in rows]
        assert {row.status for row in rows} == {"ok", "no_answer"}
    (told,) = caplog.messages
    assert "the kernel that reads REL-B1 failed (RuntimeError" in told


def test_keys_of_equal_gold_only() -> None:
    golds: list[Any] = [
        {"smiles": "C"}, {"smiles": None}, {"smiles": float("nan")}, {"smiles": 1}, {"smiles": 1.0}, {"smiles": True},
        {"smiles": "1"}, {"smiles": "null"}, {"smiles": 2**70}, {"smiles": "C" * 5_000}, {"smiles": "C" * 5_000 + "N"},
        {"smiles": [None]}, {"smiles": [float("nan")]}, None, [], {}, "\ud800",
    ]  # fmt: skip
    said: Sequence[Extracted[Any]] = [
        Extracted("C"), Extracted(None, found=False), Extracted(None, found=False, reason="empty"), Extracted("C" * 300),
        Extracted(["C"]), Extracted([]), Extracted(["C", "C"]), Extracted("C", found=False), Extracted(None, error="C"),
    ]  # fmt: skip

    def key(task: str, gold: Any, extracted: Extracted[Any], question: str | None) -> Any:
        return key_of(task, *plain(gold), extracted, question)

    every = [
        (task, gold, extracted, question)
        for task in ("REL-C2", "REL-C3")
        for gold in golds
        for extracted in said
        for question in (None, "q", "Q")
    ]
    assert len({key(*one) for one in every}) == len(every)
    copied = json.loads(json.dumps(golds))
    for (task, _, extracted, question), gold in zip(every[:: len(said) * 3], copied * 2, strict=True):
        assert key(task, gold, extracted, question) in {key(*one) for one in every}


@pytest.mark.parametrize("wide", ["", "é", "ß…", "≤", "𝔸"])
@pytest.mark.parametrize("narrow", ["", "ü", "∑"])
def test_a_prompt_is_found_in_a_query_of_any_width(narrow: str, wide: str) -> None:
    prompt = f"What comes next{narrow}? " * 9
    for begun in (prompt, prompt[:-1], prompt.replace("next", "neXt"), f"{prompt[:20]}{wide}{prompt[20:]}"):
        query = f"{begun}It is{wide}. Answer: 4"
        row = sample_of(query, prompt, '{"target": 3}')
        expected = response_in(query, prompt)
        assert row == (None if expected is None else (None, {"target": 3}, expected, prompt))
        assert not query.startswith(prompt) or expected == f"It is{wide}. Answer: 4"


# any text and every form, by the judge itself


OPTIONS: Final = AllOptions(policy="strict")
VALUES: Final[dict[str, tuple[str, ...]]] = {
    "REL-A1": ("4", "option 7", "(1)", "4 or 6", "9"),
    "REL-B1": ("Yes: 15, 49", "no", "Yes or no", "Yes\n- taxon_1\n- taxon_2"),
    "REL-C1": ("Yes", "no", "<No>", "<Yes> or <No>", "maybe"),
}
ONE_GOLD: Final[dict[str, dict[str, Any]]] = {
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


def _by_task(task: str, texts: Sequence[object], options: AllOptions) -> list[Score]:
    """By extractor and scorer alone."""
    records = [Record(0, None, task, ONE_GOLD[task], text) for text in texts]
    return list(Scoring(Job(options=options)).entries(records))


@cache
def _judge(task: str, options: AllOptions) -> JudgedTexts:
    judge = Judges(options, Scoring(Job(options=options)).row_of).of(task)
    assert judge is not None
    return judge


def _check(task: str, texts: Sequence[Any], options: AllOptions = OPTIONS, *, left: int = 0) -> None:
    """All are judged but those with half a character, and so many more."""
    judge, expected = _judge(task, options), _by_task(task, texts, options)
    asked = [ONE_GOLD[task]] * len(texts)
    for rows in (
        [judge.kept(ONE_GOLD[task], text, None) for text in texts],
        judge.kept_all(asked, texts, None),
    ):
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
        judge, expected = _judge(task, OPTIONS), _by_task(task, ["word " + end, "é" + end], OPTIONS)
        assert judge.kept_all([ONE_GOLD[task]] * 2, texts, None) == expected
        assert judge.kept(ONE_GOLD[task], "é" * MAX_STRICT + end, None) is None
        assert judge.kept_all([ONE_GOLD[task]] * 3, [None, 4, b"Yes"], None) == [None] * 3


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
