"""NeMo-Gym's protocol of a resource server: ``/seed_session``, and ``/verify``, which scores one response.

A row of its data sets has ``responses_create_params`` (what is asked) and, beside it or in
``verifier_metadata``, ``task``, ``answer`` and ``question``; without a question the user's last input is it.
"""
# no `from __future__ import annotations`: FastAPI reads the annotations of functions made in a function

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import orjson
from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from relfast.records import Score
from relfast.rewards.shared import field, gold_of, question_of

_JSON: Final = "application/json"


def described_by(examples: Mapping[str, Any]) -> ConfigDict:
    """The configuration of a request that is described with an example; `/docs` offers it to be sent."""
    return ConfigDict(json_schema_extra={"examples": [dict(examples)]})


_ASKED: Final = {"input": [{"role": "user", "content": "Isomers?"}]}


class SeedRequest(BaseModel):
    """A row; nothing of it is kept."""

    model_config = ConfigDict(extra="allow", **described_by(examples={"responses_create_params": _ASKED}))


class VerifyRequest(BaseModel):
    """A row with the response to it."""

    model_config = ConfigDict(
        extra="allow",
        **described_by(
            examples={
                "responses_create_params": _ASKED,
                "response": {"output": [{"type": "message", "content": "<Yes>"}]},
                "verifier_metadata": {"task": "REL-C1", "answer": {"label": "Yes"}},
            }
        ),
    )

    responses_create_params: dict[str, Any] = Field(
        description="What was asked, as the Responses API has it."
    )
    response: dict[str, Any] = Field(description="The Responses API's object, with ``output``.")


class VerifyAnswer(VerifyRequest):
    """The row with its reward. A response without a score has reward 0 and is masked: it does not count."""

    reward: float
    mask_sample: bool
    status: str
    correct: bool | None
    extracted_answer: str | None


Judge = Callable[[Any, Any, Any, Any], Awaitable[tuple[Score, float | None]]]
"""Task, gold, response and question to score and reward."""


def nemo_gym_routes(judge: Judge, refusals: Mapping[int | str, dict[str, Any]]) -> APIRouter:
    """The two routes."""
    router = APIRouter()

    @router.post("/seed_session", responses=dict(refusals))
    async def seed_session(request: SeedRequest) -> dict[str, Any]:
        """A session begins; one turn needs no state."""
        return {}

    @router.post("/verify", response_model=VerifyAnswer, responses=dict(refusals))
    async def verify(request: VerifyRequest) -> Response:
        """The reward of a response."""
        row = request.model_dump()
        score, reward = await judge(*record_of(row))
        told = {
            "reward": 0.0 if reward is None else reward,
            "mask_sample": reward is None,
            "status": score.status,
            "correct": score.correct,
            "extracted_answer": score.pred,
        }
        return Response(_encoded({**row, **told}), media_type=_JSON)

    return router


def _encoded(answer: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer)
    except TypeError:  # integers of any length, halves of characters: what came goes back
        return json.dumps(answer).encode("ascii")


def record_of(row: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Task, gold, response and question of a row."""
    about = row.get("verifier_metadata")
    task, answer, question = (
        value if value is not None else row.get(name)
        for name, value in ((name, field(about, name)) for name in ("task", "answer", "question"))
    )
    if not isinstance(question, str):
        question = question_of(row["responses_create_params"].get("input"))
    task = task if isinstance(task, str) else None
    return task, gold_of(answer), _text_of(row["response"].get("output")), question


def _text_of(output: object) -> str:
    """The text of the last message among a response's output items; "" where there is none."""
    for item in reversed(output if isinstance(output, Sequence) and not isinstance(output, str) else ()):
        if isinstance(item, Mapping) and item.get("type") == "message":
            content = item.get("content")
            if isinstance(content, str):
                return content
            parts = content if isinstance(content, Sequence) else ()
            texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
            return "".join(text for text in texts if isinstance(text, str))
    return ""
