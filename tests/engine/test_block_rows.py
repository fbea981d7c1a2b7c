"""Rows of SeqBench's lines that kernels judge against known gold are the bytes of the ordinary way, and so is all that is counted."""

from __future__ import annotations

import ast
import json
import random
from typing import Any

import pytest
from relfast_kernels.layouts import VIOLATIONS

from relfast.engine import block_rows
from relfast.engine.file_run.block_scoring import BlockScoring
from relfast.engine.io.blocks import Block
from relfast.engine.job import Job
from relfast.engine.scoring import Scoring
from relfast.engine.text_fast_path import TextFastPath
from relfast.seqbench import generate
from relfast.stats.tally import Tally
from relfast.tasks.options import AllOptions
from relfast.tasks.seqbench import score

Json = dict[str, Any]

JOBS: dict[str, Json] = {
    "reference": {},
    "strict": {"options": AllOptions(policy="strict")},
    "details": {"details": True},
    "strict with details": {"options": AllOptions(policy="strict"), "details": True},
    "reasoning": {"options": AllOptions(strip_reasoning=True)},
    "rewards": {"rewards": {"SeqBench": "f1"}},
    "a right one": {"rewards": {"SeqBench": "correct"}},
    "the depth": {"rewards": {"SeqBench": "logical_depth"}},
    "marks": {"options": AllOptions(policy="strict", reasoning=(("<cot>", "</cot>"),))},
}


def _mazes() -> list[Json]:
    """Mazes with their structure, and one by its facts alone; with noise as a whole number and not at all; with gold
    that is not the shortest plan; and one that nothing describes."""
    rows = [next(iter(generate(1, seed=seed, rows=3, cols=4, B=1, N=0.5))) for seed in range(3)]
    by_facts = {**rows[0], "structural_details": None}
    whole = {**rows[1], "complexity_parameters": {"logical_depth_L": 7, "noise_ratio_N": 1}}
    detour = ast.literal_eval(rows[2]["completion"])
    detour[1:1] = [detour[1], detour[0].replace("start", "move_to")] if "move" in detour[1] else []
    longer = {**rows[2], "completion": str(detour)}
    bare = {**rows[2], "structural_details": None, "context": "no facts"}
    return [*rows, by_facts, whole, longer, bare]


MAZES = _mazes()


def _lines(texts: list[str], rng: random.Random) -> list[bytes]:
    """Responses as lines: with ids of all kinds, several of one prompt, in both ways of writing JSON."""
    lines = []
    for number, text in enumerate(texts):
        maze = rng.choice(MAZES)
        row = {**maze, "instance_id": rng.choice([maze["instance_id"], number, 'q"é', 10**17])}
        row["response"] = text if rng.random() < 0.7 else [text, rng.choice(texts), ""]
        if rng.random() < 0.2:
            row = {"answer": row, "response": row["response"], "question": maze["context"]}
        lines.append(json.dumps(row, ensure_ascii=rng.random() < 0.5).encode())
    return lines


def written(blocks: list[list[bytes]], job: Job, *, fast: bool) -> tuple[bytes, Tally, str, int]:
    """Rows of some blocks, what is counted of them, the same with the order of its names, and the lines that were
    decoded."""
    scoring = Scoring(job, {})
    scored = BlockScoring(scoring)
    scored._fast_path = TextFastPath.open(scoring) if fast else None
    assert (scored._fast_path is not None) == fast
    rows, tally, n_exact = [], Tally(), 0
    for lines in blocks:
        data = b"\n".join(lines)
        for segment in scored.segments(Block(0, 0, 3, len(lines), 0, len(data), data=data, filter="none")):
            rows.append(segment.rows)
            tally.merge(segment.tally)
            n_exact += segment.n_exact
    order = json.dumps({name: [task.sums, task.labels] for name, task in tally.tasks.items()})
    return b"".join(rows), tally, order, n_exact


