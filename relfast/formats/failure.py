"""What says that a response failed, in the words of any dialect: an error, a status code, a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from relfast_kernels import layouts

from relfast.json_text import encode_json

MISSING_RESPONSE: Final = "MissingResponse"
"""Kind of a failure that has no name of its own."""


class NoResponse(NamedTuple):
    """Stands where a response should be, and says why there is none: it cannot be scored."""

    kind: str
    message: str


_WORDS: Final = {
    layouts.OF_OBJECT: (MISSING_RESPONSE, ""),
    layouts.AS_SAID: (MISSING_RESPONSE, "{}"),
    layouts.NULL_RESPONSE: (MISSING_RESPONSE, "the response is null"),
    layouts.NO_CONTENT: (MISSING_RESPONSE, "the message has no content"),
    layouts.ENDED: (MISSING_RESPONSE, "the message has no content (finish_reason {})"),
    layouts.FILTERED: ("ContentFilter", "the content filter left nothing of the response"),
    layouts.NOT_SAID: (MISSING_RESPONSE, "there is no message of the assistant"),
    layouts.REFUSED: ("Refusal", "{}"),
    layouts.REFUSED_WORDLESS: ("Refusal", "the model refused"),
    layouts.STATUS: (MISSING_RESPONSE, "the server answered with status {}"),
    layouts.ABORTED: (MISSING_RESPONSE, "no text (finish_reason {})"),
}
GENERAL_WORDS: Final = tuple(_WORDS[number] for number in range(layouts.OWN_WORDS))
"""Kind and words of failures in rows of any dialect, by the kernels' numbers; ``{}`` is what they quote."""


def failure(number: int, quoted: Any = None) -> NoResponse:
    """A failure in general words."""
    kind, words = GENERAL_WORDS[number]
    return NoResponse(kind, words.format(quoted))


def from_error(error: Any) -> NoResponse | None:
    """What an ``error`` field says; None if it says nothing.

    Read are texts, objects with ``type`` or ``code`` and ``message`` (also inside one more ``error``, as
    servers wrap them), and lists, of which the first that says something counts.
    """
    if error is None:
        return None
    if isinstance(error, Mapping):
        return _from_object(error)
    if isinstance(error, list):
        return next((found for found in map(from_error, error) if found is not None), None)
    # NaN is what data frames make of null
    if not error or error != error:
        return None
    return NoResponse(MISSING_RESPONSE, error if isinstance(error, str) else f"error is {_text(error)}")


def _from_object(error: Mapping[str, Any]) -> NoResponse | None:
    # a Parquet column holds the union of all rows' keys: an object of nulls is none
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
    """What an HTTP status code says; None if it is one of success, or none at all."""
    try:
        number = None if code is None or isinstance(code, bool) else int(code)
    except (TypeError, ValueError, OverflowError):
        return None
    if number is None or 200 <= number < 300:
        return None
    return failure(layouts.STATUS, number)


def refusal_in(message: Mapping[str, Any]) -> NoResponse | None:
    """The refusal in a chat message: its ``refusal``, or a part of its content of that type."""
    refusal = message.get("refusal")
    content = message.get("content")
    if not refusal and isinstance(content, list):
        parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "refusal")
        wordless = failure(layouts.REFUSED_WORDLESS).message
        refusal = next((part.get("refusal") or wordless for part in parts), None)
    if not refusal:
        return None
    return NoResponse("Refusal", refusal if isinstance(refusal, str) else _text(refusal))
