"""Scoring SeqBench: agreement with gold, and what running the plan in its maze shows.

Whether a text holds a plan is found out in `score`, by the batch: machine code reads the texts and runs their
plans (`relfast.tasks.seqbench.machine`), and what is left to Python is one dict a response. Gold of a record
is made ready for the kernels once, and kept for the other responses to the same maze."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple

from relfast_kernels.layouts import RATIOS, TOO_LARGE, UNSOLVABLE, VIOLATIONS
from relfast_kernels.maze.columns import (
    FOUND_BEGIN,
    FOUND_COLUMNS,
    FOUND_END,
    FOUND_VOTE,
    GIVEN_UP,
    HEADER,
    IS_STRICT,
    N_GOLD,
    SHORTEST,
    header_of,
)

from relfast.errors import InputError
from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.reasoning import read_strictly, strip_reasoning
from relfast.tasks.seqbench.actions import Action, encode
from relfast.tasks.seqbench.machine import machine
from relfast.tasks.seqbench.maze import Fields, Layout, Maze, Source

NO_MAZE: Final = (
    "no maze to run the plan in: neither structural_details nor facts about rooms (field 'question')"
)
NO_WAY: Final = "no legal plan rescues anybody in this maze: facts or structural_details lack something"
SEARCH_GIVEN_UP: Final = "search_given_up"
"""The reason of a ``strict`` row whose maze has so many doors and keys on cycles that the search for the
shortest plan, or for the way on from where this one breaks off, was given up."""

CACHE_BYTES: Final = 64 << 20
"""What cached mazes may take: about 1,000 of 40 × 40 rooms, 10,000 of 10 × 10."""

_OBJECT_BYTES: Final = 2_000  # an entry's Python objects beside its arrays
_BYTES_A_ROOM: Final = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """A maze with its gold plan.

    ``numbers``: what the kernels take of it (`relfast_kernels.maze.columns`), settled. ``source`` is None
    where nothing describes the maze: then plans can only be compared with gold. ``rooms`` are their names,
    ``target`` is who is rescued. ``length`` and ``unlocks`` are counted in gold; ``text`` is that as the
    record has it."""

    numbers: array[int]
    source: Source | None
    rooms: frozenset[str]
    target: str
    unlocks: int
    text: str

    @property
    def address(self) -> int:
        """Where the numbers are."""
        return self.numbers.buffer_info()[0]

    @property
    def flaw(self) -> str | None:
        """Why ``strict`` cannot say what a plan is worth here, if so."""
        if self.source is None:
            return NO_MAZE
        return NO_WAY if self.numbers[SHORTEST] == UNSOLVABLE else None

    @property
    def given_up(self) -> bool:
        """Whether the search for the shortest plan was given up; gold's length stands for it."""
        return self.numbers[SHORTEST] == TOO_LARGE

    @property
    def length(self) -> int:
        return self.numbers[N_GOLD]

    @property
    def n_bytes(self) -> int:
        return 4 * len(self.numbers) + len(self.text) + _BYTES_A_ROOM * len(self.rooms) + _OBJECT_BYTES


def solve(fields: Fields) -> Problem:
    """Build the maze and its gold.

    Raises
    ------
    InputError
        Gold is missing or mistyped, or the maze contradicts the dataset card.
    """
    gold = fields.gold()
    found = fields.layout(gold)
    if found is None:
        # a room of gold's own, so that plans can be compared with it
        layout = Layout(start="", goal="", target=next((a.parameter for a in gold if a.name == "rescue"), ""))
        maze = Maze.build(layout, "context", extra=gold)
    else:
        maze = Maze.build(*found, extra=gold)
    return Problem(
        _numbers(maze, gold),
        None if found is None else maze.source,
        frozenset(maze.rooms),
        maze.target,
        sum(action.name == "unlock_and_open_door_to" for action in gold),
        fields.completion if isinstance(fields.completion, str) else str([str(action) for action in gold]),
    )


