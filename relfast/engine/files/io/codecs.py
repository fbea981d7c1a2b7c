"""Inputs as streams of bytes, decompressed, with a limit on how much these may expand; and the one table of
the ways to compress that are read and written."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import chain
from typing import IO, Any, Final, NamedTuple, Self

from relfast.errors import Damaged, MissingExtraError, UsageError
from relfast.json_text import LongLine
from relfast.support.outputs import TABLES

CHUNK: Final = 1 << 20

MAX_EXPANSION: Final = 1_000
"""Largest ratio of decompressed to compressed bytes, checked beyond 64 MB. JSON text reaches 30."""

MAX_WINDOW: Final = 2**27
"""How far back a stream may look, which its decoder holds in memory: the default limit of zstd itself."""

EXPANSION_GRACE: Final = 64 * 2**20
_READ: Final = 1 << 17

Member = Any
"""The decoder of a member of a compressed stream, which may have several one after the other. As those of bz2
and lzma, it has ``decompress(data, most)``, ``eof``, ``unused_data``, ``needs_input``, and its own errors."""

Pack = Callable[[bytes], bytes]


class _Gzip:
    eof, unused_data, needs_input = False, b"", True

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)
        self._error: zlib.error | None = None

    def decompress(self, data: bytes, most: int, /) -> bytes:
        if self._error is not None:
            raise self._error
        data = data or self._inflate.unconsumed_tail
        before = self._inflate.copy()
        try:
            text = self._inflate.decompress(data, most)
        except zlib.error:
            # zlib drops the output of a piece before the damage in it: feed it byte by byte to get all
            found, self.needs_input = [], False
            try:
                for at in range(len(data)):
                    found.append(before.decompress(data[at : at + 1]))
            except zlib.error as error:
                self._error = error
            return b"".join(found)
        self.eof, self.unused_data = self._inflate.eof, self._inflate.unused_data
        self.needs_input = not self._inflate.unconsumed_tail
        return text


class _Zstd:
    eof, unused_data, needs_input = False, b"", True

    def __init__(self) -> None:
        self._frame = _module("zstandard").ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()

    def decompress(self, data: bytes, most: int, /) -> bytes:
        text: bytes = self._frame.decompress(data)
        self.eof, self.unused_data = self._frame.eof, self._frame.unused_data
        return text


def _module(name: str) -> Any:
    """A module, imported when a file first needs it. Raises `MissingExtraError`."""
    try:
        return import_module(name)
    except ImportError:
        if name == "zstandard":
            raise MissingExtraError("reading or writing .zst", "zstd") from None
        raise UsageError(f"this Python was built without {name}, which the file needs") from None


class Packing(NamedTuple):
    """A way to compress bytes: all that relfast knows about it.

    Attributes
    ----------
    suffix
        Ending of the names of such files.
    magic
        How a member begins.
    member, pack
        Functions that return the decoder of a member, and what makes a member of bytes.
    grep
        The command that searches such files.
    far
        The command that unpacks a file that looks back further than `MAX_WINDOW`.
    step
        Most compressed bytes that a decoder is given at a time.
    by_blocks
        Whether the decoder checks blocks, so that of a damaged file all before the last block is right.
        Others notice damage late, and give lines that nobody wrote until then.
    """

    suffix: str
    magic: bytes
    member: Callable[[], Member]
    pack: Callable[[], Pack]
    grep: str
    far: str = ""
    step: int = _READ
    by_blocks: bool = False


PACKINGS: Final = {
    "gz": Packing(
        ".gz", b"\x1f\x8b", _Gzip, lambda: partial(_module("gzip").compress, compresslevel=6, mtime=0),
        "zgrep",
    ),
    # the decoder's output cannot be limited, and 4 bytes can stand for 128 kB: 1 kB expands to 32 MB at most
    "zst": Packing(
        ".zst", b"\x28\xb5\x2f\xfd", _Zstd, lambda: _module("zstandard").ZstdCompressor().compress,
        "zstdgrep", "zstd -d --long=31", step=1024,
    ),
    "bz2": Packing(
        ".bz2", b"BZh", lambda: _module("bz2").BZ2Decompressor(), lambda: _module("bz2").compress, "bzgrep",
        by_blocks=True,
    ),
    # a member has about a megabyte: higher presets look back further, and take ten times as long
    "xz": Packing(
        ".xz", b"\xfd7zX", lambda: _module("lzma").LZMADecompressor(memlimit=MAX_WINDOW + (1 << 20)),
        lambda: partial(_module("lzma").compress, preset=1), "xzgrep", "xz -dk",
    ),
}  # fmt: skip
"""Codec → how it packs. What is read and written, and what messages and pages of help say of it, follows."""

SUFFIXES: Final = tuple(packing.suffix for packing in PACKINGS.values())

LINES: Final = (".jsonl", *(".jsonl" + suffix for suffix in SUFFIXES))
"""Endings of JSON lines, plain and packed."""

ROWS: Final = (*LINES, *TABLES)
"""Endings of the formats in which scored rows are written."""

Codec = str
"""``plain``, one of `PACKINGS`, a table (``parquet``, ``csv``), or a document of samples (``zip``,
``json``)."""

ZIP_MAGIC: Final = b"PK\x03\x04"
_MAGIC: Final = (
    *((packing.magic, name) for name, packing in PACKINGS.items()),
    (b"PAR1", "parquet"),
    (ZIP_MAGIC, "zip"),
)
MAGIC_BYTES: Final = max(len(magic) for magic, _ in _MAGIC)


def codec_seen(head: bytes) -> Codec:
    """The codec that the first bytes of a file indicate by their magic number; ``plain`` if none."""
    return next((codec for magic, codec in _MAGIC if head.startswith(magic)), "plain")


def packing_named(path: str) -> Packing | None:
    """The packing that the end of a name promises, in upper or lower case."""
    return next((each for each in PACKINGS.values() if path.lower().endswith(each.suffix)), None)


def encoder(path: str) -> Pack | None:
    """The function that compresses what is written to a path, or None. Each call makes a member of its own,
    so that files can be cut and continued between them. Raises `MissingExtraError`."""
    packing = packing_named(path)
    return None if packing is None else packing.pack()


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


def stream_of(file: IO[bytes], codec: Codec, head: bytes = b"") -> Stream:
    """The bytes of a file or pipe, decompressed if ``codec`` is one of `PACKINGS`; ``head`` are bytes that
    were read from the file already. Reading raises `MissingExtraError` if a package for it is missing."""
    pieces = chain((head,), iter(partial(file.read, _READ), b""))
    packing = PACKINGS.get(codec)
    again = None if head or not file.seekable() else partial(_read_again, file)
    return Stream(pieces if packing is None else _unpacked(pieces, packing, again), file)


def _read_again(file: IO[bytes], begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


def _unpacked(
    packed: Iterable[bytes], packing: Packing, again: Callable[[int, int], bytes] | None = None
) -> Iterator[bytes]:
    """The decompressed bytes of the members. Raises `Damaged` if they expand too much, or are damaged.
    ``again`` reads the bytes of a range of ``packed`` once more, where that is possible."""
    taken = given = begin = before = 0
    member: Member | None = None
    for piece in packed:
        taken += len(piece)
        for at in range(0, len(piece), packing.step):
            data = piece[at : at + packing.step]
            while data or not (member is None or member.needs_input):
                if member is None:
                    data = data.lstrip(b"\0")  # padding between members, as tar and tapes leave it
                    member = packing.member() if data else None
                    begin = taken - len(piece) + min(at + packing.step, len(piece)) - len(data)
                    before = given
                    continue
                try:
                    text = member.decompress(data, _READ)
                except Exception as error:  # each decoder has errors of its own
                    if again is not None and packing.by_blocks:
                        damaged = taken - len(piece) + at
                        yield _before_damage(packing, again, begin, damaged, given - before)
                    why = f"is damaged: {error}"
                    if "too much memory" in why or "Memory usage limit" in why:
                        far = f"looks back more than {MAX_WINDOW >> 20} MiB"
                        why = f"{far}: `{packing.far} FILE` makes a plain file of it"
                    raise Damaged(f"compressed input {why}") from None
                given += len(text)
                if given > EXPANSION_GRACE and given > MAX_EXPANSION * taken:
                    raise Damaged(f"compressed input expands more than {MAX_EXPANSION} times")
                yield text
                data, member = (member.unused_data, None) if member.eof else (b"", member)
    if member is not None:
        raise Damaged("compressed input ends early")


def _before_damage(
    packing: Packing, again: Callable[[int, int], bytes], begin: int, damaged: int, given: int
) -> bytes:
    """What a member that begins at ``begin`` has before its damage, which its decoder has met in the bytes
    from ``damaged`` on; without the ``given`` bytes that are known. The decoder has dropped the output of the
    call that failed: another unpacks the member once more, and those bytes one by one."""
    member, found = packing.member(), bytearray()
    far = (again(at, min(at + packing.step, damaged)) for at in range(begin, damaged, packing.step))
    near = (bytes((byte,)) for byte in again(max(begin, damaged), damaged + packing.step))
    with suppress(Exception):
        for data in chain(far, near):
            while data or not member.needs_input:
                text, data = member.decompress(data, max(1, min(given, _READ))), b""
                found += text[given:]
                given = max(0, given - len(text))
    return bytes(found)
