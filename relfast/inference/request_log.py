"""The log of requested rows: JSONL that grows as completions come in, survives kills, ends up in input order.

Used where each row costs a request to a server: `relfast run` and `relfast realign`. Rows are appended in the
order in which they come; when all are there, `finish` puts them in the order of the input. A resumed run
keeps the rows that succeeded, drops a torn last line, and asks again for those that failed. A row that came
in part (a failed one, or a line with one of its samples) stays until its successor is written.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.errors import OutputError, ResumeMismatchError, UsageError
from relfast.json_text import Undecodable, decode_object, encode_indented, encode_row
from relfast.outputs import refuse_existing, writing

Row = dict[str, Any]
_Place = tuple[int, int]

SETTINGS_SUFFIX: Final = ".run.json"
"""Beside the rows: what they were made with, so that a resumed run mixes nothing."""


MADE: Final = "made"
"""The entry of the settings that says what came of them: it may differ in a run that goes on."""

SECONDS_BETWEEN_SYNCS: Final = 1.0
"""Rows are with the kernel at once, which outlives us, and on the disk after so long at most."""


@dataclass
class RequestCounts:
    """How far a run is: rows in all, had before it, made by it, and those of them that failed.

    ``prompt_tokens`` and ``completion_tokens`` are those of this run, as far as the server says;
    ``retries`` its requests beside the first one of each, ``cut_off`` responses that ran out of tokens,
    ``causes`` its requests that failed, by kind.
    """

    total: int
    before: int
    done: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retries: int = 0
    cut_off: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    _shown: dict[str, str] = field(default_factory=dict)

    def add_cause(self, error: Mapping[str, str]) -> None:
        """Count why a request failed. Messages that begin alike are of one kind: the rest may be a number."""
        message = re.sub(r" \(\d+ attempts?\)$", "", error["message"])
        beginning = re.match(r"Error code: \d+|[^:]*", message)
        kind = f"{error['type']}: {beginning[0] if beginning else ''}"
        self.causes[kind] += 1
        self._shown.setdefault(kind, f"{message} ({error['type']})")

    def causes_shown(self) -> list[str]:
        """The most frequent causes, each with its count and the first message of its kind."""
        most = self.causes.most_common(5)
        shown = [f"{n:,} × {self._shown[kind]}" for kind, n in most]
        others = self.causes.total() - sum(n for _, n in most)
        return shown + ([f"{others:,} × other causes"] if others else [])


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
    piece
        Whether a row is a piece of one: what was asked for with one of several requests.
    settings
        What must be equal for a run to continue another one, but for `MADE`; JSON-able.
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
        piece: Callable[[Row], bool] = lambda row: False,
        settings: Row,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.path = path
        self._key, self._failed, self._partial, self._piece = key, failed, partial, piece
        self._settings = settings
        self._places: dict[Hashable, _Place] = {}
        self._before: dict[Hashable, list[_Place]] = {}
        self._stale = False
        self._synced = time.monotonic()
        if resume and overwrite:
            raise UsageError("--resume and --overwrite exclude each other")
        refuse_existing(path, unless=resume or overwrite, resumable=True)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115 - held
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise OutputError(path, "another run is writing it") from error
        try:
            with writing(path):
                if resume:
                    self._check(settings)
                    self._recover()
                else:
                    self._file.truncate(0)
                self._write_settings()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> RequestLog:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if self._stale:
                self._replace(self._all_places())
        finally:
            self._file.close()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows: from now on the end of our process does not lose them, a second later no power cut."""
        with writing(self.path):
            self._file.seek(0, os.SEEK_END)
            for row in rows:
                start = self._file.tell()
                self._file.write(encode_row(row))
                key = self._key(row)
                place = (start, self._file.tell())
                if self._piece(row):
                    self._before.setdefault(key, []).append(place)
                    continue
                self._places[key] = place
                self._stale |= self._before.pop(key, None) is not None
            self._file.flush()
            now = time.monotonic()
            if now - self._synced > SECONDS_BETWEEN_SYNCS:
                os.fsync(self._file.fileno())
                self._synced = now

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, in the order in which they stand in the file."""
        for start, end in sorted(self._places.values()):
            yield decode_object(self._read(start, end))

    def before(self, key: Hashable) -> list[Row]:
        """What came of a row before: the failed row of which a part succeeded, as an earlier run left it, and
        pieces. Empty if it has a successor."""
        return [decode_object(self._read(*place)) for place in self._before.get(key, ())]

    def finish(self, order: Iterable[Hashable], made: Row | None = None) -> None:
        """Put the rows in that order of their keys. The file is replaced in one step or not at all.

        ``made`` becomes the `MADE` of the settings.
        """
        there = {**{key: places[0] for key, places in self._before.items()}, **self._places}
        places = [there[key] for key in order if key in there]
        with writing(self.path):
            if self._stale or places != sorted(places) or self._before:
                self._replace(places)
            else:
                os.fsync(self._file.fileno())
            if made is not None:
                self._settings = {**self._settings, MADE: made}
                self._write_settings()

    def _write_settings(self) -> None:
        """In one step: a torn file would keep its run from being resumed."""
        new = self._settings_path.with_name(self._settings_path.name + ".new")
        new.write_bytes(encode_indented(self._settings) + b"\n")
        os.replace(new, self._settings_path)

    def _all_places(self) -> list[_Place]:
        return sorted([*self._places.values(), *chain.from_iterable(self._before.values())])

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
        before.pop(MADE, None)
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
                if self._piece(row):
                    if key not in self._places:
                        self._before.setdefault(key, []).append((start, end))
                elif not self._failed(row):
                    self._places[key] = (start, end)
                    self._before.pop(key, None)
                elif key not in self._places and self._partial(row):
                    self._before[key] = [(start, end)]
            start = end
        places = self._all_places()
        if sum(b - a for a, b in places) != start:
            self._replace(places)

    def _read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        return self._file.read(end - start)

    def _replace(self, places: list[_Place]) -> None:
        """Write the rows at those places to a new file and put it in the old one's stead."""
        target = self.path.with_name(self.path.name + ".sorting")
        moved: dict[_Place, _Place] = {}
        with writing(self.path):
            new = open(target, "w+b")  # noqa: SIM115 - held
            fcntl.flock(new, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for place in places:
                at = new.tell()
                new.write(self._read(*place))
                moved[place] = (at, new.tell())
            new.flush()
            os.fsync(new.fileno())
            os.replace(target, self.path)
        self._file.close()
        self._file = new
        self._places = {key: moved[place] for key, place in self._places.items() if place in moved}
        kept = {key: [moved[place] for place in old if place in moved] for key, old in self._before.items()}
        self._before = {key: new_places for key, new_places in kept.items() if new_places}
        self._stale = False
