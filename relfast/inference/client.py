"""A client of OpenAI-compatible servers: endpoint, settings, and rate (bounded concurrency, retries with
backoff).

It supports both kinds of endpoint: ``…/v1/completions`` takes a prompt, ``…/v1/chat/completions`` (and a bare
``…/v1``) messages. A request that fails for good gives a `Completion` with an error, never an exception, so
that the error goes into the record's row.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from relfast.errors import MissingExtraError, UsageError
from relfast.inference.replies import Completion, ReplyError, may_pass, read_reply, short, words_in


class Pace:
    """A rate limiter: requests start at even distances.

    Parameters
    ----------
    per_minute
        Most requests that start in a minute; None: unlimited.
    clock, sleep
        Replace `time.monotonic` and `asyncio.sleep` in tests.
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
        """Let no request start for ``seconds``: a Retry-After for one request holds for all."""
        self._held = max(self._held, self._clock() + seconds)

    async def turn(self) -> None:
        """Wait until a request may start."""
        at = max(self._next, self._held, self._clock())
        self._next = at + self._interval
        while (wait := max(at, self._held) - self._clock()) > 0:
            await self._sleep(wait)


_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]*)?")


def seconds_asked(headers: Mapping[str, str]) -> tuple[str, float] | None:
    """The header by which a reply asks for a pause, and its seconds; None if there is none that can be read.

    A pause is a number of seconds or a date (``Retry-After``), or milliseconds (``retry-after-ms``, which
    some servers add). Headers about what is left of a quota (``x-ratelimit-…``) ask for nothing.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _SECONDS.fullmatch(milliseconds):
        return f"retry-after-ms {milliseconds}", float(milliseconds) / 1000
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return f"Retry-After {text}", float(text)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return f"Retry-After {text}", max(0.0, (date - datetime.now(UTC)).total_seconds())
    except Exception:  # the parser of dates documents ValueError, but raises OverflowError and others too
        return None


KEY_VARIABLE: Final = "OPENAI_API_KEY"

OWN_KEYS: Final = ("messages", "prompt", "model", "stream", "n")
"""Keys that the extra body may not set: they would change which prompt a reply is for, or its form."""


@dataclass(frozen=True)
class Endpoint:
    """A server's API: its base URL, and which of the two kinds of endpoint is used."""

    base_url: str
    kind: Literal["chat", "completions"]

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """Read the URL of an endpoint, or a base URL, which means chat.

        Raises
        ------
        UsageError
            The text is no http(s) URL, or contains a password or a query.
        """
        trimmed = url.strip().rstrip("/")
        if not trimmed.startswith(("http://", "https://")):
            raise UsageError(f"--api must be an http(s) URL such as http://127.0.0.1:1234/v1, not {url!r}")
        parts = urlsplit(trimmed)
        if "@" in parts.netloc or parts.query or parts.fragment:
            # URLs are visible in process lists and error messages
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
    """The settings of requests to a server.

    Attributes
    ----------
    concurrency
        Most requests in flight.
    timeout
        Longest time of one attempt in seconds, from its start to the last byte of the reply.
    attempts
        Most attempts of one request, including the first.
    backoff
        Mean pause before the second attempt in seconds; each further pause doubles.
    max_wait
        Longest pause between two attempts in seconds. If a server asks for more, the request has failed.
    requests_per_minute
        Most attempts that start in a minute; None: unlimited.
    seed
        Seed of the first sample of each prompt; sample k gets ``seed + k``. None: no seed is sent.
    stop
        Texts that end a response.
    extra_body
        Further fields of each request, which override relfast's; null removes a field.
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
    max_wait: float = 60.0
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
        """The fields of a request except its prompt."""
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
        """The settings that responses depend on, as JSON values; they must be equal in a resumed run."""
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
        """The server's key from the environment, or None. Only the client keeps it."""
        return os.environ.get(self.key_variable) or None


MAX_REPLY_BYTES: Final = 64 * 2**20
"""Longest reply that is read: about ten million tokens."""


def cause_of(error: BaseException) -> str:
    """The root cause of a connection error, as the operating system's message if there is one."""
    text = str(error)
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, OSError) and at.errno is not None:
            # the system's error numbers are above 0; their text in asyncio's errors is asyncio's own
            return os.strerror(at.errno) if at.errno > 0 else str(at.strerror)
        text = str(at) or text
        at = at.__cause__ or at.__context__
    return short(text.rstrip("."))


async def limit(response: Any) -> None:
    """Limit a reply to `MAX_REPLY_BYTES`: a response hook of `openai`'s HTTP client."""
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


Prompt = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages."""

Key = TypeVar("Key")

_LEAST_SECRET: Final = 6
"""Shortest key that is removed from a server's texts; shorter ones are no secrets."""


