"""The rules of REL-A1…A4, read from the eight context panels alone: does a choice complete the matrix?

This is the generator's judge and shares no code with it. It solves a puzzle as a careful reader would: find
every rule of the task's kind that all context panels obey, and accept a choice if one of them predicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

Panel = Sequence[Sequence[float]]
"""A square matrix by rows."""
Predicate = Callable[[Panel], bool]
"""Whether a choice is the ninth panel. Rules make it of the eight context panels and the largest value."""

STEPS: Final = (-2, -1, 1, 2)
"""What the published generator adds from value to value in REL-A2."""


def constant(panels: Sequence[Panel], maxval: float) -> Predicate:
    """REL-A1: all panels, the choice too, are the same matrix."""
    alike = all(panel == panels[0] for panel in panels)
    return lambda choice: alike and choice == panels[0]


def progression(panels: Sequence[Panel], maxval: float) -> Predicate:
    """REL-A2: along a row, from each panel on into the next, values grow by a step, clamped to 0…maxval.

    One of `STEPS` holds for all rows; each row starts at its own value.
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
    """REL-A3: all panels are the same matrix, each row the one above rotated by one, always the same way."""
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
    """REL-A4: all panels are the same matrix, and in each row the third value is the sum of the first two."""
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
    """Indices of the choices that fit the rule of ``task`` (REL-A1…A4) given its context panels."""
    fits = RULES[task](panels, maxval)
    return [index for index, choice in enumerate(choices) if fits(choice)]
