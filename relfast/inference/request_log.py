"""The log of requested rows: JSONL that grows as completions arrive, survives kills, and ends in input order.

`relfast run` and `relfast realign` use it, as each of their rows costs a request to a server. Rows are
appended in the order in which they arrive; when all are there, `finish` sorts them into the order of the
input. A resumed run keeps the rows that succeeded, drops an incomplete last line, and sends failed requests
again. A row with some of its samples (a failed row, or a line with one sample) stays until the whole row is
written.

``OUT.run.json`` is the header of a run: its settings and statistics of its responses, for reports. The flat
entries are the settings that responses depend on (`relfast.inference.client.Settings.describe`, with ``api``
and ``samples``). The entry `MADE` is counted from the rows of a finished run (`made_of`), so it does not
depend on interruptions.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Final

import orjson

from relfast import __version__
from relfast.errors import UsageError
from relfast.inference.requests import Request
from relfast.json_text import Undecodable, decode_object, encode_row
from relfast.support.outputs import (
    GrowingFile,
    check_modes,
    check_settings,
    is_stream,
    refuse_existing,
    write_json,
    writing,
)

Row = dict[str, Any]
_Span = tuple[int, int]

SETTINGS_SUFFIX: Final = ".run.json"
"""Suffix of the file beside the rows with their settings, which must be equal in a resumed run."""


MADE: Final = "made"
"""Entry of this file with statistics of the finished run; a resumed run may have others."""

SECONDS_BETWEEN_SYNCS: Final = 1.0
"""Longest time between two fsyncs. Written rows survive the end of the process at once (the operating system
has them), a power cut after this time."""


MOST_CAUSES: Final = 12
"""Most causes of failures that are shown."""

SAME: Final = 100
"""Characters of two messages that must be equal, but for `NUMBER`s, if they are one cause."""

NUMBER: Final = re.compile(r"\w*\d\w*|\{.*")
"""Parts of a message that may differ: words with a digit in them, such as counts and ids, and quoted JSON."""


@dataclass
class RequestCounts:
    """The progress of a run: rows in all, rows of earlier runs (``before``), rows of this run (``done``),
    and those of them that failed.

    ``prompt_tokens`` and ``completion_tokens`` are sums over this run as the server reports them, ``retries``
    counts attempts after the first of each request, ``cut_off`` responses that ran out of tokens, ``causes``
    failed requests by kind.
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

    @property
    def useless(self) -> bool:
        """Whether no row of the whole run, those of earlier runs included, has a response."""
        return 0 < self.failed == self.total

    def add_cause(self, error: Mapping[str, str]) -> None:
        """Count the error of a failed request; one kind are those whose messages differ in numbers only."""
        message = re.sub(r" \(\d+ attempts?\)$", "", error["message"])
        kind = f"{error['type']}: {re.sub(NUMBER, '#', message)[:SAME]}"
        self.causes[kind] += 1
        self._shown.setdefault(kind, f"{message} ({error['type']})")

    def causes_shown(self) -> list[str]:
        """The most frequent causes, each with its count and the first message of its kind."""
        most = self.causes.most_common(MOST_CAUSES)
        shown = [f"{n:,} × {self._shown[kind]}" for kind, n in most]
        others = self.causes.total() - sum(n for _, n in most)
        return shown + ([f"{others:,} × other causes"] if others else [])


