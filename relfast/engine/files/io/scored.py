"""Reads scored rows back from files, as `Score`s.

Rows may be damaged, or written by another program. A row that cannot be used is neither an error of the
whole file nor left out: it becomes a row without a score, whose ``error``, of type `UNUSABLE`, names its
file, line and reason. So it is counted, and is in no mean.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from relfast_kernels.layouts import PROMPT_DIGITS

from relfast.engine.files.io.sources import Source, lines_of
from relfast.errors import InputError
from relfast.json_text import Undecodable, decode_object, encode_json, shallow
from relfast.records import SCORED, STATUSES, Score
from relfast.stats.samples import group_of, id_text
from relfast.stats.tally import METRICS
from relfast.tasks.base import Metric

UNUSABLE: Final = "UnusableRow"
"""Type of the ``error`` of a row that could not be used."""

MOST: Final = 1e100
"""Largest number in a row that is used: sums of squares of any number of them are finite."""

_NO_ROW: Final = "is no scored row (no status and metrics); score the dump first"
_MOST_BEFORE: Final = 1_000
"""Lines without a usable row at a file's beginning, from which on it is taken for no file of scored rows."""

_PROMPT: Final = re.compile(rf"[0-9a-f]{{{PROMPT_DIGITS}}}")


class _Unusable(Exception):
    """A row cannot be used; the message says why."""


def is_row(row: Mapping[str, Any] | None) -> bool:
    """Whether a decoded line has the form of a scored row."""
    return row is not None and "status" in row and isinstance(row.get("metrics"), (dict, str))


def prompt_in(row: Mapping[str, Any]) -> str | None:
    """The ``prompt`` of a scored row, None if it has none that we could have written."""
    prompt = row.get("prompt")
    return prompt if isinstance(prompt, str) and _PROMPT.fullmatch(prompt) else None


def is_unusable(score: Score) -> bool:
    """Whether a row read by `read_scores` could not be used."""
    return score.error is not None and score.error["type"] == UNUSABLE


@dataclass
class Unusable:
    """The rows that could not be used: how many, and the messages about the first."""

    n: int = 0
    first: list[str] = field(default_factory=list)

    def watch(self, scores: Iterable[Score]) -> Iterator[Score]:
        """Pass rows through unchanged, and count those that cannot be used."""
        for score in scores:
            if score.error is not None and is_unusable(score):
                self.n += 1
                if len(self.first) < 3:
                    self.first.append(score.error["message"])
            yield score

    def notes(self) -> list[str]:
        """A note in a list; empty if all rows could be used."""
        if not self.n:
            return []
        rows = (
            "1 row cannot be used and is in no mean"
            if self.n == 1
            else f"{self.n:,} rows cannot be used and are in no mean"
        )
        return [f"{rows}: {'; '.join(self.first)}{'; …' if self.n > len(self.first) else ''}"]


def read_scores(source: Source) -> Iterator[Score]:
    """The rows of a file, in order; their ``task`` is the group in which a row is counted (`group_of`).

    Raises
    ------
    InputError
        The file cannot be read to its end, or holds lines, but no scored row that could be used.
    """
    seen, is_begun = _Seen(), False
    before: list[Score] = []
    first: tuple[int, str] | None = None
    for number, line in enumerate(lines_of(source), 1):
        if not line.strip():
            continue
        score, why = _read(line, number, source.path, seen)
        if is_begun:
            yield score
        elif why is None:
            is_begun = True
            yield from before
            yield score
        else:
            first = first or (number, why)
            before.append(score)
            if len(before) >= _MOST_BEFORE:
                break
    if not is_begun and first is not None:
        raise InputError(first[1], file=source.path, line=first[0])


def _read(line: bytes, number: int, path: str, seen: _Seen) -> tuple[Score, str | None]:
    """The row on a line, and None; or a row that stands for it, and why it cannot be used."""
    row: dict[str, Any] = {}
    try:
        row = decode_object(line)
        score = _score(row, number)
        seen.add(score, number)
        return score, None
    except (Undecodable, _Unusable) as error:
        return _unused(row, number, f"{path}:{number}", str(error)), str(error)


