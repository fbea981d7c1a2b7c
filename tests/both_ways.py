"""Lines scored by the fast path and the ordinary way: the same bytes, and the same counted of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from missing_kernels import built

from relfast.engine.columns.blocks import Block
from relfast.engine.columns.scoring import Scoring
from relfast.engine.columns.text_fast_path import TextFastPath
from relfast.engine.files.block_scoring import BlockScoring, expand
from relfast.engine.files.io.reader import read_gold
from relfast.engine.job import Job
from relfast.stats.summary import Tally

Lines = Sequence[bytes | dict[str, Any]]


class Scored(NamedTuple):
    """Rows, and what is counted of them; and the lines that kernels read, that were decoded, and whose responses
    an extractor read."""

    written: bytes
    tally: Tally
    n_fast: int
    n_exact: int
    n_left: int

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(row) for row in self.written.splitlines()]


class Ways(NamedTuple):
    """A job's scoring, and its fast path."""

    scoring: Scoring
    fast_path: TextFastPath

    @classmethod
    def of_job(cls, job: Job) -> Ways:
        built("text")
        scoring = Scoring(job, read_gold(job.data, strict=job.options.strict))
        opened = TextFastPath.open(scoring)
        assert opened is not None
        return cls(scoring, opened)

    def score(
        self,
        lines: Lines,
        *,
        fast: bool,
        size: int | None = None,
        chosen: str | None = "none",
        most: int = sys.maxsize,
        **options: Any,
    ) -> Scored:
        """By the fast path, or the ordinary way; in blocks of ``size`` lines, which are one block by default."""
        blocks = BlockScoring(self.scoring, most)
        blocks._open_fast_path = lambda: self.fast_path if fast else None  # type: ignore[method-assign]
        tally, written, numbers = Tally(), [], [0, 0, 0]
        for first in range(0, len(lines), size or len(lines)):
            some = lines[first : first + (size or len(lines))]
            some = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in some]
            data = b"".join(line + b"\n" for line in some)  # an empty last one is a line too
            block = Block(0, 0, first, len(some), 0, len(data), data=data, filter=chosen)
            for segment in blocks.segments(block, **options):
                assert segment.tally.rows == segment.rows.count(b"\n")
                written.append(segment.rows)
                tally.merge(segment.tally)
                for at, n in enumerate((segment.n_fast, segment.n_exact, segment.n_left)):
                    numbers[at] += n
        expand(tally, self.scoring.job)
        return Scored(b"".join(written), tally, *numbers)

    def same(self, lines: Lines, **options: Any) -> Scored:
        """What both ways give."""
        fast, exact = (self.score(lines, fast=fast, **options) for fast in (True, False))
        assert fast[:2] == exact[:2], self.narrowed(lines)[:3]
        return fast

    def narrowed(self, lines: Iterable[bytes | dict[str, Any]]) -> Lines:
        """The lines of some that differ without the others; all where only all together do."""
        lines = [*lines]
        found = [
            line for line in lines if self.score([line], fast=True)[:2] != self.score([line], fast=False)[:2]
        ]
        return found or lines
