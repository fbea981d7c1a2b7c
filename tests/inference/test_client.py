"""The client: both kinds of endpoint, retries, errors as values, bounded concurrency."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import pytest
from openai_server import FAILURES, Server, running
from patience import PATIENCE

from relfast.errors import UsageError
from relfast.inference.client import Client
from relfast.inference.replies import Completion
from relfast.inference.settings import Endpoint, Settings

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
            self.asked[prompt] += 1
            return "500" if prompt == "busy" else None

    with running(Refusing(solve=str)) as server:
        completions = complete_all(server.url + "/nowhere/completions", ["fine"])
        assert completions["fine"].text == "fine"
        assert complete_all(server.url, ["busy"])["busy"].attempts == 4
    import http.server

    class NotFound(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            self.send_error(404, "no such model")

    plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), NotFound)
    import threading

    thread = threading.Thread(target=plain.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        completion = complete_all(f"http://127.0.0.1:{plain.server_address[1]}/v1", ["x"])["x"]
    finally:
        plain.shutdown()
        thread.join()
        plain.server_close()
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
