"""ReAlign's report: the published files under their names, and one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from relfast.engine.io.lines import lines_of
from relfast.engine.io.sources import find_sources
from relfast.errors import InputError, MissingExtraError, OutputError, UsageError
from relfast.inference.request_log import SETTINGS_SUFFIX
from relfast.json_text import Undecodable, decode_object
from relfast.report import alignment_figures, figures
from relfast.report.base import FORMATS, OnStep, Report, ignore_step
from relfast.report.figures import Point
from relfast.report.page import Page, Picture, Section, Table, write_page
from relfast.stats.intervals import wilson
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


RESULTS_FILE: Final = "realign_benchmark_results.jsonl"
FIGURES_DIR: Final = "figures-and-statistics"

_MAX_FAILURES_SHOWN: Final = 20


class Aligner(Protocol):
    """What a heatmap needs; `relfast.realign.StepAligner` is one."""

    def compute_similarity_matrix(self, steps_a: Sequence[str], steps_b: Sequence[str]) -> NDArray[Any]: ...

    def align_steps(
        self, steps_benchmark: Sequence[str], steps_llm: Sequence[str]
    ) -> tuple[list[dict[str, Any]], float]: ...


def generate_heatmap(
    aligner: Aligner,
    bench_steps: Sequence[str],
    llm_steps: Sequence[str],
    title: str,
    filename: str | Path,
    *,
    alone: bool = True,
) -> None:
    """A picture of the similarities of two solutions' steps; the aligned cells are framed.

    Unless ``alone``, it is written as SVG and PDF, too.

    Raises
    ------
    MissingExtraError, OutputError, UsageError
    """
    matches: list[tuple[int, int]] = []
    matrix = np.zeros((len(bench_steps), len(llm_steps)), np.float32)
    if len(bench_steps) and len(llm_steps):
        matrix = np.asarray(aligner.compute_similarity_matrix(bench_steps, llm_steps), np.float32)
        alignment, _ = aligner.align_steps(bench_steps, llm_steps)
        matches = [(e["benchmark_idx"], e["llm_idx"]) for e in alignment if e["type"] == "match"]
    alignment_figures.heatmap(Path(filename), title, matrix, bench_steps, llm_steps, matches, alone=alone)


def generate_analysis_report(
    results_file: str | Path,
    output_dir: str | Path,
    *,
    aligner: Aligner | None = None,
    on_step: OnStep = ignore_step,
) -> Report:
    """All figures, tables and the page of a results file (the published JSONL entries).

    Heatmaps embed their steps anew, with the ``auto`` model if no aligner is given; without a model on
    this machine they are left out, which the page says. ``on_step`` is told of each step as it begins.

    Raises
    ------
    InputError
        The file cannot be read or holds no results.
    MissingExtraError, OutputError
    """
    on_step("reading results")
    solved = read_entries(_entries(str(results_file)))
    report = Report(Path(output_dir), on_step=on_step)
    try:
        report.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(report.directory, error.strerror or str(error)) from error
    on_step("drawing figures")
    table = summary_table(solved)
    page = Page(
        "ReAlign report",
        "How closely the steps of a model's solutions follow reference solutions, and whether its answers are"
        " right.",
        _facts(Path(results_file), solved),
    )
    page.sections = [
        Section("Summary", _summary_text(solved), [_subset_table(table), _quadrant_table(solved)]),
        Section("Figures", pictures=_figures(solved, table, report)),
        _heatmaps(solved, aligner, report, on_step),
    ]
    if solved.failed:
        page.sections.append(_failures(str(results_file), solved))
    _write_tables(table, solved, report)
    report.files += write_page(page, report.directory)
    return report


def _entries(path: str) -> Iterator[dict[str, Any]]:
    seen = False
    for source in find_sources([path]):
        for number, line in enumerate(lines_of(source), 1):
            if not line.strip():
                continue
            try:
                entry = decode_object(line)
            except Undecodable as error:
                raise InputError(str(error), file=source.path, line=number) from error
            if not seen and not is_entry(entry):
                raise InputError("is no result of ReAlign", file=source.path, line=number)
            seen = True
            yield entry


def is_entry(row: dict[str, Any]) -> bool:
    """Whether a row is one of ReAlign's result entries."""
    return "alignment_score" in row and "final_correct" in row


def _facts(results: Path, solved: Solved) -> list[tuple[str, str]]:
    facts = [
        ("results", results.name),
        ("solutions scored", f"{len(solved):,}"),
        ("without a score", f"{solved.failed:,}"),
    ]
    try:
        settings = orjson.loads(results.with_name(results.name + SETTINGS_SUFFIX).read_bytes())
    except (OSError, ValueError):
        return facts
    if isinstance(settings, dict):
        facts += [
            (name.replace("_", " "), str(value)) for name, value in settings.items() if value is not None
        ]
    return facts


def _summary_text(solved: Solved) -> list[str]:
    if not len(solved):
        return ["No solution was scored: there is nothing to summarise."]
    return [f"{_correlation_line(*item)}." for item in correlations(solved)]


def _correlation_line(name: str, value: float | None, why: str) -> str:
    shown = f"{value:.4f}" if value is not None else f"undefined ({why})"
    return f"{name} Correlation (Alignment vs Correctness): {shown}"


def _subset_table(table: Any) -> Table:
    rows = [
        [str(name), f"{row.Count:,.0f}", *(_number(row[column]) for column in table.columns[1:])]
        for name, row in table.iterrows()
    ]
    header = ["subset", "count", "accuracy", "mean alignment", "standard deviation"]
    return Table("By subset", header, rows)


