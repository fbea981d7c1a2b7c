"""The sections of the page that all tasks share: scores, failures, most frequent mistakes and several
samples; and the section that compares models pairwise on the samples they have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np

from relfast.comparison import compare
from relfast.comparison.model import Comparison, header_of, methods, pair_of, rows_of, text_columns
from relfast.errors import InputError, UsageError
from relfast.records import SCORED, Score
from relfast.report import figures
from relfast.report.by_size import COMPLETION, display_of, mean_of
from relfast.report.figures import Point, interval
from relfast.report.page import Cell, Link, Picture, Report, Section, Share, Table
from relfast.report.record_blocks import name_of, place
from relfast.report.scored_rows import Scored
from relfast.stats.intervals import clustered_mean, mean_interval
from relfast.stats.summary import TaskSummary
from relfast.stats.sums import add_counts
from relfast.tables import number, percent_points, share
from relfast.tasks import TASKS

Rows = Sequence[Sequence[Cell]]

MOST_SHOWN: Final = 12
"""Maximum kinds of mistakes per task and run in the table of `mistakes`."""


def tasks_of(runs: Sequence[Scored]) -> list[str]:
    """The tasks of all runs, in the order of the table of tasks."""
    order = {name: place for place, name in enumerate(TASKS)}
    found = dict.fromkeys(name for run in runs for name in run.summary.tasks)
    return sorted(found, key=lambda name: order.get(name, len(order)))


def _counts(
    runs: Sequence[Scored], task: str, kind: str, counts: Sequence[int], of: Sequence[int]
) -> list[Cell]:
    """The cells with a count for each run, its share of the numbers ``of``, and a link to the records."""
    cells: list[Cell] = []
    for run, n, whole in zip(runs, counts, of, strict=True):
        text = f"{n:,} ({share(n / whole)})" if whole else f"{n:,}"
        cells.append([Link(text, place(task=task, model=run.name, kind=kind))] if n else "–")
    return cells


def _names(runs: Sequence[Scored]) -> list[str]:
    """The headings of the columns of runs."""
    return [run.name for run in runs] if len(runs) > 1 else ["responses"]


def statuses(runs: Sequence[Scored]) -> Section:
    """The section on rows without a score: how many, and why."""
    lost = sum(run.summary.rows - run.summary.count(*SCORED) for run in runs)
    rows: list[list[Cell]] = []
    # of several messages that of the first run
    causes = {cause: said for run in reversed(runs) for cause, (_, said) in run.counted.errors.items()}
    for (task, status, kind), message in sorted(causes.items()):
        counts = [run.counted.errors.get((task, status, kind), (0, ""))[0] for run in runs]
        texts = [task, status.replace("_", " "), kind or "not said", message or "not said"]
        named = f"{status} {kind}".strip()
        rows.append([*texts, *_counts(runs, task, named, counts, [0] * len(runs))])
    text = f"{lost:,} rows have no score; they count nowhere else." if lost else "Every row has a score."
    header = ["task", "status", "error", "first message", *_names(runs)]
    tables = [Table("", header, rows, text_columns=4)] if rows else []
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
    tasks = tasks_of(runs)
    summaries = [[run.summary.tasks.get(name) for run in runs] for name in tasks]
    rows: list[list[Cell]] = []
    for name, of_task in zip(tasks, summaries, strict=True):
        points = [None if task is None else accuracy(task) for task in of_task]
        asked = dict.fromkeys(_asked(task) for task in of_task if task is not None)
        missing = ["–" if task is None else "no score" for task in of_task]
        cells = _shares(points, missing, [place(task=name, model=run.name) for run in runs])
        rows.append([name, " / ".join(asked), *cells])
    means = [_mean_of_tasks(of_run) for of_run in zip(*summaries, strict=True)]
    if len(tasks) > 1 and None not in means:
        rows.append([f"Mean of {len(tasks)} tasks", "", *_shares(means, [""] * len(runs), [""] * len(runs))])
    lost = {run.name: run.summary.rows - run.summary.count(*SCORED) for run in runs}
    by_run = ", ".join(f"{n:,} of {name}" for name, n in lost.items() if n)
    total = sum(run.summary.rows for run in runs)
    text = f"{sum(lost.values()):,} of {total:,} responses have no score ({by_run})." if by_run else ""
    note = (
        "Share of correct responses with its 95 % interval: Wilson's, using the effective sample size where"
        " prompts have several responses (20 × 8: 20 prompts, 8 responses to each). A cell leads to its"
        " records."
    )
    if len(runs) > 1:
        note += " Differences to the best are in percentage points; Compare tests them, prompt by prompt."
    header = ["task", "prompts", *(run.name for run in runs)]
    return Section("Correct", [text] if text else [], [Table("", header, rows, note, text_columns=2)])


def _asked(task: TaskSummary) -> str:
    """The numbers of prompts and responses with a score: ``20 × 8``, or ``20, 155`` if prompts differ."""
    prompts, rows = task.prompts, task.scored
    if rows == prompts:
        return f"{prompts:,}"
    return f"{prompts:,} × {rows // prompts:,}" if rows % prompts == 0 else f"{prompts:,}, {rows:,}"


def _shares(points: Sequence[Point | None], missing: Sequence[str], places: Sequence[str]) -> list[Cell]:
    """The cells of some models' accuracies, with their differences to the best."""
    values = [point.value for point in points if point is not None]
    cells: list[Cell] = []
    for point, nothing, where in zip(points, missing, places, strict=True):
        if point is None:
            cells.append(nothing)
            continue
        behind = point.value - max(values)
        note = "" if len(values) < 2 else percent_points(behind) if behind else "best"
        low = point.value if point.low is None else point.low
        high = point.value if point.high is None else point.high
        bounds = "" if point.low is None else interval(point)
        cells.append(Share(point.value, low, high, share(point.value), bounds, note, where))
    return cells


