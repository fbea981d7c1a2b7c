"""Rows of a block's records from the outcomes that their task's judge gives.

They are put together by columns: the values of all rows go through the JSON writer at once, so they are the
same bytes as the ordinary way writes.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import orjson
from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    NOWHERE,
    RECORD_COLUMNS,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_LINE,
    RECORD_SAMPLE,
)

from relfast.engine.scoring import Scoring
from relfast.json_text import encode_json
from relfast.records import Outcome
from relfast.stats.samples import FURTHER, SAMPLE, TASK_NUMBERS, hash_id, hash_vote
from relfast.stats.task_tally import counted_columns
from relfast.tasks.base import Task
from relfast.tasks.block_rows import Block, OutcomeJudge, Written

UNIT: Final = "tags"

Found = Sequence[Outcome | None]


class OutcomeRows:
    """`relfast.tasks.block_rows.BlockRows` of a judge."""

    def __init__(self, judge: OutcomeJudge, task: Task, scoring: Scoring) -> None:
        self._judge, self._task, self._scoring = judge, task, scoring
        self.make_room, self.gold, self.judge = judge.make_room, judge.gold, judge.judge
        self._hash: Callable[..., int] | None = None

    def certain(self, found: Found) -> list[bool]:
        return [outcome is not None for outcome in found]

    def joined(self, found: Sequence[Found]) -> list[Outcome | None]:
        return list(itertools.chain.from_iterable(found))

    def some(self, found: Found, chosen: Sequence[int]) -> list[Outcome | None]:
        return [found[number] for number in chosen]

    def write(
        self, block: Block, records: Sequence[int], golds: Sequence[int], found: Found, first_index: int
    ) -> Written:
        """The rows of some outcomes."""
        outcomes = [outcome for outcome in found if outcome is not None]
        of_lines, starts, ends, places, samples = (
            [block.columns[record * RECORD_COLUMNS + column] for record in records]
            for column in (RECORD_LINE, RECORD_ID, RECORD_ID_END, RECORD_ID_PLACE, RECORD_SAMPLE)
        )
        indices = [first_index + line for line in of_lines]
        ids = [
            b"null" if place == NOWHERE else bytes(block.view(place)[start:end])
            for place, start, end in zip(places, starts, ends, strict=True)
        ]
        rewards = self._scoring.rewards_of(self._task, outcomes)
        flags = [outcome.found for outcome in outcomes]
        metrics = {name: [outcome.metrics[name] for outcome in outcomes] for name in outcomes[0].metrics}
        details = {name: [outcome.details[name] for outcome in outcomes] for name in outcomes[0].details}
        columns = [
            _texts(["ok" if flag else "no_answer" for flag in flags]),
            _texts([outcome.correct for outcome in outcomes]),
            _texts(rewards),
            *map(_texts, metrics.values()),
            *([encode_json(value) for value in column] for column in details.values()),
        ]
        template = self._template([*metrics, *details])
        beginnings = zip(indices, ids, samples, strict=True)
        rows = [template % (*start, *values) for start, *values in zip(beginnings, *columns, strict=True)]
        task = TASK_NUMBERS[self._task.name]
        kept = [
            SAMPLE.pack(task + (FURTHER if sample else 0), id, hash_vote(outcome.vote), outcome.correct)
            for sample, id, outcome in zip(
                samples, self._hashes(block, records, places, indices), outcomes, strict=True
            )
        ]
        return Written(
            b"".join(rows),
            list(itertools.accumulate(map(len, rows))),
            b"".join(kept),
            counted_columns(self._task.name, flags, rewards, metrics),
        )

    def _template(self, names: Iterable[str]) -> bytes:
        """A row as `relfast.json_text.encode_row` writes it."""
        return (
            b'{"index":%d,"id":%b,"task":'
            + orjson.dumps(self._task.name)
            + b',"sample":%d,"status":%b,"correct":%b,"reward":%b,"metrics":{'
            + b",".join(orjson.dumps(name) + b":%b" for name in names)
            + b'},"error":null}\n'
        )

    def _hashes(
        self, block: Block, records: Sequence[int], places: Sequence[int], indices: Sequence[int]
    ) -> array[int]:
        """The hashes of the ids of some records."""
        if self._hash is None:
            functions = native.load(UNIT)
            assert functions is not None, "without it nobody judges"
            self._hash = functions["hash"]
        chosen, hashes = array("q", records), array("Q", bytes(8 * len(records)))
        self._hash(*block.where, chosen.buffer_info()[0], len(records), hashes.buffer_info()[0])
        for at, place in enumerate(places):
            if place == NOWHERE:
                # each such line is a prompt of its own
                hashes[at] = hash_id(b"%d" % indices[at])
        return hashes


def _texts(values: Sequence[Any]) -> list[bytes]:
    """The JSON of each of some numbers, flags and codes."""
    texts = orjson.dumps(values)[1:-1].split(b",")
    # a label can have a comma
    return texts if len(texts) == len(values) else [orjson.dumps(value) for value in values]
