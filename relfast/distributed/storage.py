"""Reads and writes files by path or, through fsspec, by URL."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from relfast.engine.files.io.codecs import CHUNK
from relfast.engine.files.io.sources import inputs_among, paths_of
from relfast.errors import InputError, MissingExtraError, OutputError, ReadError, RelfastError, told_of
from relfast.support.outputs import writing

_GLOB: Final = frozenset("*?[")

_VERSIONS: Final = (
    *("ETag", "etag", "blob_id", "md5Hash", "md5", "checksum", "generation"),
    *("mtime", "LastModified", "last_modified", "updated", "modified", "created"),
)
"""Names of file systems for an object's version, which changes with the object; the most reliable first."""


def is_url(path: str) -> bool:
    """Whether a path has a protocol, such as ``s3://…`` or ``memory://…``."""
    return "://" in path


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
        raise InputError(_line(error), file=path) from None
    try:
        yield system, at
    except RelfastError:
        raise
    except Exception as error:
        if kind is OutputError:
            raise OutputError(path, _line(error)) from error
        raise ReadError(_line(error), file=path) from error


def _line(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or " ".join(str(error).split())[:200] or type(error).__name__
    return str(text)


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
            found = [at for at in sorted(system.glob(path)) if system.isfile(at)]
            if not found:
                raise InputError("nothing matches this pattern", file=name)
        elif system.isdir(path):
            found = inputs_among(system.ls(path, detail=False))
            if not found:
                raise InputError("no input in this folder", file=name)
        elif system.exists(path):
            found = [path]
        else:
            raise InputError("no such file", file=name)
        return [str(system.unstrip_protocol(at)) for at in found]


def size_and_version(path: str) -> tuple[int, str]:
    """Size of a file in bytes, and a version text that changes with the file. Raises `InputError`."""
    if not is_url(path):
        with told_of(path):
            stat = os.stat(path)
        return stat.st_size, str(stat.st_mtime_ns)
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


@contextlib.contextmanager
def local_copy(path: str, start: int = 0, end: int | None = None) -> Iterator[str]:
    """A temporary local file with bytes ``start`` to ``end`` of a URL (None: to its end).

    Raises
    ------
    ReadError
        The URL cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="relfast-") as folder:
        # the same name, since readers recognise formats by it, too
        target = os.path.join(folder, os.path.basename(path) or "input")
        with _opened(path) as (system, at), system.open(at, "rb") as source, open(target, "wb") as file:
            source.seek(start)
            left = math.inf if end is None else end - start
            while piece := source.read(int(min(CHUNK, left))):
                file.write(piece)
                left -= len(piece)
        yield target


class Folder:
    """An output folder, by path or URL. Files appear in it complete or not at all. Picklable."""

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") if is_url(path) else os.path.abspath(path)

    def join(self, name: str) -> str:
        return f"{self.path}/{name}"

    def make(self, name: str = "") -> None:
        """Make the folder, or the folder ``name`` within it. Raises `OutputError`."""
        with _opened(self.join(name) if name else self.path, OutputError) as (system, at):
            system.makedirs(at, exist_ok=True)

    def size(self, name: str) -> int | None:
        """Size of a file in bytes; None if it does not exist."""
        try:
            return size_and_version(self.join(name))[0]
        except InputError:
            return None

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it does not exist or cannot be read."""
        with contextlib.suppress(InputError):
            return head(self.join(name), size_and_version(self.join(name))[0])
        return None

    def names(self, folder: str = "") -> list[str]:
        """Sorted names of the entries of this folder, or of one within it; none if it does not exist."""
        with _opened(self.join(folder) if folder else self.path) as (system, at):
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
        within a local folder, by an upload to a URL.
        """
        if is_url(self.path):
            with tempfile.TemporaryDirectory(prefix="relfast-") as folder:
                path = os.path.join(folder, os.path.basename(name))
                yield path
                with _opened(self.join(name), OutputError) as (system, at):
                    system.put_file(path, at)
            return
        # beside the target, so that the last step is a rename
        within, base = os.path.split(name)
        path = self.join(os.path.join(within, f".{uuid.uuid4().hex}.part.{base}"))
        try:
            yield path
            with writing(self.join(name)):
                os.replace(path, self.join(name))
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
