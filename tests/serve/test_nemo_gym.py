"""NeMo-Gym's protocol, as verifiers' client of it speaks it: /seed_session, then /verify with the same row."""

from __future__ import annotations

from typing import Any

import pytest
from contract_records import gold
from live_server import live_server


def _row(record: dict[str, Any], *, within: bool) -> dict[str, Any]:
    about = {"task": record["task"], "answer": record["answer"]}
    asked = {"input": [{"role": "user", "content": record["question"]}]}
    return {"responses_create_params": asked, **({"verifier_metadata": about} if within else about)}


def _response(text: str) -> dict[str, Any]:
    message = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    return {"id": "r", "output": [{"type": "reasoning", "summary": []}, message]}


@pytest.fixture(scope="module")
def server() -> Any:
    with live_server() as running:
        yield running


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("task", ["REL-A1", "REL-B1", "REL-C2", "SeqBench"])
def test_a_row_through_both_routes(server: Any, task: str, within: bool) -> None:
    record, response = gold(task)[0]
    row = _row(record, within=within)
    assert server.ask("/seed_session", row) == (200, {})
    status, given = server.ask("/verify", {**row, "response": _response(response)})
    assert (status, given["reward"], given["mask_sample"], given["correct"]) == (200, 1.0, False, True)
    assert given["extracted_answer"]
    assert {key: given[key] for key in row} == row
    _, given = server.ask("/verify", {**row, "response": _response("I do not know.")})
    assert (given["reward"], given["mask_sample"], given["status"]) == (0.0, False, "no_answer")


def test_what_has_no_score_is_masked(server: Any) -> None:
    row = {"responses_create_params": {"input": "q"}, "task": "REL-C2", "answer": {"smiles": None, "x": 1}}
    status, given = server.ask("/verify", {**row, "response": _response("<smiles>CCO</smiles>")})
    assert (status, given["reward"], given["mask_sample"]) == (200, 0.0, True)
    assert (given["status"], given["correct"]) == ("invalid_record", None)


@pytest.mark.parametrize(
    "response", [{}, {"output": None}, {"output": "x"}, {"output": [5, {"type": "message", "content": 3}]}]
)
def test_a_response_without_text_is_no_answer(server: Any, response: Any) -> None:
    row = {"responses_create_params": {}, "task": "REL-C1", "answer": {"label": "Yes"}, "question": "q"}
    status, given = server.ask("/verify", {**row, "response": response})
    assert (status, given["reward"], given["status"]) == (200, 0.0, "no_answer")


def test_what_json_can_hold_and_we_cannot_comes_back(server: Any) -> None:
    row = {"responses_create_params": {}, "answer": {"label": "Yes"}, "n": 10**30, "text": "\ud800"}
    status, given = server.ask("/verify", {**row, "response": _response("<Yes>")})
    assert (status, given["reward"], given["n"], given["text"]) == (200, 1.0, 10**30, "\ud800")


def test_what_is_no_row_is_refused(server: Any) -> None:
    status, answer = server.ask("/verify", {"response": {}})
    assert status == 422
    assert "responses_create_params" in answer["detail"]
