"""Writes output rows: `FileWriter` to a locked file with a journal, `StreamWriter` to a pipe or device.

The rows of a block are written before its journal entry, so an entry never speaks of rows that are missing.
A resumed run cuts the output back to the last entry whose rows are all there.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final
from zlib import crc32

from relfast.engine.files.io.commit_log import (
    JOURNAL_SUFFIX,
    Commit,
    CommitLog,
    finished_line,
    grown_since,
    header_line,
)
from relfast.engine.files.io.scored import read_scores
from relfast.engine.files.io.sources import Source, find_sources, iterate_lines
from relfast.errors import (
    InputError,
    MissingExtraError,
    OutputError,
    OutputExistsError,
)
from relfast.json_text import decode_object
from relfast.records import Score
from relfast.support.outputs import (
    TABLE_ROWS_SUFFIX,
    TABLES,
    GrowingFile,
    check_settings,
    ends_with,
    open_stream,
)

_READ_BYTES: Final = 1 << 20


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


def encoder(path: str) -> Any:
    """The function that compresses the rows of a block, or None. Each block becomes a gzip member or zstd
    frame of its own, so that files can be cut and continued between blocks."""
    if ends_with(path, ".gz"):
        import gzip

        return lambda rows: gzip.compress(rows, 6, mtime=0)
    if ends_with(path, ".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("writing .zst", "zstd") from None
        return zstandard.ZstdCompressor().compress
    return None


class FileWriter(Writer):
    """Rows in a file, with lock and journal.

    Parameters
    ----------
    path
        The output; ``.gz`` and ``.zst`` are compressed. For ``.parquet`` and ``.csv`` the rows are written to
        ``PATH.rows.jsonl`` first and made a table at the end.
    fingerprint
        Everything that decides the output's bytes; a run may only be resumed with an equal fingerprint.
    resume, overwrite
        What to do with an output that exists; without either it is an error.
    sources
        The inputs, to find out on ``resume`` whether they have only grown.

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
        sources: Sequence[Source] = (),
    ) -> None:
        super().__init__()
        self.target = path
        self._is_table = ends_with(path, *TABLES)
        self.path = path + TABLE_ROWS_SUFFIX if self._is_table else path
        self.journal_path = path + JOURNAL_SUFFIX
        self._fingerprint, self._sources = dict(fingerprint), sources
        self._finished = self._is_begun = False
        self._encode = encoder(self.path)
        self._journal: GrowingFile | None = None
        fresh = not (resume or overwrite)
        if self._is_table:
            from relfast.engine.files.io.parquet import require_parquet

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
        before, self.grown = grown_since(journal.run or {}, self._fingerprint, self._sources)
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
        from relfast.engine.files.io.parquet import count_rows

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
            # an empty file is no valid gzip or zstd file
            self._rows.append(self._encode(b""))
        if self._is_table:
            self._write_table()
        self._opened().append(finished_line(n_rows))
        self._finished = True

    def _write_table(self) -> None:
        from relfast.engine.files.io.parquet import write_rows

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
