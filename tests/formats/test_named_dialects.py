"""Rows whose dialect, id or gold is not said in them."""

from __future__ import annotations

import json
import re
import uuid
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, write_dump
from mutated_corpus import ways_of

import relfast
from relfast.engine.files.io.reader import read_gold
from relfast.formats import DIALECTS, read_row
from relfast.formats.paths import MISSING

# rows that lack what their dialect has: said to be of it by `--input-format`, or requests that failed


GOLD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "question": "Which of the panels is it?"}
LACKING = {
    "trl": "prompt",
    "vllm": "outputs",
    "lighteval": "doc",
    "helm": "instance",
    "opencompass": "origin_prompt",
    "gemini-batch": "response",
    "anthropic-batch": "result",
    "vertex-batch": "request",
    "nemo-gym": "responses_create_params",
    "lmms-eval": "doc_id",
    "evalscope": "model_output",
    "matharena": "problem",
    "nemo-skills": "generation",
    "skyrl": "output_response",
}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}}
SAFETY = {"type": "ContentFilter", "message": "the prompt was blocked (blockReason SAFETY)"}
BOOM = {"code": 429, "message": "Resource exhausted"}
SAYS_BOOM = {"type": "MissingResponse", "message": "Resource exhausted"}


def score(row: dict[str, Any], **options: Any) -> relfast.Score:
    (score,) = relfast.score([row], workers=0, **options)
    return score


def test_every_dialect_that_needs_something_is_tried() -> None:
    assert {name for name, dialect in DIALECTS.items() if dialect.needs} == set(LACKING)


@pytest.mark.parametrize("dialect", LACKING)
def test_what_a_row_lacks_is_said(dialect: str) -> None:
    row = score({"id": "a", "x": 1}, input_format=dialect)
    assert (row.status, row.id) == ("invalid_record", "a")
    assert row.error == {
        "type": "WrongDialect",
        "message": f"no row of {dialect}, as --input-format has it: field {LACKING[dialect]!r} is missing; "
        "without the option it is read as native",
    }
    if dialect not in ("trl", "opencompass", "lmms-eval", "nemo-skills", "skyrl"):
        row = score({"custom_id": 7, **dict.fromkeys(DIALECTS[dialect].needs)}, input_format=dialect)
        assert row.id == 7
        assert row.error is not None
        assert "is something else; without the option" in row.error["message"]
    # a request that failed says so all the same
    row = score({"key": "a", "error": BOOM}, input_format=dialect)
    assert (row.id, row.error) == ("a", SAYS_BOOM)
    assert score({"id": "a", "status_code": 500}, input_format=dialect).error == {
        "type": "MissingResponse",
        "message": "the server answered with status 500",
    }


def test_a_run_of_the_wrong_dialect_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", [{"id": "a", "x": 1}, {"id": "b", "x": 1}])
    assert exit_code("score", dump, "--input-format", "trl", "--workers", 0, "-q") == 2
    assert capsys.readouterr().err.strip() == (
        "relfast: 2 of 2 records unusable: 2 × no row of trl, as --input-format has it: field 'prompt' is missing"
        " (lines 1, 2)"
    )


@pytest.mark.parametrize(
    ("more", "error"),
    [
        *(({"response": BLOCKED, **more}, SAFETY) for more in ({}, {"id": "x"}, {"error": None}, {"task": "REL-A1", "answer": {"target": 3}})),
        *(({**more, "error": BOOM}, SAYS_BOOM) for more in ({}, {"response": None}, {"response": BLOCKED}, {"response": {"error": BOOM}})),
        ({"response": {"usageMetadata": {}}}, {"type": "MissingResponse", "message": "response.candidates is missing"}),
    ],
)  # fmt: skip
def test_a_request_that_gemini_did_not_answer_keeps_its_id(
    more: dict[str, Any], error: dict[str, str]
) -> None:
    dialects = ["auto", "gemini-batch"]
    dialects += ["native"] * (error == SAYS_BOOM and more.get("response") is not BLOCKED)
    for dialect in dialects:
        row = score({"key": "a", **more}, input_format=dialect)
        assert (row.status, row.id, row.error) == ("invalid_record", "a", error), dialect


def test_whose_a_key_is(tmp_path: Path) -> None:
    """Of a row that says nothing of a failure, or where another place is named, it is no id; gold gives the task."""
    assert score({"key": "a", "id": None, "error": BOOM}).id is None
    for more in ({}, {"error": None}, {"error": ""}, {"error": BOOM, "response": "Answer 4"}):
        assert score({"key": "a", **more}).id is None
    assert score({"key": "a", "error": BOOM, "x": None}, map={"response": "x"}).id is None
    blocked = {"key": "k", "task": "REL-A1", "answer": {"target": 3}, "response": BLOCKED, "text": "Answer 4"}
    assert score(blocked, map={"response": "text"}).correct is True
    gold = write_dump(tmp_path / "gold.jsonl", [GOLD])
    row = score({"key": "a", "error": BOOM}, data=gold)
    assert (row.task, row.id, row.error) == ("REL-A1", "a", SAYS_BOOM)


