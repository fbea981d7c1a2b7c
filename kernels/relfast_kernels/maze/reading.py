"""From a response to what is judged of its plan."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.maze.columns import (
    BEST,
    CUTS_REASONING,
    FOUND_BEGIN,
    FOUND_CERTAIN,
    FOUND_END,
    FOUND_VOTE,
    GOLD_IS_BEST,
    IS_STRICT,
    SHORTEST,
)
from relfast_kernels.maze.fold import fold
from relfast_kernels.maze.judge import judge_plan
from relfast_kernels.maze.packed import unpack
from relfast_kernels.maze.steps import last_plan
from relfast_kernels.text.characters import is_ascii
from relfast_kernels.text.find import copy
from relfast_kernels.text.plans import scan
from relfast_kernels.text.reasoning import cut_reasoning
from relfast_kernels.text.words import skip_white

MAX_STRICT = 1_000_000
"""Bytes of a response that is read under ``strict``, which reads as many characters."""


@kernel
def read_response(
    text: Any, problem: Any, how: int, spare: Any, items: Any, numbers: Any, pairs: Any, span: Any,
    found: Any, ratios: Any,
) -> bool:  # fmt: skip
    """Find the plan of a response (UTF-8) and judge it; False where the work space does not suffice.

    Parameters
    ----------
    problem : int32
        As `relfast_kernels.maze.packed.settle` leaves it.
    how
        `CUTS_REASONING`, `IS_STRICT`.
    spare : uint8
        Work space, twice the text's size.
    items : int32, shape (2, n, ITEM_COLUMNS)
        Work space, for an item in three bytes and two more.
    numbers, pairs
        Work space of `relfast_kernels.maze.search.shortest`.
    span : int64, shape (1, 3)
        Work space.
    found : int64, shape (FOUND_COLUMNS,)
    ratios : float64, shape (N_RATIOS,)
        Filled; zeros where Python has to cut the reasoning, or a ``strict`` response is too long.
    """
    found[:] = 0
    ratios[:] = 0.0
    first, last = 0, len(text)
    strict = how & IS_STRICT != 0
    ascii_only = is_ascii(text, 0, last)
    if how & CUTS_REASONING:
        if strict and last > MAX_STRICT:
            return True
        first, last, copied = cut_reasoning(text, 0, last, spare, 0)
        if copied:
            return True
        if strict and skip_white(text, first, last) == last:
            return True
    size = last - first
    copy(text, first, last, spare, 0)
    maze, _, _, names, gold = unpack(problem)
    if strict:
        fold(spare, 0, size, ascii_only)
    n_items, _ = scan(spare[: 2 * size], 0, size, items[0], items[1], span, strict)
    if strict:
        n_items = last_plan(spare, size, n_items, names, items, span)
    follow = strict and problem[SHORTEST] > 0
    if not judge_plan(
        maze, names, gold, int(problem[BEST]), problem[GOLD_IS_BEST] != 0, follow, spare, items[1][:n_items],
        numbers, pairs, found, ratios,
    ):  # fmt: skip
        return False
    begin = end = first
    if n_items:
        begin, end = first + span[0, 0], first + span[0, 1]
        found[FOUND_VOTE] = span[0, 2]
    found[FOUND_BEGIN], found[FOUND_END] = begin, end
    found[FOUND_CERTAIN] = 1
    return True
