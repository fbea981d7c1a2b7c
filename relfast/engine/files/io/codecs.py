"""Inputs as streams of bytes, decompressed from gzip or zstd, with a limit on how much these may expand."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, Any, Final, Literal, Self

from relfast.errors import Damaged, MissingExtraError
from relfast.json_text import LongLine

CHUNK: Final = 1 << 20

Codec = Literal["plain", "gz", "zst", "parquet", "csv", "zip", "json"]

ZIP_MAGIC: Final = b"PK\x03\x04"
_MAGIC: Final[tuple[tuple[bytes, Codec], ...]] = (
    (b"\x1f\x8b", "gz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"PAR1", "parquet"),
    (ZIP_MAGIC, "zip"),
)


def codec_seen(head: bytes) -> Codec:
    """The codec that the first bytes of a file indicate by their magic number; ``plain`` if none."""
    return next((codec for magic, codec in _MAGIC if head.startswith(magic)), "plain")


MAX_EXPANSION: Final = 1_000
"""Largest ratio of decompressed to compressed bytes, checked beyond 64 MB. JSON text reaches 30."""

MAX_WINDOW: Final = 2**27
"""Largest window of a zstd stream, which the decoder holds in memory: the default limit of zstd itself."""

EXPANSION_GRACE: Final = 64 * 2**20
_READ: Final = 1 << 17


class Stream:
    """A stream of bytes, read forward only; a context manager.

    Parameters
    ----------
    pieces
        The bytes, in pieces of any size; the iterator may raise `Damaged`.
    files
        Objects that are closed with the stream.
    """

    def __init__(self, pieces: Iterator[bytes], *files: Any) -> None:
        self.pieces, self._files = pieces, files
        self._damage: Damaged | None = None

    def read(self, size: int, /) -> bytes:
        """At least ``size`` bytes, in whole pieces (at worst 32 MB more, for zstd); fewer at the end.

        Raises
        ------
        Damaged
            The stream is damaged, ends early, or expands beyond `MAX_EXPANSION`.
        """
        parts: list[bytes] = []
        n_bytes = 0
        while n_bytes < size and self._damage is None:
            try:
                piece = next(self.pieces, None)
            except Damaged as error:
                self._damage = error  # raised by the next call, after the bytes before it are returned
                break
            if piece is None:
                break
            parts.append(piece)
            n_bytes += len(piece)
        if not n_bytes and self._damage is not None:
            raise self._damage
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        for file in self._files:
            if file is not getattr(sys.stdin, "buffer", None):  # stdin stays open for the caller
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def lines(self, longest: int) -> Iterator[bytes]:
        """The lines without their ends; a `LongLine` in place of each that has more than ``longest`` bytes.
        Takes time in proportion to the bytes, and memory for one line."""
        held: list[bytes] = []
        n_held = 0
        while chunk := self.read(CHUNK):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                if n_held + len(end) > longest:
                    yield LongLine.beyond(longest)
                else:
                    yield b"".join((*held, end)) if held else end
                held, n_held = [], 0
            n_held += len(rest)
            held = [*held, rest] if n_held <= longest else []
        if n_held > longest:
            yield LongLine.beyond(longest)
        elif n_held:
            yield b"".join(held)


def stream_of(file: IO[bytes], codec: str, head: bytes = b"") -> Stream:
    """The bytes of a file or pipe, decompressed if ``codec`` is ``gz`` or ``zst``; ``head`` are bytes that
    were read from the file already. Reading zstd raises `MissingExtraError` if zstandard is not installed."""
    pieces = chain((head,), iter(partial(file.read, _READ), b""))
    unpack = {"gz": _gunzipped, "zst": _unzstd}.get(codec)
    return Stream(pieces if unpack is None else _expanded(pieces, unpack), file)


def _expanded(
    packed: Iterable[bytes], unpack: Callable[[Iterator[bytes]], Iterator[bytes]]
) -> Iterator[bytes]:
    """The decompressed bytes. Raises `Damaged` if they expand too much, or the input is damaged."""
    taken = given = 0

    def counted() -> Iterator[bytes]:
        nonlocal taken
        for piece in packed:
            taken += len(piece)
            yield piece

    try:
        for piece in unpack(counted()):
            given += len(piece)
            if given > EXPANSION_GRACE and given > MAX_EXPANSION * taken:
                raise Damaged(f"compressed input expands more than {MAX_EXPANSION} times")
            yield piece
    except zlib.error as error:
        raise Damaged(f"compressed input is damaged: {error}") from None


def _gunzipped(packed: Iterator[bytes]) -> Iterator[bytes]:
    """The decompressed bytes of a gzip stream, which may have several members."""
    member: Any = None
    for data in packed:
        while data:
            if member is None:
                data = data.lstrip(b"\0")  # padding between members, as tar and tapes leave it
                member = zlib.decompressobj(wbits=31) if data else None
                continue
            before = member.copy()
            try:
                yield member.decompress(data, _READ)
            except zlib.error:
                # zlib drops the output of a piece before the damage in it: feed it byte by byte to get all
                yield from (before.decompress(data[at : at + 1]) for at in range(len(data)))
                raise
            if member.eof:
                data, member = member.unused_data, None
            else:
                data = member.unconsumed_tail
    if member is not None:
        raise Damaged(_EARLY)


def _unzstd(packed: Iterator[bytes]) -> Iterator[bytes]:
    """The decompressed bytes of a zstd stream, which may have several frames."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading .zst", "zstd") from None
    frame: Any = None
    # the output cannot be limited, and 4 bytes can stand for 128 kB: 1 kB expands to 32 MB at most
    for data in (piece[at : at + 1024] for piece in packed for at in range(0, len(piece), 1024)):
        while data:
            if frame is None:
                frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
            try:
                yield frame.decompress(data)
            except zstandard.ZstdError as error:
                if "too much memory" in str(error):
                    raise Damaged(_FAR_BACK) from None
                raise zlib.error(str(error)) from error
            data = frame.unused_data
            frame = None if frame.eof else frame
    if frame is not None:
        raise Damaged(_EARLY)


_EARLY: Final = "compressed input ends early"
_FAR_BACK: Final = (
    f"compressed input looks back more than {MAX_WINDOW >> 20} MiB (zstd --long):"
    " `zstd -d --long=31 FILE` makes a plain file of it"
)
