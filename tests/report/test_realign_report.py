"""ReAlign's report from results files: empty, constant, hostile and published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_runs import exit_code, write_dump
from numpy.typing import NDArray

from relfast.errors import InputError, OutputError
from relfast.realign import StepAligner, generate_analysis_report, generate_heatmap
from relfast.report.realign import correlations, quadrant_shares, read_entries, summary_table

FIGURES = "accuracy_by_category alignment_distribution quadrant_analysis divergence_step_distribution"
FORMATS = (".png", ".svg", ".pdf")
ALWAYS = {
    *(f"{name}{suffix}" for name in FIGURES.split() for suffix in FORMATS),
    *("summary_stats.csv", "latex_table.txt", "correlations.txt", "index.html"),
}


class ByLength(StepAligner):
    """Similarities by the texts' lengths: no model is needed to draw."""

    def compute_similarity_matrix(
        self, steps_a: Sequence[str], steps_b: Sequence[str]
    ) -> NDArray[np.float32]:
        a, b = np.array([len(s) for s in steps_a]), np.array([len(s) for s in steps_b])
        return (1 / (1 + abs(a[:, None] - b))).astype(np.float32)


def entry(
    score: float, correct: bool, subset: str = "algebra", number: int = 0, **more: Any
) -> dict[str, Any]:
    """As the published script logs it: nothing of ours in it."""
    kinds = [{"type": "match", "score": score}, {"type": "skip_llm", "llm_idx": 1}]
    return {
        "subset": subset,
        "id": number,
        "benchmark_steps": ["one", "three"],
        "llm_steps": ["one", "two", "three"],
        "alignment_score": score,
        "final_correct": correct,
        "alignment_details": kinds,
    } | more


def report(tmp_path: Path, rows: Sequence[Any]) -> str:
    """The page; beside it lies what is named, each further figure in all formats."""
    results = write_dump(tmp_path / "results.jsonl", rows)
    made = generate_analysis_report(str(results), str(tmp_path / "report"), aligner=ByLength())
    names = {path.name for path in made.files}
    assert names == {path.name for path in (tmp_path / "report").iterdir()}
    more = {name[:-4] for name in names - ALWAYS}
    assert {f"{name}{suffix}" for name in more for suffix in FORMATS} == names - ALWAYS
    return (tmp_path / "report" / "index.html").read_text("utf-8")


ROWS = [
    entry(0.9, True, "algebra", 1),
    entry(0.8, True, "algebra", 2),
    entry(0.75, False, "geometry", 3),
    entry(0.3, False, "geometry", 4),
    entry(0.2, True, "geometry", 5),
]


def test_numbers() -> None:
    solved = read_entries(ROWS)
    assert solved.divergence == [2, 2, 2, 1, 1]
    assert quadrant_shares(solved.scores, solved.correct) == pytest.approx(
        {"robust": 0.4, "lucky": 0.2, "hallucination": 0.2, "failure": 0.2}
    )
    table = summary_table(solved)
    assert table["algebra"] == pytest.approx([2, 1.0, 0.85, 0.05 * 2**0.5])
    assert table["TOTAL"][:3] == pytest.approx([5, 0.6, 0.59])
    scores, right = [0.9, 0.8, 0.75, 0.3, 0.2], [1, 1, 0, 0, 1]
    pearson, spearman = correlations(solved.scores, solved.correct)
    assert pearson[1] == pytest.approx(np.corrcoef(scores, right)[0, 1])
    ranks = np.argsort(np.argsort(scores)) + 1
    assert spearman[1] == pytest.approx(np.corrcoef(ranks, [4, 4, 1.5, 1.5, 4])[0, 1])
    for rows, why in (
        ([], "0 scored solutions are too few"),
        ([entry(0.5, True)], "1 scored solutions are too few"),
        ([entry(x, True) for x in (0.1, 0.5, 0.9)], "every answer is correct"),
        ([entry(x, False) for x in (0.1, 0.5, 0.9)], "every answer is incorrect"),
        ([entry(0.5, x) for x in (True, False, True)], "every alignment score is the same"),
    ):
        solved = read_entries(rows)
        undefined = [("Pearson", None, why), ("Spearman", None, why)]
        assert correlations(solved.scores, solved.correct) == undefined


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "page_says", "said"),
    [
        ((0.1, 0.5, 0.9), "every answer is correct", "every answer is correct"),
        ((), "No solution was scored", "0 scored solutions are too few"),
    ],
)
def test_what_is_undefined_is_said(
    tmp_path: Path, scores: Sequence[float], page_says: str, said: str
) -> None:
    assert page_says in report(tmp_path, [entry(x, True) for x in scores])
    assert (tmp_path / "report" / "correlations.txt").read_text() == "".join(
        f"{kind} Correlation (Alignment vs Correctness): undefined ({said})\n"
        for kind in ("Pearson", "Spearman")
    )


@pytest.mark.slow
def test_hostile_texts_are_shown_and_not_run(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script> $\\frac{$ \ud800 \u4e2d\u6587 \x00 {{ 7 * 7 }}"
    rows = [
        entry(0.9, True, nasty, 1, benchmark_steps=[nasty] * 3, llm_steps=[nasty, "$", "\\" * 9], id=nasty),
        entry(0.8, False, nasty, 2, llm_steps=[]),
        entry(0.1, False, "x" * 300, 3, benchmark_steps=["a b"] * 60, llm_steps=["c d"] * 70),
        entry(0.1, False, error={"type": "InternalServerError", "message": nasty}),
        entry(0.1, None),  # type: ignore[arg-type]
        entry("high", True),  # type: ignore[arg-type]
    ]
    page = report(tmp_path, rows)
    assert "<script>alert" not in page
    assert page.count("<script") == 1  # the page's own
    assert "{{ 7 * 7 }}" in page
    assert "3 solutions have an error or no grade" in page
    assert "InternalServerError" in page


@pytest.mark.slow
def test_without_a_model_the_heatmaps_are_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from relfast.embed import models

    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setattr(models, "package_directory", lambda name: None)
    results = write_dump(tmp_path / "results.jsonl", ROWS)
    made = generate_analysis_report(results, tmp_path / "report")
    assert {path.name for path in made.files} == ALWAYS
    assert "relfast embedder add" in made.notes[0]


def test_files_that_cannot_be_read_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write_dump(tmp_path / "results.jsonl", [entry(0.5, True)])
    other = write_dump(tmp_path / "other.jsonl", [{"a": 1}])
    for arguments in ([results, results], [tmp_path / "missing.jsonl"], [other]):
        assert exit_code("report", *arguments, "-o", tmp_path / "report") == 2
    assert "no scored row" in capsys.readouterr().err
    (tmp_path / "torn.jsonl").write_text('{"alignment_score": 1')
    for path, said in ((other, "no result of ReAlign"), (tmp_path / "torn.jsonl", r"torn\.jsonl:1")):
        with pytest.raises(InputError, match=said):
            generate_analysis_report(path, tmp_path / "report")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        generate_analysis_report(results, tmp_path / "file")


def test_a_heatmap_alone(tmp_path: Path) -> None:
    path = tmp_path / "map.png"
    for benchmark, llm in ((["a", "bb"], ["a", "bb", "ccc"]), ([], ["a"]), ([], [])):
        generate_heatmap(ByLength(), benchmark, llm, "A title with $ and _", str(path))
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
