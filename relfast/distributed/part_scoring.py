"""A part scored: its blocks by the local engine, its rows in one file, what they come to beside it."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import IO, Any, Final

from relfast.distributed.parts import Part, RowAt, blocks_of
from relfast.distributed.storage import Folder
from relfast.engine.file_run.first_causes import FAR, explain, invalid_rows
from relfast.engine.file_run.run import Blocks
from relfast.engine.io.sources import iterate_lines
from relfast.engine.io.writer import encoder
from relfast.engine.job import Job
from relfast.engine.scoring import EMBEDDED
from relfast.errors import OutputError, ReadError, RelfastError
from relfast.json_text import Undecodable, decode_object, encode_json
from relfast.stats.tally import Tally, TaskTally
from relfast.stats.unusable import Cause, Unusable

NOTES: Final = "_parts"
"""Folder of the notes that parts are whole, one file each."""

SUFFIXES: Final = (".jsonl.gz", ".jsonl.zst", ".parquet", ".jsonl")


@dataclass(slots=True)
class Done:
    """A part whose rows are whole.

    ``lines`` are those of the part; ``embedder`` is what scored its texts, where that was an embedding model;
    ``size`` the bytes of its file; places in ``unusable`` are line numbers in the input.
    """

    part: Part
    rows: int
    size: int
    tally: Tally
    lines: int
    embedder: str = ""
    unusable: Unusable = field(default_factory=Unusable)

    def to_json(self) -> bytes:
        note = {
            "part": self.part.key(),
            "rows": self.rows,
            "bytes": self.size,
            "lines": self.lines,
            "embedder": self.embedder,
            "tasks": {name: asdict(task) for name, task in self.tally.tasks.items()},
            "unusable": [[*key, asdict(cause)] for key, cause in self.unusable.causes.items()],
            "samples": base64.b64encode(self.tally.samples).decode("ascii"),
        }
        return encode_json(note)

    @classmethod
    def from_json(cls, data: bytes | None, part: Part) -> Done | None:
        """The note of a part, or None where it speaks of another one or is torn."""
        try:
            note: Any = json.loads(data or b"")  # sums have more bits than orjson keeps
            if note["part"] != part.key():
                return None
            tasks = {name: TaskTally(**task) for name, task in note["tasks"].items()}
            tally = Tally(tasks, bytearray(base64.b64decode(note["samples"])))
            unusable = Unusable.of({(a, b): Cause(**cause) for a, b, cause in note["unusable"]})
            size, lines = note["bytes"], note["lines"]
            return cls(part, note["rows"], size, tally, lines, note["embedder"], unusable)
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class Failed:
    """A part, or a chunk, that could not be read: where, and why."""

    what: str
    reason: str


def suffix_of(output: str) -> str:
    """What the parts of an output are in: what its name ends in, else ``.jsonl``."""
    return next((suffix for suffix in SUFFIXES if output.rstrip("/").endswith(suffix)), ".jsonl")


def file_of(part: Part, suffix: str) -> str:
    return f"part-{part.number:06}{suffix}"


def note_of(part: Part) -> str:
    return f"{NOTES}/{part.number:06}.json"


MOST: Final = 10_000
"""Causes told apart in a part: a run has fewer, but which ones is known when all are together."""


class PartCauses:
    """Follows a part's rows; places are line numbers in its input."""

    def __init__(self, part: Part, job: Job, row_at: RowAt) -> None:
        self.unusable = Unusable(MOST)
        self._part, self._job, self._row_at = part, job, row_at

    def rows(self, rows: bytes) -> None:
        """Look at rows of output, some of which are unusable."""
        part = self._part
        for row in invalid_rows(rows):
            line = row["index"] - part.first_index
            cause = self.unusable.add(row["error"], str(part.line + line + 1))
            if cause is not None:
                # as far into an input as on one machine
                near = part.line + line < FAR
                with suppress(RelfastError, OSError, Undecodable):
                    explain(cause, self._job, partial(self._row_at, line) if near else dict)


def score_part(
    part: Part,
    job: Job,
    score: Blocks,
    folder: Folder,
    suffix: str,
    numbers: Iterator[int],
) -> Done:
    """Score a part; its rows are in the folder when this returns, and the note that they are.

    ``numbers`` as for `blocks_of`.

    Raises
    ------
    InputError
        It cannot be read, or is not what was measured.
    OutputError
        The rows cannot be written.
    """
    tally, n_rows, n_lines = Tally(), 0, 0
    name = file_of(part, suffix)
    with folder.draft(name) as path:
        rows_path = f"{path}.jsonl" if suffix == ".parquet" else path
        at_hand = blocks_of(part, job, numbers)
        with _written(rows_path) as file, at_hand as (blocks, row_at):
            causes = PartCauses(part, job, row_at)
            encode = encoder(rows_path)
            for block, segments in score(blocks):
                rows = b"".join([segment.rows for segment in segments])
                _write(file, encode(rows) if encode and rows else rows, name)
                n_rows += sum(segment.n_rows for segment in segments)
                n_lines += block.n_lines
                for segment in segments:
                    tally.merge(segment.tally)
                    if segment.tally.count("invalid_record"):
                        causes.rows(segment.rows)
            if encode and not n_rows:
                _write(file, encode(b""), name)
        if part.expected not in (-1, n_lines):
            raise ReadError("it changed while it was read", file=part.input.path)
        if suffix == ".parquet":
            _to_parquet(rows_path, path, name)
    embedder = ""
    if EMBEDDED & tally.tasks.keys():
        from relfast.embed.adding import describe

        embedder = describe(job.options.embedder, job.options.device)
    done = Done(part, n_rows, folder.size(name) or 0, tally, n_lines, embedder, causes.unusable)
    folder.write(note_of(part), done.to_json())
    return done


def _written(path: str) -> AbstractContextManager[IO[bytes]]:
    try:
        return open(path, "wb")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def _write(file: IO[bytes], data: bytes, name: str) -> None:
    try:
        file.write(data)
    except OSError as error:
        raise OutputError(name, error.strerror or str(error)) from error


def _to_parquet(rows: str, path: str, name: str) -> None:
    from relfast.engine.io.parquet import write_rows

    try:
        write_rows(map(decode_object, iterate_lines(rows)), path)
        os.unlink(rows)
    except OSError as error:
        raise OutputError(name, error.strerror or str(error)) from error
