"""What Python callers hand over, as the JSON values and texts that tasks are written for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from relfast.formats.entry import text_of

_PLAIN: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)


def plain(value: object) -> Any:
    """Gold as JSON values only: itself if it is that, else the nearest.

    Raises
    ------
    TypeError, ValueError
        It holds something that has no form in JSON.
    """
    try:
        orjson.dumps(value, option=_PLAIN)
    except TypeError:
        # a mapping of another kind, numbers of any size, lone surrogates, keys that are numbers
        return json.loads(json.dumps(dict(value) if isinstance(value, Mapping) else value))
    return value


def text_in(response: object) -> Any:
    """The text of chat messages or of a ``str`` subclass; anything else as it is."""
    return str.__str__(response) if isinstance(response, str) else text_of(response)
