"""``relfast serve`` as a process of its own: protocols, its pages, a stop that waits, and abuse."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import json
import re
import signal
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromium
import psutil
import pytest
from contract_records import gold
from live_server import Live, ask_on, live_server
from processes import PATIENCE, python, started, until
from reward_cases import HANG, MIXED, distinct_c2
from seeds import fresh

import relfast
from relfast.records import STATUSES
from relfast.serve.limits import BUCKETS, Metrics

RECORDS = [
    {"id": f"r{at}", "task": task, "answer": answer, "response": response}
    for at, (task, answer, response, _) in enumerate(MIXED)
]

TOKEN = "a-secret"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with live_server() as server:
        yield server
        assert server.stop() == 0


def test_score_gives_the_rows_of_the_library(live: Live) -> None:
    """Under the policy that is asked for, ``strict`` by default."""
    records, found = [*RECORDS, 5, None], []
    for asked in ({}, {"policy": "strict"}, {"policy": "reference"}):
        status, answer = live.ask("/score", {"records": records, **asked})
        expected = relfast.score(records, **{"policy": "strict", **asked}, workers=1)  # type: ignore[arg-type]
        rows = json.loads(json.dumps([score.to_row() for score in expected]))
        assert (status, answer) == (200, {"rows": rows})
        found.append([row["reward"] for row in rows])
    assert found[0] != found[2]


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


def test_it_listens_on_the_loopback_only(live: Live) -> None:
    listening = [c for c in psutil.Process(live.process.pid).net_connections() if c.status == "LISTEN"]
    assert [c.laddr.ip for c in listening] == ["127.0.0.1"]


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = python("-m", "relfast.cli.main", "serve", "--port", port)
    assert done.returncode == 1
    assert done.stderr == f"relfast: 127.0.0.1:{port}: cannot be served (Address already in use)\n"


@pytest.mark.slow
def test_a_stop_waits_for_what_is_being_scored() -> None:
    """Also for a record that hangs: its row is its timeout."""
    gold, response = HANG
    options = ("--timeout", "1.5", "--policy", "reference")
    with ThreadPoolExecutor(1) as pool, live_server(*options) as server:
        record = {"task": "REL-C2", "answer": gold, "response": response}
        asked = pool.submit(server.ask, "/score", {"records": [record] * 3})
        until(
            lambda: "relfast_http_requests_in_flight 2.0" in server.ask("/metrics")[1], "a request in flight"
        )
        assert server.stop() == 0
        status, answer = asked.result(PATIENCE)
    assert status == 200
    assert [row["status"] for row in answer["rows"]] == ["timeout"] * 3


def test_the_docs_page_needs_nothing_from_elsewhere(live: Live) -> None:
    """A machine that serves rewards has no way to a CDN: every link and source is on the page or the server."""
    (_, page), (_, described) = live.ask("/docs"), live.ask("/openapi.json")
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
def test_the_docs_page_tries_calls(tmp_path: Path) -> None:
    """Each example on the page is a call that succeeds: with the token by which the browser got the page, or with
    the one that the page was given."""
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    with live_server("--token-file", str(path)) as server, chromium.launched() as browser:
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


# NeMo-Gym's protocol, as verifiers' client of it speaks it: /seed_session, then /verify with the same row


def _response(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "role": "assistant", "content": content}
    return {"id": "r", "output": [{"type": "reasoning", "summary": []}, message]}


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("task", ["REL-A1", "REL-B1", "REL-C2", "SeqBench"])
def test_a_row_through_both_routes(live: Live, task: str, within: bool) -> None:
    record, response = gold(task)[0]
    about = {"task": record["task"], "answer": record["answer"]}
    asked = {"input": [{"role": "user", "content": record["question"]}]}
    row = {"responses_create_params": asked, **({"verifier_metadata": about} if within else about)}
    assert live.ask("/seed_session", row) == (200, {})
    status, given = live.ask("/verify", {**row, "response": _response(response)})
    assert (status, given["reward"], given["mask_sample"], given["correct"]) == (200, 1.0, False, True)
    assert given["extracted_answer"]
    assert {key: given[key] for key in row} == row
    _, given = live.ask("/verify", {**row, "response": _response("I do not know.")})
    assert (given["reward"], given["mask_sample"], given["status"]) == (0.0, False, "no_answer")


VERIFIED: list[tuple[dict[str, Any], Any, dict[str, Any]]] = [
    # what has no score is masked; a response without text is no answer
    ({"task": "REL-C2", "answer": {"smiles": None, "x": 1}}, _response("<smiles>CCO</smiles>"),
     {"reward": 0.0, "mask_sample": True, "status": "invalid_record", "correct": None}),
    *(({"task": "REL-C1", "answer": {"label": "Yes"}, "question": "q"}, said, {"reward": 0.0, "status": "no_answer"})
      for said in ({}, {"output": None}, {"output": "x"}, {"output": [5, {"type": "message", "content": None}]})),
    # what JSON can hold and we cannot comes back
    ({"answer": {"label": "Yes"}, "n": 10**30, "text": "\ud800"}, _response("<Yes>"),
     {"reward": 1.0, "n": 10**30, "text": "\ud800"}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "response", "given"), VERIFIED)
def test_other_rows(live: Live, row: dict[str, Any], response: Any, given: dict[str, Any]) -> None:
    status, answer = live.ask("/verify", {"responses_create_params": {}, **row, "response": response})
    assert (status, {name: answer[name] for name in given}) == (200, given)


# the metrics page, read by Prometheus' own parser, and counted by many threads


def test_prometheus_reads_the_page() -> None:
    metrics = Metrics()
    for path, code, seconds in (("/score", 200, 0.003), ("/score", 413, 0.0001), ("other", 404, 99.0)):
        metrics.began()
        metrics.ended(path, code, seconds)
    metrics.began()
    parser = pytest.importorskip("prometheus_client.parser")
    with relfast.Scorer(workers=0) as scorer:
        stats = scorer.stats()
    page = metrics.text(stats | {"timeout": 3, "shared": 8, "workers": 2}, STATUSES)
    found = list(parser.text_string_to_metric_families(page))
    assert all(family.documentation for family in found)
    families = {family.name.removeprefix("relfast_"): family.type for family in found}
    counters = ("responses", "http_requests", "scored_before", "shared", "workers_replaced")
    gauges = dict.fromkeys(("http_requests_in_flight", "workers"), "gauge")
    assert families == {"http_request_seconds": "histogram", **dict.fromkeys(counters, "counter"), **gauges}
    values = {
        (sample.name.removeprefix("relfast_"), *sample.labels.values()): sample.value
        for family in found
        for sample in family.samples
    }
    told = {
        ("http_request_seconds_bucket", path, bound): n
        for path, reached in (
            ("/score", [1, 1, *[2] * (len(BUCKETS) - 1)]),
            ("other", [*[0] * len(BUCKETS), 1]),
        )
        for bound, n in zip((*map(str, BUCKETS), "+Inf"), reached, strict=True)
    }
    told |= {("http_request_seconds_count", "other"): 1, ("http_requests_total", "/score", "413"): 1}
    told |= {("responses_total", "timeout"): 3, ("shared_total",): 8}
    told |= {("http_requests_in_flight",): 1, ("workers",): 2}
    assert values | told == values
    assert values["http_request_seconds_sum", "/score"] == pytest.approx(0.0031)


# the server under schemathesis, against its own OpenAPI description


@pytest.mark.slow
@pytest.mark.fuzz
def test_no_request_made_from_the_schema_breaks_the_server() -> None:
    """No 500, no answer that is not as described, nothing accepted that is malformed."""
    with live_server("--timeout", "2") as server:
        done = python(
            *("-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"),
            *("--max-examples", 50, "--seed", fresh(1).randrange(10**6), "--no-color"),
            *("--suppress-health-check", "all"),
            # that labels are as many as queries is a rule no JSON schema can say, so not all that fits
            # the schema is accepted
            *("--exclude-checks", "positive_data_acceptance"),
            timeout=5 * PATIENCE,
        )
        assert done.returncode == 0, done.stdout[-6_000:]
        assert server.ask("/health")[1]["status"] == "ok"
        assert 'code="500"' not in server.ask("/metrics")[1]


# abused: half bodies, hang-ups, clients that wait for ever, full disks, stops in the midst of it


TEXT = {"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}


def hanging(n: int) -> dict[str, Any]:
    """A record that takes as long as it may, and that no other is equal to."""
    gold, response = HANG
    return {"task": "REL-C2", "answer": gold, "response": response.replace("</", f"{'.C' * n}</")}


def head(server: Live, length: int) -> bytes:
    about = {"Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json", "Content-Length": length}
    lines = ["POST /score HTTP/1.1", *(f"{name}: {value}" for name, value in about.items())]
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
    options = ("--timeout", "3600", "--stop-timeout", "3600", "--policy", "reference")
    with ThreadPoolExecutor(1) as pool, live_server(*options) as server:
        busy = pool.submit(server.ask, "/score", {"records": [hanging(0)]})
        until(lambda: counted(server)["in flight"] == 1, "it is being scored")
        server.process.send_signal(signal.SIGTERM)
        until(lambda: not _takes_connections(server), "the port is closed")
        assert server.stop() == 0
        assert busy.result(PATIENCE)[0] == 503


def _takes_connections(server: Live) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port)):
        return True
    return False


def test_hang_ups_are_no_bad_requests_and_the_log_has_a_line_a_request() -> None:
    with live_server("--access-log") as server:
        for sent in (b"", b'{"records"', b'{"records": ['):
            with half_sent(server, sent):
                pass
            with half_sent(server, sent) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            chunked = head(server, 100).replace(b"Content-Length: 100", b"Transfer-Encoding: chunked")
            connection.sendall(chunked + b"5\r\nab")
        assert server.ask("/score", raw=b"{}")[0] == 422
        assert server.ask("/score", {"records": [TEXT]})[0] == 200
        assert server.ask("/a%0Arelfast:%20forged%1b[2J")[0] == 404
        until(lambda: counted(server)["in flight"] == 0, "all is over")
        seen = counted(server)
        assert (seen.get("499"), seen["422"]) == (7, 1)
        assert server.stop() == 0
        assert server.process.stderr is not None
        said = server.process.stderr.read()
    assert "Traceback" not in said
    # who resets a connection has no address any more
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} (?:127\.0\.0\.1:\d+|-:0) (\S+ \S+ \d+) \d+ [\d.]+ ms"
    found = [re.fullmatch(form, line) for line in said.splitlines() if "/metrics" not in line]
    assert Counter(one and one[1] for one in found) == {
        "POST /score 499": 7,
        "POST /score 422": 1,
        "POST /score 200": 1,
        "GET /a%0Arelfast:%20forged%1b[2J 404": 1,
    }


def test_requests_that_wait_for_workers_hold_up_no_others() -> None:
    """More of them than there are threads; what is not answered in the time of a stop is told so."""
    options = ("--timeout", "3600", "--stop-timeout", "0.1", "--policy", "reference")
    with ThreadPoolExecutor(60) as pool, live_server(*options) as server:
        busy = [pool.submit(server.ask, "/score", {"records": [hanging(n)]}) for n in range(60)]
        until(lambda: counted(server)["in flight"] == 60, "all are being scored")
        assert server.ask("/score", {"records": []}) == (200, {"rows": []})
        assert server.ask("/score", {"records": [TEXT] * 20})[0] == 200
        assert server.ask("/get_reward", {"response": "<Yes>", "label": TEXT}) == (200, 1.0)
        assert server.stop() == 0
        for each in busy:
            status, answer = each.result(PATIENCE)
            assert (status, answer["detail"]) == (503, "the server was stopped before this was answered")
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
    command = ("-m", "relfast.cli.main", "serve", "--port", port, "--access-log")
    with open("/dev/full", "w") as full:
        process = started(*command, stdout=full, stderr=full)
    server = Live(process, port)  # type: ignore[arg-type]
    try:
        until(lambda: process.poll() is not None or _takes_connections(server), "it is up")
        assert server.ask("/score", {"records": [TEXT]})[0] == 200
        assert server.stop() == 0
    finally:
        process.kill()
        process.wait()


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


# what a body may hold, and what one bad record costs


RIGHT = {"id": "r", "task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}


def test_samples_and_values_are_counted(live: Live) -> None:
    """A request's memory is bounded, whatever its 3 MB are."""
    before = psutil.Process(live.process.pid).memory_info().rss
    for body in (
        {"records": [RIGHT | {"response": [""] * 1_000_000}]},
        {"records": [RIGHT | {"response": [[]] * 1_000_000}]},
        {"records": [RIGHT | {"response": ["<Yes>"] * 6_000}] * 2},
        {"records": [{}] * 1_000_000},
        {"records": [], "more": [[]] * 2_100_000},
        {"query": [""] * 20_000, "labels": [{}] * 20_000},
    ):
        status, said = live.ask("/get_reward" if "query" in body else "/score", body)
        assert (status, *said) == (413, "detail"), said
    text = '\\"[,{' * 800_000  # a text is one value
    status, said = live.ask("/score", {"records": [RIGHT | {"response": text + "<Yes>"}]})
    assert (status, len(said["rows"])) == (200, 1)
    assert psutil.Process(live.process.pid).memory_info().rss - before < 700 * 2**20


