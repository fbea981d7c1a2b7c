"""Records against the REL document's format, what blind strategies earn of them, and those of the demo."""

from __future__ import annotations

import copy
import gzip
import json
import random
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from contract_records import generate, gold
from corpora import REL_FILES, ROOT, rel_records
from engine_runs import write_dump
from hypothesis import given
from hypothesis import strategies as st

import relfast
from relfast.audit import RIGHT, WRONG, audit
from relfast.cli.main import cli
from relfast.tasks import TASKS
from relfast.validate import FileCheck, check_record, is_note

A1, C1, C2, C3 = (rel_records(task)[0] for task in ("REL-A1", "REL-C1", "REL-C2", "REL-C3"))
B1 = next(record for record in rel_records("REL-B1") if record["answer"]["label"] == "yes")
A1 = {**A1, "metadata": {"panels": [[[1.5, 2]]] * 8, "choices": [[[1.5, 2]]] * 8}}
GOOD = [A1, B1, C1, C2, C3]
GONE = object()


def changed(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    result = copy.deepcopy(record)
    *outer, last = path.split(".")
    place = reduce(getitem, outer, result)
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return result


def test_metadata_may_be_missing() -> None:
    for record in GOOD:
        assert check_record(record) == check_record(changed(record, "metadata", GONE)) == []


@pytest.mark.parametrize(
    ("record", "path", "value", "field", "complaint"),
    [
        *((A1, name, GONE, name, "missing") for name in ("id", "domain", "task", "question", "answer")),
        (A1, "id", 7, "id", "must be text, not a number"),
        (A1, "id", " ", "id", "is empty"),
        (A1, "question", None, "question", "must be text, not null"),
        (A1, "task", "REL-A9", "task", 'not "REL-A9"'),
        (A1, "task", "rel-a1", "task", 'not "rel-a1"'),
        (A1, "task", ["REL-A1"], "task", "must be one of"),
        (A1, "domain", "maths", "domain", "algebra or biology or chemistry"),
        (A1, "domain", "biology", "domain", "must be algebra for REL-A1"),
        (A1, "answer", [2], "answer", "must be an object, not a list"),
        (A1, "metadata", None, "metadata", "must be an object, not null"),
        (A1, "answer.target", GONE, "answer.target", "missing"),
        (A1, "answer.target", 8, "answer.target", "from 0 to 7, not 8"),
        (A1, "answer.target", -1, "answer.target", "from 0 to 7"),
        (A1, "answer.target", True, "answer.target", "from 0 to 7, not true"),
        (A1, "answer.target", 2.0, "answer.target", "from 0 to 7, not 2.0"),
        (A1, "answer.target", "2", "answer.target", 'not "2"'),
        (A1, "metadata.panels", [[[1, 2]]] * 7, "metadata.panels", "8 matrices"),
        (
            A1,
            "metadata.choices",
            [[[1, 2]]] * 7 + [[[1], [2, 3]]],
            "metadata.choices[7]",
            "matrix of numbers",
        ),
        (A1, "metadata.choices", [[[1, "2"]]] + [[[1, 2]]] * 7, "metadata.choices[0]", "matrix of numbers"),
        (A1, "metadata.choices", [[[1, 2, 3]]] * 8, "metadata", "one shape"),
        (B1, "answer.label", GONE, "answer.label", "missing"),
        (B1, "answer.label", "Yes", "answer.label", 'must be "yes" or "no", not "Yes"'),
        (B1, "answer.label", "no", "answer.taxa", "must be empty where the label is no"),
        (B1, "answer.taxa", [], "answer.taxa", "must not be empty where the label is yes"),
        (B1, "answer.taxa", GONE, "answer.taxa", "missing"),
        (B1, "answer.taxa", "15", "answer.taxa", "must be a list of integers"),
        (B1, "answer.taxa", [15, "49"], "answer.taxa[1]", 'must be an integer, not "49"'),
        (B1, "answer.taxa", [True], "answer.taxa[0]", "not true"),
        (C1, "answer.label", "yes", "answer.label", 'must be "Yes" or "No"'),
        (C1, "answer.molecules", "CCO", "answer.molecules", "must be a list of SMILES"),
        (C1, "answer.molecules", [], "answer.molecules", "must not be empty"),
        (C1, "answer.molecules", ["CCO", 3], "answer.molecules[1]", "must be a SMILES string, not a number"),
        (C2, "answer.smiles", GONE, "answer.smiles", "missing"),
        (C2, "answer.smiles", "", "answer.smiles", "is empty"),
        (C2, "answer.smiles", "C1CC", "answer.smiles", 'no readable SMILES: "C1CC"'),
        (C2, "answer.smiles", "C" * 1001, "answer.smiles", "1,001 characters"),
        (C2, "answer.smiles", ["CCO"], "answer.smiles", "must be a SMILES string, not a list"),
        (C3, "answer.missing_smiles", GONE, "answer.missing_smiles", "missing"),
        (C3, "answer.missing_smiles", [], "answer.missing_smiles", "must not be empty"),
        (C3, "answer.missing_smiles", ["CC("], "answer.missing_smiles[0]", "no readable SMILES"),
    ],
)
def test_every_rule(record: dict[str, Any], path: str, value: Any, field: str, complaint: str) -> None:
    (problem,) = check_record(changed(record, path, value))
    assert problem.field == field
    assert complaint in problem.message


@pytest.mark.parametrize(
    "value", [2**64, 10**5000, "\ud800", float("nan"), {1: 2}, {(1,): 2}, b"x", {3}], ids=range(8)
)
def test_values_that_json_cannot_hold_are_shown_somehow(value: Any) -> None:
    (problem,) = check_record(changed(A1, "domain", value))
    assert problem.message.encode()
    assert len(problem.message) < 150


def test_all_problems_of_a_record_are_named() -> None:
    found = {p.field for p in check_record({"id": "", "task": "REL-B1", "answer": {"label": "maybe"}})}
    assert found == {"id", "question", "domain", "answer.label", "answer.taxa"}
    assert [p.message for p in check_record([])] == ["a record must be an object, not a list"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(GOOD),
    st.sampled_from(["id", "domain", "task", "question", "answer", "metadata", "answer.label", "answer.taxa",
                     "answer.target", "answer.smiles", "answer.missing_smiles", "answer.molecules"]),
)  # fmt: skip
def test_any_value_anywhere_is_judged_and_never_raises(value: Any, record: dict[str, Any], path: str) -> None:
    problems = check_record(changed(record, path, value))
    assert all(p.message for p in problems)


@pytest.mark.parametrize("task", REL_FILES)
def test_published_records_are_good(task: str) -> None:
    records = rel_records(task)
    assert len(records) >= 68
    for record in records:
        assert check_record(record) == []


def test_files_by_line(tmp_path: Path) -> None:
    good = generate("REL-A1", 2, 0)
    lines = [
        b"\xef\xbb\xbf" + json.dumps(good[0]).encode(),
        b"",
        b"{torn",
        json.dumps(good[1]).encode(),
        json.dumps(good[0]).encode(),
        json.dumps(changed(good[1], "answer", {"target": 9}) | {"id": "other"}).encode(),
        b"[1, 2]",
        b"\xff\xfe",
    ]
    file = tmp_path / "records.jsonl"
    file.write_bytes(b"\n".join(lines))
    check = FileCheck(str(file))
    flaws = [str(flaw).removeprefix(str(file)) for flaw in check]
    assert [flaw.split(":")[1] for flaw in flaws] == ["3", "5", "6", "7", "8"]
    assert "no JSON" in flaws[0]
    assert f'id: is already the id of line 1: "{good[0]["id"]}"' in flaws[1]
    assert "answer.target: must be an integer from 0 to 7, not 9" in flaws[2]
    assert (check.n_records, check.n_good, check.tasks) == (7, 2, {"REL-A1": 2})


def test_flaws_in_a_folder_name_their_files(tmp_path: Path) -> None:
    for name, rows in (("a.jsonl", [A1, {**C1, "id": 7}]), ("b.jsonl", [C2, A1])):
        write_dump(tmp_path / name, rows)
    check = FileCheck(str(tmp_path))
    assert [str(flaw) for flaw in check] == [
        f"{tmp_path}/a.jsonl:2: note: id: must be text, not a number",
        f"{tmp_path}/b.jsonl:2: id: is already the id of {tmp_path}/a.jsonl:1: {json.dumps(A1['id'])}",
    ]
    assert (check.n_records, check.n_good) == (4, 3)


@pytest.mark.parametrize("record", GOOD)
@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_what_is_a_note_is_scored_and_else_it_is_not_under_strict(
    record: dict[str, Any], policy: str
) -> None:
    """Against `relfast.score` itself."""
    values = [
        GONE,
        None,
        7,
        " ",
        "rel-a1",
        record["task"].lower(),
        [],
        {},
        {"target": 3},
        json.dumps(record["answer"]),
    ]
    for name in ("id", "domain", "task", "question", "metadata", "answer"):
        for value in values:
            row = changed({**record, "metadata": {}}, name, value)
            grave = [problem for problem in check_record(row) if not is_note(problem, row)]
            (score,) = relfast.score([{**row, "response": "Answer 1"}], workers=0, policy=policy)  # type: ignore[arg-type]
            if not grave:
                assert score.status != "invalid_record", (name, value, score.error)
            elif policy == "strict":
                assert score.status == "invalid_record", (name, value, grave)


def test_compressed_files_and_torn_ones(tmp_path: Path) -> None:
    text = b"".join(json.dumps(record).encode() + b"\n" for record in generate("REL-A2", 50, 0))
    whole = tmp_path / "whole.jsonl.gz"
    whole.write_bytes(gzip.compress(text))
    check = FileCheck(str(whole))
    assert list(check) == []
    assert check.n_good == 50
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(text)[:-3000])
    check = FileCheck(str(torn))
    (flaw,) = list(check)
    assert "compressed input ends early" in str(flaw)
    assert 0 < check.n_good < 50
    assert flaw.line == check.n_good + 1


