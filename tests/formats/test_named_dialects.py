"""Rows that lack what their dialect has: said to be of it by ``--input-format``, or requests that failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import relfast
from relfast.cli.main import main
from relfast.formats import DIALECTS

GOLD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "question": "Which of the panels is it?"}
LACKING = {
    "trl": "prompt",
    "vllm": "outputs",
    "lighteval": "doc",
    "helm": "instance",
    "opencompass": "origin_prompt",
    "gemini-batch": "response",
    "anthropic-batch": "result",
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


@pytest.mark.parametrize("dialect", sorted({*LACKING} - {"trl", "opencompass"}))
def test_a_field_of_another_kind_is_said(dialect: str) -> None:
    row = score({"custom_id": 7, **dict.fromkeys(DIALECTS[dialect].needs)}, input_format=dialect)
    assert row.id == 7
    assert row.error is not None
    assert "is something else; without the option" in row.error["message"]


@pytest.mark.parametrize("dialect", LACKING)
def test_a_request_that_failed_says_so_all_the_same(dialect: str) -> None:
    row = score({"key": "a", "error": BOOM}, input_format=dialect)
    assert (row.id, row.error) == ("a", SAYS_BOOM)
    assert score({"id": "a", "status_code": 500}, input_format=dialect).error == {
        "type": "MissingResponse",
        "message": "the server answered with status 500",
    }


def test_a_run_of_the_wrong_dialect_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text('{"id": "a", "x": 1}\n{"id": "b", "x": 1}\n')
    with pytest.raises(SystemExit, match="2"):
        main(["score", str(dump), "--input-format", "trl", "--workers", "0", "-q"])
    assert capsys.readouterr().err.strip() == (
        "relfast: 2 of 2 records unusable: 2 × no row of trl, as --input-format has it: field 'prompt' is missing"
        " (lines 1, 2)"
    )


@pytest.mark.parametrize("options", [{}, {"input_format": "gemini-batch"}])
@pytest.mark.parametrize(
    "more", [{}, {"id": "x"}, {"error": None}, {"task": "REL-A1", "answer": {"target": 3}}]
)
def test_a_prompt_that_gemini_blocked_keeps_its_id(more: dict[str, Any], options: Any) -> None:
    row = score({"key": "a", "response": BLOCKED, **more}, **options)
    assert (row.status, row.id, row.error) == ("invalid_record", "a", SAFETY)


def test_other_requests_of_gemini_that_failed() -> None:
    assert score({"key": "a", "response": BLOCKED, "error": BOOM}).error == SAYS_BOOM
    missing = score({"key": "a", "response": {"usageMetadata": {}}})
    assert (missing.id, missing.error) == (
        "a",
        {"type": "MissingResponse", "message": "response.candidates is missing"},
    )
    for response in (None, {"error": BOOM}):
        row = score({"key": "a", "error": BOOM, "response": response}, input_format="gemini-batch")
        assert (row.id, row.error) == ("a", SAYS_BOOM)


@pytest.mark.parametrize("options", [{}, {"input_format": "native"}])
def test_a_request_of_gemini_that_failed_keeps_its_id(options: Any) -> None:
    for failed in ({"error": BOOM}, {"response": None, "error": BOOM}, {"response": {"error": BOOM}}):
        row = score({"key": "a", **failed}, **options)
        assert (row.status, row.id, row.error) == ("invalid_record", "a", SAYS_BOOM)
    assert score({"key": "a", "id": None, "error": BOOM}, **options).id is None
    # a row that says nothing of a failure is one of ours whose id is elsewhere
    for more in ({}, {"error": None}, {"error": ""}, {"error": BOOM, "response": "Answer 4"}):
        assert score({"key": "a", **more}, **options).id is None
    assert score({"key": "a", "error": BOOM, "x": None}, map={"response": "x"}, **options).id is None


def test_gold_gives_a_request_of_gemini_that_failed_its_task(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps(GOLD) + "\n")
    row = score({"key": "a", "error": BOOM}, data=gold)
    assert (row.task, row.id, row.error) == ("REL-A1", "a", SAYS_BOOM)


def test_where_map_finds_the_response_a_blocked_prompt_is_nobodys() -> None:
    row = {"key": "k", "task": "REL-A1", "answer": {"target": 3}, "response": BLOCKED, "text": "Answer 4"}
    assert score(row, map={"response": "text"}).correct is True
