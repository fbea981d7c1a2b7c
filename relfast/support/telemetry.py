"""Turns off the telemetry of the libraries that relfast loads: scoring sends nothing, and leaves nothing."""

from __future__ import annotations

import os
from typing import Final

_OFF: Final = {
    # since 1.29; read when the library is loaded, which leaves a device's id and a queue of events on disk
    "ORT_DISABLE_TELEMETRY": "1",
    # these two tell the hub what is installed, and count loads, where a model or data set is fetched from it
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    # a running cluster keeps its own setting
    "RAY_USAGE_STATS_ENABLED": "0",
}


def turn_off() -> None:
    """Set the libraries' environment variables, unless the user has set them; to be called before a library
    is imported. Child processes inherit them."""
    for name, value in _OFF.items():
        os.environ.setdefault(name, value)
