"""Rows to the output: one writer, in order, under a lock, with a journal of what is whole.

``OUT.journal`` (JSON lines: a header, then an entry per commit) says up to which byte of the output every
row is whole and from which place of the input to go on. Rows are written before their entry, so an entry
is never ahead of the rows; a resumed run cuts the output back to the last entry that it still covers.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import gzip
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import orjson

from relfast.engine.reader import Position
from relfast.errors import MissingExtraError, OutputError, ResumeMismatchError, UsageError

JOURNAL_VERSION: Final = 1
JOURNAL_SUFFIX: Final = ".journal"
_READ_BYTES: Final = 1 << 20


@dataclass(slots=True)
class Commit:
    """A journal entry: output bytes that are whole, where the input goes on, and the block's votes."""

    size: int
    position: Position
    votes: bytes = b""

    def to_line(self) -> bytes:
        at = self.position
        entry: dict[str, Any] = {"bytes": self.size, "next": [at.seq, at.source, at.offset, at.index]}
        if self.votes:
            entry["votes"] = base64.b64encode(self.votes).decode("ascii")
        return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_line(cls, line: bytes) -> Commit | None:
        try:
            entry = orjson.loads(line)
            votes = base64.b64decode(entry.get("votes", ""))
            return cls(entry["bytes"], Position(*entry["next"]), votes)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None  # torn by a kill or a full disk


class Writer(Protocol):
    """Where rows go."""

    start: Position

    def write(self, rows: bytes, then: Position, votes: bytes) -> None:
        """Append whole rows; ``then`` is where the input goes on."""

    def finish(self) -> None:
        """All rows are written."""

    def close(self) -> None: ...


class StdoutWriter:
    """Rows on stdout: nothing to lock, nothing to resume."""

    start = Position()

    def write(self, rows: bytes, then: Position, votes: bytes) -> None:
        sys.stdout.buffer.write(rows)
        sys.stdout.buffer.flush()

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass


def _encoder(path: str) -> Any:
    """How rows are compressed: each commit is a gzip member or zstd frame of its own, so that files can
    be cut and continued between them."""
    if path.endswith(".gz"):
        return lambda rows: gzip.compress(rows, 6, mtime=0)
    if path.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("writing .zst", "zstd") from None
        return zstandard.ZstdCompressor().compress
    return None


