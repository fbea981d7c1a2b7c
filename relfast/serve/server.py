"""Runs the application in uvicorn, and stops it without losing a request."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Final

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from relfast.errors import OutputError, UsageError
from relfast.serve.access import is_loopback, normal_host
from relfast.serve.app import Settings, make_app
from relfast.serve.limits import Gate

LINGER_SECONDS: Final = 1.0
"""How long idle connections are kept open after the server was told to stop, as a request may be on its way.
(Busy connections are closed after their response.)"""

_LOOK_EVERY: Final = 0.02

_EVERYWHERE: Final = ("", "0.0.0.0", "::")


class GracefulServer(uvicorn.Server):
    """A uvicorn server that answers all requests it has received before it ends, within a time limit.

    Told to stop, it closes its port, reads its open connections for a moment longer (a request may be in the
    socket, not yet read), and waits until all requests are answered. Requests that are not answered within
    ``stop_seconds`` get status 503. A second signal ends the server at once.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, stop_seconds: float) -> None:
        super().__init__(config)
        self._gate, self._stop_seconds = gate, stop_seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop without raising the signal again at the end, as uvicorn does: a requested stop is success."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """uvicorn's hook for stopping; see the class."""
        # no await between accepting and closing: closing resets the connections that wait to be accepted
        taken = [connection for listener in sockets or [] for connection in _waiting_at(listener)]
        for server in self.servers:
            server.close()
        # from here on responses close their connection, and new connections are refused
        linger = min(LINGER_SECONDS, self._stop_seconds)
        self._gate.drain(linger)
        for connection in taken:
            await self._serve_on(connection)
        started = time.monotonic()
        await self._quiet(lambda: self.server_state.connections, started + linger)
        await self._quiet(lambda: self.server_state.tasks, started + self._stop_seconds)
        self._gate.cut()
        await super().shutdown(sockets)

    async def _quiet(self, busy: Callable[[], object], until: float) -> None:
        """Wait until ``busy()`` is empty, or until the time ``until``."""
        while busy() and time.monotonic() < until and not self.force_exit:
            await asyncio.sleep(_LOOK_EVERY)

    async def _serve_on(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        protocol: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        with contextlib.suppress(OSError):  # its other side may be gone already
            await loop.connect_accepted_socket(
                lambda: protocol(
                    config=self.config, server_state=self.server_state, app_state=self.lifespan.state
                ),
                connection,
            )


_LATE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def _with_deadline(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol that also closes a connection whose headers are not there ``seconds`` after it was
    opened, or after they began."""

    class Hurried(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        due: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self.look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.look()

        def connection_lost(self, error: Exception | None) -> None:
            self.forget()
            super().connection_lost(error)

        def look(self) -> None:
            if self.cycle is not None and not self.cycle.response_complete:
                self.forget()
            elif self.due is None:
                self.due = self.loop.call_later(seconds, self.late)

        def forget(self) -> None:
            if self.due is not None:
                self.due.cancel()
                self.due = None

        def late(self) -> None:
            self.transport.write(_LATE)
            self.transport.close()

    return Hurried


def _waiting_at(listener: socket.socket) -> list[socket.socket]:
    """Accept and return the connections that wait at a listening socket."""
    waiting = []
    with contextlib.suppress(OSError):  # BlockingIOError: there are no more
        while True:
            connection, _ = listener.accept()
            connection.setblocking(False)
            waiting.append(connection)
    return waiting


def serve(
    host: str,
    port: int,
    settings: Settings,
    *,
    announce: Callable[[str], None] = lambda url: None,
    quiet: bool = False,
) -> bool:
    """Serve until SIGINT or SIGTERM. ``announce`` is called with the URL once connections are accepted.

    Returns
    -------
    bool
        Whether all requests have been answered; if not, threads may still be scoring.

    Raises
    ------
    OutputError
        The address cannot be used.
    UsageError, UnknownTaskError
        An option cannot be used, or the address is beyond the loopback and there is no token.
    """
    if normal_host(host) not in _EVERYWHERE:
        # clients use the name in --host
        settings = replace(settings, hosts=(*settings.hosts, host))
    _, gate = make_app(settings)
    config = uvicorn.Config(
        gate,
        host=host,
        port=port,
        log_level="warning" if quiet else "info",
        http=_with_deadline(settings.body_seconds),
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        # all requests are answered by then; this is for clients that do not read their response
        timeout_graceful_shutdown=1,
    )
    server = GracefulServer(config, gate, settings.stop_seconds)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # TCP by name: asyncio turns off Nagle's delay (40 ms a request) only where it knows the protocol
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise OutputError(f"{host}:{port}", f"cannot be served ({error.strerror or error})") from None
        name, bound_port = listener.getsockname()[:2]
        if settings.token is None and not is_loopback(normal_host(name)):
            raise UsageError(
                f"--host {host} opens the server beyond this machine, which wants a token: type"
                " `(umask 077; openssl rand -hex 32 > token)` and add --token-file token"
            )
        listener.listen(config.backlog)
        announce(
            f"http://[{name}]:{bound_port}" if family == socket.AF_INET6 else f"http://{name}:{bound_port}"
        )
        server.run(sockets=[listener])
    return not (gate.was_cut or server.force_exit)
