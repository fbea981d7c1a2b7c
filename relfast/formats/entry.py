"""`Entry`, an input row whatever its dialect was, and the forms that its response field can have.

A trainer gives messages as dicts, as objects with attributes (a dataclass, pydantic's), or as objects that
only ``model_dump`` tells about. Everything that takes a completion or a prompt from Python brings it to
mappings by `plain_messages` first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from relfast.formats.failure import (
    NO_ASSISTANT,
    NO_CONTENT,
    NULL,
    ONLY_A_CALL,
    ONLY_REASONING,
    NoResponse,
    ended,
    from_error,
    refusal_in,
)
from relfast.formats.paths import MISSING
from relfast.formats.table import REASONS_OF_MESSAGES
from relfast.records import Plain


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
    reason
        Why the text ended (`relfast.formats.failure.ended`), or a list with a reason per sample.
    filter
        Name of the filter of lm-evaluation-harness that made the row.
    numbered
        The id is only a number that the tool gave: gold of ``--data`` is looked up by the question first.
    joined
        Gold of ``--data`` was found for it.
    """

    id: Any = MISSING
    task: Any = MISSING
    question: Any = MISSING
    answer: Any = MISSING
    response: Any = MISSING
    row: Mapping[str, Any] | None = None
    failure: NoResponse | None = None
    error: Any = None
    reason: Any = None
    filter: str | None = None
    numbered: bool = False
    joined: bool = False

    def samples(self) -> list[Any]:
        """The row's samples: one response each, or a `NoResponse` if the sample failed.

        A list of errors as long as the list of responses holds one error per sample. Any other error applies
        to the responses that are null, or to all responses if none is null. The result is empty if the row
        has no response and no error.
        """
        plain = self.error is None and self.failure is None and self.reason is None
        if plain and type(self.response) is str:
            return [self.response]
        samples = [] if self.response is MISSING else samples_of(self.response)
        if self.failure is not None:
            return [self.failure] * max(1, len(samples))
        if isinstance(self.error, list) and len(self.error) == len(samples):
            pairs = zip(self.error, samples, strict=True)
            samples = [from_error(error) or sample for error, sample in pairs]
        elif (error := from_error(self.error)) is not None:
            if any(sample is NULL for sample in samples):
                samples = [error if sample is NULL else sample for sample in samples]
            else:
                samples = [error] * max(1, len(samples))
        if self.reason is None:
            return samples
        if not isinstance(self.reason, list):
            return [ended(sample, self.reason) for sample in samples]
        return [*map(ended, samples, self.reason)] if len(self.reason) == len(samples) else samples


_TEXT_PARTS: Final = (None, "text", "output_text")
"""Types of the parts of a message that make up its text; reasoning and refusals do not belong to it."""

_THOUGHTS: Final = frozenset(
    {"cot", "think", "thinking", "thought", "thoughts", "reasoning", "rationale", "scratchpad", "analysis"}
)
"""Words in the types of messages and parts, and in keys, that hold what the model thought."""
_CHANNELS: Final = ("channel", "phase")
"""Members of a message that say whether it is ``final``, or the model's ``analysis`` or ``commentary``."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

_PARTS_OF_MESSAGES: Final = frozenset({"text", "output_text", "summary_text", "refusal"})
"""Types of parts, beside reasoning, by which a list is known as one message's content: it may also be a list
of samples, and those too may be objects with a ``type``, but of other types."""

_ITEMS: Final = re.compile(r"message|reasoning|\w+_call(_output)?|mcp_\w+|compaction")
"""Types of items without a role that a server's list of output (OpenAI's Responses) has beside messages."""


def samples_of(response: Any) -> list[Any]:
    """The samples in a response field: one if it is a text, a chat or the parts of one message, several if it
    is a list of these. Each is a text, a `NoResponse`, or a value of another kind, which cannot be scored."""
    if not isinstance(response, list) or _is_conversation(response) or _is_content(response):
        return [text_of(response)]
    return [text_of(item) for item in response]


def text_of(value: Any) -> Any:
    """The text of one response, which may be a chat or the parts of a message; a `NoResponse` if it failed; a
    value of any other kind is returned unchanged (`no_text` says what is wrong with it)."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    if value is None:
        return NULL
    if isinstance(value, Mapping):
        return from_error(value.get("error")) or value
    if _is_content(value):
        return said_in({"content": value})
    return last_said(value) if _is_conversation(value) else value


