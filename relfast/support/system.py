"""What this process asks of the operating system: cores, memory, signals, and silence of the libraries that
it loads."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from relfast.errors import UsageError

WORKERS_VARIABLE: Final = "RELFAST_WORKERS"
"""Environment variable with the default number of worker processes."""

_CGROUPS: Final = Path("/sys/fs/cgroup")
_OWN_CGROUPS: Final = Path("/proc/self/cgroup")
_V1: Final = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
_V2: Final = ("cpu.max",)
"""Files with a control group's CPU quota and period, in version 1 and in version 2 of control groups."""


def usable_cores() -> int:
    """Number of cores that this process may use, at least 1: its CPU affinity, limited by the CPU quotas of
    its control groups (set by ``docker --cpus``, Kubernetes and Slurm)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *_quotas()]))


def default_workers(otherwise: int | None = None) -> int | None:
    """Default number of worker processes: ``RELFAST_WORKERS``, else ``otherwise``.

    Raises
    ------
    UsageError
        The variable is set to something that is no whole number.
    """
    return number_in(WORKERS_VARIABLE, least=0, otherwise=otherwise)


def number_in(variable: str, *, least: int, otherwise: int | None) -> int | None:
    """The whole number, ``least`` or more, that an environment variable holds; ``otherwise`` without it.

    Raises
    ------
    UsageError
        The variable is set to something else.
    """
    value = os.environ.get(variable)
    if not value:
        return otherwise
    if not (value.isascii() and value.isdecimal()) or int(value) < least:
        raise UsageError(f"{variable} must be a whole number from {least}, not {value!r:.60}")
    return int(value)


def _quotas() -> Iterator[int]:
    """Cores that each CPU quota allows: the quotas of this process's control groups and of their parents."""
    try:
        lines = _OWN_CGROUPS.read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root, files = (_CGROUPS / "cpu", _V1) if controllers else (_CGROUPS, _V2)
        # inside a container the root is often the container's own group, and this path does not exist
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder == root.parent:
                break
            try:
                texts = [(folder / name).read_text("utf-8") for name in files]
                quota, period = map(int, " ".join(texts).split())
            except (OSError, ValueError):
                continue  # no such group, or no quota ("max")
            if quota > 0 and period > 0:
                yield max(1, quota // period)


# memory: pages that are allocated when first touched, and freed blocks that are kept for reuse


def lazy_memory(n_bytes: int, *, large_pages: bool = False) -> ctypes.Array[ctypes.c_char]:
    """A zeroed buffer whose pages are allocated only when touched (ctypes itself would write them all at
    once). A forked child gets its own copy. ``large_pages``, for buffers of which much will be touched, asks
    for pages of 2 MB, if the system has them."""
    # MAP_PRIVATE: the system takes twice as long to provide pages that could be shared
    memory = mmap.mmap(-1, n_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if large_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return (ctypes.c_char * n_bytes).from_buffer(memory)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_KEPT: Final = 32 << 20


def keep_freed_memory() -> None:
    """Make this process keep freed memory blocks of some megabytes, up to `_KEPT` bytes, for reuse. Getting
    each block anew from the system, page by page, takes a tenth of the time of a run of large files."""
    with contextlib.suppress(AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _KEPT)
        mallopt(_TRIM_THRESHOLD, _KEPT)


# Ctrl-C is kept away from RDKit, which replaces Python's SIGINT handler by its own during a substructure
# search. A Ctrl-C in those microseconds is lost, and worse: the search ends early with a wrong answer
# (2026.09: a molecule is then not contained in itself). Workers block SIGINT for good, since terminals and
# notebooks send it to them too; a process that has to handle SIGINT blocks it only during each search.

_SIGINT: Final = frozenset({signal.SIGINT})
_blocked_for_good = False


def block_interrupts() -> None:
    """Block SIGINT in this process for good, and unblock all other signals (a process inherits the signals
    that its parent blocks). Call it from the first thread, before others start."""
    global _blocked_for_good
    _blocked_for_good = True
    signal.pthread_sigmask(signal.SIG_SETMASK, _SIGINT)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT back until the end of the context, then Python's handler gets it. Only this thread blocks
    the signal: in a process with several threads the system may deliver it to another."""
    if _blocked_for_good:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGINT)
    try:
        yield
    finally:
        if signal.SIGINT not in before:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGINT)


_TELEMETRY: Final = {
    # since 1.29; read when the library is loaded, which leaves a device's id and a queue of events on disk
    "ORT_DISABLE_TELEMETRY": "1",
    # these two tell the hub what is installed, and count loads, where a model or data set is fetched from it
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    # a running cluster keeps its own setting
    "RAY_USAGE_STATS_ENABLED": "0",
}


def turn_off_telemetry() -> None:
    """Set the environment variables by which libraries send nothing, and leave nothing, unless the user has
    set them; to be called before a library is imported. Child processes inherit them."""
    for name, value in _TELEMETRY.items():
        os.environ.setdefault(name, value)