def _mean_of_tasks(tasks: Sequence[TaskSummary | None]) -> Point | None:
    """The mean of the tasks' accuracies, each task with the same weight; its interval is Student's, from the
    tasks' clustered errors. None unless every task has a score."""
    found = [clustered_mean(task.histogram) for task in tasks if task is not None]
    means = [mean for mean, _ in found if mean is not None]
    if len(means) < len(tasks):
        return None
    mean = sum(means) / len(means)
    errors = [error for _, error in found if error is not None]
    if len(errors) < len(tasks):
        return Point(mean)
    error = math.sqrt(sum(error * error for error in errors)) / len(tasks)
    bounds = mean_interval(mean, error, min(task.prompts for task in tasks if task is not None))
    return Point(mean) if bounds is None else Point(mean, max(0.0, bounds.low), min(1.0, bounds.high))


def scores(runs: Sequence[Scored], report: Report) -> Section:
    """The section with task completion, reward and metrics of each task and model."""
    tasks = tasks_of(runs)
    rows: list[list[Cell]] = []
    metrics: list[list[Cell]] = []
    for name in tasks:
        of_task = [run.summary.tasks.get(name) for run in runs]
        if display_of(name).completion:
            tables = [run.counted.sizes.get(name) for run in runs]
            means = [
                None if table is None else mean_of(table.cell(None, None), (COMPLETION,)) for table in tables
            ]
            rows.append([name, "task completion", *map(share, means)])
        if any(task is not None and task.mean_reward != task.mean for task in of_task):
            rows.append([name, "reward", *(number(task.mean_reward if task else None) for task in of_task)])
        rows.append([name, "parsed", *(share(task.parsed if task else None) for task in of_task)])
        sums = [{} if task is None else task.sums for task in of_task]
        for metric in dict.fromkeys(metric for of_run in sums for metric in of_run):
            pairs = [of_run.get(metric, (0, 0.0)) for of_run in sums]
            scored = [task.scored if task else 0 for task in of_task]
            shown = [
                (number(total / n) + ("" if n == all_rows else f" (n = {int(n):,})")) if n else "–"
                for (n, total), all_rows in zip(pairs, scored, strict=True)
            ]
            metrics.append([name, metric, *shown])
    note = "A task without a line for its reward has its accuracy as reward."
    tables_made = [Table("", ["task", "measure", *_names(runs)], rows, note, text_columns=2)]
    if metrics:
        header = ["task", "metric", *_names(runs)]
        tables_made.append(Table("Metrics", header, metrics, text_columns=2, folded=True))
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
    return Section("Reward and metrics", [], tables_made, pictures)


