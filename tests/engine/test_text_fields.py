"""Lines whose fields the kernel finds: gold is decoded once, and rows are those of the ordinary way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from both_ways import Ways
from corpora import rel_records
from relfast_kernels.layouts import GOLD_MEMBERS

from relfast.engine.job import Job
from relfast.engine.text_gold import KnownGold
from relfast.seqbench import generate
from relfast.tasks import TASKS
from relfast.tasks.options import AllOptions

Json = dict[str, Any]


def same(lines: list[Json], job: Job | None = None, *, decoded: int, limit: int | None = None) -> list[Json]:
    """Rows that are the same both ways, where so many lines are decoded the fast one."""
    ways = Ways.of_job(job or Job())
    if limit is not None:
        ways.fast_path._known = ways.fast_path._judge._gold = KnownGold(ways.scoring, limit)
    found: list[int] = []
    decode = ways.scoring.line

    def counted(line: bytes, index: int, chosen: str | None = None) -> Any:
        found.append(index)
        return decode(line, index, chosen)

    ways.scoring.line = counted  # type: ignore[method-assign]
    fast = ways.score(lines, fast=True)
    assert len(found) == decoded
    assert fast[:3] == ways.score(lines, fast=False)[:3]
    return fast.rows


MAZE = next(iter(generate(1, seed=3, rows=4, cols=4, B=1, N=0.4)))
CHEMISTRY = {
    "REL-C2": lambda answer: f"So:\n<smiles>{answer['smiles']}</smiles>",
    "REL-C3": lambda answer: "\n".join(f"<smiles>{one}</smiles>" for one in answer["missing_smiles"]),
}


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_gold_of_a_maze_is_decoded_once(policy: str) -> None:
    job = Job(options=AllOptions(policy=policy))  # type: ignore[arg-type]
    plan = MAZE["completion"]
    lines = [
        {**MAZE, "response": f"Plan {n}: \u00e9\n{plan[: len(plan) - n % 3]}", "sample": n} for n in range(9)
    ]
    lines += [{**MAZE, "response": [plan, "none", plan], "instance_id": f"other {n}"} for n in range(3)]
    rows = same(lines, job, decoded=1)
    assert 9 <= sum(row["correct"] for row in rows) < 18


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("task", CHEMISTRY)
def test_gold_of_molecules_is_decoded_once(task: str, policy: str) -> None:
    job = Job(options=AllOptions(policy=policy), details=True)  # type: ignore[arg-type]
    record = rel_records(task)[0]
    right = CHEMISTRY[task](record["answer"])
    lines = [
        {**record, "id": f"r{n}", "response": right if n % 2 else "<smiles>C</smiles>"} for n in range(6)
    ]
    rows = same(lines, job, decoded=1)
    assert [row["id"] for row in rows] == [f"r{n}" for n in range(6)]
    assert [row["correct"] for row in rows] == [False, True] * 3


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_problems_with_one_answer_have_one_gold(policy: str, details: bool) -> None:
    """A choice is held against its answer alone: eight golds for any number of problems, in any dialect."""
    job = Job(options=AllOptions(policy=policy), details=details)  # type: ignore[arg-type]
    records: list[Json] = [
        {"id": f"r{n}", "task": "REL-A1", "question": f"Problem {n}", "answer": {"target": n % 8}}
        for n in range(40)
    ]
    said = [f"The answer is {n % 5 + 1}." for n in range(40)]
    rows = same(
        [{**record, "response": text} for record, text in zip(records, said, strict=True)], job, decoded=8
    )
    assert [row["correct"] for row in rows] == [n % 8 == n % 5 for n in range(40)]
    harness = [
        {"doc_id": n, "doc": record, "resps": [[text]], "filtered_resps": [text], "filter": "none"}
        for n, (record, text) in enumerate(zip(records, said, strict=True))
    ]
    assert [row["correct"] for row in same(harness, job, decoded=8)] == [row["correct"] for row in rows]
    # what is no text as a question, or no answer, is none of these
    odd: list[Json] = [
        {**records[0], "question": None},
        {**records[0], "answer": "{}"},
        {**records[0], "task": "rel-a2"},
    ]
    same([{**record, "response": "4"} for record in (records[0], *odd)], job, decoded=4)
    # under strict a yes of REL-B1 is held against the names in its question too
    record = rel_records("REL-B1")[0]
    asked = [{**record, "question": f"{record['question']} {n}", "response": "Answer: No"} for n in range(4)]
    same(asked, job, decoded=1 if policy == "reference" else 4)


def test_any_field_of_gold_tells_lines_apart() -> None:
    """Everything that a record can depend on, and only that."""
    answer = {"completion": MAZE["completion"], "structural_details": MAZE["structural_details"]}
    line = {"id": 1, "task": "SeqBench", "answer": answer, "response": MAZE["completion"]}
    changed: list[Json] = [{**line, name: MAZE.get(name)} for name in GOLD_MEMBERS if name not in line]
    changed += [{**line, "question": "?"}, {**line, "task": "seqbench"}]
    changed += [{**line, "answer": {**answer, "noise": 1}}, {**line, "answer": json.dumps(answer)}]
    same([line, *changed], decoded=1 + len(changed))
    same([line, {**line, "id": None}, {**line, "model": "m"}, {**line, "response": ""}], decoded=1)


def test_what_scoring_reads_of_rows_is_in_the_digest() -> None:
    """Of tasks that read something else of a row, every line is decoded."""
    assert set(TASKS["SeqBench"].row_fields) <= set(GOLD_MEMBERS)
    row = {
        "task": "ReAlign",
        "question": "1 + 1?",
        "answer": {"reference": "1 + 1 = 2"},
        "response": "It is 2.",
    }
    lines = [{**row, "id": n, "final_correct": n % 2 == 0} for n in range(4)]
    assert not set(TASKS["ReAlign"].row_fields) <= set(GOLD_MEMBERS)
    same(lines, decoded=4)


def test_numbers_that_parsers_read_differently_are_not_kept() -> None:
    record = {"id": 1, "task": "REL-C3", "answer": {"missing_smiles": ["CCO"], "n": 10**25}, "response": "x"}
    same([record, record, {**record, "x": 1}], decoded=3)


def test_gold_beyond_all_room_is_forgotten() -> None:
    lines = [
        {"id": n, "task": "REL-C3", "answer": {"missing_smiles": ["C" * (1 + n % 7)]}, "response": "<smiles>C</smiles>"}
        for n in range(70)
    ]  # fmt: skip
    # marks that no judge knows
    job = Job(options=AllOptions(policy="strict", reasoning=(("<cot>", "</cot>"),)))
    same(lines, job, decoded=70, limit=400)
    same(lines, job, decoded=7)


def test_other_marks_of_reasoning_leave_responses_to_python() -> None:
    options = AllOptions(policy="strict", reasoning=(("<cot>", "</cot>"),))
    line = {"id": 1, "task": "REL-A1", "answer": {"target": 3}, "response": "<cot>Answer 3</cot>Answer 4"}
    rows = same([line, {**line, "response": "Answer 4"}], Job(options=options), decoded=1)
    assert [row["correct"] for row in rows] == [True, True]


ROW = {
    "key": "k\u00e9",
    "meta": {"kind": "REL-A1", "gold.x": {"target": 3}, "list": [{"target": 4}, {"target": 3}]},
    "outs": [{"text": "Answer 4"}, {"text": "Answer\n5"}, {"text": "\u00e9"}],
}


@pytest.mark.parametrize(
    ("field_map", "correct"),
    [
        ({"id": "key", "task": "meta.kind", "answer": "meta.list.1", "response": "outs.0.text"}, [True]),
        ({"task": "meta.kind", "answer": "meta.list.-1", "response": "outs.*.text"}, [True, False, False]),
        ({"task": "meta.kind", "answer": "meta.list.-1", "response": "outs.-3.text"}, [True]),
        ({"task": "meta.kind", "answer": "meta.gold.x", "response": "outs.0.text"}, [None]),
        ({"task": "meta.kind", "answer": "meta.list.1", "response": "outs.*.nothing"}, [None]),
        ({"task": "meta.kind", "answer": "meta.list.1", "response": "outs"}, [None] * 3),
        ({"task": "meta.list", "answer": "meta.list.1", "response": "outs.0.text"}, [None]),
        ({"answer": "meta.list.1", "response": "outs.0.text", "id": "nowhere.at.all"}, [True]),
        ({"answer": "meta.list.*", "task": "meta.kind", "response": "outs.0.text"}, [None]),
    ],
)
def test_mapped_fields(field_map: dict[str, str], correct: list[bool | None]) -> None:
    rows = same([ROW], Job(field_map=field_map), decoded=1)
    assert [row["correct"] for row in rows] == correct


def test_joined_rows_of_two_records_have_two_golds(tmp_path: Path) -> None:
    """What is the same in a line is not what it is held against."""
    gold = tmp_path / "gold.jsonl"
    records = [{"id": n, "task": "REL-C3", "answer": {"missing_smiles": ["C" * n]}} for n in (1, 2)]
    gold.write_text("".join(json.dumps(record) + "\n" for record in records))
    lines = [{"id": n, "response": "<smiles>CC</smiles>"} for n in (1, 2, 1, 2)]
    for details in (False, True):
        rows = same(lines, Job(data=(str(gold),), details=details), decoded=0)
        assert [row["correct"] for row in rows] == [False, True, False, True]


IDS: Any = ("a", "ü", 'q"', "7", 7, 8, "x/y", True, "b", "c", "d", "")
GOLD_OF: Any = (
    {"task": "REL-A1", "answer": {"target": 2}},
    {"task": "rel-a1", "answer": {"target": 3}},
    {"task": "REL-A1", "answer": '{"target": 2}'},
    {"answer": {"target": 2}},
    {"task": "REL-A1", "answer": {"target": "2"}},
    {"task": "REL-B1", "answer": {"label": "Yes", "taxa": ["Bos taurus"]}, "question": "Bos taurus, Ovis?"},
    {"task": "REL-C1", "answer": {"label": "No"}},
    {"task": "REL-C2", "answer": {"smiles": "CCO"}},
    {"task": "none", "answer": {"target": 2}},
)


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("n_before", [0, 40], ids=["from the first on", "after some"])
def test_ids_of_data_are_known_at_once(policy: Any, n_before: int, tmp_path: Path) -> None:
    """Whatever an id or its gold is, and whether it is met before all are made known or afterwards."""
    before = [{"id": f"n{n}", **GOLD_OF[0]} for n in range(32 * n_before)]
    named = [{"id": [id, n][n > 0 and id != ""], **GOLD_OF[n]} for id in IDS for n in range(len(GOLD_OF))]
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(b"\n".join(map(orjson.dumps, [*before, *named])))
    texts = (
        "Answer: 3",
        "Yes\n- Bos taurus",
        "<No>",
        "<smiles>CCO</smiles>",
        "\ud83d\ude00 The answer is 4.",
    )
    lines: list[Any] = [
        {"id": row["id"], "response": texts[n % len(texts)]} for n, row in enumerate(before[:99])
    ]
    lines += [{"id": row["id"], "response": text} for row in named for text in texts]
    lines += [{"id": id, "response": texts[0]} for id in ("8", "nowhere", None, 1.5, ["a"])]
    job = Job(data=(str(gold),), options=AllOptions(policy=policy))
    ways = Ways.of_job(job)
    scored = ways.same(lines, size=50)
    assert ways.fast_path._golds._knows_ids
    assert scored.n_fast > 0.5 * len(lines)
