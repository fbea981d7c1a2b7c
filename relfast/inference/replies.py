"""What a server's reply says: a text, reasoning apart from it, why it ended, its cost; or that it is none."""

from __future__ import annotations

import importlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_REPLY_BYTES: Final = 64 * 2**20
"""Longest reply that is read: some ten million tokens."""

MAX_TOKENS: Final = 2**40
"""Highest count of tokens that is believed: no reply has more, and files of JSON hold sums of it."""


@dataclass(frozen=True)
class Completion:
    """What a server said: ``text``, or ``error`` with type and message.

    Attributes
    ----------
    attempts
        Requests that it took, in this run.
    reasoning
        What the server gave as the model's reasoning, apart from the text.
    finish_reason
        Why the text ended, in the server's words; ``length`` where it was cut off.
    usage
        Tokens: ``prompt_tokens``, ``completion_tokens``, and ``reasoning_tokens`` of these, as far as said.
    model
        The model's name as the server has it.
    """

    text: str | None
    error: dict[str, str] | None = None
    attempts: int = 1
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, int] | None = None
    model: str | None = None


class GarbageError(Exception):
    """A server's reply is no completion: no JSON, no choices, no text."""


REFUSED: Final = "RefusalError"
"""The model, or a filter behind it, refused to answer; it would again."""

CUT_OFF: Final = "TruncatedError"
"""The tokens ran out before the answer began, in reasoning; they would again."""


_REASONING: Final = ("reasoning_content", "reasoning")
"""Where servers put reasoning: DeepSeek and vLLM, and others."""


def read_reply(reply: Any) -> Completion:
    """The completion that a reply is. The library hands on whatever JSON, or text, the server sent.

    A refusal is an error, and so is a response that ends before its first word: asked again, the server
    would say the same.

    Raises
    ------
    GarbageError
        It is none; another attempt may do.
    """
    try:
        choice = reply.choices[0]
        message = getattr(choice, "message", None)
        text = message.content if message is not None else choice.text
    except (AttributeError, IndexError, KeyError, TypeError):
        raise GarbageError(f"the reply has no choices: {_line(reply)}") from None
    reason = _name(getattr(choice, "finish_reason", None))
    reasoning = next(filter(None, (_text(getattr(message, name, None)) for name in _REASONING)), None)
    about: dict[str, Any] = {
        "reasoning": reasoning,
        "finish_reason": reason,
        "usage": _usage(getattr(reply, "usage", None)),
        "model": _name(getattr(reply, "model", None)),
    }
    refusal = getattr(message, "refusal", None)
    if refusal:
        return _failed(REFUSED, _line(refusal), about)
    if not text and reason == "content_filter":
        return _failed(REFUSED, "the content filter left nothing of the response", about)
    if not text and reason == "length":
        return _failed(CUT_OFF, "the tokens ran out before the answer began: raise --max-tokens", about)
    if not isinstance(text, str):
        raise GarbageError(f"the reply's text is {type(text).__name__}")
    return Completion(text, **about)


def _failed(kind: str, message: str, about: Mapping[str, Any]) -> Completion:
    return Completion(None, {"type": kind, "message": message}, **about)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _name(value: object) -> str | None:
    """A text that is counted by its value."""
    text = _text(value)
    return None if text is None else short(text)


def _usage(usage: Any) -> dict[str, int] | None:
    details = getattr(usage, "completion_tokens_details", None)
    found = {
        "prompt_tokens": getattr(usage, "prompt_tokens", None),
        "completion_tokens": getattr(usage, "completion_tokens", None),
        "reasoning_tokens": getattr(details, "reasoning_tokens", None),
    }
    counts = {name: count for name, count in found.items() if type(count) is int and 0 <= count <= MAX_TOKENS}
    return counts or None


_LONGEST: Final = 4_000
_SHOWN: Final = 200


def _line(value: object) -> str:
    """A value in one line, longer than what is shown: a key in it is looked for before it is cut."""
    return " ".join(str(value)[:_LONGEST].split())


def short(text: str) -> str:
    """A text in one line of 200 characters at most, without halves of characters."""
    text = " ".join(text[:_LONGEST].encode("utf-8", "replace").decode("utf-8").split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def cause_of(error: BaseException) -> str:
    """What lies behind an error of a connection, in the system's words where it has some."""
    text = str(error)
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, OSError) and at.errno is not None:
            # the system's own numbers are above 0; asyncio puts words of its own beside them
            return os.strerror(at.errno) if at.errno > 0 else str(at.strerror)
        text = str(at) or text
        at = at.__cause__ or at.__context__
    return short(text.rstrip("."))


async def limit(response: Any) -> None:
    """Have no more of a reply be read than `MAX_REPLY_BYTES`: a hook of the library's HTTP client."""
    http: Any = importlib.import_module(type(response).__module__.partition(".")[0])
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise http.DecodingError("the reply is compressed, which was not asked for")
    whole = response.stream

    class Limited(http.AsyncByteStream):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async for part in whole:
                length += len(part)
                if length > MAX_REPLY_BYTES:
                    raise http.DecodingError(f"the reply has more than {MAX_REPLY_BYTES} bytes")
                yield part

        async def aclose(self) -> None:
            await whole.aclose()

    response.stream = Limited()
