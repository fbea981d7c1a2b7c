"""A report on scored rows of any tasks: what `relfast score` wrote, several files merged."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from relfast.errors import OutputError
from relfast.records import SCORED, STATUSES, Score
from relfast.report import figures
from relfast.report.inputs import SharedRows, check_summaries, find_inputs, is_summary_of, read_scores
from relfast.report.page import Page, Picture, Section, Table, write_page
from relfast.report.realign import OnStep, Report, ignore_step
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import LABELS, Summary, Tally, TaskSummary, add_majorities, summarize
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD

ROWS_AT_A_TIME: Final = 10_000
_COLUMNS: Final = ("prompts", "responses", "correct", "standard error", "reward", "parsed")
_REALIGN: Final = "ReAlign"


@dataclass
class _Aligned:
    """What ReAlign's figures need of its rows."""

    scores: list[float] = field(default_factory=list)
    correct: list[bool] = field(default_factory=list)
    divergence: list[int] = field(default_factory=list)


@dataclass
class Scored:
    """Scored rows, read: the numbers of `relfast.stats.summary`, and the columns that are drawn."""

    summary: Summary
    rewards: dict[str, list[float]]
    aligned: _Aligned
    inputs: list[str]


def generate_report(
    inputs: Sequence[str], output_dir: str | Path, *, shards: bool = False, on_step: OnStep = ignore_step
) -> Report:
    """Tables, figures and the page of scored files (JSONL, compressed or Parquet) and summaries (JSON).

    Several inputs are added up: of different records, or ``shards`` of one run. A summary has numbers but no
    rows: it adds to the tables, not to the distributions. Beside the rows that it is of it is not counted,
    and gives the signature and maj@k, which rows do not say. ``on_step`` is told of each step as it begins.

    Raises
    ------
    InputError
        An input is neither scored rows nor a summary.
    UsageError
        Inputs share rows, or may do so.
    MissingExtraError, OutputError
    """
    scored = read_scored(inputs, shards=shards, on_step=on_step)
    on_step("drawing figures")
    report = Report(Path(output_dir))
    try:
        report.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(report.directory, error.strerror or str(error)) from error
    summary = scored.summary
    page = Page(
        "Scores",
        "What `relfast score` found, by task.",
        [
            ("inputs", ", ".join(scored.inputs)),
            ("responses", f"{summary.rows:,}"),
            ("without a score", f"{summary.rows - summary.count(*SCORED):,}"),
        ],
    )
    text = [summary.signature] if summary.signature else []
    page.sections = [
        Section("Summary", [*text, *summary.notes], _tables(summary)),
        Section("Figures", pictures=_figures(scored, report)),
    ]
    if _REALIGN in summary.tasks and scored.aligned.scores:
        page.sections.append(_realign_section(scored.aligned, report))
    _write_tables(summary, report)
    report.files.append(write_page(page, report.directory))
    return report


def read_scored(inputs: Sequence[str], *, shards: bool = False, on_step: OnStep = ignore_step) -> Scored:
    """See `generate_report`."""
    found = find_inputs(inputs)
    summaries = [(item.path, item.summary) for item in found if item.summary is not None]
    scored = Scored(summarize(Tally(), ""), {}, _Aligned(), [Path(item.path).name for item in found])
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
            if score.task == _REALIGN and score.status in SCORED:
                _add_aligned(scored.aligned, score)
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


def _add_aligned(aligned: _Aligned, score: Score) -> None:
    value = score.metrics.get("alignment_score")
    if isinstance(value, (int, float)) and isinstance(score.correct, bool):
        aligned.scores.append(float(value))
        aligned.correct.append(score.correct)
        aligned.divergence.append(int(score.metrics.get("first_divergence") or 0))


