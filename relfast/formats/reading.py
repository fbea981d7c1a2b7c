"""Reads rows into entries by the table of dialects: finds the form of a row, and follows the form's paths.

The form of a row is chosen from the row alone, so that the result does not depend on rows read before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from relfast_kernels.layouts import PROMPT_ID

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
from relfast.formats.paths import MISSING, NAME, Walk, as_object, first, found, steps_of, walk
from relfast.formats.table import (
    ABSENT,
    DIALECTS,
    EVENT,
    FINE,
    LIST,
    MESSAGE,
    NULL,
    OBJECT,
    REASONS,
    TEXT,
    TEXTS,
    Form,
    Said,
)
from relfast.json_text import encode_json
from relfast.tasks import find_task

_JUDGED: Final = ("invalidation",)
"""Names of members that say why somebody discarded a sample: their messages need the name."""

_FAILED_KEY: Final = "key"
"""Where the id is in a row of Gemini's for a failed request, which has no keys that tell its dialect."""

_Row = Mapping[str, Any]
_Test = Callable[[_Row], bool]

_KINDS: Final[Mapping[str, Callable[[Sequence[Any]], bool]]] = {
    "": bool,
    OBJECT: lambda values: bool(values) and isinstance(values[0], Mapping),
    LIST: lambda values: bool(values) and isinstance(values[0], list),
    NULL: lambda values: bool(values) and values[0] is None,
    ABSENT: lambda values: not values,
    FINE: lambda values: not values or from_error(values[0]) is None,
}


@lru_cache(1 << 8)
def _test(condition: str) -> _Test:
    """A function that tests a row for a condition of the table; after ``*``, every item has to meet it."""
    path, _, kind = condition.partition(":")
    holds = _KINDS[kind]
    if not kind and steps_of(path)[0].name == path:
        return lambda row: path in row
    listed, _, rest = path.partition(".*.")
    if not rest:
        return lambda row: holds(found(row, path))

    def each_has_it(row: _Row) -> bool:
        values = found(row, listed)
        return bool(values) and isinstance(values[0], list) and all(found(item, rest) for item in values[0])

    return each_has_it


def meets(row: _Row, conditions: str) -> bool:
    """Whether a row meets conditions of the table."""
    return all(_test(condition)(row) for condition in conditions.split())


class _Pattern(NamedTuple):
    """One pattern by which a form is recognised: the form's dialect and reader, the members that a row must
    have, and further tests."""

    name: str
    reader: _Reader
    members: frozenset[str]
    tests: tuple[_Test, ...]


@lru_cache(1)
def _patterns() -> list[_Pattern]:
    """The patterns of all forms, in the order in which they are tried."""
    patterns = []
    for name, readers in _readers().items():
        for reader in readers:
            for tells in reader.form.tells:
                conditions = f"{tells} {reader.form.when}".split()
                lead = [lead_of(condition) for condition in conditions]
                tests = [_test(one) for one, member in zip(conditions, lead, strict=True) if member != one]
                patterns.append(_Pattern(name, reader, frozenset(filter(None, lead)), tuple(tests)))
    return patterns


def told_by() -> frozenset[str]:
    """The members by which dialects are recognised. ``--map`` may map these too."""
    return frozenset().union(*(pattern.members for pattern in _patterns()))


def lead_of(condition: str) -> str:
    """The member that a row must have to meet a condition; empty if no one member is required."""
    path, _, kind = condition.partition(":")
    step = steps_of(path)[0]
    return step.name if step.kind == NAME and kind not in (ABSENT, FINE) else ""


@lru_cache(1 << 10)
def _patterns_of(keys: tuple[str, ...]) -> list[_Pattern]:
    """The patterns that rows with these keys can match. Cached, since most rows of a file have equal keys."""
    return [pattern for pattern in _patterns() if pattern.members.issubset(keys)]


def _recognised(row: _Row, mapped: bool = False) -> _Pattern | None:
    for pattern in _patterns_of(tuple(row)):
        # if ``--map`` says where the response is, a form for rows without responses does not apply
        if all(test(row) for test in pattern.tests) and not (mapped and pattern.reader.has_no_response):
            return pattern
    return None


def recognise(row: _Row) -> str | None:
    """The name of the dialect that a row matches, or None."""
    known = _recognised(row)
    return None if known is None else known.name


def detect(row: _Row) -> str:
    """The name of the dialect a row is written in (``native`` if no other fits)."""
    return recognise(row) or "native"


def _reader_of(row: _Row, name: str) -> _Reader:
    """The reader of a row in a given dialect: of the first form whose ``when`` is met, or of the last."""
    *others, last = _readers()[name]
    return next((reader for reader in others if reader.form.when and meets(row, reader.form.when)), last)


