"""ReAlign's report: the published figures and tables under their published names, and one HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from relfast.engine.files.io.sources import find_sources, lines_of, objects_in, paths_in
from relfast.errors import InputError, MissingExtraError, UsageError
from relfast.inference.request_log import headers_of, read_header
from relfast.report import figures
from relfast.report.canvas import Canvas
from relfast.report.figures import Point
from relfast.report.inputs import is_entry
from relfast.report.page import (
    HEATMAPS,
    OnStep,
    Page,
    Picture,
    Report,
    Section,
    Table,
    ignore_step,
    report_folder,
)
from relfast.report.record_blocks import text_of
from relfast.report.scored_rows import Scored
from relfast.stats.intervals import wilson
from relfast.support.outputs import keep_apart
from relfast.tables import csv_text, latex_table, number, share
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD
from relfast.tasks.realign.extract import extract_boxed_answer
from relfast.tasks.realign.score import quadrant

TOTAL: Final = "TOTAL"
_FEWEST_FOR_CORRELATION: Final = 3


@dataclass
class Solved:
    """The scored entries of a results file as columns of equal length; ``failed`` entries have no score.

    ``divergence`` has the 1-based first divergence of each entry, 0 if it has none; ``judged``, whether its
    reference has an answer or a judge gave a verdict.
    """

    subsets: list[str]
    scores: NDArray[np.float64]
    correct: NDArray[np.bool_]
    divergence: list[int]
    judged: NDArray[np.bool_]
    entries: list[dict[str, Any]]
    failed: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.entries)


def read_entries(entries: Iterable[dict[str, Any]]) -> Solved:
    """Turn result entries into columns; entries with an error, without score or grade are ``failed``."""
    kept: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for entry in entries:
        score, correct = entry.get("alignment_score"), entry.get("final_correct")
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        if entry.get("error") is not None or not is_number or not isinstance(correct, bool):
            failed.append(entry)
        else:
            kept.append(entry)
    return Solved(
        subsets=[text_of(entry.get("subset", "")) for entry in kept],
        scores=np.array([entry["alignment_score"] for entry in kept], np.float64),
        correct=np.array([entry["final_correct"] for entry in kept], np.bool_),
        divergence=[first_divergence(entry.get("alignment_details") or ()) or 0 for entry in kept],
        judged=np.array([*map(_is_judged, kept)], np.bool_),
        entries=kept,
        failed=failed,
    )


def _is_judged(entry: Mapping[str, Any]) -> bool:
    gold = entry.get("benchmark_solution")
    has_answer = not isinstance(gold, str) or extract_boxed_answer(gold) is not None
    return has_answer or isinstance(entry.get("llm_correct"), bool)


def first_divergence(alignment: Sequence[dict[str, Any]]) -> int | None:
    """The 1-based place of an alignment's first skip or match below the threshold, or None."""
    for place, entry in enumerate(alignment, 1):
        if entry.get("type") != "match" or entry.get("score", 0.0) < DIVERGENCE_THRESHOLD:
            return place
    return None


def quadrant_shares(scores: NDArray[np.float64], correct: NDArray[np.bool_]) -> dict[str, float]:
    """The share of each quadrant among all solutions; zeros if there are no solutions."""
    found = Counter(map(quadrant, scores.tolist(), correct.tolist()))
    return {name: found[name] / max(1, len(scores)) for name in figures.QUADRANTS}


def summary_table(solved: Solved) -> dict[str, tuple[int, float, float, float]]:
    """Subset → its numbers under `STATISTICS`, for each subset and for all (`TOTAL`).

    The standard deviation is the sample's (n − 1); it is NaN for a single solution.
    """
    groups, rows = np.array(solved.subsets, dtype=object), {}
    for name in [*sorted(set(solved.subsets)), TOTAL]:
        chosen = np.ones(len(solved), bool) if name == TOTAL else groups == name
        scores, correct, n = solved.scores[chosen], solved.correct[chosen], int(chosen.sum())
        means = (float(correct.mean()), float(scores.mean())) if n else (np.nan, np.nan)
        rows[name] = n, *means, float(scores.std(ddof=1)) if n > 1 else np.nan
    return rows


