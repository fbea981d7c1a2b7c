"""Where compiled code is kept. Imports nothing but the standard library, so that asking costs nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

CACHE_VARIABLE: Final = "RELFAST_CACHE_DIR"


def cache_directory(kind: str) -> Path:
    """The directory for one kind of compiled code; it need not exist.

    The user's cache directory, moved by ``XDG_CACHE_HOME`` as platformdirs has it, or as a whole by
    ``RELFAST_CACHE_DIR``.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen) / kind
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "relfast" / kind