def read_row(row: _Row, dialect: str, *, mapped: Collection[str] = ()) -> Entry:
    """The `Entry` of a row; ``dialect`` is a key of `DIALECTS` or ``auto``. ``mapped`` are the fields that
    ``--map`` says: an id from there is a tool's number wherever the dialect has such numbers.

    A row of any dialect may report a failed request by ``error`` and ``status_code``, and why its text ended
    by one of `REASONS`: these are read here.
    """
    if dialect == "auto":
        known = _recognised(row, "response" in mapped)
        name, reader = ("native", _readers()["native"][0]) if known is None else (known.name, known.reader)
    else:
        name, reader = dialect, _reader_of(row, dialect)
    is_another = dialect != "auto" and not meets(row, reader.form.needs)
    entry = _entry_of_other_dialect(row, name) if is_another else reader.read(row)
    if "error" in row:
        entry.error = row["error"]
    if "id" in mapped and not is_another:
        entry.numbered = reader.form.number is not None
    if name == "native" and "response" not in mapped and _has_only_failed(row):
        entry.id = row[_FAILED_KEY]
    if "status_code" in row and entry.failure is None:
        entry.failure = from_status(row["status_code"])
    if "event_id" in row and EVENT.issubset(row) and row["type"] != "sampling":
        entry.failure = NoResponse(MISSING_RESPONSE, f"an event of type {row['type']!r:.40}, no response")
    entry.reason = next((reason for each in _reasons() for reason in each(row) if reason), None)
    return entry


@lru_cache(1)
def _reasons() -> tuple[Walk, ...]:
    return _walks(" ".join(REASONS))


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
        id=first(row, [walk(name) for name in ("id", "custom_id", "key")]),
        task=_task_among([row.get("task")]),
        failure=from_error(row.get("error")) or from_status(row.get("status_code")) or wrong,
    )


def filter_of(row: _Row, dialect: str) -> str | None:
    """The filter that made a row of lm-evaluation-harness; None for other rows, and for those of older
    versions, which do not name it."""
    if "filter" not in row:
        return None
    return _reader_of(row, detect(row) if dialect == "auto" else dialect).filter_of(row)


def gold_readers(dialect: str) -> list[Callable[[_Row], tuple[Any, Any]]]:
    """For each form of a dialect (``auto``: of all), in the order of the table, a function that finds task
    and answer in a row of that form, as `read_row` does."""
    return [
        reader.gold for name, readers in _readers().items() if dialect in ("auto", name) for reader in readers
    ]


# ---- a row of a form


@lru_cache(1)
def _readers() -> Mapping[str, tuple[_Reader, ...]]:
    """The readers of each dialect, one per form."""
    return {name: tuple(map(_Reader, dialect.forms)) for name, dialect in DIALECTS.items()}


