"""Running the application: uvicorn, stopped without losing a request."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn

from relfast.errors import OutputError
from relfast.serve.app import Settings, make_app
from relfast.serve.limits import Gate

LINGER_SECONDS: Final = 0.3
"""How long requests that are already on their way are still read after the server was told to stop."""


class GracefulServer(uvicorn.Server):
    """A server that answers all it was asked before it ends.

    Told to stop it closes its port, goes on reading the connections it has for a moment (a request may be
    in the socket, not yet read), and waits for all that is being answered. A second Ctrl-C ends it at once.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate) -> None:
        super().__init__(config)
        self._gate = gate

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gate.draining = True
        await asyncio.sleep(0)  # connections that wait to be accepted
        for server in self.servers:
            server.close()
        if not self.force_exit:
            await asyncio.sleep(LINGER_SECONDS)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but a stop that was asked for is a success: the signal is not raised again."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


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
        An option that cannot be used.
    """
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
        listener.listen(config.backlog)
        name, bound_port = listener.getsockname()[:2]
        announce(
            f"http://[{name}]:{bound_port}" if family == socket.AF_INET6 else f"http://{name}:{bound_port}"
        )
        server.run(sockets=[listener])
