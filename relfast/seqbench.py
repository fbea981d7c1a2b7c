"""SeqBench as a library: read plans, run them in their mazes, find shortest ones, make new instances.

>>> from relfast.seqbench import Maze, generate, shortest_plan, validate
>>> row = next(generate(n=1, seed=7, rows=6, cols=6, L=20, B=1, N=0.4))
>>> maze = Maze.from_row(row)
>>> validate(maze, shortest_plan(maze)).valid
True
"""

from __future__ import annotations

from relfast.tasks.seqbench.generate import make_rows as generate
from relfast.tasks.seqbench.l0 import L0Fit, fit_l0
from relfast.tasks.seqbench.machine import parse_actions
from relfast.tasks.seqbench.maze import Maze, Verdict, shortest_plan, validate

__all__ = ["L0Fit", "Maze", "Verdict", "fit_l0", "generate", "parse_actions", "shortest_plan", "validate"]
