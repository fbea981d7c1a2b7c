"""Running the application: uvicorn, stopped without losing a request."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
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
    """A server that answers all it was asked before it ends.

    Told to stop it closes its port, goes on reading the connections it has for a moment (a request may be
    in the socket, not yet read), and waits for all that is being answered. A second Ctrl-C ends it at once.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate) -> None:
        super().__init__(config)
        self._gate = gate

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # no await between the two: closing resets the connections that wait at the port
        taken = [connection for listener in sockets or [] for connection in _waiting_at(listener)]
        for server in self.servers:
            server.close()
        # from here on answers say that their connection ends, and who comes back is refused
        self._gate.draining = True
        for connection in taken:
            await self._serve_on(connection)
        lingered = 0.0
        while self.server_state.connections and lingered < LINGER_SECONDS and not self.force_exit:
            await asyncio.sleep(_LOOK_EVERY)
            lingered += _LOOK_EVERY
        await super().shutdown(sockets)

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

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but a stop that was asked for is a success: the signal is not raised again."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


def _waiting_at(listener: socket.socket) -> list[socket.socket]:
    """The connections that wait at a port to be accepted."""
    waiting = []
    with contextlib.suppress(OSError):  # BlockingIOError: nobody else
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
) -> None:
    """Serve until SIGINT or SIGTERM. ``announce`` is told the address once connections are taken.

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
    )
    server = GracefulServer(config, gate)
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
