"""What is said of rows that no dialect knows: what they hold, and where their responses may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.formats import DIALECTS

_NAMES: Final = (
    *("response", "completion", "output", "text", "generation", "generated_text", "prediction"),
    *("predicted_text", "model_output", "model_response", "resps", "responses", "completions", "outputs"),
    *("generations", "content", "output_text", "samples", "predictions"),
)
"""Keys under which responses stand, the likeliest first."""

_DEPTH: Final = 5
_SHOWN_KEYS: Final = 8


def unknown_rows(row: Mapping[str, Any]) -> str:
    """What to say of an input whose first rows, of which this is one, are of no dialect."""
    keys = ", ".join(map(repr, list(row)[:_SHOWN_KEYS])) + (", …" if len(row) > _SHOWN_KEYS else "")
    shown = keys or "none"
    if {"question", "answer"} <= row.keys():
        what = "records without a 'response' (gold is named with --data)"
    else:
        known = ", ".join(name for name in DIALECTS if name != "native")
        what = f"rows of no dialect that is known ({known})"
    place = next(_places(row), None)
    advice = f"perhaps --map response={place}" if place else "--map response=PATH says where the response is"
    return f"{what}; their keys are: {shown}; {advice}"


def _places(row: Mapping[str, Any]) -> Iterator[str]:
    """Paths to what may be a response, the likeliest first."""
    found = list(_texts_in(row, (), _DEPTH))
    for name in _NAMES:
        yield from (".".join(path) for path in found if name in path)


def _texts_in(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    if isinstance(value, str):
        yield path
    elif not depth:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(key, str) and "." not in key:
                yield from _texts_in(item, (*path, key), depth - 1)
    elif isinstance(value, list) and value:
        yield from _texts_in(value[0], (*path, "*"), depth - 1)
