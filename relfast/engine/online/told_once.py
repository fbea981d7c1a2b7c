"""What has failed on a short way and costs time, but no score: told once, in the log."""

from __future__ import annotations

import logging
from typing import Final

_log: Final = logging.getLogger("relfast")
_told: Final[set[str]] = set()


def tell(what: str, error: Exception) -> None:
    """Log that ``what`` (one of a few texts) failed and the ordinary way was taken; once a process.

    No warning, which may be turned into an error: what is scored does not suffer.
    """
    if what in _told:
        return
    _told.add(what)
    _log.warning(
        "relfast: %s failed (%s: %.200s); such responses are scored the ordinary way, to the same scores but"
        " slower. Please report it. (Said once.)",
        what,
        type(error).__name__,
        error,
    )
