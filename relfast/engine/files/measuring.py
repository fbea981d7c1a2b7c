"""``--lengths``: reads a dump a second time for what scored rows do not contain: lengths of responses,
tokens, and why responses ended.

It is separate from scoring, since most runs do not need it and output rows have no fields for it. The numbers
do not depend on resumes or the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from relfast.engine.columns.blocks import Block
from relfast.engine.columns.scoring import Scoring
from relfast.engine.files.block_scoring import load, split_lines
from relfast.engine.files.io.filters import Filters
from relfast.engine.files.io.reader import blocks, first_lines, read_gold
from relfast.engine.files.io.sources import Source
from relfast.engine.job import Job
from relfast.errors import Damaged, UsageError
from relfast.formats.facts import facts_of
from relfast.json_text import Undecodable, decode_object
from relfast.records import Record
from relfast.stats.lengths import Lengths
from relfast.tasks import EXACT_FIELDS


def check_readable(sources: Sequence[Source]) -> None:
    """Raise `UsageError` if a source cannot be read a second time."""
    for source in sources:
        if not source.regular:
            raise UsageError(f"{source.path} cannot be read twice, which --lengths does: name a file")


def measure(
    sources: Sequence[Source],
    job: Job,
    *,
    filters: Filters,
    limit: int | None = None,
    keep: Callable[[Block], bool] | None = None,
) -> dict[str, Lengths]:
    """Task → lengths of a run's responses; ``limit`` and ``keep`` as in `relfast.engine.files.run.run`.

    Responses without a text in the dump are not counted. Raises what reading raises.
    """
    scoring = Scoring(job, read_gold(job.data, job.max_line_bytes))
    found: dict[str, Lengths] = {}
    todo = blocks(sources, job.max_line_bytes, filters)
    for block in todo if limit is None else first_lines(todo, limit):
        if block.faults or (keep is not None and not keep(block)):
            continue
        with suppress(Damaged):  # the rows of the block say so
            lines = split_lines(load(block))[: block.n_lines]
            for index, line in enumerate(lines, block.first_index):
                try:
                    row = decode_object(line, EXACT_FIELDS)
                except Undecodable:
                    continue
                entries = scoring.records_of_row(row, index, block.filter)
                for entry in entries:
                    if isinstance(entry, Record):
                        facts = facts_of(row, entry.response, entry.sample, len(entries))
                        found.setdefault(entry.task, Lengths()).add(facts)
    return found
