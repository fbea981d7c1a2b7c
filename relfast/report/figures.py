"""Drawing what all tasks have: one function a figure. Nothing here reads or counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast.report.canvas import (
    INK,
    PAPER,
    SOFT,
    Canvas,
    colour_of,
    marker_of,
    percent_axis,
    plain,
    say,
    short,
)

_MOST_NUMBERS: Final = 12 * 40
"""Cells of a grid whose numbers are written into them."""


class Point(NamedTuple):
    """An estimate with its interval (None: it has none) and the number of rows it is from."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0


Series = Mapping[str, Mapping[float, Point]]
"""Run → place → estimate."""

Curves = Mapping[str, Mapping[int, float]]
"""Kind → k → share."""


def dots(
    path: Path, title: str, groups: Sequence[str], runs: Mapping[str, Mapping[str, Point]], label: str
) -> None:
    """A line a group, a dot a run with its interval, shares from 0 to 1."""
    shown = [name for name in groups if any(name in points for points in runs.values())]
    many = len(runs) > 1
    canvas = Canvas(height=max(2.4, 1.3 + (0.3 + 0.16 * len(runs)) * len(shown) + 0.26 * many * len(runs)))
    axes = canvas.axes
    canvas.title(title)
    if not shown:
        say(axes, "no scored row")
        canvas.save(path)
        return
    step = 0.64 / max(1, len(runs))
    for at, (run, points) in enumerate(runs.items()):
        places = [k + (at - (len(runs) - 1) / 2) * step for k, name in enumerate(shown) if name in points]
        found = [points[name] for name in shown if name in points]
        _whiskered(axes, places, found, at, run, horizontal=True)
        if not many:
            for place, point in zip(places, found, strict=True):
                axes.annotate(
                    f"{100 * point.value:.1f}%  (n = {point.n:,})",
                    (1.02, place),
                    va="center",
                    fontsize=9,
                    color=SOFT,
                )
    axes.set_yticks(range(len(shown)), [short(name) for name in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(-0.01, 1.01 if many else 1.26)
    percent_axis(axes.xaxis)
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)
    if many:
        _legend_below(axes, len(runs))
    canvas.save(path)


def _whiskered(
    axes: Any, places: Sequence[float], points: Sequence[Point], run: int, name: str, *, horizontal: bool
) -> None:
    values = [point.value for point in points]
    below = [point.value - (point.value if point.low is None else point.low) for point in points]
    above = [(point.value if point.high is None else point.high) - point.value for point in points]
    errors = [np.maximum(below, 0.0), np.maximum(above, 0.0)]
    x, y, kind = (values, places, "xerr") if horizontal else (places, values, "yerr")
    axes.errorbar(
        x,
        y,
        **{kind: errors},
        fmt=marker_of(run),
        color=colour_of(run),
        markersize=6,
        markeredgecolor=PAPER,
        markeredgewidth=0.7,
        elinewidth=1.8,
        capsize=0,
        label=short(name),
    )


def lines(
    path: Path, title: str, series: Series, x_label: str, y_label: str, *, curve: Series | None = None
) -> None:
    """A line a run with its intervals; ``curve`` holds fitted curves, dashed, in the same colours."""
    canvas = Canvas(height=4.6)
    axes = canvas.axes
    canvas.title(title)
    if not any(series.values()):
        say(axes, "no scored row with this size")
        canvas.save(path)
        return
    for at, (run, points) in enumerate(series.items()):
        places = sorted(points)
        found = [points[place] for place in places]
        if curve is None:
            axes.plot(places, [point.value for point in found], color=colour_of(at), linewidth=1.2, alpha=0.6)
        _whiskered(axes, places, found, at, run, horizontal=False)
        fitted = sorted((curve or {}).get(run, {}).items())
        if fitted:
            axes.plot(
                [x for x, _ in fitted],
                [p.value for _, p in fitted],
                color=colour_of(at),
                linestyle="--",
                linewidth=1.6,
            )
            if fitted[0][1].low is not None:
                axes.fill_between(
                    [x for x, _ in fitted],
                    [p.low for _, p in fitted],
                    [p.high for _, p in fitted],
                    color=colour_of(at),
                    alpha=0.13,
                    linewidth=0,
                )
    axes.set_ylim(-0.03, 1.03)
    percent_axis(axes.yaxis)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    places = sorted({place for points in series.values() for place in points})
    if len(places) <= 14 and curve is None and all(float(place).is_integer() for place in places):
        axes.set_xticks(places, [f"{place:g}" for place in places])
    if len(series) > 1:
        _legend_below(axes, len(series))
    canvas.save(path)


def _legend_below(axes: Any, n: int) -> None:
    axes.figure.legend(loc="outside lower center", ncols=min(n, 4), frameon=False)


def histograms(
    path: Path, title: str, groups: Mapping[str, Mapping[str, NDArray[np.float64]]], label: str
) -> None:
    """One small histogram a group, with a line a run; shares of the run's rows."""
    canvas = _small(title, len(groups))
    if not groups:
        say(canvas.axes, "no scored row")
    named: dict[str, Any] = {}
    for axes, (name, runs) in zip(canvas.panels, groups.items(), strict=False):
        axes.set_title(short(name), fontsize=10, color=INK)
        every = [values for values in runs.values() if values.size]
        if not every:
            say(axes, "no scored row")
            continue
        low = min(0.0, *(float(values.min()) for values in every))
        high = max(1.0, *(float(values.max()) for values in every))
        bins = np.linspace(low, high, 26)
        for at, (run, values) in enumerate(runs.items()):
            if values.size:
                heights = np.histogram(values, bins)[0] / values.size
                axes.stairs(
                    heights, bins, fill=True, color=colour_of(at), alpha=0.25 if len(runs) > 1 else 0.7
                )
                named[run] = axes.stairs(heights, bins, color=colour_of(at), linewidth=1.4)
                axes.axvline(float(values.mean()), color=colour_of(at), linestyle="--", linewidth=1.2)
        axes.set_xlabel(label)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    _legend_of(canvas, named)
    canvas.save(path)


def curves(path: Path, title: str, groups: Mapping[str, Mapping[str, Curves]], label: str) -> None:
    """A small picture a group with the curves of each run in its colour: the first solid, others dotted."""
    canvas = _small(title, len(groups))
    order = list(dict.fromkeys(run for runs in groups.values() for run in runs))
    named: dict[str, Any] = {}
    for axes, (name, runs) in zip(canvas.panels, groups.items(), strict=True):
        axes.set_title(short(name), fontsize=10, color=INK)
        for run, kinds in runs.items():
            at = order.index(run)
            for style, (kind, points) in zip("-:", kinds.items(), strict=False):
                (named[f"{kind}  {run}"],) = axes.plot(
                    list(points),
                    list(points.values()),
                    linestyle=style,
                    marker=marker_of(at),
                    color=colour_of(at),
                    markersize=4,
                )
        ticks = sorted({k for kinds in runs.values() for points in kinds.values() for k in points})
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(k) if k.bit_count() == 1 else "" for k in ticks])
        axes.minorticks_off()
        axes.set_ylim(0, 1.02)
        percent_axis(axes.yaxis)
        axes.set_xlabel("k")
    canvas.panels[0].set_ylabel(label)
    _legend_of(canvas, named)
    canvas.save(path)


