"""Where a server is asked, how and how fast: endpoints, settings, and what a run says it was made with."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from relfast.errors import UsageError


class Pace:
    """Lets requests begin, evenly spread over each minute.

    Parameters
    ----------
    per_minute
        Requests begun in a minute; None: unlimited.
    clock, sleep
        Seconds, and how they pass.
    """

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval = 0.0 if per_minute is None else 60 / per_minute
        self._clock, self._sleep = clock, sleep
        self._next = self._held = clock()

    def hold(self, seconds: float) -> None:
        """No request begins for so long: the server told one request to wait, and means all."""
        self._held = max(self._held, self._clock() + seconds)

    async def turn(self) -> None:
        """Wait until a request may begin."""
        at = max(self._next, self._held, self._clock())
        self._next = at + self._interval
        while (wait := max(at, self._held) - self._clock()) > 0:
            await self._sleep(wait)


def seconds_asked(header: str) -> float | None:
    """The seconds that a Retry-After asks for, as a number or a date; None if it is neither."""
    text = header.strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


KEY_VARIABLE: Final = "OPENAI_API_KEY"

OWN_KEYS: Final = ("messages", "prompt", "model", "stream", "n")
"""Keys of a request that the extra body may not set: they would change what an answer is the answer to."""


@dataclass(frozen=True)
class Endpoint:
    """Where a server is asked: the API's base URL and which of its two ways."""

    base_url: str
    kind: Literal["chat", "completions"]

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """From a full endpoint URL, or from a base URL, which means chat.

        Raises
        ------
        UsageError
            It is no http(s) URL, or holds a password.
        """
        trimmed = url.strip().rstrip("/")
        if not trimmed.startswith(("http://", "https://")):
            raise UsageError(f"--api must be an http(s) URL such as http://127.0.0.1:1234/v1, not {url!r}")
        parts = urlsplit(trimmed)
        if "@" in parts.netloc or parts.query or parts.fragment:
            # what stands in a URL stands in process lists and error messages
            raise UsageError(
                f"--api must hold neither a password nor a query: a key goes into {KEY_VARIABLE}"
            )
        if trimmed.endswith("/chat/completions"):
            return cls(trimmed.removesuffix("/chat/completions"), "chat")
        if trimmed.endswith("/completions"):
            return cls(trimmed.removesuffix("/completions"), "completions")
        return cls(trimmed, "chat")


@dataclass(frozen=True)
class Settings:
    """How a server is asked.

    Attributes
    ----------
    concurrency
        Requests in flight.
    timeout
        Seconds of one attempt from its start to the last byte of the reply.
    attempts
        Attempts of one request, the first one too.
    backoff
        Mean first pause in seconds; it doubles.
    requests_per_minute
        Requests begun in a minute, retries too; None: unlimited.
    seed
        Of the first sample of each prompt; the next ones have the numbers after it. None: none is sent.
    stop
        Texts that end a response.
    extra_body
        Further fields of each request, before ours; null takes one of ours away.
    key_variable
        Name of the environment variable that holds the server's key.
    """

    model: str
    temperature: float = 0.0
    max_tokens: int = 2048
    concurrency: int = 16
    timeout: float = 300.0
    attempts: int = 5
    backoff: float = 0.5
    system: str | None = None
    seed: int | None = None
    stop: Sequence[str] = ()
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    requests_per_minute: float | None = None
    key_variable: str = KEY_VARIABLE

    def __post_init__(self) -> None:
        taken = [name for name in OWN_KEYS if name in self.extra_body]
        if taken:
            raise UsageError(f"the extra body must not set {taken[0]!r}: relfast does")

    def body(self, max_tokens: int | None = None, seed: int | None = None) -> dict[str, Any]:
        """The fields of a request beside its prompt."""
        fields: dict[str, Any] = {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": max_tokens or self.max_tokens,
        }
        if seed is not None:
            fields["seed"] = seed
        if self.stop:
            fields["stop"] = list(self.stop)
        fields |= self.extra_body
        return {name: value for name, value in fields.items() if value is not None}

    def describe(self) -> dict[str, Any]:
        """What responses depend on, JSON-able: a resumed run must agree in all of it."""
        return {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "system": self.system,
            "seed": self.seed,
            "stop": list(self.stop),
            "extra_body": dict(self.extra_body),
        }

    def key(self) -> str | None:
        """The server's key, or None. It is read here, and only the client keeps it."""
        return os.environ.get(self.key_variable) or None
