"""Scoring SeqBench: agreement with gold, and what running the plan in its maze shows.

Whether a text holds a plan is found out in `score`, by the batch: the kernel that looks for it reads a
batch in the time that one call costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.final import Candidate, final_candidates
from relfast.tasks.reasoning import read_strictly, strip_reasoning
from relfast.tasks.seqbench.actions import Reading, encode, read
from relfast.tasks.seqbench.gold import PROBLEMS, Fields, Problem, fields_of
from relfast.tasks.seqbench.maze import UNPARSABLE

_OF_THE_MAZE: Final = ("valid", "optimal", "legal_ratio", "violation", "violation_index")
"""Metrics that are null where nothing describes the maze."""

MIN_PLAN_BYTES: Final = len("['start:A']")

MAX_JOINED: Final = 16 << 20
"""Characters that are joined for one call of the kernel; longer batches take several."""


def extract(record: Record, options: Options) -> Extracted:
    """The text to look for a plan in. ``found`` says only that there is one."""
    response = record.response
    if options.strict:
        text, reason = read_strictly(response)
        return Extracted(text, found=reason is None, reason=reason)
    if not isinstance(response, str):
        return Extracted("", found=False)
    return Extracted(strip_reasoning(response) if options.strip_reasoning else response)


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
    from relfast_kernels.maze import JUDGED, judge_plans

    reading = read([extracted.value for _, extracted in batch])
    judged = np.empty((len(batch), len(JUDGED)), np.int32)
    groups: dict[int, tuple[Problem, list[int]]] = {}
    gold: list[tuple[Fields, Problem | str]] = []
    for at, (record, _) in enumerate(batch):
        fields = fields_of(record)
        problem = PROBLEMS.get(fields)
        gold.append((fields, problem))
        if isinstance(problem, Problem):
            groups.setdefault(id(problem), (problem, []))[1].append(at)
    for problem, rows in groups.values():
        at_rows = np.array(rows, np.int64)
        judge_plans(problem.maze, problem.names, problem.gold, reading.text, reading.plans, at_rows, judged)
    lists = reading.plans.lists.tolist()
    votes = reading.plans.votes.tolist()
    outcomes = []
    for (_, extracted), (fields, problem), row, span, vote in zip(
        batch, gold, judged.tolist(), lists, votes, strict=True
    ):
        if isinstance(problem, str):
            outcomes.append(Outcome(False, found=False, error=problem))
        else:
            outcomes.append(_outcome(problem, fields, extracted, row, span, vote, reading, options))
    return outcomes


def _outcome(
    problem: Problem,
    fields: Fields,
    extracted: Extracted,
    judged: Sequence[int],
    span: Sequence[int],
    vote: int,
    reading: Reading,
    options: Options,
) -> Outcome:
    from relfast_kernels.maze import VIOLATIONS

    if problem.source is None and options.strict:
        return Outcome(
            False, found=False, error="no maze: neither structural_details nor facts (field 'question')"
        )
    violation, index, prefix, overlap, n_actions = judged
    found = n_actions > 0
    reason = extracted.reason
    begin, end, n_plans = span
    if options.strict:
        if not found:
            reason = reason or "no_answer"
        elif n_plans > 1 and _hedges(extracted.value):
            found, reason = False, "several_answers"
            violation, index, prefix, overlap, n_actions = -1, 0, 0, 0, 0
    length = problem.length
    exact = prefix == n_actions == length
    precision = overlap / n_actions if n_actions else 0.0
    recall = overlap / length
    metrics: dict[str, Any] = {
        "exact_match": exact,
        "progress_ratio": prefix / length,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if overlap else 0.0,
    }
    valid = optimal = False
    if problem.source is None:
        metrics.update(dict.fromkeys(_OF_THE_MAZE))
    else:
        valid = found and violation < 0
        optimal = valid and n_actions <= (problem.shortest if problem.shortest > 0 else length)
        metrics["valid"] = valid
        metrics["optimal"] = optimal
        metrics["legal_ratio"] = min((n_actions if valid else index) / length, 1.0)
        metrics["violation"] = None if valid else VIOLATIONS[violation] if found else UNPARSABLE
        metrics["violation_index"] = None if valid else index
    metrics["n_actions"] = n_actions
    metrics["logical_depth"] = fields.depth if fields.depth is not None else length
    metrics["backtracking"] = fields.backtracking if fields.backtracking is not None else problem.unlocks
    metrics["noise"] = fields.noise
    metrics["maze"] = problem.source
    if options.strict:
        metrics["reason"] = reason
    pred = reading.raw[begin:end].decode("utf-8", "surrogatepass") if found else None
    return Outcome(
        optimal if options.strict else exact,
        metrics,
        {"pred": pred, "gold": problem.text},
        found=found,
        vote=f"{vote:x}" if found else None,
    )


def _hedges(text: str) -> bool:
    """Whether the text ends with several plans that differ."""
    from relfast_kernels.plan_text import scan

    raw = np.frombuffer(encode(text), np.uint8)
    items = np.empty((2, len(raw) // 3 + 2, 4), np.int32)
    spans = np.empty((len(raw) // MIN_PLAN_BYTES + 1, 3), np.int64)
    _, n_plans = scan(raw, 0, len(raw), items[0], items[1], spans)
    candidates = []
    before = at = 0  # bytes and characters read so far
    for begin, end, vote in spans[:n_plans].tolist():
        at += len(bytes(raw[before:begin]).decode("utf-8", "surrogatepass"))
        length = len(bytes(raw[begin:end]).decode("utf-8", "surrogatepass"))
        candidates.append(Candidate(at, at + length, vote))
        before, at = end, at + length
    text = bytes(raw).decode("utf-8", "surrogatepass")
    return len({candidate.value for candidate in final_candidates(text, candidates)}) > 1
