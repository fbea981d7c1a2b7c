"""What every dialect is brought to, and the forms a response can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from relfast.formats.failure import MISSING_RESPONSE, NoResponse, from_error, refusal_in
from relfast.formats.paths import MISSING
from relfast.plain import Plain


@dataclass(slots=True, repr=False, eq=False)
class Entry(Plain):
    """One input row in our own terms. ``MISSING`` stands for a field the row does not have.

    Attributes
    ----------
    response
        As it stands in the row; a dialect may put a `NoResponse` in the place of one, or of a sample.
    failure
        Why there is no response at all, whatever text may stand beside it.
    error
        The row's ``error`` field as it is.
    filter
        Name of the filter of lm-evaluation-harness that the row is about.
    numbered
        The id is a number of the tool's own: gold of ``--data`` is looked up by the question first.
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
        """The responses, one a sample, with a `NoResponse` for each that failed.

        A list of errors as long as that of the responses goes with them one by one. Any other error is about
        the responses that are null, and about all where none is. Empty where the row has no response and
        does not say why.
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
"""Parts of a message that are its text; reasoning and refusals are not."""

_PARTS_OF_MESSAGES: Final = frozenset(
    {"text", "output_text", "refusal", "thinking", "redacted_thinking", "reasoning"}
)
"""Parts by which a list is known for what was said: samples that are objects may have types of their own."""


def samples_of(response: Any) -> list[Any]:
    """The samples in a response field: one for text, chat messages or the parts of one, several for a list of
    them."""
    if not isinstance(response, list) or _is_conversation(response) or _is_content(response):
        return [_sample(response)]
    return [_sample(item) for item in response]


def _sample(value: Any) -> Any:
    if value is None:
        return NULL
    if isinstance(value, Mapping):
        return from_error(value.get("error")) or value
    if _is_content(value):
        return said_in({"content": value})
    return last_said(value) if _is_conversation(value) else value


def _is_conversation(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    for item in value:
        # to ask for the type itself is ten times as fast, and it nearly always is that
        if (type(item) is not dict and not isinstance(item, Mapping)) or "role" not in item:
            return False
    return True


def _is_content(value: Any) -> bool:
    """Whether a list is the parts of one message, as Anthropic's ``message.content`` is saved."""
    return (
        isinstance(value, list)
        and all(map(_is_part, value))
        and any(part["type"] in _PARTS_OF_MESSAGES for part in value)
    )


def _is_part(item: Any) -> bool:
    # an error is that of a sample, and a role that of a message
    return (
        isinstance(item, Mapping)
        and isinstance(item.get("type"), str)
        and "role" not in item
        and "error" not in item
    )


def last_said(messages: list[Mapping[str, Any]]) -> Any:
    """The text of the last assistant message, or a `NoResponse`."""
    said = (said_in(message) for message in reversed(messages) if message["role"] == "assistant")
    return next(said, NoResponse(MISSING_RESPONSE, NO_ASSISTANT))


def said_in(message: Mapping[str, Any]) -> Any:
    """The text of a message, or a `NoResponse`: it holds none, or the model refused."""
    content = message.get("content")
    refusal = refusal_in(message)
    if refusal is None and (content is None or content == []):
        return NO_CONTENT
    return refusal or content_of(content)


def text_of(messages: Any) -> Any:
    """The text of the last assistant message, or None; what is no list of messages comes back as it is."""
    if not _is_conversation(messages):
        return messages
    said = (message.get("content") for message in reversed(messages) if message["role"] == "assistant")
    return content_of(next(said, None))


def last_user_said(messages: list[Any]) -> Any:
    """The text of the last message of the user, or None; ``prompt`` is what OpenCompass calls a content."""
    for message in reversed(messages):
        if isinstance(message, Mapping) and str(message.get("role")).lower() in _USERS:
            return content_of(message.get("content", message.get("prompt")))
    return None


_USERS: Final = ("user", "human")


def content_of(content: Any) -> Any:
    """The text of a message's content: text, or a list of parts of which the text parts count."""
    if type(content) is str:
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(
            part["text"]
            for part in content
            if part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)
        )
    return content
