"""The figures of aligned solutions. Nothing here reads or counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.report.canvas import (
    CORRECT_COLOUR,
    INCORRECT_COLOUR,
    INK,
    PAPER,
    Canvas,
    plain,
    say,
)

COLOURS: Final = {True: CORRECT_COLOUR, False: INCORRECT_COLOUR}
OUTCOMES: Final = {True: "correct", False: "incorrect"}
QUADRANTS: Final = {
    "robust": ("robust reasoning", "high alignment, correct"),
    "lucky": ("lucky guess", "low alignment, correct"),
    "hallucination": ("hallucination", "high alignment, incorrect"),
    "failure": ("complete failure", "low alignment, incorrect"),
}
"""A quadrant's name → what it is called, and what is in it."""

_MIN_FOR_DENSITY: Final = 3
"""Fewest different scores of a group for which a density curve is drawn."""
_MOST_FOR_DENSITY: Final = 20_000
_MOST_POINTS: Final = 3_000
"""Points of a scatter; of more, as many are drawn by chance."""
_ANNOTATED_CELLS: Final = 15 * 15
_LABELLED_STEPS: Final = 40
_LABEL_CHARS: Final = 26
_PATH_COLOUR: Final = "#ff8c1a"
"""Seen on the light and on the dark end of the heatmap's colours."""


def distribution(
    path: Path, title: str, scores: NDArray[np.float64], correct: NDArray[np.bool_], label: str
) -> None:
    """Histogram with density of a score, by correctness."""
    canvas = Canvas()
    axes = canvas.axes
    canvas.title(title)
    if not scores.size:
        say(axes, "no scored solution")
        canvas.save(path)
        return
    low = min(0.0, float(scores.min()))
    bins = np.linspace(low, max(1.0, float(scores.max())), 31)
    for outcome in (True, False):
        group = scores[correct == outcome]
        name = f"{OUTCOMES[outcome]} (n = {group.size:,})"
        if not group.size:
            axes.plot([], [], color=COLOURS[outcome], label=name)
            continue
        axes.hist(
            group,
            bins=bins,
            color=COLOURS[outcome],
            alpha=0.42,
            edgecolor=PAPER,
            linewidth=0.5,
            label=name,
        )
        _density(axes, group, bins, COLOURS[outcome])
    axes.set_xlabel(label)
    canvas.count_axis("solutions")
    axes.legend(frameon=False)
    canvas.save(path)


