"""How many cores this process may use, which is often fewer than the machine has."""

from __future__ import annotations

import os
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
