"""Scoring SeqBench: agreement with gold, and what running the plan in its maze shows.

Whether a text holds a plan is found out in `score`, by the batch: one call of a kernel reads the texts,
one for each maze runs its plans, and what is left to Python is one dict a response.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from relfast_kernels.layouts import JUDGED, RATIOS, VIOLATIONS

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.reasoning import read_strictly, strip_reasoning
from relfast.tasks.seqbench.actions import Reading, read
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.gold import PROBLEMS, Problem, Rooms
from relfast.tasks.seqbench.strict import NO_ANSWER, final_plan, may_differ, may_hold_one

MAX_JOINED: Final = 16 << 20
"""Characters that are joined for one call of the kernel; longer batches take several."""

_VIOLATIONS: Final = (*VIOLATIONS, None)
"""By the kernel's code, whose -1 is a legal plan."""

_OF_NO_MAZE: Final = dict.fromkeys(("valid", "optimal", "legal_ratio", "violation", "violation_index"))
"""What a plan's run shows where nothing describes the maze."""

_UNKNOWN: Final = JUDGED.index("n_unknown")

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
    known = [_gold_of(record) for record, _ in batch]
    fields = [of_record for of_record, _ in known]
    problems = [PROBLEMS.get(*of_record) for of_record in known]
    found = _judged(problems, [extracted.value for _, extracted in batch])
    if options.strict:
        for row, judged in _read_anew(batch, problems, found):
            found[row] = judged
    return [
        Outcome(False, found=False, error=problem)
        if isinstance(problem, str)
        else _outcome(problem, options, fields[row], extracted.reason, found[row])
        for row, (problem, (_, extracted)) in enumerate(zip(problems, batch, strict=True))
    ]


def _gold_of(record: Record) -> tuple[Fields, Hashable]:
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
    """What is found in a text: columns JUDGED and RATIOS; where in ``reading`` the plan stands and how many
    there are; its vote; where the text ends; and why there is no answer (``strict``)."""

    judged: Sequence[int]
    ratios: Sequence[float]
    reading: Reading
    span: Sequence[int]
    vote: int
    text_ends: int
    reason: str | None = None


def _judged(problems: Sequence[Problem | str], texts: Sequence[str]) -> list[_Judged]:
    reading = read(texts)
    judged, ratios = _judge(problems, reading)
    plans = reading.plans
    rows = zip(
        judged.tolist(),
        ratios.tolist(),
        repeat(reading),
        plans.lists.tolist(),
        plans.votes.tolist(),
        reading.ends,
        strict=False,
    )
    return [_Judged(*row) for row in rows]


def _judge(
    problems: Sequence[Problem | str], reading: Reading
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Columns JUDGED and RATIOS of `relfast_kernels.layouts`: one call of the kernel for each maze."""
    from relfast_kernels.maze.judge import judge_plans

    judged = np.zeros((len(problems), len(JUDGED)), np.int32)
    ratios = np.zeros((len(problems), len(RATIOS)))
    groups: dict[int, tuple[Problem, list[int]]] = {}
    for row, problem in enumerate(problems):
        if isinstance(problem, Problem):
            groups.setdefault(id(problem), (problem, []))[1].append(row)
    for problem, rows in groups.values():
        judge_plans(*problem.tables, reading.text, reading.plans, np.array(rows, np.int64), judged, ratios)
    return judged, ratios


def _read_anew(
    batch: Batch, problems: Sequence[Problem | str], found: Sequence[_Judged]
) -> Iterator[tuple[int, _Judged]]:
    """Strict: the responses whose plan is more than a matter of finding the one list in them."""
    rows: list[int] = []
    texts: list[str] = []
    for row, ((_, extracted), problem) in enumerate(zip(batch, problems, strict=True)):
        if extracted.reason is not None or isinstance(problem, str) or _is_plain(found[row], extracted.value):
            continue
        if found[row].span[2] or may_hold_one(extracted.value):
            plan = final_plan(extracted.value, problem.target, Rooms(problem))
        else:
            plan = NO_ANSWER
        if isinstance(plan, str):
            yield row, found[row]._replace(judged=[0] * len(JUDGED), ratios=[0.0] * len(RATIOS), reason=plan)
        else:
            rows.append(row)
            texts.append(str(list(plan)))
    if rows:
        yield from zip(rows, _judged([problems[row] for row in rows], texts), strict=True)


def _is_plain(found: _Judged, text: str) -> bool:
    """Whether the kernel has read all there is to read: one list, whose items the maze knows."""
    begin, end, n_plans = found.span
    if n_plans != 1 or found.judged[_UNKNOWN]:
        return False
    reading, last = found.reading, found.text_ends
    # bytes to characters, counted from the text's end: what follows a plan is short
    ascii_only = text.isascii()
    n_behind = last - end if ascii_only else len(reading.cut(end, last))
    n_listed = end - begin if ascii_only else len(reading.cut(begin, end))
    behind = text[len(text) - n_behind :]
    before = text[: len(text) - n_behind - n_listed]
    return not may_differ(before, behind)


def _outcome(
    problem: Problem, options: Options, fields: Fields, reason: str | None, found: _Judged
) -> Outcome:
    violation, index, n_actions, exact, optimal, _ = found.judged
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
        "logical_depth": problem.length if fields.depth is None else fields.depth,
        "backtracking": problem.unlocks if fields.backtracking is None else fields.backtracking,
        "noise": fields.noise,
        "maze": problem.source,
    }
    if problem.source is None:
        if options.strict:
            return Outcome(False, found=False, error=NO_MAZE)
        metrics.update(_OF_NO_MAZE)
    elif options.strict and not problem.solvable:
        return Outcome(False, found=False, error=NO_WAY)
    if options.strict:
        metrics["walk_score"] = walk
        metrics["reason"] = reason or found.reason
    if not n_actions:
        return Outcome(False, metrics, {"pred": None, "gold": problem.text}, False)
    pred = found.reading.cut(found.span[0], found.span[1])
    correct = optimal == 1 if options.strict else exact == 1
    return Outcome(correct, metrics, {"pred": pred, "gold": problem.text}, vote=f"{found.vote:x}")
