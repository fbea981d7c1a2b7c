"""What a response to REL-B1 claims."""

from __future__ import annotations

from typing import Final, NamedTuple


class Homoplasy(NamedTuple):
    """A label (yes, no or None) and taxa as they are written, in order."""

    label: str | None
    taxa: list[str]


NOTHING: Final = Homoplasy(None, [])
