"""Caches on disk: where they are, and whether the files in them may be used.

Compiled code is executed and a model decides scores: whoever can write them acts as their user. So a cache is
used only if nobody but its user and root can have put anything there; missing directories are created with
mode 0700. A cache that cannot be used is reported once a process. Imports the standard library only, so that
a check costs nothing. The rules:

- A directory that must be ours alone, and all in it, belongs to the user or root, and nobody else can write.
- Every directory above belongs to the user or root too, and others cannot replace its entries: they cannot
  write there, or it is sticky (``/tmp``). The only group that may write is the owner's own with nobody else
  in it, as distributions with umask 0002 make them.
- Symbolic links on the way are followed if they belong to the user or root; a file must not be a link.

Each component of the path is opened relative to the one before and checked by its descriptor, so that nothing
can be swapped between check and use.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import warnings
from collections import deque
from pathlib import Path
from typing import Final

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


# whether only this user and root can have put a file where it is

OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH

_MAX_LINKS: Final = 40
_STEP: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class UntrustedError(OSError):
    """Somebody else could have written a file or directory; the message says which and why, in one line."""


def open_directory(path: Path, ours: int, *, make: bool = False) -> int:
    """Open a directory (``O_PATH``) that nobody else can have put anything into, and return its descriptor.

    Parameters
    ----------
    path
        Where it is; absolute.
    ours
        How many of its last components, at least one, must be ours alone; those above may let others
        write if that does not let them replace entries.
    make
        Create missing components, with mode 0700.

    Raises
    ------
    UntrustedError
        Somebody else can have put something there.
    OSError
        It is no directory, does not exist, or cannot be created.
    """
    names = path.parts[1:]
    steps = deque((name, at >= len(names) - ours) for at, name in enumerate(names))
    links = 0
    with contextlib.ExitStack() as opened:

        def step(name: str, directory: int | None, make: bool = False) -> int:
            descriptor = _open_step(name, directory, make)
            opened.callback(os.close, descriptor)
            return descriptor

        top = here = step("/", None)
        place = "/"
        _judge_directory(place, os.fstat(top), False)
        while steps:
            name, is_ours = steps.popleft()
            following, following_place = step(name, here, make), os.path.join(place, name)
            found = os.fstat(following)
            if stat.S_ISLNK(found.st_mode):
                _judge_owner(following_place, found, is_ours)
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), following_place)
                target = Path(os.readlink("", dir_fd=following))
                if target.is_absolute():
                    here, place = top, "/"
                parts = target.parts[1:] if target.is_absolute() else target.parts
                # the target of the link must be ours alone, not the directories on the way there
                steps.extendleft((part, is_ours and at == 0) for at, part in enumerate(reversed(parts)))
            elif stat.S_ISDIR(found.st_mode):
                _judge_directory(following_place, found, is_ours)
                here, place = following, following_place
            else:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), following_place)
        return os.dup(here)


def _open_step(name: str, directory: int | None, make: bool) -> int:
    try:
        return os.open(name, _STEP, dir_fd=directory)
    except FileNotFoundError:
        if not make:
            raise
    # another process may create it first; the caller checks its owner
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=directory)
    return os.open(name, _STEP, dir_fd=directory)


def _judge_owner(place: str, found: os.stat_result, ours: bool) -> None:
    """Raise `UntrustedError` unless the owner is the user or root (or unmapped, of what need not be ours)."""
    if found.st_uid in (os.geteuid(), 0) or (not ours and _is_unmapped(found.st_uid)):
        return
    raise UntrustedError(f"{place} belongs to {_name_of(found.st_uid)}")


def _judge(place: str, found: os.stat_result, writing: int) -> None:
    """Raise `UntrustedError` if others own it, or can write by the mode bits ``writing``."""
    _judge_owner(place, found, True)
    if found.st_mode & writing:
        raise UntrustedError(f"{place} can be written by others (mode {stat.S_IMODE(found.st_mode):04o})")


def _judge_directory(place: str, found: os.stat_result, ours: bool) -> None:
    """Raise `UntrustedError` if others can write to a directory of ours, or swap entries of another."""
    if ours or not _keeps_entries(place, found):
        _judge(place, found, OTHERS_WRITE)
    else:
        _judge_owner(place, found, False)


def _keeps_entries(place: str, found: os.stat_result) -> bool:
    """Whether others cannot replace a directory's entries, whether or not they may write there."""
    others = found.st_mode & OTHERS_WRITE
    if not others or found.st_mode & stat.S_ISVTX:
        return True
    return others == stat.S_IWGRP and _is_private(found.st_gid, found.st_uid, place)


def judge_file(place: str, found: os.stat_result, writing: int = OTHERS_WRITE) -> None:
    """Raise `UntrustedError` unless a file is a regular one that only we or root can have written.

    ``writing`` are the bits of its mode that let others write, if they can reach it at all.
    """
    if not stat.S_ISREG(found.st_mode):
        raise UntrustedError(f"{place} is {'a link' if stat.S_ISLNK(found.st_mode) else 'no ordinary file'}")
    _judge(place, found, writing)


def check_below(place: str, reachable: int = OTHERS_WRITE) -> None:
    """Check, by name, all below a directory that `open_directory` has accepted. Raises `UntrustedError`.

    A mode that lets others write does not matter where they cannot enter: ``reachable`` are the write bits
    of those (group, others) who can enter the directory.
    """
    # a directory's execute bit (may enter) is next to its write bit
    reachable &= os.stat(place).st_mode << 1
    for entry in [*os.scandir(place)]:
        with contextlib.suppress(FileNotFoundError):  # another process's temporary file, just renamed
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                _judge(entry.path, found, reachable)
                check_below(entry.path, reachable)
            else:
                judge_file(entry.path, found, reachable)


def _is_private(group: int, owner: int, place: str) -> bool:
    """Whether a group is a user's own, as ``useradd`` makes it: with the user's name, and nobody else in
    it."""
    import grp
    import pwd

    try:
        user, its = pwd.getpwuid(owner), grp.getgrgid(group)
    except KeyError:
        return False
    with contextlib.suppress(OSError):  # a file system without access control lists
        if "system.posix_acl_access" in os.listxattr(place, follow_symlinks=False):
            return False  # with such a list, the group's bits apply to everybody whom it names
    return its.gr_name == user.pw_name and user.pw_gid == group and set(its.gr_mem) <= {user.pw_name}


def _is_unmapped(user: int) -> bool:
    """Whether a uid is the overflow uid: this container does not map the owner, such as the host's root.

    That may be anybody. It is good enough for directories above a cache, where rootless containers bind-mount
    the host's ``/home``, and not for the cache itself.
    """
    try:
        overflow = int(Path("/proc/sys/kernel/overflowuid").read_text("utf-8"))
        mapped = [line.split() for line in Path("/proc/self/uid_map").read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return False
    everybody = [["0", "0", str(2**32 - 1)]]
    return user == overflow and mapped != everybody


def _name_of(user: int) -> str:
    import pwd

    try:
        return f"user {pwd.getpwuid(user).pw_name} ({user})"
    except KeyError:
        return f"user {user}"
