"""Who may ask ``relfast serve``: names, the token, and bodies that say what they are. Against the real server."""

from __future__ import annotations

import base64
import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_cache import give_away
from live_server import Live, live_server
from processes import python

pytest.importorskip("fastapi", reason="the server needs the extra `serve`")

from relfast.cli.serve import _host
from relfast.errors import UsageError
from relfast.serve.access import Access, read_token

TOKEN = "0123456789abcdef:colon"
ROWS = {"records": [{"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}]}
GUARDED = ("/metrics", "/docs", "/openapi.json", "/nothing")


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with live_server("--allow-host", "Node7.cluster", "--allow-host", "fd00::7") as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secrets") / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def guarded(token_file: Path) -> Iterator[Live]:
    """A server on all addresses."""
    with live_server("--host", "0.0.0.0", "--token-file", str(token_file)) as server:
        yield server
        assert server.stop() == 0


# names


@pytest.mark.parametrize("host", [
    "localhost", "LOCALHOST:9", "localhost.", "127.0.0.1:8000", "127.8.9.1", "[::1]", "[::1]:80",
    "node7.cluster", "NODE7.CLUSTER.:8000", "[fd00::7]:8000", "[fd00:0:0::7]",
])  # fmt: skip
def test_names_that_are_answered_to(host: str, live: Live) -> None:
    assert live.ask("/score", ROWS, headers={"Host": host})[0] == 200


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
    "cluster", "x.node7.cluster", "[fd00::8]", "0.0.0.0", "127.1", "2130706433", "[::]", "[::ffff:a00:1]",
])  # fmt: skip
@pytest.mark.parametrize("path", ["/score", "/health", "/metrics", "/docs", "/nothing"])
def test_names_that_are_not(host: str, path: str, live: Live) -> None:
    status, answer = live.ask(path, ROWS if path == "/score" else None, headers={"Host": host})
    assert status == 421
    name = host.removesuffix(":8000").strip("[]")
    assert answer == {"detail": f"this server does not answer to {name}; --allow-host has it do so"}


@pytest.mark.parametrize("host", [
    "", "localhost@evil.example", "localhost/evil", "localhost:80:80", "[localhost]", "::1", "a b",
    "localhost, x",
])  # fmt: skip
def test_hosts_that_are_none(host: str, live: Live) -> None:
    status, answer = live.ask("/health", headers={"Host": host})
    assert status == 400
    if isinstance(answer, dict):  # else the HTTP library would have none of it
        assert "Host" in answer["detail"]


@pytest.mark.parametrize("head", [b"", b"Host: localhost\r\nHost: evil.example\r\n"], ids=["none", "two"])
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_one_host_has_to_be_named(head: bytes, version: bytes, live: Live) -> None:
    with socket.create_connection(("127.0.0.1", live.port), 30) as connection:
        connection.sendall(b"GET /health HTTP/" + version + b"\r\n" + head + b"Connection: close\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"400"


def test_names_to_allow_are_names() -> None:
    said = "--allow-host wants a name or an address without a port, not {!r}"
    for name in ("http://node7", "*", "*.cluster", "a b", ""):
        with pytest.raises(UsageError) as refused:
            _host(name)
        assert str(refused.value) == said.format(name)
    done = serve("--allow-host", "node7:8000")
    assert (done.returncode, done.stderr) == (2, f"relfast: {said.format('node7:8000')}\n")


# bodies


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json"]
)
@pytest.mark.parametrize("path", ["/score", "/get_reward"])
def test_bodies_that_do_not_say_they_are_json(kind: str, path: str, live: Live) -> None:
    """What a page of another origin can send without being asked for leave."""
    assert live.ask(path, ROWS, headers={"Content-Type": kind}) == (
        415,
        {"detail": "the body's Content-Type must be application/json"},
    )


def test_a_body_that_says_nothing_is_refused(live: Live) -> None:
    with contextlib.closing(live.connect()) as connection:
        connection.request("POST", "/score", b'{"records": []}')
        assert connection.getresponse().status == 415


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", "application/x+json"]
)
def test_ways_to_say_json(kind: str, live: Live) -> None:
    assert live.ask("/score", ROWS, headers={"Content-Type": kind})[0] == 200


def test_no_leave_is_given_to_other_origins(live: Live) -> None:
    with contextlib.closing(live.connect()) as connection:
        asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        connection.request("OPTIONS", "/score", headers=asked)
        answer = connection.getresponse()
        assert answer.status == 405
        assert not any(name.lower().startswith("access-control") for name in answer.headers)


