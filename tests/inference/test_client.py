"""The client: both kinds of endpoint, retries, errors as values, bounded concurrency; and the log of what it asked."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from engine_runs import rows_of, write_dump
from hypothesis import given
from hypothesis import strategies as st
from openai_server import FAILURES, Server, running
from processes import PATIENCE

from relfast.errors import OutputError, ResumeMismatchError, UsageError
from relfast.inference.client import Client, Completion, Endpoint, Pace, Settings, seconds_asked
from relfast.inference.request_log import RequestLog

FAST = Settings(model="m", attempts=4, backoff=0.01, timeout=0.8, concurrency=8)


def complete_all(api: str, prompts: Iterable[str], settings: Settings = FAST) -> dict[str, Completion]:
    async def run() -> dict[str, Completion]:
        async with Client[str](api, settings) as client:
            asked = client.completions(((p, p) for p in prompts), lambda _: None)
            return {key: completion async for key, completion in asked}

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
            completions = client.completions(prompts(), lambda _: None)
            await anext(completions)
            await completions.aclose()  # type: ignore[attr-defined]

    with running(Server(solve=str)) as server:
        asyncio.run(first(server.url))
    assert len(taken) <= 2 * FAST.concurrency


def test_messages_and_a_system_text() -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]

    async def run(api: str) -> None:
        async with Client[int](api, Settings(model="m", system="Be brief.", timeout=10)) as client:
            await client.complete(messages)

    with running(Server(solve=str)) as server:
        for path in ("", "/completions"):
            asyncio.run(run(server.url + path))
    chat, plain = server.requests
    assert chat["messages"] == [{"role": "system", "content": "Be brief."}, *messages]
    assert plain["prompt"] == "Be brief.\n\nhello\n\nhi"


@pytest.mark.parametrize(
    ("rate", "hold", "expected"),
    [
        ((30,), (), [100, 102, 104, 106]),  # spread over the minute
        ((), (), [100, 100, 100]),
        ((60,), (10, 3), [110, 111]),  # a server that asks one to wait means all
    ],
)
def test_when_requests_begin(rate: tuple[int, ...], hold: tuple[int, ...], expected: list[float]) -> None:
    now = 100.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds  # time passes by sleeping only

    pace = Pace(*rate, clock=lambda: now, sleep=sleep)
    for seconds in hold:
        pace.hold(seconds)

    async def run() -> list[float]:
        found = []
        for _ in expected:
            await pace.turn()
            found.append(now)
        return found

    assert asyncio.run(run()) == expected


def test_what_retry_after_says() -> None:
    now, hour = datetime.now(UTC), timedelta(hours=1)
    for header, least, most in (
        ("7", 7, 7),
        (" 0.5 ", 0.5, 0.5),
        ("9" * 20, 1e20 - 1, 1e20),
        ("9" * 5_000, math.inf, math.inf),
        (format_datetime(now - hour, usegmt=True), 0, 0),
        (format_datetime(now + hour, usegmt=True), 3_500, 3_600),
        ("Sat, 01 Jan 2400 00:00:00", 1e10, 1e12),  # no zone: GMT, by RFC 9110
    ):
        name, seconds = seconds_asked({"retry-after": header}) or ("", -1.0)
        assert least <= seconds <= most, header
        assert name == f"Retry-After {header.strip()}"
    assert seconds_asked({"retry-after-ms": "250", "retry-after": "9"}) == ("retry-after-ms 250", 0.25)
    assert seconds_asked({"retry-after-ms": "soon", "retry-after": "9"}) == ("Retry-After 9", 9.0)


UNREADABLE = [
    "", "soon", "-1", "-1e400", "1e400", "nan", "inf", "+5", "0x10", "1,000", "5, 6", "5 s", "1m30s", "٣", "1_0", "\x00",
    "Sat, 01 Jan 100000000000000000000 00:00:00 GMT", "Sat, 32 Jan 2400 00:00:00 GMT",
    "Sat, 01 Jan 2400 00:00:00 +9999999", "Sat, 01 Jan 2400 99:99:99 GMT", "2400-01-01T00:00:00Z", ",", ", ", "GMT",
]  # fmt: skip


@given(
    header=st.one_of(
        st.sampled_from(UNREADABLE), st.text(max_size=40), st.from_regex(r"\w{3}, \d+ Jan \d+ \d+:\d+")
    )
)
def test_whatever_retry_after_says_is_seconds_or_nothing(header: str) -> None:
    found = seconds_asked(
        {"retry-after": header, "x-ratelimit-reset-requests": "24h", "x-ratelimit-reset": "4102444800"}
    )
    assert found is None or found[1] >= 0
    assert header not in UNREADABLE or found is None


# the log of requested rows: whole rows survive anything, resumed runs mix nothing, finished ones are in order


ROWS = [{"n": n, "text": "é\u2028" * n, "error": None} for n in range(6)]


def open_log(path: Path, **options: Any) -> RequestLog:
    options.setdefault("settings", {"model": "m"})
    return RequestLog(path, key=lambda row: row["n"], failed=lambda row: row["error"] is not None, **options)


def test_cut_at_every_byte_only_whole_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_log(path) as log:
        log.append(ROWS)
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with open_log(path, resume=True) as log:
            kept = whole[:size].count(b"\n")
            assert list(log.rows()) == ROWS[:kept]
            log.append(ROWS[kept:])
        assert path.read_bytes() == whole
    # torn settings are refused by name
    (tmp_path / "out.jsonl.run.json").write_text("torn{")
    with pytest.raises(ResumeMismatchError, match="torn"):
        open_log(path, resume=True)
    assert path.read_bytes() == whole


def test_a_row_that_failed_in_part_stays_until_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    half = {"n": 1, "text": "half", "error": {"type": "X"}}
    none = {"n": 2, "error": {"type": "X"}}
    with open_log(path) as log:
        log.append([ROWS[0], half, none])
    partial = {"partial": lambda row: "text" in row}
    with open_log(path, resume=True, **partial) as log:
        assert (1 in log, 2 in log) == (False, False)
        assert (log.before(1), log.before(2), log.before(0)) == ([half], [], [])
    # nothing came: a second resume finds it again
    with open_log(path, resume=True, **partial) as log:
        assert log.before(1) == [half]
        log.append([ROWS[2], ROWS[1]])
        assert log.before(1) == []
    # stopped before the end: the row is there once
    assert [row["text"] for row in rows_of(path)] == [ROWS[0]["text"], ROWS[2]["text"], ROWS[1]["text"]]
    with open_log(path, resume=True, **partial) as log:
        log.finish(range(3))
    assert rows_of(path) == ROWS[:3]
    # killed when both stood there: the successor counts
    write_dump(path, (half, ROWS[1]))
    with open_log(path, resume=True, **partial) as log:
        assert (1 in log, log.before(1)) == (True, [])
    assert rows_of(path) == [ROWS[1]]


def test_a_second_run_stops_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_log(path) as log:
        for again in ("resume", "overwrite"):
            with pytest.raises(OutputError, match="another run"):
                open_log(path, **{again: True})
        log.append([ROWS[1], ROWS[0]])
        log.finish(range(2))  # the file that took its place is locked too
        with pytest.raises(OutputError, match="another run"):
            open_log(path, resume=True)
        log.append([ROWS[5], ROWS[2]])
        assert (2 in log, 7 in log, len(log)) == (True, False, 4)
        assert [row["n"] for row in log.rows()] == [0, 1, 5, 2]
    with open_log(path, resume=True) as log:
        assert [row["n"] for row in log.rows()] == [0, 1, 5, 2]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.run.json"]
    with pytest.raises(OutputError, match=r"out\.jsonl"):  # no folder
        open_log(path / "out.jsonl")


def test_pieces_are_kept_until_their_row_is_there(tmp_path: Path) -> None:
    """A row of several requests comes piece by piece: none is lost by a kill, none is left at the end."""
    path = tmp_path / "out.jsonl"
    pieces = {"piece": lambda row: "piece" in row, "partial": lambda row: "text" in row}
    first, second = ({"n": 1, "piece": at, "error": None} for at in range(2))
    failed = {"n": 2, "text": "half", "error": {"type": "X"}}
    with open_log(path, **pieces) as log:
        log.append([failed, first, ROWS[0]])
    with open_log(path, resume=True, **pieces) as log:
        assert [(1 in log), log.before(1), log.before(2), len(log)] == [False, [first], [failed], 1]
        later = {"n": 2, "piece": 1, "error": None}
        log.append([second, later])
    with open_log(path, resume=True, **pieces) as log:
        assert (log.before(1), log.before(2)) == ([first, second], [failed, later])
        log.append([ROWS[1], ROWS[2]])
        log.finish(range(3), {"rows": 3})
    assert rows_of(path) == ROWS[:3]
    assert json.loads((tmp_path / "out.jsonl.run.json").read_text()) == {"model": "m", "made": {"rows": 3}}
    with open_log(path, resume=True, **pieces) as log:  # what was made of them is no setting
        assert len(log) == 3
