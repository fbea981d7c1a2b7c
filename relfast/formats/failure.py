"""Recognises failed responses in rows of any dialect: by an error, an HTTP status code, a refusal, or what
the server says about why the text ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from relfast.json_text import encode_json
from relfast.records import ending

MISSING_RESPONSE: Final = "MissingResponse"
"""The kind of a failure that the row gives no type or code for."""


class NoResponse(NamedTuple):
    """Stands in the place of a response that does not exist and cannot be scored; says why."""

    kind: str
    message: str


NULL: Final = NoResponse(MISSING_RESPONSE, "the response is null")
NO_CONTENT: Final = NoResponse(MISSING_RESPONSE, "the message has no content")
NO_ASSISTANT: Final = NoResponse(MISSING_RESPONSE, "there is no message of the assistant")
ONLY_REASONING: Final = NoResponse(MISSING_RESPONSE, "only reasoning, no answer")
REFUSAL: Final = "Refusal"
FILTERED: Final = NoResponse("ContentFilter", "the content filter left nothing of the response")

CUT_OFF: Final = NoResponse("CutOff", "the tokens ran out before the response began")
"""In place of a response that is scored as the empty text: the model had its tokens and said nothing."""

ONLY_A_CALL: Final = NoResponse(MISSING_RESPONSE, "the last message only calls a tool")

IN_REPLIES: Final[Mapping[NoResponse | str, str]] = {
    REFUSAL: "RefusalError",
    FILTERED.kind: "ContentFilterError",
    ONLY_REASONING: "OnlyReasoningError",
    ONLY_A_CALL: "ToolCallsError",
    CUT_OFF: "TruncatedError",
}
"""By these names `relfast run` writes into its rows what the model itself replied instead of an answer: for a
kind of failure, or a single one."""


def is_silent(sample: Any) -> bool:
    """Whether a sample has no text, for no other reason than that the model said nothing."""
    return (
        sample in _SILENT
        if isinstance(sample, NoResponse)
        else sample is None or (type(sample) is str and not sample)
    )


_SILENT: Final = (NULL, NO_CONTENT, ONLY_REASONING)


def ended(sample: Any, reason: Any) -> Any:
    """A sample (a text, a `NoResponse` or any other value) in the light of its finish reason: `CUT_OFF` if
    the tokens ran out before there was any text; a `NoResponse` if the model or a filter refused, even with
    text; else the sample unchanged. Finish reasons decide nowhere else; docs/rows.md has the table."""
    word = reason_in(reason)
    means = None if word is None else ending(word)
    if means == "cut_off":
        return CUT_OFF if is_silent(sample) else sample
    if means != "filtered" or (isinstance(sample, NoResponse) and not is_silent(sample)):
        return sample
    if "refus" in str(word).lower():
        return NoResponse(REFUSAL, f"the model refused (finish_reason {word:.100})")
    if is_silent(sample):
        return FILTERED
    return NoResponse(FILTERED.kind, f"the response was filtered (finish_reason {word:.100})")


def reason_in(value: Any) -> str | None:
    """The finish reason in what stands where one is expected: a text, or an object that holds it."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in ("reason", "type") if value.get(name)), None)
    return value if isinstance(value, str) and value else None


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
    message = error.get("message") or inner or error.get("reason")
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
    return NoResponse(REFUSAL, refusal if isinstance(refusal, str) else _text(refusal))
