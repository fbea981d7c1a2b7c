"""Whole commands: starting, dumps as other programs write them, mazes, molecules, a second worker."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from naive_rel import score_c3
from processes import python
from relfast_kernels.compiled import making, native

from . import workloads_chem
from .floors import decode, rdkit_alone, write_rdkit_work
from .measure import QUICK, against, relfast_command, size
from .workloads_dumps import DUMPS, PROMPTS, Dump
from .workloads_seqbench import write_seqbench_dump

# dumps on two workers, against the decode floor


TWO = ("--overwrite", "-q", "--workers", 2)
FAILED = "OpenAI batch with --data, 5 % of requests failed"
SMOKED = ("native, strict", "8 samples a line", "--data join", FAILED)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All kinds where they are timed, by `make bench` and `make bench-quick`; a few are tried in every run."""
    if "kind" in metafunc.fixturenames:
        timed = metafunc.config.getoption("benchmark_enable")
        metafunc.parametrize("kind", [*DUMPS, *PROMPTS] if timed else SMOKED)


def test_dump_against_decode_floor(kind: str, tmp_path: Path, benchmark: Any) -> None:
    dump = PROMPTS.get(kind) or DUMPS[kind]
    n = size(benchmark, smoke=80, quick=20_000, full=dump.rows) // dump.samples
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    n_bytes = dump.write(path, n)
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, *TWO, *dump.arguments(path)),
        lambda: decode(path),
        task=f"relfast score, {kind}, {n * dump.samples:,} responses",
        items=n * dump.samples,
        n_bytes=n_bytes,
        limit=1.0,
        rounds=3,
        check=lambda *_: _is_whole(out.read_bytes(), n, dump),
    )


def _is_whole(rows: bytes, n_lines: int, dump: Dump) -> bool:
    """Whether there are rows of all lines."""
    n_rows, last = rows.count(b"\n"), orjson.loads(rows[rows.rfind(b"\n", 0, -1) + 1 :])
    # a request that failed as a whole has one row, whatever number of samples was asked for
    least = n_lines * dump.samples if dump.failed is None else n_lines
    return last["index"] == n_lines - 1 and least <= n_rows <= n_lines * dump.samples


# what a second worker brings


@pytest.mark.parametrize("times", [1] if QUICK else [1, 10])
def test_two_workers_against_one(times: int, tmp_path: Path, benchmark: Any) -> None:
    """In turn, each run with an output of its own: one that is written over is cut back first, and written to the
    disk by the run that closes it. One worker has all cores too, one of which then is its parent's. At 100,000
    responses start and end are a third of the time of two workers; at a million they are not."""
    n = size(benchmark, smoke=80, quick=100_000, full=100_000)
    path = tmp_path / "dump.jsonl"
    DUMPS["native"].write(path, n)
    once = path.read_bytes()
    with path.open("ab") as file:
        for _ in range(1, times):
            file.write(once)
    numbers = itertools.count()
    last: dict[int, Path] = {}

    def run(workers: int) -> None:
        last[workers] = tmp_path / f"{next(numbers)}.rows"
        relfast_command("score", path, "-o", last[workers], "-q", "--workers", workers)

    against(
        benchmark,
        lambda: run(2),
        lambda: run(1),
        task=f"2 workers against 1, native, {n * times:,} responses",
        items=n * times,
        n_bytes=len(once) * times,
        limit=1.8,
        at_least=True,
        check=lambda *_: last[1].read_bytes() == last[2].read_bytes(),
    )


# what starting costs: importing, ten records, compiling


def test_import(benchmark: Any) -> None:
    """`import relfast` against bare Python."""
    against(
        benchmark,
        lambda: python("-c", "import relfast", check=True),
        lambda: python("-c", "pass", check=True),
        task="import relfast against bare Python",
        items=1,
        rounds=11,
    )


def test_ten_records(tmp_path: Path, benchmark: Any) -> None:
    """A ten-record file, whole command, against `relfast --version`."""
    path = tmp_path / "ten.jsonl"
    with gzip.open(Path(__file__).parents[1] / "relfast/data/rel_demo.jsonl.gz") as demo:
        path.write_bytes(b"".join(itertools.islice(demo, 10)))
    out = tmp_path / "out.jsonl"
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite"),
        lambda: relfast_command("--version"),
        task="relfast score on ten records against relfast --version",
        items=10,
        check=lambda *_: out.read_bytes().count(b"\n") >= 10,
    )


