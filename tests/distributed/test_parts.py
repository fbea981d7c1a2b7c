"""Runs cut into shards, in one process: what a cluster does, but for the cluster."""

from __future__ import annotations

import gzip
import json
import pickle
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pyarrow
import pytest
import zstandard
from engine_runs import exit_code, honest, rows_in, rows_of, write_dump
from engine_runs import told as summary_of
from mutations import mutated_line, real_lines
from pyarrow import parquet

import relfast
from relfast import errors
from relfast.distributed import run, shards
from relfast.distributed.run import score_on_ray
from relfast.distributed.shards import Assignment, Done, answer, count, cut, place, versions
from relfast.distributed.storage import Folder
from relfast.engine.files.score_files import score_files
from relfast.engine.job import Job, make_job
from relfast.records import Score
from relfast.stats.summary import Summary
from relfast.stats.tally import Tally

JOB = make_job()


class InProcess:
    """A cluster's node without the cluster, in this process."""

    def __init__(self, address: str | None) -> None:
        pass

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        shards.kept_pool.cache_clear()

    def run(
        self, method: Any, items: list[Any], told: Assignment, workers: int | None
    ) -> Iterator[tuple[Any, Any]]:
        for item in items:
            try:
                answered = answer(versions(), pickle.dumps(told), method, item)
            except errors.RelfastError as error:
                answered = error
            yield item, answered


def score_here(
    inputs: list[str], output: str | None, job: Job, cluster: Any = InProcess, **more: Any
) -> Summary:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "Cluster", cluster)
        patch.setattr(shards, "be_modest", lambda: None)
        return score_on_ray(inputs, output, job, **more)


def mixed(n: int, seed: int) -> bytes:
    rng, lines = random.Random(seed), real_lines(8)
    return b"\n".join(mutated_line(rng, lines) if rng.random() < 0.9 else b"" for _ in range(n))


