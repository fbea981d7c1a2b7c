"""A service process that several processes share through a Unix socket: the first one that needs the service
starts it, and it ends when no process has been connected for a while."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Final

_BACKLOG: Final = 1_024
_CREDENTIALS: Final = struct.Struct("3i")


def reach(place: str, start: Callable[..., subprocess.Popen[bytes]]) -> socket.socket:
    """A connection to the service, which is started if it does not run.

    Parameters
    ----------
    place
        Path of the service's socket.
    start
        Function that starts the service. It gets the descriptor of the socket on which the service has to
        listen, and keywords for `subprocess.Popen`.

    Raises
    ------
    OSError
        The service cannot be started.
    """
    with contextlib.suppress(OSError):
        return _connected(place)
    with _locked(place):
        # of several processes that come here at the same time, one starts the service
        with contextlib.suppress(OSError):
            return _connected(place)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)
            listener.listen(_BACKLOG)
            # from here on other processes can connect; their connections wait until the service accepts them
            process = start(
                listener.fileno(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(listener.fileno(),),
                start_new_session=True,  # the service must outlive this process and its terminal
            )
            # waits only to collect the exit status: `subprocess` warns of children without
            threading.Thread(target=process.wait, name="relfast-host", daemon=True).start()
            return _connected(place)


def _connected(place: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(place)
        if not _is_same_user(connection):
            raise OSError(f"{place} is not this user's")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _locked(place: str) -> Iterator[None]:
    """Lock the socket's path: only one process at a time starts the service, or ends as the service."""
    with open(f"{place}.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_same_user(connection: socket.socket) -> bool:
    """Whether the process at the other end runs as this user."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    return bool(user == os.getuid())


def serve(listener: socket.socket, linger: float, attend: Callable[[socket.socket], None]) -> None:
    """Run the service: call ``attend`` with each connection, in a thread of its own, until no process has
    been connected for ``linger`` seconds."""
    connected = 0
    changed = threading.Lock()

    def attend_to(connection: socket.socket) -> None:
        nonlocal connected
        try:
            with connection, contextlib.suppress(OSError, EOFError):
                if _is_same_user(connection):
                    attend(connection)
        finally:
            with changed:
                connected -= 1

    def accept() -> None:
        nonlocal connected
        connection, _ = listener.accept()
        connection.settimeout(None)
        with changed:
            connected += 1
        threading.Thread(target=attend_to, args=(connection,), daemon=True).start()

    while True:
        listener.settimeout(linger)
        try:
            accept()
        except TimeoutError:
            if connected:
                continue
            place = listener.getsockname()
            with _locked(place):
                listener.settimeout(0)
                try:
                    accept()  # a process may have connected meanwhile
                except BlockingIOError:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(place)
                    return
