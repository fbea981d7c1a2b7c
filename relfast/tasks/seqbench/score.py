"""Scoring SeqBench: agreement with gold, and what running the plan in its maze shows.

Whether a text holds a plan is found out in `score`, by the batch: machine code reads the texts and runs their
plans (`relfast.tasks.seqbench.machine`), and what is left to Python is one dict a response."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

from relfast_kernels.layouts import RATIOS, VIOLATIONS
from relfast_kernels.maze.columns import (
    FOUND_BEGIN,
    FOUND_COLUMNS,
    FOUND_END,
    FOUND_VOTE,
    IS_STRICT,
)

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.reasoning import read_strictly, strip_reasoning
from relfast.tasks.seqbench.actions import encode
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.gold import PROBLEMS, Problem
from relfast.tasks.seqbench.machine import machine

MAX_JOINED: Final = 16 << 20
"""Characters that are held as bytes at a time; longer batches take several."""

_VIOLATIONS: Final = (*VIOLATIONS, None)
"""By the kernel's code, whose -1 is a legal plan."""

_OF_NO_MAZE: Final = dict.fromkeys(("valid", "optimal", "legal_ratio", "violation", "violation_index"))
"""What a plan's run shows where nothing describes the maze."""


NO_MAZE: Final = (
    "no maze to run the plan in: neither structural_details nor facts about rooms (field 'question')"
)


NO_WAY: Final = "no legal plan rescues anybody in this maze: facts or structural_details lack something"


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


def gold_of(record: Record) -> tuple[Fields, Hashable]:
    """A record's gold, and its key."""
    shared = record.shared
    if shared is not None and shared.made is not None:
        made: tuple[Fields, Hashable] = shared.made
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
    if problem.source is None:
        if options.strict:
            return Outcome(False, found=False, error=NO_MAZE)
    elif options.strict and not problem.solvable:
        return Outcome(False, found=False, error=NO_WAY)
    metrics = _measures(found, options, **constants_of(problem, fields), reason=reason)
    if problem.source is None:
        metrics.update(_OF_NO_MAZE)
    _, _, n_actions, exact, optimal = found.found[:5]
    if not n_actions:
        return Outcome(False, metrics, {"pred": None, "gold": problem.text}, False)
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
