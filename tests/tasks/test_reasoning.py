"""Reasoning is cut off whatever family of models wrote it, and whatever a policy makes of its marks."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from contract_records import gold
from corpora import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from relfast_kernels.compiled import native
from relfast_kernels.text.marks import ANY

import relfast
from relfast.engine.job import make_job
from relfast.engine.signature import signature
from relfast.tasks import TASKS, AllOptions
from relfast.tasks.reasoning import MARKS, TURN_ENDS, cut_turn, read_final, read_strictly, strip_reasoning

COT = (("<cot>", "</cot>"),)
KNOWN = [tuple(word.replace(ANY, "opensource") for word in mark) for mark in MARKS]
WORDS = [word for mark in KNOWN for word in mark]
SHAPES = [
    ("{o}a{c}b", "b"),
    ("{o}{c}b", "b"),
    ("a{c}b", "b"),  # chat templates put the opening mark into the prompt
    ("a{o}b", "a"),  # cut short
    ("{o}a{o}b{c}c", "c"),  # nested, closed once
    ("{o}a{o}b{c}c{c}d", "d"),
    ("{o}a{c}b{o}c{c}d", "bd"),
    ("{o}a{c}b{c}", "b"),  # a slip
    ("b{c}", "b"),
    ("b{c} \n", "b"),
    ("b{c}{c}\n", "b"),
    ("{o}a{c}b{c}c", "c"),
    ("{o}a", ""),
    ("{c}", ""),
]


OWN = (("<COT>", "</Cot>", COT), ("<cot>", "</COT>", (("<Cot>", "</CoT>"),)), ("<think>", "</think>", COT))
"""Marks that one names, beside those that are known."""


@pytest.mark.parametrize(("shape", "left"), SHAPES)
def test_the_marks_of_every_family_and_those_that_one_names(shape: str, left: str) -> None:
    known = [(spelled(o), spelled(c), ()) for o, c in KNOWN for spelled in (str, str.upper, str.title)]
    for opening, closing, more in (*known, *OWN):
        assert strip_reasoning(shape.format(o=opening, c=closing), more).strip() == left, opening
    assert strip_reasoning("İ" + shape.format(o="Ä<", c="Ö>"), (("ä<", "ö>"),)).strip("İ \n") == left


def test_a_mark_of_another_family_closes_nothing() -> None:
    assert strip_reasoning("<think>a</thinking>b") == ""
    assert strip_reasoning("<think>a<thinking>b</thinking>c</think>d") == "d"
    assert strip_reasoning("<think>a</cot>b", COT) == ""
    assert strip_reasoning("<cot>a</think>b</cot>c", COT) == "c"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b"),
        ("<|CHANNEL|>analysis<|message|>a<|end|><|start|>assistant<|CHANNEL|>FINAL<|MESSAGE|>b", "b"),
        ("<|channel|>final<|message|>a<|end|><|channel|>final<|message|>b", "b"),
        ("<|channel|>analysis<|message|>b", ""),
        ("<|channel|>commentary<|message|>b<|end|>", ""),
        ("<|channel|>final <|constrain|>json<|message|>b", "b"),
        ("<|channel|>final <|constrain|>json", ""),
        ("analysisaassistantfinalb", "b"),
        ("analysisa assistantfinal b assistantfinalc", "c"),
        ("analysis of a: b", "analysis of a: b"),
        ("analysisWe need the panel. But", ""),
        ("AnalysisWe need it assistantfinal b", "AnalysisWe need it assistantfinal b"),
        ("Analysis of [it] assistantfinal b", "b"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b"),
        ("to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>b<|eot|>", "b"),
        ("Here is my thought process: a", "Here is my thought process: a"),
        ("<think:>a</think:>b", "<think:>a</think:>b"),
    ],
)
def test_channels(text: str, left: str) -> None:
    assert strip_reasoning(text).strip() == left


PARSERS = tomllib.loads((DATA / "reasoning_parsers.toml").read_text("utf-8"))
THINK = ("<think>{a}</think>{b}", "<think>{a}")


@pytest.mark.parametrize("server", ["vllm", "sglang"])
def test_every_parser_of_reasoning_has_its_marks_here(server: str) -> None:
    """``tests/data/reasoning_parsers.toml`` lists the parsers of a release; an installed one may have more."""
    parsers = PARSERS[server]
    written = parsers["marks"] | dict.fromkeys(parsers["think"], THINK) | PARSERS["others"]
    for name, texts in written.items():
        whole, cut_off = (text.format(a="Answer: 3", b="Answer: 4") for text in texts)
        assert read_final("CHOICE", whole, ()) == (4, [], None), name
        assert read_strictly(cut_off) == ("", "only_reasoning"), name
    spec = find_spec(server)
    if spec is not None and spec.origin is not None:
        installed = (Path(spec.origin).parents[1] / parsers["names_in"]).read_text("utf-8")
        known = {*parsers["marks"], *parsers["think"], *parsers["read_from_the_model"], *parsers["words"]}
        assert not {*re.findall(r'^    +"([\w-]+)"[:,]', installed, re.MULTILINE)} - known


@pytest.mark.parametrize("end", TURN_ENDS)
def test_ends_of_turns(end: str) -> None:
    for text in (f"b{end}", f"b {end.upper()}\n", f"b{end}{end}", f"<think>a</think>b{end} "):
        assert strip_reasoning(text).strip() == "b"
    assert strip_reasoning(f"a{end}b") == cut_turn(f"a{end}b") == f"a{end}b"
    for before in ("b", "İΣ", f"b{end}x", "<Yes>"):
        assert cut_turn(f"{before}{end}") == cut_turn(f"{before}{end.upper()} {end}\u2003\n") == before
        assert cut_turn(f"{before} \n") == f"{before} \n"
    assert read_strictly(end) == ("", "only_reasoning")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<THİNK>a</thin\u212a>b", "b"),  # letters that `str.lower` makes ASCII of
        ("a→b ◁ c", "a→b ◁ c"),
        ("C[S@](=O)C </answer> [1] <eos> b", "C[S@](=O)C </answer> [1] <eos> b"),
        ("b</s>\u3000<|im_end|> ", "b"),
        ("a\ud800</think>b\ud800", "b\ud800"),  # no UTF-8
    ],
)
def test_what_only_looks_like_a_mark(text: str, left: str) -> None:
    assert strip_reasoning(text) == left


TEXTS = st.lists(
    st.sampled_from(
        [*WORDS, *TURN_ENDS, "<cot>", "</COT>", "<|channel|>", "<|channel|>final<|message|>", "analysis"]
    )
    | st.sampled_from(
        ["<|start_response|>", "assistantfinal", "<", "[", "a", " ", "\n", "\u3000", "\x85", "é", "İ"]
    ),
    max_size=9,
).map("".join)


@given(TEXTS, st.sampled_from([(), COT]))
@pytest.mark.fuzz
def test_machine_code_cuts_as_its_source_does(text: str, more: Any) -> None:
    assert native.find("text") is not None
    compiled = strip_reasoning(text, more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "find", lambda unit: None)
        assert strip_reasoning(text, more) == compiled


@settings(max_examples=300, deadline=None)
@given(text=st.lists(TEXTS | st.text(max_size=4)).map("".join))
def test_any_text_leaves_a_part_of_itself(text: str) -> None:
    for more in ((), COT):
        left = strip_reasoning(text, more)
        at = 0
        for character in left:
            at = text.index(character, at) + 1
        assert read_strictly(text, more)[1] in (None, "empty", "only_reasoning", "lone_surrogate")


WRITTEN = (
    "<cot>…</cot>", "<cot>...</cot>", "<cot>,</cot>", " <cot> , </cot> ", ["<cot>…</cot>"], [("<cot>", "</cot>")],
    [["<cot>", "</cot>"], "<cot>…</cot>"],
)  # fmt: skip
NONE = ("<cot>", "…</cot>", "<cot>,", "a,A", 5, [5], [("a",)], [("a", 1)], [("a", "b", "c")], b"a,b")


@pytest.mark.parametrize("given", [*WRITTEN, *NONE])
def test_marks_as_they_are_written(given: Any) -> None:
    if given in WRITTEN:
        assert make_job(reasoning=given).options.reasoning == COT
    else:
        with pytest.raises(relfast.UsageError, match="reasoning"):
            make_job(reasoning=given)


DRAFT = "<cot>Answer: {}\n</cot>Hm."
"""The right answer, in a form, as reasoning only, to whom who knows the marks."""


@pytest.mark.parametrize("task", TASKS)
def test_they_reach_every_extractor(task: str) -> None:
    right = gold(task)[0][1]

    def extracted(response: str, **options: Any) -> Any:
        return TASKS[task].scorer.extract(response, AllOptions(**options))

    for options in ({"policy": "strict"}, {"strip_reasoning": True}):
        for text, left in ((DRAFT.format(right), "Hm."), (f"<COT>{right}</COT>{right}", right)):
            assert extracted(text, reasoning=COT, **options) == extracted(left, **options)
        assert extracted(DRAFT.format(right), **options) != extracted("Hm.", **options)
    assert extracted(DRAFT.format(right), reasoning=COT) == extracted(DRAFT.format(right))


def test_the_signature_shows_them_where_they_count() -> None:
    for shown in ({"policy": "strict"}, {"strip_reasoning": True}, {"policy": "reference"}):
        line = signature(make_job(reasoning=COT, **shown), ["REL-A1"])
        assert (" | reasoning <cot>…</cot> | " in line) is (shown != {"policy": "reference"})
