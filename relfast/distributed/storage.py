"""Reads and writes files by path or, through fsspec, by URL."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from relfast.engine.files.io.codecs import CHUNK
from relfast.engine.files.io.recognise import head_of
from relfast.engine.files.io.sources import inputs_among, paths_of
from relfast.errors import InputError, MissingExtraError, OutputError, ReadError, RelfastError
from relfast.support.outputs import writing

_GLOB: Final = frozenset("*?[")

_VERSIONS: Final = (
    *("ETag", "etag", "blob_id", "md5Hash", "md5", "checksum", "generation"),
    *("mtime", "LastModified", "last_modified", "updated", "modified", "created"),
)
"""Names of file systems for an object's version, which changes with the object; the most reliable first."""


DRAFT: Final = ".draft-"
"""How the names of folders begin in which files are being written."""


def is_url(path: str) -> bool:
    """Whether a path has a protocol, such as ``s3://…`` or ``memory://…``."""
    return "://" in path


def one_line(error: BaseException) -> str:
    """What an error of another package says."""
    text = getattr(error, "strerror", None) or " ".join(str(error).split())[:200] or type(error).__name__
    return str(text)


@contextlib.contextmanager
def _opened(path: str, kind: type[ReadError] | type[OutputError] = ReadError) -> Iterator[tuple[Any, str]]:
    """The fsspec file system of a path or URL, and the path within it.

    Every store raises errors of its own; within the context they become errors of ``kind`` with a message of
    one line. Raises `MissingExtraError`, and `InputError` for a URL that no installed package opens.
    """
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("reading or writing URLs", "ray") from None
    try:
        system, at = fsspec.core.url_to_fs(path) if is_url(path) else (fsspec.filesystem("file"), path)
    except (ImportError, ValueError) as error:  # its package is missing, or the protocol is unknown
        raise InputError(one_line(error), file=path) from None
    try:
        yield system, at
    except RelfastError:
        raise
    except Exception as error:
        if kind is OutputError:
            raise OutputError(path, one_line(error)) from error
        raise ReadError(one_line(error), file=path) from error


def expand(name: str) -> list[str]:
    """The files of an input, which is a file, a pattern or a folder.

    Raises
    ------
    InputError
        There is no such file, or none that can be an input.
    """
    if not is_url(name):
        return paths_of(name)
    with _opened(name) as (system, path):
        if _GLOB & set(path):
            found, none = (
                [at for at in sorted(system.glob(path)) if system.isfile(at)],
                "nothing matches this",
            )
        elif system.isdir(path):
            found, none = inputs_among(system.ls(path, detail=False)), "no input in this folder"
        else:
            found, none = [path] if system.exists(path) else [], "no such file"
        if not found:
            raise InputError(none, file=name)
        return [str(system.unstrip_protocol(at)) for at in found]


def size_and_version(path: str) -> tuple[int, str]:
    """Size of a file in bytes, and a version text that changes with the file. Raises `ReadError`."""
    with _opened(path) as (system, at):
        system.invalidate_cache(at)  # fsspec caches listings
        entry = system.info(at)
        # a node's fsspec may give other fields than the driver's
        version = next((entry[name] for name in _VERSIONS if entry.get(name) is not None), "")
        return int(entry.get("size") or 0), str(version).strip('"')


def head(path: str, length: int, start: int = 0) -> bytes:
    """Up to ``length`` bytes from ``start`` on. Raises `ReadError`."""
    with _opened(path) as (system, at), system.open(at, "rb", cache_type="none") as file:
        file.seek(start)
        data: bytes = file.read(length)
        return data


def first_bytes(path: str) -> bytes:
    """The first bytes of a file, as many as tell its codec (`head_of`). Raises `ReadError`."""
    with _opened(path) as (system, at), system.open(at, "rb", cache_type="none") as file:
        return head_of(file)


@contextlib.contextmanager
def at_hand(path: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """A local file that holds bytes ``start`` to ``end`` of a path or URL, and the place of its first byte
    in that. Raises `ReadError`."""
    if not is_url(path):
        yield path, 0
        return
    with tempfile.TemporaryDirectory(prefix="relfast-") as folder:
        # the same name, since readers recognise formats by it, too
        target = os.path.join(folder, os.path.basename(path) or "input")
        with _opened(path) as (system, at), system.open(at, "rb") as source, open(target, "wb") as file:
            source.seek(start)
            left = end - start
            while piece := source.read(min(CHUNK, left)):
                file.write(piece)
                left -= len(piece)
        yield target, start


class Folder:
    """An output folder, by path or URL. Files appear in it complete or not at all. Picklable."""

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") if is_url(path) else os.path.abspath(path)

    def join(self, name: str) -> str:
        return f"{self.path}/{name}" if name else self.path

    def make(self, name: str) -> None:
        """Make the folder, and the folder ``name`` within it. Raises `OutputError`."""
        with _opened(self.join(name), OutputError) as (system, at):
            system.makedirs(at, exist_ok=True)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it does not exist or cannot be read."""
        with contextlib.suppress(InputError):
            return head(self.join(name), size_and_version(self.join(name))[0])
        return None

    def names(self, folder: str = "") -> list[str]:
        """Sorted names of the entries of this folder, or of one within it; none if it does not exist."""
        with _opened(self.join(folder)) as (system, at):
            found = system.ls(at, detail=False) if system.isdir(at) else ()
            return sorted(str(path).rstrip("/").rpartition("/")[2] for path in found)

    def write(self, name: str, data: bytes) -> None:
        """Write a file. Raises `OutputError`."""
        with self.draft(name) as path, writing(self.join(name)):
            Path(path).write_bytes(data)

    def remove(self, name: str) -> None:
        """Remove a file or folder in this folder, if it exists. Raises `OutputError`."""
        with _opened(self.join(name), OutputError) as (system, at):
            if system.exists(at):
                system.rm(at, recursive=True)

    @contextlib.contextmanager
    def draft(self, name: str) -> Iterator[str]:
        """A local path to write a file to, which becomes ``name`` when the context is left: by a rename
        within a local folder, by an upload to a URL."""
        within = None if is_url(self.path) else self.path
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=within, ignore_cleanup_errors=True) as place:
            path = os.path.join(place, os.path.basename(name))
            yield path
            with _opened(self.join(name), OutputError) as (system, at):
                if within is None:
                    system.put_file(path, at)
                else:
                    os.replace(path, at)
