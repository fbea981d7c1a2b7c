"""A solver for REL-A1…A4: it infers the rules from the eight context panels and says which choices fit.

It checks the generator's records and shares no code with the generator. It solves a puzzle as a careful
reader would: find every rule of the task's kind that all context panels obey, and accept a choice that one
of these rules predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

Panel = Sequence[Sequence[float]]
"""A square matrix, as a list of rows."""
Predicate = Callable[[Panel], bool]
"""Says whether a choice is the ninth panel; a rule makes it from the context panels and the largest value."""

STEPS: Final = (-2, -1, 1, 2)
"""The steps between neighbouring values from which the published generator of REL-A2 chooses."""


def constant(panels: Sequence[Panel], maxval: float) -> Predicate:
    """REL-A1: all context panels and the choice are the same matrix."""
    alike = all(panel == panels[0] for panel in panels)
    return lambda choice: alike and choice == panels[0]


def progression(panels: Sequence[Panel], maxval: float) -> Predicate:
    """REL-A2: along a row, and on into the same row of the next panel, values grow by a fixed step.

    All rows have the same step, one of `STEPS`; each row has its own start. Values are clamped to 0…maxval.
    """
    width = len(panels[0][0])

    def panel_at(k: int, step: int) -> Panel:
        starts = [row[0] for row in panels[0]]
        return [
            [min(max(start + (k * width + c) * step, 0), maxval) for c in range(width)] for start in starts
        ]

    steps = [s for s in STEPS if all(panel == panel_at(k, s) for k, panel in enumerate(panels))]
    expected = [panel_at(len(panels), step) for step in steps]
    return lambda choice: choice in expected


def distribute_three(panels: Sequence[Panel], maxval: float) -> Predicate:
    """REL-A3: all panels are the same matrix; each row is the row above rotated by one, in one direction."""
    is_the_matrix = constant(panels, maxval)

    def fits(choice: Panel) -> bool:
        first, n = list(choice[0]), len(choice[0])
        return (
            is_the_matrix(choice)
            and len(set(first)) == n
            and any(
                all(
                    list(row) == [first[(c - turn * r) % n] for c in range(n)] for r, row in enumerate(choice)
                )
                for turn in (1, -1)
            )
        )

    return fits


def arithmetic(panels: Sequence[Panel], maxval: float) -> Predicate:
    """REL-A4: all panels are the same matrix; in each row the third value is the sum of the first two."""
    is_the_matrix = constant(panels, maxval)
    return lambda choice: is_the_matrix(choice) and all(row[0] + row[1] == row[2] for row in choice)


RULES: Final[Mapping[str, Callable[[Sequence[Panel], float], Predicate]]] = {
    "REL-A1": constant,
    "REL-A2": progression,
    "REL-A3": distribute_three,
    "REL-A4": arithmetic,
}


def fitting_choices(
    task: str, panels: Sequence[Panel], choices: Sequence[Panel], maxval: float = 1000
) -> list[int]:
    """The 0-based indices of the choices that complete the context panels by the rule of ``task`` (A1…A4)."""
    fits = RULES[task](panels, maxval)
    return [index for index, choice in enumerate(choices) if fits(choice)]
