"""The sections that every task has: scores, failures, what is wrong most often, samples; and the one that
holds models against each other, pair by pair, on what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from relfast.comparison import compare
from relfast.comparison.model import Comparison, header_of, methods, rows_of, text_columns
from relfast.errors import InputError, UsageError
from relfast.records import SCORED
from relfast.report import figures
from relfast.report.by_size import COMPLETION, mean_of
from relfast.report.figures import Point, interval, percent
from relfast.report.page import Cell, Link, Report, Section, Share, Table
from relfast.report.record_blocks import Examples, name_of, place
from relfast.report.scored_rows import Scored
from relfast.stats.summary import TaskSummary
from relfast.tasks import TASKS

MOST_SHOWN: Final = 12
"""Kinds of mistakes of a task and a run in the table of what is wrong most often."""


def tasks_of(runs: Sequence[Scored]) -> list[str]:
    """The tasks that any run has, in the order of the table of tasks."""
    order = {name: place for place, name in enumerate(TASKS)}
    found = dict.fromkeys(name for run in runs for name in run.summary.tasks)
    return sorted(found, key=lambda name: order.get(name, len(order)))


def labelled(
    runs: Sequence[Scored], header: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
    """A table's header and rows without the model's column, the second, where there is one model."""
    if len(runs) > 1:
        return header, rows
    return [header[0], *header[2:]], [[row[0], *row[2:]] for row in rows]


def statuses(runs: Sequence[Scored], examples: Examples) -> Section:
    """What could not be scored, and why."""
    lost = sum(run.summary.rows - run.summary.count(*SCORED) for run in runs)
    rows: Sequence[Sequence[Cell]] = [
        [
            task,
            run.name,
            status.replace("_", " "),
            kind or "not said",
            message or "not said",
            f"{n:,}",
            examples.get((run.name, task, f"{status} {kind}".strip()), []),
        ]
        for run in runs
        for (task, status, kind), (n, message) in sorted(
            run.counted.errors.items(), key=lambda item: -item[1][0]
        )
    ]
    text = f"{lost:,} rows have no score; they count nowhere else." if lost else "Every row has a score."
    names = ["task", "model", "status", "error", "first message", "rows", "records"]
    header, rows = labelled(runs, names, rows)
    tables = [Table("", header, rows, text_columns=len(header) - 2)] if rows else []
    return Section("Rows without a score", [text], tables, view="Failures")


def accuracy(task: TaskSummary) -> Point | None:
    """Mean of ``correct`` with its 95 % interval."""
    bounds = task.correct_interval()
    return None if task.mean is None or bounds is None else Point(task.mean, *bounds, task.scored)


def grid(runs: Sequence[Scored]) -> Section:
    """The score of each task and model with its interval; a cell leads to its records."""
    rows: list[list[Cell]] = []
    for name in tasks_of(runs):
        row: list[Cell] = [name]
        for run in runs:
            task = run.summary.tasks.get(name)
            point = None if task is None else accuracy(task)
            if point is None:
                row.append("–" if task is None else "no score")
                continue
            where = place(task=name, model=run.name)
            row.append(Share(point.value, percent(point.value), interval(point), f"{point.n:,}", where))
        rows.append(row)
    lost = {run.name: run.summary.rows - run.summary.count(*SCORED) for run in runs}
    told = ", ".join(f"{n:,} of {name}" for name, n in lost.items() if n)
    total = sum(run.summary.rows for run in runs)
    text = f"{sum(lost.values()):,} of {total:,} responses have no score ({told})." if told else ""
    note = (
        "Share of correct responses with its 95 % interval: Wilson's, using the effective sample size where"
        " prompts have several responses. A cell leads to its records."
    )
    header = ["task", *(run.name for run in runs)]
    return Section("Correct", [text] if text else [], [Table("", header, rows, note)])


def scores(runs: Sequence[Scored], report: Report) -> Section:
    """Completion, reward and the metrics, models side by side."""
    tasks = tasks_of(runs)
    rows: list[list[Cell]] = []
    metrics: list[list[Cell]] = []
    for name in tasks:
        for run in runs:
            task = run.summary.tasks.get(name)
            if task is None:
                continue
            table = run.counted.sizes.get(name)
            completion = mean_of(table.cell(None, None), (COMPLETION,)) if table is not None else None
            display = TASKS[name].display if name in TASKS else None
            if display is None or not display.completion:
                completion = task.mean
            shown = [percent(completion), number(task.mean_reward), percent(task.parsed)]
            rows.append([name, run.name, f"{task.prompts:,}", f"{task.scored:,}", *shown])
            metrics += [
                [name, run.name, metric, number(total / n), f"{int(n):,}"]
                for metric, (n, total) in task.sums.items()
                if n
            ]
    names = ["task", "model", "prompts", "responses", "task completion", "reward", "parsed"]
    tables = [Table("", *labelled(runs, names, rows), text_columns=1 + (len(runs) > 1))]
    if metrics:
        found = labelled(runs, ["task", "model", "metric", "mean", "rows"], metrics)
        tables.append(Table("Metrics", *found, text_columns=2 + (len(runs) > 1), folded=True))
    points = {
        run.name: {
            name: point for name, task in run.summary.tasks.items() if (point := accuracy(task)) is not None
        }
        for run in runs
    }
    pictures = [
        report.draw(
            "accuracy_by_task.png",
            "Accuracy",
            "Share of correct responses with 95 % intervals.",
            figures.dots("Accuracy by task", tasks, points, "correct responses"),
        )
    ]
    graded = {
        name: {
            run.name: np.frombuffer(run.counted.rewards[name], np.float64)
            for run in runs
            if run.counted.rewards.get(name)
        }
        for name in tasks
    }
    # of rewards that are 0 or 1 a histogram says what the accuracy says
    graded = {
        name: of_runs
        for name, of_runs in graded.items()
        if any(((values != 0) & (values != 1)).any() for values in of_runs.values())
    }
    if graded:
        pictures.append(
            report.draw(
                "reward_distribution.png",
                "Rewards",
                "The reward of each response, where it is more than right or wrong; dashed is the mean.",
                figures.histograms("Rewards by task", graded, "reward"),
            )
        )
    return Section("Reward and metrics", [], tables, pictures)


def mistakes(runs: Sequence[Scored], examples: Examples) -> Section | None:
    """What is wrong most often, with examples."""
    rows: list[list[Cell]] = []
    for name in tasks_of(runs):
        for run in runs:
            counts = run.counted.mistakes.get(name, {})
            wrong = sum(counts.values())
            for kind, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_SHOWN]:
                rows.append(
                    [
                        name,
                        run.name,
                        kind.replace("_", " "),
                        f"{n:,}",
                        percent(n / wrong),
                        examples.get((run.name, name, kind), []),
                    ]
                )
    if not rows:
        return None
    names = ["task", "model", "what is wrong", "rows", "share of wrong", "records"]
    header, shown = labelled(runs, names, rows)
    return Section(
        "What goes wrong",
        ["Kinds of mistakes, most frequent first; under policy strict why a response was turned down."],
        [Table("", header, shown, text_columns=len(header) - 3)],
        view="Failures",
    )


def samples(runs: Sequence[Scored], report: Report) -> Section | None:
    """pass@k and maj@k, where prompts have several samples."""
    rows: list[list[Cell]] = []
    curves: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
    for name in tasks_of(runs):
        for run in runs:
            task = run.summary.tasks.get(name)
            if task is None:
                continue
            for kind, points in task.at_k().items():
                rows += [
                    [
                        name,
                        run.name,
                        kind,
                        str(k),
                        percent(point.value),
                        f"{point.prompts:,} of {task.prompts:,}",
                    ]
                    for k, point in points.items()
                ]
                if kind != "avg@k" and points:
                    values = {k: point.value for k, point in points.items()}
                    curves.setdefault(name, {}).setdefault(run.name, {})[kind] = values
    if not rows:
        return None
    found = labelled(runs, ["task", "model", "measure", "k", "value", "prompts"], rows)
    note = "pass@k is over the prompts with k scored samples or more, maj@k over those with exactly k."
    pictures = []
    if curves:
        pictures.append(
            report.draw(
                "samples.png",
                "Several samples",
                "Chance that one of k samples, or their majority, is right.",
                figures.curves("pass@k and maj@k", curves, "share of prompts"),
            )
        )
    return Section(
        "Several samples",
        [],
        [Table("By k", *found, note, text_columns=2 + (len(runs) > 1), folded=True)],
        pictures,
        pictures_first=True,
    )


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if abs(value) < 1_000 else f"{value:,.0f}"


MOST_ROWS = 3_000_000
"""Rows of all models beyond which they are not paired: `relfast compare` takes longer than the report."""
MOST_FLIPS = 40
VIEW = "Compare"


def side_by_side(runs: Sequence[Scored]) -> Section | None:
    """Differences with intervals and p, and the records that changed; None for one model."""
    if len(runs) < 2:
        return None
    title = "Models side by side"
    paths = [run.paths[0] for run in runs if len(run.paths) == 1]
    if len(paths) < len(runs):
        return Section(
            title, ["Runs of several files are not paired here: `relfast compare` takes one each."], view=VIEW
        )
    if sum(run.summary.rows for run in runs) > MOST_ROWS:
        return Section(
            title, ["There are too many rows to pair them here: `relfast compare` does."], view=VIEW
        )
    try:
        found = compare(*paths, names=[run.name for run in runs], max_flips=None)
    except (InputError, UsageError) as error:
        return Section(title, [f"They are not compared: {error}."], view=VIEW)
    words = text_columns(found)
    tables = [
        Table(
            "",
            header_of(found),
            rows_of(found, percents=True),
            f"Differences in percentage points. {methods(found)}",
            text_columns=words,
        )
    ]
    flips = _flips(found, runs)
    if flips is not None:
        tables.append(flips)
    if found.notes:
        left_out = [[note] for note in found.notes]
        tables.append(Table("What is not compared, and notes", ["note"], left_out, folded=True))
    return Section(title, [], tables, view=VIEW)


def _flips(found: Comparison, runs: Sequence[Scored]) -> Table | None:
    """Records that one model has right and another wrong, of those that the page holds."""
    here = {
        (run.name, kept.score.task, repr(kept.score.id), kept.score.sample): kept.score
        for run in runs
        for kept in run.sample
    }
    rows: list[list[str | list[Link]]] = []
    for flip in found.flips:
        scores = [here.get((name, flip.task, repr(flip.id), flip.sample)) for name in (flip.a, flip.b)]
        if all(scores) and len(rows) < MOST_FLIPS:
            links = [
                [Link(f"{name} {'✓' if score.correct else '✗'}", name_of(name, score))]
                for name, score in zip((flip.a, flip.b), scores, strict=True)
                if score is not None
            ]
            rows.append([flip.task, str(flip.id), str(flip.sample), *links])
    if not rows:
        return None
    note = f"{len(rows)} of {found.n_flips:,} that one model has right and the other wrong."
    return Table(
        "Records that changed",
        ["task", "id", "sample", "first model", "second model"],
        rows,
        note,
        text_columns=2,
        folded=True,
    )
