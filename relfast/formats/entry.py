"""`Entry`, an input row whatever its dialect was, and the forms that its response field can have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error, refusal_in
from relfast.formats.paths import MISSING
from relfast.plain import Plain


@dataclass(slots=True, repr=False, eq=False)
class Entry(Plain):
    """One input row with relfast's field names. ``MISSING`` stands for a field that the row does not have.

    Attributes
    ----------
    response
        The row's response field, unchanged. A dialect may put a `NoResponse` in its place, or in that of a
        sample in it.
    row
        The object from which tasks read further fields.
    failure
        Why the whole row has no response; any text in ``response`` is ignored then.
    error
        The row's ``error`` field, unchanged.
    filter
        Name of the filter of lm-evaluation-harness that made the row.
    numbered
        The id is only a number that the tool gave: gold of ``--data`` is looked up by the question first.
    """

    id: Any = MISSING
    task: Any = MISSING
    question: Any = MISSING
    answer: Any = MISSING
    response: Any = MISSING
    row: Mapping[str, Any] | None = None
    failure: NoResponse | None = None
    error: Any = None
    filter: str | None = None
    numbered: bool = False

    def samples(self) -> list[Any]:
        """The row's samples: one response each, or a `NoResponse` if the sample failed.

        A list of errors as long as the list of responses holds one error per sample. Any other error applies
        to the responses that are null, or to all responses if none is null. The result is empty if the row
        has no response and no error.
        """
        if type(self.response) is str and self.error is None and self.failure is None:
            return [self.response]
        samples = [] if self.response is MISSING else samples_of(self.response)
        if self.failure is not None:
            return [self.failure] * max(1, len(samples))
        if isinstance(self.error, list) and len(self.error) == len(samples):
            pairs = zip(self.error, samples, strict=True)
            return [from_error(error) or sample for error, sample in pairs]
        error = from_error(self.error)
        if error is None:
            return samples
        if any(sample is NULL for sample in samples):
            return [error if sample is NULL else sample for sample in samples]
        return [error] * max(1, len(samples))


NULL: Final = NoResponse(MISSING_RESPONSE, "the response is null")
NO_ASSISTANT: Final = "there is no message of the assistant"
NO_CONTENT: Final = NoResponse(MISSING_RESPONSE, "the message has no content")

_TEXT_PARTS: Final = (None, "text", "output_text")
"""Types of the parts of a message that make up its text; reasoning and refusals do not belong to it."""

_PARTS_OF_MESSAGES: Final = frozenset(
    {"text", "output_text", "refusal", "thinking", "redacted_thinking", "reasoning"}
)
"""Types of parts by which a list is known as one message's content: it may also be a list of samples, and
those too may be objects with a ``type``, but of other types."""


def samples_of(response: Any) -> list[Any]:
    """The samples in a response field: one if it is a text, a chat or the parts of one message, several if it
    is a list of these."""
    if not isinstance(response, list) or _is_conversation(response) or _is_content(response):
        return [_sample(response)]
    return [_sample(item) for item in response]


def _sample(value: Any) -> Any:
    """The text of a sample, or a `NoResponse`; a value of any other kind is returned unchanged."""
    if value is None:
        return NULL
    if isinstance(value, Mapping):
        return from_error(value.get("error")) or value
    if _is_content(value):
        return said_in({"content": value})
    return last_said(value) if _is_conversation(value) else value


def _is_conversation(value: Any) -> bool:
    """Whether a value is a list of chat messages."""
    if not isinstance(value, list) or not value:
        return False
    for item in value:
        # comparing the type first is ten times as fast as isinstance, and nearly all are dicts
        if (type(item) is not dict and not isinstance(item, Mapping)) or "role" not in item:
            return False
    return True


def _is_content(value: Any) -> bool:
    """Whether a value is the list of parts of one message, such as Anthropic's ``message.content``."""
    return (
        isinstance(value, list)
        and all(map(_is_part, value))
        and any(part["type"] in _PARTS_OF_MESSAGES for part in value)
    )


def _is_part(item: Any) -> bool:
    # an object with an error is a sample, one with a role is a message
    return (
        isinstance(item, Mapping)
        and isinstance(item.get("type"), str)
        and "role" not in item
        and "error" not in item
    )


def last_said(messages: list[Mapping[str, Any]]) -> Any:
    """The text of the last assistant message, or a `NoResponse`."""
    texts = (said_in(message) for message in reversed(messages) if message["role"] == "assistant")
    return next(texts, NoResponse(MISSING_RESPONSE, NO_ASSISTANT))


def said_in(message: Mapping[str, Any]) -> Any:
    """The text of a message; a `NoResponse` if it has no content or the model refused."""
    content = message.get("content")
    refusal = refusal_in(message)
    if refusal is None and _only_calls(message):
        return ONLY_A_CALL
    if refusal is None and (content is None or content == []):
        return NO_CONTENT
    return refusal or content_of(content)


ONLY_A_CALL: Final = NoResponse(MISSING_RESPONSE, "the last message only calls a tool")

_CALLS: Final = ("tool_calls", "function_call")
_CALL: Final = re.compile(r"(\w+_)?(tool|function)[-_]?(use|call)", re.IGNORECASE)
"""Types of parts that call a tool, such as ``tool_use`` and ``functionCall``."""


def _only_calls(message: Mapping[str, Any]) -> bool:
    """Whether a message calls a tool and says nothing: it is no answer."""
    content = message.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    calls = any(map(message.get, _CALLS)) or any(
        isinstance(kind, str) and _CALL.fullmatch(kind)
        for part in parts
        for kind in (part.get("type"), *part)
    )
    said = content_of(content) if calls else None
    return calls and not (isinstance(said, str) and said.strip())


def text_of(value: Any) -> Any:
    """The text of a response that may be a chat or the parts of a message; a `NoResponse` if it has none; a
    value of any other kind is returned unchanged (`no_text` says what is wrong with it)."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    if value is None:
        return NULL
    if _is_content(value):
        return said_in({"content": value})
    return last_said(value) if _is_conversation(value) else value


def no_text(value: Any) -> NoResponse:
    """The failure of a response that is no text, such as an object or a number."""
    kinds = ((Mapping, "an object"), (bool, "a bool"), (int | float, "a number"), (list, "a list"))
    kind = next((kind for types, kind in kinds if isinstance(value, types)), type(value).__name__)
    return NoResponse("InvalidResponse", f"response is {kind}, not text")


def last_user_said(messages: list[Any]) -> Any:
    """The text of the user's last message, or None. OpenCompass calls the content of a message ``prompt``."""
    for message in reversed(messages):
        if isinstance(message, Mapping) and str(message.get("role")).lower() in _USERS:
            return content_of(message.get("content", message.get("prompt")))
    return None


_USERS: Final = ("user", "human")


def content_of(content: Any) -> Any:
    """The text in the content of a message: the content itself, or its text parts joined if it is a list."""
    if type(content) is str:
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(
            part["text"]
            for part in content
            if part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)
        )
    return content
