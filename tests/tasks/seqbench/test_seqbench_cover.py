"""`--cover`: every cell of L × B × N is filled with as many mazes, or the command says which cannot be."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from relfast.errors import UsageError
from relfast.tasks.seqbench import bulk
from relfast.tasks.seqbench.cover import covering, mazes_of
from relfast.tasks.seqbench.maze import Maze, shortest_plan
from relfast.tasks.seqbench.parameters import Parameters


def rows_of(variants: list[Parameters], n: int, folder: Path, workers: int = 1) -> list[dict[str, object]]:
    output = folder / f"{workers}.jsonl"
    written = bulk.write_rows(str(output), n, 3, variants, workers, overwrite=True)
    rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert written == len(rows)
    return rows


def grid(doors: tuple[int, ...], noises: tuple[float, ...], **more: object) -> list[Parameters]:
    return [
        Parameters(B=b, N=n, cover=True, **more)  # type: ignore[arg-type]
        for n in noises
        for b in doors
    ]


def test_every_cell_has_as_many(tmp_path: Path) -> None:
    variants = grid((0, 1, 3), (0.0, 0.4, 1.0), L=(18, 57), bin_width=10)
    rows = rows_of(variants, 2, tmp_path)
    cells = Counter(
        ((p["logical_depth_L"] - 18) // 10, p["backtracking_count_B"], p["noise_ratio_N"])  # type: ignore[index]
        for p in (row["complexity_parameters"] for row in rows)
    )
    assert cells == {(at, b, n): 2 for at in range(4) for b in (0, 1, 3) for n in (0.0, 0.4, 1.0)}
    assert len({row["instance_id"] for row in rows}) == len(rows)
    # the noises of one maze are noises of one maze; others are others
    mazes = Counter(str(row["instance_id"]).partition("_")[0] for row in rows)
    assert set(mazes.values()) == {3}
    for row in rows[::7]:
        depth = row["complexity_parameters"]["logical_depth_L"]  # type: ignore[index]
        plan = shortest_plan(Maze.from_row(row))
        assert plan is not None
        assert len(plan) == depth
    assert rows == rows_of(variants, 2, tmp_path, workers=2)


def test_mazes_grow_with_their_bin() -> None:
    sizes = [variant.size for variant in covering(grid((0,), (0.0,), L=(10, 109), bin_width=20))]
    assert sizes == sorted(sizes)
    assert sizes[0][0] < 12 < sizes[-1][0]
    # which size a bin gets depends on the bin alone
    alone = covering(grid((0,), (0.0,), L=(50, 69), bin_width=20))
    assert [variant.size for variant in alone] == [sizes[2]]


def test_what_cannot_be_reached_is_named(tmp_path: Path) -> None:
    """`-L 10:100` on 12 × 12 gave nothing from L = 80 up, and said nothing."""
    fixed = grid((0, 2), (0.0,), L=(10, 104), bin_width=5, rows=12, cols=12)
    with pytest.raises(
        UsageError, match=r"cannot reach L \d+-104 with B=0 \(no maze of 12 × 12 rooms"
    ) as error:
        rows_of(fixed, 1, tmp_path)
    assert "--skip-unreachable" in str(error.value)
    assert list(tmp_path.iterdir()) == []
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


def test_several_doors_take_turns(tmp_path: Path) -> None:
    variants = [Parameters(6, 6, None, b, n) for n in (0.0, 0.5) for b in (0, 2)]
    assert [[(each.B, each.N) for each in maze] for maze in mazes_of(variants)] == [
        [(0, 0.0), (0, 0.5)],
        [(2, 0.0), (2, 0.5)],
    ]
    rows = rows_of(variants, 3, tmp_path)
    found = [row["complexity_parameters"]["backtracking_count_B"] for row in rows]  # type: ignore[index]
    assert found == [0, 0, 2, 2] * 3
    assert len({row["instance_id"] for row in rows}) == len(rows) == 12


def test_bounds_that_one_size_does_not_fill_are_said(tmp_path: Path) -> None:
    output = str(tmp_path / "mazes.jsonl")
    with pytest.warns(RuntimeWarning, match=r"L goes from \d+ to \d+, not 10 to 100: .*--cover"):
        bulk.write_rows(output, 30, 3, [Parameters(8, 8, (10, 100), 1)], overwrite=True)
    # filled, or too few to fill them: nothing is said (a warning would fail this test)
    bulk.write_rows(output, 30, 3, [Parameters(8, 8, (20, 30), 1)], overwrite=True)
    bulk.write_rows(output, 5, 3, [Parameters(8, 8, (10, 100), 1)], overwrite=True)
