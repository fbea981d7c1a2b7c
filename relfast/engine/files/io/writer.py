"""Output rows and their journal: `FileWriter` writes to a locked file, `StreamWriter` to a pipe or device,
`past_run` reads from a journal how a file of rows was made.

``OUT.journal`` is JSON lines: a header (everything that decides the bytes of the output), an entry for each
block, and a last line when the run is finished. The rows of a block are written before its entry, so that an
entry never speaks of rows that are missing. A resumed run cuts the output back to the last entry whose rows
are all there.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import IO, Any, Final
from zlib import crc32

import orjson

from relfast.engine.columns.blocks import Position
from relfast.engine.files.io.codecs import encoder
from relfast.engine.files.io.parquet import count_rows, require_parquet, write_rows
from relfast.engine.files.io.scored import read_scores
from relfast.engine.files.io.sources import find_sources, iterate_lines
from relfast.engine.job import Job, make_job
from relfast.engine.signature import signature
from relfast.errors import InputError, OutputError, OutputExistsError, RelfastError
from relfast.json_text import Undecodable, decode_object, encode_json
from relfast.records import Plain, Score
from relfast.support.outputs import (
    PATHS,
    TABLE_ROWS_SUFFIX,
    TABLES,
    GrowingFile,
    check_settings,
    ends_with,
    open_stream,
)
from relfast.tasks import TASKS

JOURNAL_VERSION: Final = 2
JOURNAL_SUFFIX: Final = ".journal"


@dataclass(slots=True, repr=False, eq=False)
class Commit(Plain):
    """A block's entry in the journal.

    Attributes
    ----------
    size
        Size of the output in bytes, including the block's rows.
    position
        Where in the input the next block begins.
    votes
        Votes of the scored rows, 4 bytes each, which maj@k needs and rows do not contain.
    rows_sum
        CRC-32 of the bytes that this block added to the output: after a power failure the journal may be
        there and the rows not.
    input_sum
        `relfast.engine.columns.blocks.Block.checksum`, to notice that the input has changed since.
    embedder
        The embedding model that scored rows of the block; "" if none did.
    """

    size: int
    position: Position
    votes: bytes = b""
    rows_sum: int = 0
    input_sum: int = 0
    embedder: str = ""

    def to_line(self) -> bytes:
        at = self.position
        entry: dict[str, Any] = {
            "bytes": self.size,
            "next": [at.seq, at.source, at.offset, at.index],
            "crc": self.rows_sum,
            "input": self.input_sum,
        }
        if self.votes:
            entry["votes"] = b2a_base64(self.votes, newline=False).decode("ascii")
        if self.embedder:
            entry["embedder"] = self.embedder
        return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_line(cls, line: bytes) -> Commit | None:
        """The entry of a line; None if the line is torn (not completely written)."""
        try:
            entry = orjson.loads(line)
            votes = a2b_base64(entry.get("votes", ""))
            return cls(
                entry["bytes"],
                Position(*entry["next"]),
                votes,
                entry["crc"],
                entry["input"],
                entry.get("embedder", ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


@dataclass(slots=True, repr=False, eq=False)
class CommitLog(Plain):
    """The content of a journal.

    Attributes
    ----------
    run
        The fingerprint in its header; None without a header.
    commits
        The entries before the first torn one.
    finished_rows
        Number of rows if the run was finished, else None.
    header_size
        Bytes of the header line.
    """

    run: dict[str, Any] | None
    commits: list[Commit]
    finished_rows: int | None
    header_size: int

    @classmethod
    def read(cls, lines: Iterator[bytes]) -> CommitLog:
        header = next(lines, b"")
        journal = cls(_run_of(header), [], None, len(header))
        for line in lines:
            if not line.endswith(b"\n"):
                break
            if line.startswith(b'{"finished"'):
                journal.finished_rows = orjson.loads(line)["finished"]
                break
            commit = Commit.from_line(line)
            if commit is None:
                break
            journal.commits.append(commit)
        return journal


def header_line(run: Mapping[str, Any]) -> bytes:
    # unlike orjson it holds paths that are no UTF-8
    return encode_json({"relfast_journal": JOURNAL_VERSION, "run": run}) + b"\n"


def finished_line(n_rows: int) -> bytes:
    return orjson.dumps({"finished": n_rows}, option=orjson.OPT_APPEND_NEWLINE)


def _run_of(header: bytes) -> dict[str, Any] | None:
    """The fingerprint in a journal's header; None if the line is no header."""
    try:
        entry = decode_object(header)
    except Undecodable:
        return None
    if "relfast_journal" not in entry:
        return None
    run = entry.get("run")
    if entry["relfast_journal"] != JOURNAL_VERSION:
        return {"journal format": entry["relfast_journal"]}
    return run if isinstance(run, dict) else None


