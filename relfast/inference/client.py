"""A client of OpenAI-compatible servers: where one is asked, how and how fast (bounded concurrency, retries
with backoff), and what its replies say.

Both kinds of endpoint are known: ``…/v1/completions`` takes a prompt, ``…/v1/chat/completions`` (and a
bare ``…/v1``) messages. A request that fails for good is a `Completion` with an error, never an exception:
the row that it was for says so.
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


Prompt = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages."""

Key = TypeVar("Key")

MAX_WAIT_SECONDS: Final = 60.0
"""Longest pause between two attempts, also where a server's Retry-After asks for more."""

_PASSING_STATUS: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "later" rather than "no"."""

_LEAST_SECRET: Final = 6
"""Characters of a key that is looked for in what a server says; shorter ones are no secrets."""


def no_seed(key: object) -> None:
    """Of requests that are all alike."""


class Client(Generic[Key]):
    """Sends requests to one server. An async context manager; of one event loop.

    Raises
    ------
    MissingExtraError
        `openai` is not installed.
    UsageError
        The URL is none.
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
            # local servers take any key, but the library insists on one
            api_key=self._key or "none",
            max_retries=0,
            timeout=settings.timeout,
            # a compressed reply would tell its length only when it fills the memory
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
        """The completion of one prompt. Never raises for what the server does."""
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
        """Completions with their keys, as they come. Takes no more prompts than requests may be in flight."""
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
        # what the library's methods do not know goes beside their arguments, in the body
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
        """Whether another attempt may do: the server is busy, down, slow or talks nonsense."""
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
        """Seconds before the next attempt: up to twice as many each time, or those that a server asks for."""
        pause = random.uniform(0, min(self.settings.backoff * 2 ** min(attempts, 16), MAX_WAIT_SECONDS))
        if isinstance(error, self._openai.APIStatusError):
            asked = seconds_asked(error.response.headers.get("retry-after", ""))
            if asked is not None:
                asked = min(asked, MAX_WAIT_SECONDS)
                self._pace.hold(asked)
                pause = max(pause, asked)
        return pause

    def _describe(self, error: Exception, attempts: int) -> dict[str, str]:
        kind = type(error).__name__
        if "Timeout" in kind:
            # the library's comes without the number; asyncio's without any text at all
            message = f"no reply in {self.settings.timeout:g} s"
        elif isinstance(error, self._openai.APIConnectionError):
            message = f"{cause_of(error)}: {urlsplit(self.endpoint.base_url).netloc}"
        else:
            message = short(self._clean(str(error)))
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        return {"type": kind, "message": f"{message} ({tries})"}

    def _clean(self, text: str) -> str:
        """A text without our key, which some servers repeat: it must stand in no row."""
        key = self._key
        return text if key is None or len(key) < _LEAST_SECRET else text.replace(key, "[key]")

    def _without_key(self, completion: Completion) -> Completion:
        said: dict[str, Any] = {
            name: self._clean(text)
            for name in ("text", "reasoning", "finish_reason", "model")
            if (text := getattr(completion, name)) is not None
        }
        error = completion.error
        if error is not None:
            error = {name: short(self._clean(text)) for name, text in error.items()}
        return replace(completion, error=error, **said)