def _score(row: Mapping[str, Any], number: int) -> Score:
    if not is_row(row):
        raise _Unusable(_NO_ROW)
    status, task, correct = row["status"], row.get("task"), row.get("correct")
    if status not in STATUSES:
        raise _Unusable(f"status is {_shown(status)}, none of {', '.join(STATUSES)}")
    if task is not None and not isinstance(task, str):
        raise _Unusable(f"task is {_shown(task)}, not text")
    index, sample = row.get("index", number - 1), row.get("sample", 0)
    for name, value, bits in (("index", index, 63), ("sample", sample, 32)):
        if not _is_count(value, bits):
            raise _Unusable(f"{name} is {_shown(value)}, no number from 0 on")
    if status not in SCORED:
        for name in ("correct", "reward"):
            if row.get(name) is not None:
                raise _Unusable(f"{name} is {_shown(row[name])} in a row without a score (status {status})")
    elif not isinstance(correct, bool):
        there = f"is {_shown(correct)}, not true or false" if "correct" in row else "is missing"
        raise _Unusable(f"correct {there}, in a row with a score (status {status})")
    reward = row.get("reward")
    if reward is not None and (isinstance(reward, bool) or not _is_number(reward)):
        raise _Unusable(f"reward is {_shown(reward)}, no finite number")
    group = group_of(task)
    metrics = _metrics(row["metrics"], METRICS.get(group, {}))
    error = _error(row.get("error"))
    return Score(
        index, _id(row), group, sample, status, correct, reward, metrics, error, prompt=prompt_in(row)
    )


def _unused(row: Mapping[str, Any], number: int, place: str, why: str) -> Score:
    """The row that stands for one that cannot be used; what of it tells the record is kept."""
    index, sample = row.get("index"), row.get("sample")
    try:
        record_id = _id(row)
    except _Unusable:
        record_id = None
    return Score(
        index if _is_count(index, 63) else number - 1,
        record_id,
        group_of(row.get("task")),
        sample if _is_count(sample, 32) else 0,
        "invalid_record",
        None,
        None,
        {},
        {"type": UNUSABLE, "message": f"{place}: {why}"},
        prompt=prompt_in(row),
    )


def _id(row: Mapping[str, Any]) -> Any:
    value: Any = row.get("id")
    if row.get("id_json") is True:  # tables hold only texts, of which this says if they are JSON
        try:
            value = json.loads(value)
        except (TypeError, ValueError, RecursionError):
            raise _Unusable(f"id is {_shown(value)}, not JSON as id_json says") from None
    return value if type(value) is str or type(value) is int else shallow(value)


def _metrics(value: Any, known: Mapping[str, Metric]) -> dict[str, Any]:
    """The metrics of a row, in which values that no mean could take are null, unless the task knows them."""
    if isinstance(value, str):  # Parquet and CSV hold JSON texts
        try:
            value = decode_object(value.encode("utf-8", "surrogatepass"))
        except Undecodable as error:
            raise _Unusable(f"metrics is text that is {error}") from None
    metrics: dict[str, Any] = value
    for name, item in metrics.items():
        if item is None or type(item) is bool:
            continue
        metric = known.get(name)
        if metric is None:
            if not isinstance(item, str):
                metrics[name] = None if isinstance(item, int) and not _is_number(item) else shallow(item)
        elif metric.kind == "label":
            if not isinstance(item, str):
                raise _Unusable(f"metrics.{name} is {_shown(item)}, not text")
        elif not _is_number(item):
            raise _Unusable(f"metrics.{name} is {_shown(item)}, no finite number")
    return metrics


def _error(value: Any) -> dict[str, str] | None:
    """The ``error`` of a row; a plain text, as other programs write, is its message."""
    if isinstance(value, str):
        try:
            value = decode_object(value.encode("utf-8", "surrogatepass"))  # Parquet and CSV
        except Undecodable:
            return {"type": "Error", "message": value}
    if value is None:
        return None
    if not isinstance(value, dict) or not all(isinstance(value.get(name, ""), str) for name in _ERROR):
        raise _Unusable(f"error is {_shown(value)}, neither null nor an object of type and message")
    return {name: value.get(name, "") for name in _ERROR}


_ERROR: Final = ("type", "message")


class _Seen:
    """The rows of a file so far, to find those that repeat one: its record, line of the dump and sample.

    Takes 16 bytes a row; only for rows out of the dump's order more.
    """

    def __init__(self) -> None:
        self._last = (-1, -1)
        self._keys, self._lines = array("q"), array("Q")
        self._line_of: dict[int, int] | None = None

    def add(self, score: Score, number: int) -> None:
        key = hash((score.index, score.sample, score.task, id_text(score.id), score.prompt))
        place = score.index, score.sample
        if self._line_of is None and place <= self._last:
            self._line_of = dict(zip(self._keys, self._lines, strict=True))
            self._keys, self._lines = array("q"), array("Q")
        if self._line_of is None:
            self._last = place
            self._keys.append(key)
            self._lines.append(number)
        elif (earlier := self._line_of.setdefault(key, number)) != number:
            raise _Unusable(f"repeats line {earlier} (record {score.id!r:.60}, sample {score.sample})")


def _is_count(value: Any, bits: int) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < 1 << bits


def _is_number(value: Any) -> bool:
    # abs() also compares integers that are too large for a float
    return isinstance(value, int | float) and abs(value) <= MOST


def _shown(value: Any) -> str:
    """A value in a message."""
    text = (
        encode_json(value).decode()
        if math.isfinite(value if isinstance(value, float) else 0)
        else repr(value)
    )
    return text if len(text) <= 60 else f"{text[:60]}…"
