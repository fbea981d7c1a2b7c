"""ReAlign's alignment as a textbook has it: the plain twin of `relfast_kernels.align`."""

from __future__ import annotations

from collections.abc import Sequence

Move = tuple[str, int | None, int | None]


def align(
    similarity: Sequence[Sequence[float]], rows: int, columns: int, gap: float = -0.1
) -> tuple[list[Move], float]:
    """Needleman-Wunsch: the path as (type, benchmark index, model index), and the mean of its matches, added
    up as the path is walked back."""
    table = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    came = [[""] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        table[i][0], came[i][0] = i * gap, "skip_benchmark"
    for j in range(1, columns + 1):
        table[0][j], came[0][j] = j * gap, "skip_llm"
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            choices = (
                (table[i - 1][j - 1] + float(similarity[i - 1][j - 1]), "match"),
                (table[i - 1][j] + gap, "skip_benchmark"),
                (table[i][j - 1] + gap, "skip_llm"),
            )
            # max takes the first of equals, which is the published order of ties
            table[i][j], came[i][j] = max(choices, key=lambda choice: choice[0])
    path: list[Move] = []
    total, matches = 0.0, 0
    i, j = rows, columns
    while i or j:
        move = came[i][j]
        if move == "match":
            i, j = i - 1, j - 1
            path.append((move, i, j))
            total, matches = total + float(similarity[i][j]), matches + 1
        elif move == "skip_benchmark":
            i -= 1
            path.append((move, i, None))
        else:
            j -= 1
            path.append((move, None, j))
    path.reverse()
    return path, total / matches if matches else 0.0