def test_records_of_other_tasks_are_good_if_a_response_could_be_scored() -> None:
    for name in ("seqbench_built_in.jsonl.gz", "realign_problems.jsonl"):
        check = FileCheck(str(ROOT / "relfast" / "data" / name))
        assert [*check] == []
        assert check.n_good > 20
    (flaw,) = check_record({"instance_id": "m", "completion": None, "context": "A maze."})
    assert "completion" in flaw.message


# what blind strategies earn: over all tasks, on records and on dumps with responses


@pytest.mark.parametrize("task", TASKS)
def test_every_strategy_answers_any_question(task: str) -> None:
    record, _ = gold(task)[0]
    for name, respond in TASKS[task].blind_strategies().items():
        for question in (record["question"], "", None, "Panel 0:\n[1, 2\n>taxon_1\nRoom A and B"):
            response = respond({"id": None, "task": task, "question": question}, random.Random(0))
            assert isinstance(response, str), name


def test_the_published_leak_is_found_and_responses_are_told_apart() -> None:
    rows: list[dict[str, Any]] = []
    for at, record in enumerate(rel_records("REL-A2")[:20]):
        right = record["answer"]["target"] + 1
        rows.append({**record, "response": f"Answer {right if at % 2 else right % 8 + 1}"})
    found = {finding.strategy: finding for finding in audit(rows, workers=0)}
    assert found["shortest choice"].rewards["strict"] == 1.0
    assert found[RIGHT].n == found[WRONG].n == 10
    assert (found[RIGHT].rewards["strict"], found[WRONG].rewards["strict"]) == (1.0, 0.0)
    blind = [finding.rewards["strict"] for finding in found.values()][2:]
    assert blind == sorted(blind, reverse=True)


