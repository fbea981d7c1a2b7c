"""Finds the inputs named on the command line (files, globs, folders, stdin), their codecs and their lines."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, NamedTuple, cast

from relfast.engine.files.io.codecs import Codec, Stream, codec_seen, stream_of
from relfast.engine.files.io.documents import (
    document_in_pipe,
    goes_on_as_lines,
    is_document,
    is_document_on_one_line,
)
from relfast.engine.files.io.foreign import UTF_16, advice_on_folder, packs_texts, refuse_foreign
from relfast.engine.job import MAX_LINE_BYTES
from relfast.errors import Damaged, InputError, MissingExtraError, ReadError, UsageError, told_of
from relfast.json_text import Undecodable, decode_object
from relfast.support.outputs import OF_PROCESS

STDIN: Final = "-"

_FOLDER_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".parquet", ".eval")
_WHOLE: Final = {"parquet": "Parquet", "zip": "a ZIP"}
"""Codecs that a pipe cannot deliver, since their directory is at the end of the file."""

HEAD_BYTES: Final = 1 << 16
"""Number of first bytes by which JSON lines are told from all else."""

_LINES_JUDGED: Final = 3
_JUDGED_BYTES: Final = 4 << 20
"""So many lines, or bytes, tell whether a file that does not begin like JSON is damaged JSON lines."""

_CSV: Final = re.compile(r"\.(csv|tsv)(\.gz|\.zst)?$")

_FRAME_BYTES: Final = 1 << 18
"""Bytes of a zstd file that are read to decompress its first ones: zstd only decompresses whole blocks."""


class Source(NamedTuple):
    """One input.

    Attributes
    ----------
    path
        The path as the user named it; ``-`` is stdin.
    codec
        The input's codec. For stdin and pipes it is ``plain`` here, and recognised when the source is opened.
        ``zip`` and ``json`` are documents that hold samples (`relfast.engine.files.io.documents`).
    seekable
        Whether it is a plain regular file, of which workers read byte ranges themselves.
    size
        Size of a regular file in bytes when it was found.
    """

    path: str
    codec: Codec
    seekable: bool = False
    size: int = 0

    @property
    def regular(self) -> bool:
        """Whether it is a file, which can be read several times, unlike stdin and named pipes."""
        return self.path != STDIN and _is_regular(self.path)

    def open(self) -> Stream:
        """The decompressed bytes, to be read forward; of tables and documents a line per row or sample.

        Raises
        ------
        InputError
            The source cannot be opened or read, or is a document of an unknown kind.
        MissingExtraError
            It is zst and zstandard is not installed.
        """
        if self.codec in ("zip", "json"):
            from relfast.engine.files.io.documents import open_json, open_zip

            return open_zip(self.path) if self.codec == "zip" else open_json(self.path)
        if self.codec in ("csv", "parquet"):
            from relfast.engine.files.io.parquet import csv_lines, parquet_lines

            lines = csv_lines(self.path) if self.codec == "csv" else parquet_lines(self.path)
            return Stream(line + b"\n" for line in lines)
        file = _open(self.path)
        if self.regular:
            return stream_of(file, self.codec)
        try:
            with told_of(self.path):
                head, codec = _first_bytes(file, self.path)
        except InputError:
            Stream(iter(()), file).close()
            raise
        return stream_of(file, codec, head)


def find_sources(inputs: Sequence[str], own: Sequence[str] = ()) -> list[Source]:
    """The sources that the inputs name, in order. Folders and patterns leave out the files in ``own``, which
    an earlier run of the command has written (`relfast.support.outputs.own_outputs`).

    Raises
    ------
    InputError
        An input names nothing that can be read, or a file of a format that is not read (see `foreign`).
    UsageError
        Stdin is named twice.
    """
    if list(inputs).count(STDIN) > 1:
        raise UsageError("stdin (-) can be read only once")
    return [_source(path) for name in inputs for path in paths_of(name, own)]


def paths_in(sources: Iterable[Source]) -> list[str]:
    """The paths of sources."""
    return [source.path for source in sources]


def paths_of(name: str, own: Sequence[str] = ()) -> list[str]:
    """The files that one input names: the file itself, those in a folder, or those that match a pattern."""
    if name == STDIN:
        return [name]
    path = Path(name)
    if path.is_dir():
        children = list(path.iterdir())
        found = _without(own, inputs_among(map(str, children)))
        if not found:
            looked = f"looked for {', '.join(_FOLDER_SUFFIXES)}"
            advice = advice_on_folder([child.name for child in children], name)
            raise InputError(f"no input in this folder ({looked}){advice}", file=name)
        return found
    try:
        os.stat(path)
    except OSError as error:
        import glob  # imported late: few inputs are patterns

        matches = _without(own, sorted(match for match in glob.glob(name) if os.path.isfile(match)))
        if matches:
            return matches
        if glob.has_magic(name):
            raise InputError("nothing matches this pattern", file=name) from None
        if error.errno != errno.ENOENT:
            raise InputError(error.strerror or str(error), file=name) from None
        where = f": it is a link to {os.readlink(path)}, which is not there" if path.is_symlink() else ""
        raise InputError(f"no such file{where}", file=name) from None
    return [name]


def inputs_among(paths: Iterable[str]) -> list[str]:
    """The files of a folder that are read if the user names the folder, in order; no files of scored rows."""
    found = sorted(path for path in paths if path.endswith(_FOLDER_SUFFIXES))
    return [path for path in found if ".scored." not in path.rpartition("/")[2]]


def _without(own: Sequence[str], paths: list[str]) -> list[str]:
    real = {os.path.realpath(path) for path in own}
    return [path for path in paths if os.path.realpath(path) not in real]


def _source(path: str) -> Source:
    """The source of one path; a regular file is opened to see its codec."""
    if path == STDIN or not _is_regular(path):
        return Source(path, "plain")
    # opened even if the name tells the codec: an input that cannot be read should be reported at once
    with told_of(path), open(path, "rb") as file:
        head = head_of(file)
        size = os.fstat(file.fileno()).st_size
    codec = codec_of(path, head)
    check_foreign(path, head, codec)
    return Source(path, codec, seekable=codec == "plain", size=size)


def head_of(file: BinaryIO) -> bytes:
    """The first bytes of a file, as many as tell its codec and whether it is read."""
    head = file.read(HEAD_BYTES)
    if codec_seen(head) == "zst":
        head += file.read(_FRAME_BYTES)
    if head.count(b"\n") < _LINES_JUDGED and not _is_text(head):
        head += file.read(_JUDGED_BYTES)
    return head


def check_foreign(path: str, head: bytes, codec: Codec) -> None:
    """Raise `InputError` if a file is of a format that is not read, whatever its name says; ``codec`` is from
    `codec_of`. What is compressed in a way that is read is looked into."""
    if codec == "csv" and head.startswith(UTF_16):
        return
    _refuse(path, head, by_name=codec in ("plain", "zip"))
    packed = codec_seen(head)
    if packed in ("gz", "zst"):
        _refuse(path, _unpacked(head, packed, _JUDGED_BYTES), by_name=False)


def _refuse(path: str, head: bytes, *, by_name: bool) -> None:
    if not _is_damaged_text(head):
        refuse_foreign(path, head, by_name=by_name)


def codec_of(path: str, head: bytes) -> Codec:
    """The codec of a file by its name, or else by its first bytes ``head``. If the name says gzip or zstd and
    the first bytes are something else, these decide."""
    by_name: dict[str, Codec] = {".gz": "gz", ".zst": "zst", ".parquet": "parquet"}
    seen = _codec_of_bytes(head)
    codec = by_name.get(Path(path).suffix, seen)
    if codec in ("gz", "zst") and (seen != "plain" or _is_text(head) or goes_on_as_lines(head)):
        codec = seen
    text = _unpacked(head, codec).removeprefix(b"\xef\xbb\xbf")
    if _is_text(text):
        if is_document(text):
            return "json"
        if b"\n" not in text.rstrip() and os.path.isfile(path):
            with open(path, "rb") as file:
                return "json" if is_document_on_one_line(file) else codec
        return codec
    return "csv" if codec in ("plain", "gz", "zst") and _CSV.search(path.lower()) else codec


def _codec_of_bytes(head: bytes) -> Codec:
    """The codec that the first bytes indicate, if they are no damage to the first of several lines."""
    seen = codec_seen(head)
    if seen in ("gz", "zst"):
        return "plain" if goes_on_as_lines(head) and not _unpacked(head, seen) else seen
    # each ZIP has a zero byte in its first header
    is_text = b"\0" not in head[:16] if seen == "zip" else _is_damaged_text(head)
    return "plain" if is_text else seen


def _is_damaged_text(head: bytes) -> bool:
    """Whether first bytes that are none of JSON lines are damage to the first line. In binary formats there
    is a zero byte soon; archives of texts are told by their headers."""
    return b"\0" not in head[:16] and not packs_texts(head) and goes_on_as_lines(head)


def _is_text(head: bytes) -> bool:
    """Whether JSON may begin like this."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")


