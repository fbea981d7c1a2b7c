"""The log of requested rows: JSONL that grows as completions come in, survives kills, ends up in input order.

Used where each row costs a request to a server: `relfast run` and `relfast realign`. Rows are appended in the
order in which they come; when all are there, `finish` puts them in the order of the input. A resumed run
keeps the rows that succeeded, drops a torn last line, and asks again for those that failed. A failed row of
which a part succeeded stays until its successor is written.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import orjson

from relfast.errors import OutputError, ResumeMismatchError, UsageError
from relfast.json_text import Undecodable, decode_object, encode_row
from relfast.outputs import refuse_existing

Row = dict[str, Any]

SETTINGS_SUFFIX: Final = ".run.json"
"""Beside the rows: what they were made with, so that a resumed run mixes nothing."""


@dataclass
class RequestCounts:
    """How far a run is: rows in all, had before it, made by it, and those of them that failed."""

    total: int
    before: int
    done: int = 0
    failed: int = 0


class RequestLog:
    """The rows of a run. A context manager, which holds the file's lock.

    Parameters
    ----------
    path
        The file.
    key
        A row's key; rows of a finished run are ordered by it.
    failed
        Whether a row is to be asked for again when resumed.
    partial
        Whether a failed row holds something that need not be asked for again: see `before`.
    settings
        What must be equal for a run to continue another one; JSON-able.
    resume, overwrite
        What to do with a file that exists; with neither, it is an error.

    Raises
    ------
    OutputExistsError
        The file exists.
    OutputError
        It cannot be written, or another run holds it.
    ResumeMismatchError
        ``resume``, and the rows were made with other settings.
    """

    def __init__(
        self,
        path: Path,
        *,
        key: Callable[[Row], Hashable],
        failed: Callable[[Row], bool],
        partial: Callable[[Row], bool] = lambda row: False,
        settings: Row,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.path = path
        self._key, self._failed, self._partial = key, failed, partial
        self._places: dict[Hashable, tuple[int, int]] = {}
        self._before: dict[Hashable, tuple[int, int]] = {}
        self._stale = False
        if resume and overwrite:
            raise UsageError("--resume and --overwrite exclude each other")
        refuse_existing(path, unless=resume or overwrite, resumable=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115 - held
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise OutputError(path, "another run is writing it") from error
        try:
            if resume:
                self._check(settings)
                self._recover()
            else:
                self._file.truncate(0)
            self._settings_path.write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2) + b"\n")
        except OSError as error:
            self._file.close()
            raise OutputError(path, error.strerror or str(error)) from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> RequestLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._stale:
                self._replace(sorted([*self._places.values(), *self._before.values()]))
        finally:
            self._file.close()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows and hand them to the disk: after this a kill does not lose them."""
        try:
            self._file.seek(0, os.SEEK_END)
            for row in rows:
                start = self._file.tell()
                self._file.write(encode_row(row))
                key = self._key(row)
                self._places[key] = (start, self._file.tell())
                self._stale |= self._before.pop(key, None) is not None
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(self.path, error.strerror or str(error)) from error

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, in the order in which they stand in the file."""
        for start, end in sorted(self._places.values()):
            yield decode_object(self._read(start, end))

    def before(self, key: Hashable) -> Row | None:
        """The failed row of which a part succeeded, as an earlier run left it; None if it has a successor."""
        place = self._before.get(key)
        return None if place is None else decode_object(self._read(*place))

    def finish(self, order: Iterable[Hashable]) -> None:
        """Put the rows in that order of their keys. The file is replaced in one step or not at all."""
        there = {**self._before, **self._places}
        places = [there[key] for key in order if key in there]
        if self._stale or places != sorted(places):
            self._replace(places)

    @property
    def _settings_path(self) -> Path:
        return self.path.with_name(self.path.name + SETTINGS_SUFFIX)

    def _check(self, settings: Row) -> None:
        try:
            before = orjson.loads(self._settings_path.read_bytes())
        except (OSError, ValueError):
            if os.fstat(self._file.fileno()).st_size == 0:
                return
            raise ResumeMismatchError(f"{self._settings_path} is missing or torn") from None
        now = orjson.loads(orjson.dumps(settings))
        changed = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
        if changed:
            name = changed[0]
            raise ResumeMismatchError(f"{name} was {before.get(name)!r} and is {now.get(name)!r}")

    def _recover(self) -> None:
        """Keep whole rows that succeeded; the last one of a key counts."""
        self._file.seek(0)
        start = 0
        for line in self._file:
            end = start + len(line)
            # a line without its end was cut by a kill, although what is left may still be JSON
            if line.endswith(b"\n"):
                try:
                    row = decode_object(line)
                    key = self._key(row)
                except (Undecodable, KeyError, TypeError):
                    start = end
                    continue
                if not self._failed(row):
                    self._places[key] = (start, end)
                    self._before.pop(key, None)
                elif key not in self._places and self._partial(row):
                    self._before[key] = (start, end)
            start = end
        places = sorted([*self._places.values(), *self._before.values()])
        if sum(b - a for a, b in places) != start:
            self._replace(places)

    def _read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        return self._file.read(end - start)

    def _replace(self, places: list[tuple[int, int]]) -> None:
        """Write the rows at those places to a new file and put it in the old one's stead."""
        keys = {place: key for key, place in [*self._places.items(), *self._before.items()]}
        target = self.path.with_name(self.path.name + ".sorting")
        moved: dict[Hashable, tuple[int, int]] = {}
        try:
            new = open(target, "w+b")  # noqa: SIM115 - held
            fcntl.flock(new, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for start, end in places:
                at = new.tell()
                new.write(self._read(start, end))
                moved[keys[start, end]] = (at, new.tell())
            new.flush()
            os.fsync(new.fileno())
            os.replace(target, self.path)
        except OSError as error:
            raise OutputError(self.path, error.strerror or str(error)) from error
        self._file.close()
        self._file = new
        self._before = {key: moved[key] for key in self._before if key in moved}
        self._places = {key: place for key, place in moved.items() if key not in self._before}
        self._stale = False
