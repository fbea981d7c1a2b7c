"""Where the pool is that processes of a machine share, and who may meet there.

The two sides send each other pickles, as a pool and its workers do on their pipes. So both ends must be this
user's: the socket lies in a folder that nobody else may enter, and each asks the kernel who the other is.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
import sys
import tempfile
from pathlib import Path
from typing import Final

import relfast
from relfast.errors import UsageError

POOL_VARIABLE: Final = "RELFAST_POOL"
"""``shared``, or the path of a socket: reward functions of all processes that say so have one pool."""

SHARED: Final = "shared"

_CREDENTIALS: Final = struct.Struct("3i")
_MAX_PATH: Final = 100  # the kernel's limit for sockets is 107 bytes


def place_of(value: str | None) -> str | None:
    """The path of the socket that ``RELFAST_POOL`` says, None without it.

    Raises
    ------
    UsageError
        It is no path a socket can have, or one in a folder that others may enter.
    """
    if not value:
        return None
    path = _own_folder() / f"{_version()}.sock" if value == SHARED else Path(value).absolute()
    if len(os.fsencode(path)) > _MAX_PATH:
        raise UsageError(f"{POOL_VARIABLE}: a socket's path has {_MAX_PATH} bytes at most: {str(path)[:200]}")
    folder = path.parent
    try:
        about = folder.stat()
    except OSError as error:
        raise UsageError(f"{POOL_VARIABLE}: {folder} is no folder ({error.strerror})") from None
    if about.st_uid != os.getuid() or about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{POOL_VARIABLE}: {folder} must be yours and closed to others: chmod 700 {folder}")
    return str(path)


def is_ours(connection: socket.socket) -> bool:
    """Whether the other side is this user's process."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    return bool(user == os.getuid())


def _own_folder() -> Path:
    """This user's folder for sockets, made if it is not there."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime and os.access(runtime, os.W_OK) else Path(tempfile.gettempdir())
    folder = base / f"relfast-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _version() -> str:
    """Installations that might score differently, or do not understand each other, do not meet."""
    what = (relfast.__version__, str(Path(relfast.__file__).parent), sys.executable, sys.version)
    return hashlib.sha256("\n".join(what).encode("utf-8", "surrogatepass")).hexdigest()[:16]
