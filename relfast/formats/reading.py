"""Reads rows into entries: finds the form of a row, and follows the steps to its fields.

The form of a row is chosen from the row alone, so that the result does not depend on rows read before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from relfast_kernels.layouts import PROMPT_ID
from relfast_kernels.text.steps import MESSAGE, TEXT, TEXTS

from relfast.formats.entry import Entry, last_said, last_user_said, said_in
from relfast.formats.failure import (
    CUT_OFF,
    MISSING_RESPONSE,
    NO_ASSISTANT,
    NO_CONTENT,
    ONLY_REASONING,
    NoResponse,
    ended,
    from_error,
    from_status,
    reason_in,
)
from relfast.formats.paths import MISSING, Path, as_object, first, paths_of
from relfast.formats.steps import AUTO, REASON_PATHS, FormSteps, SamplePaths, forms_of, way_of, ways_of
from relfast.formats.table import DIALECTS, ERROR, EVENT, EVENT_ID, STATUS
from relfast.json_text import encode_json
from relfast.tasks import find_task

_JUDGED: Final = ("invalidation",)
"""Names of members that say why somebody discarded a sample: their messages need the name."""

_FAILED_KEY: Final = "key"
"""Where the id is in a row of Gemini's for a failed request, which has no keys that tell its dialect."""

_Row = Mapping[str, Any]


def told_by() -> frozenset[str]:
    """The members by which dialects are recognised. ``--map`` may map these too."""
    return frozenset().union(*(way.members for way in ways_of(AUTO)))


def recognise(row: _Row) -> str | None:
    """The name of the dialect that a row matches, or None."""
    way = way_of(row)
    return way.form.name if way is not None and way.members else None


def detect(row: _Row) -> str:
    """The name of the dialect a row is written in (``native`` if no other fits)."""
    return recognise(row) or "native"


def read_row(row: _Row, dialect: str, *, mapped: Collection[str] = ()) -> Entry:
    """The `Entry` of a row; ``dialect`` is a key of `DIALECTS` or ``auto``. ``mapped`` are the fields that
    ``--map`` says: an id from there is a tool's number wherever the dialect has such numbers.

    A row of any dialect may report a failed request by ``error`` and ``status_code``, and why its text ended
    by one of `REASONS`: these are read here.
    """
    way = way_of(row, dialect, mapped="response" in mapped)
    entry = _entry_of_other_dialect(row, dialect) if way is None else _read(way.form, row)
    if ERROR in row:
        entry.error = row[ERROR]
    if way is not None:
        if "id" in mapped:
            entry.numbered = way.form.numbers is not None
        if way.form.name == "native" and "response" not in mapped and _has_only_failed(row):
            entry.id = row[_FAILED_KEY]
    if STATUS in row and entry.failure is None:
        entry.failure = from_status(row[STATUS])
    if EVENT_ID in row and EVENT.issubset(row) and row["type"] != "sampling":
        entry.failure = NoResponse(MISSING_RESPONSE, f"an event of type {row['type']!r:.40}, no response")
    for _, walk in REASON_PATHS:
        for reason in walk(row):
            if reason:
                entry.reason = reason
                return entry
    return entry


def _has_only_failed(row: _Row) -> bool:
    """Whether a row of no dialect is Gemini's for a failed request: an error, and the id under ``key``."""
    if _FAILED_KEY not in row or "id" in row:
        return False
    response = row.get("response")
    inner = from_error(response.get("error")) if isinstance(response, Mapping) else None
    return (response is None or inner is not None) and (inner or from_error(row.get("error"))) is not None


def _entry_of_other_dialect(row: _Row, dialect: str) -> Entry:
    """The entry of a row that is not in the dialect that ``--input-format`` names. Its failure is that of the
    request, or else says what the row lacks for that dialect."""
    needs = DIALECTS[dialect].needs
    missing = next((field for field in needs if field not in row), None)
    kinds = f"{' or '.join(map(repr, needs))} is something else"
    lacks = kinds if missing is None else f"field {missing!r} is missing"
    message = f"no row of {dialect}, as --input-format has it: {lacks}"
    wrong = NoResponse("WrongDialect", f"{message}; without the option it is read as {detect(row)}")
    return Entry(
        id=first(row, paths_of("id custom_id key")),
        task=_task_among([row.get("task")]),
        failure=from_error(row.get("error")) or from_status(row.get("status_code")) or wrong,
    )