def _tables(summary: Summary) -> list[Table]:
    rows = [[name, *(_shown(value) for value in _numbers(task))] for name, task in summary.tasks.items()]
    tables = [Table("Tasks", ["task", *_COLUMNS], rows, "The standard error is clustered by prompt.")]
    metrics = [
        [name, metric, _shown(total / n), f"{n:,}"]
        for name, task in summary.tasks.items()
        for metric, (n, total) in task.sums.items()
        if n
    ]
    if metrics:
        tables.append(Table("Metrics", ["task", "metric", "mean", "rows"], metrics, text_columns=2))
    at_k = [
        [name, kind, str(k), _shown(point.value), f"{point.prompts:,} of {task.prompts:,}"]
        for name, task in summary.tasks.items()
        for kind, points in task.at_k().items()
        for k, point in points.items()
    ]
    if at_k:
        note = "pass@k is over the prompts with k scored samples or more, maj@k over those with exactly k."
        tables.append(
            Table("Several samples", ["task", "", "k", "value", "prompts"], at_k, note, text_columns=2)
        )
    labels = [
        [name, metric, label, f"{count:,}"]
        for name, task in summary.tasks.items()
        for metric, counts in task.labels.items()
        for label, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    if labels:
        tables.append(Table("Labels", ["task", "metric", "label", "rows"], labels, text_columns=3))
    statuses = [
        [name, *(f"{task.statuses.get(status, 0):,}" for status in STATUSES)]
        for name, task in summary.tasks.items()
    ]
    tables.append(Table("Statuses", ["task", *(status.replace("_", " ") for status in STATUSES)], statuses))
    return tables


def _numbers(task: TaskSummary) -> list[float | int | None]:
    mean, error = clustered_mean(task.histogram)
    reward = task.rewards[1] / task.rewards[0] if task.rewards[0] else None
    parsed = task.found / task.scored if task.scored else None
    return [task.prompts, task.rows, mean, error, reward, parsed]


def _figures(scored: Scored, report: Report) -> list[Picture]:
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


def _realign_section(aligned: _Aligned, report: Report) -> Section:
    scores, correct = np.array(aligned.scores, np.float64), np.array(aligned.correct, np.bool_)
    high = scores >= DIVERGENCE_THRESHOLD
    shares = {
        "robust": float((high & correct).mean()),
        "lucky": float((~high & correct).mean()),
        "hallucination": float((high & ~correct).mean()),
        "failure": float((~high & ~correct).mean()),
    }
    places = [place for place in aligned.divergence if place]
    directory = report.directory
    figures.distribution(
        directory / "alignment_distribution.png",
        "Alignment scores by correctness",
        scores,
        correct,
        "alignment score",
    )
    figures.quadrants(directory / "quadrant_analysis.png", scores, correct, DIVERGENCE_THRESHOLD, shares)
    figures.divergence(
        directory / "divergence_step_distribution.png",
        places,
        len(scores) - len(places),
        DIVERGENCE_THRESHOLD,
    )
    pictures = [
        Picture("alignment_distribution.png", "Alignment scores", "Mean similarity of the matched steps."),
        Picture("quadrant_analysis.png", "Quadrants", "Each point is a response, spread vertically."),
        Picture(
            "divergence_step_distribution.png", "Divergence", "Where responses first leave the reference."
        ),
    ]
    report.files += [directory / picture.file for picture in pictures]
    return Section(_REALIGN, pictures=pictures)


def _write_tables(summary: Summary, report: Report) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["task", *(name.replace(" ", "_") for name in _COLUMNS), *STATUSES])
    for name, task in summary.tasks.items():
        numbers = ["" if value is None else value for value in _numbers(task)]
        writer.writerow([name, *numbers, *(task.statuses.get(status, 0) for status in STATUSES)])
    metrics = io.StringIO()
    writer = csv.writer(metrics, lineterminator="\n")
    writer.writerow(["task", "metric", "rows", "mean"])
    for name, task in summary.tasks.items():
        for metric, (n, total) in task.sums.items():
            writer.writerow([name, metric, int(n), total / n if n else ""])
    texts = {
        "summary_stats.csv": stream.getvalue(),
        "metrics.csv": metrics.getvalue(),
        "latex_table.txt": _latex(summary),
    }
    for name, text in texts.items():
        path = report.directory / name
        try:
            path.write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from error
        report.files.append(path)


def _latex(summary: Summary) -> str:
    import pandas

    rows = {name: dict(zip(_COLUMNS, _numbers(task), strict=True)) for name, task in summary.tasks.items()}
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))
    text: str = table.to_latex(float_format="%.3f", escape=True, na_rep="--")
    return text


def _shown(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