# verl's dumps do not say which rollouts share a prompt: they are grouped by input and gold


N_PROMPTS = 12
ROLLOUTS = 4


def dump(n_prompts: int = N_PROMPTS, **fields: Any) -> list[dict[str, Any]]:
    """A step of ``trainer.rollout_data_dir``: prompts repeated, rollouts of one side by side."""
    rows = []
    for n in range(n_prompts):
        for k in range(ROLLOUTS):
            asked = f"system\nSolve it.\nuser\nWhich panel, {n}?\nassistant\n"
            said = n % 8 if n % 2 else (n + k) % 8
            row = {"input": asked, "output": f"Answer {said + 1}", "gts": json.dumps({"target": n % 8})}
            row |= {"step": 3, "score": 0.0, "acc": 0.0}
            rows.append(row | {name: make() for name, make in fields.items()})
    return rows


def summary_of(rows: list[dict[str, Any]], tmp_path: Path, **options: Any) -> relfast.Summary:
    return relfast.score_file(write_dump(tmp_path / "3.jsonl", rows), workers=0, overwrite=True, **options)


@pytest.mark.parametrize("names", [(), ("uid",), ("request_id",), ("id",)])
def test_rollouts_of_one_input_are_samples_of_one_prompt(names: tuple[str, ...], tmp_path: Path) -> None:
    summary = summary_of(dump(**dict.fromkeys(names, lambda: str(uuid.uuid4()))), tmp_path)
    task = summary.tasks["REL-A1"].to_dict()
    # the same as one record a prompt with a list of responses
    rows = dump()
    prompts = [
        {"id": n, "answer": {"target": n % 8}, "response": [row["output"] for row in rows[4 * n : 4 * n + 4]]}
        for n in range(N_PROMPTS)
    ]
    expected = summary_of(prompts, tmp_path).tasks["REL-A1"].to_dict()
    assert task == expected
    assert (task["prompts"], task["samples_per_prompt"]) == (N_PROMPTS, {"min": 4, "max": 4})
    assert list(task["pass@k"]) == ["1", "2", "4"]
    assert task["maj@k"]["4"] > 0
    # rollouts of a prompt agree with each other here, so that independent ones would say more
    apart = [{**row, "id": n} for n, row in enumerate(rows)]
    independent = summary_of(apart, tmp_path, map={"id": "id"}).tasks["REL-A1"].to_dict()
    assert task["correct_se"] > 1.5 * independent["correct_se"]
    assert summary.notes == [
        f"{N_PROMPTS} ids occur on more than one line; such lines are samples of one prompt"
    ]


def test_the_id_is_a_digest_that_lasts(tmp_path: Path) -> None:
    """It stands in outputs that are compared across runs and versions."""
    row = {"input": "Which?", "output": "Answer 4", "gts": '{"target": 3}'}
    assert read_row(row, "auto").id == "prompt-38c73b7c6f40e770"
    others = [
        {**row, "output": "Answer 1", "step": 9, "uid": "u", "id": "i"},
        {**row, "input": "Which one?"},
        {**row, "gts": '{"target": 4}'},
        {**row, "gts": {"target": 3}},
        {**row, "input": "\ud800", "gts": 2**70},
    ]
    ids = [read_row(other, "auto").id for other in others]
    assert ids[0] == "prompt-38c73b7c6f40e770"
    assert len({*ids}) == len(ids)
    assert all(re.fullmatch(r"prompt-[0-9a-f]{16}", each) for each in ids)


