"""Reads what a server replied: the response in it, or by name why there is none.

`Completion` is the result for a caller. Content is read by the functions that read rows of dumps
(`relfast.formats.entry`), so that a reply means the same whether `relfast run` or `relfast score` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from relfast.formats.entry import content_of, said_in
from relfast.formats.failure import (
    CUT_OFF,
    FILTERED,
    IN_REPLIES,
    ONLY_A_CALL,
    ONLY_REASONING,
    REFUSAL,
    NoResponse,
    ended,
    from_error,
    is_silent,
)
from relfast.json_text import Undecodable, decode_object
from relfast.records import ending


@dataclass(frozen=True)
class Completion:
    """The result of one request: ``text``, or ``error`` with type and message.

    Attributes
    ----------
    attempts
        Number of attempts in this run.
    reasoning
        The model's reasoning, if the server returns it apart from the text.
    finish_reason
        The server's word for why the text ended; ``length`` if it was cut off.
    usage
        Counts of tokens that the server reports: ``prompt_tokens``, ``completion_tokens``, and
        ``reasoning_tokens``, which are among the latter.
    model
        The model's name by the server.
    """

    text: str | None
    error: dict[str, str] | None = None
    attempts: int = 1
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, int] | None = None
    model: str | None = None

    @property
    def cut_off(self) -> bool:
        """Whether the tokens ran out before the model had ended."""
        return self.finish_reason is not None and ending(self.finish_reason) == "cut_off"


class ReplyError(Exception):
    """A reply with status 2xx and without a response. ``kind`` names what it is, the message has the server's
    own words; ``again``: another request may be answered better."""

    def __init__(self, kind: str, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.kind, self.again = kind, again


# What the model itself replied (`relfast.formats.failure.IN_REPLIES`) is not asked for again: that would
# choose among its samples, or give the same.

_BREAK_REASONS: Final = frozenset({"abort", "error", "network_error", "insufficient_system_resource"})
"""Finish reasons of servers that broke the response off, for reasons of their own, in lower case."""

_REASONING: Final = ("reasoning_content", "reasoning")
"""Fields in which servers return reasoning: the first of DeepSeek and vLLM, the second of others."""

MAX_TOKENS: Final = 2**40
"""Higher counts of tokens are ignored as nonsense: JSON files hold sums of them."""


def may_pass(status: int) -> bool:
    """Whether a request that got this HTTP status may succeed later: the server is busy, down or slow."""
    return not 400 <= status < 500 or status in (408, 409, 425, 429)


def read_reply(body: bytes) -> Completion:
    """The completion in a reply with status 2xx. Servers send anything, so all is checked.

    A reply in which the model refused, called tools or only reasoned is a completion with an error. One whose
    tokens ran out before the answer began is an empty text: the model has answered nothing.

    Raises
    ------
    ReplyError
        The reply is no completion.
    """
    reply = _object_in(body)
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    for error in (reply.get("error"), _get(choice, "error")):
        if (failed := from_error(error)) is not None:
            code = _get(error, "code")
            raise ReplyError(
                "ErrorReplyError", _line(failed.message), again=type(code) is not int or may_pass(code)
            )
    if not isinstance(choice, Mapping):
        raise ReplyError("NoChoicesError", f"the reply has no choices: {_line(words_in(body))}")
    message = choice.get("message")
    said = said_in(message) if isinstance(message, Mapping) else choice.get("text")
    reason = _name(choice.get("finish_reason"))
    reasoning = _reasoning_in(message)
    about: dict[str, Any] = {
        "reasoning": reasoning,
        "finish_reason": reason,
        "usage": _usage(reply.get("usage")),
        "model": _name(reply.get("model")),
    }
    why = f"finish_reason {reason}" if reason else "without a finish_reason"
    if (reason or "").lower() in _BREAK_REASONS:
        raise ReplyError("BrokenOffError", f"the server broke the response off ({why})")
    said = ended(said, reason)
    if said is CUT_OFF:
        return Completion("", **about)
    calls = _get(message, "tool_calls") or _get(message, "function_call")
    thought = said is ONLY_REASONING or reasoning is not None
    if said is ONLY_A_CALL or (calls and is_silent(said) and not thought):
        return _failed(ONLY_A_CALL, f"the model called tools and said nothing: {_line(calls)}", about)
    if isinstance(said, NoResponse) and not is_silent(said):
        if said.kind == FILTERED.kind:
            return _failed(FILTERED.kind, f"the content filter ended the response ({why})", about)
        return _failed(REFUSAL, f"the model refused: {_line(said.message)}", about)
    if said is not ONLY_REASONING and not is_silent(said):
        if not isinstance(said, str):
            raise ReplyError("NotTextError", f"the content is {_type_of(said)}, not text: {_line(said)}")
        return Completion(said, **about)
    if thought:
        return _failed(ONLY_REASONING, f"only reasoning, no answer ({why})", about)
    if said != "":
        raise ReplyError("NoContentError", f"the message has no content ({why})")
    return Completion("", **about)


def _object_in(body: bytes) -> dict[str, Any]:
    """The JSON object of a reply; raises `ReplyError`, which names what it is instead."""
    start = body[:_LONGEST].lstrip()
    if not body.strip():
        raise ReplyError("EmptyReplyError", "the reply is empty")
    if start[:1] == b"<":
        raise ReplyError("HTMLReplyError", f"the reply is a page, not JSON: {words_in(body)}")
    if _EVENT.match(start):
        words = f"the reply is a stream of events, not JSON: {words_in(body)}"
        raise ReplyError("EventStreamError", words, again=False)
    try:
        return decode_object(body)
    except Undecodable as error:
        raise ReplyError("NotJSONError", f"the reply is {error}: {words_in(body)}") from None


_EVENT: Final = re.compile(rb"(?:data|event|id|retry)?:")
"""How a line of server-sent events begins."""

_TITLE: Final = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")


def words_in(body: bytes) -> str:
    """A server's own words in the body of a reply, in one line: the message of its error, the title or text
    of its page, or its beginning as it stands."""
    text = body[:_LONGEST].decode("utf-8", "replace").strip()
    if text[:1] == "<":
        title = _TITLE.search(text)
        return _line((title[1] if title else "") or _TAG.sub(" ", text) or text)
    if text[:1] == "{" and len(body) <= _LONGEST:
        try:
            found = decode_object(body)
        except Undecodable:
            return _line(text)
        names = ("error", "message", "detail")
        error = next((found[name] for name in names if found.get(name)), None)
        failed = from_error(error)
        return _line(text if failed is None else failed.message)
    return _line(text)


def _failed(why: NoResponse | str, message: str, about: Mapping[str, Any]) -> Completion:
    return Completion(None, {"type": IN_REPLIES[why], "message": message}, **about)


def _reasoning_in(message: Any) -> str | None:
    """The reasoning of a message, from fields of its own or the parts of its content."""
    texts: list[Any] = [_get(message, name) for name in _REASONING]
    content = _get(message, "content")
    for part in content if isinstance(content, list) else ():
        kind = _get(part, "type")
        if kind in ("thinking", "reasoning"):
            texts.append(content_of(_get(part, "thinking") or _get(part, "reasoning") or _get(part, "text")))
    return next((text for text in texts if isinstance(text, str) and text), None)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _type_of(value: object) -> str:
    return {dict: "an object", list: "a list", bool: "true or false"}.get(type(value), "a number")


def _name(value: object) -> str | None:
    """A text of the server in one line; None without one."""
    return _line(value) if isinstance(value, str) and value else None


def _usage(usage: Any) -> dict[str, int] | None:
    sent = {
        "prompt_tokens": _get(usage, "prompt_tokens"),
        "completion_tokens": _get(usage, "completion_tokens"),
        "reasoning_tokens": _get(_get(usage, "completion_tokens_details"), "reasoning_tokens"),
    }
    counts = {name: count for name, count in sent.items() if type(count) is int and 0 <= count <= MAX_TOKENS}
    return counts or None


_LONGEST: Final = 4_000
_SHOWN: Final = 200


def _line(value: object) -> str:
    """A value in one line, longer than is shown: the server's key must be removed before the text is cut."""
    return " ".join(str(value)[:_LONGEST].split())


def short(text: str) -> str:
    """A text in one line of at most 200 characters, without lone surrogates."""
    text = " ".join(text[:_LONGEST].encode("utf-8", "replace").decode("utf-8").split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