def _unpacked(head: bytes, codec: Codec, most: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file, decompressed as far as possible; empty if they are damaged or no text."""
    if codec == "plain":
        return head
    if codec not in ("gz", "zst"):
        return b""
    try:
        return stream_of(io.BytesIO(head), codec).read(most)[:most]
    except (Damaged, MissingExtraError):
        return b""  # the error is raised when the file is read


def _is_regular(path: str) -> bool:
    if path.startswith(OF_PROCESS):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _open(path: str) -> IO[bytes]:
    if path == STDIN:
        if sys.stdin is None:
            raise InputError("it is closed", file="stdin")
        return sys.stdin.buffer
    with told_of(path):
        return open(path, "rb")


def _first_bytes(file: IO[bytes], path: str) -> tuple[bytes, Codec]:
    """Read the first bytes of stdin or a pipe, and recognise the codec. Documents raise `InputError`."""
    head = b""
    # `read1` returns what is there: the writer may wait for the row of its first line before it goes on
    read = cast(io.BufferedReader, file).read1
    while len(head) < 4 and (more := read(HEAD_BYTES)):
        head += more
    # zstd only decompresses whole blocks; what cannot be decompressed may be lines
    while codec_seen(head) != "plain" and not _unpacked(head, codec_seen(head)) and len(head) < _FRAME_BYTES:
        if goes_on_as_lines(head) or not (more := read(_FRAME_BYTES)):
            break
        head += more
    codec = _codec_of_bytes(head)
    text = _unpacked(head, codec).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"{", b"[")):
        # an archive's first bytes have no line of which the writer may wait for the row
        while b"\n" not in text and len(head) < HEAD_BYTES and (more := read(HEAD_BYTES)):
            head += more
            text = _unpacked(head, codec).removeprefix(b"\xef\xbb\xbf").lstrip()
        while True:
            try:
                _refuse(path, head, by_name=False)
                _refuse(path, _unpacked(head, codec, _JUDGED_BYTES), by_name=False)
                break
            except InputError:
                # the line behind may show that it is a damaged one
                if len(head) > _JUDGED_BYTES or not (more := read(HEAD_BYTES)):
                    raise
                head += more
        text = _unpacked(head, codec)
    if codec in _WHOLE:
        raise InputError(f"{_WHOLE[codec]} cannot be read from a pipe: name the file", file=path)
    # what looks like a document is judged by the lines behind it
    while (kind := document_in_pipe(text)) and text.count(b"\n") < _LINES_JUDGED and len(head) < _FRAME_BYTES:
        if not (more := read(HEAD_BYTES)):
            break
        head += more
        text = _unpacked(head, codec)
    if kind is not None:
        raise InputError(f"{kind} cannot be read from a pipe: name the file", file=path)
    return head, codec


def iterate_lines(path: str, longest: int = MAX_LINE_BYTES) -> Iterator[bytes]:
    """The lines (see `lines_of`) of all files that ``path`` names (see `find_sources`), one after the other.

    Raises
    ------
    InputError
        A file does not exist, or cannot be read to its end.
    """
    for source in find_sources([path]):
        yield from lines_of(source, longest)


def objects_in(lines: Iterable[bytes], path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects in a file's lines, each as (line number, object); blank lines are skipped.

    Raises
    ------
    InputError
        A line is no JSON object.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = decode_object(line)
            except Undecodable as error:
                raise InputError(str(error), file=path, line=number) from None
            yield number, row


def lines_of(source: Source, longest: int = MAX_LINE_BYTES) -> Generator[bytes]:
    """The lines of an input in any codec, without line ends; rows of tables and samples of documents as JSON;
    a `LongLine` in place of each line that has more than ``longest`` bytes.

    Raises
    ------
    InputError
        The input cannot be read to its end.
    """
    with _opened(source) as stream:
        yield from stream.lines(longest)


def pieces_of(source: Source) -> Iterator[bytes]:
    """The bytes of an input's lines, each with its end, in pieces of any size; errors as in `lines_of`."""
    last = b"\n"
    with _opened(source) as stream:
        for piece in stream.pieces:
            last = piece or last
            yield piece
    if not last.endswith(b"\n"):
        yield b"\n"


@contextmanager
def _opened(source: Source) -> Iterator[Stream]:
    """The stream of an input; what is wrong with it becomes an `InputError`."""
    try:
        with told_of(source.path, ReadError), source.open() as stream:
            yield stream
    except Damaged as error:
        raise InputError(str(error), file=source.path) from None
