"""The faults of ``relfast score``, each with its promise: the rows of the project's fault table by name."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from engine_runs import (
    HANG,
    PYTHONPATH,
    Run,
    honest,
    relfast,
    rows_of,
    scored_here,
    statuses,
    wait_for,
    wait_for_blocks,
    write_dump,
)
from patience import PATIENCE, until

QUIET = "-q"
FOREVER = 3600
"""A deadline that no run of a test lives to see, in seconds."""
WITH_THE_RECORD = 2.0
"""CPU seconds after which a worker must have met the record that never ends."""


# worker killed, segfault, out of memory


@pytest.mark.slow
def test_worker_killed_or_segfault(tmp_path: Path) -> None:
    """Two workers die under one record: it is crashed, with the signal; its neighbours keep their scores."""
    neighbours = honest(6)
    dump = write_dump(tmp_path / "dump.jsonl", [*neighbours[:3], HANG, *neighbours[3:]])
    run = Run(dump, "-o", tmp_path / "rows.jsonl", "--workers", 1, "--timeout", FOREVER, QUIET)

    def killed_until_it_ends() -> bool:
        for worker in run.processes():
            # A start and the neighbours take under a second of CPU: one that computes for longer has the record in flight.
            # Where a slow machine's start takes as long, that worker dies without the record and the next one is killed.
            with contextlib.suppress(psutil.NoSuchProcess):
                if worker.pid != run.pid and worker.cpu_times().user > WITH_THE_RECORD:
                    os.kill(worker.pid, signal.SIGSEGV)
        return run.process.poll() is not None

    until(killed_until_it_ends, "the end of the run")
    done = run.wait()
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "rows.jsonl")
    assert rows[3]["status"] == "crashed"
    assert rows[3]["error"]["message"] == "it ended its worker 2 times (killed by SIGSEGV)"
    assert (rows[3]["correct"], rows[3]["reward"]) == (None, None)
    alone = write_dump(tmp_path / "alone.jsonl", neighbours)
    scored_here(alone, tmp_path / "alone.rows.jsonl")
    expected = rows_of(tmp_path / "alone.rows.jsonl")
    assert [row["metrics"] for row in rows[:3] + rows[4:]] == [row["metrics"] for row in expected]
    assert run.left() == []


# hang in C++


@pytest.mark.slow
def test_hang(tmp_path: Path) -> None:
    """Killed at its deadline; the rest of the run goes on."""
    records = honest(40)
    dump = write_dump(tmp_path / "dump.jsonl", [*records[:20], HANG, HANG, *records[20:]])
    run = Run(dump, "-o", tmp_path / "rows.jsonl", "--workers", 2, "--timeout", 0.5, QUIET, "-v")
    done = run.wait()
    assert done.returncode == 0
    for index in (20, 21):
        assert f"met the deadline on index {index}, sample 0; another one takes over" in done.stderr.decode()
    found = statuses(tmp_path / "rows.jsonl")
    assert found[20:22] == ["timeout", "timeout"]
    assert set(found[:20] + found[22:]) <= {"ok", "no_answer"}
    row = rows_of(tmp_path / "rows.jsonl")[20]
    assert row["error"] == {"type": "Timeout", "message": "scoring it took longer than 0.5 s and was stopped"}
    assert run.left() == []


@pytest.mark.slow
def test_verbose_tells_of_a_slow_record(tmp_path: Path) -> None:
    """Before its deadline, and once."""
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(2), HANG])
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", "--workers", 1, "--timeout", 4, QUIET, "-v")
    told = [line for line in done.stderr.decode().splitlines() if "has been at work for" in line]
    assert len(told) == 1
    assert told[0].endswith(" s on index 2, sample 0")


# SIGINT, SIGTERM


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signum", "code", "workers"),
    [(signal.SIGINT, 130, 2), (signal.SIGTERM, 143, 0)],
    ids=["SIGINT", "SIGTERM"],
)
def test_interrupted(signum: signal.Signals, code: int, workers: int, tmp_path: Path) -> None:
    """The finished prefix is there, whole; one line says how to go on; the rest follows with --resume."""
    records = honest(3000, padding=2000)
    dump = write_dump(tmp_path / "dump.jsonl", [*records, *([HANG] * 4 if workers else honest(60_000))])
    expected_head = write_dump(tmp_path / "head.jsonl", records)
    out = tmp_path / "rows.jsonl"
    options = ["--workers", workers, "--timeout", FOREVER if workers else 5]
    run = Run(dump, "-o", out, *options)
    wait_for_blocks(out, 2)  # so the first one is surely counted, not only written
    run.kill(signum)
    done = run.wait()  # which a run that finished what it is at would outlast
    assert done.returncode == code, done.stderr
    said = done.stderr.decode().splitlines()
    assert said[-1].startswith(f"relfast: {signum.name} after ")
    assert said[-1].endswith("the same command with --resume goes on from there")
    assert run.left() == []
    rows = rows_of(out)  # whole rows only
    scored_here(expected_head, tmp_path / "head.rows.jsonl", "--workers", 0)
    head = rows_of(tmp_path / "head.rows.jsonl")
    n = min(len(rows), len(head))
    assert n > 0
    assert rows[:n] == head[:n]


@pytest.mark.slow
def test_interrupted_while_workers_start(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(100))
    for delay in (0, 0.05, 0.1, 0.15, 0.2, 0.3):
        run = Run(dump, "-o", tmp_path / f"{delay}.jsonl", "--workers", 4)
        assert run.workers()
        time.sleep(delay)
        run.kill(signal.SIGINT)
        done = run.wait()
        assert done.returncode in (130, 0), done.stderr
        if done.returncode:
            assert b"Traceback" not in done.stderr
            assert done.stderr.decode().strip().splitlines()[-1].startswith("relfast: ")
        assert run.left() == []


def test_a_second_signal_is_immediate(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", [HANG] * 4)
    run = Run(dump, "-o", tmp_path / "rows.jsonl", "--workers", 2, "--timeout", FOREVER)
    run.workers(2)
    run.kill(signal.SIGINT)
    run.kill(signal.SIGTERM)
    # which of the two comes first is the kernel's to say
    assert run.wait().returncode in (130, 143, -signal.SIGTERM, -signal.SIGINT)
    assert run.left() == []


# SIGKILL of the parent, power loss


# disk full


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "n", "limit"), [("jsonl", 4_000, 300_000), ("jsonl.zst", 8_000, 30_000)])
def test_file_size_limit(suffix: str, n: int, limit: int, tmp_path: Path) -> None:
    """As where the disk is full: the kernel refuses to let the output grow."""
    dump = write_dump(tmp_path / "dump.jsonl", honest(n, padding=4_000_000 // n))
    expected = scored_here(dump, tmp_path / f"quiet.{suffix}")
    out = tmp_path / f"rows.{suffix}"
    done = relfast(
        dump, "-o", out, QUIET, "--workers", 2,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 1
    assert f"relfast: {out}: File too large after ".encode() in done.stderr
    assert b"Traceback" not in done.stderr
    written = out.read_bytes()
    assert 0 < len(written) <= limit
    assert written == expected[: len(written)]
    assert scored_here(dump, out, "--resume", "--workers", 1) == expected


@pytest.mark.parametrize("arguments", [("-o", "/dev/full"), ("-o", "-")])
def test_full_device(arguments: tuple[str, ...], tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(10))
    with open("/dev/full", "wb") as full:
        done = relfast(dump, *arguments, stdout=full)
    assert done.returncode == 1
    assert b"No space left on device after 0 bytes" in done.stderr
    assert b"Traceback" not in done.stderr


# two runs on one output


@pytest.mark.slow
def test_two_runs_on_one_output(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(50), HANG])
    out = tmp_path / "rows.jsonl"
    first = Run(dump, "-o", out, QUIET, "--workers", 1, "--timeout", 60)
    wait_for(Path(f"{out}.journal"), 1)
    for more in ([], ["--resume"], ["--overwrite"]):
        second = relfast(dump, "-o", out, QUIET, *more)
        assert second.returncode == 1
        assert b"another run is writing this output" in second.stderr
    first.kill()
    first.wait()
    assert first.left() == []
    # the lock died with its holder
    assert relfast(dump, "-o", out, QUIET, "--resume", "--timeout", 60, "--limit", 3).returncode == 1
    scored_here(dump, out, "--overwrite", "--limit", 50)


# input, policy, scorer or embedder changed before --resume


def _change_input(dump: Path) -> list[object]:
    dump.write_bytes(dump.read_bytes().replace(b"r30", b"q30"))
    return []


def _grow_input(dump: Path) -> list[object]:
    dump.write_bytes(dump.read_bytes() + b"{}\n")
    return []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change_input, "content of {dump} was"),
        (_grow_input, "size of {dump} was"),
        (lambda dump: ["--policy", "strict"], "option policy was reference and is strict"),
        (lambda dump: ["--details"], "option details was False and is True"),
        (lambda dump: ["--timeout", 9], "option timeout was 5.0 and is 9.0"),
        (lambda dump: ["--embedder", "other"], "option embedder was auto and is other"),
        (lambda dump: ["--limit", 7], "limit was not set and is 7"),
        (lambda dump: ["--shard", "0/2"], "shard was not set and is [0, 2]"),
        (lambda dump: ["--reward", "REL-C3=recall"], "option rewards REL-C3 was not set and is recall"),
    ],
    ids=["input", "growth", "policy", "details", "timeout", "embedder", "limit", "shard", "reward"],
)
def test_changed_before_resume(change: Any, message: str, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(50))
    out = tmp_path / "rows.jsonl"
    before = scored_here(dump, out, "--workers", 0)
    more = change(dump)
    done = relfast(dump, "-o", out, QUIET, "--resume", *more)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert message.format(dump=dump) in said
    assert said.startswith("relfast: cannot resume: ")
    assert said.endswith("start over with --overwrite\n")
    assert out.read_bytes() == before
    scored_here(dump, out, "--overwrite", *more)


def test_changed_scorer(tmp_path: Path) -> None:
    """The journal names the scorers' revisions and RDKit's version."""
    dump = write_dump(tmp_path / "dump.jsonl", honest(5))
    out = tmp_path / "rows.jsonl"
    scored_here(dump, out, "--workers", 0)
    journal = Path(f"{out}.journal")
    for old, new, message in (
        (b'"REL-C3":', b'"REL-C3":9', b"scorer revision REL-C3 was 9"),
        (b'"rdkit version":"', b'"rdkit version":"1.', b"rdkit version was 1."),
        (b'"relfast version":"', b'"relfast version":"9', b"relfast version was 9"),
    ):
        content = journal.read_bytes()
        assert old in content
        journal.write_bytes(content.replace(old, new, 1))
        done = relfast(dump, "-o", out, QUIET, "--resume")
        assert done.returncode == 1
        assert message in done.stderr
        journal.write_bytes(content)


# cache directory unwritable or torn


@pytest.mark.slow
def test_cache_directory_unwritable_or_torn(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(200))
    expected = scored_here(dump, tmp_path / "quiet.jsonl")
    plain_file = tmp_path / "file"
    plain_file.write_text("in the way")
    torn = tmp_path / "torn"
    for kind in ("native", "embeddings"):
        (torn / kind).mkdir(parents=True)
        (torn / kind / "garbage.o").write_bytes(os.urandom(2000))
    for cache in (plain_file, torn, Path("/proc/1/none")):
        out = tmp_path / f"{cache.name}.jsonl"
        done = relfast(dump, "-o", out, environment={"RELFAST_CACHE_DIR": str(cache)})
        assert done.returncode == 0, done.stderr
        assert out.read_bytes() == expected
        assert done.stderr.count(b"Warning") <= 1
        assert b"Traceback" not in done.stderr


# consumer closes the pipe


@pytest.mark.parametrize("workers", [0, 2])
def test_consumer_closes_the_pipe(workers: int, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(3000, padding=2000))
    run = Run(dump, "-o", "-", "--workers", workers)
    assert run.process.stdout is not None
    assert run.process.stderr is not None
    with run.process.stdout as rows:
        assert rows.readline().startswith(b'{"index":0,')
    with run.process.stderr as messages:
        said = messages.read()
    assert run.process.wait(PATIENCE) == 0
    assert b"Traceback" not in said
    assert b"rror" not in said.replace(b"0 errors", b"")
    assert run.left() == []


def test_nobody_reads_stderr(tmp_path: Path) -> None:
    """Rows matter; progress and table do not."""
    dump = write_dump(tmp_path / "dump.jsonl", honest(100))
    read, write = os.pipe()
    os.close(read)
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", stderr=write)
    os.close(write)
    assert done.returncode == 0
    assert len(rows_of(tmp_path / "rows.jsonl")) == 100


def test_closed_standard_streams(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(20))
    out = tmp_path / "rows.jsonl"
    command = '"$0" -m relfast score "$1" -o "$2" --workers 2 <&- >&- 2>&-'
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
    done = subprocess.run(["sh", "-c", command, sys.executable, dump, out], env=environment, check=False)
    assert done.returncode == 0
    assert len(rows_of(out)) == 20
    stdin = '"$0" -m relfast score - -o "$2" --workers 0 <&-'
    done = subprocess.run(
        ["sh", "-c", stdin, sys.executable, dump, f"{out}2"],
        env=environment,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 2
    assert b"relfast: stdin: it is closed" in done.stderr


# after the end


@pytest.mark.slow
def test_nothing_is_left(tmp_path: Path) -> None:
    """No process, temporary file or shared memory; rows and their journal, and nothing else."""
    place, temporary = tmp_path / "place", tmp_path / "temporary"
    place.mkdir()
    temporary.mkdir()
    dump = write_dump(place / "dump.jsonl", [*honest(50), HANG, *honest(50)])
    before = set(os.listdir("/dev/shm"))
    for suffix in ("jsonl", "parquet", "csv"):
        done = relfast(
            dump, "-o", place / f"rows.{suffix}", "--workers", 2, "--timeout", 0.5,
            environment={"TMPDIR": str(temporary)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(place)) == sorted(
        [
            "dump.jsonl",
            *(f"rows.{s}{j}" for s in ("jsonl", "parquet", "csv") for j in ("", ".journal")),
        ]
    )
    assert os.listdir(temporary) == []
    assert not [name for name in set(os.listdir("/dev/shm")) - before if "relfast" in name]
