"""Outputs: cut anywhere, tampered with, interrupted, held by others; continued to the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest
from engine_runs import honest, scored_here, write_dump

import relfast
from relfast.engine.columns.blocks import Position
from relfast.engine.files.io import writer as file_writer
from relfast.engine.files.io.codecs import LINES, encoder
from relfast.engine.files.io.writer import Commit, FileWriter
from relfast.errors import OutputError, ResumeMismatchError, UsageError
from relfast.support.outputs import whole_file

RUN = {"relfast version": "1", "paths": {}}


def _writer(path: Path, *, resume: bool = False, overwrite: bool = False, **run: object) -> FileWriter:
    return FileWriter(str(path), {**RUN, **run}, resume=resume, overwrite=overwrite)


def _rows(number: int) -> bytes:
    return b'{"index":%d,"sample":0,"status":"ok","correct":true,"metrics":{}}\n' % number * 3


def _write(writer: FileWriter, start: int, stop: int) -> None:
    for number in range(start, stop):
        writer.write(_rows(number), Commit(0, Position(number + 1, 0, 100 * number, number + 1), b"vote"))


def _continued(path: Path, *, resume: bool = True) -> int:
    """Write what is missing of a run of five blocks; how many were there."""
    writer = _writer(path, resume=resume)
    done = len(writer.commits)
    assert os.path.getsize(path) == (writer.commits[-1].size if done else 0)
    assert [score.index for score in writer.written()] == [n for n in range(done) for _ in range(3)]
    _write(writer, done, 5)
    writer.finish(15)
    writer.close()
    return done


@pytest.fixture(params=LINES)
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bytes, bytes]:
    path = tmp_path / f"rows{request.param}"
    _continued(path, resume=False)
    return path, path.read_bytes(), Path(f"{path}.journal").read_bytes()


def test_cut_at_every_byte(whole: tuple[Path, bytes, bytes]) -> None:
    """Rows or their journal."""
    path, rows, journal = whole
    header = journal.index(b"\n") + 1
    cuts = [(rows[:size], journal) for size in range(len(rows) + 1)]
    cuts += [(rows, journal[:size]) for size in range(header, len(journal))]
    for left in cuts:
        path.write_bytes(left[0])
        Path(f"{path}.journal").write_bytes(left[1])
        _continued(path)
        assert path.read_bytes() == rows
        assert Path(f"{path}.journal").read_bytes() == journal
    Path(f"{path}.journal").write_bytes(journal[: header - 2])
    with pytest.raises(ResumeMismatchError, match="missing or unreadable"):
        _writer(path, resume=True)
    assert path.read_bytes() == rows


def test_rows_that_the_disk_lost(whole: tuple[Path, bytes, bytes]) -> None:
    """After a power failure a file may have its length and holes of zeros: they are written again."""
    path, rows, _ = whole
    at = len(rows) // 2
    path.write_bytes(rows[:at] + bytes(len(rows) - at))
    assert 0 < _continued(path) < 5
    assert path.read_bytes() == rows


@pytest.mark.parametrize("calls", [1, 2])
def test_an_interrupt_leaves_whole_rows(calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes when part of the rows, or the rows and part of the journal, are written."""
    path = tmp_path / "rows.jsonl"
    writer = _writer(path)
    _write(writer, 0, 2)
    real, left = os.pwrite, [calls]

    def interrupted(descriptor: int, data: memoryview, offset: int) -> int:
        left[0] -= 1
        if left[0]:
            return real(descriptor, data, offset)
        real(descriptor, data[: len(data) // 2], offset)
        raise KeyboardInterrupt

    monkeypatch.setattr(file_writer.os, "pwrite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _write(writer, 2, 3)
    monkeypatch.undo()
    writer.close()
    assert path.read_bytes() == _rows(0) + _rows(1)
    writer = _writer(path, resume=True)
    assert len(writer.commits) == 2
    writer.close()


def test_lock(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    writer = _writer(path)
    for options in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(OutputError, match=r"rows\.jsonl: another run is writing this output"):
            _writer(path, **options)
    writer.close()
    with pytest.raises(UsageError, match="exists; --resume continues it, --overwrite starts over"):
        _writer(path)
    _writer(path, resume=True).close()


def test_differences_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    run = {"input": {"0": {"size": 5}}, "paths": {"input 0": "a.jsonl"}}
    _writer(path, **run).close()
    _writer(path, resume=True, **{**run, "paths": {"input 0": "moved.jsonl"}}).close()
    with pytest.raises(ResumeMismatchError, match=r"size of b\.jsonl was 5 and is 6"):
        _writer(path, resume=True, input={"0": {"size": 6}}, paths={"input 0": "b.jsonl"})


def test_a_failed_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: memoryview, offset: int) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_writer.os, "pwrite", full)
    with pytest.raises(OutputError, match="No space left on device after 0 bytes"):
        _writer(tmp_path / "rows.jsonl")
    assert os.listdir(tmp_path) == []


def test_an_empty_run_is_a_readable_gzip(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", [])
    out = tmp_path / "rows.jsonl.gz"
    for options in ({}, {"resume": True}):
        assert relfast.score_file(dump, out, workers=0, **options).rows == 0
        assert gzip.decompress(out.read_bytes()) == b""
        assert out.stat().st_size > 0


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "jsonl.xz", "parquet"])
def test_resume_of_every_kind_of_output(suffix: str, tmp_path: Path) -> None:
    """From any state in which a run can be left, the same bytes and the same summary come out."""
    records = [
        *honest(1500, padding=1500),
        {**honest(1)[0], "id": "\ud800"},
        {**honest(1)[0], "id": [1, 2**80]},
    ]
    dump = write_dump(tmp_path / "dump.jsonl", records)
    quiet = tmp_path / f"quiet.{suffix}"
    expected = relfast.score_file(dump, quiet, workers=0).to_dict()
    out = tmp_path / f"rows.{suffix}"

    for n in (1, 2):
        stop = Mock(side_effect=[None] * (n - 1) + [ZeroDivisionError])
        with pytest.raises(ZeroDivisionError):
            relfast.score_file(dump, out, workers=0, resume=True, progress=stop)
        assert suffix != "parquet" or not out.exists()
    for _ in range(2):  # the second time there is nothing left to do
        found = relfast.score_file(dump, out, workers=0, resume=True).to_dict()
        assert out.read_bytes() == quiet.read_bytes()
        for name in ("output", "seconds"):
            expected.pop(name, None)
            found.pop(name)
        assert found == expected
    assert sorted(os.listdir(tmp_path)) == sorted(
        ["dump.jsonl", *(f"{name}.{suffix}{more}" for name in ("quiet", "rows") for more in ("", ".journal"))]
    )


@pytest.mark.parametrize("torn", [0, 700])
@pytest.mark.parametrize(
    ("packed", "suffix"),
    [("", ".jsonl"), ("", ".jsonl.gz"), ("", ".csv"), (".gz", ".jsonl"), (".bz2", ".jsonl.bz2")],
)
def test_a_dump_that_has_grown_is_gone_on_with(packed: str, suffix: str, torn: int, tmp_path: Path) -> None:
    """The same bytes as of one run, if the run before was finished or not, and the last line whole or not; another
    file behind it moves on. A dump that has changed is refused as ever."""
    records = honest(2000, padding=1500)
    whole = write_dump(tmp_path / "whole.jsonl", records).read_bytes()
    other = write_dump(tmp_path / "other.jsonl", honest(5))
    old = whole[: whole.index(b"\n", 1_800_000) + 1 - torn]
    pack = encoder(f"dump.jsonl{packed}") or bytes
    dump, quiet, out = (
        tmp_path / f"dump.jsonl{packed}",
        tmp_path / f"quiet{suffix}",
        tmp_path / f"rows{suffix}",
    )
    dump.write_bytes(pack(old) + pack(whole[len(old) :]))
    expected = relfast.score_file([dump, other], quiet, workers=0).to_dict()
    for stops in (False, True):
        dump.write_bytes(pack(old))
        stop = Mock(side_effect=[None, ZeroDivisionError] if stops else None)
        with suppress(ZeroDivisionError):
            summary = relfast.score_file([dump, other], out, workers=0, overwrite=True, progress=stop)
            assert not any("gr" in note for note in summary.notes if str(dump) in note)
        with open(dump, "ab") as file:
            file.write(pack(whole[len(old) :]))
        found = relfast.score_file([dump, other], out, workers=0, resume=True).to_dict()
        assert out.read_bytes() == quiet.read_bytes()
        (note,) = (note for note in found.pop("notes") if "grown" in note)
        sizes = f"{len(pack(old)):,} to {dump.stat().st_size:,} bytes"
        assert note == f"{dump} has grown from {sizes} since it was scored; what was appended is, too, now"
        for name in ("output", "seconds", "notes"):
            found.pop(name, None)
            expected.pop(name, None)
        assert found == expected
    changed = bytearray(dump.read_bytes())
    changed[len(changed) // 3] ^= 1
    dump.write_bytes(bytes(changed) + pack(b"{}\n"))
    before = out.read_bytes()
    with pytest.raises(ResumeMismatchError, match=r"size of .* was"):
        relfast.score_file([dump, other], out, workers=0, resume=True)
    assert out.read_bytes() == before


def test_a_dump_that_grows_while_it_is_read(tmp_path: Path) -> None:
    """It is scored to its length at the start; a note says so, and a resumed run goes on."""
    dump = write_dump(tmp_path / "dump.jsonl", honest(3000, padding=1000))
    out = tmp_path / "rows.jsonl"

    def append(progress: object) -> None:
        with open(dump, "ab") as file:
            file.write(b'{"id": "late"}\n')

    summary = relfast.score_file(dump, out, workers=0, progress=append)
    assert summary.rows == 3000
    (note,) = summary.notes
    assert re.fullmatch(
        r".*dump\.jsonl grew from [\d,]+ to [\d,]+ bytes while it was scored; --resume goes on with what was appended",
        note,
    )
    assert relfast.score_file(dump, out, workers=0, resume=True).rows > 3000
    assert out.read_bytes() == scored_here(dump, tmp_path / "quiet.jsonl")


def test_stdin_is_checked_on_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream cannot be looked at beforehand: what was scored is compared as it comes by."""
    import io
    import sys

    data = b"".join(json.dumps(record).encode() + b"\n" for record in honest(2500, padding=1000))
    out = tmp_path / "rows.jsonl"

    def run(stdin: bytes, **options: object) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        relfast.score_file("-", out, workers=0, **options)

    run(data)
    expected = out.read_bytes()
    half = expected[: len(expected) // 2]
    out.write_bytes(half)
    run(data, resume=True)
    assert out.read_bytes() == expected
    out.write_bytes(half)
    with pytest.raises(
        ResumeMismatchError, match=r"- has changed before byte [0-9]+, which was scored already"
    ):
        run(data.replace(b'"r3"', b'"q3"'), resume=True)


def test_another_embedder_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What scored the rows is known by its weights; runs without such rows do not ask."""
    from tiny_bert import make_checkpoint

    from relfast.embed.adding import add

    steps = "First 2 + 2 = 4.\n\nThen 4 + 1 = 5.\n\nSo \\boxed{5}."
    aligned = {"task": "ReAlign", "question": "2 + 2 + 1?", "answer": {"solution": steps}, "response": steps}
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    add(str(make_checkpoint(tmp_path / "one", pooling="mean")), "tiny")
    dump = write_dump(tmp_path / "dump.jsonl", [*honest(3), aligned])
    text = write_dump(tmp_path / "text.jsonl", honest(3))
    relfast.score_file(dump, workers=0, embedder="tiny")
    relfast.score_file(text, workers=0, embedder="tiny")
    assert relfast.score_file(dump, workers=0, embedder="tiny", resume=True).count("ok", "no_answer") == 4
    shutil.rmtree(tmp_path / "cache" / "embedders")
    add(str(make_checkpoint(tmp_path / "other", pooling="mean", seed=1)), "tiny")
    with pytest.raises(ResumeMismatchError, match=r"embedder was tiny@[0-9a-f]+ and is tiny@[0-9a-f]+"):
        relfast.score_file(dump, workers=0, embedder="tiny", resume=True)
    relfast.score_file(text, workers=0, embedder="tiny", resume=True)


# files that are whole or not there, and never over another one unasked


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with whole_file(str(path)) as file:
        file.write(b"one\n")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    with suppress(ZeroDivisionError), whole_file(str(path), overwrite=True) as file:
        file.write(b"two\n")
        raise ZeroDivisionError
    assert path.read_bytes() == b"one\n"
    with whole_file(str(path), overwrite=True) as file:
        file.write(b"three\n")
    assert path.read_bytes() == b"three\n"
    assert list(tmp_path.iterdir()) == [path]


def test_devices_and_pipes_are_written_in_place(tmp_path: Path) -> None:
    with whole_file(os.devnull) as file:
        file.write(b"gone")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(str(pipe)) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("o.JSONL.GZ", b"\x1f\x8b"),
        ("o.jsonl.ZST", b"\x28\xb5\x2f\xfd"),
        ("o.CSV", b'"index",'),
        ("o.Parquet", b"PAR1"),
    ],
)
def test_an_ending_in_capitals_is_that_ending(name: str, begins: bytes, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(3))
    relfast.score_file(dump, tmp_path / name, workers=0)
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert len(list(relfast.read_rows(tmp_path / name))) == 3