class RequestLog:
    """The rows of a run in their file. A context manager that holds the file's lock.

    Parameters
    ----------
    path
        The file.
    key
        Function that returns a row's key; `finish` sorts by keys.
    failed
        Function that says whether a resumed run has to request a row again.
    partial
        Function that says whether a failed row has samples that need no new request: see `before`.
    piece
        Function that says whether a line is a piece of a row: one of several samples.
    settings
        JSON values that must be equal (except `MADE`) for a run to continue another one.
    resume, overwrite
        What to do with a file that exists; with neither, it is an error.

    Raises
    ------
    OutputExistsError
        The file exists.
    OutputError
        The file cannot be written, or another run has its lock.
    ResumeMismatchError
        ``resume`` is set, and the rows were made with other settings.
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
        self._places: dict[Hashable, _Span] = {}
        self._before: dict[Hashable, list[_Span]] = {}
        self._stale = False
        self._held: list[Row] = []
        self._synced = time.monotonic()
        check_modes(resume, overwrite)
        if is_stream(str(path)):
            raise UsageError(
                f"{path} is no file; responses need one, which is sorted at the end and can be resumed"
            )
        refuse_existing(path, unless=resume or overwrite, resumable=True)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._file = GrowingFile(str(path))
        try:
            self._is_begun = resume or not self._file.length
            if resume:
                self._check(settings)
                self._recover()
            if self._is_begun:
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
            if self._file.is_new and exception[0] is not None and not self._file.length:
                self._file.withdraw()
                self._settings_path.unlink(missing_ok=True)
        finally:
            self._file.close()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def append(self, rows: Iterable[Row]) -> None:
        """Append rows. They survive the end of this process at once, a power cut a second later.

        The rows of an output that is started over stay until there is a response: failed requests, which a
        resumed run sends again, wait for it in memory."""
        if not self._is_begun:
            self._held += rows
            if any(self._piece(row) or not self._failed(row) or self._partial(row) for row in self._held):
                self._begin()
            return
        for row in rows:
            start = self._file.size
            self._file.append(encode_row(row))
            self._note(row, (start, self._file.size))
        now = time.monotonic()
        if now - self._synced > SECONDS_BETWEEN_SYNCS:
            with writing(self.path):
                self._file.sync()
            self._synced = now

    def _note(self, row: Row, place: _Span) -> None:
        """Note where a row of this run stands."""
        key = self._key(row)
        if self._piece(row):
            self._before.setdefault(key, []).append(place)
            return
        self._places[key] = place
        self._stale |= self._before.pop(key, None) is not None

    def _begin(self) -> None:
        """Put a file with the rows that wait in place of the old one. Settings come after it: where a kill
        comes between, they do not fit the rows, and the next run says so."""
        lines = [encode_row(row) for row in self._held]
        self._file.begin(lines)
        for row, line, end in zip(self._held, lines, accumulate(map(len, lines)), strict=True):
            self._note(row, (end - len(line), end))
        self._held, self._is_begun = [], True
        self._write_settings()

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, in the order in which they stand in the file."""
        for start, end in sorted(self._places.values()):
            yield decode_object(self._file.read(start, end))

    def before(self, key: Hashable) -> list[Row]:
        """What an earlier run has of an unfinished row: the failed row, some of whose samples succeeded, and
        pieces. Empty if the whole row has been written."""
        return [decode_object(self._file.read(*place)) for place in self._before.get(key, ())]

    def finish(self, order: Iterable[Hashable], made: Row | None = None) -> None:
        """Sort the rows by ``order``, a list of keys. The file is replaced atomically.

        ``made`` becomes the entry `MADE` of the settings' file.
        """
        if not self._is_begun:
            self._begin()
        there = {**{key: places[0] for key, places in self._before.items()}, **self._places}
        places = [there[key] for key in order if key in there]
        if self._stale or places != sorted(places) or self._before:
            self._replace(places)
        else:
            with writing(self.path):
                self._file.sync()
        if made is not None:
            self._settings = {**self._settings, MADE: made}
            self._write_settings()

    def _write_settings(self) -> None:
        write_json(self._settings_path, self._settings)

    def _all_places(self) -> list[_Span]:
        return sorted([*self._places.values(), *chain.from_iterable(self._before.values())])

    @property
    def _settings_path(self) -> Path:
        return self.path.with_name(self.path.name + SETTINGS_SUFFIX)

    def _check(self, settings: Row) -> None:
        before = None
        with suppress(OSError, Undecodable):
            before = decode_object(self._settings_path.read_bytes())
            before.pop(MADE, None)
        if before is not None or self._file.length:
            check_settings(before, settings, self._settings_path, self.path, repr)

    def _recover(self) -> None:
        """Read the rows of an earlier run: keep those that succeeded (of several with one key the last),
        and what is usable of the others."""
        start = 0
        for line in self._file.lines():
            end = start + len(line)
            # a line without a line feed was cut off by a kill, even if what is left is valid JSON
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
        self._file.size = start
        if sum(b - a for a, b in places) != start:
            self._replace(places)

    def _replace(self, places: list[_Span]) -> None:
        """Write the rows at these places to a new file, and replace the old file by it."""
        ends = accumulate(end - start for start, end in places)
        moved = {(a, b): (end - (b - a), end) for (a, b), end in zip(places, ends, strict=True)}
        self._file.begin(self._file.read(*place) for place in places)
        self._places = {key: moved[place] for key, place in self._places.items() if place in moved}
        kept = {key: [moved[place] for place in old if place in moved] for key, old in self._before.items()}
        self._before = {key: new_places for key, new_places in kept.items() if new_places}
        self._stale = False