def _small(title: str, n: int) -> Canvas:
    """Paper for some small pictures."""
    columns = min(3, max(1, n))
    rows = -(-max(1, n) // columns)
    canvas = Canvas(width=3.6 * columns + 0.6, height=2.4 * rows + 1.0, panels=max(1, n), columns=columns)
    canvas.figure.suptitle(title, fontweight="bold", color=INK)
    return canvas


def _legend_of(canvas: Canvas, named: Mapping[str, Any]) -> None:
    """One legend below all pictures, where there are several lines."""
    if len(named) > 1:
        canvas.figure.legend(
            list(named.values()),
            [short(name) for name in named],
            loc="outside lower center",
            ncols=4,
            frameon=False,
        )


def grid(
    path: Path,
    title: str,
    panels: Mapping[str, NDArray[np.float64]],
    x_names: Sequence[str],
    y_names: Sequence[str],
    x_label: str,
    y_label: str,
    bar_label: str,
) -> None:
    """A heatmap of shares a run, NaN where there is no row; 0 to 1, a number in each cell."""
    columns = min(2, len(panels))
    rows = -(-len(panels) // max(1, columns))
    height = 1.2 + 0.34 * len(y_names)
    canvas = Canvas(
        width=max(5.0, 1.4 + 0.52 * len(x_names)) * columns,
        height=height * rows + 0.6,
        panels=max(1, len(panels)),
        columns=max(1, columns),
    )
    canvas.figure.suptitle(plain(title), fontweight="bold", color=INK)
    if not panels or not x_names or not y_names:
        say(canvas.axes, "no scored row with these sizes")
        canvas.save(path)
        return
    mesh = None
    for axes, (name, values) in zip(canvas.panels, panels.items(), strict=False):
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        mesh = axes.pcolormesh(values, vmin=0, vmax=1, cmap="cividis", edgecolors=PAPER, linewidth=1)
        if len(panels) > 1:
            axes.set_title(short(name), fontsize=10, color=INK)
        axes.set_xticks(
            np.arange(len(x_names)) + 0.5, x_names, fontsize=8, rotation=45 if len(x_names) > 9 else 0
        )
        axes.set_yticks(np.arange(len(y_names)) + 0.5, y_names, fontsize=8)
        axes.tick_params(length=0)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if values.size <= _MOST_NUMBERS:
            for (row, column), value in np.ndenumerate(values):
                if np.isfinite(value):
                    axes.text(
                        column + 0.5,
                        row + 0.5,
                        f"{100 * value:.0f}",
                        ha="center",
                        va="center",
                        fontsize=8,
                        # of its own shade, which the page's dark mode leaves as it is
                        color="#fefefe" if value < 0.5 else "#101010",
                    )
    bar = canvas.figure.colorbar(mesh, ax=canvas.panels, shrink=0.8, aspect=30)
    bar.outline.set_visible(False)
    bar.set_label(bar_label)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    canvas.save(path)
