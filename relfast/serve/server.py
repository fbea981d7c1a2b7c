"""Running the application: uvicorn, which answers what it is at before it stops."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from types import FrameType
from typing import Final

import uvicorn

from relfast.errors import OutputError, UsageError
from relfast.serve.access import is_loopback, normal_host
from relfast.serve.app import Settings, make_app

_EVERYWHERE: Final = ("", "0.0.0.0", "::")

_LOGS: Final = deepcopy(uvicorn.config.LOGGING_CONFIG)
_LOGS["handlers"]["access"]["stream"] = "ext://sys.stderr"
_LOGS["formatters"]["access"]["fmt"] = '%(asctime)s %(client_addr)s "%(request_line)s" %(status_code)s'


class Server(uvicorn.Server):
    """Told to stop it closes its port and answers what it is at, in `Settings.stop_seconds` at most. A second
    signal ends it at once."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Without uvicorn's note of the signal, which it would raise again: stopping when told is success."""
        self.force_exit = self.should_exit
        self.should_exit = True


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
        log_config=_LOGS,
        access_log=settings.access_log,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=settings.stop_seconds,  # type: ignore[arg-type] # it may be a fraction
    )
    if quiet:
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    server = Server(config)
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
