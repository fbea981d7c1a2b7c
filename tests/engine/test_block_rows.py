"""Rows of SeqBench's lines that kernels judge against known gold are the bytes of the ordinary way, and so is all that is counted."""

from __future__ import annotations

import ast
import json
import random
from typing import Any

import pytest
from both_ways import Ways
from relfast_kernels.layouts import VIOLATIONS

from relfast.engine import block_rows
from relfast.engine.job import Job
from relfast.seqbench import generate
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


def same(lines: list[bytes], job: Job, **options: Any) -> tuple[list[Json], int]:
    """The rows that both ways write, and how many lines were decoded."""
    found = Ways.of_job(job).same(lines, **options)
    return found.rows, found.n_exact


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
    rows, n_exact = same(_lines(PLANS, random.Random(1)) * 2, Job())
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
    several = [line for line in lines[:40] for _ in range(2)]
    same([*lines, *lines[::-1], *several], Job(**JOBS[kind]), size=len(lines))


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_kernels_write_what_they_are_certain_of(policy: str) -> None:
    """Nothing of a plain line is left to Python."""
    plain = [json.dumps({**MAZES[0], "response": f"So:\n{plan}"}).encode() for plan in PLANS[:15]]
    job = Job(options=AllOptions(policy=policy))  # type: ignore[arg-type]
    assert Ways.of_job(job).score(plain, fast=True).n_fast == len(plain)


def test_memory_that_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are the same where problems have to be forgotten, and where a block has more records than are held."""
    lines = _lines(PLANS, random.Random(2))
    monkeypatch.setattr(score, "MAX_PROBLEMS", 2)
    monkeypatch.setattr(block_rows, "MOST_AT_ONCE", 7)
    same(lines * 2, Job(details=True), size=len(lines))