class FileWriter:
    """Rows in a file, with lock and journal.

    Parameters
    ----------
    path
        The output; ``.gz`` and ``.zst`` are compressed. ``.parquet`` is written as rows to
        ``PATH.rows.jsonl`` first and turned into Parquet at the end.
    fingerprint
        What must be equal for a resumed run to continue this one.
    resume, overwrite
        What to do with an output that exists; with neither, it is an error.

    Raises
    ------
    UsageError
        The output exists.
    OutputError
        It cannot be written, or another run holds it.
    ResumeMismatchError
        ``resume``, and the run that wrote it was started differently.
    """

    def __init__(self, path: str, fingerprint: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
        self.target = path
        self.path = f"{path}.rows.jsonl" if path.endswith(".parquet") else path
        self.journal_path = path + JOURNAL_SUFFIX
        self.fingerprint = dict(fingerprint)
        self.start = Position()
        self.commits: list[Commit] = []
        self.finished_before = False
        self._encode = _encoder(self.path)
        if os.path.exists(path) and not (resume or overwrite):
            raise UsageError(f"{path} exists; --resume continues it, --overwrite starts over")
        self._out = self._open(self.path)
        try:
            self._lock()
            self._journal = self._open(self.journal_path)
            if resume:
                self._recover()
            else:
                self._begin()
        except BaseException:
            os.close(self._out)
            raise

    def _open(self, path: str) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from error

    def _lock(self) -> None:
        try:
            # the kernel drops the lock when its holder dies, however it dies
            fcntl.flock(self._out, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise OutputError(self.target, "another run is writing this output") from None
            raise OutputError(self.target, error.strerror or str(error)) from error

    def _begin(self) -> None:
        self._size = 0
        if self.target != self.path and os.path.exists(self.target):
            os.unlink(self.target)
        os.ftruncate(self._out, 0)
        os.ftruncate(self._journal, 0)
        header = {"relfast_journal": JOURNAL_VERSION, "run": self.fingerprint}
        self._append(self._journal, orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE), self.journal_path)

    def _recover(self) -> None:
        """Find the last whole commit, cut both files back to it."""
        size = os.fstat(self._out).st_size
        with os.fdopen(os.dup(self._journal), "rb") as journal:
            journal.seek(0)
            header = journal.readline()
            before = _run_of(header)
            if before is None:
                if size or (self.target != self.path and os.path.exists(self.target)):
                    raise ResumeMismatchError(
                        f"{self.journal_path} is missing or unreadable, so it is not known how"
                        f" {self.target} was made"
                    )
                self._begin()
                return
            difference = compare_runs(before, self.fingerprint)
            if difference:
                raise ResumeMismatchError(difference)
            kept = len(header)
            for line in journal:
                if not line.endswith(b"\n"):
                    break
                if line.startswith(b'{"finished"'):
                    self.finished_before = self.target != self.path and os.path.exists(self.target)
                    continue
                commit = Commit.from_line(line)
                if commit is None or (commit.size > size and not self.finished_before):
                    break
                self.commits.append(commit)
                kept += len(line)
        self._size = self.commits[-1].size if self.commits else 0
        if self.commits:
            self.start = self.commits[-1].position
        os.ftruncate(self._out, self._size)
        os.ftruncate(self._journal, kept)
        os.lseek(self._out, 0, os.SEEK_END)
        os.lseek(self._journal, 0, os.SEEK_END)

    def write(self, rows: bytes, then: Position, votes: bytes) -> None:
        data = self._encode(rows) if self._encode and rows else rows
        self._append(self._out, data, self.path)
        self._size += len(data)
        self._append(self._journal, Commit(self._size, then, votes).to_line(), self.journal_path)

    def _append(self, descriptor: int, data: bytes, path: str) -> None:
        start = os.lseek(descriptor, 0, os.SEEK_END)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError as error:
            # take the torn piece back: what stands in the file is whole
            os.ftruncate(descriptor, start)
            reason = error.strerror or str(error)
            raise OutputError(
                path, f"{reason} after {start} bytes; all rows in it are whole, --resume goes on from there"
            ) from error

    def written_rows(self) -> Iterator[bytes]:
        """The rows of the output as it stands, one line each (to count them again on resume)."""
        from relfast.engine.sources import iterate_lines

        return iterate_lines(self.path)

    def finish(self) -> None:
        self._append(self._journal, b'{"finished":true}\n', self.journal_path)
        if self.target != self.path:
            from relfast.engine.parquet import write_rows

            write_rows(self.path, self.target)

    def close(self) -> None:
        os.close(self._journal)
        os.close(self._out)


def _run_of(header: bytes) -> dict[str, Any] | None:
    try:
        entry = orjson.loads(header)
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get("relfast_journal") != JOURNAL_VERSION:
        return None
    run = entry.get("run")
    return run if isinstance(run, dict) else None


def compare_runs(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first difference between two fingerprints in words, or None."""
    flat_before, flat_now = dict(_flatten(before)), dict(_flatten(now))
    for name in {**flat_before, **flat_now}:
        old, new = flat_before.get(name), flat_now.get(name)
        if old != new:
            return f"{name} was {_show(old)} and is {_show(new)}"
    return None


def _flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flatten(item, f"{prefix}.{key}" if prefix else str(key))
    else:
        # through JSON, as the journal's side went: tuples become lists
        yield prefix, orjson.loads(orjson.dumps(value))


def _show(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "…"
