"""The client: both kinds of endpoint, retries, errors as values, bounded concurrency."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from openai_server import FAILURES, Server, running
from patience import PATIENCE

from relfast.errors import UsageError
from relfast.inference.client import Client, Completion, Endpoint, Pace, Settings, seconds_asked

FAST = Settings(model="m", attempts=4, backoff=0.01, timeout=0.8, concurrency=8)


def complete_all(api: str, prompts: Iterable[str], settings: Settings = FAST) -> dict[str, Completion]:
    async def run() -> dict[str, Completion]:
        async with Client[str](api, settings) as client:
            return {key: completion async for key, completion in client.completions((p, p) for p in prompts)}

    return asyncio.run(run())


def test_endpoints() -> None:
    for url, base, kind in (
        ("http://h:1/v1/completions", "http://h:1/v1", "completions"),
        ("http://h:1/v1/chat/completions/", "http://h:1/v1", "chat"),
        ("https://h/v1", "https://h/v1", "chat"),
    ):
        assert Endpoint.parse(url) == Endpoint(base, kind)  # type: ignore[arg-type]
    for url in ("", "localhost:1234", "file:///etc/passwd"):
        with pytest.raises(UsageError, match="http"):
            Endpoint.parse(url)


@pytest.mark.parametrize("path", ["/completions", "/chat/completions", ""])
def test_every_kind_of_failure_is_ridden_out_both_ways_of_asking(path: str) -> None:
    prompts = [f"question {n}" for n in range(60)]
    with running(Server(solve=lambda prompt: prompt[::-1], failing=1)) as server:
        completions = complete_all(server.url + path, prompts)
        assert set(server.met) == set(FAILURES)
        sent = server.requests[0]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("m", 0.0, 2048)
    assert sent["path"] == "/v1" + (path or "/chat/completions")
    assert {key: completion.text for key, completion in completions.items()} == {p: p[::-1] for p in prompts}
    assert min(completion.attempts for completion in completions.values()) == 2


def test_a_refusal_is_not_repeated() -> None:
    class Refusing(Server):
        def failure(self, prompt: str) -> str | None:
            return {"busy": "500", "no such model": "404"}.get(prompt)

    with running(Refusing(solve=str)) as server:
        completions = complete_all(server.url + "/nowhere/completions", ["fine"])
        assert completions["fine"].text == "fine"
        assert complete_all(server.url, ["busy"])["busy"].attempts == 4
        completion = complete_all(server.url, ["no such model"])["no such model"]
    assert completion.attempts == 1
    assert completion.error is not None
    assert completion.error["type"] == "NotFoundError"


def test_concurrency_is_bounded_and_used() -> None:
    five = threading.Barrier(5, timeout=PATIENCE)

    def solve(prompt: str) -> str:
        five.wait()  # no request is answered before five have come
        return prompt

    settings = Settings(model="m", concurrency=5, timeout=2 * PATIENCE)
    with running(Server(solve=solve)) as server:
        assert len(complete_all(server.url, [str(n) for n in range(40)], settings)) == 40
        assert server.most_at_once == 5


def test_prompts_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def prompts() -> Iterable[tuple[int, str]]:
        for n in range(1000):
            taken.append(n)
            yield n, str(n)

    async def first(api: str) -> None:
        async with Client[int](api, FAST) as client:
            completions = client.completions(prompts())
            await anext(completions)
            await completions.aclose()  # type: ignore[attr-defined]

    with running(Server(solve=str)) as server:
        asyncio.run(first(server.url))
    assert len(taken) <= 2 * FAST.concurrency


def test_messages_and_a_system_text() -> None:
    settings = Settings(model="m", system="Be brief.", timeout=10)
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]

    async def run(api: str) -> Completion:
        async with Client[int](api, settings) as client:
            return await client.complete(messages)

    with running(Server(solve=str)) as server:
        asyncio.run(run(server.url))
        assert server.requests[-1]["messages"] == [{"role": "system", "content": "Be brief."}, *messages]
        asyncio.run(run(server.url + "/completions"))
        assert server.requests[-1]["prompt"] == "Be brief.\n\nhello\n\nhi"


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)  # the others go to sleep too
        self.now = max(self.now, until)


@pytest.mark.parametrize(
    ("rate", "hold", "expected"),
    [
        ((30,), (), [100, 102, 104, 106]),  # spread over the minute
        ((), (), [100, 100, 100]),
        ((60,), (10, 3), [110, 111]),  # a server that asks one to wait means all
    ],
)
def test_when_requests_begin(rate: tuple[int, ...], hold: tuple[int, ...], expected: list[float]) -> None:
    clock = Clock()
    pace = Pace(*rate, clock=clock, sleep=clock.sleep)
    for seconds in hold:
        pace.hold(seconds)

    async def run() -> list[float]:
        found = []
        for _ in expected:
            await pace.turn()
            found.append(clock.now)
        return found

    assert asyncio.run(run()) == expected


def test_what_retry_after_says() -> None:
    for header, seconds in (("", None), ("soon", None), ("7", 7.0), ("0.5", 0.5), ("-1", None)):
        assert seconds_asked(header) == seconds
    now, hour = datetime.now(UTC), timedelta(hours=1)
    assert seconds_asked(format_datetime(now - hour, usegmt=True)) == 0
    assert 0 < (seconds_asked(format_datetime(now + hour, usegmt=True)) or 0) <= 3600
