"""Input rows to records: dialect, field map, join with gold, samples, task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from relfast_kernels.layouts import ALL_IDS_REPEAT, PROMPT_ID

from relfast.engine.columns.gold_records import GoldRecords, asks_another, hashable, is_counter
from relfast.engine.job import Job
from relfast.formats import Entry, read_row
from relfast.formats.entry import no_text
from relfast.formats.failure import CUT_OFF, NoResponse
from relfast.formats.paths import MISSING, follow
from relfast.formats.reading import prompt_id
from relfast.json_text import decode_text, encode_json, shallow
from relfast.records import Record, Score, unscored
from relfast.stats.samples import digest_of
from relfast.tasks import TASKS, find_task, infer_task

_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


_FIELDS: Final = ("id", "task", "question", "answer", "response")
"""Fields for which ``--map`` sets the entry's attribute; values of other fields are put into the row."""


def entry_of(row: Mapping[str, Any], job: Job) -> Entry:
    """The entry of an input row. A field that ``--map`` names is read from there, others by the dialect."""
    if not job.field_map:
        return read_row(row, job.dialect)
    values = {field: follow(row, path) for field, path in job.field_map.items()}
    further = {field: value for field, value in values.items() if field not in _FIELDS}
    row = {key: value for key, value in {**row, **further}.items() if value is not MISSING}
    entry = read_row(row, job.dialect, mapped=values.keys())
    if entry.row is row:
        mapped = {**row, **values}
        entry.row = {key: value for key, value in mapped.items() if value is not MISSING}
    for field in _FIELDS:
        if field in values:
            setattr(entry, field, values[field])
    return entry


def records_of(
    entry: Entry, index: int, job: Job, gold: GoldRecords, chosen: str | None = None
) -> Iterator[Record | Score]:
    """The records of one input row, one for each sample. An unusable row or sample gives an unscored `Score`.

    ``chosen`` is the filter of lm-evaluation-harness that is scored; rows of other filters give nothing.
    """
    # a tool's own number may be the id of another record; any other id comes before the question
    may_ask = job.data and entry.answer in (MISSING, None) and isinstance(entry.question, str)
    if may_ask and (entry.numbered or not hashable(entry.id) or _known(gold, entry.id) is None):
        asked_id = gold.id_asking(entry.question)
        entry.id = entry.id if asked_id is MISSING else asked_id
    shown_id = None if entry.id is MISSING else shallow(entry.id)
    if entry.filter is not None and entry.filter != chosen:
        if chosen is None:
            yield unscored(index, shown_id, None, 0, "invalid_record", "UnknownFilter", _UNCHOSEN)
        return
    problem = _complete(entry, job, gold)
    samples = entry.samples()
    task = find_task(entry.task)
    shown_task = task.name if task is not None else entry.task if isinstance(entry.task, str) else None
    if problem is not None and not (samples and all(map(_has_failed, samples))):
        yield unscored(index, shown_id, shown_task, 0, "invalid_record", *problem)
        return
    question = None if entry.question is MISSING else entry.question
    prompt = _prompt_of(entry, shown_id, job) if job.repeats and problem is None else None
    # an unknown task is only there with samples that all failed; their rows show what the input says
    name = cast(str, shown_task)
    for sample, response in enumerate(samples):
        cut_off = response is CUT_OFF
        text = "" if cut_off else response
        record = Record(index, shown_id, name, entry.answer, text, question, sample, entry.row)
        record.prompt, record.cut_off = prompt, cut_off
        if type(text) is str:
            yield record
            continue
        if not isinstance(response, NoResponse):
            kind, message = no_text(response)
            response = NoResponse(kind, f"{message}; --map response=PATH says where the text is")
        yield record.unscored("invalid_record", *response)


def _has_failed(sample: Any) -> bool:
    return isinstance(sample, NoResponse) and sample is not CUT_OFF


