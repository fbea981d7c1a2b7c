"""Chat messages that are Python objects, brought to the mappings that `relfast.formats.entry` reads.

A trainer gives messages as dicts, as objects with attributes (a dataclass, pydantic's), or as objects that
only ``model_dump`` tells about. Everything that takes a completion or a prompt from Python reads it through
`plain_messages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_NAMES: Final = (
    *("role", "content", "type", "text", "refusal", "tool_calls", "function_call", "channel", "phase"),
    *("reasoning_content", "reasoning", "thinking", "finish_reason", "stop_reason"),
)
"""Members that are looked for as attributes, also where they are properties or slots."""

_CALLS: Final = ("function_call", "custom_tool_call")
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
    if found.get("type") in _CALLS and role is None:  # an item of a server's list of output
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
