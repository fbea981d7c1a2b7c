"""Running the application: uvicorn, stopped without losing a request."""

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

from relfast.errors import OutputError, UsageError
from relfast.serve.access import is_loopback, normal_host
from relfast.serve.app import Settings, make_app
from relfast.serve.limits import Gate

LINGER_SECONDS: Final = 1.0
"""How long connections without a request are kept after the server was told to stop: a request may be on
its way. Busy ones are closed by their answers, so this is for idle ones only."""

_LOOK_EVERY: Final = 0.02

_EVERYWHERE: Final = ("", "0.0.0.0", "::")


class GracefulServer(uvicorn.Server):
    """A server that answers all it was asked before it ends, as far as its time to stop goes.

    Told to stop it closes its port, goes on reading the connections it has for a moment (a request may be
    in the socket, not yet read), and waits for all that is being answered. What is not by then gets status
    503. A second signal ends it at once.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, stop_seconds: float) -> None:
        super().__init__(config)
        self._gate, self._stop_seconds = gate, stop_seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Without uvicorn's note of the signal, which it would raise again: stopping when told is success."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # no await between the two: closing resets the connections that wait at the port
        taken = [connection for listener in sockets or [] for connection in _waiting_at(listener)]
        for server in self.servers:
            server.close()
        # from here on answers say that their connection ends, and who comes back is refused
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
        """Wait until nothing is busy any more, or the time is up."""
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


def _waiting_at(listener: socket.socket) -> list[socket.socket]:
    """The connections that wait at a port to be accepted."""
    waiting = []
    with contextlib.suppress(OSError):  # BlockingIOError: no other process
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
    """Serve until SIGINT or SIGTERM. ``announce`` is told the address once connections are taken.

    Returns
    -------
    bool
        Whether all that was asked has been answered: where not, threads may be scoring it still.

    Raises
    ------
    OutputError
        The address cannot be used.
    UsageError, UnknownTaskError
        An option that cannot be used; an address beyond the loopback without a token.
    """
    if normal_host(host) not in _EVERYWHERE:
        # clients use the name that the server was opened by
        settings = replace(settings, hosts=(*settings.hosts, host))
    _, gate = make_app(settings)
    config = uvicorn.Config(
        gate,
        host=host,
        port=port,
        log_level="warning" if quiet else "info",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        # all is answered by then; this is for clients that do not take their answers
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