# the token


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "value", [f"Bearer {TOKEN}", f"bearer  {TOKEN} ", basic(f"any:{TOKEN}"), basic(f":{TOKEN}")]
)
def test_the_token_opens(value: str, guarded: Live) -> None:
    headers = {"Authorization": value}
    assert guarded.ask("/score", ROWS, headers=headers)[0] == 200
    assert [guarded.ask(path, headers=headers)[0] for path in GUARDED] == [200, 200, 200, 404]


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", TOKEN, "Bearer", "Bearer ", "Bearer é", f"Token {TOKEN}"),
        *(f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}"),
        *("Basic ???", basic(TOKEN.partition(":")[0]), basic(f"{TOKEN}:")),
    ],
)
def test_anything_else_does_not(value: str | None, guarded: Live) -> None:
    headers = {} if value is None else {"Authorization": value}
    for path in ("/score", "/get_reward", *GUARDED):
        body = ROWS if path in ("/score", "/get_reward") else None
        status, answer = guarded.ask(path, body, headers=headers)
        assert status == 401
        assert answer["detail"].startswith("this server wants its token: Authorization: Bearer TOKEN")
        assert TOKEN not in str(answer)


def test_a_challenge_names_both_schemes(guarded: Live) -> None:
    with contextlib.closing(guarded.connect()) as connection:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        assert answer.headers.get_all("WWW-Authenticate") == [
            'Bearer realm="relfast"',
            'Basic realm="relfast"',
        ]


def test_a_denied_request_leaves_its_connection_usable(guarded: Live) -> None:
    with contextlib.closing(guarded.connect()) as connection:
        for headers, status in (({}, 401), ({"Authorization": f"Bearer {TOKEN}"}, 200)):
            kind = {"Content-Type": "application/json"}
            connection.request("POST", "/score", b'{"records": []}' + b" " * 300_000, {**kind, **headers})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status


def test_health_is_open_but_not_to_any_name(guarded: Live) -> None:
    assert guarded.ask("/health")[1]["status"] == "ok"
    for host in ("evil.example", "0.0.0.0"):
        assert guarded.ask("/health", headers={"Host": host})[0] == 421
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.ask("/metrics", headers={**bearer, "Host": "evil.example"})[0] == 421


def test_denied_requests_are_counted(guarded: Live) -> None:
    guarded.ask("/score", ROWS)
    page = guarded.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})[1]
    assert 'relfast_http_requests_total{path="/score",code="401"}' in page


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    """A server that does not come up."""
    return python("-m", "relfast.cli.main", "serve", "--port", 0, *options)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_no_address_beyond_the_loopback_without_a_token(host: str) -> None:
    done = serve("--host", host)
    assert done.returncode == 2
    assert done.stderr == (
        f"relfast: --host {host} opens the server beyond this machine, which wants a token: type"
        " `(umask 077; openssl rand -hex 32 > token)` and add --token-file token\n"
    )


def test_a_token_that_others_can_get_at_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("secret\n")
    for mode in (0o644, 0o640, 0o620, 0o604):
        path.chmod(mode)
        with pytest.raises(UsageError, match=rf"others can get at it \(mode {mode:04o}\); type `chmod 600"):
            read_token(path)
    done = serve("--token-file", str(path))
    assert (done.returncode, done.stderr) == (
        2,
        f"relfast: --token-file {path}: others can get at it (mode 0604); type `chmod 600 {path}`\n",
    )
    path.chmod(0o600)
    assert read_token(path) == "secret"
    give_away(path)
    with pytest.raises(UsageError, match=r"belongs to another user|others can get at it"):
        read_token(path)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"two words", b"two\nlines", "é".encode(), b"x" * 5_000, b"a\0"]
)
def test_a_token_is_one_line_of_visible_ascii(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(UsageError, match="one line of visible ASCII"):
        read_token(path)


def test_a_token_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_token(tmp_path / "none")
    with pytest.raises(UsageError, match="Is a directory"):
        read_token(tmp_path)


@pytest.mark.slow
def test_an_address_is_answered_to_if_it_was_opened_by_it() -> None:
    access = Access(["10.0.0.5"])
    assert access.denial("/score", [(b"host", b"10.0.0.5:8000")]) is None
    with live_server("--host", "127.0.0.2") as server:
        with socket.create_connection(("127.0.0.2", server.port), 30) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.2\r\nConnection: close\r\n\r\n")
            assert connection.makefile("rb").readline().split()[1] == b"200"
        assert server.stop() == 0
