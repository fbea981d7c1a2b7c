"""Scores SeqBench: how far a plan agrees with gold, and how it runs in its maze.

Kernels find the plans in a batch of texts and run them (`relfast.tasks.seqbench.machine`), so that only
`score` finds out whether a text has a plan; Python only makes one dict per response. The maze and gold of a
record are prepared for the kernels once, and cached for further responses to the same maze."""

from __future__ import annotations

import sys
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from relfast_kernels.layouts import TOO_LARGE, UNSOLVABLE, VIOLATIONS
from relfast_kernels.maze import layouts

from relfast.errors import InputError
from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.reasoning import has_surrogate, read_strictly, strip_reasoning
from relfast.tasks.seqbench.machine import encode, machine
from relfast.tasks.seqbench.maze import Fields, Source

NO_MAZE: Final = (
    "no maze to run the plan in: neither structural_details nor facts about rooms (field 'question')"
)
NO_WAY: Final = "no legal plan rescues anybody in this maze: facts or structural_details lack something"
SEARCH_GIVEN_UP: Final = "search_given_up"
"""The reason of a ``strict`` row whose maze has so many doors and keys on cycles that the search for the
shortest plan, or for the shortest completion of a broken plan, was given up."""

CACHE_BYTES: Final = 64 << 20
"""Most memory of cached mazes: about 250 of 40 × 40 rooms, 2,200 of 10 × 10."""

_OBJECT_BYTES: Final = 2_000  # of an entry's Python objects, besides its arrays


@dataclass(frozen=True, slots=True)
class Problem:
    """A maze with its gold plan.

    ``numbers``: the packed problem for the kernels (`relfast_kernels.maze.layouts`). ``source`` is None if
    nothing describes the maze: then plans can only be compared with gold. ``text``: the gold plan as the
    record has it; ``length`` and ``unlocks``: its numbers of actions and of doors unlocked. ``flaw``: why
    ``strict`` cannot score plans for this record, or None. ``given_up``: whether the search for the
    shortest plan was given up, so that gold's length takes its place."""

    numbers: array[int]
    source: Source | None
    text: str
    length: int
    unlocks: int
    flaw: str | None
    given_up: bool

    @property
    def address(self) -> int:
        """Address of the numbers in memory."""
        return self.numbers.buffer_info()[0]

    @property
    def n_bytes(self) -> int:
        return 4 * len(self.numbers) + len(self.text) + _OBJECT_BYTES


def solve(fields: Fields) -> Problem:
    """Build the problem of a record: its maze and gold.

    Raises
    ------
    InputError
        Gold is missing or mistyped, or the maze contradicts the dataset card.
    """
    if fields.completion is None:
        raise InputError("gold is missing", field="completion")
    numbers, source, _ = fields.built()
    facts = layouts.Fact(*numbers[: layouts.HEADER])
    flaw = NO_MAZE if source is None else NO_WAY if facts.shortest == UNSOLVABLE else None
    given_up = facts.shortest == TOO_LARGE
    return Problem(numbers, source, fields.text, facts.n_gold, facts.n_unlocks, flaw, given_up)


class ProblemCache:
    """A thread-safe LRU cache of problems by their fields, limited in bytes."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[object, ...], Problem | str] = OrderedDict()

    def get(self, fields: Fields, key: tuple[object, ...]) -> Problem | str:
        """The problem, or a message why there is none. ``key`` is `Fields.key`."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry
        entry = _problem_of(fields)
        with self._lock:
            if key not in self._entries:
                self._entries[key] = entry
                self.n_bytes += _size(entry) + _length(key)
            while self.n_bytes > self.limit and len(self._entries) > 1:
                oldest, problem = self._entries.popitem(last=False)
                self.n_bytes -= _size(problem) + _length(oldest)
        return entry


def _problem_of(fields: Fields) -> Problem | str:
    """The problem of a record, or a message why there is none."""
    try:
        return solve(fields)
    except InputError as error:
        return str(error)


def _size(entry: Problem | str) -> int:
    return entry.n_bytes if isinstance(entry, Problem) else _OBJECT_BYTES


def _length(key: tuple[object, ...]) -> int:
    return sum(map(sys.getsizeof, key))


PROBLEMS: Final = ProblemCache()
"""The cache of this process: workers see the same mazes again and again."""


MAX_JOINED: Final = 16 << 20
"""Most characters that are encoded at a time; a longer batch is scored in parts."""

_OF_NO_MAZE: Final = dict.fromkeys(("valid", "optimal", "legal_ratio", "violation", "violation_index"))
"""Metrics that are None if nothing describes the maze."""


