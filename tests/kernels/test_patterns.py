"""The matcher of patterns finds what `re` finds, in the patterns that the extractors have."""

from __future__ import annotations

import random
import re

import numpy as np
import pattern_sources
import pytest
from corpora import solutions
from relfast_kernels.text.characters import is_tame
from relfast_kernels.text.known_words import WORDS
from relfast_kernels.text.patterns import compile, machine, symbols
from relfast_kernels.text.patterns.compile import Programs
from relfast_kernels.text.patterns.sources import DELETED, REPLACED, SOURCES
from seeds import fresh, rounds

from relfast.tasks.reasoning import lower
from relfast.tasks.rel_a.kernel_tables import words_with_flags
from relfast.tasks.rel_b.score import LEAST_PRECISE

MARKS = [
    "\n", " ", ", ", ". ", "?", "!", ": ", "<", ">", "</b>", "*", "_", "(", ")", "[", "]", "{", "}", "-", "–", '"', "`", "~~", "<del>",
    "</del>", "<!--", "-->", "\\boxed", "%", "0.93", "1. ", "| ", "\t", "15, 49", "taxon_15", "/", "λ", "…", "\u2003", "=", "→", "#", "’",
    "12-14", "yes", "no", "É", "²", "ſ", "\u00a0", "“", "•",
]  # fmt: skip


def test_patterns_are_the_extractors() -> None:
    assert pattern_sources.PATH.read_text("utf-8") == pattern_sources.text()
    assert pattern_sources.sources() == SOURCES
    assert pattern_sources.WORDS_PATH.read_text("utf-8") == pattern_sources.words_text()
    assert pattern_sources.CHOICES_PATH.read_text("utf-8") == pattern_sources.choices_text()
    assert {word: flags for flags, words in WORDS.items() for word in words.split()} == words_with_flags()


def test_symbols_are_what_python_says_of_characters() -> None:
    replaced = set(DELETED) | set(REPLACED)
    for point in [
        *range(0x250),
        *range(0x2000, 0x2100),
        *range(0x3000, 0x3100),
        *range(0x4E00, 0x4E40),
        0x1F600,
    ]:
        character = chr(point)
        data = np.frombuffer(character.encode(), np.uint8)
        out = np.zeros(8, np.uint8)
        end = symbols.to_symbols(data, 0, len(data), out, 0)
        if end < 0:
            continue
        kind = int(symbols.KIND[out[0]])
        small = lower(character)
        assert end == len(small) == 1
        assert bool(kind & symbols.IS_WORD) == bool(re.match(r"\w", small)), character
        assert bool(kind & symbols.IS_BLANK) == bool(re.match(r"\s", small)) == small.isspace(), character
        assert bool(kind & symbols.IS_LETTER) == small.isalpha(), character
        assert bool(kind & symbols.IS_ALNUM) == small.isalnum(), character
        if small in symbols.SYMBOL_OF or small in replaced:
            assert out[0] == symbols.SYMBOL_OF[small], character


def _text(words: list[str], prose: list[str], rng: random.Random) -> str:
    if rng.random() < 0.2:
        text = rng.choice(prose)
        at = rng.randrange(len(text))
        return text[at : at + rng.randrange(5, 200)]
    parts = (
        rng.choice(words) if words and rng.random() < 0.7 else rng.choice(MARKS)
        for _ in range(rng.randrange(1, 14))
    )
    return "".join(part + (" " if rng.random() < 0.6 else "") for part in parts)


@pytest.mark.slow
@pytest.mark.fuzz
def test_the_machine_finds_what_re_finds() -> None:
    rng = fresh(13)
    prose = [row["llm_solution"] for row in solutions()[:300]]
    work = np.zeros(machine.WORK, np.int64)
    found_any = 0
    for name, (source, flags) in SOURCES.items():
        pattern, number = re.compile(source, flags), machine.number_of(name)
        words = re.findall(r"[a-zà-ÿа-я一-鿿'’]+", source)
        for _ in range(rounds(400)):
            text = lower(_text(words, prose, rng))
            data = np.frombuffer(text.encode(), np.uint8)
            out = np.zeros(len(data) + 8, np.uint8)
            if not is_tame(data, 0, len(data)):
                continue
            end = symbols.to_symbols(data, 0, len(data), out, 0)
            if end < 0:
                continue
            start = rng.choice((0, rng.randrange(len(text) + 1)))
            match = pattern.search(text, start)
            found = machine.search(number, out, 0, start, end, work)
            assert found == (-1 if match is None else match.start()), (name, text)
            if match is not None:
                found_any += 1
                spans = [tuple(map(int, work[2 * k : 2 * k + 2])) for k in range(pattern.groups + 1)]
                assert spans == [match.span(k) for k in range(pattern.groups + 1)], (name, text)
            match = pattern.match(text, start)
            assert machine.match(number, out, 0, start, end, work) == (-1 if match is None else match.end())
            match = pattern.fullmatch(text)
            assert machine.fullmatch(number, out, 0, end, work) == (-1 if match is None else match.end())
    assert found_any > 1_000


@pytest.mark.parametrize("source", [r"(a)\1", r"(?i:a)b", r"(?:a*)*", "[a-я]"])
def test_what_the_machine_does_not_know_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Programs().add("x", source, 0)


def test_more_patterns_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs()
    programs.add("some", "(?:abc|d[ef])+", 0)
    monkeypatch.setattr(compile, "MOST", len(programs.code) // compile.WIDTH + 1)
    with pytest.raises(ValueError, match=r"with more the patterns have \d+ instructions, \d+ is the most"):
        programs.add("more", "x(?:yz)*", 0)


def test_it_gives_up_rather_than_runs_on() -> None:
    number = machine.number_of("STRUCK")
    work = np.zeros(machine.WORK, np.int64)
    work[machine.HAS_GIVEN_UP] = 1
    text = np.frombuffer(b"~~yes~~", np.uint8)
    assert machine.search(number, text, 0, 0, len(text), work) == machine.GAVE_UP
    work[machine.HAS_GIVEN_UP] = 0
    assert machine.search(number, text, 0, 0, len(text), work) == 0


def test_how_precise_a_claim_must_be_is_said_once() -> None:
    from relfast_kernels.text import rel_b_strict

    from relfast.tasks.rel_b.score import proven

    assert rel_b_strict.LEAST_PRECISE == LEAST_PRECISE
    for n_gold in range(1, 24):
        for n_pred in range(40):
            for common in range(min(n_gold, n_pred) + 1):
                assert rel_b_strict.proven(common, n_pred, n_gold) == proven(common, n_pred, n_gold)
