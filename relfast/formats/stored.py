"""Values as they were before a data set stored them: gold, names of tasks, questions.

`datasets`, pandas, numpy, pyarrow and polars give values of their own back: a struct column has the union of
all keys filled with None, a number beside a missing one is a float, a text is ``numpy.str_`` or bytes, a list
is an array, a row is an object array of one element. `gold_of` undoes all of that. It does not guess: a text
inside gold stays a text. (`relfast score` reads files as published, and refuses a target of 3.0.)
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import orjson

from relfast.json_text import decode_text

__all__ = ["gold_of", "held"]


def gold_of(answer: Any) -> Any:
    """Gold as it was before a data set stored it.

    JSON text is decoded (once per distinct text), arrays become lists, integral floats integers, and members
    that are None or NaN are dropped. Gold with no other members, and values that are no gold at all, stay as
    they are; their score then says what is wrong with them.

    >>> gold_of('{"target": 3}'), gold_of({"target": 3.0, "smiles": None})
    ({'target': 3}, {'target': 3})
    """
    if type(answer) is str:
        return _gold_of_text(answer)
    try:
        if type(answer) is not dict:
            answer = _alone(held(answer))
            if type(answer) is str:
                return _gold_of_text(answer)
        return _gold_of_object(answer)
    except MemoryError:
        raise
    except Exception:
        # a foreign class, whose methods may raise anything, or a mapping that contains itself: missing gold,
        # so that the response has no score
        return None


@lru_cache(maxsize=4096)
def _gold_of_text(text: str) -> Any:
    return _gold_of_object(decode_text(text))


_EXACT: Final = (
    orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)


def _gold_of_object(answer: Any) -> Any:
    if type(answer) is not dict:
        return answer
    try:
        text = orjson.dumps(answer, option=_EXACT)
    except (TypeError, ValueError):
        return held(answer) or answer
    # nearly all gold is JSON already, which a look at its text tells ten times as fast as a walk
    return held(answer) or answer if b"null" in text or b".0" in text else answer


def held(value: Any) -> Any:
    """The value that a data set's own object holds: texts, numbers, lists and dicts without None; a value of
    any other kind unchanged. NaN and the missing values of pandas are None."""
    kind = type(value)
    if value is None or kind is str or kind is int or kind is bool:
        return value
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _decoded(bytes(value))
    if isinstance(value, list | tuple):
        return [held(item) for item in value]
    if isinstance(value, Mapping) and not hasattr(value, "as_py"):
        return _mapping(value)
    return _of_library(value)


def _of_library(value: Any) -> Any:
    """`held` for objects of other packages, known by their methods: none of them is imported."""
    if isinstance(value, Decimal):
        return _number(float(value)) if value != value.to_integral_value() else int(value)
    if type(value).__name__ in _MISSING:
        return None
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names and not getattr(value, "shape", ()):  # an element of a structured array
        return _mapping(dict(zip(names, value.item(), strict=True)))
    if hasattr(value, "index") and hasattr(value, "items") and hasattr(value, "to_dict"):
        rows = dict(value.items())  # a row of pandas, or a list in one
        return _mapping(rows) if all(isinstance(key, str) for key in rows) else held(list(rows.values()))
    for method in _UNPACKED:
        unpack = getattr(value, method, None)
        if callable(unpack):
            return held(unpack())
    return value


_MISSING: Final = ("NAType", "NaTType")
_UNPACKED: Final = ("as_py", "to_pylist", "tolist", "to_list", "model_dump")
"""Methods by which pyarrow's scalars and arrays, numpy's, torch's and pandas', polars', and pydantic give
their values."""

_EXACT_FLOATS: Final = 2.0**53


def _number(value: float) -> float | int | None:
    if value != value:
        return None
    return int(value) if value.is_integer() and abs(value) < _EXACT_FLOATS else value


def _mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    members = ((held(key), held(item)) for key, item in value.items())
    return {key: item for key, item in members if item is not None}


def _decoded(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _alone(value: Any) -> Any:
    """Gold in a list of one, such as an object array of one element holds, or as pairs of a member and its
    value, as Arrow has maps: a list is never gold itself."""
    while type(value) is list and value:
        if all(map(_is_pair, value)):
            return _mapping(dict(value))
        if len(value) > 1 or not isinstance(value[0], dict | str | list):
            break
        (value,) = value
    return value


def _is_pair(item: Any) -> bool:
    return type(item) is list and len(item) == 2 and type(item[0]) is str
