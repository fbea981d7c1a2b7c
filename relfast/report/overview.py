"""The sections of the page that all tasks share: scores, failures, most frequent mistakes and several
samples; and the section that compares models pairwise on the samples they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from relfast.comparison import compare
from relfast.comparison.model import Comparison, header_of, methods, rows_of, text_columns
from relfast.errors import InputError, UsageError
from relfast.records import SCORED, Score
from relfast.report import figures
from relfast.report.by_size import COMPLETION, display_of, mean_of
from relfast.report.figures import Point, interval, percent
from relfast.report.page import Cell, Link, Report, Section, Share, Table
from relfast.report.record_blocks import Examples, name_of, place
from relfast.report.scored_rows import Scored
from relfast.stats.summary import TaskSummary
from relfast.tasks import TASKS

Rows = Sequence[Sequence[Cell]]

MOST_SHOWN: Final = 12
"""Maximum kinds of mistakes per task and run in the table of `mistakes`."""


def tasks_of(runs: Sequence[Scored]) -> list[str]:
    """The tasks of all runs, in the order of the table of tasks."""
    order = {name: place for place, name in enumerate(TASKS)}
    found = dict.fromkeys(name for run in runs for name in run.summary.tasks)
    return sorted(found, key=lambda name: order.get(name, len(order)))


def modelled(
    runs: Sequence[Scored], title: str, header: Sequence[str], rows: Rows, words: int, **more: Any
) -> Table:
    """A table whose second column is the model; the column is left out if there is only one model.
    ``words``: the number of text columns, with this one."""
    if len(runs) < 2:
        header, words = [header[0], *header[2:]], words - 1
        rows = [[row[0], *row[2:]] for row in rows]
    return Table(title, header, rows, text_columns=words, **more)


def statuses(runs: Sequence[Scored], examples: Examples) -> Section:
    """The section on rows without a score: how many, and why."""
    lost = sum(run.summary.rows - run.summary.count(*SCORED) for run in runs)
    rows: list[list[Cell]] = []
    for run in runs:
        errors = sorted(run.counted.errors.items(), key=lambda item: -item[1][0])
        for (task, status, kind), (n, message) in errors:
            texts = [status.replace("_", " "), kind or "not said", message or "not said", f"{n:,}"]
            found = examples.get((run.name, task, f"{status} {kind}".strip()), [])
            rows.append([task, run.name, *texts, found])
    text = f"{lost:,} rows have no score; they count nowhere else." if lost else "Every row has a score."
    names = ["task", "model", "status", "error", "first message", "rows", "records"]
    tables = [modelled(runs, "", names, rows, 5)] if rows else []
    cut = sum(task.counts.cut_off for run in runs for task in run.summary.tasks.values())
    if cut:
        text += f" Cut off before the answer began, and scored as empty responses: {cut:,}."
    return Section("Rows without a score", [text], tables, view="Failures")


def accuracy(task: TaskSummary) -> Point | None:
    """The mean of ``correct`` of a task with its 95 % interval."""
    bounds = task.correct_interval()
    return None if task.mean is None or bounds is None else Point(task.mean, *bounds, task.scored)


def grid(runs: Sequence[Scored]) -> Section:
    """The section with the accuracy of each task and model; each cell links to its records."""
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
    by_run = ", ".join(f"{n:,} of {name}" for name, n in lost.items() if n)
    total = sum(run.summary.rows for run in runs)
    text = f"{sum(lost.values()):,} of {total:,} responses have no score ({by_run})." if by_run else ""
    note = (
        "Share of correct responses with its 95 % interval: Wilson's, using the effective sample size where"
        " prompts have several responses. A cell leads to its records."
    )
    header = ["task", *(run.name for run in runs)]
    return Section("Correct", [text] if text else [], [Table("", header, rows, note)])


def scores(runs: Sequence[Scored], report: Report) -> Section:
    """The section with task completion, reward and metrics of each task and model."""
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
            if not display_of(name).completion:
                completion = task.mean
            shown = [percent(completion), number(task.mean_reward), percent(task.parsed)]
            rows.append([name, run.name, f"{task.prompts:,}", f"{task.scored:,}", *shown])
            metrics += [
                [name, run.name, metric, number(total / n), f"{int(n):,}"]
                for metric, (n, total) in task.sums.items()
                if n
            ]
    names = ["task", "model", "prompts", "responses", "task completion", "reward", "parsed"]
    tables = [modelled(runs, "", names, rows, 2)]
    if metrics:
        names = ["task", "model", "metric", "mean", "rows"]
        tables.append(modelled(runs, "Metrics", names, metrics, 3, folded=True))
    points = {
        run.name: {
            name: point for name, task in run.summary.tasks.items() if (point := accuracy(task)) is not None
        }
        for run in runs
    }
    figure = figures.dots("Accuracy by task", tasks, points, "correct responses")
    caption = "Share of correct responses with 95 % intervals."
    pictures = [report.draw("accuracy_by_task.png", "Accuracy", caption, figure)]
    graded = {}
    for name in tasks:
        having = [run for run in runs if run.counted.rewards.get(name)]
        of_runs = {run.name: np.frombuffer(run.counted.rewards[name], np.float64) for run in having}
        # if all rewards are 0 or 1, a histogram shows no more than the accuracy
        if any(((values != 0) & (values != 1)).any() for values in of_runs.values()):
            graded[name] = of_runs
    if graded:
        figure = figures.histograms("Rewards by task", graded, "reward")
        caption = "The reward of each response, where it is more than right or wrong; dashed is the mean."
        pictures.append(report.draw("reward_distribution.png", "Rewards", caption, figure))
    return Section("Reward and metrics", [], tables, pictures)


def mistakes(runs: Sequence[Scored], examples: Examples) -> Section | None:
    """The section with the most frequent mistakes, and links to examples."""
    rows: list[list[Cell]] = []
    for name in tasks_of(runs):
        for run in runs:
            counts = run.counted.mistakes.get(name, {})
            wrong = sum(counts.values())
            for kind, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_SHOWN]:
                found = examples.get((run.name, name, kind), [])
                rows.append([name, run.name, kind.replace("_", " "), f"{n:,}", percent(n / wrong), found])
    if not rows:
        return None
    names = ["task", "model", "what is wrong", "rows", "share of wrong", "records"]
    text = "Kinds of mistakes, most frequent first; under policy strict why a response was turned down."
    return Section("What goes wrong", [text], [modelled(runs, "", names, rows, 3)], view="Failures")


def samples(runs: Sequence[Scored], report: Report) -> Section | None:
    """The section with pass@k and maj@k; None if no prompt has several samples."""
    rows: list[list[Cell]] = []
    curves: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
    for name in tasks_of(runs):
        for run in runs:
            task = run.summary.tasks.get(name)
            if task is None:
                continue
            for kind, points in task.at_k().items():
                for k, point in points.items():
                    prompts = f"{point.prompts:,} of {task.prompts:,}"
                    rows.append([name, run.name, kind, str(k), percent(point.value), prompts])
                if kind != "avg@k" and points:
                    values = {k: point.value for k, point in points.items()}
                    curves.setdefault(name, {}).setdefault(run.name, {})[kind] = values
    if not rows:
        return None
    names = ["task", "model", "measure", "k", "value", "prompts"]
    note = "pass@k is over the prompts with k scored samples or more, maj@k over those with exactly k."
    pictures = []
    if curves:
        caption = "Chance that one of k samples, or their majority, is right."
        figure = figures.curves("pass@k and maj@k", curves, "share of prompts")
        pictures.append(report.draw("samples.png", "Several samples", caption, figure))
    table = modelled(runs, "By k", names, rows, 3, note=note, folded=True)
    return Section("Several samples", [], [table], pictures, pictures_first=True)


def number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.3f}" if abs(value) < 1_000 else f"{value:,.0f}"


MOST_ROWS = 3_000_000
"""Maximum rows of all models for comparisons: comparing more takes longer than the report."""
VIEW = "Compare"


def side_by_side(runs: Sequence[Scored]) -> Section | None:
    """The section with differences between models, their intervals and p values, and prompts that one
    model has right more often than another; None for one model."""
    if len(runs) < 2:
        return None
    title = "Models side by side"
    paths = [run.paths[0] for run in runs if len(run.paths) == 1]
    if len(paths) < len(runs):
        text = "Runs of several files are not paired here: `relfast compare` takes one each."
        return Section(title, [text], view=VIEW)
    if sum(run.summary.rows for run in runs) > MOST_ROWS:
        text = "There are too many rows to pair them here: `relfast compare` does."
        return Section(title, [text], view=VIEW)
    try:
        found = compare(*paths, names=[run.name for run in runs], max_flips=None)
    except (InputError, UsageError) as error:
        return Section(title, [f"They are not compared: {error}."], view=VIEW)
    words = text_columns(found)
    note = f"Differences in percentage points. {methods(found)}"
    tables = [Table("", header_of(found), rows_of(found, percents=True), note, text_columns=words)]
    flips = _flips(found, runs)
    if flips is not None:
        tables.append(flips)
    if found.notes:
        left_out = [[note] for note in found.notes]
        tables.append(Table("What is not compared, and notes", ["note"], left_out, folded=True))
    return Section(title, [], tables, view=VIEW)


def _flips(found: Comparison, runs: Sequence[Scored]) -> Table | None:
    """A table of the prompts that one model has right more often than another."""
    here: dict[tuple[str, int], Score] = {}
    for run in runs:
        for kept in run.sample:
            here.setdefault((run.name, kept.score.index), kept.score)
    rows: list[list[str | list[Link]]] = []
    for flip in found.flips:
        row: list[str | list[Link]] = [flip.task, str(flip.id)]
        for name, index, right, scored in (
            (flip.a, flip.index_a, flip.right_a, flip.scored_a),
            (flip.b, flip.index_b, flip.right_b, flip.scored_b),
        ):
            score, text = here.get((name, index)), f"{name} {right}/{scored}"
            row.append(text if score is None else [Link(text, name_of(name, score))])
        rows.append(row)
    if not rows:
        return None
    note = f"{found.n_flips:,} prompts that one model has right more often than the other, of each how often."
    header = ["task", "id", "first model", "second model"]
    return Table("Prompts that changed", header, rows, note, text_columns=2, folded=True)
