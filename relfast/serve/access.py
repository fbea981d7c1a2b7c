"""Access to the server: the host names that it answers to, and its token.

A browser sends the requests of any web page to any address, loopback included, and a page can make its own
host name resolve to that address (DNS rebinding). Only the ``Host`` header of such a request differs from
that of a legitimate client.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from relfast.errors import UsageError

OPEN_PATHS: Final = frozenset({"/health"})
"""Paths answered without the token: health probes have none, and learn no more than that the server runs."""

MAX_TOKEN_BYTES: Final = 4_096

_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:/?#@\[\]]+))(?::[0-9]{0,5})?", re.ASCII)
_GROUP_AND_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class Denial(NamedTuple):
    """The response to a request that is refused before it is read."""

    status: int
    detail: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Access:
    """Decides whether a request may be answered, by its ``Host`` and its token.

    Parameters
    ----------
    hosts
        Names and addresses, without a port, that the server answers to besides those of the loopback.
    token
        Required with every request except those for `OPEN_PATHS`; None: no token is required.
    """

    def __init__(self, hosts: Iterable[str] = (), token: str | None = None) -> None:
        self._hosts = frozenset(map(normal_host, hosts))
        self._token = None if token is None else _digest(token.encode())

    def denial(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> Denial | None:
        """The refusal of a request; None if it may be answered. Names in ``headers`` are in lower case."""
        named = [value for name, value in headers if name == b"host"]
        if len(named) != 1:
            return Denial(400, "the request must name one Host")
        match = _HOST.fullmatch(named[0].decode("latin-1").strip().lower())
        if match is None:
            return Denial(400, "the request's Host is none")
        host = normal_host(match[1] or match[2])
        if not (is_loopback(host) or host in self._hosts):
            shown = host.encode("ascii", "backslashreplace").decode()[:100]
            return Denial(421, f"this server does not answer to {shown}; --allow-host has it do so")
        if self._token is None or path in OPEN_PATHS:
            return None
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) == 1 and hmac.compare_digest(_digest(_secret_in(given[0])), self._token):
            return None
        challenges = (b'Bearer realm="relfast"', b'Basic realm="relfast"')
        return Denial(
            401,
            "this server wants its token: Authorization: Bearer TOKEN, or TOKEN as the URL's password",
            tuple((b"www-authenticate", challenge) for challenge in challenges),
        )


def normal_host(name: str) -> str:
    """A name or address in a normal form for comparison: lower case, no brackets, no trailing dot."""
    name = name.strip().lower().removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name.removesuffix(".")


def is_loopback(host: str) -> bool:
    """Whether a name or address is the machine itself: ``localhost``, 127.0.0.0/8 or ``::1``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _secret_in(authorization: bytes) -> bytes:
    """The token in an Authorization header: the value of a Bearer header, the password of a Basic one.

    HTTP clients send Basic for ``http://any:TOKEN@HOST/``, and OpenRLHF and slime can only be given a URL.
    """
    scheme, _, value = authorization.strip().partition(b" ")
    if scheme.lower() == b"bearer":
        return value.strip()
    if scheme.lower() == b"basic":
        try:
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""


def _digest(secret: bytes) -> bytes:
    """A digest of fixed length, so that a comparison takes the same time for every secret."""
    return hashlib.sha256(secret).digest()


def read_token(path: Path) -> str:
    """The token in a file: one line of visible ASCII.

    Raises
    ------
    UsageError
        Other users can access the file, it cannot be read, or it holds anything else.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(MAX_TOKEN_BYTES + 1)
    except OSError as error:
        raise UsageError(f"--token-file {path}: {error.strerror or error}") from None
    if status.st_uid not in (os.geteuid(), 0):
        raise UsageError(f"--token-file {path}: the file belongs to another user")
    if status.st_mode & _GROUP_AND_OTHERS:
        mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
        raise UsageError(f"--token-file {path}: others can get at it ({mode}); type `chmod 600 {path}`")
    token = content.decode("latin-1").strip()
    if not re.fullmatch(r"[!-~]+", token) or len(content) > MAX_TOKEN_BYTES:
        raise UsageError(f"--token-file {path}: it must hold one line of visible ASCII and nothing else")
    return token