def test_what_cannot_be_scored_does_not_count_and_each_policy_says_what_is_right() -> None:
    rows = [{**record, "response": "<Yes>"} for record in rel_records("REL-C1")[:10]]
    broken = [{**row, "answer": {**row["answer"], "label": "perhaps"}} for row in rows]
    assert audit([*rows, *broken], workers=0) == audit(rows, workers=0)
    # in passing: right as published, no answer under strict
    said = [
        {**row, "response": f"<{row['answer']['label']}> was my first thought. Still open."} for row in rows
    ]
    (right, *_) = (finding for finding in audit([rows[0], *said], workers=0) if finding.strategy == RIGHT)
    assert right.correct["reference"] == 1.0
    assert right.counts["reference"] >= right.counts["strict"] == right.n


def test_the_same_seed_gives_the_same_numbers() -> None:
    rows = rel_records("REL-B1")[:12]
    assert audit(rows, seed=3, workers=0) == audit(rows, seed=3, workers=0)
    assert all(finding.n == 5 for finding in audit(rows, limit=5, workers=0))


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("{broken\n" + "".join(json.dumps(row) + "\n" for row in rel_records("REL-C1")[:4]))
    shown = CliRunner().invoke(cli, ["audit", str(path)])
    assert shown.exit_code == 0
    assert "REL-C1" in shown.stdout
    assert f"1 of 5 lines passed over; the first: {path}:1: not JSON" in shown.stderr
    printed = CliRunner().invoke(cli, ["audit", str(path), "--json"])
    assert {row["task"] for row in json.loads(printed.stdout)} == {"REL-C1"}


# the demo dump: published records, every kind of response


DEMO = ROOT / "relfast" / "data" / "rel_demo.jsonl.gz"


def records() -> list[dict[str, Any]]:
    with gzip.open(DEMO, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_size_and_kinds() -> None:
    found = records()
    assert 200 <= len(found) <= 600
    assert DEMO.stat().st_size < 700_000
    assert {record["task"] for record in found} >= set(REL_FILES)
    assert all(record["metadata"]["source"] for record in found)
    assert sum(isinstance(record["response"], list) for record in found) > 10
    assert len({record["id"] for record in found}) == len(found)


def test_questions_and_gold_are_the_published_ones() -> None:
    published = {record["id"]: record for task in REL_FILES for record in rel_records(task)}
    for record in records():
        if record["task"] in REL_FILES:
            original = published[record["id"]]
            assert (record["question"], record["answer"]) == (original["question"], original["answer"])
