"""What stderr shows. Progress: a bar that fits the terminal and leaves no trace, plain lines elsewhere, silence when asked
for. The table: what it counts, and that 80 columns hold it."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_runs import exit_code, write_dump

from relfast.cli import progress
from relfast.cli.progress import ProgressReporter, Status, counted_status, scoring, scoring_status
from relfast.cli.run import Asking
from relfast.cli.table import print_summary
from relfast.engine.files.score_files import Progress
from relfast.inference.request_log import RequestCounts
from relfast.records import STATUSES, Score, unscored
from relfast.stats.summary import Summary, Tally, TaskSummary, summarize
from relfast.stats.tally import TaskTally
from relfast.tasks.seqbench.generate import make_rows
from relfast.tasks.seqbench.l0 import tables

BUSY = Progress(
    done_bytes=410_000_000, total_bytes=1_000_000_000, rows=12_345_678, invalid=1_234, timeouts=567, started=0.0
)  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """What it shows: all but what was erased, and but for its colours."""
        kept = re.sub(r"[^\n]*(\n\r\x1b\[1A|\r)\x1b\[2K", "", self.getvalue())
        return [line for line in re.sub(r"\x1b\[[\d;]*m", "", kept).split("\n") if line]


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, term: str) -> Iterator[list[str]]:
    """The lines that a terminal shows at each step of a program."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with ProgressReporter(quiet=False) as reporter:
        for _ in range(3):
            reporter.update(lambda: scoring_status(BUSY, 100.0), at_once=True)
            yield terminal.lines
        reporter.say("a line that stays " * 3)
        yield terminal.lines
        reporter.update(lambda: Status(["embedding"]), at_once=True)
        yield terminal.lines
    yield terminal.lines


@pytest.mark.parametrize("columns", [200, 120, 80, 60, 40, 20])
def test_a_bar_is_one_line_on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    *bars, said, text, end = on_terminal(monkeypatch, columns, "xterm")
    (bar,) = bars[0]
    assert bars == [[bar]] * 3
    assert len(bar) <= columns
    assert re.match("[━╸╺]{8,40} 41%", bar), bar
    assert ("567 timeouts" in bar) == (columns >= 120)
    assert said == ["relfast: " + "a line that stays " * 3, bar]
    assert text == [said[0], "embedding"]
    assert end == said[:1]


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    _, seen, *_ = on_terminal(monkeypatch, 500, "dumb")
    assert seen == [f"relfast: {scoring_status(BUSY, 100.0).text()}"] * 2


def test_no_end_is_promised_while_records_hang() -> None:
    """How fast the others were says nothing of when these end; what is done is no news of them either."""
    state = Progress(done_bytes=97, total_bytes=100, rows=970, started=0.0, slow=6, timeout=5.0)
    assert (
        scoring_status(state, 10.0).text(60) == "97% · 6 slow records, up to 5 s each · 970 rows · 97 rows/s"
    )
    state.slow, state.timeout = 1, 0.0
    assert scoring_status(state, 10.0).text(40) == "97% · 1 slow record · 970 rows"
    state.slow = 0
    assert scoring_status(state, 10.0).text(32) == "97% · ETA 0:00:00 · 970 rows"
    assert scoring_status(state, 10.0, idle=1.2).text(32) == "97% · ETA 0:00:00 · 970 rows"
    assert scoring_status(state, 10.0, idle=1.4).text(32) == "97% · 970 rows · 97 rows/s"
    assert scoring_status(Progress(total_bytes=100), 10.0).text(20) == "0% · 0 rows"


