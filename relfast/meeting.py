"""A process that others find at a socket: started by the first that needs it, gone when nobody has been
connected for a while."""

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
    """A connection to the process at a socket.

    Parameters
    ----------
    start
        Starts it where there is none: it is given the descriptor of the socket that it is to listen at, and
        keywords of `subprocess.Popen`.

    Raises
    ------
    OSError
        It cannot be started.
    """
    with contextlib.suppress(OSError):
        return _connected(place)
    with _locked(place):
        # one of those who come at the same time starts it
        with contextlib.suppress(OSError):
            return _connected(place)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)
            listener.listen(_BACKLOG)
            # from here on others may connect: they wait at the socket until it is up
            process = start(
                listener.fileno(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(listener.fileno(),),
                start_new_session=True,  # it is for others, too, when we are gone
            )
            # its end is nobody's news, and `subprocess` warns of children it has not waited for
            threading.Thread(target=process.wait, name="relfast-host", daemon=True).start()
            return _connected(place)


def _connected(place: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(place)
        if not _is_ours(connection):
            raise OSError(f"{place} is not this user's")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _locked(place: str) -> Iterator[None]:
    """One process at a time starts or leaves."""
    with open(f"{place}.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_ours(connection: socket.socket) -> bool:
    """Whether the other side is this user's process."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    return bool(user == os.getuid())


def serve(listener: socket.socket, linger: float, attend: Callable[[socket.socket], None]) -> None:
    """Attend to all that connect, each in a thread, until nobody has been connected for so many seconds."""
    here = 0
    changed = threading.Lock()

    def one(connection: socket.socket) -> None:
        nonlocal here
        try:
            with connection, contextlib.suppress(OSError, EOFError):
                if _is_ours(connection):
                    attend(connection)
        finally:
            with changed:
                here -= 1

    def welcome() -> None:
        nonlocal here
        connection, _ = listener.accept()
        connection.settimeout(None)
        with changed:
            here += 1
        threading.Thread(target=one, args=(connection,), daemon=True).start()

    while True:
        listener.settimeout(linger)
        try:
            welcome()
        except TimeoutError:
            if here:
                continue
            place = listener.getsockname()
            with _locked(place):
                listener.settimeout(0)
                try:
                    welcome()  # who has come meanwhile
                except BlockingIOError:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(place)
                    return
