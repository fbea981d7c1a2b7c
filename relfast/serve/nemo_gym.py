"""NeMo-Gym's protocol of a resource server: the request types of its two routes, and how a row is read.

A row of its data sets has ``responses_create_params`` (the model's input) and, beside it or in
``verifier_metadata``, ``task``, ``answer`` and ``question``. Without a question the user's last input is
used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from relfast.formats.entry import content_of
from relfast.formats.messages import CALLS
from relfast.rewards.shared import Row, question_of, read_sample


def described_by(examples: Mapping[str, Any]) -> ConfigDict:
    """The pydantic configuration of a request type with an example, which `/docs` offers to send."""
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
        description="The model's input, in the form of the Responses API."
    )
    response: dict[str, Any] = Field(description="The Responses API's object, with ``output``.")


class VerifyAnswer(VerifyRequest):
    """The row with its reward. A response without a score has reward 0 and is masked: it does not count."""

    reward: float
    mask_sample: bool
    status: str
    correct: bool | None
    extracted_answer: str | None


def record_of(row: Mapping[str, Any]) -> Row:
    """Task, gold, response and question of a row of ``/verify``."""
    task, gold, question = read_sample(None, None, row.get("verifier_metadata"), row)
    if not isinstance(question, str):
        question = question_of(row["responses_create_params"].get("input"))
    return task if isinstance(task, str) else None, gold, _text_of(row["response"].get("output")), question


def _text_of(output: object) -> Any:
    """The text of the last message among a response's output items; "" without one; a call of a tool as it
    is, if that comes last."""
    items = output if isinstance(output, list) else ()
    said = [item for item in items if isinstance(item, Mapping) and item.get("type") in ("message", *CALLS)]
    if said and said[-1]["type"] in CALLS:
        return said[-1:]
    content = content_of(said[-1].get("content")) if said else ""
    return content if isinstance(content, str) else ""
