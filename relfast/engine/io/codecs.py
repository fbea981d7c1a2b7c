"""Compressed inputs read forward: gzip and zstd, with a bound on how much they may expand."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final, Literal, Protocol, Self

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
    """Bytes to be read forward; a context manager, and an iterator of lines with their ends."""

    _damage: Damaged | None = None

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes, or about as many (of zstd 32 MB more at the worst, of lines a whole one);
        empty at the end.

        Raises
        ------
        Damaged
            It is broken, ends early, or expands beyond `MAX_EXPANSION`.
        """
        parts: list[bytes] = []
        got = 0
        while got < size and self._damage is None:
            try:
                out = self._some(size - got)
            except Damaged as error:
                self._damage = error  # told when what came before it has been delivered
                break
            if out is None:
                break
            parts.append(out)
            got += len(out)
        if not got and self._damage is not None:
            raise self._damage
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _some(self, limit: int) -> bytes | None:
        """The next bytes, perhaps none; None at the end."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

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


class Plain(Stream):
    """A file or pipe as it is; ``head`` are bytes that were read from it already."""

    def __init__(self, file: IO[bytes], head: bytes = b"") -> None:
        self._file, self._head = file, head

    def read(self, size: int, /) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._file.read(size)

    def close(self) -> None:
        if self._file is not getattr(sys.stdin, "buffer", None):  # the caller's, and open before us
            self._file.close()


class _Codec(Protocol):
    slice: int
    """Most compressed bytes to feed at once."""

    def feed(self, data: bytes, limit: int) -> tuple[bytes, bytes]:
        """Decompressed bytes, at most about ``limit``, and what of ``data`` is left.

        Raises `zlib.error`, or `Damaged` where it knows what to do about it.
        """

    @property
    def complete(self) -> bool:
        """Whether the stream may end here."""


class Gunzip:
    """Members of a gzip stream, one after the other."""

    slice = _READ

    def __init__(self) -> None:
        self._member: Any = zlib.decompressobj(wbits=31)
        self._fresh = True
        self._broken: zlib.error | None = None

    def feed(self, data: bytes, limit: int) -> tuple[bytes, bytes]:
        if self._broken is not None:
            raise self._broken
        if self._fresh:
            data = data.lstrip(b"\0")  # padding between members, as tar and tapes leave it
            if not data:
                return b"", b""
            self._fresh = False
        before = self._member.copy()
        try:
            out = self._member.decompress(data, limit)
        except zlib.error:
            # zlib drops what it made of a piece before the fault in it: a byte at a time loses nothing
            self._member = before
            return self._salvage(data), data
        rest: bytes = self._member.unconsumed_tail
        if self._member.eof:
            rest = self._member.unused_data
            self._member = zlib.decompressobj(wbits=31)
            self._fresh = True
        return out, rest

    def _salvage(self, data: bytes) -> bytes:
        parts = []
        for at in range(len(data)):
            try:
                parts.append(self._member.decompress(data[at : at + 1]))
            except zlib.error as error:
                self._broken = error
                break
        return b"".join(parts)

    @property
    def complete(self) -> bool:
        return self._fresh


_FAR_BACK: Final = (
    f"compressed input looks back more than {MAX_WINDOW >> 20} MiB (zstd --long):"
    " `zstd -d --long=31 FILE` makes a plain file of it"
)


class Unzstd:
    """Frames of a zstd stream, one after the other."""

    # its output cannot be limited, and 4 bytes can stand for 128 kB: 1 kB expands to 32 MB at most
    slice = 1 << 10

    def __init__(self) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("reading .zst", "zstd") from None
        self._module = zstandard
        self._frame: Any = None

    def feed(self, data: bytes, limit: int) -> tuple[bytes, bytes]:
        if self._frame is None:
            self._frame = self._module.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        try:
            out: bytes = self._frame.decompress(data)
        except self._module.ZstdError as error:
            if "too much memory" in str(error):
                raise Damaged(_FAR_BACK) from None
            raise zlib.error(str(error)) from error
        rest = b""
        if self._frame.eof:
            rest = self._frame.unused_data
            self._frame = None
        return out, rest

    @property
    def complete(self) -> bool:
        return self._frame is None


class Expanding(Stream):
    """A compressed stream read forward, with a bound on how much it may expand."""

    def __init__(self, raw: Stream, codec: _Codec) -> None:
        self._raw, self._codec = raw, codec
        self._held = memoryview(b"")
        self._pending = b""
        self._taken = self._given = 0

    def _some(self, limit: int) -> bytes | None:
        data = self._pending or self._next_slice()
        if not data:
            if not self._codec.complete:
                raise Damaged("compressed input ends early")
            return None
        try:
            out, self._pending = self._codec.feed(data, limit)
        except zlib.error as error:
            raise Damaged(f"compressed input is damaged: {error}") from None
        self._given += len(out)
        if self._given > EXPANSION_GRACE and self._given > MAX_EXPANSION * self._taken:
            raise Damaged(f"compressed input expands more than {MAX_EXPANSION} times")
        return out

    def _next_slice(self) -> bytes:
        if not self._held:
            self._held = memoryview(self._raw.read(_READ))
            self._taken += len(self._held)
        piece, self._held = self._held[: self._codec.slice], self._held[self._codec.slice :]
        return bytes(piece)

    def close(self) -> None:
        self._raw.close()


def expanded(stream: Stream, codec: str) -> Stream:
    """What a stream in ``gz`` or ``zst`` stands for, itself in another codec. Raises `MissingExtraError`."""
    if codec == "gz":
        return Expanding(stream, Gunzip())
    return Expanding(stream, Unzstd()) if codec == "zst" else stream