def mistakes(runs: Sequence[Scored]) -> Section | None:
    """The section with the most frequent mistakes in answers that were read, models side by side."""
    rows: list[list[Cell]] = []
    for name in tasks_of(runs):
        found = [run.counted.mistakes.get(name, {}) for run in runs]
        wrong = [sum(counts.values()) for counts in found]
        for kind in _frequent(found)[:MOST_SHOWN]:
            counts = [of_run.get(kind, 0) for of_run in found]
            rows.append([name, kind.replace("_", " "), *_counts(runs, name, kind, counts, wrong)])
    if not rows:
        return None
    text = (
        "Kinds of mistakes, most frequent first, with their share of a task's wrong answers. A count leads"
        " to its records."
    )
    table = Table("", ["task", "what is wrong", *_names(runs)], rows, text_columns=2)
    return Section("What goes wrong", [text], [table], view="Failures")


def _frequent(found: Sequence[Mapping[str, int]]) -> list[str]:
    """The kinds in some counts, the most frequent first."""
    total: dict[str, int] = {}
    for counts in found:
        add_counts(total, counts)
    return sorted(total, key=lambda kind: (-total[kind], kind))


_REASONS: Final = {
    "no_answer": "no answer in a form that strict reads",
    "several_answers": "several answers side by side",
    "out_of_range": "a box or tag with a number that is no choice",
    "empty": "no text, or none before the tokens ran out",
    "only_reasoning": "reasoning without an end: cut off, or no answer after it",
    "too_long": "longer than strict reads",
    "no_taxa": "a yes without taxa that can be read",
    "guessed_taxa": "more taxa than prove anything",
}
"""What the reasons mean that several tasks have, or that do not say it themselves."""


def turned_down(runs: Sequence[Scored]) -> Section | None:
    """The section on responses that ``strict`` turned down: how many by reason, and what to add to a prompt
    so that fewer are; None for runs under another policy."""
    if not any(run.counted.strict for run in runs):
        return None
    rows: list[list[Cell]] = []
    asked: dict[tuple[str, ...], list[str]] = {}
    for name in tasks_of(runs):
        found = [run.counted.reasons.get(name, {}) for run in runs]
        of_task = [run.summary.tasks.get(name) for run in runs]
        scored = [0 if task is None else task.scored for task in of_task]
        for reason in _frequent(found):
            counts = [of_run.get(reason, 0) for of_run in found]
            words = _REASONS.get(reason, reason.replace("_", " "))
            rows.append([name, words, *_counts(runs, name, reason, counts, scored)])
        cut = [0 if task is None else task.counts.cut_off for task in of_task]
        if any(cut):
            texts = [
                f"{n:,} ({share(n / whole)})" if n else "–" for n, whole in zip(cut, scored, strict=True)
            ]
            rows.append([name, "of these, cut off before the answer began", *texts])
        if any(found) and name in TASKS:
            task = TASKS[name]
            sentences = [prompt.sentence for prompt in task.prompts if prompt.sentence is not None]
            what = task.forms, *(sentences or ["none: the task's own prompt asks for it"])
            asked.setdefault(what, []).append(name)
    if not rows:
        return Section("What strict turned down", ["No response was turned down."], [], view="Failures")
    text = (
        "Responses that earn nothing for what they say, by reason, with their share of the scored responses."
        " A count leads to its records."
    )
    note = "relfast run and relfast bench add the sentence with --prompt boxed."
    prompts = [[", ".join(names), *what] for what, names in asked.items()]
    tables = [
        Table("", ["task", "reason", *_names(runs)], rows, text_columns=2),
        Table("What to add to the prompt", ["task", "strict looks for", "sentence"], prompts, note, 3),
    ]
    return Section("What strict turned down", [text], tables, view="Failures")


