"""NeMo-Gym's protocol of a resource server: the request types of its two routes, and how a row is read.

A row of its data sets has ``responses_create_params`` (the model's input) and, beside it or in
``verifier_metadata``, ``task``, ``answer`` and ``question``. Without a question the user's last input is
used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from relfast.formats.entry import last_said, plain_messages
from relfast.formats.failure import ended
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
    return task if isinstance(task, str) else None, gold, _said_in(row["response"]), question


def _said_in(response: Mapping[str, Any]) -> Any:
    """The text of a response's last message that is no reasoning, or why there is none."""
    output, details = response.get("output"), response.get("incomplete_details")
    items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
    items = [{"role": _MODEL, **item} if item.get("type") == "message" else item for item in items]
    said = last_said(plain_messages(items))
    return ended(said, details.get("reason") if isinstance(details, Mapping) else None)


_MODEL: Final = "assistant"
