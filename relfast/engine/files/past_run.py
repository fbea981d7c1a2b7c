"""Reads from a journal how a file of rows was made, so that reports and comparisons need not ask again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

from relfast.engine.files.io.commit_log import JOURNAL_SUFFIX, CommitLog
from relfast.engine.job import Job, make_job
from relfast.engine.signature import signature
from relfast.errors import RelfastError
from relfast.support.outputs import PATHS
from relfast.tasks import TASKS


@dataclass(frozen=True)
class PastRun:
    """A past run of `relfast score`; ``run`` is the fingerprint in its journal. ``inputs`` and ``job.data``
    are its input and gold files, empty if one of them is gone."""

    job: Job
    inputs: tuple[str, ...]
    run: Mapping[str, Any]

    def signature(self, tasks: Iterable[str]) -> str:
        """The run's signature for some of its tasks, in the order of the task table."""
        named = [name for name in TASKS if name in set(tasks)]
        filters = [name for name in self.run.get("filters", ()) if name]
        return signature(self.job, named, filters, limit=self.run.get("limit"), run=self.run)


def past_run(rows: str) -> PastRun | None:
    """The run that wrote a file of rows; None without a readable journal beside it."""
    try:
        with open(rows + JOURNAL_SUFFIX, "rb") as file:
            run = CommitLog.read(iter([file.readline()])).run
        if run is None:
            return None
        paths = run[PATHS]
        job = replace(make_job(**run["option"]), data=_there(paths, "gold", rows))
        past = PastRun(job, _there(paths, "input", rows), run)
        past.signature(TASKS)  # a journal of another version may lack keys, which raises here
    except (OSError, RelfastError, KeyError, TypeError, AttributeError, ValueError):
        return None
    return past


def past_votes(rows: str) -> bytes | None:
    """The votes of a file's scored rows, as `relfast.stats.samples.votes_of` writes them, from the journal
    beside it; None unless the file holds the rows of the journal, byte for byte, and no others."""
    try:
        with open(rows + JOURNAL_SUFFIX, "rb") as journal, open(rows, "rb") as file:
            commits = CommitLog.read(iter(journal)).commits
            for before, commit in zip((0, *(commit.size for commit in commits)), commits, strict=False):
                if crc32(file.read(max(0, commit.size - before))) != commit.rows_sum:
                    return None
            if file.read(1):
                return None
    except (OSError, ValueError):
        return None
    quarters = [(commit.votes, len(commit.votes) // 4) for commit in commits]
    return b"".join(votes[plane * n : (plane + 1) * n] for plane in range(4) for votes, n in quarters)


def _there(paths: Mapping[str, str], what: str, rows: str) -> tuple[str, ...]:
    """The run's "gold" or "input" files, at their old paths or beside the rows; empty if one is gone."""
    found: list[str] = []
    for number in count():
        old = paths.get(f"{what} {number}")
        if old is None:
            return tuple(found)
        existing = [path for path in (Path(old), Path(rows).with_name(Path(old).name)) if path.is_file()]
        if not existing:
            return ()
        found.append(str(existing[0]))
    raise AssertionError
