"""Entries of the unit ``maze`` for `relfast_kernels.compiled.native`."""

from __future__ import annotations

import numpy as np

from relfast_kernels.compiled.jit import carray, kernel, pointer
from relfast_kernels.maze.building import build
from relfast_kernels.maze.growth import join, place
from relfast_kernels.maze.layouts import (
    FACT,
    HEADER,
    Building,
    Joining,
    Judging,
    Placing,
    Scanning,
    Solving,
)
from relfast_kernels.maze.reading import read_response
from relfast_kernels.maze.search import Work, find_plan, unpack
from relfast_kernels.text.plans import scan


@kernel
def _judge(judging: Judging) -> int:
    """Score responses; return the index of the first that is not done: ``stop``, or less if a response needs
    more work space."""
    for at in range(judging.start, judging.stop):
        one = judging.responses[at]
        header = carray(pointer(one.problem), HEADER, np.int32)
        problem = unpack(carray(pointer(one.problem), int(header[FACT.size]), np.int32))
        text = judging.texts[one.start : one.end]
        if not read_response(text, problem, judging.how, judging.desk, judging.scores[at]):
            return at
    return judging.stop


@kernel
def _scan(scanning: Scanning) -> int:
    """Find all plans in a text and return their number. The items of the last plan are put into the second
    table of items."""
    desk, size = scanning.desk, scanning.size
    text = desk.text[: 2 * size]
    scanning.told.n_items, n_plans = scan(text, 0, size, desk.items[0], desk.items[1], desk.span)
    return n_plans


@kernel
def _solve(solving: Solving) -> int:
    """Find a maze's shortest plan; return its length."""
    work, maze = Work(solving.numbers, solving.pairs), unpack(solving.problem).maze
    length, unique = find_plan(maze, work, solving.plan)
    solving.is_unique[0] = 1 if unique else 0
    return length


ENTRIES = {
    "solve": (_solve, Solving),
    "tree": (join, Joining),
    "rewind": (place, Placing),
    "build": (build, Building),
    "judge": (_judge, Judging),
    "scan": (_scan, Scanning),
}
"""Name → function and what it is given."""
