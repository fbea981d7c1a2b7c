"""One function per kind of figure; each returns a `Canvas` to save. Nothing here reads or counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast.report.canvas import (
    CORRECT_COLOUR,
    INCORRECT_COLOUR,
    INK,
    PAPER,
    SMALL,
    SOFT,
    Canvas,
    colour_of,
    letters,
    marker_of,
    percent_axis,
    short,
)
from relfast.tables import percent_points, share

_MOST_NUMBERS: Final = 12 * 40
"""Grids with at most this many cells have a number in each cell."""


_DOT: Final[Mapping[str, Any]] = {
    "markersize": 6, "markeredgecolor": PAPER, "markeredgewidth": 0.7, "elinewidth": 1.8, "capsize": 0,
}  # fmt: skip
"""Look of a dot with its interval."""


class Point(NamedTuple):
    """An estimate with its interval (None if it has none) and the number of rows it is computed from."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0


def interval(point: Point | None) -> str:
    """The 95 % interval of a share as text: ``35.6–75.3 %``."""
    return "–" if point is None else f"{100 * (point.low or 0):.1f}–{100 * (point.high or 0):.1f} %"


Series = Mapping[str, Mapping[float, Point]]
"""Run → position on the x axis → estimate."""

Curves = Mapping[str, Mapping[int, Point]]
"""Kind (pass@k, maj@k) → k → share."""


def dots(title: str, groups: Sequence[str], runs: Mapping[str, Mapping[str, Point]], label: str) -> Canvas:
    """A dot plot of shares from 0 to 1: one line per group, one dot with its interval per run."""
    shown = [name for name in groups if any(name in points for points in runs.values())]
    canvas = _dotted(title, shown, runs)
    axes, many = canvas.axes, len(runs) > 1
    if not shown:
        return canvas.say("no scored row")
    if not many:
        for k, name in enumerate(shown):
            for point in (points[name] for points in runs.values() if name in points):
                text = f"{share(point.value)}  (n = {point.n:,})"
                axes.annotate(text, (1.02, k), va="center", fontsize=letters(SMALL), color=SOFT)
    axes.set_xlim(-0.01, 1.01 if many else 1.26)
    percent_axis(axes.xaxis)
    axes.set_xlabel(label)
    return canvas


def differences(title: str, tasks: Sequence[str], pairs: Mapping[str, Mapping[str, Point]]) -> Canvas:
    """A dot plot of differences of shares (−1 to 1): one line per task, one dot with its interval per pair of
    runs, 0 marked."""
    canvas = _dotted(title, tasks, pairs)
    axes = canvas.axes
    axes.axvline(0, color=INK, linewidth=1)
    every = [value for points in pairs.values() for each in points.values() for value in each[:3]]
    limit = min(1.0, max(0.05, 1.08 * max((abs(value) for value in every if value is not None), default=0)))
    axes.set_xlim(-limit, limit)
    axes.xaxis.set_major_formatter(lambda value, _: percent_points(value).removesuffix(".0"))
    axes.set_xlabel("percentage points")
    return canvas


