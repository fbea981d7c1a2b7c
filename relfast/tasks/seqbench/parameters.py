"""The parameters with which SeqBench rows are generated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from relfast.errors import UsageError
from relfast.parameters import Flag, Number, Whole, parameter

SMALLEST_SIDE: Final = 10
"""Rows and columns if neither these nor L are given, and the fewest if L is."""

ANY_LENGTH: Final = 1 << 30

DEFAULT_BIN_WIDTH: Final = 5

MAX_SIDE: Final = 200
"""Most rows or columns of a grid."""

LONGEST_PATH: Final = 4.0
"""No path in a maze is longer than this times the grid's longer side to the power of 1.25: of 366 mazes with
sides of 10 to 200 the longest was 2.7 times that."""

MAX_DOORS: Final = 20
"""Most locked doors of a maze; published mazes have at most 6."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A parameter that is a whole number, or inclusive bounds of one. Written ``40`` or ``40:60``."""

    metavar: str = "L | LOW:HIGH"

    def check(self, name: str, value: object) -> int | tuple[int, int]:
        if isinstance(value, Sequence) and len(value) == 2:
            return Whole().check(name, value[0]), Whole().check(name, value[1])
        return Whole().check(name, value)

    def parse(self, text: str) -> tuple[int, int]:
        low, colon, high = text.partition(":")
        try:
            return int(low), int(high if colon else low)
        except ValueError:
            raise ValueError(f"{text!r} is neither a number nor bounds such as 40:60") from None

    def write(self, value: int | tuple[int, int]) -> str:
        low, high = (value, value) if isinstance(value, int) else value
        return str(low) if low == high else f"{low}:{high}"


@dataclass(frozen=True, slots=True)
class People:
    """A parameter that is the names of agent and target, or ``random``. Written ``AGENT,TARGET``."""

    metavar: str = "TEXT"

    def check(self, name: str, value: object) -> object:
        if value != "random" and not _are_names(value):
            raise UsageError(
                f"{name} must be 'random' or two different names without line breaks, full stops or"
                f" ' is in room ', not {value!r}"
            )
        return value

    def parse(self, text: str) -> tuple[str, str] | str:
        if text == "random":
            return text
        parts = text.split(",")
        if len(parts) != 2:
            raise UsageError(f"--names takes AGENT,TARGET or random, not {text!r}")
        return parts[0].strip(), parts[1].strip()

    def write(self, value: Any) -> str:
        return value if isinstance(value, str) else ",".join(value)