def _prompt_of(entry: Entry, record_id: Any, job: Job) -> str | None:
    """What a row says about its prompt besides its id (`Score.prompt`); None if the id tells it.

    Without an id, rows with equal question and gold are one prompt. Numbers that a tool gave, and ids of
    several files, may repeat: rows are one prompt if also their questions, or without these their golds, are
    equal. The id of a gold record of ``--data`` tells its prompt. The text kernel does the same.
    """
    question = entry.question if isinstance(entry.question, str) else ""
    if record_id is None:
        return prompt_id(question, entry.answer).removeprefix(PROMPT_ID) if question else None
    counted = entry.numbered and is_counter(record_id)
    if entry.joined or not (counted or job.repeats == ALL_IDS_REPEAT):
        return None
    return digest_of(question.encode("utf-8", "surrogatepass") or encode_json(entry.answer))


_UNCHOSEN: Final = "the input begins with rows that name no filter: --filter NAME says which one is scored"


def _complete(entry: Entry, job: Job, gold: GoldRecords) -> tuple[str, str] | None:
    """Fill in missing fields from gold and the job. Returns the type and message of an error, or None."""
    if job.data:
        known = _known(gold, entry.id) if hashable(entry.id) else None
        if known is not None and entry.numbered and asks_another(entry, known):
            known = None
        entry.joined = known is not None
        if isinstance(entry.answer, str):
            # a text that is no JSON object is not gold: some tools store the extracted answer here
            decoded = decode_text(entry.answer)
            entry.answer = decoded if isinstance(decoded, Mapping) else MISSING
        if known is not None:
            for field in ("task", "question", "answer"):
                if getattr(entry, field) in (MISSING, None):
                    setattr(entry, field, getattr(known, field))
        elif entry.answer in (MISSING, None):
            return "MissingGold", _no_gold(entry)
    if (problem := complete_gold(entry, job)) is not None:
        return problem
    if entry.response is MISSING:
        return "MissingField", "field 'response' is missing; --map response=PATH says where it is"
    if isinstance(entry.response, list) and not entry.response:
        return "InvalidField", "field 'response' is an empty list"
    return None


def complete_gold(entry: Entry, job: Job) -> tuple[str, str] | None:
    """Decode an entry's answer and find its task. Returns the type and message of an error, or None."""
    if isinstance(entry.answer, str):
        entry.answer = decode_text(entry.answer)
    if entry.answer is MISSING or entry.answer is None:
        return "MissingField", "field 'answer' (the gold) is missing; --data FILE joins gold records on id"
    if not isinstance(entry.answer, Mapping):
        return "InvalidField", f"field 'answer' must be an object, got {type(entry.answer).__name__}"
    if entry.task is MISSING or entry.task is None:
        inferred = find_task(job.task) if job.task else infer_task(entry.answer)
        if inferred is None:
            return "MissingField", "field 'task' is missing and cannot be inferred from the answer's keys"
        entry.task = inferred.name
    elif find_task(entry.task) is None:
        if job.task is None:
            known_names = ", ".join(TASKS)
            return "UnknownTask", f"field 'task' is {entry.task!r:.60}; known tasks: {known_names}"
        entry.task = job.task
    return None


def _no_gold(entry: Entry) -> str:
    has_id = entry.id is not MISSING and entry.id is not None
    if isinstance(entry.question, str):
        named = f", and none with id {entry.id!r:.80}" if has_id else ""
        return f"no gold record in --data asks this row's question{named}"
    if has_id:
        return f"no gold record with id {entry.id!r:.80} in --data"
    return (
        "field 'id' is missing, by which --data finds its gold record; --map id=PATH says where it is, or"
        " question=PATH where the question is"
    )


def _known(gold: GoldRecords, record_id: Any) -> Entry | None:
    """The gold record with this id. Batch APIs turn every id into text, so the ids 7 and "7" stand for each
    other if gold has only one of them."""
    found = gold.get(record_id)
    if found is None and isinstance(record_id, str):
        if _NUMBER.fullmatch(record_id):
            return gold.get(int(record_id))
    elif found is None and type(record_id) is int:
        return gold.get(str(record_id))
    return found
