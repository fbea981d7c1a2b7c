"""Real lines of all dialects, mutated: the fast path writes the bytes that the ordinary way writes."""

from __future__ import annotations

import random

import pytest
from mutated_corpus import CHUNK, JOBS, Ways
from mutations import gold_file, mutated_line, real_lines
from relfast_kernels.compiled import native
from seeds import SEED, rounds


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_bytes(gold_file())
    return str(path)


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("kind", JOBS)
def test_mutated_lines_give_the_same_rows(kind: str, gold: str) -> None:
    if native.load("text") is None:
        native.build("text")
    ways = Ways.of(kind, gold)
    rng = random.Random(f"{SEED} mutated {kind}")
    corpus = real_lines(8)
    for _ in range(rounds(4)):
        lines = [mutated_line(rng, corpus) for _ in range(CHUNK)]
        assert ways.rows(lines, fast=True)[:2] == ways.rows(lines, fast=False)[:2]
