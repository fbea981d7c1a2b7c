"""What an environment of several steps asks of a task whose records are answered action by action."""

from __future__ import annotations

from typing import Protocol


class Walk(Protocol):
    """A record that is answered action by action, in an environment of several steps."""

    plan: list[str]
    """What was done so far: a response to the record."""
    refused: int
    """Actions tried that were not legal."""
    done: bool
    shortest: int
    """Actions of the shortest plan."""

    @property
    def text(self) -> str:
        """What is asked, with the actions there are."""

    @property
    def where(self) -> str:
        """What is to be seen now."""

    @property
    def tried(self) -> int:
        """Actions tried so far, legal or not."""

    def legal(self) -> list[str]: ...

    def step(self, action: object) -> str | None:
        """Do an action; the violation of one that is not legal, which changes nothing."""

    def why(self, violation: str) -> str:
        """A violation in words."""
