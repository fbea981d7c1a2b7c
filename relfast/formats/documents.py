"""Files that are one document, not lines: which tool wrote a JSON document, and its rows.

A dialect whose tool writes such files has ``rows``. What no dialect knows is refused as a whole, with what
was seen: each of its lines would otherwise be a record that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from relfast.formats import helm, inspect_log, opencompass


def _is_table(document: Any) -> bool:
    """Columns and rows apart, as Weights & Biases' tables and pandas' ``orient="split"`` have them."""
    if not isinstance(document, Mapping):
        return False
    columns, data = document.get("columns"), document.get("data")
    return isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data)


def _rows_of_table(document: Any) -> Iterator[Any]:
    return (dict(zip(document["columns"], row, strict=False)) for row in document["data"])


KNOWN: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Iterator[Any]]], ...]] = (
    (inspect_log.is_log, inspect_log.rows),
    (helm.is_state, helm.rows),
    (opencompass.is_predictions, opencompass.rows),
    (_is_table, _rows_of_table),
)
"""What recognises a document, and what makes rows of it."""

_SHOWN_KEYS: Final = 8


_DEPTH: Final = 3
_JQ_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NoRows(ValueError):
    """A document that holds no rows; the text says what it is and what to do."""


def rows_of(document: Any) -> Iterator[Any]:
    """The rows of a JSON document: of a list its items, of a tool's document its samples.

    An object that any dialect knows as a row is one row.

    Raises
    ------
    NoRows
        It is no document that is known, or there is nothing to score in it.
    """
    if isinstance(document, list):
        if document and helm.is_statistics(document[0]):
            raise NoRows(
                "per-instance statistics of HELM hold no responses; scenario_state.json beside them does"
            )
        return iter(document)
    for knows, rows in KNOWN:
        if knows(document):
            found = list(rows(document))
            if not found:
                raise NoRows(
                    "the log holds no samples (a header only, or a run that failed before the first)"
                )
            return iter(found)
    if isinstance(document, Mapping) and "response" in document:
        return iter((document,))
    if not isinstance(document, Mapping):
        raise NoRows("a JSON document that is neither an object nor a list")
    keys = ", ".join(map(repr, list(document)[:_SHOWN_KEYS])) + (", …" if len(document) > _SHOWN_KEYS else "")
    place = next(_lists_of_objects(document, _DEPTH), None)
    advice = f": jq -c '{place}[]' makes lines of what is in it" if place else ""
    raise NoRows(
        f"one JSON object with the keys {keys}, of no tool that is known (Inspect, HELM, OpenCompass); "
        f"one record a line is wanted{advice}"
    )


def _lists_of_objects(document: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Where rows may be, as jq writes it: the lists of objects in a document, the outermost first."""
    named = {key: value for key, value in document.items() if _JQ_NAME.fullmatch(str(key))}
    for key, value in named.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f".{key}"
    if depth > 1:
        for key, value in named.items():
            if isinstance(value, Mapping):
                yield from (f".{key}{path}" for path in _lists_of_objects(value, depth - 1))
