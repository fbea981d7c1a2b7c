"""After `warm_up`, neither scoring nor generating compiles anything."""

from __future__ import annotations

import ast

import pytest
from relfast_kernels.maze import growth, judge, plans

from relfast.records import Record
from relfast.seqbench import Maze, generate, parse_actions, shortest_plan, validate
from relfast.tasks.options import AllOptions
from relfast.tasks.seqbench import score as room

KERNELS = (
    judge.validate_plans,
    plans.shortest_plan,
    plans.remaining_actions,
    growth.spanning_tree,
    growth.rewind,
)


@pytest.mark.compiled
def test_nothing_is_left_to_compile() -> None:
    for module in (plans, judge, growth):
        module.warm_up()
    before = [kernel.signatures for kernel in KERNELS]
    row = next(generate(1, 3, rows=4, cols=4, B=1, N=1.0))
    for options in (AllOptions(), AllOptions(policy="strict")):
        for given in (row, {**row, "structural_details": None}):
            for response in (
                row["completion"],
                "é",
                "['start: \\x41']",
                "['start: A1'] or ['start: A2']",
                str(ast.literal_eval(row["completion"])[:-2]),
                "",
            ):
                record = Record(0, "x", "SeqBench", given, response, row["context"])
                room.score([(record, room.extract(record, options))], options)
    for source in (row, {"context": row["context"]}):
        maze_of_row = Maze.from_row(source)
        assert validate(maze_of_row, shortest_plan(maze_of_row)).valid
    parse_actions("['start: A1']")
    next(generate(1, 3, rows=4, cols=4, B=0))
    assert [kernel.signatures for kernel in KERNELS] == before
