"""Scoring SeqBench: agreement with gold, and what running the plan in its maze shows.

Whether a text holds a plan is found out in `score`, by the batch: one call of a kernel reads the texts,
one for each maze runs its plans, and what is left to Python is one dict a response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from relfast_kernels.layouts import ITEM_COLUMNS, JUDGED, RATIOS, VIOLATIONS

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.final import Candidate, final_candidates
from relfast.tasks.reasoning import read_strictly, strip_reasoning
from relfast.tasks.seqbench.actions import Reading, encode, read
from relfast.tasks.seqbench.fields import Fields
from relfast.tasks.seqbench.gold import PROBLEMS, Problem

MAX_JOINED: Final = 16 << 20
"""Characters that are joined for one call of the kernel; longer batches take several."""

MIN_PLAN_BYTES: Final = len("['start:A']")

_VIOLATIONS: Final = (*VIOLATIONS, None)
"""By the kernel's code, whose -1 is a legal plan."""

_OF_NO_MAZE: Final = dict.fromkeys(("valid", "optimal", "legal_ratio", "violation", "violation_index"))
"""What a plan's run shows where nothing describes the maze."""

NO_MAZE: Final = (
    "no maze to run the plan in: neither structural_details nor facts about rooms (field 'question')"
)


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
    fields = [Fields.of(record.answer, record.question, record.row) for record, _ in batch]
    problems = [PROBLEMS.get(of_record) for of_record in fields]
    reading = read([extracted.value for _, extracted in batch])
    reasons = [extracted.reason for _, extracted in batch]
    judged, ratios = _judge(problems, reading)
    if options.strict:
        for row in _without_one_answer(batch, reading, reasons):
            judged[row] = ratios[row] = 0
    plans = reading.plans
    rows = zip(
        fields,
        reasons,
        judged.tolist(),
        ratios.tolist(),
        plans.lists.tolist(),
        plans.votes.tolist(),
        strict=True,
    )
    return [
        Outcome(False, found=False, error=problem)
        if isinstance(problem, str)
        else _outcome(problem, reading, options, *row)
        for problem, row in zip(problems, rows, strict=True)
    ]


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


def _without_one_answer(batch: Batch, reading: Reading, reasons: list[str | None]) -> list[int]:
    """Strict: the responses that hold no plan, or end with several that differ; ``reasons`` says which."""
    n_plans = reading.plans.lists[:, 2]
    rows = []
    for row in np.flatnonzero(n_plans != 1).tolist():
        if n_plans[row] == 0:
            reasons[row] = reasons[row] or "no_answer"
        elif _hedges(batch[row][1].value):
            reasons[row] = "several_answers"
        else:
            continue
        rows.append(row)
    return rows


def _hedges(text: str) -> bool:
    """Whether the text ends with several plans that differ."""
    from relfast_kernels.text.plans import lay_out, scan

    raw = encode(text)
    array = lay_out([raw])
    items = np.empty((2, len(raw) // 3 + 2, ITEM_COLUMNS), np.int32)
    spans = np.empty((len(raw) // MIN_PLAN_BYTES + 1, 3), np.int64)
    _, n_plans = scan(array, 0, len(raw), items[0], items[1], spans)
    text = raw.decode("utf-8", "surrogatepass")
    candidates = []
    before = at = 0  # bytes and characters read so far
    for begin, end, vote in spans[:n_plans].tolist():
        at += len(raw[before:begin].decode("utf-8", "surrogatepass"))
        length = len(raw[begin:end].decode("utf-8", "surrogatepass"))
        candidates.append(Candidate(at, at + length, vote))
        before, at = end, at + length
    return len({candidate.value for candidate in final_candidates(text, candidates)}) > 1


def _outcome(
    problem: Problem,
    reading: Reading,
    options: Options,
    fields: Fields,
    reason: str | None,
    judged: Sequence[int],
    ratios: Sequence[float],
    span: Sequence[int],
    vote: int,
) -> Outcome:
    violation, index, n_actions, exact, optimal = judged
    progress, precision, recall, f1, legal = ratios
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
    if options.strict:
        metrics["reason"] = reason
    if not n_actions:
        return Outcome(False, metrics, {"pred": None, "gold": problem.text}, False)
    pred = reading.cut(span[0], span[1])
    correct = optimal == 1 if options.strict else exact == 1
    return Outcome(correct, metrics, {"pred": pred, "gold": problem.text}, vote=f"{vote:x}")