STATISTICS: Final = ("Count", "Accuracy", "Avg_Alignment", "Std_Alignment")


def correlations(
    scores: NDArray[np.float64], correct: NDArray[np.bool_]
) -> list[tuple[str, float | None, str]]:
    """Pearson's and Spearman's correlation of alignment and correctness: (name, value, why it is None)."""
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
    # if a column is constant up to rounding, its correlation is noise
    if float(np.ptp(scores)) < 1e-12:
        return "every alignment score is the same"
    return None


RESULTS_FILE: Final = "realign_benchmark_results.jsonl"
FIGURES_DIR: Final = "figures-and-statistics"

_MAX_FAILURES_SHOWN: Final = 20
_COLUMNS: Final = ("alignment_score", "first_divergence", "correct", "quadrant")


class Aligner(Protocol):
    """What a heatmap needs to compute similarities and alignments; `relfast.realign.StepAligner` has it."""

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
) -> None:
    """Save a heatmap of the similarities of two solutions' steps, with the aligned cells framed.

    Raises
    ------
    MissingExtraError, OutputError, UsageError
    """
    _heatmap(aligner, bench_steps, llm_steps, title).save(Path(filename), alone=True)


def _heatmap(aligner: Aligner, benchmark: Sequence[str], llm: Sequence[str], title: str) -> Canvas:
    matches: list[tuple[int, int]] = []
    matrix = np.zeros((len(benchmark), len(llm)), np.float32)
    if len(benchmark) and len(llm):
        matrix = np.asarray(aligner.compute_similarity_matrix(benchmark, llm), np.float32)
        alignment, _ = aligner.align_steps(benchmark, llm)
        matches = [(e["benchmark_idx"], e["llm_idx"]) for e in alignment if e["type"] == "match"]
    return figures.heatmap(title, matrix, benchmark, llm, matches)


def generate_analysis_report(
    results_file: str | Path,
    output_dir: str | Path,
    *,
    aligner: Aligner | None = None,
    on_step: OnStep = ignore_step,
) -> Report:
    """Write all figures, tables and the page for a results file (the published JSONL entries).

    Heatmaps embed their steps again, with the ``auto`` model if no aligner is given; if no model is on
    this machine, heatmaps are left out, and the page says so. ``on_step`` is called when a step begins.

    Raises
    ------
    InputError
        The file cannot be read or has no results.
    MissingExtraError, OutputError
    """
    on_step("reading results")
    results = paths_in(find_sources([str(results_file)]))
    keep_apart("report", {"-o": [output_dir], "SCORED": results, "beside SCORED": headers_of(results_file)})
    solved = read_entries(_entries(str(results_file)))
    with report_folder(output_dir) as place:
        report = Report(place, on_step=on_step)
        _write(Path(results_file), solved, report, aligner)
    return report.at(Path(output_dir))


def _write(results: Path, solved: Solved, report: Report, aligner: Aligner | None) -> None:
    """Draw all figures, and write tables and page."""
    table = summary_table(solved)
    lead = (
        "How closely the steps of a model's solutions follow reference solutions, and whether its answers are"
        " right."
    )
    page = Page("ReAlign report", lead, _facts(results, solved))
    judged = solved.judged
    quadrants = _quadrant_table([*_quadrants(solved.scores[judged], solved.correct[judged])])
    page.sections = [
        Section("Summary", _summary_text(solved), [_subset_table(table), quadrants]),
        Section("Figures", pictures=_figures(solved, table, report)),
        _representative(solved, aligner, report),
    ]
    if solved.failed:
        page.sections.append(_failures(solved.failed))
    _write_tables(table, solved, report)
    report.write_page(page)


def _entries(path: str) -> Iterator[dict[str, Any]]:
    seen = False
    for source in find_sources([path]):
        for line, entry in objects_in(lines_of(source), source.path):
            if not seen and not is_entry(entry):
                raise InputError("is no result of ReAlign", file=source.path, line=line)
            seen = True
            yield entry


def _facts(results: Path, solved: Solved) -> list[tuple[str, str]]:
    settings = read_header(results) or {}
    return [
        ("results", results.name),
        ("solutions scored", f"{len(solved):,}"),
        ("without a score", f"{len(solved.failed):,}"),
        *((name.replace("_", " "), str(value)) for name, value in settings.items() if value is not None),
    ]


