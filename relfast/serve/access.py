"""Who may ask the server: the names it answers to, and the token it wants.

A browser sends any page's requests to any address, loopback included, and a page can have its own name mean
that address (DNS rebinding): only the ``Host`` that the browser then sends tells it from a client of ours.
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
"""What is answered without the token: probes have none, and learn no more than a connection tells them."""

MAX_TOKEN_BYTES: Final = 4_096

_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:/?#@\[\]]+))(?::[0-9]{0,5})?", re.ASCII)
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class Denial(NamedTuple):
    """Why a request is turned away before it is read."""

    status: int
    detail: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Access:
    """The names and the token of a server.

    Parameters
    ----------
    hosts
        Names and addresses it answers to beside those of the loopback, without a port.
    token
        What has to come with every request but those for `OPEN_PATHS`; None: nothing.
    """

    def __init__(self, hosts: Iterable[str] = (), token: str | None = None) -> None:
        self._hosts = frozenset(map(normal_host, hosts))
        self._token = None if token is None else _digest(token.encode())

    def denial(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> Denial | None:
        """Why a request is not answered; None: it is. Names in ``headers`` are in lower case."""
        named = [value for name, value in headers if name == b"host"]
        if len(named) != 1:
            return Denial(400, "the request must name one Host")
        found = _HOST.fullmatch(named[0].decode("latin-1").strip().lower())
        if found is None:
            return Denial(400, "the request's Host is none")
        host = normal_host(found[1] or found[2])
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
    """A name or address in the one spelling that is compared: lower case, no brackets, no last dot."""
    name = name.strip().lower().removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name.removesuffix(".")


def is_loopback(host: str) -> bool:
    """Whether a name or address means the machine itself: ``localhost``, 127.0.0.0/8, ``::1``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _secret_in(authorization: bytes) -> bytes:
    """The token in a header: all of a Bearer's, the password of Basic's.

    Basic is what HTTP clients make of ``http://any:TOKEN@HOST/``, and OpenRLHF and slime take nothing but
    a URL.
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
    """Of one length, so that comparing takes the same time whatever is compared."""
    return hashlib.sha256(secret).digest()


def read_token(path: Path) -> str:
    """The token in a file: one line of visible ASCII.

    Raises
    ------
    UsageError
        Others can read or write the file, it cannot be read, or holds something else.
    """
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            content = file.read(MAX_TOKEN_BYTES + 1)
    except OSError as error:
        raise UsageError(f"--token-file {path}: {error.strerror or error}") from None
    if found.st_uid not in (os.geteuid(), 0):
        raise UsageError(f"--token-file {path}: the file belongs to another user")
    if found.st_mode & _OTHERS:
        mode = f"mode {stat.S_IMODE(found.st_mode):04o}"
        raise UsageError(f"--token-file {path}: others can get at it ({mode}); type `chmod 600 {path}`")
    token = content.decode("latin-1").strip()
    if not re.fullmatch(r"[!-~]+", token) or len(content) > MAX_TOKEN_BYTES:
        raise UsageError(f"--token-file {path}: it must hold one line of visible ASCII and nothing else")
    return token
