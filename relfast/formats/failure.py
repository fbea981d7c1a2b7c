"""Recognises failed responses in rows of any dialect: by an error, an HTTP status code or a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from relfast.json_text import encode_json

MISSING_RESPONSE: Final = "MissingResponse"
"""The kind of a failure that the row gives no type or code for."""


class NoResponse(NamedTuple):
    """Stands in the place of a response that does not exist and cannot be scored; says why."""

    kind: str
    message: str


def from_error(error: Any) -> NoResponse | None:
    """The failure that an ``error`` field describes; None if it is empty.

    The field may be a text, an object with ``type`` or ``code`` and ``message`` (also inside one more
    ``error``, as servers wrap it), or a list, of which the first item that is an error counts.
    """
    if error is None:
        return None
    if isinstance(error, Mapping):
        return _from_object(error)
    if isinstance(error, list):
        return next((found for found in map(from_error, error) if found is not None), None)
    # data frames turn null into NaN, the only value unequal to itself
    if not error or error != error:
        return None
    return NoResponse(MISSING_RESPONSE, error if isinstance(error, str) else f"error is {_text(error)}")


def _from_object(error: Mapping[str, Any]) -> NoResponse | None:
    # in a Parquet column all rows have all keys, so an object of nulls only stands for no error
    if all(value is None for value in error.values()):
        return None
    inner = error.get("error")
    if isinstance(inner, Mapping):
        return _from_object(inner) or NoResponse(MISSING_RESPONSE, _text(error))
    names = (error.get("type"), error.get("code"))
    kind = next((name for name in names if isinstance(name, str) and name), MISSING_RESPONSE)
    message = error.get("message") or inner
    return NoResponse(kind, message if isinstance(message, str) else _text(message or error))


def _text(value: Any) -> str:
    return encode_json(value).decode("utf-8", "replace")


def from_status(code: Any) -> NoResponse | None:
    """The failure that an HTTP status code stands for; None if it is 2xx or no number."""
    try:
        number = None if code is None or isinstance(code, bool) else int(code)
    except (TypeError, ValueError, OverflowError):
        return None
    if number is None or 200 <= number < 300:
        return None
    return NoResponse(MISSING_RESPONSE, f"the server answered with status {number}")


def refusal_in(message: Mapping[str, Any]) -> NoResponse | None:
    """The model's refusal in a chat message, from its ``refusal`` or a part of that type; else None."""
    refusal = message.get("refusal")
    content = message.get("content")
    if not refusal and isinstance(content, list):
        parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "refusal")
        refusal = next((part.get("refusal") or "the model refused" for part in parts), None)
    if not refusal:
        return None
    return NoResponse("Refusal", refusal if isinstance(refusal, str) else _text(refusal))
