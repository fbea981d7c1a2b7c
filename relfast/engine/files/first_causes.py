"""Collects why records of a run are unusable (``invalid_record``), and explains each cause by the input row
in which it came first: which keys the row has, which option may help.

Rows of an input that can be read only once, if an earlier run scored them, are counted without explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final

from relfast_kernels.layouts import SHORTEST_QUESTION

from relfast.engine.columns.blocks import Block
from relfast.engine.columns.rows import entry_of
from relfast.engine.files.block_scoring import load, split_lines
from relfast.engine.files.io.sources import iterate_lines
from relfast.engine.job import Job
from relfast.errors import RelfastError, did_you_mean
from relfast.formats import read_row
from relfast.formats.documents import advice_on_row
from relfast.formats.failure import NO_ASSISTANT, NoResponse
from relfast.formats.hints import Hint, hint_of, id_in
from relfast.formats.paths import MISSING, follow
from relfast.json_text import Undecodable, decode_object
from relfast.records import Score
from relfast.stats.unusable import Cause, Unusable
from relfast.tasks import TASKS

_INVALID: Final = b'"invalid_record"'
_FAR: Final = 10_000
"""Number of gold records whose ids are compared with those of a row."""

_SHOWN_KEYS: Final = 10
_GOLD_IDS: Final = 3
_OF_DOCUMENTS: Final = frozenset({"MissingGold", "MissingField", "InvalidField"})
"""Error types that result if a whole JSON document stands on one line, and so is read as one row."""


class FirstCauses:
    """Watches the blocks that a run reads and the rows that it writes, and collects causes in ``unusable``.

    Parameters
    ----------
    job
        The run's settings.
    place
        Function from a source and an index of the run to where that line is, for messages.
    unusable
        The counter of the records; None: a new one.
    """

    def __init__(self, job: Job, place: Callable[[int, int], str], unusable: Unusable | None = None) -> None:
        self.unusable = unusable or Unusable()
        self._job, self._place = job, place

    def rows(self, rows: bytes, block: Block) -> None:
        """Collect the causes in output rows of a block, some of which are ``invalid_record``."""
        at = rows.find(_INVALID)
        while at >= 0:
            # a search for the status takes a tenth of the time of decoding each row
            end = rows.find(b"\n", at)
            end = len(rows) if end < 0 else end
            row = decode_object(rows[rows.rfind(b"\n", 0, at) + 1 : end])
            if row["status"] == "invalid_record":
                self._add(row["index"], row["error"], block)
            at = rows.find(_INVALID, end)

    def scores(self, scores: Sequence[Score], block: Block) -> None:
        """Collect the causes in rows of a block that an earlier, now resumed run has written."""
        for score in scores:
            if score.status == "invalid_record":
                self._add(score.index, score.error, block)

    def _add(self, index: int, error: Mapping[str, Any] | None, block: Block) -> None:
        cause = self.unusable.add(error, self._place(block.source, index))
        if cause is not None:
            with suppress(RelfastError, OSError, Undecodable, LookupError):
                explain(cause, self._job, partial(_rows, block, index))


_TRIED: Final = 20
"""Rows on which a suggestion is tried before it is made."""


def _rows(block: Block, index: int) -> Sequence[Mapping[str, Any]]:
    """The row with this index, and further ones of its block."""
    if block.path is None and block.data is None:
        raise LookupError("it was read only once, and scored by an earlier run")
    lines = split_lines(load(block))[index - block.first_index :]
    rows = [decode_object(lines[0])]
    for line in islice(filter(bytes.strip, lines[1:]), _TRIED - 1):
        with suppress(Undecodable):
            rows.append(decode_object(line))
    return rows


def explain(cause: Cause, job: Job, read_rows: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
    """Add keys and advice to a new cause; ``read_rows`` returns the input row in which it came first, and
    some after it, on which advice is tried.

    Raises what reading the rows, or the gold, raises.
    """
    no_text = cause.message.startswith("response is ") or cause.message == NO_ASSISTANT.message
    if cause.kind not in _OF_DOCUMENTS and cause.kind != "UnknownTask" and not no_text:
        return
    rows = read_rows()
    row = rows[0]
    shown = list(row)[:_SHOWN_KEYS] + ["…"] * (len(row) > _SHOWN_KEYS)
    keys = [key if len(key) <= 40 else f"{key[:39]}…" for key in shown]
    if cause.kind == "UnknownTask":
        near = did_you_mean(row.get("task", ""), TASKS).removeprefix("; ")
        cause.advice = ("say", near or f"known tasks: {', '.join(TASKS)}")
    elif cause.kind in _OF_DOCUMENTS and (document := advice_on_row(row)) is not None:
        cause.keys, cause.advice = keys, ("say", document)
    elif cause.kind == "MissingGold":
        _explain_gold(cause, job, rows)
    elif cause.kind == "MissingField":
        missing = cause.message.split("'")[1]
        cause.keys = keys
        if missing in job.field_map:
            cause.message = f"field {missing!r} is not at {job.field_map[missing]!r}, as --map has it"
        _suggest(cause, job, rows, missing, hint_of(missing, rows))
        if not cause.advice and missing == "answer" and not job.data:
            cause.advice = ("data",)
        if not cause.advice and missing == "response" and "response" not in job.field_map:
            entry = entry_of(row, job)
            if entry.answer not in (MISSING, None) and isinstance(entry.question, str):
                cause.advice = ("say", _RECORDS)
    elif no_text:
        cause.keys = keys
        if "response" not in job.field_map:
            _suggest(cause, job, rows, "response", hint_of("response", rows))
    elif "'answer'" in cause.message and not job.data:
        cause.keys, cause.advice = keys, ("data",)


_RECORDS: Final = "these are records without responses: ask with `relfast run`, or name the responses' file"


def _suggest(
    cause: Cause, job: Job, rows: Sequence[Mapping[str, Any]], field: str, hint: Hint | None
) -> None:
    """Advise ``--map FIELD=PATH``. For ``id``, ``answer`` and ``question`` also advise where the response may
    be, which saves the user one more failed run, unless the response is read correctly already."""
    if hint is None:
        return
    cause.advice, cause.tried = ("map", field, hint.path), (hint.n, hint.n_tried)
    if field in ("id", "answer", "question") and "response" not in job.field_map:
        is_read = any(isinstance(sample, str | NoResponse) for sample in entry_of(rows[0], job).samples())
        response = None if is_read else hint_of("response", rows)
        cause.advice += ("response", response.path) if response else ()


def _explain_gold(cause: Cause, job: Job, rows: Sequence[Mapping[str, Any]]) -> None:
    """Advise where in the rows an id of ``--data`` may be, or the question of one of its records, or else
    show some ids of ``--data``."""
    lines = (
        line
        for path in job.data
        for line in islice(filter(bytes.strip, iterate_lines(path, job.max_line_bytes)), _FAR)
    )
    golds = [read_row(decode_object(line), "auto") for line in lines]
    ids = [str(gold.id) for gold in golds]
    entry = entry_of(rows[0], job)
    if entry.numbered and str(entry.id) in ids:
        cause.advice = ("say", f"that of --data with id {str(entry.id)!r:.60} asks another question")
        return
    _suggest(cause, job, rows, "id", None if "id" in job.field_map else id_in(rows, frozenset(ids)))
    hint = None if "question" in job.field_map else hint_of("question", rows)
    asked = follow(rows[0], hint.path) if hint is not None else None
    if not cause.advice and isinstance(asked, str) and any(_asks(asked, gold.question) for gold in golds):
        _suggest(cause, job, rows, "question", hint)
    if not cause.advice:
        cause.advice = ("say", f"--data has {', '.join(f'{each!r:.60}' for each in ids[:_GOLD_IDS])}, …")


def _asks(prompt: str, question: object) -> bool:
    """Whether a prompt contains the question of a gold record."""
    return isinstance(question, str) and len(question) >= SHORTEST_QUESTION and question.strip() in prompt
