"""What REL-A's kernels read in a sentence, as plain Python, held against the extractor's own functions.

Compiled, they are held against it by what they make of whole responses (`tests/strict/test_rel_a_kernel.py`).
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from relfast_kernels import layouts
from relfast_kernels.text.choices import saying
from seeds import fresh
from strict import cases_rel_a
from strict.corpus import samples

from relfast.tasks.reasoning import lower
from relfast.tasks.rel_a import kernel_tables, units, vocabulary, words

SIGNS = [
    *'()[]{}$*_`:=,;-–—/|+?!<>~&"', "\\boxed{", "**", "!=", "->", "→", "✓", "✗", "❌", "¬", "≠", "<answer>", "</answer>", "&nbsp;", "\\text{",
    "\\neq", "\\to", "\\therefore", "\\times", "[1, 2, 3]", "1_2", "3*4", "(1-8)", "(1 to 8)", "not only", "<=", "5%", "5°", "4x", "4th", "1st",
    "3.5", "3,4", "3:4", "-5", "+5", "1/2", "5-6", "4 to 6", "10", "100", "0", "04", "'s", "n't", "i'll", "~~", "<del>", "①", "5️⃣", "∴", " b:",
    "是", "答案", "不是", "和", "但", "です", "입니다", "번", "は", "答え", "الإجابة", "ответ", "правильный", "उत्तर", "réponse", "é", "α", "²", "\u00a0",
    "₂", "½", "5²", "³ 5", " a:", "\u2009", "(4)", " (2) ", "（3）", "(5),", "is (4)", "第4个", "第 5 个选项", "第四个", "第三选项", "第",
    "吗", "不对", "选择", "因为", "或", "4是", "番が", "其实", "每行", "の", "以为", "行", "ではなく", " l'option ", " as ",
]  # fmt: skip
COMMON = [
    "missing",
    "correct",
    "final",
    "answer",
    "option",
    "panel",
    "choice",
    "is",
    "the",
    "so",
    "therefore",
    "a",
    "not",
    "no",
    "only",
    "fits",
    "or",
    "and",
]
PIECES = st.one_of(
    st.sampled_from(SIGNS),
    st.sampled_from(COMMON).map(lambda word: f" {word} "),
    st.sampled_from(sorted(words.TOKEN_OF)).map(lambda word: f" {word} "),
    st.sampled_from(
        sorted({t for _, p in vocabulary.PHRASES for t in kernel_tables._texts(p) if "\0" not in t})
    ).map(lambda phrase: f" {phrase} "),
    st.integers(0, 9).map(str),
)


@cache
def _room() -> tuple[Any, Any]:
    return np.zeros(20_000, np.uint8), np.zeros(layouts.PATTERN_WORK, np.int64)


def check(text: str) -> bool:
    """Hold what a sentence says against the extractor; whether it could be read."""
    out, work = _room()
    data = np.frombuffer(text.encode() + bytes(8), np.uint8)
    with np.errstate(over="ignore"):
        bits = int(saying.says(data, 0, len(data) - 8, out, 0, work))
    if bits == saying.NOT_READ:
        return False
    assert bits == kernel_tables.says(text) | layouts.SAYS_KNOWN, text
    return True


def _sentences(response: str) -> list[str]:
    return [unit.text for unit in units.units(lower(response).replace("’", "'"))]


def test_sentences_of_the_corpus() -> None:
    rng = fresh(21)
    corpus = samples("rel_a", cases_rel_a.cases(), random.Random("rel_a choices"), 1)
    texts = sorted({text for sample in corpus for text in _sentences(sample.response)})
    some = rng.sample(texts, 250)
    assert sum(map(check, some)) > 0.95 * len(some)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=9))
def test_sentences_of_anything(pieces: list[str]) -> None:
    check(lower("".join(pieces)).replace("’", "'").strip())