def extract(response: object, options: Options) -> Extracted[str]:
    """The text of a response; `score` finds out whether it has a plan. The kernel cuts the reasoning, except
    that custom reasoning marks, which it does not know, are cut here."""
    if not isinstance(response, str):
        return Extracted("", False, "not_text")
    return _cut(response, options) if options.reasoning else Extracted(response)


def _cut(response: str, options: Options) -> Extracted[str]:
    """A response with its reasoning cut by Python."""
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        return Extracted(text, reason is None, reason)
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
    """The outcomes of a batch: the kernel scores all responses whose records have a sound problem."""
    outcomes: list[Outcome | None] = []
    attempts: list[Attempt] = []
    for record, extracted in batch:
        fields, problem = gold_of(record)
        flaw = problem if isinstance(problem, str) else problem.flaw if options.strict else None
        if isinstance(problem, str) or flaw is not None:
            outcomes.append(Outcome(False, found=False, error=flaw))
            continue
        outcomes.append(None)
        attempts.append(Attempt(problem, fields, extracted.value, extracted.reason))
    scored = iter(_scored(attempts, options))
    return [next(scored) if outcome is None else outcome for outcome in outcomes]


def _scored(attempts: Sequence[Attempt], options: Options) -> list[Outcome]:
    """Score responses by the kernel, which also cuts their reasoning; those that only Python can cut are
    scored a second time."""
    if options.reasoning or not (options.strict or options.strip_reasoning):
        return _outcomes(attempts, options, 0)[0]
    outcomes, certain = _outcomes(attempts, options, layouts.CUTS_REASONING)
    left = [at for at, flag in enumerate(certain) if not flag or has_surrogate(attempts[at].response)]
    if left:
        cut = [(attempts[at], _cut(attempts[at].response, options)) for at in left]
        again = [each._replace(response=text.value, reason=each.reason or text.reason) for each, text in cut]
        for at, outcome in zip(left, _outcomes(again, options, 0)[0], strict=True):
            outcomes[at] = outcome
    return outcomes


def gold_of(record: Record) -> tuple[Fields, Problem | str]:
    """A record's fields, and its problem or a message why there is none."""
    shared = record.shared
    if shared is None:
        fields = Fields.of(record.answer, record.question, record.row)
        return fields, PROBLEMS.get(fields, fields.key)
    if shared.made is None:
        # kept with the gold that is shared, so that no key is made
        fields = Fields.of(record.answer, record.question, record.row)
        problem = _problem_of(fields)
        shared.made, shared.n_bytes = (fields.without_maze(), problem), _size(problem)
    found: tuple[Fields, Problem | str] = shared.made
    return found


class Attempt(NamedTuple):
    """A response with its problem and its record's fields; ``reason``: why it is not searched, or None."""

    problem: Problem
    fields: Fields
    response: str
    reason: str | None


def _outcomes(attempts: Sequence[Attempt], options: Options, how: int) -> tuple[list[Outcome], list[int]]:
    """Outcomes of responses as the kernel finds them, and for each a flag: 0 if only Python can cut it."""
    texts = [encode(each.response) for each in attempts]
    how |= layouts.IS_STRICT if options.strict else 0
    found = machine().judge(texts, [each.problem.address for each in attempts], how)
    outcomes = [
        _outcome(each, text, score, options.strict)
        for each, text, score in zip(attempts, texts, found, strict=True)
    ]
    return outcomes, [score.certain for score in found]


def _outcome(each: Attempt, text: bytes, score: layouts.Score, strict: bool) -> Outcome:
    """The outcome of a response, made of the kernel's result."""
    problem, fields, violation, n = each.problem, each.fields, score.violation, score.n_actions
    exact, optimal, is_legal = score.exact == 1, score.optimal == 1, violation < 0
    metrics = {
        "exact_match": exact,
        "progress_ratio": score.progress,
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "valid": is_legal,
        "optimal": optimal,
        "legal_ratio": score.legal_ratio,
        "violation": None if is_legal else VIOLATIONS[violation],
        "violation_index": None if is_legal else score.violation_index,
        "n_actions": n,
        "logical_depth": problem.length if fields.depth is None else fields.depth,
        "backtracking": problem.unlocks if fields.backtracking is None else fields.backtracking,
        "noise": fields.noise,
        "maze": problem.source,
    }
    if problem.source is None:
        metrics |= _OF_NO_MAZE
    if strict:
        given_up = n and (problem.given_up or score.given_up)
        nothing = each.reason or (None if n else "no_answer")
        metrics |= {"walk_score": score.walk_score, "reason": SEARCH_GIVEN_UP if given_up else nothing}
    pred = text[score.begin : score.end].decode("utf-8", "surrogatepass") if n else None
    return Outcome(
        optimal if strict else exact,
        metrics,
        {"pred": pred, "gold": problem.text},
        n > 0,
        vote=f"{score.vote:x}" if n else None,
    )