def no_text(value: Any) -> NoResponse:
    """The failure of a response that is no text, such as an object or a number."""
    kinds = ((Mapping, "an object"), (bool, "a bool"), (int | float, "a number"), (list, "a list"))
    kind = next((kind for types, kind in kinds if isinstance(value, types)), type(value).__name__)
    return NoResponse("InvalidResponse", f"response is {kind}, not text")


def _is_conversation(value: Any) -> bool:
    """Whether a value is a list of chat messages, or a server's list of output with a message in it."""
    if not isinstance(value, list) or not value:
        return False
    has_message = False
    for item in value:
        # comparing the type first is ten times as fast as isinstance, and nearly all are dicts
        if type(item) is not dict and not isinstance(item, Mapping):
            return False
        if "role" in item:
            has_message = True
        elif not (isinstance(item.get("type"), str) and _ITEMS.fullmatch(item["type"])):
            return False
    return has_message


def _is_content(value: Any) -> bool:
    """Whether a value is the list of parts of one message, such as Anthropic's ``message.content``."""
    return (
        isinstance(value, list)
        and all(map(_is_part, value))
        and any(part["type"] in _PARTS_OF_MESSAGES or is_reasoning(part) for part in value)
    )


def _is_part(item: Any) -> bool:
    # an object with an error is a sample, one with a role is a message
    return (
        isinstance(item, Mapping)
        and isinstance(item.get("type"), str)
        and "role" not in item
        and "error" not in item
    )


def is_reasoning(item: Mapping[str, Any]) -> bool:
    """Whether a message, or a part of one, is what the model thought and not what it answered."""
    said = [name for name in (item.get(key) for key in ("type", *_CHANNELS)) if isinstance(name, str)]
    if item.get("thought") is True or any(name == "commentary" or names_reasoning(name) for name in said):
        return True
    return "text" not in item and "content" not in item and _has_thoughts(item)


def _has_thoughts(item: Mapping[str, Any]) -> bool:
    return any(value and isinstance(name, str) and names_reasoning(name) for name, value in item.items())


def names_reasoning(name: str) -> bool:
    """Whether a type or key names what a model thought: ``reasoning_content``, ``redacted_thinking``."""
    return not _THOUGHTS.isdisjoint(map(str.lower, _WORD.findall(name)))


def last_said(messages: Sequence[Mapping[str, Any]]) -> Any:
    """The text of the last message of the assistant that is no reasoning, or a `NoResponse`."""
    nothing = NO_ASSISTANT
    for message in reversed(messages):
        if message.get("role") == "assistant":
            said = said_in(message)
            if said is not ONLY_REASONING:
                return said
        if message.get("role") == "assistant" or ("role" not in message and is_reasoning(message)):
            nothing = ONLY_REASONING
    return nothing


def said_in(message: Mapping[str, Any]) -> Any:
    """The text of a message; a `NoResponse` if it has none, is reasoning only, or the model refused."""
    content = message.get("content")
    refusal = refusal_in(message)
    if refusal is not None:
        return refusal
    if _only_calls(message):
        return ONLY_A_CALL
    if is_reasoning(message):
        return ONLY_REASONING
    parts = (
        content if isinstance(content, list) and all(isinstance(part, Mapping) for part in content) else None
    )
    said = content if parts is None else "".join(texts) if (texts := _texts_in(parts)) else None
    if not said and (said is None or isinstance(said, str)):
        thought = _has_thoughts(message) or any(map(is_reasoning, parts or ()))
        said = ONLY_REASONING if thought else NO_CONTENT if said is None else said
    return ended(said, next((message[name] for name in REASONS_OF_MESSAGES if message.get(name)), None))