def same(blocks: list[list[bytes]], job: Job) -> tuple[list[Json], int]:
    """The rows that both ways write, and how many lines were decoded."""
    rows, tally, order, n_exact = written(blocks, job, fast=True)
    assert (rows, tally, order) == written(blocks, job, fast=False)[:3]
    return [json.loads(row) for row in rows.splitlines()], n_exact


def _plans() -> list[str]:
    """Right and wrong plans, with every violation among them."""
    plans = []
    for maze in MAZES:
        gold: list[str] = ast.literal_eval(maze["completion"])
        pairs = [tuple(action.split(": ")) for action in gold]
        key = next(action for action in gold if action.startswith("pick_up"))
        at = gold.index(key)
        plans += [
            str(gold), str(pairs), json.dumps(pairs), str(gold[:-1]), str(gold[: at + 1]), str(gold[1:]),
            str([*gold, gold[-1]]), str([*gold[:2], "dance: here", *gold[2:]]), str(gold[:at] + gold[at + 1 :]),
            str([*gold[:at], key, key]), str([gold[0], gold[-1]]), str([gold[0], "move_to: Z9"]),
            str([gold[0], key.replace("pick_up_key", "use_key")]), str([gold[0], "unlock_and_open_door_to: A1"]),
            str([action for action in gold if not action.startswith("use_key")]), str(gold[::-1]),
            str([action for action in gold if not action.startswith(("use_key", "unlock"))]),
        ]  # fmt: skip
    return plans


PLANS = _plans()
AROUND = [
    "", "So:\n", "```\n", "\n```", " I start in A1. ", "Do not use this: ", " is wrong.", "either ", " or ", "\n\nor:\n",
    "<think>['start: A1']</think>", "</think>", "<think>", "[think]", "~~", "é", "→ ", "\x00", "\u2028", "😀", '"', "\\",
    "<cot>x</cot>", "analysis", "if all doors were open: ", "start: A1, move_to: A2", "START", "I would not go to A1. ",
    "['start: A1', 'rescue: Bob']", "['start: \\x41\\u00e9']", "[('start', 7)]", "a" * 90, "\t", "1. start: A1\n2. move",
]  # fmt: skip


def test_all_violations_are_among_the_plans() -> None:
    rows, n_exact = same([[*_lines(PLANS, random.Random(1))] * 2], Job())
    assert {row["metrics"]["violation"] for row in rows if row["status"] == "ok"} >= {
        *VIOLATIONS[1:],
        None,
    } - {"unparsable"}
    assert n_exact < len(PLANS)


@pytest.mark.parametrize("kind", JOBS)
def test_same_rows(kind: str) -> None:
    rng = random.Random(f"line rows {kind}")
    texts = [
        "".join(
            [
                *rng.choices(AROUND, k=rng.randrange(3)),
                rng.choice(PLANS),
                *rng.choices(AROUND, k=rng.randrange(2)),
            ]
        )
        for _ in range(150)
    ]
    lines = _lines([*PLANS, *texts], rng)
    same([lines, lines[::-1], [line for line in lines[:40] for _ in range(2)]], Job(**JOBS[kind]))


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_kernels_write_what_they_are_certain_of(policy: str) -> None:
    """Nothing of a plain line is left to Python."""
    plain = [json.dumps({**MAZES[0], "response": f"So:\n{plan}"}).encode() for plan in PLANS[:15]]
    scoring = Scoring(Job(options=AllOptions(policy=policy)), {})  # type: ignore[arg-type]
    opened = TextFastPath.open(scoring)
    assert opened is not None
    scanned = opened.scan(b"\n".join(plain), len(plain))
    scanned.judge(0, len(plain))
    assert not any(slow for _, _, slow in scanned.runs(0, len(plain)))


def test_memory_that_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are the same where problems have to be forgotten, and where a block has more records than are held."""
    lines = _lines(PLANS, random.Random(2))
    before = written([lines, lines], Job(details=True), fast=True)[:3]
    monkeypatch.setattr(score, "MAX_PROBLEMS", 2)
    monkeypatch.setattr(block_rows, "MOST_AT_ONCE", 7)
    assert written([lines, lines], Job(details=True), fast=True)[:3] == before
