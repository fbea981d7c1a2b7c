"""Inputs named on the command line: files, globs, folders, stdin; and what codec each is in."""

from __future__ import annotations

import glob
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

from relfast.errors import InputError, MissingExtraError

Codec = Literal["plain", "gz", "zst", "parquet"]

STDIN: Final = "-"

_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".parquet", ".json", ".gz", ".zst")
_FOLDER_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".parquet")
_MAGIC: Final[tuple[tuple[bytes, Codec], ...]] = (
    (b"\x1f\x8b", "gz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"PAR1", "parquet"),
)

MAX_EXPANSION: Final = 1_000
"""Largest ratio of decompressed to compressed bytes, beyond the first 64 MB. JSON text reaches 30."""

_EXPANSION_GRACE: Final = 64 * 2**20
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """One input: its path (``-`` is stdin) and its codec. ``seekable`` files are read by the workers."""

    path: str
    codec: Codec

    @property
    def seekable(self) -> bool:
        return self.codec == "plain" and self.path != STDIN and os.path.isfile(self.path)

    def open(self) -> IO[bytes]:
        """The decompressed bytes, to be read forward.

        Raises
        ------
        InputError
            It cannot be opened.
        MissingExtraError
            It is zst and zstandard is not installed.
        """
        raw = _open(self.path)
        if self.codec == "gz":
            return _Expanding(raw, _Gunzip())  # type: ignore[return-value]
        if self.codec == "zst":
            return _Expanding(raw, _Unzstd())  # type: ignore[return-value]
        return raw


def find_sources(inputs: Sequence[str]) -> list[Source]:
    """The sources that some inputs name, in order.

    Raises
    ------
    InputError
        One of them names nothing that can be read.
    """
    sources: list[Source] = []
    for name in inputs:
        sources += [Source(path, _codec(path)) for path in _paths(name)]
    return sources


def _paths(name: str) -> list[str]:
    if name == STDIN:
        return [name]
    path = Path(name)
    if path.is_dir():
        found = sorted(str(child) for child in path.iterdir() if child.name.endswith(_FOLDER_SUFFIXES))
        found = [child for child in found if ".scored." not in os.path.basename(child)]
        if not found:
            raise InputError(f"no input in this folder (looked for {', '.join(_FOLDER_SUFFIXES)})", file=name)
        return found
    if path.exists():
        return [name]
    matches = sorted(match for match in glob.glob(name) if os.path.isfile(match))
    if not matches:
        what = "nothing matches this pattern" if glob.has_magic(name) else "no such file"
        raise InputError(what, file=name)
    return matches


def _codec(path: str) -> Codec:
    if path == STDIN:
        return "plain"  # told apart by its first bytes when it is opened
    if path.endswith(".gz"):
        return "gz"
    if path.endswith(".zst"):
        return "zst"
    if path.endswith(".parquet"):
        return "parquet"
    if not os.path.isfile(path):
        return "plain"  # a named pipe: looking at its first bytes would take them away
    try:
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from error
    return next((codec for magic, codec in _MAGIC if head.startswith(magic)), "plain")


def _open(path: str) -> IO[bytes]:
    if path == STDIN:
        stream: Any = sys.stdin.buffer
        if not isinstance(stream, io.BufferedReader):
            return stream  # type: ignore[no-any-return]
        head = stream.peek(4)[:4]
        for magic, codec in _MAGIC:
            if head.startswith(magic):
                if codec == "parquet":
                    raise InputError("Parquet cannot be read from stdin: name the file", file="stdin")
                return _Expanding(stream, _Gunzip() if codec == "gz" else _Unzstd())  # type: ignore[return-value]
        return stream
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from error


class Damaged(Exception):
    """A compressed stream that ends early or is broken; what came before it has been delivered."""


class _Gunzip:
    """Members of a gzip stream, one after the other."""

    def __init__(self) -> None:
        self._member: Any = zlib.decompressobj(wbits=31)
        self._fresh = True

    def feed(self, data: bytes, limit: int) -> tuple[bytes, bytes]:
        out = self._member.decompress(data, limit)
        self._fresh = self._fresh and not data
        rest: bytes = self._member.unconsumed_tail
        if self._member.eof:
            rest = self._member.unused_data.lstrip(b"\0")
            self._member = zlib.decompressobj(wbits=31)
            self._fresh = True
        return out, rest

    @property
    def complete(self) -> bool:
        return self._fresh


class _Unzstd:
    """Frames of a zstd stream, one after the other."""

    def __init__(self) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("reading .zst", "zstd") from None
        self._module = zstandard
        self._frame: Any = None

    def feed(self, data: bytes, limit: int) -> tuple[bytes, bytes]:
        if self._frame is None:
            self._frame = self._module.ZstdDecompressor(max_window_size=2**27).decompressobj()
        try:
            out: bytes = self._frame.decompress(data)
        except self._module.ZstdError as error:
            raise zlib.error(str(error)) from error
        rest = b""
        if self._frame.eof:
            rest = self._frame.unused_data
            self._frame = None
        return out, rest

    @property
    def complete(self) -> bool:
        return self._frame is None


class _Expanding(io.RawIOBase):
    """A compressed stream read forward, with a bound on how much it may expand."""

    def __init__(self, raw: IO[bytes], codec: _Gunzip | _Unzstd) -> None:
        self._raw, self._codec = raw, codec
        self._pending = b""
        self._taken = self._given = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to about ``size`` bytes; empty at the end.

        Raises
        ------
        Damaged
            The stream is broken, ends early, or expands beyond `MAX_EXPANSION`.
        """
        want = size if size > 0 else _CHUNK
        while True:
            data = self._pending or self._raw.read(_CHUNK // 8)
            if not self._pending:
                self._taken += len(data)
            if not data:
                if not self._codec.complete:
                    raise Damaged("compressed input ends early")
                return b""
            try:
                out, self._pending = self._codec.feed(data, want)
            except zlib.error as error:
                raise Damaged(f"compressed input is damaged: {error}") from None
            self._given += len(out)
            if self._given > _EXPANSION_GRACE and self._given > MAX_EXPANSION * self._taken:
                raise Damaged(f"compressed input expands more than {MAX_EXPANSION} times")
            if out:
                return out

    def close(self) -> None:
        self._raw.close()
        super().close()


def iterate_lines(path: str) -> Iterator[bytes]:
    """The lines of a JSONL file of any codec, without their ends; Parquet rows come as JSON.

    Raises
    ------
    InputError
        It cannot be read to the end.
    """
    (source,) = find_sources([path])
    if source.codec == "parquet":
        from relfast.engine.parquet import iterate_rows

        yield from iterate_rows(path)
        return
    rest = b""
    try:
        with source.open() as stream:
            while chunk := stream.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
    except Damaged as error:
        raise InputError(str(error), file=path) from None
    if rest:
        yield rest
