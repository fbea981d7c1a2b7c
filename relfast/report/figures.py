"""Drawing: one function a figure, all in one style. Nothing here reads or counts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.errors import MissingExtraError, OutputError

CORRECT_COLOUR: Final = "#2f6fb0"
INCORRECT_COLOUR: Final = "#c8413b"
NEUTRAL_COLOUR: Final = "#6b7785"
COLOURS: Final = {True: CORRECT_COLOUR, False: INCORRECT_COLOUR}
OUTCOMES: Final = {True: "correct", False: "incorrect"}

DPI: Final = 130
_MIN_FOR_DENSITY: Final = 3
"""Fewest different scores of a group for which a density curve is drawn."""
_ANNOTATED_CELLS: Final = 15 * 15
_LABELLED_STEPS: Final = 40
_LABEL_CHARS: Final = 26
_NAME_CHARS: Final = 36
_PATH_COLOUR: Final = "#ff8c1a"
"""Seen on the light and on the dark end of the heatmap's colours."""

_STYLE: Final = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e6ea",
    "figure.facecolor": "white",
}


class Canvas:
    """A figure with one pair of axes, or several side by side, in the house style."""

    def __init__(self, width: float = 8.0, height: float = 4.8, panels: int = 1, columns: int = 1) -> None:
        try:
            import matplotlib
            import seaborn
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("drawing a report", "report") from error
        self.seaborn = seaborn
        # no pyplot: it keeps global state, and a GUI where there is one
        with matplotlib.rc_context(_STYLE):
            self.figure = Figure(figsize=(width, height), layout="constrained")
            rows = -(-panels // columns)
            grid = self.figure.subplots(rows, columns, squeeze=False)
        self.panels: list[Any] = list(grid.flat)[:panels]
        for unused in list(grid.flat)[panels:]:
            unused.set_axis_off()

    @property
    def axes(self) -> Any:
        return self.panels[0]

    def title(self, text: str) -> None:
        line = text if len(text) <= 2 * _NAME_CHARS else f"{text[: 2 * _NAME_CHARS - 1]}…"
        self.axes.set_title(plain(line), fontsize=12, fontweight="bold", pad=10)

    def count_axis(self, label: str) -> None:
        """The vertical axis counts: whole numbers only."""
        from matplotlib.ticker import MaxNLocator

        self.axes.set_ylabel(label)
        self.axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    def save(self, path: Path) -> None:
        with warnings.catch_warnings():
            # steps come in any script; a missing glyph is a box in the picture, not a failure
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            try:
                self.figure.savefig(path, dpi=DPI)
            except OSError as error:
                raise OutputError(path, error.strerror or str(error)) from error


def say(axes: Any, message: str) -> None:
    """A sentence in the place of a drawing."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, ha="center", va="center", transform=axes.transAxes, color=NEUTRAL_COLOUR)


def plain(text: str) -> str:
    """Text that is shown as it is: a dollar sign would start a formula, a lone surrogate ends the drawing."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("$", r"\$")


def short(name: str) -> str:
    """A group's name beside an axis: one line, cut where it would push the drawing out of its figure."""
    line = " ".join(name.split())
    return plain(line if len(line) <= _NAME_CHARS else f"{line[: _NAME_CHARS - 1]}…")


def bars(
    path: Path,
    title: str,
    shares: Mapping[str, float],
    counts: Mapping[str, int],
    *,
    errors: Mapping[str, float | None] | None = None,
    label: str = "correct",
) -> None:
    """Horizontal bars of shares from 0 to 1, each with its per cent and its count."""
    canvas = Canvas(height=max(2.6, 1.4 + 0.42 * len(shares)))
    axes = canvas.axes
    canvas.title(title)
    if not shares:
        say(axes, "no scored solution")
        canvas.save(path)
        return
    names = list(shares)
    values = [shares[name] for name in names]
    places = range(len(names))
    axes.barh(places, values, color=CORRECT_COLOUR, height=0.66)
    if errors is not None:
        spread = [1.96 * (errors.get(name) or 0.0) for name in names]
        axes.errorbar(values, places, xerr=spread, fmt="none", ecolor="#222222", elinewidth=1, capsize=3)
    for place, name, value in zip(places, names, values, strict=True):
        end = value + (1.96 * (errors.get(name) or 0.0) if errors is not None else 0.0)
        axes.text(
            min(end, 1.0) + 0.012,
            place,
            f"{100 * value:.1f}%  (n = {counts[name]:,})",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(places, [short(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.28)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0%", "20%", "40%", "60%", "80%", "100%"])
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)
    canvas.save(path)


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
        canvas.seaborn.histplot(
            x=group,
            bins=bins,
            kde=np.unique(group).size >= _MIN_FOR_DENSITY,
            color=COLOURS[outcome],
            alpha=0.42,
            edgecolor="white",
            linewidth=0.5,
            label=name,
            ax=axes,
        )
    axes.set_xlabel(label)
    canvas.count_axis("solutions")
    axes.legend(frameon=False)
    canvas.save(path)


def quadrants(
    path: Path,
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    threshold: float,
    shares: Mapping[str, float],
) -> None:
    """Alignment against correctness, the four quadrants named with their shares."""
    canvas = Canvas(width=8.4, height=5.2)
    axes = canvas.axes
    canvas.title("Alignment against correctness")
    if not scores.size:
        say(axes, "no scored solution")
        canvas.save(path)
        return
    # fixed seed: the same results give the same picture
    jitter = np.random.default_rng(0).uniform(-0.17, 0.17, scores.size)
    low = min(0.0, float(scores.min()) - 0.02)
    size = 70 if scores.size < 50 else 26 if scores.size < 500 else 10
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
    axes.axvline(threshold, color="#333333", linestyle="--", linewidth=1)
    axes.axhline(0.5, color="#333333", linestyle="--", linewidth=1)
    corners = {
        "robust": (0.99, 0.98, "right", "top", "robust reasoning"),
        "lucky": (0.01, 0.98, "left", "top", "lucky guess"),
        "hallucination": (0.99, 0.02, "right", "bottom", "hallucination"),
        "failure": (0.01, 0.02, "left", "bottom", "complete failure"),
    }
    for name, (x, y, ha, va, words) in corners.items():
        axes.text(
            x, y, f"{words}: {100 * shares.get(name, 0.0):.1f}%", transform=axes.transAxes, ha=ha, va=va,
            fontsize=10, fontweight="bold", color="#333333",
        )  # fmt: skip
    axes.set_xlim(low, max(1.02, float(scores.max()) + 0.02))
    axes.set_ylim(-0.45, 1.45)
    axes.set_yticks([0, 1], ["incorrect", "correct"])
    axes.set_xlabel("alignment score")
    axes.grid(axis="y", visible=False)
    canvas.save(path)


def divergence(path: Path, first: Sequence[int], without: int, threshold: float) -> None:
    """Histogram of the first step at which a solution leaves the reference."""
    canvas = Canvas()
    axes = canvas.axes
    canvas.title("First step of divergence")
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
        canvas.save(path)
        return
    canvas.seaborn.heatmap(
        matrix,
        vmin=0.0,
        vmax=1.0,
        cmap="YlGnBu",
        annot=rows * columns <= _ANNOTATED_CELLS,
        fmt=".2f",
        annot_kws={"fontsize": 8},
        cbar_kws={"label": "cosine similarity"},
        xticklabels=_step_labels("L", llm),
        yticklabels=_step_labels("B", benchmark),
        ax=axes,
    )
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
    canvas.save(path)


def histograms(path: Path, title: str, groups: Mapping[str, NDArray[np.float64]], label: str) -> None:
    """One small histogram a group."""
    columns = min(3, max(1, len(groups)))
    rows = -(-max(1, len(groups)) // columns)
    canvas = Canvas(
        width=3.6 * columns + 0.6, height=2.5 * rows + 0.7, panels=max(1, len(groups)), columns=columns
    )
    canvas.figure.suptitle(title, fontweight="bold")
    if not groups:
        say(canvas.axes, "no scored row")
    for axes, (name, values) in zip(canvas.panels, groups.items(), strict=False):
        axes.set_title(f"{short(name)} (n = {values.size:,})", fontsize=10)
        if not values.size:
            say(axes, "no scored row")
            continue
        low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
        axes.hist(
            values, bins=np.linspace(low, high, 26), color=CORRECT_COLOUR, edgecolor="white", linewidth=0.5
        )
        axes.axvline(float(values.mean()), color="#222222", linestyle="--", linewidth=1)
        axes.set_xlabel(label)
    canvas.save(path)


def stacked(path: Path, title: str, counts: Mapping[str, Mapping[str, int]], order: Sequence[str]) -> None:
    """Horizontal bars of shares that add up to one: a bar a group, a colour a label."""
    canvas = Canvas(width=9.2, height=max(2.6, 1.6 + 0.42 * len(counts)))
    axes = canvas.axes
    canvas.title(title)
    names = [name for name in counts if sum(counts[name].values())]
    if not names:
        say(axes, "no row")
        canvas.save(path)
        return
    palette = canvas.seaborn.color_palette("deep", len(order))
    left = np.zeros(len(names))
    for colour, label in zip(palette, order, strict=True):
        shares = np.array([counts[name].get(label, 0) / sum(counts[name].values()) for name in names])
        if shares.any():
            axes.barh(range(len(names)), shares, left=left, color=colour, height=0.66, label=plain(label))
        left += shares
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0%", "25%", "50%", "75%", "100%"])
    axes.grid(axis="y", visible=False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    canvas.save(path)


def curves(path: Path, title: str, lines: Mapping[str, Mapping[int, float]], label: str) -> None:
    """A line a group over k."""
    canvas = Canvas()
    axes = canvas.axes
    canvas.title(title)
    for name, points in lines.items():
        axes.plot(list(points), list(points.values()), marker="o", markersize=4, label=plain(name))
    ticks = sorted({k for points in lines.values() for k in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(k) for k in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("k")
    axes.set_ylabel(label)
    axes.legend(frameon=False)
    canvas.save(path)


def _step_labels(letter: str, steps: Sequence[str]) -> list[str] | bool:
    if len(steps) > _LABELLED_STEPS:
        return False
    labels = []
    for number, step in enumerate(steps, 1):
        text = " ".join(step.split())
        short = text if len(text) <= _LABEL_CHARS else f"{text[: _LABEL_CHARS - 1]}…"
        labels.append(f"{letter}{number}  {plain(short)}")
    return labels
