"""LaTeX that compiles to what was meant, CSV that no spreadsheet runs, HTML that is text."""

from __future__ import annotations

import csv
import functools
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relfast
from relfast.records import Score
from relfast.report.scored import scores_csv, scores_latex
from relfast.stats.summary import Summary, Tally, summarize
from relfast.tables import (
    Cell,
    csv_text,
    latex_escape,
    latex_table,
    number_cell,
    percent,
    probability,
    safe_cell,
    signed,
)

TEXTS = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\\{}$&#%_~^<>|\"=+-@\t\r\n,;'\u202e\0")
)


@given(text=TEXTS)
@settings(max_examples=300, deadline=None)
def test_escaped_latex_has_no_active_character(text: str) -> None:
    shown = latex_escape(text)
    plain = re.sub(r"\\(?:text[a-z]+|ldots)\{\}|\\[{}$&#%_]|\$-\$|\$\\pm\$", "", shown)
    assert not set(plain) & set("\\{}$&#%_~^\n\r\t\0")
    assert all(char.isprintable() for char in shown)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex: nightly's job `skipped` has it")
def test_latex_compiles(tmp_path: Path) -> None:
    rows: list[list[str | Cell]] = [
        ['a_b & 50% \\input{x} $y$ ~^ <>|" – ±', number_cell(0.512, (0.49, 0.54), shown=percent, bold=True)]
    ]
    body = latex_table(["Task", "Correct (%)"], rows)
    (tmp_path / "t.tex").write_text(
        f"\\documentclass{{article}}\\usepackage[T1]{{fontenc}}\\usepackage{{booktabs}}\\begin{{document}}\n{body}\\end{{document}}"
    )
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, capture_output=True)


def test_a_table() -> None:
    rows: list[list[str | Cell]] = [["x_1", Cell("1")], ["y", "0.5%"]]
    said = r"""% needs \usepackage{booktabs}
\begin{tabular}{lr}
\toprule
Task & $p$ \\
\midrule
x\_1 & 1 \\
y & 0.5\% \\
\bottomrule
\end{tabular}
"""
    assert latex_table(["Task", Cell("$p$")], rows) == said


def test_numbers() -> None:
    percent_cell = functools.partial(number_cell, shown=percent)
    assert percent_cell(0.5, (0.45, 0.55)).text == r"50.0 {\small$\pm$5.0}"
    assert percent_cell(0.98, (0.93, 0.994), bold=True).text == r"\textbf{98.0} {\small$^{+1.4}_{-5.0}$}"
    assert percent_cell(0.98, None).text == "98.0"
    assert number_cell(1.5, (1.4, 1.6), shown=lambda value: f"{value:.2f}").text == r"1.50 {\small$\pm$0.10}"
    assert [*map(signed, (0.0001, -0.0001, -0.25, 0.25))] == ["0.000", "0.000", "−0.250", "+0.250"]
    assert (probability(0.0004), probability(0.0312), percent(1.0)) == ("<0.001", "0.031", "100.0")


@given(rows=st.lists(st.lists(TEXTS, min_size=3, max_size=3), max_size=5))
@settings(max_examples=200, deadline=None)
def test_csv_reads_back_and_runs_nothing(rows: list[list[str]]) -> None:
    text = csv_text(["a", "b", "c"], rows)
    text.encode()
    read = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert len(read) == len(rows)
    for ours, given_ in zip(read, rows, strict=True):
        for cell, value in zip(ours, given_, strict=True):
            assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
            assert "\0" not in cell
            if value and value[0].isalnum() and value.isascii():
                lines = value.replace("\r\n", "\n").replace("\r", "\n")
                assert cell == lines.replace("\0", "\N{REPLACEMENT CHARACTER}")


def test_numbers_stay_numbers_in_csv() -> None:
    assert csv_text(["x"], [[-0.5], [3], [None], [True], ["-0.5"]]) == 'x\n-0.5\n3\n""\ntrue\n\'-0.5\n'
    assert safe_cell("-1+1") == "'-1+1"


def summary() -> Summary:
    scores = [
        Score(at, f"p{at // 4}", "REL-C3", at % 4, "ok", at % 3 == 0, at % 5 / 4, {"f1": at % 5 / 4})
        for at in range(40)
    ]
    scores += [Score(50, "=1+1", "REL-A1", 0, "ok", True, 1.0, {})]
    return summarize(Tally.of(scores), "signed <b>")


def test_runs_side_by_side() -> None:
    better = [Score(at, f"p{at}", "REL-C3", 0, "ok", at % 10 != 0, 0.5, {"f1": 0.5}) for at in range(40)]
    runs = {"one_a": summary(), "=two": summarize(Tally.of(better), "signed")}
    lines = scores_latex(runs).splitlines()
    assert lines[3] == r"Task & one\_a (\%) & =two (\%) \\"
    assert lines[5] == r"REL-A1 & 100.0 {\small$^{+0.0}_{-79.3}$} & -- \\"
    assert lines[6].startswith(r"REL-C3 & 35.0 {\small")
    assert r" & \textbf{90.0} {\small" in lines[6]
    as_good = [Score(at, f"p{at}", "REL-C3", 0, "ok", at % 2 == 0, 0.5, {"f1": 0.5}) for at in range(40)]
    # 35 % and 50 % of 40: nobody can tell which is better; 90 % stands out from both
    assert "textbf" not in scores_latex({"a": summary(), "b": summarize(Tally.of(as_good), "")})
    assert scores_latex({**runs, "b": summarize(Tally.of(as_good), "")}).count("textbf") == 1
    rows = list(csv.DictReader(io.StringIO(scores_csv(runs))))
    assert repr(runs["one_a"]) == "<Summary of 41 responses: REL-A1 1.000, REL-C3 0.350>"
    named = [f"{row['run']} {row['task']}" for row in rows]
    assert named == ["one_a REL-A1", "one_a REL-C3", "'=two REL-C3"]
    assert (rows[1]["metrics.f1"], rows[2]["correct"], rows[2]["pass@4"]) == ("0.5", "0.9", "")
    interval = runs["one_a"].tasks["REL-C3"].correct_interval()
    assert interval is not None
    assert float(rows[1]["correct_low"]) == pytest.approx(interval.low)


def batch() -> relfast.ScoreBatch:
    answers, responses = [{"target": 2}, {"target": 1}, {}] * 10, ["Answer 3", "<b>", "Answer 1"] * 10
    return relfast.score_batch("REL-A1", answers, responses, workers=0)


def test_a_batch_in_a_notebook() -> None:
    found = batch()
    assert repr(found).startswith("<ScoreBatch of 30: ")
    assert "10 invalid_record" in repr(found)
    frame = found.to_pandas()
    assert frame["status"].tolist() == found.status.tolist()
    assert np.isnan(frame["reward"]).sum() == 10
    assert frame["correct"].tolist()[:3] == [True, False, None]


@pytest.mark.parametrize(("method", "package"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_frames_name_their_extra(method: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = batch()
    monkeypatch.setitem(sys.modules, package, None)
    said = rf"ScoreBatch\.{method} needs an optional package: .*{package}"
    with pytest.raises(relfast.MissingExtraError, match=said):
        getattr(whole, method)()
