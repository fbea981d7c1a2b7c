"""The figures of a report on scored rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from relfast.records import STATUSES
from relfast.report import figures
from relfast.report.base import Report
from relfast.report.page import Picture
from relfast.report.scored_rows import Scored
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import LABELS


def draw_figures(scored: Scored, report: Report) -> list[Picture]:
    """Draw what all tasks have, as files of the report."""
    summary = scored.summary
    pictures: list[Picture] = []

    def draw(file: str, title: str, caption: str, figure: Callable[[Path], None]) -> None:
        path = report.directory / file
        figure(path)
        report.files.append(path)
        pictures.append(Picture(file, title, caption))

    means = {name: clustered_mean(task.histogram) for name, task in summary.tasks.items()}
    shares = {name: mean for name, (mean, _) in means.items() if mean is not None}
    counts = {name: task.scored for name, task in summary.tasks.items()}
    errors = {name: error for name, (_, error) in means.items()}
    draw(
        "accuracy_by_task.png",
        "Accuracy",
        "Share of correct responses; whiskers are 95% intervals with errors clustered by prompt.",
        lambda path: figures.bars(
            path, "Accuracy by task", shares, counts, errors=errors, label="correct responses"
        ),
    )
    rewards = {name: np.array(values, np.float64) for name, values in scored.rewards.items()}
    draw(
        "reward_distribution.png",
        "Rewards",
        "The reward metric of each task; dashed is the mean.",
        lambda path: figures.histograms(path, "Rewards by task", rewards, "reward"),
    )
    statuses = {name: task.statuses for name, task in summary.tasks.items()}
    draw(
        "status_by_task.png",
        "Statuses",
        "Rows that are neither ok nor no_answer have no score and count nowhere else.",
        lambda path: figures.stacked(path, "Statuses by task", statuses, STATUSES),
    )
    lines = {
        f"{name} {kind}": {k: point.value for k, point in points.items()}
        for name, task in summary.tasks.items()
        for kind, points in task.at_k().items()
        if len(points) > 1
    }
    if lines:
        draw(
            "samples.png",
            "Several samples",
            "Chance that one of k samples, or their majority, is right.",
            lambda path: figures.curves(path, "pass@k and maj@k", lines, "share of prompts"),
        )
    for label in sorted(LABELS):
        groups = {name: task.labels[label] for name, task in summary.tasks.items() if task.labels.get(label)}
        if groups:
            _draw_labels(label, groups, draw)
    return pictures


def _draw_labels(
    label: str,
    groups: dict[str, dict[str, int]],
    draw: Callable[[str, str, str, Callable[[Path], None]], None],
) -> None:
    totals: dict[str, int] = {}
    for counts in groups.values():
        for word, count in counts.items():
            totals[word] = totals.get(word, 0) + count
    order = [word for word in LABELS[label].labels if word in totals] or sorted(
        totals, key=lambda word: -totals[word]
    )
    draw(
        f"{label}_by_task.png",
        label.capitalize(),
        f"Share of each {label} among the rows that have one.",
        lambda path: figures.stacked(path, f"{label.capitalize()} by task", groups, order),
    )
