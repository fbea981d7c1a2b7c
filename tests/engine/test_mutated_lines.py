"""Real lines of all dialects, mutated: the fast path writes the bytes that the ordinary way writes."""

from __future__ import annotations

import random

import pytest
from both_ways import Scored, Ways
from mutated_corpus import CHUNK, JOBS, main, run_chunk, ways_of
from mutations import mutated_line, real_lines
from seeds import SEED, rounds


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("kind", JOBS)
def test_mutated_lines_give_the_same_rows(kind: str, gold: str) -> None:
    ways = ways_of(kind, gold)
    rng = random.Random(f"{SEED} mutated {kind}")
    corpus = real_lines(8)
    for _ in range(rounds(4)):
        lines = [mutated_line(rng, corpus) for _ in range(CHUNK)]
        ways.same(lines)


def test_a_run_of_the_corpus_goes_on_where_another_one_stopped(
    gold: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mutated_corpus.CHUNK", 5)
    monkeypatch.setattr("mutated_corpus.EACH", 8)
    n = 15
    assert main([str(n), "--seed", "a"]) == 0
    whole = capsys.readouterr().out
    assert f"{n} lines of {len(JOBS)} kinds of runs" in whole
    assert "0 differences" in whole
    assert main([str(n), "--seed", "a", "--first", "2"]) == 0
    assert "seed a: 5 lines" in capsys.readouterr().out
    first, again = (run_chunk(3, seed="a", gold=gold) for _ in range(2))
    assert first == again
    assert first != run_chunk(3, seed="b", gold=gold)


def test_a_line_that_differs_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    score = Ways.score

    def broken(ways: Ways, lines: list[bytes], *, fast: bool) -> Scored:
        found = score(ways, lines, fast=fast)
        return found._replace(written=found.written.replace(b'"ok"', b'"OK"')) if fast else found

    monkeypatch.setattr("mutated_corpus.CHUNK", 20)
    monkeypatch.setattr("mutated_corpus.EACH", 8)
    monkeypatch.setattr(Ways, "score", broken)
    assert main(["20", "--seed", "a"]) == 1
    said = capsys.readouterr().out
    assert "chunk 0 (plain): b'" in said
    assert '"status":"OK"' in said