def _summary_text(solved: Solved) -> list[str]:
    if not len(solved):
        return ["No solution was scored: there is nothing to summarise."]
    return [f"{_correlation_line(*item)}." for item in correlations(solved.scores, solved.correct)]


def _correlation_line(name: str, value: float | None, why: str) -> str:
    shown = f"{value:.4f}" if value is not None else f"undefined ({why})"
    return f"{name} Correlation (Alignment vs Correctness): {shown}"


def _subset_table(table: Mapping[str, Sequence[float]]) -> Table:
    rows = [[name, f"{n:,}", *map(number, means)] for name, (n, *means) in table.items()]
    header = ["subset", "count", "accuracy", "mean alignment", "standard deviation"]
    return Table("By subset", header, rows)


def _quadrants(scores: NDArray[np.float64], correct: NDArray[np.bool_]) -> Iterator[list[str]]:
    for name, of_all in quadrant_shares(scores, correct).items():
        yield [*figures.QUADRANTS[name], share(of_all)]


def _quadrant_table(rows: Sequence[Sequence[str]], first: Sequence[str] = ()) -> Table:
    note = f"An alignment score of {DIVERGENCE_THRESHOLD:g} or more is high."
    header = [*first, "quadrant", "meaning", "share"]
    return Table("Quadrants", header, rows, note, text_columns=len(header) - 1)


def _figures(
    solved: Solved, table: Mapping[str, tuple[int, float, float, float]], report: Report
) -> list[Picture]:
    by_subset = {
        name: Point(share_right, *wilson(share_right * n, n), n)
        for name, (n, share_right, *_) in table.items()
        if name != TOTAL
    }
    figure = figures.dots("Accuracy by category", [*by_subset], {"": by_subset}, "correct answers")
    caption = "Share of correct answers by subset."
    accuracy = report.draw("accuracy_by_category.png", "Accuracy", caption, figure)
    first = [place for place in solved.divergence if place]
    return [accuracy, *_alignment(report, solved.scores, solved.correct, solved.judged, first)]


def _alignment(
    report: Report,
    scores: NDArray[np.float64],
    correct: NDArray[np.bool_],
    judged: NDArray[np.bool_],
    first: Sequence[int],
    suffix: str = "",
    of: str = "",
) -> Iterator[Picture]:
    """Draw the distribution of scores, the quadrants, and the first divergences (``first``, of the
    solutions that have one). Only ``judged`` solutions, to gold with an answer, have a quadrant."""
    shares = quadrant_shares(scores[judged], correct[judged])
    caption = "Mean similarity of the matched steps, for correct and incorrect answers."
    figure = figures.distribution(f"Alignment scores by correctness{of}", scores, correct, "alignment score")
    yield report.draw(f"alignment_distribution{suffix}.png", f"Alignment scores{of}", caption, figure)
    caption = "Each point is a solution (3,000 of them at most), spread vertically."
    figure = figures.quadrants(scores[judged], correct[judged], DIVERGENCE_THRESHOLD, shares, of)
    yield report.draw(f"quadrant_analysis{suffix}.png", f"Quadrants{of}", caption, figure)
    caption = "Where solutions first leave the reference: early is concept, late is calculation."
    figure = figures.divergence(first, len(scores) - len(first), DIVERGENCE_THRESHOLD, of)
    yield report.draw(f"divergence_step_distribution{suffix}.png", f"Divergence{of}", caption, figure)


def _cases(scores: NDArray[np.float64], correct: NDArray[np.bool_]) -> Iterator[tuple[str, str, int | None]]:
    """The best, the worst and the most aligned wrong solution: (name, description, index or None)."""
    for name, words, chosen, best in (
        ("best", "correct, highest alignment", correct, 1),
        ("worst", "incorrect, lowest alignment", ~correct, -1),
        ("hallucination", "incorrect, high alignment", ~correct & (scores >= DIVERGENCE_THRESHOLD), 1),
    ):
        places = np.flatnonzero(chosen)
        yield name, words, int(places[np.argmax(best * scores[places])]) if len(places) else None


