"""A client of OpenAI-compatible servers: endpoint, settings, rate (bounded concurrency, retries with
backoff), and how replies are read.

It supports both kinds of endpoint: ``…/v1/completions`` takes a prompt, ``…/v1/chat/completions`` (and a bare
``…/v1``) messages. A request that fails for good gives a `Completion` with an error, never an exception, so
that the error goes into the record's row.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from relfast.errors import MissingExtraError, UsageError


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


def seconds_asked(header: str) -> float | None:
    """The seconds to wait by a Retry-After header, which is a number or a date; None if it is neither."""
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

MAX_TOKENS: Final = 2**40
"""Higher counts of tokens are ignored as nonsense: JSON files hold sums of them."""


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


class GarbageError(Exception):
    """A server's reply is not a completion: it has no JSON, no choices or no text."""


REFUSED: Final = "RefusalError"
"""The model or a content filter refused to answer, and would again: such a request is not retried."""

CUT_OFF: Final = "TruncatedError"
"""The tokens ran out during reasoning, before the answer began, and would again: it is not retried."""


_REASONING: Final = ("reasoning_content", "reasoning")
"""Fields in which servers return reasoning: the first of DeepSeek and vLLM, the second of others."""


def read_reply(reply: Any) -> Completion:
    """The completion in a reply. `openai` passes on any JSON or text that the server sent, so all is checked.

    A refusal becomes an error, and so does a response that was cut off before its first word: a retry would
    give the same.

    Raises
    ------
    GarbageError
        The reply is not a completion; another attempt may succeed.
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
    """A text of the server as a short one, since it becomes a key of counts; None without one."""
    text = _text(value)
    return None if text is None else short(text)


def _usage(usage: Any) -> dict[str, int] | None:
    details = getattr(usage, "completion_tokens_details", None)
    sent = {
        "prompt_tokens": getattr(usage, "prompt_tokens", None),
        "completion_tokens": getattr(usage, "completion_tokens", None),
        "reasoning_tokens": getattr(details, "reasoning_tokens", None),
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

MAX_WAIT_SECONDS: Final = 60.0
"""Longest pause between two attempts, even if a server's Retry-After asks for more."""

_PASSING_STATUS: Final = frozenset({408, 409, 425, 429})
"""Status codes below 500 that are worth a retry."""

_LEAST_SECRET: Final = 6
"""Shortest key that is removed from a server's texts; shorter ones are no secrets."""


def no_seed(key: object) -> None:
    """No seed for any request."""


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
                if attempts >= self.settings.attempts or not self._may_pass(error):
                    return Completion(None, self._describe(error, attempts), attempts)
                pause = self._pause(error, attempts)
            await asyncio.sleep(pause)

    async def completions(
        self, prompts: Iterable[tuple[Key, Prompt]], seed_of: Callable[[Key], int | None] = no_seed
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
            reply = await self._client.chat.completions.create(
                model=model, messages=self._messages(prompt), extra_body=body
            )
        else:
            reply = await self._client.completions.create(
                model=model, prompt=self._plain(prompt), extra_body=body
            )
        return read_reply(reply)

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
            return error.status_code >= 500 or error.status_code in _PASSING_STATUS
        return isinstance(
            error,
            self._openai.APIConnectionError
            | self._openai.APIResponseValidationError
            | GarbageError
            | TimeoutError
            | ValueError,
        )

    def _pause(self, error: Exception, attempts: int) -> float:
        """Seconds before the next attempt: random, up to a bound that doubles with each attempt, and at
        least those of the server's Retry-After."""
        pause = random.uniform(0, min(self.settings.backoff * 2 ** min(attempts, 16), MAX_WAIT_SECONDS))
        if isinstance(error, self._openai.APIStatusError):
            retry_after = seconds_asked(error.response.headers.get("retry-after", ""))
            if retry_after is not None:
                retry_after = min(retry_after, MAX_WAIT_SECONDS)
                self._pace.hold(retry_after)
                pause = max(pause, retry_after)
        return pause

    def _describe(self, error: Exception, attempts: int) -> dict[str, str]:
        """The error of a failed request as `Completion.error`: type and one line of message."""
        kind = type(error).__name__
        if "Timeout" in kind:
            # `openai`'s error does not name the seconds, and asyncio's has no text
            message = f"no reply in {self.settings.timeout:g} s"
        elif isinstance(error, self._openai.APIConnectionError):
            message = f"{cause_of(error)}: {urlsplit(self.endpoint.base_url).netloc}"
        else:
            message = short(self._clean(str(error)))
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        return {"type": kind, "message": f"{message} ({tries})"}

    def _clean(self, text: str) -> str:
        """A text without the API key, which some servers repeat; no row may contain it."""
        key = self._key
        return text if key is None or len(key) < _LEAST_SECRET else text.replace(key, "[key]")

    def _without_key(self, completion: Completion) -> Completion:
        texts: dict[str, Any] = {
            name: self._clean(text)
            for name in ("text", "reasoning", "finish_reason", "model")
            if (text := getattr(completion, name)) is not None
        }
        error = completion.error
        if error is not None:
            error = {name: short(self._clean(text)) for name, text in error.items()}
        return replace(completion, error=error, **texts)
