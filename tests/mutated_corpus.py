"""Both ways of reading lines held against each other on a corpus of any size: `make fuzz-lines LINES=1000000`.

    python tests/mutated_corpus.py LINES [--seed SEED] [--processes N]

Real lines of all tasks and dialects, mutated, in chunks. Each chunk is scored in one
process by the fast path and the ordinary way, with the settings of one of `JOBS` (both policies, all options that
change how lines are read, gold joined or not): rows and what is counted of them must be the same bytes. A chunk
depends on the seed and its number only, so that what is found can be had again. What differs is narrowed down to its
lines and printed; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import secrets
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from both_ways import Ways
from mutations import failed_line, failed_lines, gold_file, mutated_line, real_lines

from relfast.engine.job import Job
from relfast.records import STATUSES
from relfast.tasks import AllOptions

STRICT: Final = AllOptions(policy="strict")
JOBS: Final[dict[str, dict[str, Any]]] = {
    "plain": {},
    "strict": {"options": STRICT},
    "details": {"details": True},
    "strict with details": {"options": STRICT, "details": True},
    "reasoning": {"options": AllOptions(strip_reasoning=True)},
    "reasoning with details": {"options": AllOptions(strip_reasoning=True), "details": True, "rewards": {"REL-B1": "f1"}},
    "rewards": {"rewards": {"REL-C2": "overlap_metric", "REL-C3": "correct", "SeqBench": "logical_depth"}},
    "marks": {"options": replace(STRICT, reasoning=(("<cot>", "</cot>"),))},
    "joined": {"data": True},
    "strict, joined": {"data": True, "options": STRICT},
    "joined with details": {"data": True, "details": True},
    "mapped": {"field_map": {"id": "key", "task": "kind", "answer": "gold.answer", "response": "outputs_of.*.text"}, "mark": b'"outputs_of"'},
    "mapped, strict": {"field_map": {"response": "said", "answer": "gold.answer"}, "options": STRICT, "mark": b'"said"'},
    "seqbench": {"dialect": "seqbench", "mark": b'"completion"'},
    "seqbench, strict": {"dialect": "seqbench", "options": STRICT, "details": True, "mark": b'"completion"'},
    "native": {"dialect": "native"},
    "lm-eval": {"dialect": "lm-eval", "options": STRICT, "mark": b'"resps"'},
    "batch": {"dialect": "openai-batch", "data": True, "options": STRICT, "mark": b'"custom_id"'},
    "verl": {"dialect": "verl", "options": STRICT, "mark": b'"gts"'},
    "vllm": {"dialect": "vllm", "options": STRICT, "mark": b'"outputs"'},
    "vllm, joined": {"dialect": "vllm", "data": True, "mark": b'"outputs"'},
    "task": {"task": "REL-C1"},
    "tools": {},
    "tools, strict": {"options": STRICT},
    "tools, joined": {"data": True},
    "tools, strict, joined, details": {"data": True, "options": STRICT, "details": True},
    "inspect": {"dialect": "inspect", "data": True, "mark": b'"epoch"'},
    "verifiers": {"dialect": "verifiers", "mark": b'"ok"'},
    "trl": {"dialect": "trl", "data": True, "mark": b'"advantage"'},
    "lighteval": {"dialect": "lighteval", "options": STRICT, "mark": b'"model_response"'},
    "helm": {"dialect": "helm", "data": True, "mark": b'"instance"'},
    "opencompass": {"dialect": "opencompass", "mark": b'"origin_prompt"'},
    "anthropic": {"dialect": "anthropic-batch", "data": True, "mark": b'"result"'},
    "gemini": {"dialect": "gemini-batch", "data": True, "mark": b'"candidates"'},
    "mapped chats": {"field_map": {"response": "messages"}, "options": STRICT, "mark": b'"messages"'},
    "mapped choices": {"field_map": {"id": "meta.uid", "task": "meta.kind", "answer": "gold", "response": "choices.0.message.content"}, "mark": b'"meta"'},
    "mapped samples": {"field_map": {"id": "meta.uid", "response": "choices.*.message.content"}, "data": True, "mark": b'"meta"'},
    "mapped vllm": {"field_map": {"id": "request_id", "task": "task", "response": "outputs.*.text"}, "data": True, "mark": b'"outputs"'},
    "mapped verl": {"field_map": {"id": "uid", "answer": "gts"}, "options": STRICT, "mark": b'"gts"'},
    "mapped rollouts": {"field_map": {"task": "data_source", "question": "input"}, "details": True, "mark": b'"gts"'},
    "mapped batch": {"field_map": {"id": "custom_id", "response": "response.body.choices.*.message.content"}, "data": True, "mark": b'"batch_req_'},
    "mapped lm-eval": {"field_map": {"id": "doc_id", "response": "filtered_resps"}, "mark": b'"resps"'},
    "mapped inspect": {"field_map": {"task": "metadata.task", "answer": "metadata.answer"}, "data": True, "mark": b'"epoch"'},
    "failed": {},
    "failed, strict": {"options": STRICT, "details": True},
    "failed, joined": {"data": True},
    "failed, of one task": {"task": "REL-C2", "data": True, "options": STRICT},
    "rollouts": {"dialect": "verifiers", "mark": b'"example_id"'},
    "rollouts, strict": {"dialect": "verifiers", "options": STRICT, "details": True, "mark": b'"example_id"'},
    "deep in text": {"field_map": {"task": "extra_info.@.deep.@.task", "answer": "extra_info.@.deep.@.gold.0.@"}, "mark": b'"extra_info"'},
    "in text, asked": {"field_map": {"answer": "info.@.answer", "task": "info.@.task", "question": "prompt"}, "mark": b'"example_id"'},
    "in text": {"field_map": {"task": "extra_info.@.task", "answer": "extra_info.@.answer"}, "mark": b'"extra_info"'},
}  # fmt: skip
"""Options of a kind of run; `data`: joined with gold; `mark`: what most of its lines have, where they do not say
themselves what they are."""

_OF_TOOL: Final = re.compile(
    rb'"epoch"|"example_id"|"traces"|"advantage"|"model_response"|"instance"|"origin_prompt"|"outputs"|"gts"'
)
"""What sets rows of tools apart, of which most lines of the runs are that are named for them."""

_NEED_MORE: Final = re.compile(rb'"custom_id"|"outputs_of"|"extra_info"|"candidates"|"advantage"')
"""Of lines that cannot be scored without gold from elsewhere, or without being told where it is."""

OWN: Final = 0.8
"""Share of real lines that a kind of run is meant for."""

CHUNK: Final = 400
"""Lines of a chunk: fewer bytes than a process reads before it looks for the fast path by itself."""

FAILED: Final = 0.1
"""Share of real lines whose requests failed."""

EACH: Final = 40
"""Real lines of each kind that are mutated."""


@cache
def ways_of(kind: str, gold: str, n_files: int = 1) -> Ways:
    """A kind of run on so many files, joined with a file of gold where it has none of its own."""
    options = {name: value for name, value in JOBS[kind].items() if name != "mark"}
    data = (gold,) if options.pop("data", False) else ()
    return Ways.of_job(Job(**{**options, "data": data}).of_files(n_files))


@cache
def lines_for(kind: str) -> tuple[bytes, ...]:
    """The real lines that a kind of run is meant for."""
    if kind.startswith("failed"):
        return failed_lines(EACH)
    mark, joined = JOBS[kind].get("mark", b""), "data" in JOBS[kind]
    if kind.startswith("tools"):
        return tuple(line for line in real_lines(EACH) if _OF_TOOL.search(line))
    left_out = None if mark or joined else _NEED_MORE
    return tuple(
        line for line in real_lines(EACH) if mark in line and not (left_out and left_out.search(line))
    )


class Result(NamedTuple):
    """What has become of a chunk: its kind, lines, lines that the fast path read, rows by status, differences."""

    number: int
    kind: str
    n_lines: int
    n_fast: int
    statuses: Counter[str]
    differences: list[str]


def run_chunk(number: int, *, seed: str, gold: str) -> Result:
    """Score a chunk both ways."""
    dice = random.Random(f"{seed} {number}")
    kind = list(JOBS)[number % len(JOBS)]
    own, every = lines_for(kind), real_lines(EACH)
    lines = []
    for _ in range(CHUNK):
        some = own if dice.random() < OWN else every
        if not kind.startswith("failed") and dice.random() < FAILED:
            some = (failed_line(dice, dice.choice(some)),)
        lines.append(mutated_line(dice, some))
    ways = ways_of(kind, gold, 1 + number // len(JOBS) % 2)
    fast, exact = (ways.score(lines, fast=fast) for fast in (True, False))
    differences = []
    if fast[:2] != exact[:2]:
        differences = [
            f"chunk {number} ({kind}): {line!r}\n  fast:  {ways.score([line], fast=True).written!r}\n"
            f"  exact: {ways.score([line], fast=False).written!r}"
            for line in ways.narrowed(lines)[:3]
        ]
    statuses = Counter(
        {status: exact.written.count(b'"status":"%s"' % status.encode()) for status in STATUSES}
    )
    return Result(number, kind, len(lines), fast.n_fast, statuses, differences)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lines", type=int)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args(arguments)
    numbers = range(-(-asked.lines // CHUNK))
    started = time.monotonic()
    counts: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("fork").Pool(asked.processes) as pool,
    ):
        gold = Path(folder) / "gold.jsonl"
        gold.write_bytes(gold_file())
        for result in pool.imap(partial(run_chunk, seed=asked.seed, gold=str(gold)), numbers):
            counts.update(lines=result.n_lines, fast=result.n_fast, different=len(result.differences))
            statuses += result.statuses
            for difference in result.differences:
                print(difference, flush=True)
    seconds = time.monotonic() - started
    print(
        f"seed {asked.seed}: {counts['lines']:,} lines of {len(JOBS)} kinds of runs in {seconds:,.0f} s"
        f" ({counts['lines'] / seconds:,.0f}/s), {counts['fast'] / max(1, counts['lines']):.1%} by the fast path,"
        f" rows {dict(statuses)}, {counts['different']} differences"
    )
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    raise SystemExit(main(sys.argv[1:]))
