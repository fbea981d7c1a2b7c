"""JSON in and out: orjson first, and Python's own ``json`` where orjson fails.

orjson turns integers beyond 64 bits into floats and refuses a byte order mark, NaN and lone surrogates;
Python's parser accepts all of them. A line that both refuse is an ``invalid_record``.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

BOM: Final = b"\xef\xbb\xbf"

_EXACT_LIMIT: Final = 2.0**63
"""From here on a float that orjson returns may have been an integer in the text."""

# json's messages end with a position inside the text, which is cut off: callers name the line of the file
_POSITION: Final = re.compile(r": line \d+ column \d+ \(char \d+\)$")


class Undecodable(ValueError):
    """A line is no JSON object; the message says why, in one line."""


class LongLine(bytes):
    """Stands for a line of more than a number of bytes, which was not kept. ``said``: that it is too long, as
    decoding it says."""

    said: str

    @classmethod
    def beyond(cls, longest: int) -> LongLine:
        line = cls(b"\0")  # neither JSON nor blank
        line.said = f"line is longer than {longest} bytes"
        return line


def decode_object(line: bytes, exact: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON object that a line holds.

    Integers keep all their digits in ``id`` and in those fields of ``answer`` that ``exact`` names (numbers,
    or lists of numbers); elsewhere integers of more than 64 bits may be rounded.

    Raises
    ------
    Undecodable
        The line holds no JSON object.
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
    """Whether orjson may have rounded ``id`` or a field of ``answer`` that must be exact."""
    values, answer = [row.get("id")], row.get("answer")
    if type(answer) is dict:
        for name in exact:
            value = answer.get(name)
            values += value if type(value) is list else [value]
    return any(abs(value) >= _EXACT_LIMIT for value in values if type(value) is float)


def _tolerant(line: bytes) -> Any:
    if isinstance(line, LongLine):
        raise Undecodable(line.said)
    try:
        return json.loads(line.removeprefix(BOM).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Undecodable(f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start}") from None
    except RecursionError:
        raise Undecodable("nested too deeply") from None
    except ValueError as error:
        comma = ": a comma follows the object" if line.rstrip().endswith(b"},") else ""
        raise Undecodable(f"not JSON: {_POSITION.sub('', str(error))}{comma}") from None


def decode_text(text: str) -> Any:
    """The value of a JSON text, such as gold in a data set's string column; other text unchanged."""
    try:
        return orjson.loads(text)
    except ValueError:
        return text


once_decoded: Final = functools.lru_cache(maxsize=4096)(decode_text)
"""Cached `decode_text`, for gold that is repeated with each response: equal texts give the same object."""


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def encode_row(row: dict[str, Any]) -> bytes:
    """One line of output, with its newline. Never fails for values that were decoded from JSON."""
    return encode_json(row) + b"\n"


def encode_json(value: Any) -> bytes:
    """JSON text, on one line, of any value that was decoded from JSON.

    Python's ``json`` writes lone surrogates (escaped) and big integers, which orjson cannot. Values nested
    too deeply for both are cut at `MAX_SHOWN_DEPTH`.
    """
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(shallow(value), separators=(",", ":"), default=str, allow_nan=False)
        return text.encode("ascii")


_UNHOLDABLE: Final = re.compile("[\x00-\x1f\ud800-\udfff]")


def as_text(value: Any) -> str:
    """A JSON value as text that every format can hold: a text as it is, anything else as JSON. So is a text
    with lone surrogates or control characters, which some formats cannot hold: ``"a\\ud800"``."""
    if isinstance(value, str) and not _UNHOLDABLE.search(value):
        return value
    return encode_json(value).decode()


def encode_indented(value: Any) -> bytes:
    """Indented JSON text, for people to read; on one line where orjson cannot write the value."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except (TypeError, ValueError, RecursionError):
        return encode_json(value)


MAX_SHOWN_DEPTH: Final = 100
"""Deepest nesting of values that rows repeat (ids, gold): orjson and ``json`` can both write it, however
deep the call stack already is."""


def shallow(value: Any, depth: int = MAX_SHOWN_DEPTH) -> Any:
    """A JSON value in which an ellipsis replaces parts nested deeper than ``depth``, and null replaces NaN
    and infinity."""
    if isinstance(value, dict):
        return {str(key): shallow(item, depth - 1) for key, item in value.items()} if depth else "…"
    if isinstance(value, list | tuple):
        return [shallow(item, depth - 1) for item in value] if depth else "…"
    if isinstance(value, float) and not math.isfinite(value):
        return None  # as orjson writes it
    return value


_PLAIN: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def plain(value: object) -> tuple[Any, bytes]:
    """Gold as plain JSON values, and as JSON text.

    The first is ``value`` itself if it is made of JSON types already, else the nearest JSON values (lists for
    tuples, say). In the text NaN may be written as null.

    Raises
    ------
    TypeError, ValueError
        The gold holds an object that JSON cannot express.
    """
    try:
        text = orjson.dumps(value, option=_PLAIN)
    except TypeError:
        # orjson refuses mappings that are no dict, big integers, lone surrogates and keys that are no text
        written = json.dumps(dict(value) if isinstance(value, Mapping) else value)
        return json.loads(written), written.encode()
    return value, text


def is_plain(answer: object) -> bool:
    """Whether gold can be expressed as JSON (`plain` does not raise)."""
    try:
        plain(answer)
    except MemoryError:
        raise
    except Exception:
        return False  # a foreign class, whose methods may raise anything, or gold that contains itself
    return True
