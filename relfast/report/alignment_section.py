"""The section of rows whose steps were aligned: scores, quadrants, where they diverge, correlations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relfast.errors import InputError, UsageError
from relfast.report import alignment_figures as figures
from relfast.report.base import Report
from relfast.report.overview import Drawer
from relfast.report.page import Section, Table
from relfast.report.realign import correlation
from relfast.report.scored_rows import Drawn, Kept, Scored
from relfast.tasks.options import AllOptions
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD
from relfast.tasks.realign.display import MAX_STEPS_DRAWN
from relfast.tasks.realign.extract import read_reference, read_response


def draw(runs: Sequence[Scored], task: str, report: Report) -> Section:
    """The figures of each run whose rows have ``alignment_score`` and ``first_divergence`` (null: none)."""
    drawer = Drawer(report)
    many = len(runs) > 1
    quadrants, related = [], []
    for place, run in enumerate(runs):
        drawn = run.drawn.get(task)
        if drawn is None or not len(drawn.correct):
            continue
        scores, correct = _columns(drawn)
        shares = _shares(scores, correct)
        quadrants += [
            [*([run.name] if many else []), *figures.QUADRANTS[name], f"{100 * share:.1f}"]
            for name, share in shares.items()
        ]
        for name, value, why in correlation(scores, correct):
            shown = f"undefined ({why})" if value is None else f"{value:.4f}"
            related.append([*([run.name] if many else []), name, shown])
        _figures(
            drawer, drawn, scores, correct, shares, f"_{place + 1}" if many else "", run.name if many else ""
        )
    first = ["model"] if many else []
    text = [] if many else _heatmaps(drawer, runs[0], task, report)
    tables = [
        Table(
            "Quadrants",
            [*first, "quadrant", "meaning", "% of responses"],
            quadrants,
            f"An alignment score of {DIVERGENCE_THRESHOLD:g} or more is high.",
            text_columns=2 + many,
        ),
        Table(
            "Correlation of alignment with correctness", [*first, "", "value"], related, text_columns=1 + many
        ),
    ]
    return Section(f"{task}: alignment", text, tables, drawer.pictures)


def _columns(drawn: Drawn) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    scores = np.frombuffer(drawn.columns["alignment_score"], np.float64)
    return scores, np.frombuffer(drawn.correct, np.bool_)


def _shares(scores: NDArray[np.float64], correct: NDArray[np.bool_]) -> dict[str, float]:
    high = scores >= DIVERGENCE_THRESHOLD
    return {
        "robust": float((high & correct).mean()),
        "lucky": float((~high & correct).mean()),
        "hallucination": float((high & ~correct).mean()),
        "failure": float((~high & ~correct).mean()),
    }


def _figures(
    drawer: Drawer,
    drawn: Drawn,
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    shares: dict[str, float],
    suffix: str,
    model: str,
) -> None:
    of = f" of {model}" if model else ""
    places = np.frombuffer(drawn.columns["first_divergence"], np.float64)
    first = places[np.nan_to_num(places) > 0].astype(int).tolist()
    drawer(
        f"alignment_distribution{suffix}.png",
        f"Alignment scores{of}",
        "Mean similarity of the matched steps.",
        lambda path: figures.distribution(
            path, f"Alignment scores by correctness{of}", scores, correct, "alignment score"
        ),
    )
    drawer(
        f"quadrant_analysis{suffix}.png",
        f"Quadrants{of}",
        "Each point is a response (3,000 of them at most), spread vertically.",
        lambda path: figures.quadrants(path, scores, correct, DIVERGENCE_THRESHOLD, shares, of),
    )
    drawer(
        f"divergence_step_distribution{suffix}.png",
        f"Divergence{of}",
        "Where responses first leave the reference: early is concept, late is calculation.",
        lambda path: figures.divergence(path, first, len(scores) - len(first), DIVERGENCE_THRESHOLD, of),
    )


def _heatmaps(drawer: Drawer, run: Scored, task: str, report: Report) -> list[str]:
    """Best, worst and hallucination of the rows that the page holds; what is left out, in words."""
    from relfast.realign.aligner import StepAligner
    from relfast.report.realign import generate_heatmap

    rows = [kept for kept in run.sample if kept.score.task == task and kept.record is not None]
    rows = [kept for kept in rows if isinstance(kept.score.metrics.get("alignment_score"), int | float)]

    def score_of(kept: Kept) -> float:
        return float(kept.score.metrics["alignment_score"])

    right = [kept for kept in rows if kept.score.correct]
    wrong = [kept for kept in rows if kept.score.correct is False]
    misled = [kept for kept in wrong if score_of(kept) >= DIVERGENCE_THRESHOLD]
    aligner = StepAligner(report.embedder)
    for name, words, chosen in (
        ("best", "correct, highest alignment", max(right, key=score_of, default=None)),
        ("worst", "incorrect, lowest alignment", min(wrong, key=score_of, default=None)),
        ("hallucination", "incorrect, high alignment", max(misled, key=score_of, default=None)),
    ):
        if chosen is None or chosen.record is None:
            continue
        options = AllOptions(policy="strict" if run.counted.strict else "reference")
        reference = read_reference(chosen.record, options)
        solution = read_response(chosen.record.response, options).value
        if isinstance(reference, str):
            continue
        benchmark, llm = reference.steps[:MAX_STEPS_DRAWN], solution.steps[:MAX_STEPS_DRAWN]
        title = f"{name.capitalize()} case: {chosen.score.id}, alignment {score_of(chosen):.2f}"
        try:
            drawer(
                f"heatmap_example_{name}.png",
                f"{name.capitalize()} case",
                f"{words.capitalize()}, of the records in this page. Aligned steps are framed.",
                lambda path, of=(benchmark, llm, title): generate_heatmap(  # type: ignore[misc]
                    aligner, *of, path, alone=False
                ),
            )
        except (UsageError, InputError) as error:
            return [f"Heatmaps are left out: {error}."]
    return []
