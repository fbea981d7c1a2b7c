"""Files that are one document, not lines: which tool wrote a JSON document, and its rows.

A dialect whose tool writes such files has ``rows``. What no dialect knows is refused as a whole, with what
was seen: each of its lines would otherwise be a record that cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from relfast.formats import helm, inspect_log, opencompass

KNOWN: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Iterator[Any]]], ...]] = (
    (inspect_log.is_log, inspect_log.rows),
    (helm.is_state, helm.rows),
    (opencompass.is_predictions, opencompass.rows),
)
"""What recognises a document, and what makes rows of it."""

_SHOWN_KEYS: Final = 8


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
    if not isinstance(document, Mapping):
        raise NoRows("a JSON document that is neither an object nor a list")
    keys = ", ".join(map(repr, list(document)[:_SHOWN_KEYS])) + (", …" if len(document) > _SHOWN_KEYS else "")
    lists = [key for key, value in document.items() if isinstance(value, list) and value]
    advice = f": jq -c '.{lists[0]}[]' makes lines of its {lists[0]!r}" if lists else ""
    raise NoRows(
        f"one JSON object with the keys {keys}, of no tool that is known (Inspect, HELM, OpenCompass); "
        f"one record a line is wanted{advice}"
    )