def test_an_id_that_is_mapped_counts(tmp_path: Path) -> None:
    rows = [{**row, "id": f"p{n // (2 * ROLLOUTS)}"} for n, row in enumerate(dump())]
    task = summary_of(rows, tmp_path, map={"id": "id"}).tasks["REL-A1"].to_dict()
    assert (task["prompts"], task["samples_per_prompt"]["max"]) == (N_PROMPTS // 2, 2 * ROLLOUTS)


def test_gold_from_elsewhere_is_joined_on_the_rows_own_id(tmp_path: Path) -> None:
    gold = write_dump(tmp_path / "gold.jsonl", [{"id": "q1", "task": "REL-A1", "answer": {"target": 3}}])
    row = {"id": "q1", "input": "Which?", "output": "Answer 4", "gts": None}
    (found,) = relfast.score([row], workers=0, data=gold)
    assert (found.id, found.correct) == ("q1", True)
    assert read_row({"output": "Answer 4", "gts": None}, "auto").id is MISSING


# gold files in which an id stands more than once


A = {"id": "a", "task": "REL-A1", "answer": {"target": 3}}
B = {"id": "b", "task": "REL-A1", "answer": {"target": 1}}
OTHER = {**A, "answer": {"target": 0}}


def gold_files(folder: Path, *files: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(write_dump(folder / f"{at}.jsonl", records)) for at, records in enumerate(files))


@pytest.mark.parametrize(
    "same",
    [
        A,
        {**A, "question": "?"},
        {**A, "task": "rel-a1"},
        {**A, "task": None},
        {**A, "answer": json.dumps(A["answer"])},
        {"id": "b", "task": "REL-A1", "answer": {"target": 3}},
    ],
)
def test_records_that_say_the_same_are_no_news(same: dict[str, Any], tmp_path: Path) -> None:
    assert read_gold(gold_files(tmp_path, [A], [same, same])).repeated is None


def test_the_first_two_places_are_named(tmp_path: Path) -> None:
    paths = gold_files(tmp_path, [b"\n", B, A, A], [], [B, OTHER, b"\n", {**B, "task": "REL-A2"}, A, B])
    gold = read_gold(paths)
    assert gold.repeated == (2, "a", ((0, 3), (2, 2)))
    assert gold.repeated.describe(paths) == (
        "2 ids have gold records with different tasks or answers, of which the last counts: the first is 'a',"
        f" at {paths[0]}:3 and {paths[2]}:2"
    )
    last = gold.get("a")
    assert last is not None
    assert last.answer == A["answer"]


def test_runs_note_it_and_scorers_warn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (gold,) = gold_files(tmp_path, [A, B, OTHER])
    dump = write_dump(tmp_path / "dump.jsonl", [{"id": "a", "response": "Answer 1"}])
    for workers in (0, 2):
        summary = relfast.score_file(dump, data=gold, workers=workers, overwrite=True)
        (note,) = summary.notes
        assert note.startswith("1 id has gold records with different tasks or answers")
        assert note.endswith(f"'a', at {gold}:1 and {gold}:3")
        assert summary.tasks["REL-A1"].rewards == [1.0, 1.0]
    assert exit_code("score", dump, "--data", gold, "--overwrite", "--workers", 2) == 0
    assert "".join(capsys.readouterr().err.split()).count("".join(f"note: {note}".split())) == 1
    with pytest.warns(
        UserWarning, match=r"^relfast: 1 id has gold records .* 'a', at .*:1 and .*:3$"
    ) as seen:
        relfast.Scorer(data=gold).close()
    assert [each.filename for each in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        relfast.Scorer(data=gold_files(tmp_path, [A, A])).close()


@pytest.mark.parametrize(
    ("answer", "correct"),
    [
        ("Answer 1", True),
        ("", True),
        ("[3]", True),
        ('{"target": 3', True),
        (json.dumps({"target": 0}), False),
        ({"target": 0}, False),
        ([3], None),
    ],
)
def test_an_answer_that_is_no_gold_is_none(answer: Any, correct: bool | None, tmp_path: Path) -> None:
    """Tools write there what they took out of the response."""
    (gold,) = gold_files(tmp_path, [A])
    row = {"id": "a", "answer": answer, "response": "Answer 4"}
    (score,) = relfast.score([row], data=gold, workers=0)
    assert score.correct is correct
    if isinstance(answer, str) and correct:
        (score,) = relfast.score([{**row, "id": "b"}], data=gold, workers=0)
        assert score.error == {"type": "MissingGold", "message": "no gold record with id 'b' in --data"}
        (score,) = relfast.score([row], workers=0)
        assert score.error is not None
        assert score.error["message"].startswith("field 'answer' must be an object, got ")


def test_both_ways_take_gold_from_the_same_place(tmp_path: Path) -> None:
    without = {"id": "n", "answer": {"target": 3}}
    (gold,) = gold_files(
        tmp_path, [A, without, {"id": "t", "task": "REL-A1", "answer": "Answer 4"}, {"id": "q"}]
    )
    lines = [
        json.dumps({"id": id, "answer": answer, "response": response, **more}).encode()
        for id in ("a", "n", "t", "q", "?", 7)
        for answer in ("Answer 4", "", "4", "null", '{"target": 2}', ' {"target": 2}', "{", "\u00e9", 4, [1])
        for response in ("Answer 4", ["Answer 4", "Answer 1"], None)
        for more in ({}, {"task": "REL-A1"}, {"task": "REL-C1"}, {"error": "x"}, {"custom_id": "a"})
    ]
    for kind in ("joined", "strict, joined", "joined with details", "failed, of one task", "mapped samples"):
        ways_of(kind, gold).same(lines)
