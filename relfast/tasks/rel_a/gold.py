"""Whether REL-A's gold and metadata have the documented form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.tasks.checks import is_int, shown
from relfast.tasks.facts import Problem

N_CHOICES: Final = 8


def check(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """The target, 0-based."""
    target = answer.get("target")
    if "target" not in answer:
        yield Problem("answer.target", "missing")
    elif not (is_int(target) and 0 <= target < N_CHOICES):
        yield Problem("answer.target", f"must be an integer from 0 to {N_CHOICES - 1}, not {shown(target)}")


def check_matrices(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    """A1…A4: panels and choices are matrices of numbers. (A5…A7 are said to hold tensors, whose form no
    document gives.)"""
    shapes = set()
    for name in ("panels", "choices"):
        value = metadata.get(name)
        if name not in metadata:
            continue
        if not isinstance(value, list) or len(value) != N_CHOICES:
            yield Problem(f"metadata.{name}", f"must be a list of {N_CHOICES} matrices")
            continue
        for i, matrix in enumerate(value):
            shape = _shape(matrix)
            if shape is None:
                yield Problem(f"metadata.{name}[{i}]", "must be a matrix of numbers, rows of one length")
            shapes.add(shape)
    if len(shapes - {None}) > 1:
        yield Problem("metadata", "panels and choices must all have one shape")


def _shape(matrix: Any) -> tuple[int, int] | None:
    if not isinstance(matrix, list) or not matrix or not all(isinstance(row, list) for row in matrix):
        return None
    if len({len(row) for row in matrix}) != 1 or not matrix[0]:
        return None
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for row in matrix for v in row)
    return (len(matrix), len(matrix[0])) if numbers else None
