"""The faults of ``relfast score``, each with its promise: the rows of the project's fault table by name."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from corpora import DATA, naughty_strings, rel_records, rows
from engine_runs import (
    HANG,
    Run,
    exit_code,
    honest,
    peak_memory,
    relfast,
    rows_of,
    scored_here,
    statuses,
    wait_for_blocks,
    write_dump,
)
from missing_kernels import built
from processes import PATIENCE, python
from relfast_kernels.compiled import native
from seeds import share

from relfast.engine.files.io.reader import blocks
from relfast.engine.files.io.sources import find_sources
from relfast.errors import InputError
from relfast.records import Score

QUIET = "-q"
FOREVER = 3600
"""A deadline that no run of a test lives to see, in seconds."""

MEMORY = 400 << 20
LITTLE_MEMORY = partial(resource.setrlimit, resource.RLIMIT_DATA, (MEMORY, MEMORY))


# hang in C++


@pytest.mark.slow
def test_hang(tmp_path: Path) -> None:
    """Told of once before its deadline, and killed then; the rest of the run goes on."""
    records = honest(40)
    dump = write_dump(tmp_path / "dump.jsonl", [*records[:20], HANG, HANG, *records[20:]])
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", "--workers", 2, "--timeout", 4, QUIET, "-v")
    assert done.returncode == 0
    said = done.stderr.decode()
    for index in (20, 21):
        assert len(re.findall(rf"has been at work for [\d.]+ s on index {index}, sample 0\n", said)) == 1
        assert f"met the deadline on index {index}, sample 0; another one takes over" in said
    found = statuses(tmp_path / "rows.jsonl")
    assert found[20:22] == ["timeout", "timeout"]
    assert set(found[:20] + found[22:]) <= {"ok", "no_answer"}
    row = rows_of(tmp_path / "rows.jsonl")[20]
    assert row["error"] == {"type": "Timeout", "message": "scoring it took longer than 4 s and was stopped"}


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
    expected = scored_here(write_dump(tmp_path / "head.jsonl", records), tmp_path / "head.rows.jsonl")
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
    assert rows_of(out)  # whole rows only
    written = out.read_bytes()
    assert written[: len(expected)] == expected[: len(written)]


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


# input, policy, scorer or embedder changed before --resume


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("dump.jsonl", b'"r30"', b'"q30"'), "content of {dump} was"),
        (("dump.jsonl", b'"r30"', b'"r300"'), "size of {dump} was"),
        # the journal names the scorers' revisions and RDKit's version
        (("rows.jsonl.journal", b'"REL-C3":', b'"REL-C3":9'), "scorer revision REL-C3 was 9"),
        (("rows.jsonl.journal", b'"rdkit version":"', b'"rdkit version":"1.'), "rdkit version was 1."),
        (("rows.jsonl.journal", b'"relfast version":"', b'"relfast version":"9'), "relfast version was 9"),
        ("--policy strict", "option policy was reference and is strict"),
        ("--details", "option details was False and is True"),
        ("--timeout 9", "option timeout was 6.0 and is 9.0"),
        ("--embedder other", "option embedder was auto and is other"),
        ("--limit 7", "limit was not set and is 7"),
        ("--shard 0/2", "shard was not set and is [0, 2]"),
        ("--reward REL-C3=recall", "option rewards REL-C3 was not set and is recall"),
    ],
)
def test_changed_before_resume(
    change: Any, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(50))
    out = tmp_path / "rows.jsonl"
    before = scored_here(dump, out)
    more = change.split() if isinstance(change, str) else []
    if not more:
        name, old, new = change
        content = (tmp_path / name).read_bytes()
        assert old in content
        (tmp_path / name).write_bytes(content.replace(old, new, 1))
    assert exit_code("score", dump, "-o", out, QUIET, "--workers", 0, "--resume", *more) == 1
    said = capsys.readouterr().err
    assert message.format(dump=dump) in said
    assert said.startswith("relfast: cannot resume: ")
    assert said.endswith("start over with --overwrite\n")
    assert out.read_bytes() == before
    scored_here(dump, out, "--overwrite", *more)


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
    dump, out = write_dump(tmp_path / "dump.jsonl", honest(20)), tmp_path / "rows.jsonl"
    done = relfast(dump, "-o", out, "--workers", 2, preexec_fn=lambda: os.closerange(0, 3))
    assert (done.returncode, len(rows_of(out))) == (0, 20)
    done = relfast("-", "-o", f"{out}2", preexec_fn=lambda: os.close(0))
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
        ["dump.jsonl", *(f"rows.{s}{j}" for s in ("jsonl", "parquet", "csv") for j in ("", ".journal"))]
    )
    assert os.listdir(temporary) == []
    assert not [name for name in set(os.listdir("/dev/shm")) - before if "relfast" in name]


# line over --max-line-bytes


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["plain", "gz", "stdin"])
def test_line_too_long(codec: str, tmp_path: Path) -> None:
    """Skipped by streaming: 300 MB of one line need no 300 MB."""
    good = json.dumps(honest(1)[0]).encode() + b"\n"
    dump = tmp_path / ("dump.jsonl.gz" if codec == "gz" else "dump.jsonl")
    opened: Any = gzip.open(dump, "wb", 1) if codec == "gz" else open(dump, "wb")  # noqa: SIM115 -- closed below
    with opened as file:
        file.write(good)
        for _ in range(300):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + good)
    with open(dump, "rb") as stdin:
        done = relfast(
            "-" if codec == "stdin" else dump, "-o", tmp_path / "rows.jsonl", QUIET, "--workers", 1,
            stdin=stdin, preexec_fn=LITTLE_MEMORY,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["status"] for row in rows] == ["ok", "invalid_record", "ok"]
    assert rows[1]["error"] == {
        "type": "LineTooLong",
        "message": "line is longer than 16777216 bytes (--max-line-bytes)",
    }


def test_a_small_limit_holds_too(tmp_path: Path) -> None:
    records = honest(5)
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    longest = max(map(len, lines)) - 1
    dump = write_dump(tmp_path / "dump.jsonl", [*lines[:3], b" " * longest + lines[3], lines[4]])
    scored_here(dump, tmp_path / "rows.jsonl", "--max-line-bytes", longest)
    assert statuses(tmp_path / "rows.jsonl")[3] == "invalid_record"
    assert "invalid_record" not in [s for at, s in enumerate(statuses(tmp_path / "rows.jsonl")) if at != 3]


# truncated gz, decompression bomb


@pytest.mark.slow
def test_truncated_gz(tmp_path: Path) -> None:
    """All whole records are scored, then a row says where the stream broke."""
    records = honest(3000)
    plain = write_dump(tmp_path / "dump.jsonl", records)
    expected = scored_here(plain, tmp_path / "whole.jsonl").splitlines(keepends=True)
    packed = gzip.compress(plain.read_bytes(), 6)
    dump = tmp_path / "dump.jsonl.gz"
    dump.write_bytes(packed[: len(packed) // 2])
    out = tmp_path / "rows.jsonl"
    done = relfast(dump, "-o", out, QUIET, "--fail-on-error")
    assert done.returncode == 3, done.stderr
    *whole, broken = out.read_bytes().splitlines(keepends=True)
    assert whole == expected[: len(whole)]
    assert 0.3 * len(records) < len(whole) < 0.8 * len(records)
    error = json.loads(broken)["error"]
    assert error["type"] == "DamagedInput"
    assert "ends early; the lines before it were scored" in error["message"]
    shards = [scored_here(dump, tmp_path / f"{n}.jsonl", "--shard", f"{n}/3") for n in range(3)]
    assert b"".join(shards) == out.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("pack", "size"), [(gzip.compress, 1 << 28), (zstandard.compress, 1 << 29)])
def test_decompression_bomb(pack: Callable[[bytes], bytes], size: int, tmp_path: Path) -> None:
    good = json.dumps(honest(1)[0]).encode() + b"\n"
    dump, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump.write_bytes(pack(good + b"0" * size))
    more = (QUIET, "--fail-on-error", "--workers", 1)
    done = relfast(dump, "-o", out, *more, preexec_fn=LITTLE_MEMORY)
    assert done.returncode == 3, done.stderr
    rows = rows_of(out)
    assert [row["status"] for row in rows] == ["ok", "invalid_record"]
    assert "expands more than 1000 times" in rows[1]["error"]["message"]


# duplicate ids


def test_duplicate_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = honest(20)
    records[7] |= {name: records[3][name] for name in ("id", "task", "answer")}
    dump = write_dump(tmp_path / "dump.jsonl", records)
    out, summary = tmp_path / "rows.jsonl", tmp_path / "summary.json"
    assert exit_code("score", dump, "-o", out, "--workers", 0, "--summary", summary) == 0
    assert [row["id"] for row in rows_of(out)].count("r3") == 2
    assert capsys.readouterr().err.count("1 id occurs on more than one line") == 1
    assert len(json.loads(summary.read_bytes())["notes"]) == 1
    # samples of one line are no duplicates
    samples = write_dump(tmp_path / "samples.jsonl", [{**records[0], "response": ["<Yes>", "Answer 1", "?"]}])
    assert exit_code("score", samples, "--workers", 0) == 0
    assert "more than one line" not in capsys.readouterr().err


# the faults that take time: a dozen kills, hostile molecules, memory over ten times the input


@pytest.mark.slow
def test_sigkill_at_random_moments(tmp_path: Path) -> None:
    """Each time continued with another number of workers; in the end the bytes of an uninterrupted run."""
    rng = random.Random(5)
    dump = write_dump(tmp_path / "dump.jsonl", honest(6000, padding=2000))
    started = time.monotonic()
    assert relfast(dump, "-o", tmp_path / "quiet.jsonl", "-q", "--workers", 2).returncode == 0
    seconds = time.monotonic() - started
    out = tmp_path / "rows.jsonl"
    for number in range(12):
        if number % 6 == 0:
            out.unlink(missing_ok=True)
            Path(f"{out}.journal").unlink(missing_ok=True)
        run = Run(dump, "-o", out, "-q", "--resume", "--workers", rng.choice([0, 1, 2, 3]))
        time.sleep(rng.uniform(0, seconds))
        run.kill()
        run.wait()
        if number % 4 == 0:
            assert run.left() == []
    assert relfast(dump, "-o", out, "-q", "--resume").returncode == 0
    assert out.read_bytes() == (tmp_path / "quiet.jsonl").read_bytes()


def _hostile_records() -> list[dict[str, Any]]:
    """What tests/data/hostile has, paired with real gold, an honest neighbour after each."""
    rng = random.Random(1)
    hostile: list[tuple[str, Any, str]] = []
    for pair in share(list(rows("hostile/nasty_pairs.jsonl.gz")), 3):
        hostile.append(("REL-C2", {"smiles": pair["gold"]}, pair["response"]))
        hostile.append(("REL-C3", {"missing_smiles": [pair["gold"]]}, pair["response"]))
    bad = share((DATA / "hostile/bad_smiles.txt").read_text("utf-8").split("\n"), 3)
    texts = [nasty["smiles"] for nasty in share(list(rows("hostile/nasty_smiles.jsonl.gz")), 3)]
    texts += [line for line in bad if line and not line.startswith("# ")] + share(naughty_strings(), 3)
    for number, text in enumerate(texts):
        task = ("REL-C2", "REL-C3")[number % 2]
        hostile.append((task, rng.choice(rel_records(task))["answer"], text))
    records = []
    for number, neighbour in enumerate(honest(len(hostile))):
        task, answer, text = hostile[number]
        response = f"<smiles>{text}</smiles>"
        records.append({"id": f"hostile{number}", "task": task, "answer": answer, "response": response})
        records.append(neighbour)
    return records


@pytest.mark.slow
@pytest.mark.fuzz
def test_all_hostile_data(tmp_path: Path) -> None:
    """Every record has its row, nothing aborts, neighbours are untouched."""
    records = _hostile_records()
    decided = []
    # the second time only the beginning: that a run is as another is shown by a third of it
    for part in (records, records[: len(records) // 3], neighbours := records[1::2]):
        dump = write_dump(tmp_path / "dump.jsonl", part)
        run = Run(dump, "-o", tmp_path / "rows.jsonl", "-q", "--timeout", 1, "--workers", 2, "--overwrite")
        done = run.wait(600)
        assert done.returncode == 0, done.stderr
        assert run.left() == []
        found = rows_of(tmp_path / "rows.jsonl")
        assert [row["index"] for row in found] == list(range(len(part)))
        decided.append({row["id"]: {**row, "index": 0} for row in found if _decided(row)})
    for again in decided[1:]:
        both = decided[0].keys() & again.keys()
        assert {id: decided[0][id] for id in both} == {id: again[id] for id in both}
    assert len(both) >= 0.99 * len(neighbours)


def _decided(row: dict[str, Any]) -> bool:
    """Not by a deadline."""
    return row["status"] in ("ok", "no_answer") and "mcs_canceled" not in row["metrics"]


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["plain", "gz"])
def test_memory_is_flat(codec: str, tmp_path: Path) -> None:
    """More than twice the input, the same memory: most of both files is cut into the blocks of large ones, which
    begin at 128 MB."""
    for unit in native.UNITS:
        built(unit)  # plain Python takes other memory
    records = [json.dumps(record).encode() + b"\n" for record in honest(1000, padding=2000)]
    text = b"".join(records)
    peaks = []
    # beside other work both workers are seldom at their largest at once, in a short run least of all
    for size, times in ((300, 2), (650, 1)):
        dump = tmp_path / f"{size}.jsonl{'.gz' if codec == 'gz' else ''}"
        member = gzip.compress(text, 1) if codec == "gz" else text
        with open(dump, "wb") as file:
            for _ in range(size * 10**6 // len(text)):
                file.write(member)
        found = []
        for _ in range(times):
            run = Run(dump, "-o", tmp_path / "rows.jsonl", "-q", "--workers", 2, "--overwrite")
            found.append(peak_memory(run.process))
            assert run.wait().returncode == 0
            assert run.left() == []
        peaks.append(max(found))
        dump.unlink()
    print(f"{codec}: {[f'{peak / 1e6:.0f} MB' for peak in peaks]}")
    assert peaks[1] <= 1.1 * peaks[0] + 8e6


# inputs that would take memory or the terminal without end, and inputs and outputs that fail midway


@pytest.mark.slow
def test_a_molecule_that_takes_all_memory(tmp_path: Path) -> None:
    """10 million atoms: the row says why, its neighbours live."""
    large = {**honest(1)[0], "task": "REL-C2", "answer": {"smiles": "CCO"}}
    large["response"] = f"<smiles>{'C' * 10_000_000}</smiles>"
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(3), large, *honest(3)])
    scored_here(dump, tmp_path / "rows.jsonl", "--workers", 1, "--timeout", 120)
    assert [at for at, status in enumerate(statuses(tmp_path / "rows.jsonl")) if status == "crashed"] == [3]
    assert "ran out of memory" in rows_of(tmp_path / "rows.jsonl")[3]["error"]["message"]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["REL-A1", "REL-C3"])
def test_a_line_of_many_samples(task: str, tmp_path: Path) -> None:
    """A hundred thousand took 500 MB."""
    record = {"id": "r", "task": task, "answer": {"target": 3}, "response": ["Answer 3", "Answer 4"] * 50_000}
    if task == "REL-C3":
        record |= {"answer": {"missing_smiles": ["CCO"]}, "response": ["<smiles>OCC</smiles>"] * 100_000}
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(2), record, *honest(2)])
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", "--workers", 0, QUIET, preexec_fn=LITTLE_MEMORY)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["sample"] for row in rows] == [0, 0, *range(100_000), 0, 0]
    assert [row["correct"] for row in rows[2:4]] == [task == "REL-C3", True]


@pytest.mark.slow
def test_names_that_no_task_has_are_one_group(tmp_path: Path) -> None:
    """20,000 of them took gigabytes of a report, and a line each of a table; one has 2 MB."""
    names = [f"task-{number}" for number in range(20_000)] + ["t" * 2_000_000]
    dump = write_dump(
        tmp_path / "dump.jsonl", [{**record, "task": name} for record in honest(1) for name in names]
    )
    done = relfast(dump, "-o", tmp_path / "scored.jsonl")
    assert done.returncode == 2
    assert b"(unknown)" in done.stderr
    assert len(done.stderr) < 3_000
    scores = [Score(n, n, name, 0, "ok", True, 1.0, {f"m{n}": 1.0}) for n, name in enumerate(names)]
    rows = [score.to_row() for score in scores]
    a = write_dump(tmp_path / "a.jsonl", rows)
    b = write_dump(tmp_path / "b.jsonl", [{**row, "correct": False} for row in rows])
    twice = partial(resource.setrlimit, resource.RLIMIT_DATA, (2 * MEMORY, 2 * MEMORY))
    for code, command in (
        (0, ("report", a, "-o", tmp_path / "report")),
        (0, ("compare", a, b)),
        (2, ("compare", a, b, "--metric", "nosuch")),
    ):
        done = python("-m", "relfast", *command, text=False, preexec_fn=twice)
        assert done.returncode == code, done.stderr[-500:]
        assert len(done.stdout) + len(done.stderr) < 3_000
    assert (tmp_path / "report" / "index.html").stat().st_size < 4 << 20


@pytest.mark.parametrize("seed", range(3))
def test_damaged_zip(seed: int, tmp_path: Path) -> None:
    """Whatever a ZIP's directory says: rows, or an error that names the file, and no traceback."""
    chance = random.Random(seed)
    whole = (DATA / "dumps" / "inspect.eval").read_bytes()
    directory = whole.rfind(b"PK\5\6")
    for number in range(40):
        data = bytearray(whole)
        at = chance.randrange(whole.find(b"PK\1\2"), len(whole) - 4) if number else directory + 16
        value = int.from_bytes(data[at : at + 4], "little") + chance.choice([5_000, 2**31, 2**24, 1])
        data[at : at + 4] = (value % 2**32).to_bytes(4, "little")
        path = tmp_path / f"{number}.eval"
        path.write_bytes(data)
        error = None
        try:
            (source,) = find_sources([str(path)])
            assert all(block.n_lines for block in blocks([source], 1 << 24))
        except InputError as found:
            error = found
        assert error is None or str(path) in str(error)


def test_lengths_of_a_damaged_input(tmp_path: Path) -> None:
    """What is scored is measured."""
    dump = write_dump(tmp_path / "dump.jsonl", honest(20))
    damaged = tmp_path / "dump.jsonl.gz"
    damaged.write_bytes(gzip.compress(dump.read_bytes()) + b"garbage")
    done = relfast(damaged, "-o", tmp_path / "rows.jsonl", "--lengths", "--summary", tmp_path / "s.json")
    assert done.returncode == 0, done.stderr
    tasks = json.loads((tmp_path / "s.json").read_bytes())["tasks"]
    assert len(rows_of(tmp_path / "rows.jsonl")) == 21
    assert all("lengths" in task for name, task in tasks.items() if name != "(unknown)")


@pytest.mark.slow
def test_a_pipe_that_nobody_reads(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(1))
    os.mkfifo(tmp_path / "pipe")
    done = relfast(dump, "-o", tmp_path / "pipe", "-q")
    assert done.returncode == 1
    assert b"no process reads this pipe" in done.stderr