def _representative(solved: Solved, aligner: Aligner | None, report: Report) -> Section:
    """The section with heatmaps of the best, the worst and a hallucinated solution."""
    texts: list[str] = []
    pictures: list[Picture] = []
    for name, words, chosen in _cases(solved.scores, solved.correct):
        if chosen is None:
            texts.append(f"No solution is {words}: there is no {name} case.")
            continue
        entry, title = solved.entries[chosen], f"{name.capitalize()} case"
        of = f"{entry.get('subset')} {entry.get('id')}, alignment {solved.scores[chosen]:.2f}"
        benchmark, llm = entry.get("benchmark_steps") or [], entry.get("llm_steps") or []
        if aligner is None:
            from relfast.tasks.realign.alignment import StepAligner

            aligner = StepAligner(report.embedder)
        try:
            figure = _heatmap(aligner, benchmark, llm, f"{title}: {of}")
        except (UsageError, InputError) as error:
            texts.append(f"Heatmaps are left out: {error}.")
            break
        caption = f"{words.capitalize()}. Aligned steps are framed."
        pictures.append(report.draw(f"{HEATMAPS}{name}.png", title, caption, figure))
    report.notes += texts
    return Section("Representative solutions", texts, pictures=pictures)


def section(runs: Sequence[Scored], task: str, report: Report) -> Section:
    """ReAlign's section in a report on scored rows (`Display.section`); it needs the columns `_COLUMNS`."""
    pictures: list[Picture] = []
    many = len(runs) > 1
    quadrants: list[list[str]] = []
    related: list[list[str]] = []
    for place, run in enumerate(runs):
        drawn = run.counted.drawn.get(task)
        if drawn is None:
            continue
        named = [run.name] if many else []
        scores, first, right, judged = (np.frombuffer(drawn[name], np.float64) for name in _COLUMNS)
        correct = right == 1
        quadrants += [[*named, *row] for row in _quadrants(scores[judged == 1], correct[judged == 1])]
        for name, value, why in correlations(scores, correct):
            related.append([*named, name, f"undefined ({why})" if value is None else f"{value:.4f}"])
        diverging = first[np.nan_to_num(first) > 0].astype(int).tolist()
        suffix, of = (f"_{place + 1}", f" of {run.name}") if many else ("", "")
        pictures += _alignment(report, scores, correct, judged == 1, diverging, suffix, of)
    first_column = ["model"] if many else []
    title, header = "Correlation of alignment with correctness", [*first_column, "correlation", "value"]
    tables = [_quadrant_table(quadrants, first_column), Table(title, header, related, text_columns=1 + many)]
    return Section(f"{task}: alignment", [], tables, pictures, folded=True)


def _failures(failed: Sequence[dict[str, Any]]) -> Section:
    """The section with solutions that have no score, and the reasons."""
    with_error = [(entry, entry["error"]) for entry in failed if isinstance(entry.get("error"), dict)]
    rows = [
        [f"{entry.get('subset')} {entry.get('id')}", str(error.get("type")), str(error.get("message"))]
        for entry, error in with_error[:_MAX_FAILURES_SHOWN]
    ]
    note = f"{len(rows)} of {len(failed)} shown." if len(failed) > len(rows) else ""
    table = Table("", ["problem", "error", "message"], rows, note, text_columns=3)
    text = f"{len(failed):,} solutions have an error or no grade; they count nowhere above."
    return Section("Without a score", [text], [table])


def _write_tables(table: Mapping[str, Sequence[float]], solved: Solved, report: Report) -> None:
    related = correlations(solved.scores, solved.correct)
    numbers = [[name, n, *(round(x, 4) if x == x else None for x in of)] for name, (n, *of) in table.items()]
    shown = [
        [name, str(n), *(f"{x:.2f}" if x == x else "--" for x in of)] for name, (n, *of) in table.items()
    ]
    texts = {
        "summary_stats.csv": csv_text(["", *STATISTICS], numbers),
        "latex_table.txt": latex_table(["", *STATISTICS], shown),
        "correlations.txt": "".join(f"{_correlation_line(*item)}\n" for item in related),
    }
    report.write_texts(texts)