def filter_of(row: _Row, dialect: str) -> str | None:
    """The filter that made a row of lm-evaluation-harness; None for other rows, and for those of older
    versions, which do not name it."""
    if "filter" not in row:
        return None
    way = way_of(row, dialect)
    return _filter_of(forms_of(dialect)[-1] if way is None else way.form, row)


def _filter_of(form: FormSteps, row: _Row) -> str | None:
    name = row.get(form.form.filter) if form.form.filter else None
    return name if isinstance(name, str) else None


# ---- a row of a form


def _read(steps: FormSteps, row: _Row) -> Entry:
    """The entry of a row."""
    form = steps.form
    task, answer = gold_of(steps, row)
    question = first(row, steps.questions)
    if not form.plain:
        question = _question(question)
    row_id = _id_of(steps, row, answer)
    numbered = steps.numbers is not None and (row_id is MISSING or row_id is None)
    if numbered and steps.numbers:
        row_id = first(row, steps.numbers)
    if steps.suffix and row_id is not MISSING and row_id is not None:
        other = first(row, steps.suffix)
        row_id = f"{row_id} {other}" if other and other is not MISSING else row_id
    response = first(row, steps.response, as_it_is=True) if steps.response else _samples_in(steps, row)
    if form.none and steps.response and (response is MISSING or not response):
        response = _why_none(steps, row)
    if steps.attached:
        attached = first(row, steps.attached)
        question, response = _attached(attached, question), [_attached(attached, text) for text in response]
    inner = first(row, steps.row) if steps.row else row
    entry = Entry(row_id, task, question, answer, response)
    entry.row = inner if inner is row or isinstance(inner, Mapping) else {}
    if steps.errors:
        entry.failure = _failure(steps, row)
    if form.filter:
        entry.filter = _filter_of(steps, row)
    entry.numbered = numbered
    return entry


def gold_of(steps: FormSteps, row: _Row) -> tuple[Any, Any]:
    """Task and answer of a row."""
    return _task_of(steps, row), _answer_of(steps, row)


def _task_of(steps: FormSteps, row: _Row) -> Any:
    if steps.task is not None:
        return steps.task
    if not steps.form.plain:
        return _task_among(value for path in steps.tasks for value in path.walk(row))
    task = first(row, steps.tasks, as_it_is=True)
    return _task_among(steps.source[0].walk(row)) if task is MISSING and steps.source else task


def _answer_of(steps: FormSteps, row: _Row) -> Any:
    """The gold answer of a row, or `MISSING`."""
    if steps.form.members:
        return {key: row[key] for key in steps.form.members if key in row}
    if steps.form.plain:
        return first(row, steps.answers, as_it_is=True)
    for path in steps.answers:
        for value in path.walk(row):
            if steps.attached:
                value = value[0] if isinstance(value, list) and value else value
                value = _attached(first(row, steps.attached), value)
            gold = as_object(value)
            if gold is not None:
                return gold
    return MISSING


def _id_of(steps: FormSteps, row: _Row, answer: Any) -> Any:
    """The id of a row: the record's own, or a digest of prompt and gold."""
    row_id = first(row, steps.ids, as_it_is=steps.form.plain)
    # in verl's rows a digest replaces the id, which is a single rollout's; elsewhere, only a missing id
    if steps.digested and (steps.form.plain or row_id is MISSING or row_id is None):
        prompt = first(row, steps.digested)
        if not (prompt is MISSING or prompt is None or answer is MISSING or answer is None):
            return prompt_id(prompt, answer)
    return row_id


def _failure(steps: FormSteps, row: _Row) -> NoResponse | None:
    """Why the request failed as a whole; None if it did not."""
    for path in steps.errors:
        for value in path.walk(row):
            error = from_error(value)
            if error is not None:
                name = path.steps[-1].name
                return error._replace(message=f"{name}: {error.message}") if name in _JUDGED else error
    return from_status(first(row, steps.statuses)) if steps.statuses else None


def _samples_in(steps: FormSteps, row: _Row) -> list[Any]:
    """The samples of a row, each a text or a `NoResponse`."""
    for where in steps.sample_paths:
        for path in where.items:
            items = path.walk(row)
            if items:
                samples = [_sample(item, where, row) for item in items]
                return [_last(samples)] if where.said.last else samples
    for where in steps.sample_paths:
        # without any output the whole answer may have been cut off or filtered
        nothing = ended(NO_CONTENT, _at(row, where.reason))
        if nothing is not NO_CONTENT:
            return [nothing]
    return [_why_none(steps, row)]