def test_an_end_that_is_overdue_is_not_promised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the pace so far all had been done; what comes is slower, and the pace says nothing of it."""
    clock = iter([0.0, 0.0, 10.0, 10.5, 30.0, 31.0, 90.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    seen: list[str] = []

    reporter = ProgressReporter(quiet=True)
    monkeypatch.setattr(reporter, "update", lambda status: seen.append(status().text(40)))
    update = scoring(reporter, "rel")
    state = Progress(done_bytes=90, total_bytes=100, rows=9, started=0.0)
    update(state)
    update(state)
    update(state)
    state.done_bytes = 95
    update(state)
    update(state)
    assert ["ETA" in text for text in seen] == [True, True, False, True, False]
    assert seen[0] == "90% · ETA 0:00:01 · rel · 9 rows · 1 rows/s"[:40].rpartition(" · ")[0]


def test_text() -> None:
    status = scoring_status(BUSY, 100.0)
    whole = "41% · ETA 0:02:23 · 12,345,678 rows · 123,457 rows/s · 1,234 errors · 567 timeouts · 4.1 MB/s"
    assert status.text() == status.text(len(whole)) == whole
    assert status.text(len(whole) - 1) == whole.removesuffix(" · 4.1 MB/s")
    assert status.text(1) == "41%"
    resumed = Progress(
        done_bytes=75, total_bytes=100, rows=30, resumed_rows=20, resumed_bytes=50, started=90.0
    )
    assert scoring_status(resumed, 100.0).text().startswith("75% · ETA 0:00:10 · 30 rows · 1 rows/s")
    unknown = scoring_status(Progress(rows=5, started=99.0), 100.0)
    assert unknown.text() == "5 rows · 5 rows/s · 0 errors · 0 timeouts · 0.0 MB/s"


def test_plain_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with ProgressReporter(quiet=False) as reporter:
        for now[0], done in ((9.9, 99), (10.0, 100), (19.9, 110), (20.0, 200)):
            reporter.update(
                lambda done=done: counted_status(done, 1_000, now[0], [f"{done} of 1,000 records"])
            )
        reporter.step("drawing")
        now[0] = 30.0
        reporter.step("embedding")
    assert capsys.readouterr() == (
        "",
        "relfast: 10% · ETA 0:01:30 · 100 of 1,000 records\n"
        "relfast: 20% · ETA 0:01:20 · 200 of 1,000 records\n"
        "relfast: embedding\n",
    )


def test_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    with ProgressReporter(quiet=True) as reporter:
        reporter.update(lambda: Status(["never shown"]), at_once=True)
        reporter.step("neither")
        reporter.say("asked for by -v")
    assert capsys.readouterr().err == "relfast: asked for by -v\n"


def test_asking_shows_tokens_and_their_rate() -> None:
    """Records, failures, tokens a second and in all; what an earlier run did counts for neither."""
    counts = RequestCounts(
        200, before=50, done=30, failed=2, prompt_tokens=9_000, completion_tokens=4_000, retries=7
    )
    status = Asking(ProgressReporter(quiet=True), 200, "m rel: ").status(counts, seconds=20.0)
    assert status.text() == (
        "40% · ETA 0:01:20 · m rel: 80 of 200 records · 2 failed · 200 tokens/s · 9,000 + 4,000 tokens · 7 retries"
    )
    silent = Asking(ProgressReporter(quiet=True), 200).status(RequestCounts(200, 50), seconds=1.0)
    assert silent.text() == "25% · 50 of 200 records · 0 failed · 0 retries"


# the table: what it counts, and that 80 columns hold it


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
    summary = summarize(Tally.of(scores), "signed, in one line off a terminal, " * 9)
    print_summary(summary)
    low, high = summary.tasks["REL-A1"].to_dict()["correct_interval"]
    interval = f"{low:.3f}–{high:.3f}"
    header, row, at_k, lost, signature = capsys.readouterr().err.splitlines()
    assert header.split() == ["task", "prompts", "responses", "correct", "95", "%", "interval", "parsed", "unscored"]  # fmt: skip
    assert row.split() == ["REL-A1", "3", "13", "0.333", interval, "100.0", "%", "4"]
    assert at_k == ("REL-A1: pass@2 0.500 (2/3 prompts) · pass@4 1.000 (2/3) · maj@4 0.250 (2/3)")
    assert lost == "without a score: 1 invalid record, 3 timeout"
    assert signature == summary.signature


def test_samples_that_were_lost(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where prompts have all kinds of numbers of samples, majorities of the commonest ones are shown."""
    monkeypatch.setenv("COLUMNS", "200")
    counts = dict.fromkeys(STATUSES, 0) | {"ok": 1_000}
    majority = {k: [prompts, 0] for prompts, k in enumerate((9, 3, 8, 2, 4, 7), 1)}
    task = TaskSummary("REL-A1", TaskTally(counts), {(9, 3): 21}, majority)
    print_summary(Summary({"REL-A1": task}, "signed"))
    said = capsys.readouterr().err
    assert re.findall(r"maj@[0-9]+", said) == ["maj@2", "maj@4", "maj@7", "maj@8"]
    assert " · maj@k for 2 other k in the JSON" in said or "  maj@k for 2 other k in the JSON" in said


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
    for word in ("prompts", "responses", "correct", "parsed", "unscored", "1,234", "1,240", "100.0 %"):
        assert word in said
    assert max(map(len, said.splitlines())) <= columns
