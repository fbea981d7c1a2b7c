"""The table on stderr: what it counts, and that 80 columns hold it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from engine_runs import exit_code, write_dump

from relfast.cli.table import print_summary
from relfast.records import STATUSES, Score, unscored
from relfast.stats.summary import Summary, Tally, TaskSummary, summarize
from relfast.tasks.seqbench.generate import make_rows
from relfast.tasks.seqbench.l0 import tables


def test_what_is_counted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three prompts of four samples, one of which lost all but one, and one that was never answered."""
    monkeypatch.setenv("COLUMNS", "120")
    scores = [
        Score(prompt, f"p{prompt}", "REL-A1", sample, "ok", not sample, float(not sample), {}, None, str(sample))
        for prompt in range(3)
        for sample in range(1 if prompt == 2 else 4)
    ]  # fmt: skip
    scores += [unscored(2, "p2", "REL-A1", sample, "timeout", "Timeout", "late") for sample in (1, 2, 3)]
    scores += [unscored(3, "p3", "REL-A1", 0, "invalid_record", "MissingResponse", "no response")]
    summary = summarize(Tally.of(scores), "signed")
    print_summary(summary)
    low, high = summary.tasks["REL-A1"].to_dict()["correct_interval"]
    interval = f"{low:.3f}–{high:.3f}"
    header, row, at_k, lost, signature = capsys.readouterr().err.splitlines()
    assert header.split() == ["task", "prompts", "responses", "correct", "95%", "interval", "parsed", "unscored"]  # fmt: skip
    assert row.split() == ["REL-A1", "3", "13", "0.333", interval, "100.0%", "4"]
    assert at_k == ("REL-A1: pass@2 0.500 (2/3 prompts) · pass@4 1.000 (2/3) · maj@4 0.250 (2/3)")
    assert lost == "without a score: 1 invalid record, 3 timeout"
    assert signature == "signed"


def test_samples_that_were_lost(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where prompts have all kinds of numbers of samples, majorities of the commonest ones are shown."""
    monkeypatch.setenv("COLUMNS", "200")
    counts = dict.fromkeys(STATUSES, 0) | {"ok": 1_000}
    majority = {k: [float(prompts), prompts / 2] for prompts, k in enumerate((9, 3, 8, 2, 4, 7), 1)}
    task = TaskSummary("REL-A1", 1_000, 21, counts, 500, [1e3, 500.0], {}, {}, {(9, 3): 21}, majority, {})
    print_summary(Summary({"REL-A1": task}, "signed"))
    said = capsys.readouterr().err
    assert re.findall(r"maj@[0-9]+", said) == ["maj@2", "maj@4", "maj@7", "maj@8"]
    assert " · maj@k for 2 other k in the JSON" in said or "  maj@k for 2 other k in the JSON" in said


def test_millions_of_rows_of_all_statuses(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    counts = dict.fromkeys(STATUSES, 2_000_000)
    found = {(4, 2): 1_000_000}
    task = TaskSummary(
        "SeqBench", 10_000_000, 1_000_000, counts, 2_000_000, [4e6, 2e6], {}, {}, found, {4: [1e6, 5e5]}, {}
    )
    names = ("REL-C3", "SeqBench", "(unknown)")
    print_summary(Summary(dict.fromkeys(names, task), f"relfast {'x' * 200}"))
    said = capsys.readouterr().err
    *lines, signature = said.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in said
    for line, name in zip(lines[1:4], names, strict=True):
        assert line.split() == [name, "1,000,000", "10,000,000", "0.500", "0.500–0.500", "50.0%", "6,000,000"]  # fmt: skip
    # to be copied whole, and compared
    assert len(signature) == 208


def test_seqbenchs_results_are_in_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pass@1 and progress by L, B and N, and L0 with its interval: in what is printed, not in a file alone."""
    rows = [row for doors in (0, 1) for row in make_rows(8, 1, rows=7, B=doors, L=(10, 29))]
    for at, row in enumerate(rows):
        row["response"] = row["completion"] if at % 2 else row["completion"].replace("start", "rescue", 1)
    dump = write_dump(tmp_path / "dump.jsonl", rows)
    assert exit_code("score", dump, "--workers", 0, "--summary", tmp_path / "s.json") == 0
    lines = capsys.readouterr().err.splitlines()
    complexity = json.loads((tmp_path / "s.json").read_text())["tasks"]["SeqBench"]["complexity"]
    for title, key in (("L (actions)", "by_L"), ("B (doors)", "by_B"), ("N (noise)", "by_N")):
        at = lines.index(next(line for line in lines if line.startswith(f"SeqBench by {title}")))
        shown = {line.split()[0]: line.split()[1:] for line in lines[at + 2 : at + 2 + len(complexity[key])]}
        assert shown == {
            name: [str(cell["n"]), f"{cell['pass_at_1']:.3f}", f"{cell['progress_ratio']:.3f}"]
            for name, cell in complexity[key].items()
        }
    fit = complexity["l0"]
    (line,) = [line for line in lines if line.startswith("all ")]
    assert line.split()[1:] == [
        *(f"{fit[name]:.1f}" for name in ("l0", "low", "high", "least_squares")),
        "16",
    ]


def test_many_depths_fit_on_a_screen() -> None:
    """The published set has 155 bins of L; the summary has them all, the table a dozen wider ones."""
    cells = {f"{depth}/2/0": [4, 1, 2.0] for depth in range(3, 775)}
    by_depth = next(iter(tables(cells)))
    assert 4 < len(by_depth.rows) <= 12
    assert sum(int(row[1].replace(",", "")) for row in by_depth.rows) == 4 * len(cells)


def test_off_a_terminal_the_signature_is_one_line_with_its_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}
    dump = write_dump(tmp_path / "dump.jsonl", [record] * 3)
    for more, end in (
        ("", "timeout 5s"),
        ("--limit 2 --max-line-bytes 5000", "timeout 5s | max-line-bytes 5000 | limit 2"),
    ):
        assert exit_code("score", dump, "--workers", 0, "--overwrite", *more.split()) == 0
        (signature,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("relfast 0")]
        assert signature.endswith(f"| {end}")
        assert "tasks REL-A1:" in signature
    assert len(signature) > 80


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_neither_headings_nor_numbers_are_cut(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    scores = [Score(at, f"p{at}", "REL-A1", 0, "ok", True, 1.0, {}, None, "1") for at in range(1_234)]
    scores += [
        unscored(at, f"p{at}", "REL-A1", 0, "timeout", "Timeout", "late") for at in range(1_234, 1_240)
    ]
    print_summary(summarize(Tally.of(scores), "signed"))
    said = capsys.readouterr().err
    assert "…" not in said
    for word in ("prompts", "responses", "correct", "parsed", "unscored", "1,234", "1,240", "100.0%"):
        assert word in said
    assert max(map(len, said.splitlines())) <= columns
