"""Reasoning cut by the kernel: as `relfast.tasks.reasoning` cuts it, wherever the kernel is sure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from relfast_kernels.text.reasoning import ENDS, MAY_FOLLOW, PAIRS, UNSURE, cut_reasoning, is_mark

from relfast.tasks.reasoning import MARKS, TURN_ENDS, strip_reasoning

_BEFORE = b"Q<think>"
"""What stands before the text in its buffer, and is not of it."""

_CHANNELS = (
    *("<|channel|>", "<|message|>", "<|channel|>final<|message|>", "<|channel|>final <|constrain|>"),
    *("<|start|>assistant", "<|start_response|>", "analysis", "Analysis", "assistantfinal"),
)
_NAMES = [*(name for mark in MARKS for name in mark), *TURN_ENDS, *_CHANNELS]
_PROSE = [
    "a",
    " ",
    "\n",
    "\u3000",
    "\xa0",
    "\x85",
    "\x1c",
    "é",
    "中",
    "<",
    "[",
    ">",
    "]",
    "</",
    "Answer 4.",
    "1 < 2",
]


def _cut(text: str) -> str | None:
    """What is left of a text; None where the kernel is not sure."""
    data = _BEFORE + text.encode()
    out = np.zeros(len(data) + 300, np.uint8)
    buffer = np.frombuffer(data + b"<" * 70, np.uint8)
    start, end, copied = cut_reasoning(buffer, len(_BEFORE), len(data), out, 5)
    return None if start == UNSURE else bytes((out if copied else buffer)[start:end]).decode()


def test_the_kernel_knows_the_same_marks() -> None:
    assert TURN_ENDS == ENDS
    assert [tuple(mark) for mark in MARKS if "◁" not in mark.open] == list(PAIRS)


def test_every_mark_is_seen_by_its_beginning() -> None:
    for name in (*(name for pair in PAIRS for name in pair), *ENDS, "<|channel|>", "<|start_response|>"):
        for each in (name, name.upper()):
            text = np.frombuffer(each.encode(), np.uint8)
            assert MAY_FOLLOW[text[1]], each
            assert is_mark(text, 0, len(text)), each


@given(st.lists(st.sampled_from(_NAMES) | st.sampled_from(_PROSE), max_size=9).map("".join))
@example("Analysis of [it] assistantfinal Answer 3")
@example("Analysis of it assistantfinal Answer 3")
@example("</s>\u3000<|im_end|> ")
@example("analysisSo it is <think>")
@example("AnalysisSo it is 3 [think]")
@pytest.mark.fuzz
def test_it_cuts_as_the_ordinary_way_does(text: str) -> None:
    for each in (text, text.upper().replace("SS", "ss")):
        assert _cut(each) in (None, strip_reasoning(each)), each


@pytest.mark.parametrize(
    "text",
    [
        *(f"a {end}" for end in TURN_ENDS),
        *(f"{opens}one{closes}Answer 4</s>\n" for opens, closes in PAIRS),
        *(f"one{closes}Answer 4" for _, closes in PAIRS),
        "<think>one</think>四<|im_end|>\n<|endoftext|>",
        "<|channel|>analysis<|message|>So 3.<|end|><|start|>assistant<|channel|>final<|message|>Answer 4<|return|>",
        "<|channel|>analysis<|message|>So 3.",
        "<|channel|>final <|constrain|>json<|message|>Answer 4",
        "analysisSo it is 3.assistantfinalAnswer 4",
        "analysisWe need the panel. Row 1 suggests Answer 4. But",
        "analysis of it: Answer 4",
        "analysis",
        "<|channel>thought\nOne.\n<channel|>Answer 4<turn|>",
        "<|channel>thought\nRow one suggests Answer 4",
        "<|channel>thought\n<channel|>Answer 4",
        "C[S@](=O)C </answer> [1] <eos> is mentioned",
    ],
)
def test_what_models_write_it_is_sure_of(text: str) -> None:
    assert _cut(text) == strip_reasoning(text)
