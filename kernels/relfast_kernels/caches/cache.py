"""Caches on disk: where they are, and whether the files in them may be used.

Compiled code is executed and a model decides scores: whoever can write them acts as their user. So a cache is
used only if nobody but its user and root can have put anything there (`trust` has the rules); missing
directories are created with mode 0700. A cache that cannot be used is reported once a process. Imports the
standard library only, so that a check costs nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import warnings
from pathlib import Path
from typing import Final

from relfast_kernels.caches.trust import UntrustedError, check_below, judge_file, open_directory

CACHE_VARIABLE: Final = "RELFAST_CACHE_DIR"

QUIET_VARIABLE: Final = "RELFAST_CACHE_QUIET"
"""Set for worker processes: their parent reports which caches it does not use, and which kernels it lacks."""

COMPILE_VARIABLE: Final = "RELFAST_COMPILE"

OFF: Final = "off"
"""The value of ``RELFAST_COMPILE`` with which no command builds kernels, but ``relfast warmup``."""


_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not hold us up

_said: set[str] = set()


def base_directory() -> Path:
    """The directory that holds all caches; it need not exist.

    ``RELFAST_CACHE_DIR``, else ``relfast`` in the user's cache directory as platformdirs has it: in
    ``XDG_CACHE_HOME`` if that is an absolute path, else in ``~/.cache``.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path("~/.cache").expanduser()) / "relfast"


class Cache:
    """A directory of files that can be made again.

    Parameters
    ----------
    path
        Where it is; it need not exist.
    root
        The topmost directory to which only this user may write: ``path`` itself or one above it.
    variable
        The environment variable that moves it.
    """

    def __init__(self, path: Path, root: Path | None = None, variable: str = CACHE_VARIABLE) -> None:
        self.path, self.root, self.variable = path, path if root is None else root, variable

    def __truediv__(self, name: str) -> Cache:
        """A cache in a subdirectory of this one, with the same root."""
        return Cache(self.path / name, self.root, self.variable)

    def check(self, *, make: bool = False) -> None:
        """Make sure that the directory exists and that nobody else can have put anything into it.

        Raises
        ------
        UntrustedError
            Somebody else can have.
        OSError
            It does not exist (with ``make``: it cannot be created).
        """
        os.close(self._enter(make))

    def check_all(self) -> None:
        """`check`, for everything below the directory too: for callers that open files there by name.

        A mode that lets others write (by the umask) does not matter where they cannot enter. Raises as
        `check`.
        """
        self.check()
        check_below(str(self.path))

    def usable(self, *, make: bool = False) -> bool:
        """Whether `check` passes. If it fails because others could have written there, warn."""
        try:
            self.check(make=make)
        except UntrustedError as error:
            self.say(error)
            return False
        except OSError:
            return False
        return True

    def say(self, error: UntrustedError) -> None:
        """Warn that the cache is not used, once a process; never in a worker, whose parent has warned."""
        reason = str(error)
        if reason in _said or os.environ.get(QUIET_VARIABLE):
            return
        _said.add(reason)
        warnings.warn(
            f"relfast: a cache in {self.root} is not used: {reason}; {self.variable} chooses another place",
            RuntimeWarning,
            stacklevel=3,
        )

    def open(self, name: str) -> int:
        """Open a file for reading and return its descriptor, checked to be ours or root's, and no link.

        Raises
        ------
        UntrustedError
            Somebody else can have written it.
        OSError
            It does not exist, or cannot be read.
        """
        directory = self._enter(False)
        try:
            descriptor = os.open(name, _READ, dir_fd=directory)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise UntrustedError(f"{self.path / name} is a link") from None
            raise
        finally:
            os.close(directory)
        try:
            judge_file(str(self.path / name), os.fstat(descriptor))
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def check_file(self, name: str) -> None:
        """Make sure that a file, if it exists, is one that `open` would open.

        For callers that open it by name, such as SQLite, whose locks would be lost when a descriptor of the
        same file is closed. Raises as `check`.
        """
        directory = self._enter(False)
        try:
            with contextlib.suppress(FileNotFoundError):
                found = os.stat(name, dir_fd=directory, follow_symlinks=False)
                judge_file(str(self.path / name), found)
        finally:
            os.close(directory)

    def read(self, name: str) -> bytes:
        """The content of a file. Raises as `open`."""
        with open(self.open(name), "rb") as file:
            return file.read()

    def write(self, name: str, content: bytes) -> Path:
        """Write a file, whole or not at all, and return its path. Creates the directory if need be.

        Raises
        ------
        UntrustedError
            Somebody else can write there.
        OSError
            It cannot be written.
        """
        import tempfile  # loads a dozen modules, which readers need not

        self.check(make=True)
        descriptor, part = tempfile.mkstemp(prefix=f".{name}.", dir=self.path)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
            os.replace(part, self.path / name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise
        return self.path / name

    def _enter(self, make: bool) -> int:
        """Open the directory (``O_PATH``), checked as `check` says, and return its descriptor."""
        below = len(self.path.parts) - len(self.root.parts)
        with contextlib.suppress(OSError):
            os.stat(f"{self.path}/.")  # makes an automounter mount the path, which O_PATH does not
        return open_directory(Path.cwd() / self.path, below + 1, make=make)


def user_cache(kind: str) -> Cache:
    """One of the user's caches; ``kind`` is native, embedders, vectors or isomers."""
    base = base_directory()
    return Cache(base / kind, base)


def report(*more: Cache) -> None:
    """Warn of each of the user's caches, and of ``more``, that exists and cannot be trusted."""
    base = Cache(base_directory())
    kinds: list[str] = []
    if base.usable():
        with contextlib.suppress(OSError):
            kinds = os.listdir(base.path)
    for cache in (*(base / kind for kind in kinds), *more):
        cache.usable()