def _why_none(steps: FormSteps, row: _Row) -> NoResponse:
    """Why the row has no samples, from the first entry of ``none`` in the table that applies."""
    for paths, (_, words, *kind) in zip(steps.none, steps.form.none, strict=True):
        value = _at(row, paths)
        failure = from_error(value) if not words else None
        if words and (value or not paths):
            failure = NoResponse(kind[0] if kind else MISSING_RESPONSE, words.format(value))
        if failure is not None:
            return failure
    return NO_CONTENT


def _at(row: Any, paths: Sequence[Path]) -> Any:
    """The value that a path leads to; None if there is none."""
    value = first(row, paths)
    return None if value is MISSING else value


def _task_among(names: Iterable[Any]) -> Any:
    """The first value that names one of relfast's tasks, also as ``community|rel-a1|0``; else `MISSING`."""
    for name in names:
        if isinstance(name, str):
            parts = name.split("|")
            named = parts[1] if len(parts) > 1 else name
            if find_task(named) is not None:
                return named
    return MISSING


def _question(prompt: Any) -> Any:
    """The question in a prompt: the text itself, or the user's last message; `MISSING` if there is none."""
    text = last_user_said(prompt) if isinstance(prompt, list) else prompt
    return text if isinstance(text, str) else MISSING


def prompt_id(prompt: Any, gold: Any) -> str:
    """The id that all rollouts of a prompt get: ``prompt-`` and 16 hex digits of a BLAKE2b digest of the JSON
    of ``[prompt, gold]``."""
    from hashlib import blake2b  # loads OpenSSL, which other dialects do without

    return f"{PROMPT_ID}{blake2b(encode_json([prompt, gold]), digest_size=8).hexdigest()}"


def _attached(texts: Any, text: Any) -> Any:
    """The text that a reference such as ``attachment://ID`` stands for; other values unchanged."""
    if not (isinstance(text, str) and text.startswith(_ATTACHED)):
        return text
    return texts.get(text.removeprefix(_ATTACHED), text) if isinstance(texts, Mapping) else text


_ATTACHED: Final = "attachment://"


# ---- samples


def _sample(item: Any, where: SamplePaths, row: _Row) -> Any:
    """The text of a sample, or a `NoResponse`."""
    said = where.said
    if said.no_object and not isinstance(item, Mapping):
        return NoResponse(MISSING_RESPONSE, said.no_object)
    if where.error:
        failed = from_error(_of_sample(item, where.error, row))
        if failed is not None:
            return failed
    text = next(_texts(item, where), NO_CONTENT)
    if text is None and said.ended:
        text = NO_CONTENT
    reason = _of_sample(item, where.reason, row) if where.reason else None
    word = reason_in(reason)
    nothing = text is NO_CONTENT
    said_so = ended(text, reason)
    if nothing and said_so is not CUT_OFF:
        if said.nothing:
            return NoResponse(MISSING_RESPONSE, said.nothing.format(word))
        if said_so is text and said.ended and word:
            return NoResponse(MISSING_RESPONSE, f"{text.message} (finish_reason {word})")
    if not text and word in said.aborted.split():
        return NoResponse(MISSING_RESPONSE, f"no text (finish_reason {word})")
    text = said_so
    if where.instead and not isinstance(text, NoResponse):
        again = _at(row, where.instead)
        return again if isinstance(again, str) else text
    return text


def _last(samples: Sequence[Any]) -> Any:
    """The last of a server's messages that is no reasoning."""
    return next((sample for sample in reversed(samples) if sample is not ONLY_REASONING), ONLY_REASONING)


def _of_sample(item: Any, paths: Sequence[Path], row: _Row) -> Any:
    """The value at a path from a sample; if there is none, the value at that path from the row."""
    value = _at(item, paths)
    return _at(row, paths) if value is None else value


def _texts(item: Any, where: SamplePaths) -> Iterator[Any]:
    """The texts of a sample, in the order of ``says``."""
    for how, path in where.says:
        values = path.walk(item)
        if how == TEXTS:
            texts = [value for value in values if isinstance(value, str)]
            if texts:
                yield "".join(texts)
        elif how == MESSAGE:
            messages = [value for value in values if isinstance(value, Mapping)]
            if messages:
                yield _last([*map(said_in, messages)])
            elif values and isinstance(values[-1], list):
                items: list[Any] = values[-1]
                output = last_said(items) if all(isinstance(item, Mapping) for item in items) else items
                yield NO_CONTENT if output is NO_ASSISTANT else output
        elif how == TEXT:
            yield from (value for value in values if isinstance(value, str))
        else:
            yield values[-1] if values else None