def _density(axes: Any, group: NDArray[np.float64], bins: NDArray[np.float64], colour: str) -> None:
    """A smooth curve over a histogram, of the same area."""
    if np.unique(group).size < _MIN_FOR_DENSITY or np.ptp(group) < 1e-9:
        return
    from scipy.stats import gaussian_kde

    places = np.linspace(bins[0], bins[-1], 200)
    heights = (
        gaussian_kde(group[:: max(1, group.size // _MOST_FOR_DENSITY)])(places)
        * group.size
        * (bins[1] - bins[0])
    )
    axes.plot(places, heights, color=colour, linewidth=1.8)


def quadrants(
    path: Path,
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    threshold: float,
    shares: Mapping[str, float],
    of: str = "",
) -> None:
    """Alignment against correctness, the four quadrants named with their shares."""
    canvas = Canvas(width=8.4, height=5.2)
    axes = canvas.axes
    canvas.title(f"Alignment against correctness{of}")
    if not scores.size:
        say(axes, "no scored solution")
        canvas.save(path)
        return
    # fixed seed: the same results give the same picture
    jitter = np.random.default_rng(0).uniform(-0.17, 0.17, scores.size)
    low = min(0.0, float(scores.min()) - 0.02)
    size = 70 if scores.size < 50 else 26 if scores.size < 500 else 10
    if scores.size > _MOST_POINTS:
        few = np.random.default_rng(0).choice(scores.size, _MOST_POINTS, replace=False)
        scores, correct, jitter = scores[few], correct[few], jitter[few]
    for outcome in (True, False):
        chosen = correct == outcome
        axes.scatter(
            scores[chosen],
            outcome + jitter[chosen],
            s=size,
            color=COLOURS[outcome],
            alpha=0.55 if scores.size < 500 else 0.3,
            linewidths=0,
        )
    axes.axvline(threshold, color=INK, linestyle="--", linewidth=1)
    axes.axhline(0.5, color=INK, linestyle="--", linewidth=1)
    corners = {
        "robust": (0.99, 0.98, "right", "top", "robust reasoning"),
        "lucky": (0.01, 0.98, "left", "top", "lucky guess"),
        "hallucination": (0.99, 0.02, "right", "bottom", "hallucination"),
        "failure": (0.01, 0.02, "left", "bottom", "complete failure"),
    }
    for name, (x, y, ha, va, words) in corners.items():
        axes.text(
            x, y, f"{words}: {100 * shares.get(name, 0.0):.1f}%", transform=axes.transAxes, ha=ha, va=va,
            fontsize=10, fontweight="bold", color=INK,
        )  # fmt: skip
    axes.set_xlim(low, max(1.02, float(scores.max()) + 0.02))
    axes.set_ylim(-0.45, 1.45)
    axes.set_yticks([0, 1], ["incorrect", "correct"])
    axes.set_xlabel("alignment score")
    axes.grid(axis="y", visible=False)
    canvas.save(path)


def divergence(path: Path, first: Sequence[int], without: int, threshold: float, of: str = "") -> None:
    """Histogram of the first step at which a solution leaves the reference."""
    canvas = Canvas()
    axes = canvas.axes
    canvas.title(f"First step of divergence{of}")
    if not first:
        reason = f"none of {without:,} solutions diverges" if without else "no scored solution"
        say(axes, reason)
        canvas.save(path)
        return
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
            axes.text(place, count, f"{100 * count / len(first):.0f}%", ha="center", va="bottom", fontsize=8)
    axes.set_xlabel(
        f"entry of the alignment that is a skip or a match under {threshold:g} (1 = the first)"
        f"\n{len(first):,} solutions diverge, {without:,} do not"
    )
    canvas.count_axis("solutions")
    axes.grid(axis="x", visible=False)
    canvas.save(path)


def heatmap(
    path: Path,
    title: str,
    matrix: NDArray[np.float32],
    benchmark: Sequence[str],
    llm: Sequence[str],
    matches: Sequence[tuple[int, int]] = (),
    *,
    alone: bool = False,
) -> None:
    """A similarity matrix, benchmark steps down and model steps across; aligned cells are framed."""
    rows, columns = len(benchmark), len(llm)
    canvas = Canvas(
        width=min(16.0, 4.2 + 0.62 * max(columns, 3)), height=min(13.0, 2.9 + 0.46 * max(rows, 3))
    )
    axes = canvas.axes
    canvas.title(title)
    axes.grid(visible=False)
    if not rows or not columns:
        say(axes, "a solution without steps has no similarities")
        canvas.save(path, alone=alone)
        return
    mesh = axes.pcolormesh(matrix, vmin=0.0, vmax=1.0, cmap="YlGnBu")
    axes.invert_yaxis()
    bar = canvas.figure.colorbar(mesh, ax=axes)
    bar.outline.set_visible(False)
    bar.set_label("cosine similarity")
    if rows * columns <= _ANNOTATED_CELLS:
        for (row, column), value in np.ndenumerate(matrix):
            # of their own shades, which a page's dark mode leaves as they are
            colour = "#fefefe" if value > 0.55 else "#101010"
            axes.text(
                column + 0.5, row + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour
            )
    x_labels, y_labels = _step_labels("L", llm), _step_labels("B", benchmark)
    axes.set_xticks(np.arange(len(x_labels)) + 0.5, x_labels)
    axes.set_yticks(np.arange(len(y_labels)) + 0.5, y_labels)
    from matplotlib.patches import Rectangle

    for i, j in matches:
        axes.add_patch(
            Rectangle((j + 0.04, i + 0.04), 0.92, 0.92, fill=False, edgecolor=_PATH_COLOUR, lw=2.4)
        )
    axes.tick_params(axis="x", rotation=38, labelsize=8)
    axes.tick_params(axis="y", rotation=0, labelsize=8)
    for tick in axes.get_xticklabels():
        tick.set_ha("right")
        tick.set_rotation_mode("anchor")
    axes.set_xlabel("model's steps")
    axes.set_ylabel("benchmark's steps")
    canvas.save(path, alone=alone)


def _step_labels(letter: str, steps: Sequence[str]) -> list[str]:
    if len(steps) > _LABELLED_STEPS:
        return []
    labels = []
    for number, step in enumerate(steps, 1):
        text = " ".join(step.split())
        short = text if len(text) <= _LABEL_CHARS else f"{text[: _LABEL_CHARS - 1]}…"
        labels.append(f"{letter}{number}  {plain(short)}")
    return labels
