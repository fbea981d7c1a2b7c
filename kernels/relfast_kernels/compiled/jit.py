"""The one decorator: every compile flag is decided here.

No fast-math (scores are the same bits everywhere), no ``parallel`` (a reward may run in any thread of any
host process, and numba's thread pool does not survive that), compiled code cached on disk where the
cache directory can be written, and by nobody else: numba's files are pickles. Where it cannot, kernels
compile in memory, with one warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba

from relfast_kernels.compiled.cache import QUIET_VARIABLE, Cache, user_cache
from relfast_kernels.compiled.source import tell_numba
from relfast_kernels.compiled.trust import UntrustedError

F = TypeVar("F", bound=Callable[..., Any])


def _digest_of_sources() -> str:
    """Of all kernels together: numba looks at a function's own file only, and would go on calling the old
    code of what a kernel has inlined from another."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _home() -> Cache:
    """Where this version's code is kept: below numba's own directory if its user has chosen one."""
    chosen = numba.config.CACHE_DIR
    name = _digest_of_sources()
    if not chosen:
        return user_cache("numba") / name
    return Cache(Path(chosen).absolute() / f"relfast-{name}", variable="NUMBA_CACHE_DIR")


def _is_usable(home: Cache) -> bool:
    try:
        home.check(make=True)
        home.check_all()
        tempfile.TemporaryFile(dir=home.path).close()
    except UntrustedError as error:
        home.say(error)
        return False
    except OSError as error:
        warnings.warn(
            f"relfast: kernels are compiled anew in each process, since {home.path} cannot be written"
            f" ({error.strerror or error}); {home.variable} chooses another place",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


_HOME: Final = _home()
CACHED: Final[bool] = _is_usable(_HOME)
"""Whether compiled kernels are kept on disk."""


class _Forgiving:
    """Numba's cache of a function, none of whose failures is the caller's: what cannot be read is compiled
    anew, and what cannot be kept is not. Said once a process."""

    _said = False

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *signature: Any) -> Any:
        try:
            return self._cache.load_overload(*signature)
        except Exception as error:  # torn files are whatever pickle makes of them
            self._say("cannot be read", error)
            with contextlib.suppress(OSError):
                self._cache.flush()
            return None

    def save_overload(self, *compiled: Any) -> None:
        try:
            self._cache.save_overload(*compiled)
        except Exception as error:  # a full disk, or an index torn since it was read
            self._say("cannot be written", error)

    @classmethod
    def _say(cls, what: str, error: Exception) -> None:
        if not cls._said and not os.environ.get(QUIET_VARIABLE):
            reason = getattr(error, "strerror", None) or type(error).__name__
            warnings.warn(
                f"relfast: kernels are compiled anew, since a file in {_HOME.path} {what} ({reason})",
                RuntimeWarning,
                stacklevel=2,
            )
        cls._said = True


def kernel(function: F) -> F:
    """Compile a plain loop over arrays at its first call.

    The function releases the GIL, is never fast-math or parallel, and is cached on disk if it can be.
    """
    before = numba.config.CACHE_DIR
    # numba's own setting is process-wide and read when a function is decorated: ours holds for that moment
    if CACHED:
        numba.config.CACHE_DIR = str(_HOME.path)
    try:
        compiled: Any = numba.njit(cache=CACHED, nogil=True, fastmath=False)(function)
    finally:
        numba.config.CACHE_DIR = before
    if CACHED and not numba.config.DISABLE_JIT:
        compiled._cache = _Forgiving(compiled._cache)
    return cast(F, compiled)


tell_numba()
