"""The figures of a report on rows whose steps were aligned: scores, quadrants, where they diverge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relfast.report import figures
from relfast.report.base import Report
from relfast.report.page import Picture, Section
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD


def draw(columns: Mapping[str, Sequence[Any]], right: Sequence[bool], report: Report) -> Section:
    """The section of rows with ``alignment_score`` and ``first_divergence`` (null: nowhere)."""
    scores, correct = np.array(columns["alignment_score"], np.float64), np.array(right, np.bool_)
    high = scores >= DIVERGENCE_THRESHOLD
    shares = {
        "robust": float((high & correct).mean()),
        "lucky": float((~high & correct).mean()),
        "hallucination": float((high & ~correct).mean()),
        "failure": float((~high & ~correct).mean()),
    }
    places = [int(place) for place in columns["first_divergence"] if place]
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
    return Section("Alignment", pictures=pictures)
