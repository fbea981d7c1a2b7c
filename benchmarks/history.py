"""Ratios over time: what `make render` remembers of each run, and the plot of it in docs/benchmarks.md.

`history.jsonl` has a line a rendered run: its date, its processor, and by task the ratio and its target. The lines
before 23 November 2026 were taken from the tables that the README and the docs had.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

HISTORY: Final = Path(__file__).parent / "history.jsonl"

COLUMNS: Final = 3


class Ratio(TypedDict, total=False):
    """A benchmark's ratio in one run; ``limit_is`` is "at most" or "at least"."""

    ratio: float
    limit: float
    limit_is: str


class Run(NamedTuple):
    """One line of the history."""

    date: datetime
    processor: str
    ratios: dict[str, Ratio]


def read(path: Path = HISTORY) -> list[Run]:
    """All runs, the oldest first."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    rows = map(json.loads, lines)
    runs = [Run(datetime.fromisoformat(row["date"]), row["processor"], row["ratios"]) for row in rows]
    return sorted(runs, key=lambda run: run.date)


def remember(date: str, processor: str, ratios: dict[str, Ratio], path: Path = HISTORY) -> None:
    """Append a run, unless it is there already."""
    known = {run.date for run in read(path)}
    if datetime.fromisoformat(date) in known or not ratios:
        return
    with path.open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"date": date, "processor": processor, "ratios": ratios}, ensure_ascii=False) + "\n"
        )


def series(runs: list[Run]) -> dict[str, list[tuple[datetime, Ratio]]]:
    """Of each benchmark with a target that was measured twice or more, what was measured; in the newest's order."""
    found: dict[str, list[tuple[datetime, Ratio]]] = {}
    for run in runs:
        for task, ratio in run.ratios.items():
            found.setdefault(task, []).append((run.date, ratio))
    order = list(runs[-1].ratios) if runs else []
    return {task: found[task] for task in order if len(found[task]) > 1 and "limit" in found[task][-1][1]}


def draw(runs: list[Run], path: Path) -> bool:
    """Small multiples, a benchmark each: ratio by run, the target as a line, its good side shaded. False if
    nothing was measured twice."""
    import matplotlib

    matplotlib.use("svg")
    # the same file from the same history
    matplotlib.rcParams["svg.hashsalt"] = "relfast"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    kept = series(runs)
    if not kept:
        return False
    places = {run.date: place for place, run in enumerate(runs, 1)}
    rows = -(-len(kept) // COLUMNS)
    figure, grid = plt.subplots(rows, COLUMNS, figsize=(4.0 * COLUMNS, 2.1 * rows), squeeze=False)
    for axes, (task, points) in zip(grid.flat, kept.items(), strict=False):
        _panel(axes, task, [(places[date], ratio) for date, ratio in points], len(runs))
    for axes in list(grid.flat)[len(kept) :]:
        axes.set_visible(False)
    first, last = runs[0].date.date(), runs[-1].date.date()
    figure.supxlabel(f"runs from {first} to {last}; shaded: within the target", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return True


def _panel(axes: Any, task: str, points: list[tuple[int, Ratio]], n_runs: int) -> None:
    import textwrap

    limit, at_least = points[-1][1]["limit"], points[-1][1].get("limit_is") == "at least"
    values = [ratio["ratio"] for _, ratio in points]
    axes.plot([place for place, _ in points], values, "o-", color="#1f5fa8", linewidth=1.2, markersize=3.5)
    axes.axhline(limit, color="#b04a00", linewidth=1)
    low, high = min(*values, limit) / 1.4, max(*values, limit) * 1.4
    axes.axhspan(*((limit, high) if at_least else (low, limit)), color="#2e8b57", alpha=0.10, linewidth=0)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.set_xlim(0.5, n_runs + 0.5)
    axes.set_xticks(range(1, n_runs + 1))
    # the line of the limit needs no label where the newest ratio's would stand on it
    apart = abs(math.log(values[-1] / limit)) > 0.09 * math.log(high / low)
    axes.set_yticks([round(limit, 3), round(values[-1], 3)] if apart else [round(values[-1], 3)])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g} ×")
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("\n".join(textwrap.wrap(task, 52)), fontsize=7, loc="left")