_CALLS: Final = ("tool_calls", "function_call")
_CALL: Final = re.compile(r"(\w+_)?(tool|function)[-_]?(use|call)", re.IGNORECASE)
"""Types of parts that call a tool, such as ``tool_use`` and ``functionCall``."""


def _only_calls(message: Mapping[str, Any]) -> bool:
    """Whether a message calls a tool and says nothing: it is no answer."""
    content = message.get("content")
    calls = any(map(message.get, _CALLS)) or (
        isinstance(content, list)
        and any(
            isinstance(kind, str) and _CALL.fullmatch(kind)
            for part in content
            if isinstance(part, Mapping)
            for kind in (part.get("type"), *part)
        )
    )
    said = content_of(content) if calls else None
    return calls and not (isinstance(said, str) and said)


def _texts_in(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The texts of a message's parts."""
    return [
        part["text"]
        for part in parts
        if part.get("type") in _TEXT_PARTS
        and isinstance(part.get("text"), str)
        and part.get("thought") is not True
    ]


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
        return "".join(_texts_in(content))
    return content


_NAMES: Final = (
    *("role", "content", "type", "text", "refusal", "tool_calls", "function_call", "channel", "phase"),
    *("reasoning_content", "reasoning", "thinking", "finish_reason", "stop_reason"),
)
"""Members that are looked for as attributes, also where they are properties or slots."""

_CALL_ITEMS: Final = ("function_call", "custom_tool_call")
"""Types of a server's items of output that call a tool."""


def plain_messages(value: Any) -> Any:
    """A completion or a prompt with its messages, and the parts of their contents, as mappings.

    Parameters
    ----------
    value
        A text; or a list, tuple or array of messages.

    Returns
    -------
    list of mappings, or ``value``
        The messages, in order. A text, and what cannot be read as messages, is returned unchanged.
    """
    if isinstance(value, str) or value is None:
        return value
    try:
        if not isinstance(value, Mapping | Sequence) and hasattr(value, "tolist"):
            value = value.tolist()
            if isinstance(value, str):
                return value
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            messages = [*map(_message, value)]
            return value if None in messages else messages
        return value
    except MemoryError:
        raise
    except Exception:
        return value  # a foreign class, whose methods may raise anything: its score says that it is no text


def _message(value: Any) -> Mapping[str, Any] | None:
    """A message as a mapping, or None."""
    found = _mapping(value, "role", "content")
    if found is None:
        return None
    role, content = found.get("role"), found.get("content")
    if found.get("type") in _CALL_ITEMS and role is None:  # an item of a server's list of output
        return {"role": "assistant", "content": "", "tool_calls": [found]}
    if type(content) is str and content.isspace() and found.get("tool_calls"):
        content = ""  # chat templates leave white space before a call
    elif type(role) is str and type(content) is str:
        return found
    told = getattr(role, "value", role)
    parts = content = content.tolist() if content is not None and hasattr(content, "tolist") else content
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        parts = [_mapping(part, "type", "text") for part in content]
        parts = content if None in parts or parts == content else parts
    same = told is role and parts is found.get("content")
    return found if same else {**found, "role": told, "content": parts}


def _mapping(value: Any, *names: str) -> Mapping[str, Any] | None:
    """An object that has one of these members, as a mapping; a mapping itself; else None."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    if any(hasattr(value, name) for name in names) and not isinstance(value, str | type):
        members = {name: getattr(value, name) for name in _NAMES if hasattr(value, name)}
        return {
            **(getattr(value, "__pydantic_extra__", None) or {}),
            **getattr(value, "__dict__", {}),
            **members,
        }
    dump = getattr(value, "model_dump", None)
    dumped = dump() if callable(dump) else None
    return dumped if isinstance(dumped, Mapping) else None
