"""Output files: the table of what each command writes and reads, the check that is made from it, and files
that appear whole.

No command writes over a file that it reads, whatever names and links the two have (`keep_apart`). A file that
is there is replaced only on request, and stays until what replaces it exists.

Outputs that grow are continued (`GrowingFile`): what a run has written survives its end, whatever ends it. A
run holds its output's lock, writes a header of its settings, appends whole pieces, and cuts back what it
could not write whole. A later run holds its own settings against the header (`check_settings`), drops what a
kill has torn, and goes on. Rows with their journal (`relfast.engine.files.io.writer`), responses
(`relfast.inference.request_log`) and the folders of a cluster (`relfast.distributed.run`) do it by this.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from relfast.errors import OutputError, OutputExistsError, ResumeMismatchError, UsageError
from relfast.json_text import encode_indented

STDOUT: Final = "-"

TABLES: Final = (".parquet", ".csv")
"""Endings of outputs that are made of all rows at the end."""

TABLE_ROWS_SUFFIX: Final = ".rows.jsonl"
"""Suffix of the file of rows from which a table is made at the end of a run, since a table cannot be written
row by row and cut back."""


def check_modes(resume: bool, overwrite: bool) -> None:
    """Raise `UsageError` if an output is to be both continued and started over."""
    if resume and overwrite:
        raise UsageError("--resume and --overwrite exclude each other")


def ends_with(path: str, *endings: str) -> bool:
    """Whether a path has one of these endings, in upper or lower case: what is written depends on it."""
    return path.lower().endswith(endings)


class Written(NamedTuple):
    """A file that a command writes.

    Attributes
    ----------
    by
        The argument that names it.
    name
        Its path: ``{path}`` is the argument, ``{folder}`` and ``{file}`` are its two parts, ``*`` is any
        text.
    only
        Endings of the argument with which it is written; empty: any.
    """

    by: str
    name: str = "{path}"
    only: tuple[str, ...] = ()

    def paths(self, argument: str) -> list[str]:
        """The paths for one value of the argument; of names with ``*``, those that exist."""
        if self.only and not ends_with(argument, *self.only):
            return []
        if "*" not in self.name:
            return [self._filled(argument)]
        import glob

        return glob.glob(self._filled(glob.escape(argument)), include_hidden=True)

    def _filled(self, argument: str) -> str:
        folder, _, file = argument.rpartition("/")
        return self.name.format(path=argument, folder=folder or ("/" if "/" in argument else "."), file=file)


class Files(NamedTuple):
    """What a command writes, and the arguments whose files it reads (what these name beside them
    included)."""

    written: tuple[Written, ...]
    read: tuple[str, ...]


_DRAFTS: Final = "{folder}/.{file}.*part"


def _rows(by: str) -> tuple[Written, ...]:
    """Scored rows, unless they are a table."""
    return Written(by), Written(by, "{path}.journal"), Written(by, _DRAFTS)


def _responses(by: str) -> tuple[Written, ...]:
    return Written(by), Written(by, "{path}.run.json"), Written(by, _DRAFTS)


def _whole(by: str) -> tuple[Written, ...]:
    return Written(by), Written(by, _DRAFTS)


def _report(by: str) -> tuple[Written, ...]:
    names = ("index.html", "records/*.js", "summary_stats.csv", "latex_table.txt", "correlations.txt")
    return tuple(Written(by, f"{{path}}/{name}") for name in (*names, "*.png", "*.svg", "*.pdf"))


_PARTS: Final = ("manifest.json", "run.json", ".lock", "_parts/*", "part-*", ".draft-*/*")

FILES: Final[Mapping[str, Files]] = {
    "score": Files(
        (*_rows("-o"), Written("-o", "{path}" + TABLE_ROWS_SUFFIX, TABLES), *_whole("--summary")),
        ("INPUT", "--data"),
    ),
    "score --engine ray": Files(
        (*(Written("-o", f"{{path}}/{name}") for name in _PARTS), *_whole("--summary")), ("INPUT", "--data")
    ),
    "run": Files(_responses("-o"), ("RECORDS", "--prompt")),
    "bench": Files(
        (
            *_whole("results"),
            *_responses("responses"),
            *_rows("scored rows"),
            *_whole("summary"),
            *_report("report"),
        ),
        ("--records", "--data", "--prompt"),
    ),
    "report": Files(_report("-o"), ("SCORED", "beside SCORED", "--dump")),
    "compare": Files((*_whole("-o"), *_whole("--flips")), ("A B", "beside A B")),
    "generate": Files(_whole("-o"), ("--bank",)),
    "validate": Files((Written("stdout"),), ("FILE",)),
    "audit": Files((Written("stdout"),), ("FILE",)),
    "show": Files((Written("stdout"),), ("FILE",)),
    "embedder add": Files((Written("--name"),), ("SOURCE",)),
}
"""Who writes what, and who reads what. `realign` is a form of `bench`, where the arguments are named by what
stands in them; the functions of Python have the entries of their commands."""


def keep_apart(command: str, given: Mapping[str, Iterable[object]]) -> None:
    """Check that a command writes neither over a file that it reads, nor two things to one file.

    Files are compared by device and inode, so that links and other spellings of a path are found, and by
    their real path where they do not exist yet. Devices may be both; a named pipe may not, as it would wait
    for itself.

    Parameters
    ----------
    command
        Its entry in `FILES`.
    given
        Argument → the paths it names; ``-`` is stdin or stdout. Of inputs these are the files that are read,
        not the folders or patterns on the command line.

    Raises
    ------
    UsageError
        Two files are one. Nothing has been touched.
    """
    files = FILES[command]
    known = {*files.read, *(entry.by for entry in files.written)}
    assert given.keys() <= known, f"{given.keys() - known} of {command} is not in the table"
    read: dict[object, tuple[str, str]] = {}
    for by in files.read:
        for path in map(str, given.get(by, ())):
            read.setdefault(_identity(path, 0), (by, path))
    written: dict[object, str] = {}
    for entry in files.written:
        for argument in map(str, given.get(entry.by, ())):
            for path in entry.paths(argument):
                found = _identity(path, 1)
                if found is None:
                    continue
                if found in read:
                    by, other = read[found]
                    also = "" if other == path else f"the same file as {other}, which is "
                    raise UsageError(f"{path} is {also}an input ({by}); {entry.by} would write over it")
                if "*" not in entry.name and found in written:
                    raise UsageError(f"{path} would be written by {entry.by} and by {written[found]}")
                written[found] = entry.by


def _identity(path: str, descriptor: int) -> object:
    """What two names of one file have in common; None for what can be read and written at once. ``-`` is the
    open file ``descriptor``."""
    if "://" in path:
        return path
    try:
        about = os.fstat(descriptor) if path == STDOUT else os.stat(path)
    except OSError:
        return None if path == STDOUT else os.path.realpath(path)
    kind = stat.S_IFMT(about.st_mode)
    if kind in (stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFIFO and path != STDOUT):
        return about.st_dev, about.st_ino
    return None


def own_outputs(output: str | Path | None, mark: str) -> list[str]:
    """The files of an earlier run of the same command to ``output``, known by the file with the suffix
    ``mark`` that it left beside it. In folders and patterns they are no inputs; a file without the mark is
    what somebody else has written, and stays one."""
    if output in (None, STDOUT) or not os.path.exists(f"{output}{mark}"):
        return []
    return [str(output), f"{output}{TABLE_ROWS_SUFFIX}"]


def refuse_existing(path: str | Path, *, unless: bool, resumable: bool = False) -> None:
    """Raise if ``path`` is an existing file. Devices and pipes may be written to.

    Parameters
    ----------
    unless
        Whether the user asked to replace or to continue an existing file: then it is accepted.
    resumable
        Whether the error suggests ``--resume``.

    Raises
    ------
    OutputExistsError
        The file exists.
    """
    if not unless and os.path.isfile(path) and not is_stream(str(path)):
        raise OutputExistsError(path, resumable=resumable)


OF_PROCESS: Final = ("/dev/fd/", "/dev/std", "/proc/")
"""How paths begin that stand for open files of *this* process: no other process can open them."""

READER_SECONDS: Final = 10.0
"""How long to wait for the reader of a named pipe: a shell starts both sides at once, in any order."""

_LOOK_AGAIN_SECONDS: Final = 0.05


def is_stream(path: str) -> bool:
    """Whether an output path is a pipe, a device or an open file of this process, which can be neither locked
    nor continued, nor put in place of another one."""
    if path.startswith(OF_PROCESS):
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def open_stream(path: str) -> int:
    """The descriptor of such an output; an open file of this process goes on where it is. Raises
    `OutputError`."""
    name = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(path, path)
    number = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", name)
    until = time.monotonic() + READER_SECONDS
    while True:
        try:
            if number is not None:
                return os.dup(int(number[1]))
            # a blocking open of a pipe without a reader would wait for ever
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(descriptor, True)
            return descriptor
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise OutputError(path, error.strerror or str(error)) from error
            if time.monotonic() > until:
                why = f"no process reads this pipe (waited {READER_SECONDS:g} s): start its reader first"
                raise OutputError(path, why) from error
        time.sleep(_LOOK_AGAIN_SECONDS)


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Turn an `OSError` within the context into an `OutputError` that names ``path``."""
    try:
        yield
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def write_json(path: str | Path, value: Any) -> None:
    """Write a value as indented JSON; the file appears whole, in place of an older one. Raises
    `OutputError`."""
    with whole_file(str(path), overwrite=True) as file:
        file.write(encode_indented(value) + b"\n")


