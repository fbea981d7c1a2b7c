"""Finds the inputs named on the command line (files, globs, folders, stdin), their codecs and their lines."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from relfast.engine.files.io.codecs import LINES, Codec, Stream, stream_of
from relfast.engine.files.io.recognise import advice_on_folder, check_foreign, codec_of, first_bytes, head_of
from relfast.engine.job import MAX_LINE_BYTES
from relfast.errors import Damaged, InputError, ReadError, UsageError, told_of
from relfast.json_text import Undecodable, decode_object
from relfast.support.outputs import OF_PROCESS

STDIN: Final = "-"

_FOLDER_SUFFIXES: Final = (*LINES, *(end.replace(".jsonl", ".ndjson") for end in LINES), ".parquet", ".eval")


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
            A package that decompresses it is not installed.
        """
        with told_of(self.path):
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
                head, codec = first_bytes(file, self.path)
            except BaseException:
                Stream(iter(()), file).close()
                raise
            return stream_of(file, codec, head)


def find_sources(inputs: Sequence[str], own: Sequence[str] = (), *, gold: bool = False) -> list[Source]:
    """The sources that the inputs name, in order. Folders and patterns leave out the files in ``own``, which
    an earlier run of the command has written (`relfast.support.outputs.own_outputs`). Files of ``gold`` may
    be named twice, which changes nothing.

    Raises
    ------
    InputError
        An input names nothing that can be read, or a file of a format that is not read (see `recognise`).
    UsageError
        A file is named twice, be it by a link or in a folder, or a name is empty.
    """
    if "" in inputs:
        raise UsageError("an input has an empty name (a variable that is not set?): this folder is .")
    named = [(name, path) for name in inputs for path in paths_of(name, own)]
    if not gold:
        check_once(named)
    return [_source(path) for _, path in named]


def check_once(named: Iterable[tuple[str, str]]) -> None:
    """Raise `UsageError` if two paths, each with the input that names it, are one file: its rows would count
    twice, and a pipe has them only once."""
    seen: dict[object, str] = {}
    for name, path in named:
        way = path if path in (name, STDIN) else f"{path} (of {name})"
        file: object = path
        with suppress(OSError):  # it is no file of this machine, or opening it says why
            status = os.fstat(0) if path == STDIN else os.stat(path)
            file = status.st_dev, status.st_ino
        if file in seen:
            first = seen[file]
            which = f"{way} is named twice" if way == first else f"{first} and {way} are one file"
            raise UsageError(f"{which}; its rows would count twice: name it once")
        seen[file] = way


def paths_in(sources: Iterable[Source]) -> list[str]:
    """The paths of sources."""
    return [source.path for source in sources]


def paths_of(name: str, own: Sequence[str] = ()) -> list[str]:
    """The files that one input names: the file itself, those in a folder, or those that match a pattern."""
    if name == STDIN:
        return [name]
    path = Path(name)
    if os.path.isdir(name):  # unlike a path's method it raises nothing
        with told_of(name):
            children = os.listdir(name)
        found = _without(own, inputs_among(str(path / child) for child in children))
        if not found:
            looked = f"looked for {', '.join(_FOLDER_SUFFIXES)}"
            advice = advice_on_folder(children, name)
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
        where = ": URLs are read with --engine ray" if "://" in name else where
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
    return open(path, "rb")


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
