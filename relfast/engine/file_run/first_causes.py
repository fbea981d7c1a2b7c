"""Unusable records seen in a run's rows, each cause with the input row where it came first.

Of what can be read only once and was scored by an earlier run, rows are counted and not shown again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final

from relfast.engine.file_run.block_scoring import load, split_lines
from relfast.engine.io.blocks import Block
from relfast.engine.io.sources import Source, iterate_lines
from relfast.engine.job import Job
from relfast.engine.rows import entry_of
from relfast.errors import RelfastError, did_you_mean
from relfast.formats.documents import advice_on_row
from relfast.formats.entry import NO_ASSISTANT
from relfast.formats.failure import NoResponse
from relfast.formats.hints import id_in, place_of
from relfast.json_text import Undecodable, decode_object
from relfast.records import Score
from relfast.stats.unusable import Cause, Unusable
from relfast.tasks import TASKS

_INVALID: Final = b'"invalid_record"'
_FAR: Final = 10_000
"""Gold records whose ids are compared with those of a row."""

_SHOWN_KEYS: Final = 10
_GOLD_IDS: Final = 3
_OF_DOCUMENTS: Final = frozenset({"MissingGold", "MissingField", "InvalidField"})
"""Kinds that a JSON document comes to which stands on one line, and so is taken for a row."""


class FirstCauses:
    """Follows a run: blocks that are read, rows that come back.

    Parameters
    ----------
    sources, job
        Of the run.
    unusable
        What counts the records.
    start
        Index of the first line of the one input, where blocks are not seen as they are read.
    """

    def __init__(
        self, sources: Sequence[Source], job: Job, unusable: Unusable | None = None, start: int = 0
    ) -> None:
        self.unusable = unusable or Unusable()
        self._sources, self._job = sources, job
        self._starts: dict[int, int] = {}
        self._start = start
        self._first: Block | None = None

    def reading(self, todo: Iterator[Block]) -> Iterator[Block]:
        """The same blocks; seen is where sources begin."""
        for block in todo:
            self._first = self._first or block
            self._starts.setdefault(block.source, block.first_index)
            yield block

    def rows(self, rows: bytes, block: Block) -> None:
        """Look at rows of output, some of which are unusable; they are of lines of a block."""
        at = rows.find(_INVALID)
        while at >= 0:
            # to look for them takes a tenth of what it takes to look at each row
            end = rows.find(b"\n", at)
            end = len(rows) if end < 0 else end
            row = decode_object(rows[rows.rfind(b"\n", 0, at) + 1 : end])
            if row["status"] == "invalid_record":
                self._add(row["index"], row["error"], block)
            at = rows.find(_INVALID, end)

    def scores(self, scores: Sequence[Score], block: Block) -> None:
        """The same for rows that an earlier run has written."""
        for score in scores:
            if score.status == "invalid_record":
                self._add(score.index, score.error, block)

    def of_no_text(self) -> str | None:
        """What to say of a run in which nothing could be read of any response: that the first one is no text
        (tasks score that as an answer that is not there), and where the text may be. None if it is text."""
        try:
            assert self._first is not None
            row = _row(self._first, self._first.first_index)
            samples = entry_of(row, self._job).samples()
        except (RelfastError, OSError, Undecodable, LookupError, TypeError, AttributeError):
            return None  # the last three: what a dialect stumbled over, which the row says itself
        said = next((each for each in samples if not isinstance(each, NoResponse)), "")
        if isinstance(said, str):
            return None
        what = "an object" if isinstance(said, Mapping) else f"of type {type(said).__name__}"
        place = None if "response" in self._job.field_map else place_of("response", row)
        advice = "--map response=PATH says where it is" if place is None else f"try --map response={place}"
        return f"nothing was read of any response: the first one is no text but {what}; {advice}"

    def _add(self, index: int, error: Mapping[str, Any] | None, block: Block) -> None:
        line = index - self._starts.get(block.source, self._start)
        many = len(self._sources) > 1
        place = f"{self._sources[block.source].path}:{line + 1}" if many else str(line + 1)
        cause = self.unusable.add(error, place)
        if cause is not None:
            with suppress(RelfastError, OSError, Undecodable, LookupError):
                explain(cause, self._job, partial(_row, block, index))


def _row(block: Block, index: int) -> Mapping[str, Any]:
    if block.path is None and block.data is None:
        raise LookupError("it was read only once, and scored by an earlier run")
    return decode_object(split_lines(load(block))[index - block.first_index])


def explain(cause: Cause, job: Job, read_row: Callable[[], Mapping[str, Any]]) -> None:
    """Add what helps to a new cause; ``read_row`` gives the row where it came first.

    Raises what reading the row, or the gold, raises.
    """
    no_text = cause.message.startswith("response is ") or cause.message == NO_ASSISTANT
    if cause.kind not in _OF_DOCUMENTS and cause.kind != "UnknownTask" and not no_text:
        return
    row = read_row()
    shown = list(row)[:_SHOWN_KEYS] + ["…"] * (len(row) > _SHOWN_KEYS)
    keys = [key if len(key) <= 40 else f"{key[:39]}…" for key in shown]
    if cause.kind == "UnknownTask":
        near = did_you_mean(row.get("task", ""), TASKS).removeprefix("; ")
        cause.advice = ("say", near or f"known tasks: {', '.join(TASKS)}")
    elif cause.kind in _OF_DOCUMENTS and (document := advice_on_row(row)) is not None:
        cause.keys, cause.advice = keys, ("say", document)
    elif cause.kind == "MissingGold":
        _explain_gold(cause, job, row)
    elif cause.kind == "MissingField":
        missing = cause.message.split("'")[1]
        cause.keys = keys
        if missing in job.field_map:
            cause.message = f"field {missing!r} is not at {job.field_map[missing]!r}, as --map has it"
        _suggest(cause, job, row, missing, place_of(missing, row))
        if not cause.advice and missing == "answer" and not job.data:
            cause.advice = ("data",)
    elif no_text:
        cause.keys = keys
        if "response" not in job.field_map:
            _suggest(cause, job, row, "response", place_of("response", row))
    elif "'answer'" in cause.message and not job.data:
        cause.keys, cause.advice = keys, ("data",)


def _suggest(cause: Cause, job: Job, row: Mapping[str, Any], field: str, place: str | None) -> None:
    """Suggest where a field may be; with one that is not the response where that is too, which saves a run,
    unless it is read already: an object under its name holds it, and is none."""
    if place is None:
        return
    cause.advice = ("map", field, place)
    if field in ("id", "answer") and "response" not in job.field_map:
        is_read = any(isinstance(sample, str | NoResponse) for sample in entry_of(row, job).samples())
        response = None if is_read else place_of("response", row)
        cause.advice += ("response", response) if response else ()


def _explain_gold(cause: Cause, job: Job, row: Mapping[str, Any]) -> None:
    """Say where the row has an id that is in gold, or else what ids gold has."""
    ids = [
        str(record.get("id", record.get("instance_id")))
        for path in job.data
        for record in map(decode_object, islice(iterate_lines(path), _FAR))
    ]
    entry = entry_of(row, job)
    if entry.numbered and str(entry.id) in ids:
        cause.advice = ("say", f"that of --data with id {str(entry.id)!r:.60} asks another question")
        return
    _suggest(cause, job, row, "id", None if "id" in job.field_map else id_in(row, frozenset(ids)))
    if not cause.advice:
        cause.advice = ("say", f"--data has {', '.join(f'{each!r:.60}' for each in ids[:_GOLD_IDS])}, …")