DEEP = '{"id": "deep", "more": ' + "[" * 5_000 + "]" * 5_000 + "}"
LONG = '{"id": "long", "more": ' + "9" * 5_000 + "}"
TORN = '{"id": "torn", "more": nope}'


@pytest.mark.parametrize("bad", [DEEP, LONG, TORN])
def test_a_record_that_cannot_be_decoded_costs_its_own_row(bad: str, live: Live) -> None:
    good = json.dumps(RIGHT | {"id": 'a "]}, { \\\\'})
    body = '{"policy": "strict", "records": [%s, %s , %s]}' % (good, bad, good)  # noqa: UP031
    status, answer = live.ask("/score", raw=body.encode())
    assert status == 200, answer
    rows = answer["rows"]
    assert [(row["index"], row["status"]) for row in rows] == [(0, "ok"), (1, "invalid_record"), (2, "ok")]
    assert rows[1]["error"]["type"] == "InvalidJSON"
    assert rows[0]["id"] == rows[2]["id"] == 'a "]}, { \\\\'
    alone = live.ask("/score", raw=('{"records": [%s]}' % bad).encode())[1]["rows"]  # noqa: UP031
    assert alone == [rows[1] | {"index": 0}]


@pytest.mark.parametrize(
    "body", ['{"records": [{}', '{"records": ["a]}', '{"records": [{},, {}]}', "[[", '{"records": 5, x}']
)
def test_a_body_without_records_is_refused(body: str, live: Live) -> None:
    assert live.ask("/score", raw=body.encode())[0] in (400, 422)


