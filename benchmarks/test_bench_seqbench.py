"""SeqBench: text to metrics, generating with two workers, and a whole dump."""

from __future__ import annotations

import ast
import itertools
import operator
import subprocess
import sys
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


def test_generate_command(tmp_path: Path, benchmark: Any) -> None:
    """The whole command on two workers, against one worker."""
    n = size(benchmark, smoke=2, quick=300, full=10_000)

    def run(workers: int) -> bytes:
        output = tmp_path / f"{workers}.jsonl"
        command = [sys.executable, "-c", "from relfast.cli.generate import command; command()"]
        command += ["seqbench", "--rows", "40", "--cols", "40", "-B", "5", "-n", str(n), "--seed", "1"]
        command += ["-o", str(output), "--overwrite", "--workers", str(workers)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with output.open("rb") as file:
            return file.read(1_000_000)

    against(
        benchmark,
        lambda: run(2),
        lambda: run(1),
        task=f"relfast generate seqbench, {n:,} mazes 40 × 40, B = 5, 2 workers against 1",
        items=n,
        workers=2,
        name="vs",
        at_least=True,
        rounds=1,
        check=lambda ours, theirs: bool(ours == theirs),
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
    benchmark.extra_info["peak_mb_of_a_process"] = _peak("score", path, "-o", out, "--overwrite", "-q")
    path.unlink()


def _peak(*arguments: object) -> int:
    """Megabytes of the largest process of a command."""
    code = (
        "import resource, subprocess, sys; subprocess.run([sys.executable, '-m', 'relfast', *sys.argv[1:]]);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    kilobytes = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return round(int(kilobytes) / 1000)