class _Reader:
    """Reads rows of one form; holds the form's paths as functions."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.has_no_response = not form.response and not form.said
        ids = [path for path in form.id.split() if not path.startswith("#")]
        self._id, self._number = _walks(" ".join(ids)), _walks(form.number or "")
        self._prompt = _walks(" ".join(path[1:] for path in form.id.split() if path not in ids))
        self._name = form.task.removeprefix("=") if form.task.startswith("=") else None
        self._task, self._source = _walks(form.task if self._name is None else ""), _walks(form.source)
        self._suffix, self._row, self._attached = _walks(form.suffix), _walks(form.row), _walks(form.attached)
        self._answer, self._question = _walks(form.answer), _walks(form.question)
        self._response = _walks(form.response)
        self._errors = [(path.rpartition(".")[2], walk(path)) for path in form.errors.split()]
        self._status = _walks(form.status)
        # an empty path leads to the row itself
        self._samples = [(said, _walks(said.items) or (walk(""),)) for said in form.said]

    def read(self, row: _Row) -> Entry:
        """The entry of a row."""
        form, attached = self.form, None
        answer, question = self._answer_of(row), first(row, self._question)
        if not form.plain:
            question = _question(question)
        row_id = self._id_of(row, answer)
        numbered = form.number is not None and (row_id is MISSING or row_id is None)
        if numbered and form.number:
            row_id = first(row, self._number)
        if self._suffix and row_id is not MISSING and row_id is not None:
            other = first(row, self._suffix)
            row_id = f"{row_id} {other}" if other and other is not MISSING else row_id
        response = first(row, self._response, as_it_is=True) if self._response else self._samples_in(row)
        if form.none and self._response and (response is MISSING or not response):
            response = self._why_none(row)
        if self._attached:
            attached = first(row, self._attached)
            question, response = (
                _attached(attached, question),
                [_attached(attached, text) for text in response],
            )
        inner = first(row, self._row) if self._row else row
        entry = Entry(row_id, self._task_of(row), question, answer, response)
        entry.row = inner if inner is row or isinstance(inner, Mapping) else {}
        if self._errors:
            entry.failure = self._failure(row)
        if form.filter:
            entry.filter = self.filter_of(row)
        entry.numbered = numbered
        return entry

    def gold(self, row: _Row) -> tuple[Any, Any]:
        """Task and answer of a row."""
        return self._task_of(row), self._answer_of(row)

    def filter_of(self, row: _Row) -> str | None:
        """The filter of lm-evaluation-harness that the row names, or None."""
        name = row.get(self.form.filter) if self.form.filter else None
        return name if isinstance(name, str) else None

    def _task_of(self, row: _Row) -> Any:
        if self._name is not None:
            return self._name
        if not self.form.plain:
            return _task_among(value for each in self._task for value in each(row))
        task = first(row, self._task, as_it_is=True)
        return _task_among(self._source[0](row)) if task is MISSING and self._source else task

    def _answer_of(self, row: _Row) -> Any:
        """The gold answer of a row, or `MISSING`."""
        if self.form.members:
            return {key: row[key] for key in self.form.members if key in row}
        if self.form.plain:
            return first(row, self._answer, as_it_is=True)
        for each in self._answer:
            for value in each(row):
                if self._attached:
                    value = value[0] if isinstance(value, list) and value else value
                    value = _attached(first(row, self._attached), value)
                gold = as_object(value)
                if gold is not None:
                    return gold
        return MISSING

    def _id_of(self, row: _Row, answer: Any) -> Any:
        """The id of a row: the record's own, or a digest of prompt and gold."""
        row_id = first(row, self._id, as_it_is=self.form.plain)
        # in verl's rows a digest replaces the id, which is a single rollout's; elsewhere, only a missing id
        if self._prompt and (self.form.plain or row_id is MISSING or row_id is None):
            prompt = first(row, self._prompt)
            if not (prompt is MISSING or prompt is None or answer is MISSING or answer is None):
                return prompt_id(prompt, answer)
        return row_id

    def _failure(self, row: _Row) -> NoResponse | None:
        """Why the request failed as a whole; None if it did not."""
        errors = (
            error._replace(message=f"{name}: {error.message}") if name in _JUDGED else error
            for name, each in self._errors
            for value in each(row)
            if (error := from_error(value)) is not None
        )
        failure = next(errors, None)
        return failure or (from_status(first(row, self._status)) if self._status else None)

    def _samples_in(self, row: _Row) -> list[Any]:
        """The samples of a row, each a text or a `NoResponse`."""
        for said, paths in self._samples:
            for each in paths:
                items = each(row)
                if items:
                    samples = [_sample(item, said, row) for item in items]
                    return [_last(samples)] if said.last else samples
        for said in self.form.said:
            # without any output the whole answer may have been cut off or filtered
            nothing = ended(NO_CONTENT, _at(row, said.reason) if said.reason else None)
            if nothing is not NO_CONTENT:
                return [nothing]
        return [self._why_none(row)]

    def _why_none(self, row: _Row) -> NoResponse:
        """Why the row has no samples, from the first entry of ``none`` in the table that applies."""
        for path, words, *kind in self.form.none:
            value = _at(row, path) if path else None
            failure = from_error(value) if not words else None
            if words and (value or not path):
                failure = NoResponse(kind[0] if kind else MISSING_RESPONSE, words.format(value))
            if failure is not None:
                return failure
        return NO_CONTENT


def _walks(paths: str) -> tuple[Walk, ...]:
    return tuple(map(walk, paths.split()))


def _at(row: Any, path: str) -> Any:
    """The value that a path leads to; None if there is none."""
    value = first(row, (walk(path),))
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


def _sample(item: Any, said: Said, row: _Row) -> Any:
    """The text of a sample, or a `NoResponse`."""
    if said.no_object and not isinstance(item, Mapping):
        return NoResponse(MISSING_RESPONSE, said.no_object)
    if said.error:
        failed = from_error(_of_sample(item, said.error, row))
        if failed is not None:
            return failed
    text = next(_texts(item, said), NO_CONTENT)
    if text is None and said.ended:
        text = NO_CONTENT
    reason = _of_sample(item, said.reason, row) if said.reason else None
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
    if said.instead and not isinstance(text, NoResponse):
        again = _at(row, said.instead)
        return again if isinstance(again, str) else text
    return text


def _last(samples: Sequence[Any]) -> Any:
    """The last of a server's messages that is no reasoning."""
    return next((sample for sample in reversed(samples) if sample is not ONLY_REASONING), ONLY_REASONING)


def _of_sample(item: Any, path: str, row: _Row) -> Any:
    """The value at a path from a sample; if there is none, the value at that path from the row."""
    value = _at(item, path)
    return _at(row, path) if value is None else value


def _texts(item: Any, said: Said) -> Iterator[Any]:
    """The texts of a sample, in the order of ``says``."""
    for how, path in said.says:
        values = found(item, path)
        if how == TEXTS:
            texts = [value for value in values if isinstance(value, str)]
            if texts:
                yield "".join(texts)
        elif how == MESSAGE:
            messages = [value for value in values if isinstance(value, Mapping)]
            if messages:
                yield _last([*map(said_in, messages)])
            elif values and isinstance(values[-1], list):
                output = last_said(values[-1])
                yield NO_CONTENT if output is NO_ASSISTANT else output
        elif how == TEXT:
            yield from (value for value in values if isinstance(value, str))
        else:
            yield values[-1] if values else None
