"""What a run advises is followed blindly, on dumps whose ids and fields have other names: scores are right, or there
are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import tool_rows
from engine_runs import write_dump

import relfast
from benchmarks.workloads_seqbench import mazes
from relfast.stats.unusable import Cause

Json = dict[str, Any]

RIGHT, WRONG = "<Yes>", "<No>"
SAID = {"role": "assistant", "reasoning_content": WRONG, "content": RIGHT}
RECORDS: Final = [
    {"id": f"r{n}", "task": "REL-C1", "question": f"Are the molecules of pair {n} isomers?", "answer": {"label": "Yes"}}
    for n in range(4)
]  # fmt: skip


def wrapped(record: Json, n: int) -> Iterator[tuple[str, Json]]:
    """What the response of a record may stand in, by name; all thoughts, prompts and graders are wrong."""
    chat = [{"role": "user", "content": WRONG}, SAID]
    yield "text", {"output": RIGHT}
    yield "message in text", {"output": json.dumps(SAID)}
    yield "choices in text", {"output": json.dumps({"choices": [{"message": SAID}]})}
    yield "chat in text", {"generation_log": {"output": json.dumps(chat)}}
    yield "thought in text", {"output": json.dumps({**SAID, "content": None})}
    yield (
        "thought beside",
        {"cot": WRONG, "analysis": WRONG, "completion": RIGHT, "verdict": {"judge_text": WRONG}},
    )
    yield "thoughts only", {"reasoning": WRONG, "thinking_text": WRONG}
    yield "prompt only", {"prompt": WRONG, "messages": chat[:1]}
    yield "gold beside", {"completion": RIGHT, "gold_text": WRONG, "expected_output": WRONG}
    yield "gold as text", {"completion": json.dumps({"label": "No"})}
    yield "cot after it", {"messages": [*chat, {**SAID, "content": WRONG, "type": "cot"}]}
    yield (
        "one that thinks",
        {"turns": [{"role": "assistant", "content": RIGHT, **({"channel": "analysis"} if n == 2 else {})}]},
    )


def followed(path: Path, **options: Any) -> list[relfast.Score]:
    """The scores of a file after every advice of ``--map`` was taken; none if there is none left to take."""
    taken: dict[str, str] = {}
    for _ in range(5):
        output = path.with_suffix(".rows")
        summary = relfast.score_file(path, output, workers=0, overwrite=True, map=taken, **options)
        advised: list[Cause] = [c for c in summary.unusable if c.advice and c.advice[0] == "map"]
        new = {
            name: place for c in advised for name, place in zip(c.advice[1::2], c.advice[2::2], strict=True)
        }
        if not set(new) - set(taken):
            return [*relfast.read_rows(output).rows]
        taken |= new
    raise AssertionError(taken)


def renamed(row: Json, names: Json) -> Json:
    return {names.get(name, name): value for name, value in row.items()}


NAMES = (
    {},
    {"id": "uid", "answer": "target"},
    {"id": "record_key", "task": "benchmark", "answer": "gold", "question": "prompt"},
)
JOINED = ({}, {"id": "uid"}, {"id": "step", "task": "benchmark"})


@pytest.mark.parametrize("kind", [kind for kind, _ in wrapped(RECORDS[0], 0)])
def test_advice_gives_right_scores_or_none(kind: str, tmp_path: Path) -> None:
    found = {}
    for number, names in enumerate(NAMES):
        rows = [renamed(record, names) | dict(wrapped(record, n))[kind] for n, record in enumerate(RECORDS)]
        found[number] = [row.correct for row in followed(write_dump(tmp_path / "run.jsonl", rows))]
        assert set(found[number]) <= {True, None}, names
    assert (True in found[0]) == (
        kind not in ("thought in text", "thoughts only", "prompt only", "gold as text", "one that thinks")
    )


TOOLS = {tool.__name__: tool for tool in tool_rows.ALL}
OTHER: Final = {"custom_id": "request", "key": "name", "epoch": "round", "outputs": "sampled_outputs", "completion": "completions",
                "prediction": "model_prediction", "doc": "document", "model_response": "model_responses", "instance": "example",
                "traces": "samples", "example_id": "example", "gold": "target", "response": "model_response"}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("right", [True, False])
def test_rows_of_tools_with_other_names(name: str, right: bool, tmp_path: Path) -> None:
    """Every tool's, each of whose members has another name in turn, with gold by their ids."""
    gold = write_dump(tmp_path / "gold.jsonl", RECORDS)
    rows = [
        TOOLS[name](record, [f"I think.\n\n{RIGHT if right else WRONG}"], n)
        for n, record in enumerate(RECORDS)
    ]
    for member in rows[0]:
        others = [renamed(row, {member: OTHER.get(member, f"x_{member}")}) for row in rows]
        scores = followed(write_dump(tmp_path / "run.jsonl", others), data=gold)
        assert {score.correct for score in scores} <= {right, None}, member


@pytest.mark.parametrize("task", ["seqbench", "rel-c1"])
def test_records_are_no_run(task: str, tmp_path: Path) -> None:
    """Gold is not advised as the response, under whatever name."""
    records = mazes(3, 4, 4, None, 1) if task == "seqbench" else RECORDS
    for names in ({}, {"instance_id": "uid"}, {"id": "uid", "context": "facts"}):
        path = write_dump(tmp_path / "records.jsonl", [renamed(dict(record), names) for record in records])
        assert {row.correct for row in followed(path)} == {None}
