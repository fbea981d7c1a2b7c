"""A client of OpenAI-compatible servers: bounded concurrency, retries with backoff, errors as values.

Both kinds of endpoint are known: ``…/v1/completions`` takes a prompt, ``…/v1/chat/completions`` (and a
bare ``…/v1``) messages. A request that fails for good is a `Completion` with an error, never an exception:
the row that it was for says so.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from relfast.errors import MissingExtraError, UsageError

Prompt = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages."""

Key = TypeVar("Key")

KEY_VARIABLE: Final = "OPENAI_API_KEY"

MAX_WAIT_SECONDS: Final = 60.0
"""Longest pause between two attempts, also where a server's Retry-After asks for more."""

_PASSING_STATUS: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say "later" rather than "no"."""


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
            It is no http(s) URL.
        """
        trimmed = url.strip().rstrip("/")
        if not trimmed.startswith(("http://", "https://")):
            raise UsageError(f"--api must be an http(s) URL such as http://127.0.0.1:1234/v1, not {url!r}")
        if trimmed.endswith("/chat/completions"):
            return cls(trimmed.removesuffix("/chat/completions"), "chat")
        if trimmed.endswith("/completions"):
            return cls(trimmed.removesuffix("/completions"), "completions")
        return cls(trimmed, "chat")


@dataclass(frozen=True)
class Settings:
    """How a server is asked.

    ``concurrency`` is the number of requests in flight; ``timeout`` seconds is the whole time of one
    attempt; ``attempts`` counts the first one too; ``backoff`` seconds is the mean first pause, doubling.
    """

    model: str
    temperature: float = 0.0
    max_tokens: int = 2048
    concurrency: int = 16
    timeout: float = 300.0
    attempts: int = 5
    backoff: float = 0.5
    system: str | None = None


@dataclass(frozen=True)
class Completion:
    """What a server said: ``text``, or ``error`` with type and message."""

    text: str | None
    error: dict[str, str] | None = None
    attempts: int = 1


class GarbageError(Exception):
    """A server's reply is no completion: no JSON, no choices, no text."""


class Client(Generic[Key]):
    """Sends requests to one server. An async context manager; of one event loop.

    Raises
    ------
    MissingExtraError
        `openai` or `tenacity` is not installed.
    UsageError
        The URL is none.
    """

    def __init__(self, api: str, settings: Settings, api_key: str | None = None) -> None:
        try:
            import openai
            import tenacity
        except ImportError as error:
            raise MissingExtraError("asking a server", "run") from error
        self.endpoint = Endpoint.parse(api)
        self.settings = settings
        self._openai, self._tenacity = openai, tenacity
        self._client = openai.AsyncOpenAI(
            base_url=self.endpoint.base_url,
            # local servers take any key, but the library insists on one
            api_key=api_key or os.environ.get(KEY_VARIABLE) or "none",
            max_retries=0,
            timeout=settings.timeout,
        )
        self._slots = asyncio.Semaphore(settings.concurrency)

    async def __aenter__(self) -> Client[Key]:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._client.close()

    async def complete(self, prompt: Prompt, max_tokens: int | None = None) -> Completion:
        """The completion of one prompt. Never raises for what the server does."""
        attempts = 0
        try:
            retrying = self._tenacity.AsyncRetrying(
                stop=self._tenacity.stop_after_attempt(self.settings.attempts),
                wait=self._pause,
                retry=self._tenacity.retry_if_exception(self._may_pass),
                reraise=True,
            )
            async for attempt in retrying:
                with attempt:
                    attempts += 1
                    async with self._slots, asyncio.timeout(self.settings.timeout):
                        text = await self._request(prompt, max_tokens or self.settings.max_tokens)
            return Completion(text, None, attempts)
        except Exception as error:
            return Completion(None, _describe(error, attempts, self.settings.timeout), attempts)

    async def completions(
        self, prompts: Iterable[tuple[Key, Prompt]]
    ) -> AsyncIterator[tuple[Key, Completion]]:
        """Completions with their keys, as they come. Takes no more prompts than requests may be in flight."""
        source = iter(prompts)
        running: dict[asyncio.Task[Completion], Key] = {}
        try:
            while True:
                while len(running) < self.settings.concurrency and (item := next(source, None)) is not None:
                    key, prompt = item
                    running[asyncio.create_task(self.complete(prompt))] = key
                if not running:
                    return
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield running.pop(task), task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _request(self, prompt: Prompt, max_tokens: int) -> str:
        options: dict[str, Any] = {
            "model": self.settings.model,
            "temperature": self.settings.temperature,
            "max_tokens": max_tokens,
        }
        if self.endpoint.kind == "chat":
            reply = await self._client.chat.completions.create(messages=self._messages(prompt), **options)
        else:
            reply = await self._client.completions.create(prompt=self._plain(prompt), **options)
        return _text_of(reply)

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

    def _pause(self, state: Any) -> float:
        exponential = self._tenacity.wait_random_exponential(
            multiplier=2 * self.settings.backoff, max=MAX_WAIT_SECONDS
        )
        pause = float(exponential(state))
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, self._openai.APIStatusError):
            asked = error.response.headers.get("retry-after", "")
            if asked.replace(".", "", 1).isdecimal():
                pause = max(pause, float(asked))
        return min(pause, MAX_WAIT_SECONDS)


class RefusalError(Exception):
    """The model, or a filter behind it, refused to answer; it would again."""


def _text_of(reply: Any) -> str:
    """The text of a reply. The library hands on whatever JSON, or text, the server sent."""
    try:
        choice = reply.choices[0]
        message = getattr(choice, "message", None)
        text = message.content if message is not None else choice.text
    except (AttributeError, IndexError, KeyError, TypeError):
        raise GarbageError(f"the reply has no choices: {_short(reply)}") from None
    refusal = getattr(message, "refusal", None)
    if refusal:
        raise RefusalError(_short(refusal))
    if not text and getattr(choice, "finish_reason", None) == "content_filter":
        raise RefusalError("the content filter left nothing of the response")
    if not isinstance(text, str):
        raise GarbageError(f"the reply's text is {type(text).__name__}")
    return text


def _describe(error: Exception, attempts: int, timeout: float) -> dict[str, str]:
    kind = type(error).__name__
    # the library's timeout comes without the number; asyncio's without any text at all
    message = f"no reply in {timeout:g} s" if "Timeout" in kind else _short(error)
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    return {"type": kind, "message": f"{message} ({tries})"}


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 200 else f"{text[:200]}…"