def told(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary but for advice, which is tried on the next rows of a block: at the end of a part there are fewer."""
    kept = summary_of(summary)
    for cause in kept.get("unusable", ()):
        cause.pop("advice", None)
    return kept


def local(
    inputs: list[Path], tmp_path: Path, limit: int | None = None, **options: Any
) -> tuple[bytes, dict[str, Any]]:
    output = tmp_path / "local.jsonl"
    job, told_of = make_job(**options), {"workers": 0, "overwrite": True, "limit": limit}
    summary = score_files([str(path) for path in inputs], str(output), job, **told_of)
    return output.read_bytes(), told(summary.to_dict())


def check(
    names: list[Path], output: Path, expected: tuple[bytes, dict[str, Any]], job: Any = JOB, **options: Any
) -> Summary:
    """Rows and summary are those of one machine."""
    given = score_here([str(name) for name in names], str(output), job, **options)
    assert rows_in(output) == expected[0]
    if expected[0]:  # of no lines a cluster has not seen the filter
        assert told(given.to_dict()) == expected[1]
    return given


@pytest.mark.parametrize("part_bytes", [1, 7, 1_000, 4_096, 10**6])
def test_every_line_belongs_to_one_shard(tmp_path: Path, part_bytes: int) -> None:
    rng = random.Random(part_bytes)
    text = b"".join(b"x" * rng.choice([0, 1, 6, 7, 300]) + b"\n" for _ in range(300)) + b"last"
    path = tmp_path / "dump.jsonl"
    path.write_bytes(text)
    parts = list(place([count(shard, JOB) for shard in cut([str(path)], JOB, part_bytes)], None))
    pieces = [text[part.start : part.end] for part in parts]
    assert b"".join(pieces) == text
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    assert [part.n_lines for part in parts] == [len(piece.splitlines()) for piece in pieces]
    assert [part.first_index for part in parts] == [text[: part.start].count(b"\n") for part in parts]


def test_rows_and_summary_are_those_of_one_machine(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    plain, zipped, table = folder / "a.jsonl", folder / "b.jsonl.gz", folder / "c.parquet"
    plain.write_bytes(mixed(600, 1))
    zipped.write_bytes(gzip.compress(mixed(200, 2) + b"\n"))
    parquet.write_table(pyarrow.Table.from_pylist(honest(300, 3)), table, row_group_size=50)
    # ends early: the rows before that count, and a row says so
    packed = zstandard.ZstdCompressor().compress(mixed(200, 4) + b"\n")
    last = folder / "d.jsonl.zst"
    last.write_bytes(packed[: len(packed) // 2])
    output = tmp_path / "out"
    expected = local([plain, zipped, table, last], tmp_path)
    given = check([folder], output, expected, part_bytes=20_000)
    manifest = json.loads((output / "manifest.json").read_bytes())
    assert manifest["complete"]
    assert manifest["rows"] == given.rows == len(expected[0].splitlines())
    assert len(manifest["parts"]) > 6
    assert [part["file"] for part in manifest["parts"]] == sorted(path.name for path in output.glob("part-*"))


def test_inputs_and_output_by_url(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    texts = [mixed(200, 5), mixed(100, 6) + b"\n"]
    memory.pipe("/relfast-in/a.jsonl", texts[0])
    memory.pipe("/relfast-in/b.jsonl.gz", gzip.compress(texts[1]))
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"]
    paths[0].write_bytes(texts[0])
    paths[1].write_bytes(gzip.compress(texts[1]))
    rows, summary = local(paths, tmp_path)
    try:
        for names in (
            ["memory://relfast-in"],
            ["memory://relfast-in/*"],
            [f"file://{path}" for path in paths],
        ):
            given = score_here(names, "memory://relfast-out/run", JOB, part_bytes=5_000, overwrite=True)
            parts = sorted(memory.glob("/relfast-out/run/part-*.jsonl"))
            assert len(parts) > 5
            assert b"".join(memory.cat_file(part) for part in parts) == rows
            # places are named as the inputs were
            home = names[0].rpartition("/")[0] if names[0].startswith("file") else "memory:///relfast-in"
            shown = json.dumps(told(given.to_dict())).replace(home, str(tmp_path))
            assert json.loads(shown) == summary
        # parts that are there are not scored again
        first = parts[0]
        before = memory.info(first)["created"]
        memory.rm(parts[1])
        given = score_here(names, "memory://relfast-out/run", JOB, part_bytes=5_000, resume=True)
        assert json.loads(json.dumps(told(given.to_dict())).replace(home, str(tmp_path))) == json.loads(shown)
        assert memory.info(first)["created"] == before
        assert b"".join(memory.cat_file(part) for part in parts) == rows
    finally:
        memory.rm("/relfast-in", recursive=True)
        memory.rm("/relfast-out", recursive=True)


@pytest.mark.parametrize(
    "url", ["nosuch://bucket/a.jsonl", "memory://relfast-none/a.jsonl", "memory://relfast-none/*"]
)
def test_a_url_that_leads_nowhere_is_an_error_that_names_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match=r"relfast-none|nosuch"):
        score_here([url], str(tmp_path / "out"), JOB)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_parts_are_in_what_the_output_is_named_after(suffix: str, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(60))
    rows, _ = local([dump], tmp_path)
    output = tmp_path / f"out{suffix}"
    score_here([str(dump)], str(output), JOB, part_bytes=4_000)
    parts = sorted(output.glob(f"part-*{suffix}"))
    assert len(parts) > 1
    found = [json.loads(json.dumps(row.to_row())) for path in parts for row in relfast.read_rows(path)]
    assert found == [json.loads(text) for text in rows.splitlines()]


def test_a_part_that_cannot_be_read_is_named_and_the_others_are_done(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    good = write_dump(folder / "a.jsonl", honest(40))
    (folder / "b.parquet").write_bytes(b"PAR1 and then nothing of the kind")
    output = tmp_path / "out"
    with pytest.raises(errors.ReadError, match=r"1 of 2 parts failed: .*b\.parquet.*not a readable Parquet"):
        score_here([str(folder)], str(output), JOB)
    assert without_prompts(rows_in(output)) == without_prompts(local([good], tmp_path)[0])
    manifest = json.loads((output / "manifest.json").read_bytes())
    assert not manifest["complete"]
    assert [failure["what"].rpartition("/")[2] for failure in manifest["failed"]] == ["b.parquet bytes 0-33"]
    # it is repaired, and only it is scored
    stood = (output / "part-000000.jsonl").stat().st_mtime_ns
    parquet.write_table(pyarrow.Table.from_pylist(honest(30, 7)), folder / "b.parquet")
    score_here([str(folder)], str(output), JOB, resume=True)
    assert (output / "part-000000.jsonl").stat().st_mtime_ns == stood
    assert [row["index"] for row in map(json.loads, rows_in(output).splitlines())] == list(range(70))


def test_what_stands_in_the_way_of_a_run(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(30))
    output = tmp_path / "out"
    score_here([str(dump)], str(output), JOB, part_bytes=2_000)
    with pytest.raises(errors.OutputExistsError):
        score_here([str(dump)], str(output), JOB, part_bytes=2_000)
    with pytest.raises(errors.ResumeMismatchError, match="policy was reference and is strict"):
        score_here([str(dump)], str(output), make_job(policy="strict"), part_bytes=2_000, resume=True)
    with pytest.raises(errors.ResumeMismatchError, match="part_bytes"):
        score_here([str(dump)], str(output), JOB, part_bytes=3_000, resume=True)
    with pytest.raises(errors.UsageError, match="stdin"):
        score_here(["-"], str(output), JOB)
    n_before = len(list(output.glob("part-*")))
    score_here([str(dump)], str(output), JOB, part_bytes=10**6, overwrite=True)
    assert n_before > 1
    assert len(list(output.glob("part-*"))) == 1
    foreign = tmp_path / "photographs"
    foreign.mkdir()
    write_dump(foreign / "rows.jsonl", honest(1))
    with pytest.raises(errors.OutputExistsError):
        score_here([str(dump)], str(foreign), JOB)
    assert len(rows_of(foreign / "rows.jsonl")) == 1


def test_two_runs_do_not_write_one_output(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(30))
    output = str(tmp_path / "out")

    def begin_another(_: object) -> None:
        with pytest.raises(errors.OutputError, match="another run"):
            score_here([str(dump)], output, JOB, resume=True)
        met.append(True)

    met: list[bool] = []
    score_here([str(dump)], output, JOB, progress=begin_another)
    assert met


def test_an_input_that_changes_on_the_way_fails_alone(tmp_path: Path) -> None:
    dumps = [write_dump(tmp_path / name, honest(30)) for name in ("a.jsonl", "b.jsonl")]
    output = tmp_path / "out"

    def change(state: Any) -> None:
        if state.rows and not changed:
            changed.append(True)
            write_dump(dumps[1], honest(31))

    changed: list[bool] = []
    with pytest.raises(errors.ReadError, match=r"b\.jsonl bytes .*: it has changed since the run began"):
        score_here([str(path) for path in dumps], str(output), JOB, progress=change)
    assert without_prompts(rows_in(output)) == without_prompts(local([dumps[0]], tmp_path)[0])


def without_prompts(rows: bytes) -> list[Any]:
    """Rows but for what tells prompts of several files apart, which a file alone does not need."""
    return [{**json.loads(row), "prompt": None} for row in rows.splitlines()]


def test_joined_gold_and_mapped_fields(tmp_path: Path) -> None:
    records = honest(30)
    rows = [{"id": record["id"], "out": {"text": record.pop("response")}} for record in records]
    gold, dump = write_dump(tmp_path / "gold.jsonl", records), write_dump(tmp_path / "dump.jsonl", rows)
    options: dict[str, Any] = {"data": [str(gold)], "map": {"response": "out.text"}, "details": True}
    expected = local([dump], tmp_path, **options)
    check([dump], tmp_path / "out", expected, make_job(**options), part_bytes=500)
    assert expected[1]["tasks"]["REL-C2"]["statuses"]["invalid_record"] == 0


def test_a_note_keeps_all_digits(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(40))
    (shard,) = place([count(each, JOB) for each in cut([str(dump)], JOB, 10**6)], None)
    folder = Folder(str(tmp_path))
    (tmp_path / "_parts").mkdir()
    (tmp_path / "part-000000.jsonl").write_bytes(b"{}")
    tally = Tally.of([Score(0, "a", "REL-C2", 0, "ok", True, 1.0, {"tanimoto": 0.7})])
    for _ in range(17):
        tally.merge(deepcopy(tally))
    assert tally.tasks["REL-C2"].rewards[1] > 2**64
    done = Done(shard, "part-000000.jsonl", 1, 2, tally)
    folder.write(done.note, done.to_json())
    again = Done.before(folder, shard, ".jsonl")
    assert again is not None
    assert again.tally == tally
    assert Done.before(folder, replace(shard, line=1), ".jsonl") is None
    folder.write(done.note, done.to_json()[:-1])
    assert Done.before(folder, shard, ".jsonl") is None
    folder.write(done.note, done.to_json())
    (tmp_path / "part-000000.jsonl").write_bytes(b"{")
    assert Done.before(folder, shard, ".jsonl") is None


@pytest.mark.parametrize("limit", [0, 1, 57, 400, 10_000])
def test_only_the_first_lines(limit: int, tmp_path: Path) -> None:
    plain, table, last = tmp_path / "a.jsonl", tmp_path / "b.parquet", tmp_path / "c.jsonl.gz"
    plain.write_bytes(mixed(200, 1) + b"\n")
    parquet.write_table(pyarrow.Table.from_pylist(honest(150, 3)), table, row_group_size=40)
    last.write_bytes(gzip.compress(mixed(100, 2) + b"\n"))
    inputs = [plain, table, last]
    expected = local(inputs, tmp_path, limit)
    given = check(inputs, tmp_path / "out", expected, part_bytes=9_000, limit=limit)
    assert given.rows == len(expected[0].splitlines())
    with pytest.raises(errors.ResumeMismatchError, match="limit"):
        score_here([str(plain)], str(tmp_path / "out"), JOB, part_bytes=9_000, resume=True)


@pytest.mark.parametrize(
    ("option", "advice"),
    [(["--shard", "0/2"], "name only a part of the files"), (["--lengths"], "leave out")],
)
def test_what_a_cluster_does_not_do_is_said(
    option: list[str], advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(2))
    assert exit_code("score", dump, "--engine", "ray", *option) == 2
    assert advice in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["dump.jsonl"]


def test_documents_are_read_as_by_one_machine(tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(honest(30), indent=2))
    assert check([dump], tmp_path / "out", local([dump], tmp_path)).rows == 30
    table = tmp_path / "dump.xls"
    table.write_text("id,response\n1,a\n")
    with pytest.raises(errors.InputError, match="a spreadsheet"):
        score_here([str(table)], str(tmp_path / "none"), JOB)


@pytest.mark.parametrize("rows", [-1, 150])
def test_a_run_that_ends_while_it_measures_or_scores_is_resumed(rows: int, tmp_path: Path) -> None:
    dumps = [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", tmp_path / "c.jsonl"]
    dumps[0].write_bytes(mixed(300, 8) + b"\n")
    dumps[1].write_bytes(gzip.compress(mixed(100, 9) + b"\n"))
    dumps[2].write_bytes(mixed(200, 10))
    expected, output = local(dumps, tmp_path), tmp_path / "out"

    def interrupt(state: Any) -> None:
        if state.rows > rows:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(dumps, output, expected, part_bytes=9_000, progress=interrupt)
    before = {path.name: path.stat().st_mtime_ns for path in output.glob("part-*.jsonl")}
    assert len(before) > 1 if rows > 0 else not before
    said: list[str] = []
    check(dumps, output, expected, part_bytes=9_000, resume=True, tell=said.append)
    assert before == {} or any(re.search(r"[1-9]\d* rows were there", line) for line in said)
    assert {name: (output / name).stat().st_mtime_ns for name in before} == before, "scored again"


def test_a_command_that_was_wrong_leaves_nothing_behind(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(3))
    (tmp_path / "there").mkdir()

    def refuse(*_: object) -> Any:
        raise errors.UsageError("no cluster")

    for name in ("out", "there"):
        with pytest.raises(errors.UsageError, match="no cluster"):
            score_here([str(dump)], str(tmp_path / name), JOB, refuse)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump.jsonl", "there"]
    assert not list((tmp_path / "there").iterdir())