def samples(runs: Sequence[Scored], report: Report) -> Section | None:
    """The section with pass@k and maj@k; None if no prompt has several samples."""
    rows: list[list[Cell]] = []
    curves: dict[str, dict[str, dict[str, dict[int, Point]]]] = {}
    many = len(runs) > 1
    for name in tasks_of(runs):
        for run in runs:
            task = run.summary.tasks.get(name)
            if task is None:
                continue
            for kind, points in task.at_k().items():
                for k, point in points.items():
                    prompts = f"{point.prompts:,} of {task.prompts:,}"
                    bounds = interval(Point(point.value, *point.interval))
                    model = [run.name] if many else []
                    rows.append([name, *model, kind, str(k), share(point.value), bounds, prompts])
                if kind != "avg@k" and points:
                    values = {
                        k: Point(point.value, *point.interval, point.prompts) for k, point in points.items()
                    }
                    curves.setdefault(name, {}).setdefault(run.name, {})[kind] = values
    if not rows:
        return None
    names = ["task", *(["model"] if many else []), "measure", "k", "value", "95 % interval", "prompts"]
    note = "pass@k is over the prompts with k scored samples or more, maj@k over those with exactly k."
    pictures = []
    if curves:
        unvoted = [name for name, found in curves.items() if not all("maj@k" in of for of in found.values())]
        voted = len(unvoted) < len(curves)
        caption = f"Chance that one of k samples{', or their majority,' if voted else ''} is right, with 95 %"
        caption += " intervals."
        if unvoted:
            caption += (
                f" No maj@k of {', '.join(unvoted)}: rows alone do not say which answers are the same. It"
                " needs the journal (OUT.journal) or the --summary beside them, or rows with --details."
            )
        title = "pass@k and maj@k" if voted else "pass@k"
        figure = figures.curves(title, curves, "share of prompts")
        pictures.append(report.draw("samples.png", "Several samples", caption, figure))
    table = Table("By k", names, rows, note, text_columns=2 + many, folded=True)
    return Section("Several samples", [], [table], pictures, pictures_first=True)


MOST_ROWS = 3_000_000
"""Maximum rows of all models for comparisons: comparing more takes longer than the report."""
VIEW = "Compare"
MOST_PAIRS: Final = 6
"""Maximum pairs of models whose differences are drawn, all in one figure; the table has all pairs."""


def side_by_side(runs: Sequence[Scored], report: Report) -> Section | None:
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
    choose = 1 if len(runs) > 2 else None
    rows = rows_of(found, percents=True)
    tables = [Table("", header_of(found), rows, note, text_columns=words, choose=choose)]
    flips = _flips(found, runs)
    if flips is not None:
        tables.append(flips)
    if found.notes:
        left_out = [[note] for note in found.notes]
        tables.append(Table("What is not compared, and notes", ["note"], left_out, folded=True))
    return Section(title, [], tables, [_differences(found, report)], view=VIEW)


def _differences(found: Comparison, report: Report) -> Picture:
    """A figure of the differences of the tasks with their intervals, for each pair of models."""
    pairs: dict[str, dict[str, Point]] = {}
    for item in found:
        points = pairs.setdefault(pair_of(item), {})
        low, high = item.interval or (None, None)
        points[item.task] = Point(item.difference, low, high, item.prompts)
    shown = dict(islice(pairs.items(), MOST_PAIRS))
    tasks = list(dict.fromkeys(item.task for item in found))
    caption = "Differences of the shares of correct responses, in percentage points, with 95 % intervals"
    caption += "." if len(shown) == len(pairs) else f"; the first {len(shown)} of {len(pairs)} pairs."
    figure = figures.differences(" and ".join(shown) if len(shown) < 2 else "Differences", tasks, shown)
    return report.draw("differences.png", "Differences", caption, figure)


def _flips(found: Comparison, runs: Sequence[Scored]) -> Table | None:
    """A table of the prompts that one model has right more often than another."""
    here: dict[tuple[str, int], Score] = {}
    for run in runs:
        for kept in run.sample:
            here.setdefault((run.name, kept.score.index), kept.score)
    rows: list[list[str | list[Link]]] = []
    for flip in found.flips:
        row: list[str | list[Link]] = [flip.task, f"{flip.a} − {flip.b}", str(flip.id)]
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
    header = ["task", "runs", "id", "first model", "second model"]
    return Table("Prompts that changed", header, rows, note, text_columns=3, folded=True, choose=1)
