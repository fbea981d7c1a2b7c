"""Rows of an output by status: which records timed out, and why others have no score."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from relfast.engine.io.scored import read_scores
from relfast.engine.io.sources import find_sources
from relfast.errors import printable
from relfast.stats.summary import Summary

MAX_LISTED: Final = 50
_STOPPED: Final = ("timeout", "crashed")


def rows_with(summary: Summary, statuses: Sequence[str]) -> Iterator[str]:
    """A line for each row of these statuses, the first `MAX_LISTED` of them."""
    n = summary.count(*statuses)
    names = ", ".join(statuses)
    if not n or summary.output in (None, "-"):
        yield f"{n:,} rows are {names}" + (" (they went to stdout)" if n else "")
        return
    found = (
        score
        for source in find_sources([str(summary.output)])
        for score in read_scores(source)
        if score.status in statuses
    )
    for _, score in zip(range(MAX_LISTED), found, strict=False):
        why = f": {score.error['message']}" if score.error else ""
        sample = f" sample {score.sample}" if score.sample else ""
        yield printable(
            f"{score.status} line {score.index + 1} id {score.id!r:.60}{sample} {score.task}{why}"
        )
    if n > MAX_LISTED:
        yield f"{n - MAX_LISTED:,} more; {_command(str(summary.output), statuses)} lists them all"


def how_to_list(summary: Summary) -> Iterator[str]:
    """The command that lists what hung or crashed, if anything did."""
    there = [status for status in _STOPPED if summary.count(status)]
    if there and summary.output not in (None, "-") and not str(summary.output).endswith(".parquet"):
        n = summary.count(*there)
        what = "1 record" if n == 1 else f"{n:,} records"
        yield f"which {what} ({', '.join(there)}): {_command(str(summary.output), there)}"


def _command(output: str, statuses: Sequence[str]) -> str:
    if output.endswith(".parquet"):
        return f"relfast.read_rows({output!r})"
    grep = "zgrep" if output.endswith(".gz") else "zstdgrep" if output.endswith(".zst") else "grep"
    pattern = '"status":"({})"'.format("|".join(statuses))
    return f"{grep} -E {shlex.quote(pattern)} {shlex.quote(output)}"