class Client(Generic[Key]):
    """Sends requests to one server. An async context manager, for one event loop.

    Raises
    ------
    MissingExtraError
        `openai` is not installed.
    UsageError
        The URL is invalid.
    """

    def __init__(self, api: str, settings: Settings) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingExtraError("asking a server", "run") from error
        self.endpoint = Endpoint.parse(api)
        self.settings = settings
        self._openai = openai
        self._key = settings.key()
        self._client = openai.AsyncOpenAI(
            base_url=self.endpoint.base_url,
            # local servers accept any key, but `openai` requires one
            api_key=self._key or "none",
            max_retries=0,
            timeout=settings.timeout,
            # the length of a compressed reply is known only after it has been decompressed into memory
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [limit]}),
        )
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._pace = Pace(settings.requests_per_minute)

    async def __aenter__(self) -> Client[Key]:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._client.close()

    async def complete(
        self, prompt: Prompt, max_tokens: int | None = None, *, seed: int | None = None
    ) -> Completion:
        """The completion of one prompt. Failures of the server do not raise."""
        attempts = 0
        while True:
            attempts += 1
            try:
                async with self._slots:
                    await self._pace.turn()
                    async with asyncio.timeout(self.settings.timeout):
                        completion = await self._request(prompt, self.settings.body(max_tokens, seed))
                return replace(self._without_key(completion), attempts=attempts)
            except Exception as error:
                asked, seconds = self._asked(error) or ("", 0.0)
                too_long = asked if seconds > self.settings.max_wait else None
                if attempts >= self.settings.attempts or too_long is not None or not self._may_pass(error):
                    return Completion(None, self._describe(error, attempts, too_long), attempts)
                pause = self._pause(seconds, attempts)
            await asyncio.sleep(pause)

    async def completions(
        self, prompts: Iterable[tuple[Key, Prompt]], seed_of: Callable[[Key], int | None]
    ) -> AsyncIterator[tuple[Key, Completion]]:
        """Completions with their prompts' keys, as they arrive; takes prompts only as requests can start."""
        source = iter(prompts)
        running: dict[asyncio.Task[Completion], Key] = {}
        try:
            while True:
                while len(running) < self.settings.concurrency and (item := next(source, None)) is not None:
                    key, prompt = item
                    running[asyncio.create_task(self.complete(prompt, seed=seed_of(key)))] = key
                if not running:
                    return
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield running.pop(task), task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _request(self, prompt: Prompt, body: dict[str, Any]) -> Completion:
        # by `extra_body`, since `openai`'s methods do not accept all fields as arguments
        model = body.pop("model")
        if self.endpoint.kind == "chat":
            raw = await self._client.chat.completions.with_raw_response.create(
                model=model, messages=self._messages(prompt), extra_body=body
            )
        else:
            raw = await self._client.completions.with_raw_response.create(
                model=model, prompt=self._plain(prompt), extra_body=body
            )
        reply = raw.http_response
        try:
            return read_reply(reply.content)
        except ReplyError as error:
            raise ReplyError(error.kind, f"status {reply.status_code}: {error}", again=error.again) from None

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        if self.settings.system is not None:
            messages.append({"role": "system", "content": self.settings.system})
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages.extend(dict(message) for message in prompt)
        return messages

    def _plain(self, prompt: Prompt) -> str:
        parts = [] if self.settings.system is None else [self.settings.system]
        if isinstance(prompt, str):
            parts.append(prompt)
        else:
            parts.extend(str(message.get("content", "")) for message in prompt)
        return "\n\n".join(parts)

    def _may_pass(self, error: BaseException) -> bool:
        """Whether another attempt may succeed: the server is busy, down or slow, or sent an invalid reply."""
        if isinstance(error, self._openai.APIStatusError):
            return may_pass(error.status_code)
        if isinstance(error, ReplyError):
            return error.again
        return isinstance(error, self._openai.APIConnectionError | TimeoutError | ValueError)

    def _asked(self, error: Exception) -> tuple[str, float] | None:
        """The pause that the server asks for with an error that may pass: see `seconds_asked`."""
        if isinstance(error, self._openai.APIStatusError) and may_pass(error.status_code):
            return seconds_asked(error.response.headers)
        return None

    def _pause(self, asked: float, attempts: int) -> float:
        """Seconds before the next attempt: random, up to a bound that doubles with each attempt, and at
        least those that the server asked for, which hold for all requests."""
        self._pace.hold(asked)
        most = min(self.settings.backoff * 2 ** min(attempts, 16), self.settings.max_wait)
        return max(asked, random.uniform(0, most))

    def _describe(self, error: Exception, attempts: int, too_long: str | None) -> dict[str, str]:
        """The error of a failed request as `Completion.error`: type and one line of message. ``too_long`` is
        the header by which the server asks for too long a pause."""
        kind = error.kind if isinstance(error, ReplyError) else type(error).__name__
        if "Timeout" in kind:
            # `openai`'s error does not name the seconds, and asyncio's has no text
            message = f"no reply in {self.settings.timeout:g} s"
        elif isinstance(error, self._openai.APIStatusError):
            words = words_in(error.response.content) or error.response.reason_phrase
            message = f"status {error.status_code}: {words}"
        elif isinstance(error, self._openai.APIConnectionError):
            message = f"{cause_of(error)}: {urlsplit(self.endpoint.base_url).netloc}"
        else:
            message = str(error)
        message = short(self._clean(message))
        if too_long is not None:
            message += f"; {short(too_long)} is beyond --max-wait {self.settings.max_wait:g}"
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        return {"type": kind, "message": f"{message} ({tries})"}

    def _clean(self, text: str) -> str:
        """A text without the API key, which some servers repeat; no row may contain it."""
        key = self._key
        return text if key is None or len(key) < _LEAST_SECRET else text.replace(key, "[key]")

    def _without_key(self, completion: Completion) -> Completion:
        texts: dict[str, Any] = {
            # the last two become keys of counts
            name: short(self._clean(text)) if name in ("finish_reason", "model") else self._clean(text)
            for name in ("text", "reasoning", "finish_reason", "model")
            if (text := getattr(completion, name)) is not None
        }
        error = completion.error
        if error is not None:
            error = {name: short(self._clean(text)) for name, text in error.items()}
        return replace(completion, error=error, **texts)
