"""Bytes to a JSON object: the fast parser first, the tolerant one where it refuses.

orjson turns integers beyond 64 bits into floats and refuses a byte order mark, NaN and lone surrogates;
Python's own parser takes all of them. Where both refuse, the line is an ``invalid_record``.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

_BOM: Final = b"\xef\xbb\xbf"

_EXACT_LIMIT: Final = 2.0**63
"""Where a float from orjson may have been an integer."""

# the document's position is in the message's tail; the line's own number says more
_POSITION: Final = re.compile(r": line \d+ column \d+ \(char \d+\)$")


class Undecodable(ValueError):
    """A line that is no JSON object; the text says why, in one line."""


def decode_object(line: bytes, exact: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON object a line holds.

    Integers keep all their digits in ``id`` and in the fields ``exact`` of ``answer`` (numbers or lists of
    them); elsewhere those of more than 64 bits may be rounded.

    Raises
    ------
    Undecodable
        It holds none.
    """
    value: Any
    try:
        value = orjson.loads(line)
        if type(value) is dict and _may_be_rounded(value, exact):
            value = _tolerant(line)
    except (ValueError, RecursionError):
        value = _tolerant(line)
    if type(value) is not dict:
        raise Undecodable(f"not a JSON object but {_kind(value)}")
    return value


def _may_be_rounded(row: dict[str, Any], exact: Sequence[str]) -> bool:
    """Whether a field that is compared or shown may have lost digits."""
    values, answer = [row.get("id")], row.get("answer")
    if type(answer) is dict:
        for name in exact:
            value = answer.get(name)
            values += value if type(value) is list else [value]
    return any(abs(value) >= _EXACT_LIMIT for value in values if type(value) is float)


def _tolerant(line: bytes) -> Any:
    try:
        return json.loads(line.removeprefix(_BOM).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Undecodable(f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start}") from None
    except RecursionError:
        raise Undecodable("nested too deeply") from None
    except ValueError as error:
        raise Undecodable(f"not JSON: {_POSITION.sub('', str(error))}") from None


def decode_text(text: str) -> Any:
    """The value of JSON text, such as gold that a column of a data set carries; other text as it is."""
    try:
        return orjson.loads(text)
    except ValueError:
        return text


once_decoded: Final = functools.lru_cache(maxsize=4096)(decode_text)
"""`decode_text` for gold that comes with each of many responses: the same object for the same text."""


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def encode_row(row: dict[str, Any]) -> bytes:
    """One line of output, newline included. Raises nothing for what was decoded from JSON."""
    return encode_json(row) + b"\n"


def encode_json(value: Any) -> bytes:
    """JSON text, on one line, of anything that was decoded from JSON.

    Lone surrogates and big integers go through Python's own writer, escaped. What is nested so deeply
    that neither can write it is cut there.
    """
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(shallow(value), separators=(",", ":"), default=str, allow_nan=False)
        return text.encode("ascii")


def encode_indented(value: Any) -> bytes:
    """The same for people to read; on one line where `encode_json` has to take Python's own writer."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except (TypeError, ValueError, RecursionError):
        return encode_json(value)


MAX_SHOWN_DEPTH: Final = 100
"""Nesting of values that rows repeat (ids, gold); both JSON writers can write it from any stack."""


def shallow(value: Any, depth: int = MAX_SHOWN_DEPTH) -> Any:
    """A JSON value with what is nested deeper than ``depth`` replaced by an ellipsis, and NaN by null."""
    if isinstance(value, dict):
        return {str(key): shallow(item, depth - 1) for key, item in value.items()} if depth else "…"
    if isinstance(value, list | tuple):
        return [shallow(item, depth - 1) for item in value] if depth else "…"
    if isinstance(value, float) and not math.isfinite(value):
        return None  # as orjson has it
    return value


_PLAIN: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def plain(value: object) -> tuple[Any, bytes]:
    """Gold as JSON values only, itself if it is that, else the nearest; and as text, where NaN may be null.

    Raises
    ------
    TypeError, ValueError
        It holds something that has no form in JSON.
    """
    try:
        text = orjson.dumps(value, option=_PLAIN)
    except TypeError:
        # a mapping of another kind, numbers of any size, lone surrogates, keys that are numbers
        written = json.dumps(dict(value) if isinstance(value, Mapping) else value)
        return json.loads(written), written.encode()
    return value, text


def is_plain(answer: object) -> bool:
    """Whether gold can be had as JSON values."""
    try:
        plain(answer)
    except Exception:
        return False
    return True
