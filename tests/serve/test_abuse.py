"""``relfast serve`` abused: half bodies, hang-ups, clients that wait for ever, full disks, stops in the midst of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_server import Live, ask_on, live_server
from patience import PATIENCE, until
from processes import PYTHONPATH, python
from reward_cases import HANG, distinct_c2

import relfast

TEXT = {"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}


def hanging(n: int) -> dict[str, Any]:
    """A record that takes as long as it may, and that no other is equal to."""
    gold, response = HANG
    return {"task": "REL-C2", "answer": gold, "response": response.replace("</", f"{'.C' * n}</")}


def head(server: Live, length: int) -> bytes:
    lines = [
        "POST /score HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@contextlib.contextmanager
def half_sent(server: Live, sent: bytes = b'{"records"') -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(head(server, 100) + sent)
        yield connection


def answer_on(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, json.loads(response.read())


def counted(server: Live) -> dict[str, float]:
    """Requests of ``/score`` by code, and all in flight."""
    page = server.ask("/metrics")[1]
    found = re.findall(r'^relfast_http_requests_total{path="/score",code="(\d+)"} (\d+)', page, re.M)
    in_flight = re.search(r"^relfast_http_requests_in_flight (.+)", page, re.M)
    assert in_flight
    return {**{code: int(n) for code, n in found}, "in flight": float(in_flight[1]) - 1}


class Later(threading.Thread):
    """A request whose answer is looked at later."""

    def __init__(self, server: Live, records: list[dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self.server, self.records, self.got = server, records, (0, None)
        self.start()

    def run(self) -> None:
        self.got = self.server.ask("/score", {"records": self.records})

    def status(self) -> int:
        self.join(PATIENCE)
        return self.got[0]


def test_a_body_has_its_time_to_come() -> None:
    with live_server("--body-timeout", "0.3") as server:
        with half_sent(server) as connection:
            status, answer = answer_on(connection)
            assert (status, answer["detail"]) == (408, "the body was not there after 0.3 s")
            assert connection.recv(1) == b""
        assert server.ask("/score", {"records": [TEXT]})[0] == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_half_a_body_keeps_no_server_alive(number: signal.Signals) -> None:
    with live_server("--body-timeout", "3600", "--stop-timeout", "3600") as server:
        with contextlib.ExitStack() as stack:
            halves = [stack.enter_context(half_sent(server)) for _ in range(20)]
            until(lambda: counted(server)["in flight"] == 20, "all are being read")
            assert server.stop(number) == 0
            assert {answer_on(connection)[0] for connection in halves} == {503}
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""


def test_a_second_signal_ends_it_at_once() -> None:
    with live_server("--timeout", "3600", "--stop-timeout", "3600", "--policy", "reference") as server:
        busy = Later(server, [hanging(0)])
        until(lambda: counted(server)["in flight"] == 1, "it is being scored")
        server.process.send_signal(signal.SIGTERM)
        until(lambda: not _takes_connections(server), "the port is closed")
        assert server.stop() == 0
        assert busy.status() == 503


def _takes_connections(server: Live) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port)):
        return True
    return False


def test_hang_ups_are_no_bad_requests() -> None:
    with live_server() as server:
        for sent in (b"", b'{"records"', b'{"records": ['):
            with half_sent(server, sent):
                pass
            with half_sent(server, sent) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            chunked = head(server, 100).replace(b"Content-Length: 100", b"Transfer-Encoding: chunked")
            connection.sendall(chunked + b"5\r\nab")
        assert server.ask("/score", raw=b"{}")[0] == 422
        until(lambda: counted(server)["in flight"] == 0, "all is over")
        seen = counted(server)
        assert (seen.get("499"), seen["422"]) == (7, 1)
        assert server.stop() == 0
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


def test_requests_that_wait_for_workers_hold_up_no_others() -> None:
    """More of them than there are threads; what is not answered in the time of a stop is told so."""
    with live_server("--timeout", "3600", "--stop-timeout", "0.1", "--policy", "reference") as server:
        busy = [Later(server, [hanging(n)]) for n in range(60)]
        until(lambda: counted(server)["in flight"] == 60, "all are being scored")
        assert server.ask("/score", {"records": []}) == (200, {"rows": []})
        assert server.ask("/score", {"records": [TEXT] * 20})[0] == 200
        assert server.ask("/get_reward", {"response": "<Yes>", "label": TEXT}) == (200, 1.0)
        assert server.stop() == 0
        assert {each.status() for each in busy} == {503}
        assert {each.got[1]["detail"] for each in busy} == {"the server was stopped before this was answered"}
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


@pytest.mark.slow
def test_all_of_it_at_once_and_a_stop() -> None:
    """Clients that ask, that hang up, that are slow: what was asked in full is answered or cut with a status, later
    ones are refused at the door, and no worker is left."""
    seen: Counter[str] = Counter()
    molecules = distinct_c2(400)

    def ask(number: int) -> None:
        with contextlib.closing(server.connect()) as connection:
            try:
                connection.connect()
                for at in range(100_000):
                    gold, text = molecules[(number * 31 + at) % len(molecules)]
                    record = {"task": "REL-C2", "answer": gold, "response": f"{number} {at} {text}"}
                    status, answer = ask_on(connection, "/score", {"records": [record, TEXT]})
                    seen[str(status)] += 1
                    assert status != 200 or [row["status"] for row in answer["rows"]] == ["ok", "ok"]
                    if connection.sock is None:  # it was told that it is closed
                        connection.connect()
            except ConnectionRefusedError:
                seen["refused"] += 1

    def hang_up() -> None:
        for _ in range(100):  # no more: they would take the processor from all others
            with contextlib.suppress(OSError), half_sent(server):
                seen["hung up"] += 1

    with live_server("--body-timeout", "3600") as server, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(half_sent(server)) for _ in range(10)]
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        threads += [threading.Thread(target=hang_up) for _ in range(2)]
        for thread in threads:
            thread.start()
        until(lambda: seen["200"] > 50 and seen["hung up"] > 50, "they are busy")
        workers = server.workers()
        status = server.stop()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        assert {answer_on(connection)[0] for connection in slow} == {503}
    assert status == 0
    assert workers
    assert not any(worker.is_running() for worker in workers)
    assert seen["refused"] == 16
    assert {*seen} <= {"200", "503", "refused", "hung up"}


def test_it_serves_with_nowhere_to_say_so() -> None:
    """Stderr on a full disk."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open("/dev/full", "w") as full:
        process = subprocess.Popen(
            [sys.executable, "-m", "relfast.cli.main", "serve", "--port", str(port), "--access-log"],
            env={"PYTHONPATH": PYTHONPATH},
            stdout=full,
            stderr=full,
        )
    server = Live(process, port)  # type: ignore[arg-type]
    try:
        until(lambda: process.poll() is not None or _takes_connections(server), "it is up")
        assert server.ask("/score", {"records": [TEXT]})[0] == 200
        assert server.stop() == 0
    finally:
        process.kill()
        process.wait()