def test_compile_text_kernels(tmp_path: Path, benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile time, on its own: an empty cache, numba and LLVM to the library. As a smoke test, this
    process compiles, which has numba loaded, and a small unit."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path))
    unit = "align" if benchmark.disabled else "text"
    code = f"from relfast_kernels.compiled import making; making.make([{unit!r}])"

    def compile_text() -> None:
        if benchmark.disabled:
            making.make([unit])
        else:
            python("-c", code, check=True, timeout=None)

    benchmark.pedantic(compile_text, rounds=1)
    assert native.is_built(unit)
    benchmark.extra_info.update(task="compile the text kernels", items=1)
    if benchmark.stats is not None:
        benchmark.extra_info |= {"value": round(benchmark.stats.stats.mean, 1), "unit": "s"}


# mazes


@pytest.mark.parametrize("samples", [200, 8, 1])
def test_mazes_against_decode_floor(samples: int, tmp_path: Path, benchmark: Any) -> None:
    """Rows with structural_details in full (20,000 make 0.5 GB), so many responses to each maze."""
    n = size(benchmark, smoke=40, quick=4_000, full=100_000 if samples == 200 else 20_000)
    path, out = tmp_path / "dump.jsonl", tmp_path / "out.jsonl"
    n_mazes = -(-n // samples)
    n_bytes = write_seqbench_dump(path, n, n_instances=n_mazes)
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, *TWO),
        lambda: decode(path),
        task=f"relfast score, SeqBench rows with structural_details, {n:,} responses, {n_mazes:,} mazes",
        items=n,
        n_bytes=n_bytes,
        limit=1.2,
        check=lambda *_: out.read_bytes().count(b'"status":"ok"') > n // 2,
    )
    path.unlink()


# chemistry: against the RDKit floor, and against the published loop


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("task", ["REL-C2", "REL-C3"])
def test_distinct_spellings(task: str, policy: str, tmp_path: Path, benchmark: Any) -> None:
    """Each molecule spelled anew, both policies, against RDKit doing the same in as many processes."""
    n = size(benchmark, smoke=60, quick=4_000, full=20_000)
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    records = workloads_chem.motifs if task == "REL-C2" else workloads_chem.missing_isomers
    workloads_chem.write_dump(path, records(n, distinct=True))
    strict = policy == "strict"
    work = write_rdkit_work(path, 2, strict=strict)
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, *TWO, "--policy", policy),
        lambda: rdkit_alone(work, strict=strict),
        task=f"relfast score, {task}, {policy}, {n:,} records, distinct spellings, against the RDKit floor",
        items=n,
        n_bytes=path.stat().st_size,
        limit=0.25 if task == "REL-C2" else 0.5 if strict else 0.4,
        check=lambda *_: out.read_bytes().count(b"\n") == n,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "limit"), [("distinct spellings", 100.0), ("repeated answers", 300.0)])
def test_against_published_loop(answers: str, limit: float, tmp_path: Path, benchmark: Any) -> None:
    """REL-C3 on one core, whole command, against json.loads → the published scorer → json.dumps.

    The loop takes some 50 ms a record, so it is timed on every so many records only.
    """
    n = size(benchmark, smoke=40, quick=2_000, full=20_000)
    every = max(1, n // 25)
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    distinct = answers == "distinct spellings"
    workloads_chem.write_dump(path, workloads_chem.missing_isomers(n, distinct=distinct))
    lines = path.read_bytes().splitlines()[::every]

    def loop() -> list[str]:
        rows = map(json.loads, lines)
        return [json.dumps(score_c3(row["answer"], row["response"])) for row in rows]

    def check(_: Any, expected: list[str]) -> bool:
        rows = out.read_bytes().splitlines()[::every]
        found = [json.loads(row)["metrics"].items() for row in rows]
        return all(item <= json.loads(other).items() for item, other in zip(found, expected, strict=True))

    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", 0),
        loop,
        task=f"relfast score, REL-C3, {n:,} records, {answers}, one core, against the published loop",
        items=n,
        limit=limit,
        at_least=True,
        rounds=3,
        scale=n / len(lines),
        check=check,
    )