def _quadrant_table(solved: Solved) -> Table:
    rows = [
        [*alignment_figures.QUADRANTS[name], f"{100 * share:.1f}%"]
        for name, share in quadrant_shares(solved).items()
    ]
    note = f"An alignment score of {DIVERGENCE_THRESHOLD:g} or more is high."
    return Table("Quadrants", ["quadrant", "meaning", "share"], rows, note, text_columns=2)


def _figures(solved: Solved, table: Any, report: Report) -> list[Picture]:
    directory = report.directory
    by_subset = table.drop(index=TOTAL)
    figures.bars(
        directory / "accuracy_by_category.png",
        "Accuracy by category",
        {
            str(name): Point(
                float(row.Accuracy), *wilson(float(row.Accuracy) * row.Count, row.Count), int(row.Count)
            )
            for name, row in by_subset.iterrows()
        },
        label="correct answers",
    )
    alignment_figures.distribution(
        directory / "alignment_distribution.png",
        "Alignment scores by correctness",
        solved.scores,
        solved.correct,
        "alignment score",
    )
    alignment_figures.quadrants(
        directory / "quadrant_analysis.png",
        solved.scores,
        solved.correct,
        DIVERGENCE_THRESHOLD,
        quadrant_shares(solved),
    )
    places = [place for place in solved.divergence if place]
    alignment_figures.divergence(
        directory / "divergence_step_distribution.png",
        places,
        len(solved) - len(places),
        DIVERGENCE_THRESHOLD,
    )
    pictures = [
        Picture("accuracy_by_category.png", "Accuracy", "Share of correct answers by subset."),
        Picture(
            "alignment_distribution.png",
            "Alignment scores",
            "Mean similarity of the matched steps, for correct and incorrect answers.",
        ),
        Picture(
            "quadrant_analysis.png",
            "Quadrants",
            "Each point is a solution; points are spread vertically so that they can be seen.",
        ),
        Picture(
            "divergence_step_distribution.png",
            "Divergence",
            "Where solutions first leave the reference: early is concept, late is calculation.",
        ),
    ]
    for picture in pictures:
        report.drew(directory / picture.file)
    return pictures


def _heatmaps(solved: Solved, aligner: Aligner | None, report: Report, on_step: OnStep) -> Section:
    """Best, worst and hallucination: the solutions at the ends of the scale."""
    section = Section("Representative solutions")
    pictures: list[Picture] = []
    texts: list[str] = []
    right = [k for k in range(len(solved)) if solved.correct[k]]
    wrong = [k for k in range(len(solved)) if not solved.correct[k]]
    misled = [k for k in wrong if solved.scores[k] >= DIVERGENCE_THRESHOLD]

    def score_of(k: int) -> float:
        return float(solved.scores[k])

    cases = (
        ("best", "correct, highest alignment", max(right, key=score_of, default=None)),
        ("worst", "incorrect, lowest alignment", min(wrong, key=score_of, default=None)),
        ("hallucination", "incorrect, high alignment", max(misled, key=score_of, default=None)),
    )
    for name, words, chosen in cases:
        path = report.directory / f"heatmap_example_{name}.png"
        for suffix in FORMATS:
            path.with_suffix(suffix).unlink(missing_ok=True)  # an older report's
        if chosen is None:
            texts.append(f"No solution is {words}: there is no {name} case.")
            continue
        entry = solved.entries[chosen]
        problem = f"{entry.get('subset')} {entry.get('id')}"
        title = f"{name.capitalize()} case: {problem}, alignment {score_of(chosen):.2f}"
        on_step(f"embedding the steps of the {name} case")
        if aligner is None:
            from relfast.realign.aligner import StepAligner

            aligner = StepAligner()
        try:
            benchmark, llm = entry.get("benchmark_steps") or [], entry.get("llm_steps") or []
            generate_heatmap(aligner, benchmark, llm, title, path, alone=False)
        except (UsageError, InputError) as error:
            texts.append(f"Heatmaps are left out: {error}.")
            break
        pictures.append(
            Picture(
                path.name, f"{name.capitalize()} case", f"{words.capitalize()}. Aligned steps are framed."
            )
        )
        report.drew(path)
    report.notes += texts
    section.text, section.pictures = texts, pictures
    return section


def _failures(path: str, solved: Solved) -> Section:
    """What has no score, with the reason: failed requests are never silent."""
    rows: list[list[str]] = []
    for entry in _entries(path):
        error = entry.get("error")
        if isinstance(error, dict) and len(rows) < _MAX_FAILURES_SHOWN:
            rows.append(
                [
                    f"{entry.get('subset')} {entry.get('id')}",
                    str(error.get("type")),
                    str(error.get("message")),
                ]
            )
    note = f"{len(rows)} of {solved.failed} shown." if solved.failed > len(rows) else ""
    table = Table("", ["problem", "error", "message"], rows, note, text_columns=3)
    return Section(
        "Without a score",
        [f"{solved.failed:,} solutions have an error or no grade; they count nowhere above."],
        [table],
    )


def _write_tables(table: Any, solved: Solved, report: Report) -> None:
    texts = {
        "summary_stats.csv": table.to_csv(float_format="%.4f"),
        "latex_table.txt": table.to_latex(float_format="%.2f", escape=True, na_rep="--"),
        "correlations.txt": "".join(f"{_correlation_line(*item)}\n" for item in correlations(solved)),
    }
    report.write_texts(texts)


def _number(value: Any) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
