"""The faults that take time: a dozen kills, hostile molecules, memory over ten times the input."""

from __future__ import annotations

import gzip
import json
import random
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from corpora import DATA, naughty_strings, rel_records, rows
from engine_runs import Run, honest, relfast, rows_of, write_dump
from relfast_kernels.compiled import native
from seeds import share

pytestmark = pytest.mark.slow


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
    """What tests/data/hostile has, paired with real gold, honest neighbours between."""
    rng = random.Random(1)
    golds = {task: rel_records(task) for task in ("REL-A1", "REL-B1", "REL-C1", "REL-C2", "REL-C3")}
    records: list[dict[str, Any]] = []

    def add(kind: str, record: dict[str, Any], response: str, answer: Any = None) -> None:
        records.append(
            {
                "id": f"{kind}{len(records)}",
                "task": record["task"],
                "question": record["question"][:200],
                "answer": answer or record["answer"],
                "response": response,
            }
        )

    def add_honest() -> None:
        record = rng.choice(golds[rng.choice(list(golds))])
        answer = record["answer"]
        if record["task"] == "REL-C2":
            add("honest", record, f"<smiles>{rng.choice(golds['REL-C2'])['answer']['smiles']}</smiles>")
        elif record["task"] == "REL-C3":
            add(
                "honest",
                record,
                "\n".join(f"<smiles>{smiles}</smiles>" for smiles in answer["missing_smiles"][:5]),
            )
        else:
            add("honest", record, "Answer 3, Yes: taxon_3, <Yes>")

    for pair in share(list(rows("hostile/nasty_pairs.jsonl.gz")), 3):
        tagged = f"<smiles>{pair['response']}</smiles>"
        add("hostile", golds["REL-C2"][0], tagged, {"smiles": pair["gold"]})
        add_honest()
        add("hostile", golds["REL-C3"][0], tagged, {"missing_smiles": [pair["gold"]]})
        add_honest()
    for number, nasty in enumerate(share(list(rows("hostile/nasty_smiles.jsonl.gz")), 3)):
        task = ("REL-C2", "REL-C3")[number % 2]
        add("hostile", rng.choice(golds[task]), f"<smiles>{nasty['smiles']}</smiles>")
        add_honest()
    for line in share((DATA / "hostile/bad_smiles.txt").read_text("utf-8").split("\n"), 3):
        if line and not line.startswith("# "):
            add("hostile", rng.choice(golds[rng.choice(["REL-C2", "REL-C3"])]), f"<smiles>{line}</smiles>")
            add_honest()
    for text in share(naughty_strings(), 3):
        for task in golds:
            add("hostile", rng.choice(golds[task]), text)
        add("hostile", rng.choice(golds["REL-C2"]), f"<smiles>{text}</smiles>")
        add_honest()
    return records


TIMEOUT, WORKERS = 1, 2


@pytest.mark.fuzz
def test_all_hostile_data(tmp_path: Path) -> None:
    """Every record has its row, nothing aborts, neighbours are untouched."""
    records = _hostile_records()
    dump = write_dump(tmp_path / "dump.jsonl", records)
    neighbours = [record for record in records if record["id"].startswith("honest")]
    alone = write_dump(tmp_path / "alone.jsonl", neighbours)
    options = ("-q", "--timeout", TIMEOUT, "--workers", WORKERS)
    assert relfast(alone, "-o", tmp_path / "alone.rows.jsonl", *options).returncode == 0
    runs = []
    # the second time only the beginning: that a run is as another is shown by a third of it
    head = write_dump(tmp_path / "head.jsonl", records[: len(records) // 3])
    for name, part in (("first", dump), ("second", head)):
        run = Run(part, "-o", tmp_path / f"{name}.jsonl", *options)
        done = run.wait(600)
        assert done.returncode == 0, done.stderr
        assert run.left() == []
        rows = rows_of(tmp_path / f"{name}.jsonl")
        assert [row["index"] for row in rows] == list(
            range(len(records) if part is dump else len(records) // 3)
        )
        hangs = sum(row["status"] == "timeout" for row in rows)
        crashes = sum(row["status"] == "crashed" for row in rows)
        print(f"{len(rows)} rows, {hangs} timeouts, {crashes} crashed")
        runs.append(rows)
        if name == "first":
            expected = {row["id"]: row for row in rows_of(tmp_path / "alone.rows.jsonl")}
            for row in rows:
                if row["id"] in expected and _decided(row) and _decided(expected[row["id"]]):
                    assert {**row, "index": 0} == {**expected[row["id"]], "index": 0}
            honest_rows = [row for row in rows if row["id"] in expected]
            assert sum(row["status"] in ("ok", "no_answer") for row in honest_rows) >= 0.99 * len(honest_rows)
    for first, second in zip(*runs, strict=False):
        if _decided(first) and _decided(second):
            assert first == second


def _decided(row: dict[str, Any]) -> bool:
    """Not by a deadline."""
    return row["status"] in ("ok", "no_answer") and "mcs_canceled" not in row["metrics"]


def _peak_memory(dump: Path, out: Path) -> int:
    """Largest sum of resident memory of the command and its workers."""
    run = Run(dump, "-o", out, "-q", "--workers", 2, "--overwrite")
    peak = 0
    command = psutil.Process(run.pid)
    while run.process.poll() is None:
        try:
            family = [command, *command.children(recursive=True)]
            peak = max(peak, sum(process.memory_full_info().pss for process in family))
        except psutil.NoSuchProcess:
            continue
        time.sleep(0.01)
    assert run.wait().returncode == 0
    assert run.left() == []
    return peak


@pytest.mark.parametrize("codec", ["plain", "gz"])
def test_memory_is_flat(codec: str, tmp_path: Path) -> None:
    """Ten times the input, the same memory but for the larger blocks that large files are cut into."""
    for unit in native.UNITS:
        # a run that finds none has them compiled beside it, which takes memory of its own
        if native.load(unit) is None:
            native.build(unit)
    records = [json.dumps(record).encode() + b"\n" for record in honest(1000, padding=2000)]
    text = b"".join(records)
    sizes = (20, 200)
    peaks = []
    for size in sizes:
        dump = tmp_path / f"{size}.jsonl{'.gz' if codec == 'gz' else ''}"
        member = gzip.compress(text, 1) if codec == "gz" else text
        with open(dump, "wb") as file:
            for _ in range(size * 10**6 // len(text)):
                file.write(member)
        # beside other work both workers are seldom at their largest at once, in a short run least of all
        times = 4 if size == sizes[0] else 1
        peaks.append(max(_peak_memory(dump, tmp_path / "rows.jsonl") for _ in range(times)))
        dump.unlink()
    print(f"{codec}: {[f'{peak / 1e6:.0f} MB' for peak in peaks]}")
    assert peaks[1] <= 1.1 * peaks[0] + 15e6