def test_the_access_log_has_a_line_a_request() -> None:
    with live_server("--access-log") as server:
        assert server.ask("/score", {"records": [TEXT]})[0] == 200
        assert server.ask("/a%0Arelfast:%20forged%1b[2J")[0] == 404
        with half_sent(server):
            pass
        until(lambda: counted(server).get("499") == 1, "it is counted")
        assert server.stop() == 0
        assert server.process.stderr is not None
        lines = [line for line in server.process.stderr.read().splitlines() if "/metrics" not in line]
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} 127\.0\.0\.1:\d+ (\S+ \S+ \d+) \d+ [\d.]+ ms"
    found = [re.fullmatch(form, line) for line in lines]
    assert [one and one[1] for one in found] == [
        "POST /score 200",
        "GET /a%0Arelfast:%20forged%1b[2J 404",
        "POST /score 499",
    ]


def test_an_embedder_that_is_not_there_is_refused_at_start() -> None:
    done = python("-m", "relfast.cli.main", "serve", "--port", 0, "--embedder", "nosuch")
    assert done.returncode == 2
    assert re.fullmatch(r"relfast: no embedding model 'nosuch': .*\n", done.stderr)


def test_a_task_that_cannot_be_scored_spoils_no_other(tmp_path: Path) -> None:
    """As where the model goes away while the server runs: its records say so, their neighbours are scored."""
    solution = "First 1 + 2 = 3.\n\nSo it is \\boxed{3}."
    embedded = {"task": "ReAlign", "answer": {"benchmark_solution": solution}, "response": solution}
    records = [TEXT, embedded, {"task": "REL-A1", "answer": {"target": 1}, "response": "Answer 1"}]
    with relfast.Scorer(embedder=str(tmp_path / "gone")) as scorer:
        for scores in (scorer.score(records), [scorer.score(records[1:2])[0]]):
            (lost,) = (score for score in scores if score.task == "ReAlign")
            assert (lost.status, lost.correct, lost.reward) == ("crashed", None, None)
            assert lost.error is not None
            assert "no embedding model" in lost.error["message"]
            assert {score.status for score in scores if score.task != "ReAlign"} <= {"ok"}
