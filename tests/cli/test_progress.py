"""Progress: a bar that fits the terminal and leaves no trace, plain lines elsewhere, silence when asked for."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable

import pytest
from corpora import ROOT

from relfast.cli import progress
from relfast.cli.progress import Counting, ProgressReporter, Scoring, Status, scoring_status
from relfast.cli.run import Asking
from relfast.engine.file_run.run import Progress
from relfast.inference.request_log import RequestCounts

BUSY = Progress(
    done_bytes=410_000_000, total_bytes=1_000_000_000, rows=12_345_678, invalid=1_234, timeouts=567, started=0.0
)  # fmt: skip


class Screen:
    """What a terminal shows: the part of its language that rich speaks here."""

    def __init__(self, columns: int) -> None:
        self.columns, self.rows, self.row, self.column = columns, [""], 0, 0

    def feed(self, text: str) -> None:
        for command, shown in re.findall(r"(\x1b\[[0-9;?]*[A-Za-z]|\r|\n)|([^\x1b\r\n]+)", text):
            if shown:
                for letter in shown:
                    if self.column == self.columns:
                        self._down()
                        self.column = 0
                    line = self.rows[self.row].ljust(self.column)
                    self.rows[self.row] = line[: self.column] + letter + line[self.column + 1 :]
                    self.column += 1
            elif command == "\r":
                self.column = 0
            elif command == "\n":
                self._down()
                self.column = 0  # a terminal's driver adds the carriage return
            elif command.endswith("K"):
                self.rows[self.row] = "" if "2" in command else self.rows[self.row][: self.column]
            elif command.endswith("A"):
                self.row -= int(command[2:-1] or 1)
            else:
                assert command.endswith("m"), repr(command)

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.rows if line.strip()]


def on_terminal(code: str, columns: int, **environment: str) -> list[list[str]]:
    """The lines that a terminal shows at each step of a program."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    program = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env={**clean, "TERM": "xterm", "PYTHONPATH": f"{ROOT}:{ROOT / 'kernels'}", **environment},
    )
    os.close(slave)
    said = bytearray()
    while not said.endswith(END.encode()):
        said += os.read(master, 1 << 16)
    assert program.wait() == 0
    os.close(master)
    screen = Screen(columns)
    seen = []
    for part in said.decode().split(STEP)[:-1]:
        screen.feed(part)
        seen.append(screen.lines)
    return seen


STEP = "\x07"
END = STEP + "\x04"

PRELUDE = """
import sys
from relfast.cli.progress import ProgressReporter, Status
def step(mark="\\x07"):
    sys.stderr.write(mark)
    sys.stderr.flush()
"""

BARS = """
from relfast.cli.progress import scoring_status
from relfast.engine.file_run.run import Progress
from relfast.inference.request_log import RequestCounts
busy = Progress(done_bytes=410_000_000, total_bytes=1_000_000_000, rows=12_345_678, invalid=1_234, timeouts=567)
with ProgressReporter(quiet=False) as reporter:
    for n in range(3):
        reporter.update(lambda: scoring_status(busy, 100.0), at_once=True)
        step()
    reporter.say("a line that stays " * 3)
    step()
    reporter.update(lambda: Status(["embedding"]), at_once=True)
    step()
step("\\x07\\x04")
"""


@pytest.mark.parametrize("columns", [200, 120, 80, 60, 40, 20])
def test_a_bar_is_one_line_on_a_terminal(columns: int) -> None:
    *bars, said, text, end = on_terminal(BARS, columns)
    assert [len(lines) for lines in bars] == [1, 1, 1]
    assert len(set(map(tuple, bars))) == 1
    (bar,) = bars[0]
    assert len(bar) <= columns
    assert re.match("[━╸╺]{8,40} 41%", bar), bar
    assert ("567 timeouts" in bar) == (columns >= 120)
    assert said[-1] == bar
    assert "".join(said[:-1]).replace(" ", "") == "relfast:" + "alinethatstays" * 3
    assert text == [*said[:-1], "embedding"]
    assert end == said[:-1]


def test_a_dumb_terminal_gets_plain_lines() -> None:
    code = "from relfast.cli import progress; progress.SECONDS_BETWEEN_LINES = 0.0\n" + BARS
    seen = on_terminal(code, 500, TERM="dumb")
    assert seen[1] == [f"relfast: {scoring_status(BUSY, 100.0).text()}"] * 2


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

    class Heard(ProgressReporter):
        def update(self, status: Callable[[], Status], *, at_once: bool = False) -> None:
            seen.append(status().text(40))

    scoring = Scoring(Heard(quiet=False), "rel")
    state = Progress(done_bytes=90, total_bytes=100, rows=9, started=0.0)
    scoring.update(state)
    scoring.update(state)
    scoring.update(state)
    state.done_bytes = 95
    scoring.update(state)
    scoring.update(state)
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
        counting = Counting(reporter, "records", 1_000)
        for now[0], done in ((9.9, 99), (10.0, 100), (19.9, 110), (20.0, 200)):
            counting.update(done)
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


@pytest.mark.parametrize("closed", ["2>&-", "2> >(true)", "2>/dev/null"])
def test_nobody_reads(closed: str) -> None:
    """Nor is rich loaded where there is no bar to draw."""
    code = (
        "import sys; from relfast.cli import progress; progress.SECONDS_BETWEEN_LINES = 0.0\n"
        "with progress.ProgressReporter(quiet=False) as reporter:\n"
        "    for n in range(20_000): reporter.step(f'step {n}')\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {closed}', sys.executable, code],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'kernels'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


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