@contextmanager
def whole_file(output: str, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that appears under its name when the context is left without an error; ``-`` is
    stdout.

    Raises
    ------
    OutputExistsError
        The file exists, and ``overwrite`` is not set.
    OutputError
        The file cannot be written.
    """
    if output == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    refuse_existing(output, unless=overwrite)
    with writing(output):
        if is_stream(output):
            with open(open_stream(output), "wb") as file:
                yield file
            return
        # a link stays, what it points to is replaced
        place = Path(os.path.realpath(output))
        draft = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            with draft.open("wb") as file:
                yield file
            _like(draft, place)
            os.replace(draft, place)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(directory: Path, *, last: str, stale: Iterable[str]) -> Iterator[Path]:
    """A folder to write files in, which move to ``directory`` when the context is left without an error.
    Until then what stands there is as it was.

    Parameters
    ----------
    last
        The file that is moved after all others.
    stale
        Patterns of files that are removed from ``directory``, unless they were written anew.

    Raises
    ------
    OutputError
    """
    import shutil
    import tempfile  # these load a dozen modules, and few commands write a folder

    with writing(directory):
        made = not directory.is_dir()
        directory.mkdir(parents=True, exist_ok=True)
        for left in directory.glob(".*.part"):
            _remove_left(left)
        place = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=directory))
        holder = os.open(place, os.O_RDONLY)
        fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        yield place
        with writing(directory):
            names = [path.relative_to(place) for path in place.rglob("*") if path.is_file()]
            for name in sorted(names, key=lambda name: str(name) == last):
                (directory / name).parent.mkdir(exist_ok=True)
                os.replace(place / name, directory / name)
            for pattern in stale:
                for old in directory.glob(pattern):
                    if old.relative_to(directory) not in names:
                        old.unlink()
    finally:
        os.close(holder)
        shutil.rmtree(place, ignore_errors=True)
        if made:
            with suppress(OSError):
                directory.rmdir()  # nothing was written


def _remove_left(place: Path) -> None:
    """Remove such a folder if a kill has left it: nobody holds its lock."""
    import shutil

    with suppress(OSError):
        holder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place)
        finally:
            os.close(holder)


def draft_of(path: str) -> str:
    """Where what replaces a locked output is written. One that a kill has left is written over."""
    place = os.path.realpath(path)
    return os.path.join(os.path.dirname(place), f".{os.path.basename(place)}.part")


def _like(draft: str | Path, place: str | Path) -> None:
    """Give a draft the permissions of the file that it replaces, if there is one."""
    with suppress(FileNotFoundError):
        os.chmod(draft, stat.S_IMODE(os.stat(place).st_mode))


_LOCK_SECONDS: Final = 0.2
"""How long to try for a lock: a run that will refuse to continue the output holds it only for a moment."""


def open_locked(path: str) -> tuple[int, bool]:
    """Open an output to read and write, make it if it is not there, and lock it. The operating system drops
    the lock when its holder dies, for any reason.

    Returns
    -------
    tuple[int, bool]
        The descriptor, and whether the file is new.

    Raises
    ------
    OutputError
        It cannot be opened, or another run holds its lock.
    """
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        descriptor, created = open_output(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # the holder of the lock may have put another file in its place
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor, created
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.ENOENT):
                os.close(descriptor)
                raise OutputError(path, error.strerror or str(error)) from error
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > until:
            raise OutputError(path, "another run is writing this output")
        time.sleep(_LOCK_SECONDS / 10)


def open_output(path: str) -> tuple[int, bool]:
    """Open a file to read and write, or make it: its descriptor, and whether it is new. A link that points
    nowhere is followed, and its target made. Raises `OutputError`."""
    flags = os.O_RDWR | os.O_CREAT
    # O_EXCL does not follow links
    place = os.path.realpath(path)
    try:
        try:
            return os.open(place, flags | os.O_EXCL, 0o666), True
        except FileExistsError:
            return os.open(place, flags, 0o666), False
    except FileNotFoundError as error:
        import shlex

        folder = shlex.quote(os.path.dirname(place if os.path.islink(path) else path) or ".")
        raise OutputError(path, f"{error.strerror}; make the folder first: mkdir -p {folder}") from error
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def replaced(path: str, pieces: Iterable[bytes]) -> int:
    """Write a new file in place of a locked one, which stays whole until then; returns the descriptor of the
    new file, locked too. Raises `OSError`, and then the old file is as it was."""
    place, draft = os.path.realpath(path), draft_of(path)
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open(os.dup(descriptor), "wb") as file:
            file.writelines(pieces)
        os.fsync(descriptor)
        _like(draft, place)
        os.replace(draft, place)
    except BaseException:
        os.unlink(draft)
        os.close(descriptor)
        raise
    return descriptor


PATHS: Final = "paths"
"""Key of the files' paths in a header. They are shown, not compared: a file may have been moved since."""


class GrowingFile:
    """A file that one run at a time appends to.

    Attributes
    ----------
    size
        Bytes that are whole; where the next piece goes.
    is_new
        Whether it was made when it was opened.

    Parameters
    ----------
    path
        Where it is; made if it is not there.
    locked
        Whether others are kept out, until it is closed or the process ends; else it is beside a locked one.

    Raises
    ------
    OutputError
        It cannot be opened, or another run holds its lock.
    """

    def __init__(self, path: str, *, locked: bool = True) -> None:
        self.path, self.size = path, 0
        self._file, self.is_new = open_locked(path) if locked else open_output(path)

    @property
    def length(self) -> int:
        """Bytes in it, whole or not."""
        return os.fstat(self._file).st_size

    def begin(self, pieces: Iterable[bytes]) -> None:
        """Begin it with these bytes. What is in it stays until they are there: before, a command may turn out
        wrong or be interrupted. Raises `OutputError`, and then the old ones are as they were."""
        if not self.length:
            self.append(b"".join(pieces))
            return
        try:
            new = replaced(self.path, pieces)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(self.path, f"{reason}; its old rows are as they were") from error
        os.close(self._file)
        self._file = new
        self.size = self.length

    def append(self, data: bytes) -> None:
        """Append bytes, all or none: what a full disk or a signal leaves torn is cut off. Raises
        `OutputError`."""
        view, done = memoryview(data), 0
        try:
            while done < len(data):
                done += os.pwrite(self._file, view[done:], self.size + done)
        except BaseException as error:
            self.cut_back(self.size)
            if not isinstance(error, OSError):
                raise
            raise OutputError(
                self.path,
                f"{error.strerror or error} after {self.size} bytes; all rows in it are whole,"
                " --resume goes on from there",
            ) from error
        self.size += len(data)

    def cut_back(self, size: int) -> None:
        """Keep the first bytes only. If that fails, the next run cuts."""
        self.size = size
        with suppress(OSError):
            # a new, empty file is not cut: ext4 flushes files that were ever cut to 0 when they close
            if self.length != size:
                os.ftruncate(self._file, size)

    def read(self, start: int, end: int) -> bytes:
        """Bytes of it; fewer where it is shorter."""
        return os.pread(self._file, end - start, start)

    def lines(self) -> Iterator[bytes]:
        """Its lines, the last one torn, maybe."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            yield from file

    def sync(self) -> None:
        """Have what is written survive a power cut."""
        os.fsync(self._file)

    def withdraw(self) -> None:
        """Delete it if this run has made it."""
        if self.is_new:
            with suppress(OSError):
                os.unlink(os.path.realpath(self.path))  # a link was there before

    def close(self) -> None:
        """Give up the lock; harmless if done."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def check_settings(
    before: Mapping[str, Any] | None,
    now: Mapping[str, Any],
    header: object,
    output: object,
    show: Callable[[Any], str] = str,
) -> None:
    """Hold the settings of a run against those in the header of the one it continues.

    Parameters
    ----------
    before, now
        They; None: there is no header, or it is torn.
    header, output
        The paths of header and output.
    show
        How values are shown.

    Raises
    ------
    ResumeMismatchError
        They differ; the message has the first difference.
    """
    if before is None:
        raise ResumeMismatchError(
            f"{header} is missing or unreadable (torn), so it is not known how {output} was made"
        )
    flat_before, flat_now = dict(_flatten(before)), dict(_flatten(now))
    for name in {**flat_before, **flat_now}:
        old, new = flat_before.get(name), flat_now.get(name)
        if old != new and not name.startswith(f"{PATHS} "):
            for shown, path in now.get(PATHS, {}).items():
                if name.startswith(f"{shown} "):
                    name = f"{name.removeprefix(shown).lstrip()} of {path}"
            raise ResumeMismatchError(f"{name} was {_shown(old, show)} and is {_shown(new, show)}")


def _flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flatten(item, f"{prefix} {key}" if prefix else str(key))
    else:
        # through JSON, as settings read from a header went: tuples become lists
        yield prefix, json.loads(json.dumps(value))


def _shown(value: Any, show: Callable[[Any], str]) -> str:
    text = "not set" if value is None else show(value)
    return text if len(text) <= 80 else text[:77] + "…"