def _dotted(title: str, groups: Sequence[str], runs: Mapping[str, Mapping[str, Point]]) -> Canvas:
    """A canvas with one line per group, and on it a dot and its interval per run, beside each other."""
    many = len(runs) > 1
    height = 1.3 + (0.3 + 0.16 * len(runs)) * len(groups) + 0.26 * many * len(runs)
    canvas = Canvas(title, height=max(2.4, height))
    axes = canvas.axes
    step = 0.64 / max(1, len(runs))
    for at, (run, points) in enumerate(runs.items()):
        places = [k + (at - (len(runs) - 1) / 2) * step for k, name in enumerate(groups) if name in points]
        found = [points[name] for name in groups if name in points]
        _whiskered(axes, places, found, at, run, horizontal=True)
    axes.set_yticks(range(len(groups)), [short(name) for name in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    if many and groups:
        _legend(canvas, [*runs])
    return canvas


def _legend(canvas: Canvas, names: Sequence[str], *what: Any) -> None:
    """Add a legend below the whole figure, in as many columns as the names leave room for."""
    columns = max(1, min(3, _LEGEND_CHARS // (max(map(len, names)) + 8)))
    look = {"ncols": columns, "frameon": False, "fontsize": letters(SMALL)}
    canvas.figure.legend(*what, loc="outside lower center", **look)


_LEGEND_CHARS: Final = 84
"""Characters of a legend that fit below a figure."""


def _whiskered(
    axes: Any, places: Sequence[float], points: Sequence[Point], run: int, name: str, *, horizontal: bool
) -> None:
    values = [point.value for point in points]
    below = [point.value - (point.value if point.low is None else point.low) for point in points]
    above = [(point.value if point.high is None else point.high) - point.value for point in points]
    errors = [np.maximum(below, 0.0), np.maximum(above, 0.0)]
    x, y, kind = (values, places, "xerr") if horizontal else (places, values, "yerr")
    look = {kind: errors, "fmt": marker_of(run), "color": colour_of(run), "label": short(name)}
    axes.errorbar(x, y, **look, **_DOT)


def lines(title: str, series: Series, x_label: str, y_label: str, *, curve: Series | None = None) -> Canvas:
    """A line plot of shares: one line with intervals per run. ``curve``: fitted curves, drawn dashed in
    the same colours."""
    canvas = Canvas(title)
    axes = canvas.axes
    if not any(series.values()):
        return canvas.say("no scored row with this size")
    step = _step([place for points in series.values() for place in points], len(series))
    for at, (run, points) in enumerate(series.items()):
        # beside each other, so that intervals of several runs are seen
        shift = (at - (len(series) - 1) / 2) * step
        found = [points[place] for place in sorted(points)]
        places = [place + shift for place in sorted(points)]
        if curve is None:
            axes.plot(places, [point.value for point in found], color=colour_of(at), linewidth=1.2, alpha=0.6)
        _whiskered(axes, places, found, at, run, horizontal=False)
        fitted = sorted((curve or {}).get(run, {}).items())
        if fitted:
            x, values, low, high = zip(*((x, p.value, p.low, p.high) for x, p in fitted), strict=True)
            axes.plot(x, values, color=colour_of(at), linestyle="--", linewidth=1.6)
            if low[0] is not None:
                axes.fill_between(x, low, high, color=colour_of(at), alpha=0.13, linewidth=0)
    axes.set_ylim(-0.03, 1.03)
    percent_axis(axes.yaxis)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    places = sorted({place for points in series.values() for place in points})
    if len(places) <= 14 and curve is None and all(float(place).is_integer() for place in places):
        axes.set_xticks(places, [f"{place:g}" for place in places])
    if len(series) > 1:
        _legend(canvas, [*series])
    return canvas


def _step(places: Sequence[float], runs: int) -> float:
    """How far the dots of runs at one place stand from each other: all within a third of the way to the
    next place, and not further than 2 % of the axis."""
    every = sorted(set(places))
    if len(every) < 2:
        return 0.02 / runs
    closest = min(b - a for a, b in pairwise(every))
    return float(min(0.3 * closest / runs, 0.02 * (every[-1] - every[0])))


def histograms(title: str, groups: Mapping[str, Mapping[str, NDArray[np.float64]]], label: str) -> Canvas:
    """One small histogram per group, with one outline per run; heights are shares of the run's rows."""
    canvas = _small(title, len(groups))
    if not groups:
        return canvas.say("no scored row")
    named: dict[str, Any] = {}
    for axes, (name, runs) in zip(canvas.panels, groups.items(), strict=False):
        axes.set_title(short(name), fontsize=letters(), color=INK)
        every = [values for values in runs.values() if values.size]
        if not every:
            canvas.say("no scored row", axes)
            continue
        low = min(0.0, *(float(values.min()) for values in every))
        high = max(1.0, *(float(values.max()) for values in every))
        bins = np.linspace(low, high, 26)
        for at, (run, values) in enumerate(runs.items()):
            if values.size:
                heights = np.histogram(values, bins)[0] / values.size
                colour, alpha = colour_of(at), 0.25 if len(runs) > 1 else 0.7
                axes.stairs(heights, bins, fill=True, color=colour, alpha=alpha)
                named[run] = axes.stairs(heights, bins, color=colour, linewidth=1.4)
                axes.axvline(float(values.mean()), color=colour, linestyle="--", linewidth=1.2)
        axes.set_xlabel(label)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    _legend_of(canvas, named)
    return canvas


def curves(title: str, groups: Mapping[str, Mapping[str, Curves]], label: str) -> Canvas:
    """One small plot per group with the curves of each run in its colour: one solid, one dotted."""
    canvas = _small(title, len(groups))
    order = list(dict.fromkeys(run for runs in groups.values() for run in runs))
    named: dict[str, Any] = {}
    for axes, (name, runs) in zip(canvas.panels, groups.items(), strict=True):
        axes.set_title(short(name), fontsize=letters(), color=INK)
        for run, kinds in runs.items():
            at = order.index(run)
            shift = 2.0 ** ((at - (len(order) - 1) / 2) * 0.12)  # the axis is logarithmic
            for style, (kind, points) in zip("-:", kinds.items(), strict=False):
                places, found = [k * shift for k in points], list(points.values())
                look = {"linestyle": style, "color": colour_of(at), "linewidth": 1.2}
                axes.plot(places, [point.value for point in found], **look)
                _whiskered(axes, places, found, at, run, horizontal=False)
                named[f"{kind} {run}" if len(kinds) > 1 else run] = axes.containers[-1]
        ticks = sorted({k for kinds in runs.values() for points in kinds.values() for k in points})
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(k) if k.bit_count() == 1 else "" for k in ticks])
        axes.minorticks_off()
        axes.set_ylim(0, 1.02)
        percent_axis(axes.yaxis)
        axes.set_xlabel("k")
    canvas.panels[0].set_ylabel(label)
    _legend_of(canvas, named)
    return canvas


def _small(title: str, n: int) -> Canvas:
    """A canvas for n small plots."""
    columns = min(2, max(1, n))
    rows = -(-max(1, n) // columns)
    return Canvas(title, height=2.1 * rows + 0.9, panels=max(1, n), columns=columns)


def _legend_of(canvas: Canvas, named: Mapping[str, Any]) -> None:
    """Add one legend below all plots, if there are several lines."""
    if len(named) > 1:
        _legend(canvas, [*named], list(named.values()), [short(name) for name in named])


def grid(
    title: str,
    panels: Mapping[str, NDArray[np.float64]],
    x_names: Sequence[str],
    y_names: Sequence[str],
    x_label: str,
    y_label: str,
    bar_label: str,
) -> Canvas:
    """One heatmap of shares (0 to 1) per run, with a number in each cell; NaN for cells without rows."""
    height = (1.2 + 0.34 * len(y_names)) * max(1, len(panels)) + 0.6
    width = max(6.4, 1.4 + 0.46 * len(x_names))
    canvas = Canvas(title, width=width, height=height, panels=max(1, len(panels)))
    if not panels or not x_names or not y_names:
        return canvas.say("no scored row with these sizes")
    mesh = None
    for axes, (name, values) in zip(canvas.panels, panels.items(), strict=False):
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        mesh = axes.pcolormesh(values, vmin=0, vmax=1, cmap="cividis", edgecolors=PAPER, linewidth=1)
        if len(panels) > 1:
            axes.set_title(short(name), fontsize=letters(), color=INK)
        axes.set_xticks(
            np.arange(len(x_names)) + 0.5,
            x_names,
            fontsize=letters(SMALL),
            rotation=45 if len(x_names) > 9 else 0,
        )
        axes.set_yticks(np.arange(len(y_names)) + 0.5, y_names, fontsize=letters(SMALL))
        axes.tick_params(length=0)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if values.size <= _MOST_NUMBERS:
            _write_numbers(axes, values, lambda value: f"{100 * value:.0f}", values < 0.5)
    bar = canvas.figure.colorbar(mesh, ax=canvas.panels, shrink=0.8, aspect=30)
    bar.outline.set_visible(False)
    bar.set_label(bar_label)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    return canvas


def _write_numbers(
    axes: Any, values: NDArray[Any], shown: Callable[[float], str], dark: NDArray[np.bool_]
) -> None:
    """Write a number into each cell of a heatmap, in a light colour on ``dark`` cells."""
    for at, value in np.ndenumerate(values):
        if np.isfinite(value):
            # not INK and PAPER, which the page's dark mode would swap
            colour = "#fefefe" if dark[at] else "#101010"
            place = at[1] + 0.5, at[0] + 0.5
            axes.text(*place, shown(value), ha="center", va="center", fontsize=letters(SMALL), color=colour)


COLOURS: Final = {True: CORRECT_COLOUR, False: INCORRECT_COLOUR}
OUTCOMES: Final = {True: "correct", False: "incorrect"}
QUADRANTS: Final = {
    "robust": ("robust reasoning", "high alignment, correct"),
    "lucky": ("lucky guess", "low alignment, correct"),
    "hallucination": ("hallucination", "high alignment, incorrect"),
    "failure": ("complete failure", "low alignment, incorrect"),
}
"""Quadrant → its title and its meaning."""

_MIN_FOR_DENSITY: Final = 3
"""Minimum number of different scores for a density curve."""
_MOST_FOR_DENSITY: Final = 20_000
_MOST_POINTS: Final = 3_000
"""Maximum points of a scatter plot; of more, a random sample is drawn."""
_ANNOTATED_CELLS: Final = 15 * 15
_LABELLED_STEPS: Final = 40
_LABEL_CHARS: Final = 26
_PATH_COLOUR: Final = "#ff8c1a"
"""Visible on both the light and the dark end of the heatmap's colours."""


def distribution(title: str, scores: NDArray[np.float64], correct: NDArray[np.bool_], label: str) -> Canvas:
    """Histograms of a score with density curves, for correct and for incorrect rows."""
    canvas = Canvas(title)
    axes = canvas.axes
    if not scores.size:
        return canvas.say("no scored solution")
    low = min(0.0, float(scores.min()))
    bins = np.linspace(low, max(1.0, float(scores.max())), 31)
    for outcome in (True, False):
        group, colour = scores[correct == outcome], COLOURS[outcome]
        name = f"{OUTCOMES[outcome]} (n = {group.size:,})"
        if not group.size:
            axes.plot([], [], color=colour, label=name)
            continue
        axes.hist(group, bins=bins, color=colour, alpha=0.42, edgecolor=PAPER, linewidth=0.5, label=name)
        _density(axes, group, bins, colour)
    axes.set_xlabel(label)
    canvas.count_axis("solutions")
    axes.legend(frameon=False)
    return canvas


def _density(axes: Any, group: NDArray[np.float64], bins: NDArray[np.float64], colour: str) -> None:
    """Draw a smooth density curve with the same area as the histogram."""
    if np.unique(group).size < _MIN_FOR_DENSITY or np.ptp(group) < 1e-9:
        return
    from scipy.stats import gaussian_kde

    places = np.linspace(bins[0], bins[-1], 200)
    curve = gaussian_kde(group[:: max(1, group.size // _MOST_FOR_DENSITY)])(places)
    axes.plot(places, curve * group.size * (bins[1] - bins[0]), color=colour, linewidth=1.8)


def quadrants(
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    threshold: float,
    shares: Mapping[str, float],
    of: str = "",
) -> Canvas:
    """Scatter plot of alignment and correctness, with the names and shares of the four quadrants."""
    canvas = Canvas(f"Alignment against correctness{of}", height=4.4)
    axes = canvas.axes
    if not scores.size:
        return canvas.say("no scored solution")
    # fixed seed: the same results give the same picture
    jitter = np.random.default_rng(0).uniform(-0.17, 0.17, scores.size)
    low = min(0.0, float(scores.min()) - 0.02)
    size = 70 if scores.size < 50 else 26 if scores.size < 500 else 10
    if scores.size > _MOST_POINTS:
        few = np.random.default_rng(0).choice(scores.size, _MOST_POINTS, replace=False)
        scores, correct, jitter = scores[few], correct[few], jitter[few]
    alpha = 0.55 if scores.size < 500 else 0.3
    for outcome in (True, False):
        x, y = scores[correct == outcome], outcome + jitter[correct == outcome]
        axes.scatter(x, y, s=size, color=COLOURS[outcome], alpha=alpha, linewidths=0)
    axes.axvline(threshold, color=INK, linestyle="--", linewidth=1)
    axes.axhline(0.5, color=INK, linestyle="--", linewidth=1)
    corners = {
        "robust": (0.99, 0.98, "right", "top"),
        "lucky": (0.01, 0.98, "left", "top"),
        "hallucination": (0.99, 0.02, "right", "bottom"),
        "failure": (0.01, 0.02, "left", "bottom"),
    }
    for name, (x, y, across, up) in corners.items():
        words = f"{QUADRANTS[name][0]}: {share(shares.get(name, 0.0))}"
        look = {"ha": across, "va": up, "fontsize": letters(), "fontweight": "bold", "color": INK}
        axes.text(x, y, words, transform=axes.transAxes, **look)
    axes.set_xlim(low, max(1.02, float(scores.max()) + 0.02))
    axes.set_ylim(-0.45, 1.45)
    axes.set_yticks([0, 1], ["incorrect", "correct"])
    axes.set_xlabel("alignment score")
    axes.grid(axis="y", visible=False)
    return canvas


def divergence(first: Sequence[int], without: int, threshold: float, of: str = "") -> Canvas:
    """Histogram of the first step at which solutions diverge from the reference."""
    canvas = Canvas(f"First step of divergence{of}")
    axes = canvas.axes
    if not first:
        return canvas.say(f"none of {without:,} solutions diverges" if without else "no scored solution")
    last = 20
    values = np.minimum(np.array(first), last)
    counts = np.bincount(values, minlength=2)[1:]
    places = np.arange(1, counts.size + 1)
    axes.bar(places, counts, color=CORRECT_COLOUR, width=0.8)
    labels = [str(place) for place in places]
    if max(first) > last:
        labels[-1] = f"{last}+"
    axes.set_xticks(places, labels)
    for place, count in zip(places, counts, strict=True):
        if count:
            look: Any = {"ha": "center", "va": "bottom", "fontsize": letters(SMALL)}
            axes.text(place, count, f"{100 * count / len(first):.0f} %", **look)
    axes.set_xlabel(
        f"entry of the alignment that is a skip or a match under {threshold:g} (1 = the first)"
        f"\n{len(first):,} solutions diverge, {without:,} do not"
    )
    canvas.count_axis("solutions")
    axes.grid(axis="x", visible=False)
    return canvas


def heatmap(
    title: str,
    matrix: NDArray[np.float32],
    benchmark: Sequence[str],
    llm: Sequence[str],
    matches: Sequence[tuple[int, int]] = (),
) -> Canvas:
    """Heatmap of a similarity matrix, benchmark steps down, model steps across; aligned cells are framed."""
    rows, columns = len(benchmark), len(llm)
    canvas = Canvas(
        title, width=min(16.0, 4.2 + 0.62 * max(columns, 3)), height=min(13.0, 2.9 + 0.46 * max(rows, 3))
    )
    axes = canvas.axes
    axes.grid(visible=False)
    if not rows or not columns:
        return canvas.say("a solution without steps has no similarities")
    mesh = axes.pcolormesh(matrix, vmin=0.0, vmax=1.0, cmap="YlGnBu")
    axes.invert_yaxis()
    bar = canvas.figure.colorbar(mesh, ax=axes)
    bar.outline.set_visible(False)
    bar.set_label("cosine similarity")
    if rows * columns <= _ANNOTATED_CELLS:
        _write_numbers(axes, matrix, lambda value: f"{value:.2f}", matrix > 0.55)
    x_labels, y_labels = _step_labels("L", llm), _step_labels("B", benchmark)
    axes.set_xticks(np.arange(len(x_labels)) + 0.5, x_labels)
    axes.set_yticks(np.arange(len(y_labels)) + 0.5, y_labels)
    from matplotlib.patches import Rectangle

    for i, j in matches:
        axes.add_patch(
            Rectangle((j + 0.04, i + 0.04), 0.92, 0.92, fill=False, edgecolor=_PATH_COLOUR, lw=2.4)
        )
    axes.tick_params(axis="x", rotation=38, labelsize=letters(SMALL))
    axes.tick_params(axis="y", rotation=0, labelsize=letters(SMALL))
    for tick in axes.get_xticklabels():
        tick.set_ha("right")
        tick.set_rotation_mode("anchor")
    axes.set_xlabel("model's steps")
    axes.set_ylabel("benchmark's steps")
    return canvas


def _step_labels(letter: str, steps: Sequence[str]) -> list[str]:
    if len(steps) > _LABELLED_STEPS:
        return []
    return [f"{letter}{number}  {short(step, _LABEL_CHARS)}" for number, step in enumerate(steps, 1)]