# writing

_READ_BYTES: Final = 1 << 20


GrownSince = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Mapping[str, Any], list[str]]]


class ConsumerGone(Exception):
    """The reader of the rows has gone (``| head``)."""


class Writer:
    """The base of writers of output rows."""

    def __init__(self) -> None:
        self.commits: list[Commit] = []
        """Journal entries of the blocks whose rows an earlier run has written."""
        self.grown: list[str] = []
        """Remarks on inputs to which something was appended since; then `keep` says which of these blocks are
        still the same."""

    def keep(self, n: int) -> None:
        """Keep the rows of the first ``n`` blocks in ``commits``, and drop the others."""

    def write(self, rows: bytes, commit: Commit) -> None:
        """Append the rows of a block; fills in ``size`` and ``rows_sum`` of ``commit``."""
        raise NotImplementedError

    def written(self) -> Iterator[Score]:
        """The rows of the blocks in ``commits``; ``task`` is the group that a row is counted in."""
        return iter(())

    def finish(self, n_rows: int) -> None:
        """Note that all rows are written."""

    def withdraw(self) -> None:
        """Delete the files that this run has made, if they have no rows."""

    def close(self) -> None:
        raise NotImplementedError


class FileWriter(Writer):
    """Rows in a file, with lock and journal.

    Parameters
    ----------
    path
        The output, compressed if its name says so. For ``.parquet`` and ``.csv`` the rows are written to
        ``PATH.rows.jsonl`` first and made a table at the end.
    fingerprint
        Everything that decides the output's bytes; a run may only be resumed with an equal fingerprint.
    resume, overwrite
        What to do with an output that exists; without either it is an error.
    grown_since
        Of the fingerprint of an earlier run and this one: the earlier one, brought up to inputs that have
        only grown since, and remarks on them.

    Raises
    ------
    OutputExistsError
        The output exists.
    OutputError
        The output cannot be written, or another run is writing it.
    ResumeMismatchError
        With ``resume``: the run that wrote the output was started differently.
    """

    def __init__(
        self,
        path: str,
        fingerprint: Mapping[str, Any],
        *,
        resume: bool,
        overwrite: bool,
        grown_since: GrownSince = lambda before, now: (before, []),
    ) -> None:
        super().__init__()
        self.target = path
        self._is_table = ends_with(path, *TABLES)
        self.path = path + TABLE_ROWS_SUFFIX if self._is_table else path
        self.journal_path = path + JOURNAL_SUFFIX
        self._fingerprint, self._grown_since = dict(fingerprint), grown_since
        self._finished = self._is_begun = False
        self._encode = encoder(self.path)
        self._journal: GrowingFile | None = None
        fresh = not (resume or overwrite)
        if self._is_table:
            require_parquet()
        if fresh and self._is_table and os.path.exists(path):
            raise OutputExistsError(path, resumable=True)
        self._rows = GrowingFile(self.path)
        try:
            if fresh and not self._rows.is_new:
                raise OutputExistsError(path, resumable=True)
            if resume:
                self._recover()
            elif self._rows.is_new and not (self._is_table and os.path.exists(path)):
                self._begin(b"")
        except BaseException:
            self.withdraw()
            self.close()
            raise

    def _opened(self) -> GrowingFile:
        """The journal, opened when it is first needed."""
        if self._journal is None:
            self._journal = GrowingFile(self.journal_path, locked=False)
        return self._journal

    def _begin(self, rows: bytes) -> None:
        """Begin a new output with its first rows; an old one stays until these are there. A kill in between
        leaves a journal that does not fit the rows, which `--resume` notices."""
        self.commits = []
        self._rows.begin([rows])
        self._is_begun = True
        if self._is_table and os.path.exists(self.target):
            os.unlink(self.target)
        journal = self._opened()
        journal.cut_back(0)
        journal.append(header_line(self._fingerprint))

    def _recover(self) -> None:
        """Find the last block whose rows are all in the output, and cut output and journal back to it."""
        size = self._rows.length
        journal = CommitLog.read(self._opened().lines())
        has_output = size or (self._is_table and os.path.exists(self.target))
        if journal.run is None and not has_output:
            self._begin(b"")
            return
        before, self.grown = self._grown_since(journal.run or {}, self._fingerprint)
        check_settings(journal.run and before, self._fingerprint, self.journal_path, self.target)
        self._is_begun = True
        if not self.grown and self._is_finished_table(journal, size):
            self.commits, self._finished = journal.commits, True
            return
        whole = 0
        for commit in journal.commits:
            if commit.size > size or self._sum_of_rows(whole, commit.size) != commit.rows_sum:
                break
            self.commits.append(commit)
            whole = commit.size
        self._opened().cut_back(journal.header_size + sum(len(commit.to_line()) for commit in self.commits))
        self._rows.cut_back(whole)

    def keep(self, n: int) -> None:
        self.commits = self.commits[:n]
        self._opened().begin([header_line(self._fingerprint), *(commit.to_line() for commit in self.commits)])
        self._rows.cut_back(self.commits[-1].size if self.commits else 0)

    def _is_finished_table(self, journal: CommitLog, size: int) -> bool:
        """Whether an earlier run has finished the table, which is still whole."""
        if not self._is_table or size or journal.finished_rows is None or not os.path.exists(self.target):
            return False
        try:
            return count_rows(self.target) == journal.finished_rows
        except InputError:
            return False  # the table was damaged since: it is made again

    def _sum_of_rows(self, start: int, end: int) -> int:
        """CRC-32 of a range of the output's bytes."""
        total = 0
        while start < end and (piece := self._rows.read(start, min(end, start + _READ_BYTES))):
            total = crc32(piece, total)
            start += len(piece)
        return total

    def write(self, rows: bytes, commit: Commit) -> None:
        data = self._encode(rows) if self._encode and rows else rows
        before = self._rows.size
        commit.size, commit.rows_sum = before + len(data), crc32(data)
        if self._is_begun:
            self._rows.append(data)
        else:
            self._begin(data)
        try:
            self._opened().append(commit.to_line())
        except BaseException:
            self._rows.cut_back(before)
            raise

    def withdraw(self) -> None:
        if not self._rows.size:
            for file in filter(None, (self._rows, self._journal)):
                file.withdraw()

    def written(self) -> Iterator[Score]:
        (source,) = find_sources([self.target if self._finished else self.path])
        return read_scores(source)

    def finish(self, n_rows: int) -> None:
        if self._finished:
            return
        if not self._is_begun:
            self._begin(b"")
        if self._encode and not self._rows.size:
            # an empty file is no valid compressed one
            self._rows.append(self._encode(b""))
        if self._is_table:
            self._write_table()
        self._opened().append(finished_line(n_rows))
        self._finished = True

    def _write_table(self) -> None:
        try:
            write_rows(lambda: map(decode_object, iterate_lines(self.path)), self.target)
        except OSError as error:
            reason = error.strerror or " ".join(str(error).split())
            size = self._rows.length
            raise OutputError(
                self.target,
                f"{reason}; the rows ({size} bytes) are whole in {self.path}, --resume finishes it",
            ) from error

    def close(self) -> None:
        if self._is_table and self._finished:
            with contextlib.suppress(OSError):
                os.unlink(self.path)  # before closing releases the lock
        for file in filter(None, (self._journal, self._rows)):
            file.close()


class StreamWriter(Writer):
    """Rows to stdout, a named pipe or a device: nothing to lock, nothing to resume.

    ``stream`` must be unbuffered, so that no rows are left in a buffer when it fails.
    """

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        super().__init__()
        self._name, self._stream = name, stream
        self._written = 0

    @classmethod
    def of_stdout(cls) -> StreamWriter:
        if sys.stdout is None:
            raise OutputError("stdout", "it is closed")
        sys.stdout.flush()
        return cls("stdout", getattr(sys.stdout.buffer, "raw", sys.stdout.buffer))

    @classmethod
    def of_device(cls, path: str) -> StreamWriter:
        return cls(path, open(open_stream(path), "wb", buffering=0))

    def write(self, rows: bytes, commit: Commit) -> None:
        view = memoryview(rows)
        try:
            while view:
                done = self._stream.write(view)
                if done is None:  # somebody made the stream non-blocking, and it is full
                    select.select([], [self._stream], [])
                    continue
                view = view[done:]
                self._written += done
        except BrokenPipeError:
            raise ConsumerGone from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(self._name, f"{reason} after {self._written} bytes") from error

    def close(self) -> None:
        if self._name != "stdout":
            self._stream.close()


# reading how rows were made, so that reports and comparisons need not ask again


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
