"""A run's rows as columns: what pairing needs of a row is 40 bytes, its texts stay in the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from struct import Struct
from typing import Any, Final
from zlib import crc32

import numpy as np
import orjson
from numpy.typing import NDArray

from relfast.json_text import encode_json
from relfast.records import SCORED, Score
from relfast.stats.samples import group_of, id_text
from relfast.tasks import TASKS

_ROW: Final = Struct("<H8sIdbqIIB")
_FIELDS: Final = [
    ("task", "<u2"),
    ("prompt", "<u8"),
    ("sample", "<u4"),
    ("value", "<f8"),
    ("correct", "i1"),
    ("index", "<i8"),
    ("gold", "<u4"),
    ("shape", "<u4"),
    ("strict", "u1"),
]

UNSCORED: Final = -1
"""``correct`` of a row without a score."""


@dataclass
class Columns:
    """The rows of a run in order.

    Attributes
    ----------
    table
        A row each: number of its ``task`` in `tasks`, hash of its ``prompt``, ``sample``, ``value`` of the
        metric (NaN: none), ``correct`` (or `UNSCORED`), ``index``, hashes of the ``gold`` that ``--details``
        shows and of the record's own numbers (``shape``), 0 where there are none, and whether only ``strict``
        writes a row like this (``strict``).
    tasks
        Names in order of first row.
    metrics
        Metrics with numbers that some row has.
    """

    table: NDArray[Any]
    tasks: list[str] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.table)


def columns_of(scores: Iterable[Score], metric: str) -> Columns:
    """Read rows off; ``metric`` is ``correct``, ``reward`` or a metric's name."""
    packed = bytearray()
    numbers: dict[str, int] = {}
    metrics: set[str] = set()
    readers: list[_Reader] = []
    for score in scores:
        name = group_of(score.task)
        number = numbers.get(name)
        if number is None:
            number = numbers[name] = len(numbers)
            readers.append(_Reader(name, metric))
        packed += readers[number].pack(number, score)
    for reader in readers:
        metrics |= reader.metrics
    return Columns(np.frombuffer(bytes(packed), np.dtype(_FIELDS)), list(numbers), metrics)


class _Reader:
    """Packs the rows of one task."""

    def __init__(self, task: str, metric: str) -> None:
        known = TASKS.get(task)
        described = {} if known is None else known.metric_by_name
        self._metric = metric
        self._undefined = described[metric].undefined if metric in described else None
        self._by = known.breakdown.by if known is not None and known.breakdown is not None else ()
        self._strict = [name for name, item in described.items() if item.strict_only or name == "reason"]
        self.metrics: set[str] = set()

    def pack(self, number: int, score: Score) -> bytes:
        key = b"index " + orjson.dumps(score.index) if score.id is None else id_text(score.id)
        scored = score.status in SCORED and score.correct is not None
        metrics = score.metrics if scored else {}
        return _ROW.pack(
            number,
            blake2b(key, digest_size=8).digest(),
            score.sample,
            self._value(score, metrics) if scored else np.nan,
            int(bool(score.correct)) if scored else UNSCORED,
            score.index,
            crc32(encode_json(metrics["gold"])) or 1 if "gold" in metrics else 0,
            _shape(metrics, self._by),
            any(name in metrics for name in self._strict),
        )

    def _value(self, score: Score, metrics: Mapping[str, Any]) -> float:
        for name, value in metrics.items():
            if name not in self.metrics and isinstance(value, int | float):
                self.metrics.add(name)
        value = (
            score.correct
            if self._metric == "correct"
            else score.reward
            if self._metric == "reward"
            else metrics.get(self._metric)
        )
        if not isinstance(value, int | float) or value == self._undefined:
            return np.nan
        # what is not finite is no number to take a mean of; abs() compares big integers too
        return float(value) if abs(value) < 1e300 else np.nan


def _shape(metrics: Mapping[str, Any], by: Sequence[str]) -> int:
    """A hash of the numbers of a record itself, such as a maze's size; 0 without them."""
    if not by or by[0] not in metrics:
        return 0
    return crc32(encode_json([metrics.get(name) for name in by])) or 1
