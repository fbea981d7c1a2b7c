"""What every dialect is brought to, and the forms a response can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


class _Missing:
    """A field that is not there, as distinct from one that is null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


@dataclass(slots=True)
class Entry:
    """One input row in our own terms. ``MISSING`` stands for a field the row does not have."""

    id: Any = MISSING
    task: Any = MISSING
    question: Any = MISSING
    answer: Any = MISSING
    response: Any = MISSING
    row: Mapping[str, Any] | None = None
    problem: str | None = None
    """Why the row holds no response although it is well formed (a failed request, say)."""


_TEXT_PARTS: Final = (None, "text", "output_text")
"""Parts of a message that are its text; reasoning and refusals are not."""


def samples_of(response: Any) -> list[Any]:
    """The samples in a response field: one for text or chat messages, several for a list of them."""
    if not isinstance(response, list) or not response:
        return [response]
    if all(_is_message(item) for item in response):
        return [text_of(response)]
    if all(isinstance(item, str | list) or item is None for item in response):
        return [text_of(item) if isinstance(item, list) else item for item in response]
    return [response]


def _is_message(item: Any) -> bool:
    return isinstance(item, Mapping) and "role" in item


def text_of(messages: Any) -> Any:
    """The text of the last assistant message; what is no list of messages comes back as it is."""
    if not isinstance(messages, list) or not messages or not all(_is_message(m) for m in messages):
        return messages
    for message in reversed(messages):
        if message["role"] == "assistant":
            return content_of(message.get("content"))
    return None


def content_of(content: Any) -> Any:
    """The text of a message's content: text, or a list of parts of which the text parts count."""
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(
            part["text"]
            for part in content
            if part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)
        )
    return content
