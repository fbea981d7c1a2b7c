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


@pytest.mark.parametrize(
    ("url", "base", "kind"),
    [
        ("http://h:1/v1/completions", "http://h:1/v1", "completions"),
        ("http://h:1/v1/chat/completions/", "http://h:1/v1", "chat"),
        ("https://h/v1", "https://h/v1", "chat"),
    ],
)
def test_endpoints(url: str, base: str, kind: str) -> None:
    assert Endpoint.parse(url) == Endpoint(base, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["", "localhost:1234", "file:///etc/passwd"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(UsageError, match="http"):
        Endpoint.parse(url)


@pytest.mark.parametrize("path", ["/completions", "/chat/completions", ""])
def test_both_ways_of_asking(path: str) -> None:
    with running(Server(solve=lambda prompt: prompt.upper())) as server:
        completions = complete_all(server.url + path, ["one", "two"], FAST)
        texts = {key: completion.text for key, completion in completions.items()}
        assert texts == {"one": "ONE", "two": "TWO"}
        sent = server.requests[0]
        assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("m", 0.0, 2048)
        assert sent["path"] == "/v1" + (path or "/chat/completions")


@pytest.mark.parametrize("path", ["/completions", "/chat/completions"])
def test_every_kind_of_failure_is_ridden_out(path: str) -> None:
    prompts = [f"question {n}" for n in range(60)]
    with running(Server(solve=lambda prompt: prompt[::-1], failing=1)) as server:
        completions = complete_all(server.url + path, prompts)
        assert set(server.met) == set(FAILURES)
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


def begun(pace: Pace, clock: Clock, n: int) -> list[float]:
    async def one() -> float:
        await pace.turn()
        return clock.now

    async def run() -> list[float]:
        return [await one() for _ in range(n)]

    return asyncio.run(run())


def test_requests_are_spread_over_the_minute() -> None:
    clock = Clock()
    assert begun(Pace(30, clock=clock, sleep=clock.sleep), clock, 4) == [100, 102, 104, 106]


def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    assert begun(Pace(clock=clock, sleep=clock.sleep), clock, 3) == [100] * 3


def test_a_server_that_asks_one_to_wait_means_all() -> None:
    clock = Clock()
    pace = Pace(60, clock=clock, sleep=clock.sleep)
    pace.hold(10)
    pace.hold(3)
    assert begun(pace, clock, 2) == [110, 111]


@pytest.mark.parametrize(
    ("header", "seconds"), [("", None), ("soon", None), ("7", 7.0), ("0.5", 0.5), ("-1", None)]
)
def test_what_retry_after_says(header: str, seconds: float | None) -> None:
    assert seconds_asked(header) == seconds


def test_retry_after_as_a_date() -> None:
    now = datetime.now(UTC)
    assert seconds_asked(format_datetime(now - timedelta(hours=1), usegmt=True)) == 0
    later = seconds_asked(format_datetime(now + timedelta(hours=1), usegmt=True))
    assert later is not None
    assert 0 < later <= 3600