def _numbers(maze: Maze, gold: Sequence[Action]) -> array[int]:
    """A maze, its names and its gold as the kernels take them."""
    kinds, arguments = maze.numbers_of(gold)
    names = [name.encode("utf-8", "surrogatepass") for name in (*maze.rooms, *maze.keys, maze.target)]
    text = b"".join(names)
    n_slots = 8
    while n_slots < 2 * len(names):
        n_slots *= 2
    numbers = array("i", bytes(4 * HEADER))
    for part in (maze.first_edge, maze.neighbors, maze.doors, maze.door_keys, maze.key_rooms):
        numbers.extend(part)
    numbers.extend(array("i", kinds))
    numbers.extend(array("i", arguments))
    numbers.extend(array("i", accumulate(map(len, names))))
    numbers.frombytes(bytes(4 * (n_slots + 4 * len(gold))))
    numbers.frombytes(text + bytes(-len(text) % 4))
    counts = (
        len(maze.rooms),
        len(maze.neighbors),
        len(maze.door_keys),
        len(maze.keys),
        maze.start,
        maze.goal,
    )
    header = header_of(*counts, len(gold), len(names), n_slots, len(text), len(numbers))
    numbers[: len(header)] = array("i", header)
    machine().settle(numbers)
    return numbers


class ProblemCache:
    """Problems by their fields; what was not used for longest leaves when the bytes run out. Thread-safe."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        self.misses = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, Problem | str] = OrderedDict()

    def get(self, fields: Fields, key: bytes) -> Problem | str:
        """The problem, or one line that says why there is none. ``key`` is `Fields.key`."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry
        try:
            entry = solve(fields)
        except InputError as error:
            entry = str(error)
        with self._lock:
            self.misses += 1
            if key not in self._entries:
                self._entries[key] = entry
                self.n_bytes += _size(entry)
            while self.n_bytes > self.limit and len(self._entries) > 1:
                self.n_bytes -= _size(self._entries.popitem(last=False)[1])
        return entry


def _size(entry: Problem | str) -> int:
    return entry.n_bytes if isinstance(entry, Problem) else _OBJECT_BYTES


PROBLEMS: Final = ProblemCache()
"""The process's own: workers see the same mazes again and again."""


MAX_JOINED: Final = 16 << 20
"""Characters that are held as bytes at a time; longer batches take several."""

_VIOLATIONS: Final = (*VIOLATIONS, None)
"""By the kernel's code, whose -1 is a legal plan."""

_OF_NO_MAZE: Final = dict.fromkeys(("valid", "optimal", "legal_ratio", "violation", "violation_index"))
"""What a plan's run shows where nothing describes the maze."""


def extract(record: Record, options: Options) -> Extracted[str]:
    """The text to look for a plan in; `score` finds out whether it holds one."""
    response = record.response
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        return Extracted(text, reason is None, reason)
    if not isinstance(response, str):
        return Extracted("", False)
    return Extracted(strip_reasoning(response, options.reasoning) if options.strip_reasoning else response)


def score(batch: Batch, options: Options) -> list[Outcome]:
    outcomes: list[Outcome] = []
    begin = size = 0
    for end, (_, extracted) in enumerate(batch, 1):
        size += len(extracted.value)
        if size > MAX_JOINED or end == len(batch):
            outcomes += _score(batch[begin:end], options)
            begin, size = end, 0
    return outcomes


def _score(batch: Batch, options: Options) -> list[Outcome]:
    known = [gold_of(record) for record, _ in batch]
    fields = [of_record for of_record, _ in known]
    problems = [PROBLEMS.get(*of_record) for of_record in known]
    found = _judged(problems, [extracted.value for _, extracted in batch], options)
    return [
        Outcome(False, found=False, error=problem)
        if isinstance(problem, str)
        else _outcome(problem, options, fields[row], extracted.reason, found[row])
        for row, (problem, (_, extracted)) in enumerate(zip(problems, batch, strict=True))
    ]


