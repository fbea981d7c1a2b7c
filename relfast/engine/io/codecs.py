"""Compressed inputs read forward: gzip and zstd, with a bound on how much they may expand."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, Any, Final, Literal, Self

from relfast.errors import InputError, MissingExtraError

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
    """The codec that first bytes speak of."""
    return next((codec for magic, codec in _MAGIC if head.startswith(magic)), "plain")


MAX_EXPANSION: Final = 1_000
"""Largest ratio of decompressed to compressed bytes, beyond the first 64 MB. JSON text reaches 30."""

MAX_WINDOW: Final = 2**27
"""Bytes of a zstd stream that its decoder looks back on, and holds: as many as zstd itself takes unasked."""

EXPANSION_GRACE: Final = 64 * 2**20
_READ: Final = 1 << 17


class Damaged(InputError):
    """A compressed stream that ends early or is broken; what came before it has been delivered."""


class Stream:
    """Bytes to be read forward; a context manager, and an iterator of lines with their ends.

    Parameters
    ----------
    pieces
        The bytes, in pieces of any size; they may raise `Damaged`.
    files
        What is closed with it.
    """

    def __init__(self, pieces: Iterator[bytes], *files: Any) -> None:
        self.pieces, self._files = pieces, files
        self._damage: Damaged | None = None

    def read(self, size: int, /) -> bytes:
        """So many bytes and the rest of a piece, 32 MB at the worst (zstd); fewer at the end.

        Raises
        ------
        Damaged
            It is broken, ends early, or expands beyond `MAX_EXPANSION`.
        """
        parts: list[bytes] = []
        got = 0
        while got < size and self._damage is None:
            try:
                piece = next(self.pieces, None)
            except Damaged as error:
                self._damage = error  # told when what came before it has been delivered
                break
            if piece is None:
                break
            parts.append(piece)
            got += len(piece)
        if not got and self._damage is not None:
            raise self._damage
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        for file in self._files:
            if file is not getattr(sys.stdin, "buffer", None):  # the caller's, and open before us
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        while chunk := self.read(CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line + b"\n"
        if rest:
            yield rest


def stream_of(file: IO[bytes], codec: str, head: bytes = b"") -> Stream:
    """What a file or pipe in ``gz`` or ``zst`` stands for, in another codec itself; ``head`` are bytes that
    were read from it already. Reading it raises `MissingExtraError` where zstandard is not installed."""
    pieces = chain((head,), iter(partial(file.read, _READ), b""))
    unpack = {"gz": _gunzipped, "zst": _unzstd}.get(codec)
    return Stream(pieces if unpack is None else _expanded(pieces, unpack), file)


def _expanded(
    packed: Iterable[bytes], unpack: Callable[[Iterator[bytes]], Iterator[bytes]]
) -> Iterator[bytes]:
    """Decompressed bytes, with a bound on how many they may be."""
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
    """Members of a gzip stream, one after the other."""
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
                # zlib drops what it made of a piece before the fault in it: a byte at a time loses nothing
                yield from (before.decompress(data[at : at + 1]) for at in range(len(data)))
                raise
            if member.eof:
                data, member = member.unused_data, None
            else:
                data = member.unconsumed_tail
    if member is not None:
        raise Damaged(_EARLY)


def _unzstd(packed: Iterator[bytes]) -> Iterator[bytes]:
    """Frames of a zstd stream, one after the other."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading .zst", "zstd") from None
    frame: Any = None
    # its output cannot be limited, and 4 bytes can stand for 128 kB: 1 kB expands to 32 MB at most
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
