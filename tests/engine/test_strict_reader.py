"""The kernel that reads rewards' responses says what the extractor says: one by one, in batches, in any thread."""

from __future__ import annotations

import random
import threading
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
from seeds import fresh

import relfast
from relfast.engine import strict_reader
from relfast.engine.strict_reader import StrictReader
from relfast.records import Extracted, Record
from relfast.tasks import TASKS
from relfast.tasks.options import AllOptions
from relfast.tasks.reasoning import MAX_STRICT_CHARS

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
def _reader(reasoning: tuple[tuple[str, str], ...] = ()) -> StrictReader:
    return StrictReader(OPTIONS.with_(reasoning=reasoning))


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


def _said(task: str, text: object, options: AllOptions = OPTIONS) -> Extracted[Any]:
    return TASKS[task].scorer.extract(Record(0, None, task, None, text), options)


def _check(task: str, texts: Sequence[object], found: Sequence[Extracted[Any] | None]) -> None:
    """Machine code says what the same source says as plain Python, of every text (UTF-8)."""
    assert len(found) == len(texts)
    for text, said in zip(texts, found, strict=True):
        if said is None:
            assert not isinstance(text, str) or "\ud800" in text
        else:
            assert said == _said(task, text), text


@pytest.mark.parametrize("task", VALUES)
def test_one_by_one_and_all_at_once(task: str) -> None:
    texts, reader = _texts(task), _reader()
    _check(task, texts, [reader.read(TASKS[task], text) for text in texts])
    _check(task, texts, reader.read_all(TASKS[task], texts))


@pytest.mark.parametrize("task", VALUES)
def test_what_is_long_and_what_is_no_text(task: str) -> None:
    """Work spaces end where they should: the longest texts that are read are read as short ones of the same end."""
    most, reader = MAX_STRICT_CHARS, _reader()
    texts: list[object] = [None, 4, b"Yes", ["Yes"], "No"]
    said = [_said(task, text) for text in texts]
    for end in ("\n\nAnswer: 4", "\n\nYes: taxon_1, taxon_2", "\n\n<No>"):
        texts += ["word " * (most // 5 - 10) + end, "é" * (most - len(end)) + end, "é" * most + end]
        said += [_said(task, "word " + end), _said(task, "é" + end), _said(task, "é" * most + end)]
    for found in (reader.read_all(TASKS[task], texts), [reader.read(TASKS[task], text) for text in texts]):
        # what the kernel leaves to others is no text
        assert [one or expected for one, expected in zip(found, said, strict=True)] == said
        assert None not in found[5:]


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
    reader = _reader()
    _check(task, texts, [reader.read(TASKS[task], text) for text in texts])
    _check(task, texts, reader.read_all(TASKS[task], texts))


def test_marks_of_reasoning_of_ones_own() -> None:
    marks = (("<cot>", "</cot>"),)
    options = OPTIONS.with_(reasoning=marks)
    reader = _reader(marks)
    for task in VALUES:
        for text in ("<cot>No. Answer: 3</cot>\nYes. Answer: 4", "<cot>Yes", "Yes<cot>No</cot>"):
            for said in (reader.read(TASKS[task], text), *reader.read_all(TASKS[task], [text] * 5)):
                assert said is None or said == _said(task, text, options)


def test_many_taxa_in_a_batch() -> None:
    """Those that do not fit into the batch's room are read by themselves."""
    rng = fresh(31)
    texts = [
        "Yes. " + ", ".join(f"taxon_{taxon}" for taxon in rng.sample(range(1, 400), rng.randrange(0, 90)))
        for _ in range(600)
    ]
    _check("REL-B1", texts, _reader().read_all(TASKS["REL-B1"], texts))


@pytest.mark.slow
def test_64_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single calls and batches, with and without the interpreter's lock."""
    monkeypatch.setattr(strict_reader, "LONG_BYTES", 20_000)
    scorer = relfast.Scorer(policy="strict", workers=0)
    rows = [(task, GOLD[task], text) for task in VALUES for text in _texts(task)[::3]]
    expected = [_outcome(task, answer, text) for task, answer, text in rows]
    wrong: list[Any] = []

    def call(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(3):
            chosen = rng.sample(range(len(rows)), 60)
            if seed % 2:
                scores = [scorer.score_one(*rows[at]) for at in chosen]
            else:
                columns = zip(*(rows[at] for at in chosen), strict=True)
                scores = scorer.scores(*map(list, columns))
            for at, score in zip(chosen, scores, strict=True):
                if (score.correct, score.reward, score.pred, score.metrics.get("reason")) != expected[at]:
                    wrong.append((rows[at], score))

    threads = [threading.Thread(target=call, args=(seed,), daemon=True) for seed in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
        assert not thread.is_alive(), "deadlock"
    assert not wrong
    assert scorer.stats()["ok"] > 0


def _outcome(task: str, answer: dict[str, Any], text: str) -> tuple[Any, ...]:
    """By the extractor alone."""
    (outcome,) = TASKS[task].scorer.score([(Record(0, None, task, answer, text), _said(task, text))], OPTIONS)
    return outcome.correct, float(outcome.correct), TASKS[task].say(outcome), outcome.metrics["reason"]
