"""The signature: one line that says what was run. Numbers are comparable only if their signatures agree."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from relfast import __version__
from relfast.engine.job import MAX_LINE_BYTES, Job
from relfast.parameters import parameters_of
from relfast.tasks import TASKS, Task


def signature(
    job: Job,
    tasks: Iterable[str],
    filters: Sequence[str] = (),
    *,
    limit: int | None = None,
    run: Mapping[str, Any] | None = None,
) -> str:
    """``relfast 0.1.0 | tasks REL-C2:1 | policy strict | rdkit 2026.9.1 | timeout 6s | …``.

    The number after a task is its scorer revision, which changes whenever a score can change. ``filters`` are
    the filters of lm-evaluation-harness whose rows were scored, ``limit`` is the number of lines that were
    read. The limit on line length is shown only if it is not the default. ``run`` is the fingerprint of a
    past run, of which the versions are to be shown; None: the versions installed now.
    """
    run = versions() if run is None else run
    options = [
        (parameter, parameter.write(getattr(job.options, parameter.name)))
        for parameter in parameters_of(type(job.options))
        if parameter.shown
    ]
    named = [TASKS[name] for name in tasks if name in TASKS]
    parts = [
        f"relfast {run['relfast version']}",
        "tasks " + (",".join(f"{task.name}:{run['scorer revision'][task.name]}" for task in named) or "none"),
        f"policy {job.options.policy}",
    ]
    if job.options.strip_reasoning:
        parts.append("reasoning stripped")
    if job.options.reasoning and (job.options.strict or job.options.strip_reasoning):
        parts.append("reasoning " + " ".join(map("…".join, job.options.reasoning)))
    if filters:
        parts.append("filter " + ",".join(filters))
    if job.options.strict:
        parts += [shown for parameter, shown in options if parameter.strict_only]
    rewards = [f"{name}={metric}" for name, metric in sorted(job.rewards.items())]
    if rewards:
        parts.append("reward " + ",".join(rewards))
    parts += [f"{package} {run[f'{package} version']}" for package in packages_of(named)]
    if any(task.embeds for task in named):
        parts.append(f"embedder {embedder_of(job)}")
    owned = {p.name for task in named for p in parameters_of(task.options)}
    parts += [shown for parameter, shown in options if not parameter.strict_only and parameter.name in owned]
    parts.append(f"timeout {job.timeout:g}s")
    if job.max_line_bytes != MAX_LINE_BYTES:
        parts.append(f"max-line-bytes {job.max_line_bytes}")
    if limit is not None:
        parts.append(f"limit {limit}")
    return " | ".join(parts)


def versions() -> dict[str, Any]:
    """The versions of relfast, of its scorers, and of the packages that can change a score."""
    return {
        "relfast version": __version__,
        "scorer revision": {name: task.revision for name, task in TASKS.items()},
        **{f"{package} version": version(package) for package in packages_of(TASKS.values())},
    }


def packages_of(tasks: Iterable[Task]) -> tuple[str, ...]:
    """The Python packages whose versions can change a score of these tasks, each once."""
    return tuple(dict.fromkeys(package for task in tasks for package in task.packages))


@cache
def version(package: str) -> str:
    """The installed version of a package, or ``missing``; the package is not imported.

    It is read off the name of the package's metadata folder. importlib.metadata, which takes 20 ms to
    import, is used only if there is no such folder.
    """
    stem = package.replace("-", "_")
    for entry in sys.path:
        try:
            folders = os.listdir(entry)
        except OSError:
            continue
        for folder in folders:
            if folder.startswith(f"{stem}-") and folder.endswith(".dist-info"):
                return folder.removesuffix(".dist-info").rpartition("-")[2]
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def embedder_of(job: Job) -> str:
    """The embedding model's name and hash. Call it only when the model was used: resolving it takes time."""
    from relfast.embed.adding import describe

    return describe(job.options.embedder, job.options.device)