def _are_names(names: object) -> bool:
    return (
        isinstance(names, Sequence)
        and len(names) == 2
        and all(isinstance(name, str) and name.strip() == name != "" for name in names)
        and not any(bad in name for name in names for bad in (".", "\n", "\r", " is in room ", "\\"))
        and not any(name.startswith(("Key ", "Room ", "Door ", "The locked door ")) for name in names)
        and names[0] != names[1]
    )


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters that the rows of a run share.

    ``rows`` or ``cols`` alone stands for both; the default grid is at least 10 × 10. Bounds of L are
    inclusive. N is rounded to whole facts. With ``remove_keys``, the L and B of a row are those that remain;
    the parameters L and B are those of the maze of the same seed without removals.
    """

    about: ClassVar[str] = (
        "Make SeqBench instances: mazes with keys and doors, their facts, and the shortest plan."
    )
    parallel: ClassVar[bool] = True

    rows: int | None = parameter(None, Whole(1, MAX_SIDE), "Rows of the grid. [default: as L and B need]")
    cols: int | None = parameter(None, Whole(1, MAX_SIDE), "Columns of the grid. [default: as L and B need]")
    L: int | tuple[int, int] | None = parameter(
        None,
        Bounds(),
        "Logical depth: actions of the shortest plan, hit exactly. Bounds fill as mazes fall, evenly"
        " with --cover.",
        flag="-L",
    )
    B: int = parameter(
        2,
        Whole(0, MAX_DOORS),
        "Locked doors on the way. Repeatable: N mazes of each.",
        flag="-B",
        repeat=True,
    )
    N: float = parameter(
        0.0,
        Number(0, 1),
        "Share of the distracting facts that is kept. Repeatable: each maze once per value.",
        flag="-N",
        repeat=True,
    )
    names: tuple[str, str] | str = parameter(
        ("Bob", "Alice"), People(), "AGENT,TARGET, or random: others in each maze."
    )
    remove_keys: int = parameter(
        0,
        Whole(0),
        "Open so many doors, at most B, and take their keys away. Repeatable: each maze once per value.",
        repeat=True,
    )
    ordered: bool = parameter(
        False, Flag(), "Facts unshuffled, as published: supporting ones first, along the path. It is a leak."
    )
    cover: bool = parameter(
        False,
        Flag(),
        "Fill -L LOW:HIGH evenly: N mazes for each bin of L and each B, as large as the bin needs.",
    )
    bin_width: int = parameter(DEFAULT_BIN_WIDTH, Whole(1), "Actions in a bin of L, with --cover.")
    skip_unreachable: bool = parameter(
        False, Flag(), "With --cover: leave bins out that no maze reaches, and say which."
    )

    def __post_init__(self) -> None:
        if self.remove_keys > self.B:
            raise UsageError(f"remove_keys must be from 0 to B = {self.B}, not {self.remove_keys!r}")
        if isinstance(self.L, tuple) and not 1 <= self.L[0] <= self.L[1]:
            raise UsageError(f"bounds of L rise from 1 on, as in -L 10:100; not {Bounds().write(self.L)}")
        if self.cover:
            if self.L is None or isinstance(self.L, int):
                raise UsageError("cover fills bounds of L evenly: give them, such as -L 10:100")
            return
        if self.skip_unreachable or self.bin_width != DEFAULT_BIN_WIDTH:
            raise UsageError("bin_width and skip_unreachable are for bins of L: they need cover (--cover)")
        low, high = self.moves
        if high < low:
            raise UsageError(
                f"there is no maze with {self.asked}: with start, rescue, detours, keys and doors it takes"
                f" {self.extra + self.fewest_moves} actions at least"
            )
        rows, cols = self.size
        if low > most_moves(rows, cols, self.B):
            most = most_moves(rows, cols, self.B) + self.extra
            raise UsageError(
                f"a {rows} × {cols} maze is too small for {self.asked}: plans have {most:,} actions at most;"
                " take a larger grid, or another L or B"
            )

    @property
    def bins(self) -> list[tuple[int, int]]:
        """The bins of L that ``cover`` fills, both bounds included; the last one may be narrower."""
        assert isinstance(self.L, tuple)
        low, high = self.L
        return [(at, min(at + self.bin_width - 1, high)) for at in range(low, high + 1, self.bin_width)]

    @property
    def asked(self) -> str:
        """What mazes are asked for, in words: ``B=2``, ``B=2 and L=40:60``."""
        return f"B={self.B}" + ("" if self.L is None else f" and L={Bounds().write(self.L)}")

    @property
    def extra(self) -> int:
        """Number of actions that are no moves: start and rescue; pick up, use and unlock for each door."""
        return 2 + 3 * self.B

    @property
    def moves(self) -> tuple[int, int]:
        """Bounds of the number of moves of the shortest plan."""
        if self.L is None:
            return self.fewest_moves, ANY_LENGTH
        low, high = (self.L, self.L) if isinstance(self.L, int) else self.L
        return max(low - self.extra, self.fewest_moves), high - self.extra

    @property
    def fewest_moves(self) -> int:
        """Fewest moves of a plan: one, and two for each detour into a key's room and out again."""
        return 1 + 2 * self.B

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        rows, cols = self.rows or self.cols, self.cols or self.rows
        if rows is not None and cols is not None:
            return rows, cols
        side = SMALLEST_SIDE
        if self.L is not None:
            # a leg of the walk is a path in a random tree, and its length grows like side^1.25
            leg = self.moves[1] / (self.B + 1)
            side = max(side, round(2 * leg**0.7), round(math.sqrt(3 * self.moves[1])))
        return min(side, MAX_SIDE), min(side, MAX_SIDE)


def most_moves(rows: int, cols: int, doors: int) -> int:
    """A bound of the moves of a plan in a grid: a path for each leg of the way, from key to door to goal."""
    return (doors + 1) * min(rows * cols - 1, int(LONGEST_PATH * float(max(rows, cols)) ** 1.25))
