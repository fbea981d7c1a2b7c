"""Failures that became no row: a quicker way failed, and the ordinary one did its work.

The rows are what they would have been, so that nobody would hear of it but by the clock. ``relfast score -v``
tells of each place how often that was, and of its first failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

Found = Mapping[str, tuple[int, str]]
"""What was left to the ordinary way → how often, and the first failure."""

_SHOWN: Final = 200
"""Characters of a failure that are shown; it may quote what it failed on."""


class Detours:
    """Counts such failures, and keeps the first of each kind."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, what: str, error: Exception) -> None:
        """Something was left to the ordinary way, because of an error."""
        n, first = self._found.get(what, (0, ""))
        self._found[what] = n + 1, first or f"{error!r:.{_SHOWN}}"

    def merge(self, found: Found) -> None:
        """Add what somebody else has counted, later than what is here."""
        for what, (more, later) in found.items():
            n, first = self._found.get(what, (0, ""))
            self._found[what] = n + more, first or later

    def take(self) -> Found:
        """What was found since this was last asked."""
        found = self._found
        if found:
            self._found = {}
        return found

    def lines(self) -> Iterator[str]:
        """What is told of them."""
        for what, (n, first) in self._found.items():
            times = "once" if n == 1 else f"{n:,} times, first"
            yield f"left to the ordinary way: {what}, {times}: {first}"