def gold_of(record: Record) -> tuple[Fields, bytes]:
    """A record's gold, and its key."""
    shared = record.shared
    if shared is not None and shared.made is not None:
        made: tuple[Fields, bytes] = shared.made
        return made
    fields = Fields.of(record.answer, record.question, record.row)
    found = fields, fields.key
    if shared is not None:
        shared.made = found
    return found


class _Judged(NamedTuple):
    """What is found in a text: columns of FOUND_COLUMNS and RATIOS, the text's UTF-8."""

    found: Sequence[int]
    ratios: Sequence[float]
    raw: bytes

    @property
    def plan(self) -> str:
        """The plan as it stands in the text."""
        return self.raw[self.found[FOUND_BEGIN] : self.found[FOUND_END]].decode("utf-8", "surrogatepass")


_NOTHING: Final = _Judged([0] * FOUND_COLUMNS, [0.0] * len(RATIOS), b"")


def _judged(problems: Sequence[Problem | str], texts: Sequence[str], options: Options) -> list[_Judged]:
    judged = [_NOTHING] * len(texts)
    rows = [row for row, problem in enumerate(problems) if isinstance(problem, Problem)]
    parts = [encode(texts[row]) for row in rows]
    asked = [problem for problem in problems if isinstance(problem, Problem)]
    found = machine().judge(parts, asked, IS_STRICT if options.strict else 0)
    for row, part, (whole, shares) in zip(rows, parts, found.rows(), strict=True):
        judged[row] = _Judged(whole, shares, part)
    return judged


def _outcome(
    problem: Problem, options: Options, fields: Fields, reason: str | None, found: _Judged
) -> Outcome:
    if options.strict and problem.flaw is not None:
        return Outcome(False, found=False, error=problem.flaw)
    metrics = _measures(found, options, **constants_of(problem, fields), reason=reason)
    if problem.source is None:
        metrics.update(_OF_NO_MAZE)
    _, _, n_actions, exact, optimal = found.found[:5]
    if not n_actions:
        return Outcome(False, metrics, {"pred": None, "gold": problem.text}, False)
    if options.strict and (problem.given_up or found.found[GIVEN_UP]):
        metrics["reason"] = SEARCH_GIVEN_UP
    correct = optimal == 1 if options.strict else exact == 1
    details = {"pred": found.plan, "gold": problem.text}
    return Outcome(correct, metrics, details, vote=f"{found.found[FOUND_VOTE]:x}")


def constants_of(problem: Problem, fields: Fields) -> dict[str, Any]:
    """What all responses to a record have in common."""
    return {
        "logical_depth": problem.length if fields.depth is None else fields.depth,
        "backtracking": problem.unlocks if fields.backtracking is None else fields.backtracking,
        "noise": fields.noise,
        "maze": problem.source,
    }


def outcome_of_nothing(options: Options) -> Outcome:
    """The outcome of a response without a plan to a record that is nothing in particular."""
    constants = dict.fromkeys(("logical_depth", "backtracking", "noise", "maze"))
    metrics = _measures(_NOTHING, options, **constants, reason=None)
    return Outcome(False, metrics, {"pred": None, "gold": ""}, False)


def _measures(
    found: _Judged,
    options: Options,
    *,
    logical_depth: int | None,
    backtracking: int | None,
    noise: float | None,
    maze: str | None,
    reason: str | None,
) -> dict[str, Any]:
    violation, index, n_actions, exact, optimal = found.found[:5]
    progress, precision, recall, f1, legal, walk = found.ratios
    metrics: dict[str, Any] = {
        "exact_match": exact == 1,
        "progress_ratio": progress,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "valid": violation < 0,
        "optimal": optimal == 1,
        "legal_ratio": legal,
        "violation": _VIOLATIONS[violation],
        "violation_index": None if violation < 0 else index,
        "n_actions": n_actions,
        "logical_depth": logical_depth,
        "backtracking": backtracking,
        "noise": noise,
        "maze": maze,
    }
    if options.strict:
        metrics["walk_score"] = walk
        metrics["reason"] = reason or (None if n_actions else "no_answer")
    return metrics