_SCORED: Final = ".scored.jsonl"


def made_of(
    rows: Iterable[Mapping[str, Any]], requests: Sequence[Request], generation: str
) -> dict[str, Any]:
    """The entry `MADE` of a header: relfast's version, the prompt of each task, and counts over the rows of
    ``requests``. ``generation`` is the name of the rows' field with the details of the request."""
    records = failed = 0
    errors, reasons, tokens = Counter[str](), Counter[str](), Counter[str]()
    models: set[str] = set()
    indices = {request.index for request in requests}
    for row in rows:
        about = row[generation]
        if about["index"] not in indices:
            continue
        records += 1
        failed += row["error"] is not None
        errors.update(error["type"] for error in _listed(row["error"]))
        models.update(_listed(about.get("server_model")))
        reasons.update(_listed(about.get("finish_reason")))
        for usage in _listed(about.get("usage")):
            tokens.update(usage)
    prompts: dict[str, str] = {}
    for request in requests:
        if request.wording is not None:
            prompts.setdefault(request.task or "(unknown)", request.wording)
    return {
        "relfast": __version__,
        "prompts": prompts,
        "records": records,
        "failed": failed,
        "errors": dict(sorted(errors.items())),
        "server_models": sorted(models),
        "finish_reasons": dict(sorted(reasons.items())),
        "tokens": dict(sorted(tokens.items())),
    }


def _listed(value: Any) -> list[Any]:
    """The values of a row's samples that are not None; ``value`` is one for all samples, or a list."""
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None]


def headers_of(path: str | Path) -> list[str]:
    """Where the header beside responses (``OUT``) or their scored rows (``OUT.scored.jsonl``) may be."""
    names = (str(path), str(path).removesuffix(_SCORED), str(path).replace(_SCORED, ".jsonl"))
    return [name + SETTINGS_SUFFIX for name in dict.fromkeys(names)]


def read_header(path: str | Path) -> dict[str, Any] | None:
    """The first header of `headers_of`; None without one."""
    for name in headers_of(path):
        try:
            header = orjson.loads(Path(name).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(header, dict):
            return header
    return None


def header_line(header: Mapping[str, Any]) -> str:
    """The settings of a run in one line, to be shown beside its scores."""
    made = header.get(MADE) or {}
    parts = [f"model {header.get('model')}"]
    others = [name for name in made.get("server_models", ()) if name != header.get("model")]
    if others:
        parts.append(f"served as {', '.join(others)}")
    prompts = dict.fromkeys(made.get("prompts", {}).values())
    if prompts:
        parts.append(f"prompt {', '.join(prompts)}")
    parts += [
        f"{name.replace('_', '-')} {header[name]}"
        for name in ("temperature", "max_tokens", "samples", "seed")
        if header.get(name) is not None
    ]
    parts += [
        f"{name.replace('_', '-')} given" for name in ("system", "stop", "extra_body") if header.get(name)
    ]
    return " | ".join(parts)
