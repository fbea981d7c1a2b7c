"""Whom ``relfast serve`` answers and whom it refuses: names, the token, and bodies. Against the real server."""

from __future__ import annotations

import base64
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_cache import give_away
from live_server import Live, live_server
from processes import python

pytest.importorskip("fastapi", reason="the server needs the extra `serve`")

from relfast.cli.serve import _host
from relfast.errors import UsageError
from relfast.serve.access import Access, read_token

TOKEN = "0123456789abcdef:colon"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ROWS = {"records": [{"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}]}


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    limits = ("--max-body-bytes", "300000", "--max-records", "500")
    with live_server(*limits, "--allow-host", "Node7.cluster", "--allow-host", "fd00::7") as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server on all addresses."""
    path = tmp_path_factory.mktemp("secrets") / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    with live_server("--host", "0.0.0.0", "--token-file", str(path)) as server:
        yield server
        assert server.stop() == 0


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


# requests to a server: path, headers, body (bytes as they are) → status, and what is said


KNOWN = (
    "localhost", "LOCALHOST:9", "localhost.", "127.0.0.1:8000", "127.8.9.1", "[::1]", "[::1]:80",
    "node7.cluster", "NODE7.CLUSTER.:8000", "[fd00::7]:8000", "[fd00:0:0::7]",
)  # fmt: skip
STRANGERS = (
    "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
    "cluster", "x.node7.cluster", "[fd00::8]", "0.0.0.0", "127.1", "2130706433", "[::]", "[::ffff:a00:1]",
)  # fmt: skip
NO_HOST = (
    "", "localhost@evil.example", "localhost/evil", "localhost:80:80", "[localhost]", "::1", "a b", "localhost, x",
)  # fmt: skip
NO_JSON = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json")
"""What a page of another origin can send without being asked for leave."""

BODIES = (
    (b"", 422),
    (b"not json", 422),
    (b'{"records": 5}', 422),
    (b'{"records": [NaN, "\\ud800"], "policy": "lax\\ud800"}', 422),
    (b'{"records": [' + b"[" * 5_000 + b"]" * 5_000 + b"]}", 200),
    (b'{"records": [\xff]}', 200),
    (b'{"records": [' + b"9" * 5_000 + b"]}", 200),
    (b'{"records": [' + b"1," * 500 + b"1]}", 413),
    (b'{"records": ["' + b"x" * 300_000 + b'"]}', 413),
    (b'{"records": [NaN, "\\ud800", {"task": "\\ud800", "id": "\\ud800", "response": "x"}]}', 200),
    (b'{"records": []}', 200),
)
NO_TOKEN = (
    *(None, "", TOKEN, "Bearer", "Bearer ", "Bearer é", f"Token {TOKEN}"),
    *(f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}"),
    *("Basic ???", basic(TOKEN.partition(":")[0]), basic(f"{TOKEN}:")),
)
STRANGER = "this server does not answer to {}; --allow-host has it do so"

Asked = tuple[str, dict[str, str], Any, int, str]


def body_of(path: str) -> Any:
    return ROWS if path in ("/score", "/get_reward") else None


def of_live() -> Iterator[Asked]:
    for host in KNOWN:
        yield "/score", {"Host": host}, ROWS, 200, ""
    for host in STRANGERS:
        for path in ("/score", "/health", "/metrics", "/docs", "/nothing"):
            said = STRANGER.format(host.removesuffix(":8000").strip("[]"))
            yield path, {"Host": host}, body_of(path), 421, said
    for host in NO_HOST:
        yield "/health", {"Host": host}, None, 400, "Host"
    for path in ("/score", "/get_reward"):
        for kind in NO_JSON:
            yield path, {"Content-Type": kind}, ROWS, 415, "the body's Content-Type must be application/json"
    for kind in ("application/json; charset=utf-8", "Application/JSON", "application/x+json"):
        yield "/score", {"Content-Type": kind}, ROWS, 200, ""
    for body, status in BODIES:
        yield "/score", {}, body, status, ""
    labels = {"query": ["a", "b"], "labels": ["x"]}
    yield "/get_reward", {}, labels, 422, "labels has 1 items, query has 2"
    yield "/verify", {}, {"response": {}}, 422, "responses_create_params"


def of_guarded() -> Iterator[Asked]:
    closed = ("/score", "/metrics", "/docs", "/openapi.json")
    for value in (f"Bearer {TOKEN}", f"bearer  {TOKEN} ", basic(f"any:{TOKEN}"), basic(f":{TOKEN}")):
        for path in closed:
            yield path, {"Authorization": value}, body_of(path), 200, ""
        yield "/nothing", {"Authorization": value}, None, 404, ""
    for other in NO_TOKEN:
        headers = {} if other is None else {"Authorization": other}
        for path in (*closed, "/get_reward", "/nothing"):
            said = "this server wants its token: Authorization: Bearer TOKEN"
            yield path, headers, body_of(path), 401, said
    # its health is open, but not to any name
    yield "/health", {}, None, 200, ""
    for host in ("evil.example", "0.0.0.0"):
        yield "/health", {"Host": host}, None, 421, STRANGER.format(host)
    yield "/metrics", {**BEARER, "Host": "evil.example"}, None, 421, STRANGER.format("evil.example")


@pytest.mark.parametrize("which", ["live", "guarded"])
def test_what_is_answered(which: str, request: pytest.FixtureRequest) -> None:
    server: Live = request.getfixturevalue(which)
    for path, headers, body, status, said in {"live": of_live, "guarded": of_guarded}[which]():
        raw = body if isinstance(body, bytes) else None
        got, answer = server.ask(path, None if raw is not None else body, raw=raw, headers=headers)
        assert got == status, (path, headers, body)
        # where it is text, the HTTP library would have none of the request
        detail = answer.get("detail", "") if isinstance(answer, dict) else said
        assert said in detail, (path, headers)
        assert TOKEN not in str(answer)
    if which == "guarded":
        assert 'total{path="/score",code="401"}' in server.ask("/metrics", headers=BEARER)[1]


@pytest.mark.parametrize("head", [b"", b"Host: localhost\r\nHost: evil.example\r\n"], ids=["none", "two"])
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_one_host_has_to_be_named(head: bytes, version: bytes, live: Live) -> None:
    with socket.create_connection(("127.0.0.1", live.port), 30) as connection:
        connection.sendall(b"GET /health HTTP/" + version + b"\r\n" + head + b"Connection: close\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"400"


def test_bodies_without_a_kind_or_a_length(live: Live) -> None:
    chunks = iter([b'{"records": ["', *[b"x" * 10_000] * 40, b'"]}'])
    for body, kind, status in ((b'{"records": []}', {}, 415), (chunks, {"Content-Type": "application/json"}, 413)):  # fmt: skip
        with contextlib.closing(live.connect()) as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request("POST", "/score", body, kind)
            assert connection.getresponse().status == status


def test_what_headers_say(live: Live, guarded: Live) -> None:
    """Other origins get no leave; a challenge names both schemes; who was denied may ask again on its connection."""
    with contextlib.closing(live.connect()) as connection:
        asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        connection.request("OPTIONS", "/score", headers=asked)
        answer = connection.getresponse()
        assert answer.status == 405
        assert not any(name.lower().startswith("access-control") for name in answer.headers)
    with contextlib.closing(guarded.connect()) as connection:
        for headers, status in (({}, 401), (BEARER, 200)):
            kind = {"Content-Type": "application/json"}
            connection.request("POST", "/score", b'{"records": []}' + b" " * 300_000, {**kind, **headers})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status
            challenges = ['Bearer realm="relfast"', 'Basic realm="relfast"'] if status == 401 else None
            assert answer.headers.get_all("WWW-Authenticate") == challenges


# options that no server comes up with


NO_NAME = "--allow-host wants a name or an address without a port, not {!r}\n"
OPEN = (
    "--host {} opens the server beyond this machine, which wants a token: type"
    " `(umask 077; openssl rand -hex 32 > token)` and add --token-file token\n"
)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--allow-host", "node7:8000", NO_NAME.format("node7:8000")),
        *(("--host", host, OPEN.format(host)) for host in ("0.0.0.0", "::", "")),
        ("--embedder", "nosuch", "no embedding model 'nosuch': "),
        (
            "--token-file",
            "/dev/null",
            "--token-file /dev/null: others can get at it (mode 0666); type `chmod",
        ),
    ],
)
def test_what_no_server_comes_up_with(option: str, value: str, said: str) -> None:
    done = python("-m", "relfast.cli.main", "serve", "--port", 0, option, value)
    assert done.returncode == 2
    assert done.stderr.startswith(f"relfast: {said}")
    assert done.stderr.count("\n") == 1


def test_names_to_allow_are_names() -> None:
    for name in ("http://node7", "*", "*.cluster", "a b", ""):
        with pytest.raises(UsageError, match="wants a name or an address without a port"):
            _host(name)


def test_a_token_that_others_can_get_at_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("secret\n")
    for mode in (0o644, 0o640, 0o620, 0o604):
        path.chmod(mode)
        with pytest.raises(UsageError, match=rf"others can get at it \(mode {mode:04o}\); type `chmod 600"):
            read_token(path)
    path.chmod(0o600)
    assert read_token(path) == "secret"
    give_away(path)
    with pytest.raises(UsageError, match=r"belongs to another user|others can get at it"):
        read_token(path)


def test_a_token_is_one_line_of_visible_ascii(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(0o600)
    for content in (b"", b"\n", b"two words", b"two\nlines", "é".encode(), b"x" * 5_000, b"a\0"):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="one line of visible ASCII"):
            read_token(path)
    for missing, said in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(UsageError, match=said):
            read_token(missing)


@pytest.mark.slow
def test_an_address_is_answered_to_if_it_was_opened_by_it() -> None:
    access = Access(["10.0.0.5"])
    assert access.denial("/score", [(b"host", b"10.0.0.5:8000")]) is None
    with live_server("--host", "127.0.0.2") as server:
        with socket.create_connection(("127.0.0.2", server.port), 30) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.2\r\nConnection: close\r\n\r\n")
            assert connection.makefile("rb").readline().split()[1] == b"200"
        assert server.stop() == 0
