"""Real lines of all dialects, mutated: the fast path writes the bytes that the ordinary way writes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from mutations import gold_file, mutated_line, real_lines
from relfast_kernels.compiled import native
from seeds import SEED, rounds

from relfast.engine.file_run.block_scoring import BlockScoring
from relfast.engine.io.blocks import Block
from relfast.engine.job import Job
from relfast.engine.rows import read_gold
from relfast.engine.scoring import Scoring
from relfast.engine.text_fast_path import TextFastPath
from relfast.stats.summary import Tally
from relfast.tasks.options import AllOptions

STRICT = AllOptions(policy="strict")
JOBS: dict[str, dict[str, Any]] = {
    "plain": {},
    "strict": {"options": STRICT},
    "details": {"details": True},
    "strict with details": {"options": STRICT, "details": True},
    "reasoning": {"options": AllOptions(strip_reasoning=True)},
    "marks": {"options": STRICT.with_(reasoning=(("<cot>", "</cot>"),))},
    "joined": {"data": True},
    "strict, joined": {"data": True, "options": STRICT},
    "mapped": {"field_map": {"id": "key", "task": "kind", "answer": "gold.answer", "response": "outputs_of.*.text"}},
    "mapped, strict": {"field_map": {"response": "said", "answer": "gold.answer"}, "options": STRICT},
    "seqbench": {"dialect": "seqbench"},
}  # fmt: skip


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_bytes(gold_file())
    return str(path)


def written(lines: list[bytes], scoring: Scoring, fast_path: TextFastPath | None) -> tuple[bytes, Tally]:
    """Rows and what is counted of them, by the fast path or the ordinary way."""
    data = b"\n".join(lines)
    blocks = BlockScoring(scoring)
    blocks._fast_path = fast_path
    block = Block(0, 0, 0, len(lines), 0, len(data), data=data, filter="none")
    tally = Tally()
    rows = []
    for segment in blocks.segments(block):
        rows.append(segment.rows)
        tally.merge(segment.tally)
    return b"".join(rows), tally


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("kind", JOBS)
def test_mutated_lines_give_the_same_rows(kind: str, gold: str, tmp_path: Path) -> None:
    if native.load("text") is None:
        native.build("text")
    options = dict(JOBS[kind])
    job = Job(**{**options, "data": (gold,) if options.pop("data", False) else ()})
    scoring = Scoring(job, read_gold(job.data))
    opened = TextFastPath.open(scoring)
    assert opened is not None
    rng = random.Random(f"{SEED} mutated {kind}")
    corpus = real_lines(8)
    for _ in range(rounds(4)):
        lines = [mutated_line(rng, corpus) for _ in range(400)]
        assert written(lines, scoring, opened) == written(lines, scoring, None)
