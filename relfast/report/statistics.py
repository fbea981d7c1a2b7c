"""ReAlign's numbers: statistics by subset, correlations, quadrants. What is undefined is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.errors import MissingExtraError
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD
from relfast.tasks.realign.score import quadrant

QUADRANTS: Final = ("robust", "lucky", "hallucination", "failure")
TOTAL: Final = "TOTAL"
_FEWEST_FOR_CORRELATION: Final = 3


@dataclass
class Solved:
    """The scored entries as columns of one length, and what could not be used.

    ``divergence`` holds the 1-based first divergence of each entry, 0 where there is none.
    """

    subsets: list[str]
    scores: NDArray[np.float64]
    correct: NDArray[np.bool_]
    divergence: list[int]
    entries: list[dict[str, Any]]
    failed: int = 0

    def __len__(self) -> int:
        return len(self.entries)


def read_entries(entries: Iterable[dict[str, Any]]) -> Solved:
    """Results entries as columns. Entries with an error, or without a score or grade, are counted apart."""
    kept: list[dict[str, Any]] = []
    failed = 0
    for entry in entries:
        score, correct = entry.get("alignment_score"), entry.get("final_correct")
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        if entry.get("error") is not None or not is_number or not isinstance(correct, bool):
            failed += 1
        else:
            kept.append(entry)
    return Solved(
        subsets=[_writable(str(entry.get("subset", ""))) for entry in kept],
        scores=np.array([entry["alignment_score"] for entry in kept], np.float64),
        correct=np.array([entry["final_correct"] for entry in kept], np.bool_),
        divergence=[first_divergence(entry.get("alignment_details") or ()) or 0 for entry in kept],
        entries=kept,
        failed=failed,
    )


def _writable(text: str) -> str:
    """Text without lone surrogates: neither a table nor a picture can hold one."""
    return text.encode("utf-8", "replace").decode("utf-8")


def first_divergence(alignment: Sequence[dict[str, Any]]) -> int | None:
    """1-based place of the first entry that is a skip or a match under the threshold; None if none is."""
    for place, entry in enumerate(alignment, 1):
        if entry.get("type") != "match" or entry.get("score", 0.0) < DIVERGENCE_THRESHOLD:
            return place
    return None


def quadrant_shares(solved: Solved) -> dict[str, float]:
    """Share of each quadrant among all solutions; zeros without any."""
    counts = dict.fromkeys(QUADRANTS, 0)
    for score, correct in zip(solved.scores, solved.correct, strict=True):
        counts[quadrant(float(score), bool(correct))] += 1
    return {name: count / max(1, len(solved)) for name, count in counts.items()}


def summary_table(solved: Solved) -> Any:
    """A data frame: a row a subset and one for all, ``Count Accuracy Avg_Alignment Std_Alignment``.

    The deviation is the sample's (n − 1); a single solution has none.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("a report's tables", "report") from error
    groups = np.array(solved.subsets, dtype=object)
    rows = {}
    for name in [*sorted(set(solved.subsets)), TOTAL]:
        chosen = np.ones(len(solved), bool) if name == TOTAL else groups == name
        scores, correct = solved.scores[chosen], solved.correct[chosen]
        rows[name] = {
            "Count": int(chosen.sum()),
            "Accuracy": float(correct.mean()) if scores.size else float("nan"),
            "Avg_Alignment": float(scores.mean()) if scores.size else float("nan"),
            "Std_Alignment": float(scores.std(ddof=1)) if scores.size > 1 else float("nan"),
        }
    return pandas.DataFrame.from_dict(rows, orient="index").astype({"Count": int})


def correlations(solved: Solved) -> list[tuple[str, float | None, str]]:
    """Pearson's and Spearman's correlation of alignment with correctness: name, value, and why it is None."""
    return correlation(solved.scores, solved.correct)


def correlation(
    scores: NDArray[np.float64], correct: NDArray[np.bool_]
) -> list[tuple[str, float | None, str]]:
    """See `correlations`."""
    why = _no_correlation(scores, correct)
    if why is not None:
        return [("Pearson", None, why), ("Spearman", None, why)]
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtraError("a report's correlations", "report") from error
    right = correct.astype(np.float64)
    return [
        ("Pearson", float(stats.pearsonr(scores, right).statistic), ""),
        ("Spearman", float(stats.spearmanr(scores, right).statistic), ""),
    ]


def _no_correlation(scores: NDArray[np.float64], correct: NDArray[np.bool_]) -> str | None:
    if scores.size < _FEWEST_FOR_CORRELATION:
        return f"{scores.size} scored solutions are too few"
    if correct.all():
        return "every answer is correct"
    if not correct.any():
        return "every answer is incorrect"
    # a constant column up to rounding has a correlation of nothing but noise
    if float(np.ptp(scores)) < 1e-12:
        return "every alignment score is the same"
    return None