def test_head_is_get_without_a_body(live: Live) -> None:
    for path in ("/health", "/", "/docs", "/metrics", "/openapi.json", "/nowhere"):
        told = []
        for method in ("GET", "HEAD"):
            with contextlib.closing(live.connect()) as connection:
                connection.request(method, path)
                response = connection.getresponse()
                told.append((response.status, response.headers.get_content_type()))
                assert bool(response.read()) == (method == "GET")
                assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert told[0] == told[1]
    assert live.ask("/score")[0] == 405


def test_the_docs_page_runs_its_own_code_only(live: Live) -> None:
    with contextlib.closing(live.connect()) as connection:
        connection.request("GET", "/docs")
        response = connection.getresponse()
        page, policy = response.read().decode(), response.headers["Content-Security-Policy"]
    for directive in ("default-src 'none'", "frame-ancestors 'none'", "connect-src 'self'"):
        assert directive in policy
    for tag in ("script", "style"):
        (code,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not re.search(r" (style|on\w+)=", page)


def test_headers_have_their_time_to_come() -> None:
    with live_server("--body-timeout", "0.5") as live:
        for beginning in (
            b"",
            b"GET /health HTT",
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-",
            b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /",
        ):
            with socket.create_connection(("127.0.0.1", live.port), PATIENCE) as connection:
                connection.sendall(beginning)
                said = b""
                while part := connection.recv(4_096):
                    said += part
            assert b" 408 " in said or beginning.endswith(b"\r\n\r\nGET /"), beginning
            assert (b" 200 " in said) == (b"\r\n\r\n" in beginning)
        assert live.ask("/health")[0] == 200
