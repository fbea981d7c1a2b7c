"""What is read: blocks of lines, compressed streams, Parquet and CSV."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import itertools
import json
import lzma
import random
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from zlib import crc32

import pyarrow as pa
import pytest
import zstandard
from corpora import rel_records
from engine_runs import exit_code, rows_of, write_dump
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import relfast
from relfast.engine.columns.blocks import UNKNOWN, Block, Position
from relfast.engine.columns.scoring import Scoring
from relfast.engine.files.block_scoring import BlockScoring
from relfast.engine.files.io import codecs, reader
from relfast.engine.files.io.codecs import Stream, stream_of
from relfast.engine.files.io.reader import Cutter, blocks, cut_parquet
from relfast.engine.files.io.sources import Source, find_sources
from relfast.engine.isolated.protocol import count_lines
from relfast.engine.job import make_job
from relfast.errors import Damaged, InputError, ReadError
from relfast.json_text import LongLine

# blocks of lines: a partition of the input that depends on its bytes alone


BLOCK, LINES = 64, 7


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(reader, "_READ_BYTES", BLOCK // 2)
    monkeypatch.setattr(reader, "BLOCK_LINES", LINES)
    monkeypatch.setattr(reader, "LARGE_BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(reader, "_TAIL_BYTES", BLOCK // 8)
    monkeypatch.setattr(reader, "_FEW_LINES", 1)


LINE = st.one_of(st.binary(max_size=12), st.binary(min_size=50, max_size=300)).map(
    lambda line: line.replace(b"\n", b"\r")
)
INPUT = st.builds(
    lambda lines, end: b"".join(line + b"\n" for line in lines)[: None if end else -1],
    st.lists(LINE),
    st.booleans(),
)


def _check(data: bytes, found: list[Block], max_line: int) -> None:
    """The blocks are the input, in order; what is too long is a fault and nothing else is."""
    at = 0
    for block in found:
        assert block.start == at
        at = block.end
        own = data[block.start : at].removesuffix(b"\n").split(b"\n")
        assert (block.first_index, block.n_lines) == (data.count(b"\n", 0, block.start), len(own))
        assert at == len(data) or data[at - 1] == ord("\n")
        too_long = [len(line) > max_line for line in own]
        if block.faults:
            assert too_long == [True]
            assert list(block.faults) == [block.first_index]
            assert block.data == b""
        else:
            assert not any(too_long)
            assert block.n_lines <= LINES
            assert block.size <= BLOCK or block.n_lines == 1
    assert at == len(data)


@given(INPUT, st.sampled_from([5, 60, 64, 100, 1000]))
def test_blocks_of_a_file(tmp_path_factory: pytest.TempPathFactory, data: bytes, max_line: int) -> None:
    path = tmp_path_factory.mktemp("file") / "dump.jsonl"
    path.write_bytes(data)
    found = list(blocks([Source(str(path), "plain", seekable=True)], max_line))
    _check(data, found, max_line)
    assert all(block.path == str(path) for block in found if not block.faults)


@given(st.lists(INPUT, max_size=3), st.sampled_from([BLOCK, 100, 1000]))
def test_blocks_that_others_count(
    tmp_path_factory: pytest.TempPathFactory, files: list[bytes], max_line: int
) -> None:
    """They are those of files whose lines are counted, up to one with too many lines; from there on the files
    are cut anew."""
    folder = tmp_path_factory.mktemp("files")
    sources = [Source(str(folder / str(number)), "plain", seekable=True) for number in range(len(files))]
    for source, data in zip(sources, files, strict=True):
        Path(source.path).write_bytes(data)
    found: list[Block] = []
    todo, index = blocks(sources, max_line, counted=False), 0
    while (block := next(todo, None)) is not None:
        if block.first_index == UNKNOWN:
            block.place(index)
        if block.n_lines == UNKNOWN:
            block.n_lines = count_lines(str(block.path), block.start, block.end)
        if block.n_lines > LINES:
            todo = blocks(sources, max_line, Position(block.seq, block.source, block.start, index))
            continue
        found.append(block)
        index += block.n_lines
    assert found == list(blocks(sources, max_line))


def _streamed(data: bytes, cuts: list[int], max_line: int) -> Iterator[Block]:
    cutter = Cutter(max_line)
    ends = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(ends):
        yield from cutter.feed(data[start:end])
    yield from cutter.finish()


@given(INPUT, st.lists(st.integers(0, 5000)), st.sampled_from([5, 60, 64, 100, 1000]))
def test_blocks_of_a_stream(data: bytes, cuts: list[int], max_line: int) -> None:
    """However the bytes arrive, the blocks are those of a file."""
    found = list(_streamed(data, cuts, max_line))
    for number, block in enumerate(found):
        block.place(sum(before.n_lines for before in found[:number]))
    _check(data, found, max_line)
    whole = list(_streamed(data, [], max_line))
    assert [(b.start, b.end, b.checksum) for b in found] == [(b.start, b.end, b.checksum) for b in whole]
    assert all(block.checksum == crc32(data[block.start : block.end]) for block in found)


@given(INPUT, st.integers(0, 3000))
def test_a_stream_that_breaks(data: bytes, at: int) -> None:
    """All whole lines, then one line that says it."""
    data = data[: at % (len(data) + 1)]
    cutter = Cutter(1000)
    found = [*cutter.feed(data), *cutter.finish(("DamagedInput", "it broke"))]
    *whole, last = found
    assert last.faults == {0: ("DamagedInput", "it broke")}
    assert b"".join(block.data or b"" for block in whole) == data[: data.rfind(b"\n") + 1]
    assert last.end == len(data)


@pytest.mark.parametrize("counted", [True, False])
def test_a_file_that_shrinks(tmp_path: Path, counted: bool) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"x" * 30 + b"\n" + b"y" * 200 + b"\n")
    (source,) = find_sources([str(path)])
    todo = blocks([source], 1000, counted=counted)
    next(todo)
    path.write_bytes(b"x" * 30 + b"\n")
    with pytest.raises(ReadError, match=r"dump\.jsonl: it shrank to 31 bytes while it was read"):
        next(todo)
    with pytest.raises(ReadError, match="it shrank from 232 to 31 bytes"):
        list(blocks([source], 1000, counted=counted))


def test_a_file_that_grows_is_read_as_large_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"1\n" * 50)
    todo = blocks([Source(str(path), "plain", seekable=True)], 1000)
    first = next(todo)
    with open(path, "ab") as file:
        file.write(b"2\n" * 50)
    assert first.n_lines + sum(block.n_lines for block in todo) == 50


def test_several_sources_run_on(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_bytes(b"1\n2\n3")
    packed.write_bytes(gzip.compress(b"4\n") + gzip.compress(b"5\n6\n") + b"\0" * 100)
    sources = [Source(str(plain), "plain", seekable=True), Source(str(packed), "gz")]
    found = list(blocks(sources, 1000))
    assert [(b.seq, b.source, b.first_index, b.n_lines) for b in found] == [(0, 0, 0, 3), (1, 1, 3, 3)]


# compressed streams: whole, cut, broken, and expanding


TEXT = b"".join(b'{"id": %d, "x": "%d"}\n' % (n, random.Random(n).randrange(10**9)) for n in range(3000))


def _stream(packed: bytes, kind: str) -> Stream:
    return stream_of(io.BytesIO(packed), kind)


def _read(stream: Stream, size: int) -> tuple[bytes, str | None]:
    parts = []
    try:
        while part := stream.read(size):
            parts.append(part)
    except Damaged as error:
        return b"".join(parts), str(error)
    return b"".join(parts), None


PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor(3).compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def _packed(kind: str, *texts: bytes) -> bytes:
    return b"".join(map(PACKERS[kind], texts))


def test_what_is_packed_others_unpack() -> None:
    """The oracle: the standard library's readers, and zstandard's."""
    unpack = {
        "gz": gzip.decompress,
        "zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(),
        "bz2": bz2.decompress,
        "xz": lzma.decompress,
    }
    for kind in codecs.PACKINGS:
        pack = codecs.encoder(f"rows.jsonl.{kind.upper()}")
        assert pack is not None
        assert unpack[kind](pack(TEXT) + pack(b"") + pack(TEXT[:99])) == TEXT + TEXT[:99]


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("size", [100, 4096, 1 << 20])
def test_members_one_after_the_other(kind: str, size: int) -> None:
    packed = _packed(kind, TEXT, b"", TEXT[:10], TEXT)
    assert _read(_stream(packed, kind), size) == (TEXT + TEXT[:10] + TEXT, None)


@pytest.mark.parametrize("kind", PACKERS)
def test_padding_between_members(kind: str) -> None:
    packed = _packed(kind, b"one\n") + b"\0" * 300_000 + _packed(kind, b"two\n") + b"\0" * 77
    assert _read(_stream(packed, kind), 1 << 20) == (b"one\ntwo\n", None)


@pytest.mark.parametrize("kind", PACKERS)
def test_cut_at_any_byte(kind: str) -> None:
    packed = _packed(kind, TEXT[:3000])
    for at in range(1, len(packed)):
        text, error = _read(_stream(packed[:at], kind), 1 << 20)
        assert TEXT.startswith(text)
        assert error == "compressed input ends early"


@pytest.mark.parametrize("before", [b"", b"\0" * 500, b"member"])
@pytest.mark.parametrize("kind", PACKERS)
def test_all_before_a_fault_is_read(kind: str, before: bytes) -> None:
    """As a decoder tells that is given a byte at a time, and gives one at a time; of xz less, since its decoder
    gives lines that nobody wrote before it notices."""
    first = _packed(kind, b"one\n" * 99) if before == b"member" else before
    packed = bytearray(first + _packed(kind, TEXT))
    at = len(first) + (len(packed) - len(first)) * 3 // 4
    packed[at : at + 20] = b"\xff" * 20
    text, error = _read(_stream(bytes(packed), kind), 1 << 20)
    assert error is not None
    assert "damaged" in error
    member, slowly = codecs.PACKINGS[kind].member(), b""
    with contextlib.suppress(Exception):
        for byte in packed[len(first) :]:
            slowly += member.decompress(bytes((byte,)), 1)
            while not member.needs_input:
                slowly += member.decompress(b"", 1)
    text = text.removeprefix(b"one\n" * 99)
    assert slowly.startswith(text)
    assert text == slowly or kind == "xz"
    # the text is one block of these two, which is known as a whole or not at all
    assert kind in ("bz2", "zst") or len(slowly) > len(TEXT) * 0.6


def test_a_wrong_checksum_is_told_after_the_text() -> None:
    packed = bytearray(_packed("gz", TEXT))
    packed[-6] ^= 1
    text, error = _read(_stream(bytes(packed), "gz"), 1 << 20)
    assert text == TEXT
    assert error is not None


@given(st.binary(max_size=200), st.sampled_from([*PACKERS]))
def test_garbage_never_hangs_or_raises_otherwise(garbage: bytes, kind: str) -> None:
    head = codecs.PACKINGS[kind].magic
    for data in (garbage, head + garbage, _packed(kind, b"x" * 50) + garbage):
        _read(_stream(data, kind), 1 << 16)


@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "EXPANSION_GRACE", 1 << 20)
    _, error = _read(_stream(_packed(kind, b"\0" * (40 << 20)), kind), 1 << 20)
    assert error == "compressed input expands more than 1000 times"


@pytest.mark.parametrize("kind", ["zst", "xz"])
def test_what_looks_far_back_takes_no_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "MAX_WINDOW", 1 << 16)
    text, error = _read(_stream(_packed(kind, random.Random(0).randbytes(1 << 21)), kind), 1 << 20)
    assert not text
    assert error is not None
    assert "looks back more than 0 MiB" in error


def test_repeated_text_is_no_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "EXPANSION_GRACE", 1000)
    text = TEXT * 50
    assert _read(_stream(_packed("gz", text), "gz"), 1 << 20) == (text, None)


# lines, of gold and of rows


@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"\r\n", b"bc", b"\0"]), max_size=40).map(b"".join),
    cuts=st.lists(st.integers(1, 9), min_size=1),
    longest=st.integers(1, 6),
)
def test_lines_of_a_stream(data: bytes, cuts: list[int], longest: int) -> None:
    sizes, pieces, at = itertools.cycle(cuts), [], 0
    while at < len(data):
        pieces.append(data[at : at + (size := next(sizes))])
        at += size
    whole = data.removesuffix(b"\n").split(b"\n") if data else []
    found = [*Stream(iter(pieces)).lines(longest)]
    assert [None if isinstance(line, LongLine) else line for line in found] == [
        line if len(line) <= longest else None for line in whole
    ]


def test_a_long_line_takes_the_memory_of_a_short_one() -> None:
    pieces = (b"x" * 100_000 for _ in range(640))
    tracemalloc.start()
    try:
        (line,) = Stream(pieces).lines(2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(line, LongLine)
    assert peak < 6 * 2**20, "of 64 MB"


LONG = "line is longer than 16777216 bytes"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("score {good} --data {long} -o {out}", 2),
        ("score {good} --data {long} -o {out} --max-line-bytes 17000000", 0),
        ("score {good} --data {long} -o {out} --workers 1 --max-line-bytes 17000000", 0),
        ("report {rows} -o {out}", 2),
        ("compare {rows} {good}", 2),
        ("validate {long}", 1),
        ("audit {long}", 0),
        ("show {long}:0", 2),
        ("run {long} --api http://127.0.0.1:9/v1 --model m -o {out}", 2),
        ("bench m --api http://127.0.0.1:9/v1 --records {long} -o {out}", 2),
    ],
)
def test_the_bound_of_a_line_holds_wherever_lines_are_read(
    command: str, code: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "question": "x" * 16_800_000}
    scored = {
        "index": 0,
        "id": "a",
        "task": "REL-A1",
        "sample": 0,
        "status": "ok",
        "correct": True,
        "reward": 1.0,
    }
    short = {"id": "b", "task": "REL-A1", "answer": {"target": 3}, "question": "q", "response": "Answer 4"}
    paths = {"out": tmp_path / "out", "good": write_dump(tmp_path / "good.jsonl", [short])}
    for name, rows in (
        ("long", [record, short]),
        ("rows", [scored | {"metrics": {"pred": "x" * 17_000_000}, "error": None}]),
    ):
        paths[name] = tmp_path / f"{name}.jsonl.gz"
        paths[name].write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows), 1))
    assert exit_code(*command.format(**paths).split(), *(["-q"] if "score" in command else [])) == code
    said = "".join(capfd.readouterr())
    assert (LONG in said) == ("--max-line-bytes" not in command), said
    assert "Traceback" not in said


# row groups that workers read


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_a_row_group_takes_the_fast_path(tmp_path: Path, policy: str) -> None:
    records = [record for task in ("REL-A1", "REL-C1") for record in rel_records(task)[:100]]
    rows = [
        {**{name: record[name] for name in ("id", "task", "answer")}, "response": f"So it is Answer {n % 9}"}
        for n, record in enumerate(records)
    ]
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=128)
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    line = Block(0, 0, 0, len(rows), 0, len(data), data=data)

    scoring = BlockScoring(Scoring(make_job(policy=policy)))
    (expected,) = scoring.segments(line)
    groups = list(cut_parquet(str(path), 1 << 24))
    assert [group.parquet for group in groups] == [True, True]
    found = []
    for group in groups:
        group.first_index = group.start
        (segment,) = scoring.segments(group)
        assert (segment.n_fast, segment.n_exact) == (group.n_lines, 0)
        found.append(segment.rows)
    assert b"".join(found) == expected.rows
    assert expected.n_fast == len(rows)


# CSV in and out: the same rows as of JSON lines, whatever stands in a cell


GOLD = '{"target": 3}'
RECORDS = [
    {"id": "001", "task": "REL-A1", "answer": GOLD, "response": "Answer: 4"},
    {"id": "a,b", "task": "REL-A1", "answer": GOLD, "response": 'multi\r\nline, "quoted"\n\\boxed{4}'},
    {"id": "é\u2028", "task": "REL-A1", "answer": GOLD, "response": ""},
    {"task": "REL-A1", "answer": "torn {", "response": "=1+1"},
]


def table(path: Path, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(RECORDS[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(RECORDS)
    return path


@pytest.mark.parametrize("name", ["dump.csv", "dump.tsv"])
def test_scores_are_those_of_json_lines(name: str, tmp_path: Path) -> None:
    # an empty cell is a response that is missing, as pandas writes it, not an empty one
    lines = write_dump(
        tmp_path / "dump.jsonl", [{**row, "response": row["response"] or None} for row in RECORDS]
    )
    path = table(tmp_path / name, "\t" if name.endswith("tsv") else ",")
    relfast.score_file(str(lines), workers=0)
    relfast.score_file(str(path), workers=0)
    assert Path(f"{path}.scored.jsonl").read_bytes() == Path(f"{lines}.scored.jsonl").read_bytes()


def test_rows_read_back(tmp_path: Path) -> None:
    path = table(tmp_path / "dump.csv")
    read = []
    for suffix in ("jsonl", "csv"):
        relfast.score_file(str(path), tmp_path / f"rows.{suffix}", workers=0)
        read.append(list(relfast.read_rows(tmp_path / f"rows.{suffix}")))
    assert read[0] == read[1]
    # a finished table is known again, and one that lost a row is made again
    rows = (tmp_path / "rows.csv").read_bytes()
    for content in (rows, rows[: rows.rindex(b"\n", 0, -1) + 1]):
        (tmp_path / "rows.csv").write_bytes(content)
        relfast.score_file(str(path), tmp_path / "rows.csv", workers=0, resume=True)
        assert (tmp_path / "rows.csv").read_bytes() == rows


def test_a_block_that_breaks_has_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path / "dump.csv")
    path.write_bytes(path.read_bytes() + b"b,REL-A1,x,\xff\n")
    with pytest.raises(InputError, match=r"line \d+ is no UTF-8; Excel writes Windows-1252"):
        relfast.score_file(str(path), workers=0)
    # further behind than what its form is told by
    monkeypatch.setattr("relfast.engine.files.io.parquet._HEADER_BYTES", 64)
    relfast.score_file(str(path), workers=0)
    rows = rows_of(Path(f"{path}.scored.jsonl"))
    assert rows[-1]["error"]["type"] == "DamagedInput"
    assert "invalid UTF8" in rows[-1]["error"]["message"]
