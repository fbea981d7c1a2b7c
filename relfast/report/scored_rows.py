"""Scored rows of any tasks and summaries of runs, read and added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from relfast.engine.io.scored import read_scores
from relfast.records import SCORED, Score
from relfast.report.base import OnStep, ignore_step
from relfast.report.inputs import SharedRows, check_summaries, find_inputs, is_summary_of
from relfast.stats.summary import Summary, Tally, add_majorities, summarize
from relfast.tasks import TASKS
from relfast.tasks.base import Figures

ROWS_AT_A_TIME: Final = 10_000


@dataclass
class Drawn:
    """What a task's own figures (`relfast.tasks.base.Figures`) need of its rows, in their order."""

    columns: dict[str, list[Any]]
    correct: list[bool] = field(default_factory=list)


@dataclass
class Scored:
    """Scored rows, read: the numbers of `relfast.stats.summary`, and the columns that are drawn."""

    summary: Summary
    rewards: dict[str, list[float]]
    drawn: dict[str, Drawn]
    inputs: list[str]


def read_scored(inputs: Sequence[str], *, shards: bool = False, on_step: OnStep = ignore_step) -> Scored:
    """Read and add up scored files and summaries; see `relfast.report.scored.generate_report`."""
    found = find_inputs(inputs)
    summaries = [(item.path, item.summary) for item in found if item.summary is not None]
    scored = Scored(summarize(Tally(), ""), {}, {}, [Path(item.path).name for item in found])
    shared = SharedRows(shards=shards)
    whole = Tally()
    parts: list[tuple[str, Summary]] = []
    for item in found:
        if item.summary is None:
            on_step(f"reading {item.path}")
            tally = _read_rows(shared.add(item.source, read_scores(item.source)), scored)
            whole.merge(tally)
            # only to be held against the summaries
            parts.append((item.path, summarize(tally, "") if summaries else Summary({}, "")))
    shared.check()
    own, others = _pair(summaries, parts)
    check_summaries(others, parts, shards=shards)
    scored.summary = summarize(whole, "")
    _take_over(scored.summary, own, parts)
    for _, other in others:
        scored.summary.signature = scored.summary.signature or other.signature
        scored.summary.merge(other)
    return scored


def _read_rows(scores: Iterator[Score], scored: Scored) -> Tally:
    """The tally of a file's rows; what is drawn of them is added to ``scored``."""
    tally = Tally()
    while pending := list(islice(scores, ROWS_AT_A_TIME)):
        tally.merge(Tally.of(pending))
        for score in pending:
            if score.reward is not None and score.task is not None:
                scored.rewards.setdefault(score.task, []).append(score.reward)
            if score.task is not None and score.task in TASKS and score.status in SCORED:
                _add_drawn(scored.drawn, score, TASKS[score.task].figures)
    return tally


def _pair(
    summaries: Sequence[tuple[str, Summary]], parts: Sequence[tuple[str, Summary]]
) -> tuple[dict[str, Summary], list[tuple[str, Summary]]]:
    """The summaries that are of files read here, by that file, and all others."""
    own: dict[str, Summary] = {}
    others = []
    for path, summary in summaries:
        rows = next((name for name, part in parts if is_summary_of(summary, name, part)), None)
        if rows is None:
            others.append((path, summary))
        else:
            own[rows] = summary
    return own, others


def _take_over(whole: Summary, own: Mapping[str, Summary], parts: Sequence[tuple[str, Summary]]) -> None:
    """Take from the rows' own summaries what rows do not say, signature and majority votes. Their numbers
    are the rows' and count once."""
    for name, task in whole.tasks.items():
        of_task = [(path, part.tasks[name]) for path, part in parts if name in part.tasks]
        task.majority = {}  # of rows alone: they carry no votes
        # a prompt whose samples lie in two files has two majorities there, and another one here
        prompts_apart = sum(part.prompts for _, part in of_task) == task.prompts
        if prompts_apart and all(path in own for path, _ in of_task):
            for path, _ in of_task:
                add_majorities(task.majority, own[path].tasks[name].majority)
    for signature in dict.fromkeys(summary.signature for summary in own.values()):
        if whole.signature:
            whole.notes.append(f"merged with rows signed {signature}")
        else:
            whole.signature = signature
    if own:
        whole.notes.append("rows and their own summaries are counted once")


def _add_drawn(drawn: dict[str, Drawn], score: Score, figures: Figures | None) -> None:
    if figures is None or not isinstance(score.correct, bool):
        return
    values = [score.metrics.get(name) for name in figures.metrics]
    if not isinstance(values[0], int | float):
        return
    assert score.task is not None
    kept = drawn.setdefault(score.task, Drawn({name: [] for name in figures.metrics}))
    kept.correct.append(score.correct)
    for name, value in zip(figures.metrics, values, strict=True):
        kept.columns[name].append(value)
