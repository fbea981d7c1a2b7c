"""``relfast serve`` as a process of its own: protocols, limits, load, and a stop that loses nothing."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium
import psutil
import pytest
from live_server import ROOT, Live, ask_on, live_server
from patience import PATIENCE, until
from reward_cases import HANG, MIXED, distinct_c2

import relfast

RECORDS = [
    {"id": f"r{at}", "task": task, "answer": answer, "response": response}
    for at, (task, answer, response, _) in enumerate(MIXED)
]


TOKEN = "a-secret"

Seen = dict[str, list[Any]]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with live_server("--max-body-bytes", "300000", "--max-records", "500") as server:
        yield server
        assert server.stop() == 0


def test_score_gives_the_rows_of_the_library(live: Live) -> None:
    status, answer = live.ask("/score", {"records": [*RECORDS, 5, None]})
    assert status == 200
    with relfast.Scorer(policy="strict", workers=1) as scorer:
        expected = [score.to_row() for score in scorer.score([*RECORDS, 5, None])]  # type: ignore[list-item]
    assert answer == {"rows": json.loads(json.dumps(expected))}
    assert [row["index"] for row in answer["rows"]] == list(range(len(RECORDS) + 2))


def test_the_policy_can_be_asked_for(live: Live) -> None:
    record = {"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<think><Yes></think>"}
    rewards = {}
    for policy in ("strict", "reference", None):
        _, answer = live.ask("/score", {"records": [record], "policy": policy})
        rewards[policy] = answer["rows"][0]["reward"]
    assert rewards == {"strict": 0.0, "reference": 1.0, None: 0.0}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"not json", 422),
        (b'{"records": 5}', 422),
        (b'{"records": [NaN, "\\ud800"], "policy": "lax\\ud800"}', 422),
        (b'{"records": [' + b"[" * 5_000 + b"]" * 5_000 + b"]}", 400),
        (b'{"records": [\xff]}', 400),
        (b'{"records": [' + b"9" * 5_000 + b"]}", 400),
        (b'{"records": [' + b"1," * 500 + b"1]}", 413),
        (b'{"records": ["' + b"x" * 300_000 + b'"]}', 413),
        (b'{"records": [NaN, "\\ud800", {"task": "\\ud800", "id": "\\ud800", "response": "x"}]}', 200),
        (b'{"records": []}', 200),
    ],
)
def test_bodies_that_are_not_what_is_asked_for(live: Live, body: bytes, status: int) -> None:
    got, answer = live.ask("/score", raw=body)
    assert got == status
    assert isinstance(answer.get("detail", ""), str)


def test_a_body_without_a_length_is_limited_too(live: Live) -> None:
    with contextlib.closing(live.connect()) as connection:

        def chunks() -> Iterator[bytes]:
            yield b'{"records": ["'
            for _ in range(40):
                yield b"x" * 10_000
            yield b'"]}'

        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", "/score", chunks(), {"Content-Type": "application/json"})
        assert connection.getresponse().status == 413


def test_lengths_that_differ_are_refused(live: Live) -> None:
    status, answer = live.ask("/get_reward", {"query": ["a", "b"], "labels": ["x"]})
    assert (status, answer["detail"]) == (422, "labels has 1 items, query has 2")


def test_health_docs_and_metrics(live: Live) -> None:
    assert live.ask("/score", {"records": RECORDS})[0] == 200
    assert live.ask("/health")[1]["status"] == "ok"
    status, page = live.ask("/metrics")
    assert status == 200
    samples = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    assert float(samples['relfast_responses_total{status="ok"}']) > 0
    assert float(samples["relfast_workers"]) >= 2
    for path in ("/score", "/health"):
        assert float(samples[f'relfast_http_request_seconds_count{{path="{path}"}}']) == sum(
            float(value)
            for name, value in samples.items()
            if name.startswith(f'relfast_http_requests_total{{path="{path}"')
        )
    schema = live.ask("/openapi.json")[1]
    routes = {"/", "/score", "/get_reward", "/health", "/metrics", "/seed_session", "/verify"}
    assert routes == set(schema["paths"])
    status, index = live.ask("/")
    assert (status, set(index["paths"])) == (200, routes | {"/docs", "/openapi.json"})
    for path in routes - {"/"}:
        if "get" in schema["paths"][path]:
            assert live.ask(path)[0] == 200
    assert live.ask("/docs")[0] == 200
    assert live.ask("/nothing")[0] == 404


def test_a_kept_connection_waits_for_no_delayed_acknowledgement(live: Live) -> None:
    """Nagle's algorithm would hold each answer for 40 ms; an answer takes 1 to 3, the first of a connection is
    never held."""
    row = {"records": [{"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}]}

    def seconds(connection: http.client.HTTPConnection) -> float:
        started = time.perf_counter()
        assert ask_on(connection, "/score", row)[0] == 200
        return time.perf_counter() - started

    kept, fresh = [], []
    with contextlib.closing(live.connect()) as connection:
        for _ in range(30):
            kept.append(seconds(connection))
            with contextlib.closing(live.connect()) as another:
                fresh.append(seconds(another))
    assert min(kept[1:]) < 5 * min(fresh)


def test_it_listens_on_the_loopback_only(live: Live) -> None:
    listening = [c for c in psutil.Process(live.process.pid).net_connections() if c.status == "LISTEN"]
    assert [c.laddr.ip for c in listening] == ["127.0.0.1"]


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "relfast.cli.main", "serve", "--port", str(port)],
            cwd=ROOT,
            env={"PYTHONPATH": f"{ROOT}:{ROOT / 'kernels'}"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == f"relfast: 127.0.0.1:{port}: cannot be served (Address already in use)\n"


def _hammer(live: Live, n_threads: int, n_requests: int, *, stop: signal.Signals | None = None) -> Seen:
    """Clients that ask without a pause, each on connections of its own; what became of each request.

    They end after ``n_requests`` each, or, where ``stop`` is sent to the server once that many were answered
    in all, when it takes no more connections.
    """
    seen: Seen = {"ok": [], "refused": [], "lost": [], "other": []}
    molecules = distinct_c2(n_threads * 100)
    stopped = threading.Event()

    def client(number: int) -> None:
        connection = live.connect()
        sent = 0
        while sent < n_requests or stop is not None:
            gold, text = molecules[number * 100 + sent % 100]
            record = {"task": "REL-C2", "answer": gold, "response": f"{sent} {text}"}
            body = {"records": [record, {"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}]}
            if connection.sock is None:
                try:
                    connection.connect()
                except OSError:
                    seen["refused"].append(number)
                    return
            try:
                status, answer = ask_on(connection, "/score", body)
            except (OSError, http.client.HTTPException) as error:
                seen["lost"].append(repr(error))
                return
            sent += 1
            good = status == 200 and [row["status"] for row in answer["rows"]] == ["ok", "ok"]
            seen["ok" if good else "other"].append(answer)
            if stop is not None and len(seen["ok"]) >= n_requests and not stopped.is_set():
                stopped.set()
                live.process.send_signal(stop)
        connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    return seen


@pytest.mark.slow
def test_under_load_no_request_fails(live: Live) -> None:
    seen = _hammer(live, 32, 10)
    assert not seen["lost"]
    assert not seen["other"]
    assert not seen["refused"]
    assert len(seen["ok"]) == 320


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_under_load_loses_no_request(number: signal.Signals) -> None:
    """Every request whose connection was taken is answered; later ones are refused at the door."""
    with live_server() as server:
        assert server.ask("/score", {"records": RECORDS})[0] == 200  # workers are warm
        pids = [worker.pid for worker in server.workers()]
        seen = _hammer(server, 16, 100, stop=number)
        assert server.process.wait(PATIENCE) == 0
    assert not seen["lost"]
    assert not seen["other"]
    assert len(seen["refused"]) == 16
    assert len(seen["ok"]) >= 100
    assert pids
    assert not any(psutil.pid_exists(pid) for pid in pids)


@pytest.mark.slow
def test_a_stop_waits_for_what_is_being_scored() -> None:
    """Also for a record that hangs: its row is its timeout."""
    gold, response = HANG
    got: list[Any] = []
    with live_server("--timeout", "1.5", "--policy", "reference") as server:
        record = {"task": "REL-C2", "answer": gold, "response": response}
        client = threading.Thread(target=lambda: got.append(server.ask("/score", {"records": [record] * 3})))
        client.start()
        until(
            lambda: "relfast_http_requests_in_flight 2.0" in server.ask("/metrics")[1], "a request in flight"
        )
        assert server.stop() == 0
        client.join(PATIENCE)
    ((status, answer),) = got
    assert status == 200
    assert [row["status"] for row in answer["rows"]] == ["timeout"] * 3


def test_the_docs_page_needs_nothing_from_elsewhere(live: Live) -> None:
    """A machine that serves rewards has no way to a CDN: every link and source is on the page or the server."""
    status, page = live.ask("/docs")
    _, described = live.ask("/openapi.json")
    assert status == 200
    links = set(re.findall(r"""(?:src|href|url|@import)\s*[=(]?\s*["']([^"']+)""", page))
    assert links
    assert {link for link in links if not link.startswith("#")} == {"openapi.json"}
    assert "src=" not in page
    for path in described["paths"]:
        assert f"<code>{path}</code>" in page
    for name in described["components"]["schemas"]:
        assert f'id="{name}"' in page


@pytest.mark.slow
@pytest.mark.skipif(chromium.executable() is None, reason="no browser")
def test_the_docs_page_tries_calls(token_file: Path) -> None:
    """Each example on the page is a call that succeeds: with the token by which the browser got the page, or with
    the one that the page was given."""
    with live_server("--token-file", str(token_file)) as server, chromium.launched() as browser:
        page = browser.new_page(http_credentials={"username": "any", "password": TOKEN})
        page.goto(f"{server.url}/docs")
        forms = page.query_selector_all("form")
        assert len(forms) == 8  # seven paths, one with two kinds of body
        for token in ("", TOKEN):
            page.fill("#token", token)
            for form in forms:
                output = form.query_selector("output")
                output.evaluate("shown => { shown.textContent = '' }")
                form.query_selector("button").click()
                page.wait_for_function("shown => shown.textContent.length > 2", arg=output)
                assert output.text_content().startswith("200 OK\n")
        assert "Open: it wants no token" in page.content()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    return path
