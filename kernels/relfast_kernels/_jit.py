"""The one decorator: every compile flag is decided here.

No fast-math (scores are the same bits everywhere), no ``parallel`` (a reward may run in any thread of any
host process, and numba's thread pool does not survive that), compiled code cached on disk where the
cache directory can be written. Where it cannot, kernels compile in memory, with one warning.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import numba

from relfast_kernels.cache import CACHE_VARIABLE, cache_directory

F = TypeVar("F", bound=Callable[..., Any])


def _make_writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        warnings.warn(
            f"relfast: kernels are compiled anew in each process, since {directory} cannot be written"
            f" ({error.strerror or error}); {CACHE_VARIABLE} chooses another place",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


def _digest_of_sources() -> str:
    """Of all kernels together: numba looks at a function's own file only, and would go on calling the old
    code of what a kernel has inlined from another."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_DIRECTORY: Final = cache_directory("numba") / _digest_of_sources()
CACHED: Final[bool] = "NUMBA_CACHE_DIR" in os.environ or _make_writable(_DIRECTORY)
"""Whether compiled kernels are kept on disk."""


def kernel(function: F) -> F:
    """Compile a plain loop over arrays at its first call.

    The function releases the GIL, is never fast-math or parallel, and is cached on disk if it can be.
    """
    before = numba.config.CACHE_DIR
    # numba's own setting is process-wide and read when a function is decorated: ours holds for that moment
    if CACHED and not before:
        numba.config.CACHE_DIR = str(_DIRECTORY)
    try:
        compiled: F = numba.njit(cache=CACHED, nogil=True, fastmath=False)(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled
