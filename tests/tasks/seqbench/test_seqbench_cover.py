"""`--cover`: every cell of L × B × N is filled with as many mazes, or the command says which cannot be."""

from __future__ import annotations

from collections import Counter
from operator import length_hint
from typing import Any

import pytest

from relfast.errors import UsageError
from relfast.tasks.seqbench.generate import covering, generate, make_rows, mazes_of
from relfast.tasks.seqbench.maze import Maze, shortest_plan
from relfast.tasks.seqbench.parameters import Parameters


def rows_of(n: int, workers: int = 1, **parameters: Any) -> list[dict[str, Any]]:
    rows = make_rows(n, 3, workers=workers, **parameters)
    said = length_hint(rows)
    found = [*rows]
    assert said == len(found)
    return found


def grid(doors: tuple[int, ...], noises: tuple[float, ...], **more: object) -> list[Parameters]:
    return [
        Parameters(B=b, N=n, cover=True, **more)  # type: ignore[arg-type]
        for n in noises
        for b in doors
    ]


def test_every_cell_has_as_many() -> None:
    cells_of = {"B": (0, 1, 3), "N": (0.0, 0.4, 1.0), "L": (18, 57), "cover": True, "bin_width": 10}
    rows = rows_of(2, **cells_of)
    cells = Counter(
        ((p["logical_depth_L"] - 18) // 10, p["backtracking_count_B"], p["noise_ratio_N"])
        for p in (row["complexity_parameters"] for row in rows)
    )
    assert cells == {(at, b, n): 2 for at in range(4) for b in (0, 1, 3) for n in (0.0, 0.4, 1.0)}
    assert len({row["instance_id"] for row in rows}) == len(rows)
    # the noises of one maze are noises of one maze; others are others
    mazes = Counter(str(row["instance_id"]).partition("_")[0] for row in rows)
    assert set(mazes.values()) == {3}
    for row in rows[::7]:
        depth = row["complexity_parameters"]["logical_depth_L"]
        plan = shortest_plan(Maze.from_row(row))
        assert plan is not None
        assert len(plan) == depth
    assert rows == rows_of(2, workers=2, **cells_of)


def test_mazes_grow_with_their_bin() -> None:
    sizes = [variant.size for variant in covering(grid((0,), (0.0,), L=(10, 109), bin_width=20))]
    assert sizes == sorted(sizes)
    assert sizes[0][0] < 12 < sizes[-1][0]
    # which size a bin gets depends on the bin alone
    alone = covering(grid((0,), (0.0,), L=(50, 69), bin_width=20))
    assert [variant.size for variant in alone] == [sizes[2]]


def test_what_cannot_be_reached_is_named() -> None:
    """`-L 10:100` on 12 × 12 gave nothing from L = 80 up, and said nothing."""
    fixed = {"B": (0, 2), "L": (10, 104), "bin_width": 5, "rows": 12, "cols": 12}
    with pytest.raises(
        UsageError, match=r"cannot reach L \d+-104 with B=0 \(no maze of 12 × 12 rooms"
    ) as error:
        make_rows(1, cover=True, **fixed)
    assert "--skip-unreachable" in str(error.value)
    with pytest.raises(UsageError, match=r"L 10-19 with B=6 \(takes 33 actions at least\)"):
        covering(grid((6,), (0.0,), L=(10, 19)))
    with pytest.warns(RuntimeWarning, match=r"left out as unreachable: L 10-29 with B=6 \(takes 33"):
        kept = covering(grid((0, 6), (0.0,), L=(10, 59), bin_width=10, skip_unreachable=True))
    reached = {(variant.B, variant.L) for variant in kept}
    assert {(0, (10, 19)), (0, (50, 59)), (6, (50, 59))} <= reached
    assert (6, (20, 29)) not in reached
    with pytest.raises(UsageError, match="nothing is left"):
        covering(grid((6,), (0.0,), L=(10, 19), skip_unreachable=True))


@pytest.mark.parametrize(
    ("given", "said"),
    [({}, "-L 10:100"), ({"L": 20}, "-L 10:100"), ({"L": (30, 20)}, "-L 10:100"), ({"L": (10, 20), "bin_width": 0}, "bin_width")],
)  # fmt: skip
def test_covers_that_cannot_be(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Parameters(cover=True, **given)  # type: ignore[arg-type]


def test_several_doors_take_turns() -> None:
    variants = [Parameters(6, 6, None, b, n) for n in (0.0, 0.5) for b in (0, 2)]
    assert [[(each.B, each.N) for each in maze] for maze in mazes_of(variants)] == [
        [(0, 0.0), (0, 0.5)],
        [(2, 0.0), (2, 0.5)],
    ]
    rows = rows_of(3, rows=6, cols=6, B=(0, 2), N=(0.0, 0.5))
    found = [row["complexity_parameters"]["backtracking_count_B"] for row in rows]
    assert found == [0, 0, 2, 2] * 3
    assert len({row["instance_id"] for row in rows}) == len(rows) == 12


def test_bounds_that_one_size_does_not_fill_are_said() -> None:
    def made(n: int, low: int, high: int) -> int:
        return len([*generate("SeqBench", n, 3, rows=8, cols=8, L=(low, high), B=1)])

    with pytest.warns(RuntimeWarning, match=r"L goes from \d+ to \d+, not 10 to 100: .*--cover"):
        assert made(30, 10, 100) == 30
    # filled, or too few to fill them: nothing is said (a warning would fail this test)
    assert made(30, 20, 30) == 30
    assert made(5, 10, 100) == 5
