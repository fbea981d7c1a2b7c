"""SeqBench: text to metrics, and a whole dump."""

from __future__ import annotations

import ast
import itertools
import operator
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from relfast.records import Outcome, Record
from relfast.tasks.options import AllOptions
from relfast.tasks.seqbench import score as room

from .floors import decode
from .measure import against, size
from .workloads_seqbench import mazes, responses, write_seqbench_dump

GOLD = ("completion", "structural_details", "instance_metadata", "complexity_parameters")


def records_of(rows: list[dict[str, Any]], n: int) -> list[Record]:
    """n responses, as many to each maze; every record has its own copy of the row."""
    records = []
    for seed, row in enumerate(rows):
        for response in responses(row, n // len(rows), seed):
            copy = orjson.loads(orjson.dumps(row))
            answer = {key: copy[key] for key in GOLD}
            records.append(
                Record(len(records), row["instance_id"], "SeqBench", answer, response, copy["context"])
            )
    return records


def score(records: list[Record]) -> list[Outcome]:
    options = AllOptions()
    return room.score([(record, room.extract(record, options)) for record in records], options)


def naive_metrics(record: Record, gold: list[str]) -> tuple[bool, float, float]:
    """What a plain script does: literal_eval of the last bracketed text, then lists and Counters."""
    text = record.response
    begin, end = text.rfind("\n["), text.rfind("]")
    try:
        plan = ast.literal_eval(text[begin + 1 : end + 1])
    except (SyntaxError, ValueError):
        return False, 0.0, 0.0
    actions = [action if isinstance(action, str) else ": ".join(action) for action in plan]
    prefix = sum(itertools.takewhile(bool, map(operator.eq, actions, gold)))
    overlap = (Counter(actions) & Counter(gold)).total()
    return actions == gold, prefix / len(gold), overlap / len(gold)


def test_text_to_metrics(benchmark: Any) -> None:
    """Responses with L = 100, mazes cached, one core, against a plain script that runs no maze."""
    n = size(benchmark, smoke=64, quick=4_096, full=16_384)
    rows = mazes(16, 14, 14, 100, 4)
    records = records_of(rows, n)
    golds = {row["instance_id"]: ast.literal_eval(row["completion"]) for row in rows}
    score(records[:1])

    def same(ours: list[Outcome], theirs: list[tuple[bool, float, float]]) -> bool:
        keys = ("exact_match", "progress_ratio", "recall")
        return [tuple(outcome.metrics[key] for key in keys) for outcome in ours] == theirs

    against(
        benchmark,
        lambda: [outcome for at in range(0, n, 256) for outcome in score(records[at : at + 256])],
        lambda: [naive_metrics(record, golds[record.id]) for record in records],
        task="SeqBench, text to metrics, L = 100, maze cached, one core (against a plain script)",
        items=n,
        n_bytes=sum(len(record.response) for record in records),
        name="vs",
        limit=10,
        at_least=True,
        check=same,
    )


def test_dump_against_decode_floor(
    tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    """Responses over 500 instances with structural_details in full (100,000 make 2.4 GB)."""
    n = size(benchmark, smoke=40, quick=4_000, full=100_000)
    path, out = tmp_path / "dump.jsonl", tmp_path / "out.jsonl"
    n_bytes = write_seqbench_dump(path, n, n_instances=min(n, 500))
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", 2),
        lambda: decode(path),
        task=f"relfast score, SeqBench rows with structural_details, {n:,} responses, {min(n, 500)} mazes",
        items=n,
        n_bytes=n_bytes,
        workers=2,
        check=lambda *_: out.read_bytes().count(b'"status":"ok"') > n // 2,
    )
    path.unlink()
