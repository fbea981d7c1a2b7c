"""SeqBench's section of a report: Pass@1 with its fitted decay and progress by depth, Pass@1 by depth and
doors, and where plans break."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relfast.report import figures
from relfast.report.figures import Point
from relfast.report.page import Picture, Report, Section, Table
from relfast.report.scored_rows import Scored
from relfast.stats.intervals import wilson
from relfast.tables import share
from relfast.tasks.seqbench.l0 import BIN_WIDTH, Cells, L0Fit


def draw(runs: Sequence[Scored], task: str, report: Report) -> Section:
    """Draw the section for some runs, from the cells of SeqBench's `Breakdown` in their summaries."""
    found = {run.name: run.summary.tasks[task].cells for run in runs if task in run.summary.tasks}
    cells = {name: Cells.of(of_run) for name, of_run in found.items() if of_run}
    fits = {name: fit for name, of_run in cells.items() if (fit := of_run.fit()) is not None}
    passed = figures.lines(
        "Pass@1 by logical depth",
        {name: _by_depth(of_run, of_run.solved) for name, of_run in cells.items()},
        "logical depth L (actions)",
        "Pass@1",
        curve={name: _curve(fit, cells[name]) for name, fit in fits.items()},
    )
    caption = (
        f"Bins of {BIN_WIDTH} actions at their mean depth, with 95 % intervals; dashed P(L) = exp(−L / L0) by"
        " maximum likelihood, with the interval of L0."
    )
    progress = {name: _by_depth(of_run, of_run.progress) for name, of_run in cells.items()}
    title, below = "Progress by logical depth", "Mean share of gold's actions before the first that differs."
    came = figures.lines(title, progress, "logical depth L (actions)", "progress ratio")
    pictures = [
        report.draw("seqbench_pass_by_depth.png", "Pass@1 by logical depth", caption, passed),
        report.draw("seqbench_progress_by_depth.png", title, below, came),
        *_heatmap(report, cells),
        *_breaks(report, runs, task),
    ]
    table = _l0_table(cells, fits)
    return Section(f"{task}: complexity", [], [table], pictures, pictures_first=True, folded=True)


def _by_depth(cells: Cells, sums: NDArray[np.float64]) -> dict[float, Point]:
    """The means in bins of depth: mean depth of a bin's rows → mean."""
    known = np.isfinite(cells.depth)
    _, bins = np.unique(cells.depth[known] // BIN_WIDTH, return_inverse=True)
    columns = (cells.tried, sums, cells.depth * cells.tried)
    rows = zip(*(np.bincount(bins, column[known]).tolist() for column in columns), strict=True)
    return {depths / n: Point(total / n, *wilson(total, n), int(n)) for n, total, depths in rows}


def _curve(fit: L0Fit, cells: Cells) -> dict[float, Point]:
    """The fitted decay with the interval of L0, as points to plot."""
    deepest = np.nanmax(cells.depth)

    def at(depth: float, l0: float) -> float:
        return 1.0 if math.isinf(l0) else 0.0 if l0 == 0 else math.exp(-depth / l0)

    places = np.linspace(0, deepest * 1.05, 120).tolist()
    return {x: Point(at(x, fit.l0), at(x, fit.low), at(x, fit.high), fit.n) for x in places}


def _heatmap(report: Report, cells: dict[str, Cells]) -> Iterator[Picture]:
    """Draw Pass@1 by bins of depth and number of locked doors."""
    known = {name: of_run.depth // BIN_WIDTH for name, of_run in cells.items()}
    bins = sorted({int(at) for of_run in known.values() for at in of_run[np.isfinite(of_run)].tolist()})
    doors = sorted({b for of_run in cells.values() for b in of_run.doors[np.isfinite(of_run.doors)].tolist()})
    if len(bins) < 2 or len(doors) < 2:
        return
    panels = {}
    for name, of_run in cells.items():
        sums = np.zeros((2, len(doors), len(bins)))
        for at, b, tried, solved in zip(known[name], of_run.doors, of_run.tried, of_run.solved, strict=True):
            if np.isfinite(at) and np.isfinite(b):
                sums[:, doors.index(b), bins.index(at)] += tried, solved
        with np.errstate(invalid="ignore"):
            panels[name] = sums[1] / sums[0]
    title = "Pass@1 by depth and backtracking"
    caption = "Share of plans equal to gold's, in per cent; a cell without rows is empty."
    depths = [f"{BIN_WIDTH * b}–{BIN_WIDTH * b + BIN_WIDTH - 1}" for b in bins]
    names = [f"{b:g}" for b in doors]
    figure = figures.grid(title, panels, depths, names, "logical depth L", "locked doors B", "Pass@1")
    yield report.draw("seqbench_depth_by_backtracking.png", title, caption, figure)


def _breaks(report: Report, runs: Sequence[Scored], task: str) -> Iterator[Picture]:
    """Draw where plans break: the place of the first illegal action as a share of the shortest plan."""
    groups: dict[str, Any] = {}
    for run in runs:
        drawn = run.counted.drawn.get(task)
        if drawn is None:
            continue
        at, depth = (np.frombuffer(drawn[name], np.float64) for name in ("violation_index", "logical_depth"))
        broken = np.isfinite(at) & (np.nan_to_num(depth) > 0)
        if broken.any():
            groups[run.name] = np.minimum(at[broken] / depth[broken], 1.0)
    if groups:
        title, label = "Where plans break", "share of the shortest plan"
        caption = (
            "Place of the first illegal action as a share of the shortest plan; what is longer counts as 1."
        )
        figure = figures.histograms(title, {"first illegal action": groups}, label)
        yield report.draw("seqbench_breaks.png", title, caption, figure)


def _l0_table(cells: dict[str, Cells], fits: dict[str, L0Fit]) -> Table:
    rows = []
    for name, of_run in cells.items():
        if name in fits:
            rows.append([name, "all", "all", *_of_fit(fits[name])])
        for doors, noise in of_run.settings:
            fit = of_run.fit(doors, noise)
            if fit is not None:
                rows.append([name, f"{doors:g}", f"{noise:g}", *_of_fit(fit)])
    header = ["model", "B", "N", "L0 (actions)", "95 % interval", "least squares", "Pass@1", "responses"]
    note = "L0: the depth at which success is 1/e, by maximum likelihood; intervals by profile likelihood."
    return Table("L0 by backtracking and noise", header, rows, note)


def _of_fit(fit: L0Fit) -> list[str]:
    def shown(value: float) -> str:
        return "∞" if math.isinf(value) else f"{value:,.2f}" if math.isfinite(value) else "–"

    return [
        shown(fit.l0), f"{shown(fit.low)}–{shown(fit.high)}", shown(fit.least_squares),
        share(fit.n_correct / fit.n), f"{fit.n:,}",
    ]  # fmt: skip
