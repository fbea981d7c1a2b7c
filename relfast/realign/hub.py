"""Whether the hub of data sets can be asked at all; its client tries for half a minute before it says no."""

from __future__ import annotations

import os
import socket
import time
import urllib.request
from typing import Final
from urllib.parse import urlsplit

OFFLINE: Final = "HF_HUB_OFFLINE"
"""The environment variable by which the hub's client asks nobody and takes what it has kept."""

_HUB: Final = "https://huggingface.co"
_PAUSE: Final = 1.0
"""Seconds before a name server that had no answer is asked again."""


def why_unreachable() -> str | None:
    """Why the hub's host has no address: ``huggingface.co: Name or service not known``. None where it has one
    (be it slow), or where a proxy is to look for it."""
    hub = urlsplit(os.environ.get("HF_ENDPOINT") or _HUB)
    proxies = urllib.request.getproxies()
    if not hub.hostname or hub.scheme in proxies or "all" in proxies:
        return None
    try:
        error = _lookup(hub.hostname)
        if error is not None and error.errno == socket.EAI_AGAIN:
            time.sleep(_PAUSE)
            error = _lookup(hub.hostname)
    except UnicodeError as wrong:  # a label that is empty or too long: no name server is asked
        return f"{hub.hostname}: no host's name ({wrong.__cause__ or wrong})"
    return None if error is None else f"{hub.hostname}: {error.strerror}"


def _lookup(host: str) -> socket.gaierror | None:
    """What is wrong with a host's name; its lookup takes as long as the system's resolver is patient."""
    try:
        socket.getaddrinfo(host, None)
    except socket.gaierror as error:
        return error
    return None
