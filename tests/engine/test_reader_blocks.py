"""Blocks of lines: a partition of the input that depends on its bytes alone."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relfast.engine.io import cutting
from relfast.engine.io.blocks import Block
from relfast.engine.io.cutting import StreamCutter
from relfast.engine.io.reader import blocks
from relfast.engine.io.sources import Source
from relfast.errors import InputError, ReadError

BLOCK, LINES = 64, 7


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(cutting, "BLOCK_LINES", LINES)


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
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    at = index = 0
    for block in found:
        assert block.start == at
        assert block.n_lines > 0
        own = lines[index : index + block.n_lines]
        text = data[block.start : block.end]
        assert text.rstrip(b"\n") == b"\n".join(own).rstrip(b"\n")
        assert text.count(b"\n") in (block.n_lines, block.n_lines - 1)
        too_long = [len(line) > max_line for line in own]
        if block.faults:
            assert too_long == [True]
            assert list(block.faults) == [block.first_index]
            assert block.data == b""
        else:
            assert not any(too_long)
            assert block.n_lines <= LINES
            assert block.size <= BLOCK or block.n_lines == 1
        assert block.first_index == index
        at, index = block.end, index + block.n_lines
    assert at == len(data)
    assert index == len(lines)


@given(INPUT, st.sampled_from([5, 60, 64, 100, 1000]))
def test_blocks_of_a_file(tmp_path_factory: pytest.TempPathFactory, data: bytes, max_line: int) -> None:
    path = tmp_path_factory.mktemp("file") / "dump.jsonl"
    path.write_bytes(data)
    found = list(blocks([Source(str(path), "plain", seekable=True)], max_line))
    _check(data, found, max_line)
    assert all(block.path == str(path) for block in found if not block.faults)


def _streamed(data: bytes, cuts: list[int], max_line: int) -> Iterator[Block]:
    cutter = StreamCutter(max_line)
    ends = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(ends):
        yield from cutter.feed(data[start:end])
    yield from cutter.finish()


@given(INPUT, st.lists(st.integers(0, 5000)), st.sampled_from([5, 60, 64, 100, 1000]))
def test_blocks_of_a_stream(data: bytes, cuts: list[int], max_line: int) -> None:
    """However the bytes arrive, the blocks are those of a file."""
    found = []
    index = 0
    for block in _streamed(data, cuts, max_line):
        block.first_index = index
        block.faults = {index + line: fault for line, fault in block.faults.items()}
        index += block.n_lines
        found.append(block)
    _check(data, found, max_line)
    whole = list(_streamed(data, [], max_line))
    assert [(b.start, b.end, b.checksum) for b in found] == [(b.start, b.end, b.checksum) for b in whole]
    assert all(block.checksum == crc32(data[block.start : block.end]) for block in found)


@given(INPUT, st.integers(0, 3000))
def test_a_stream_that_breaks(data: bytes, at: int) -> None:
    """All whole lines, then one line that says it."""
    data = data[: at % (len(data) + 1)]
    cutter = StreamCutter(1000)
    found = [*cutter.feed(data), *cutter.finish(("DamagedInput", "it broke"))]
    *whole, last = found
    assert last.faults == {0: ("DamagedInput", "it broke")}
    assert b"".join(block.data or b"" for block in whole) == data[: data.rfind(b"\n") + 1]
    assert last.end == len(data)


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"x" * 30 + b"\n" + b"y" * 200 + b"\n")
    todo = blocks([Source(str(path), "plain", seekable=True)], 1000)
    next(todo)
    path.write_bytes(b"x" * 30 + b"\n")
    with pytest.raises(ReadError, match=r"dump\.jsonl: it shrank to 31 bytes while it was read"):
        next(todo)


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


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(blocks([Source(str(tmp_path / "none"), "plain", seekable=True)], 1000))
