"""Files that are one JSON document instead of JSON lines: which tool wrote the document, and its rows.

A document of an unknown tool is refused as a whole, with a message that names its keys. Otherwise each of its
lines would become an unreadable record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from relfast.formats.hints import place_of, places
from relfast.formats.reading import recognise
from relfast.formats.steps import forms_of, way_of
from relfast.formats.table import EVENT

_Document = Mapping[str, Any]

MEMBER: Final = re.compile(r"samples/.+_epoch_\d+\.json")
"""Names of the members of Inspect's ``.eval`` archives that hold samples."""


def kept(sample: Any) -> Any:
    """A sample of an Inspect log, reduced to the fields that are read."""
    if not isinstance(sample, Mapping):
        return sample
    read = forms_of("inspect")[0].members
    return {key: value for key, value in sample.items() if key in read}


def _is_statistics(row: Any) -> bool:
    """Whether a row comes from HELM's ``per_instance_stats.json``, which holds no responses to score."""
    fields = {"instance_id", "train_trial_index", "stats"}
    return isinstance(row, Mapping) and fields == {*row} - {"perturbation"}


def _is_predictions(document: _Document) -> bool:
    """Whether a document is OpenCompass' predictions, keyed by the number of the sample."""
    return bool(document) and all(
        isinstance(row, Mapping) and way_of(row, "opencompass") is not None for row in document.values()
    )


def _is_table(document: _Document) -> bool:
    """Whether a document is a table with ``columns`` and ``data``, as Weights & Biases and pandas'
    ``orient="split"`` write it."""
    columns, data = document.get("columns"), document.get("data")
    return isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data)


KNOWN: Final[tuple[tuple[Callable[[_Document], bool], Callable[[_Document], Iterable[Any]]], ...]] = (
    # Inspect's logs, HELM's scenario_state.json
    (lambda log: "eval" in log and "plan" in log, lambda log: map(kept, log.get("samples") or ())),
    (lambda state: "request_states" in state, lambda state: state["request_states"] or ()),
    # MathArena's file of a problem
    (lambda runs: "gold_answer" in runs and isinstance(runs.get("messages"), list), lambda runs: (runs,)),
    (_is_predictions, lambda document: ({"idx": key, **row} for key, row in document.items())),
    (_is_table, lambda table: (dict(zip(table["columns"], row, strict=False)) for row in table["data"])),
)
"""Kinds of documents: a function that recognises one, and a function that makes rows of it."""


def is_known(document: _Document) -> bool:
    """Whether a JSON object is a document of a known kind, and no row of a known dialect."""
    return recognise(document) is None and any(recognises(document) for recognises, _ in KNOWN)


_SHOWN_KEYS: Final = 8
_DEPTH: Final = 3
_JQ_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_JQ_ADVICE: Final = "jq -c '{}' makes lines of what is in it"
_SAMPLINGS: Final = (
    'select(.type=="sampling") | {id: .sample_id, question: .data.prompt, response: .data.sampled}'
)
_FIELDS: Final = frozenset({"id", "task", "question", "answer", "response"})


class NoRows(ValueError):
    """A document without rows that can be read; the message says what it is and what to do."""


def rows_of(document: Any) -> Iterator[Any]:
    """The rows of a JSON document: the items of a list, or the samples in the document of a known tool.

    An object with a ``response`` is one row by itself.

    Raises
    ------
    NoRows
        The document is of an unknown kind, or holds nothing to score.
    """
    if isinstance(document, list):
        if document and _is_statistics(document[0]):
            raise NoRows(
                "per-instance statistics of HELM hold no responses; scenario_state.json beside them does"
            )
        return iter(document)
    if not isinstance(document, Mapping):
        raise NoRows("a JSON document that is neither an object nor a list")
    for recognises, rows in KNOWN:
        if recognises(document):
            found = list(rows(document))
            if not found:
                raise NoRows(
                    "the log holds no samples (a header only, or a run that failed before the first)"
                )
            return iter(found)
    if "response" in document and not _is_columns(document):
        return iter((document,))
    keys = ", ".join(map(repr, list(document)[:_SHOWN_KEYS])) + (", …" if len(document) > _SHOWN_KEYS else "")
    command = _jq_for_table(document) or next((jq for jq, _ in _lists_of_objects(document)), None)
    advice = f": {_JQ_ADVICE.format(command)}" if command else ""
    raise NoRows(
        f"one JSON object with the keys {keys}, of no tool that is known (Inspect, HELM, OpenCompass); "
        f"one record a line is wanted{advice}"
    )


def advice_on_row(row: Mapping[str, Any]) -> str | None:
    """Advice for a row that is a whole document written on one line; None if it does not look like one."""
    if any(recognises(row) for recognises, _ in KNOWN):
        return "a document on one line; `jq . FILE > NEW.json` indents it, and it is read then"
    if EVENT.issubset(row) or (isinstance(row.get("spec"), Mapping) and "run_id" in row["spec"]):
        return f"a log of openai/evals, with an event a line: {_JQ_ADVICE.format(_SAMPLINGS)}"
    command = _jq_for_table(row)
    is_row = (
        recognise(row) is not None or not _FIELDS.isdisjoint(row) or _has(row, "id") or _has(row, "question")
    )
    if command is None and not is_row:
        lists = _lists_of_objects(row)
        command = next(
            (jq for jq, item in lists if "role" not in item and _has(item, "id", "response")), None
        )
    return f"a document on one line: {_JQ_ADVICE.format(command)}" if command else None


def _jq_for_table(document: Mapping[str, Any]) -> str | None:
    """The jq expression that makes lines of a document of columns, or of rows keyed by id; else None."""
    if _is_columns(document):
        return "(first(.[]) | keys_unsorted[]) as $i | map_values(.[$i])"
    by_id = len(document) > 1 and all(_has(row, "response") for row in document.values())
    return "to_entries[] | {id: .key} + .value" if by_id and _FIELDS.isdisjoint(document) else None


def _is_columns(document: Mapping[str, Any]) -> bool:
    """Whether a document is a table by columns, as pandas writes: its fields are lists of equal length, or
    objects with equal keys."""
    if not isinstance(document.get("id"), list | Mapping) and not isinstance(document.get("answer"), list):
        return False
    columns = list(document.values())
    if all(isinstance(column, list) for column in columns):
        return len({len(column) for column in columns}) == 1
    return all(isinstance(column, Mapping) and column.keys() == columns[0].keys() for column in columns)


def _has(value: Any, *fields: str) -> bool:
    """Whether a value is an object that has these fields, under our names or other tools'."""
    return isinstance(value, Mapping) and all(
        field in value or place_of(field, value) is not None for field in fields
    )


def _lists_of_objects(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The lists of objects in a document, outermost first: each as the jq expression that takes out its
    items, and its first item."""
    for path, value, _ in places(document):
        is_list = isinstance(value, list) and value and isinstance(value[0], Mapping)
        if is_list and len(path) <= _DEPTH and all(map(_JQ_NAME.fullmatch, path)):
            yield f".{'.'.join(path)}[]", value[0]
