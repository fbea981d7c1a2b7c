"""A client of OpenAI-compatible servers: bounded concurrency, retries with backoff, errors as values.

Both kinds of endpoint are known: ``…/v1/completions`` takes a prompt, ``…/v1/chat/completions`` (and a
bare ``…/v1``) messages. A request that fails for good is a `Completion` with an error, never an exception:
the row that it was for says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

from relfast.errors import MissingExtraError
from relfast.inference.replies import Completion, GarbageError, cause_of, limit, read_reply, short
from relfast.inference.settings import Endpoint, Pace, Settings, seconds_asked

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
        self._key = api_key or settings.key()
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
                    async with self._slots:
                        await self._pace.turn()
                        async with asyncio.timeout(self.settings.timeout):
                            completion = await self._request(prompt, self.settings.body(max_tokens, seed))
            return replace(self._without_key(completion), attempts=attempts)
        except Exception as error:
            return Completion(None, self._describe(error, attempts), attempts)

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

    def _pause(self, state: Any) -> float:
        exponential = self._tenacity.wait_random_exponential(
            multiplier=2 * self.settings.backoff, max=MAX_WAIT_SECONDS
        )
        pause = float(exponential(state))
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, self._openai.APIStatusError):
            asked = seconds_asked(error.response.headers.get("retry-after", ""))
            if asked is not None:
                asked = min(asked, MAX_WAIT_SECONDS)
                self._pace.hold(asked)
                pause = max(pause, asked)
        return min(pause, MAX_WAIT_SECONDS)

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
