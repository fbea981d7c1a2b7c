"""Kernels without numba: their machine code, kept in shared libraries and called through ctypes.

Importing numba and reading its cache takes 0.4 s in every process; a worker that scores text for less than a
second cannot pay that. `making` (needs numba, takes minutes of processor time) compiles plain functions over
pointers and keeps them as shared libraries, which load in 1 ms: for a wheel, for ``relfast warmup``, and for
a large command that lacks them. Nothing here compiles: `load` returns a unit's functions, or None if there is
no usable file; the caller then scores in Python, and `tell_missing` says so.

A file is named by a digest of everything that determines its code, and ends with a checksum, so that a stale
or torn file is never run. A file that somebody else could have written is not even read: see `caches`.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from relfast_kernels.caches import COMPILE_VARIABLE, OFF, QUIET_VARIABLE, Cache, UntrustedError, user_cache

try:
    # the module behind hashlib; hashlib itself loads OpenSSL, which takes longer than all that is done here
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

Functions = Mapping[str, Callable[..., int]]
"""A unit's functions by name."""

_ROOT: Final = Path(__file__).parent.parent

UNITS: Final = {
    "text": "text/entries.py",
    "maze": "maze/entries.py",
    "smiles": "smiles/table.py",
    "mcs": "mcs/pairs.py",
    "motif": "motif/grow.py",
    "tags": "tags/entries.py",
    "align": "align.py",
    "isomers": "isomers.py",
}
"""What is built as one library, the longest build first, and the file that declares its ``ENTRIES``."""

_FORM: Final = "1"
"""Version of the file format, to be raised when files are written differently."""

SHORT: Final = frozenset({"smiles", "tags", "maze", "mcs.prepare", "mcs.judge_one", "mcs.part", "text.judge"})
"""Units, and entries of units, that take microseconds: they are called with the GIL held (`load`)."""


def cache() -> Cache:
    """The cache directory of the compiled libraries."""
    return user_cache("native")


SHIPPED: Final = Path(__file__).parent / "shipped"
"""Libraries that came with a wheel, named as those in the cache, and trusted as the code beside them is."""

PROCESSORS: Final = {
    "x86_64": {"x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"}, "x86-64": set[str]()},
    "aarch64": {"generic": set[str]()},
}
"""Targets for which wheels have libraries, by kind of machine, the best first: LLVM's names of processors,
and the flags that ``/proc/cpuinfo`` must list for each."""


def shared_library(unit: str, processor: str = "") -> Path:
    """The path of a unit's shared library, if it exists or not; ``processor`` as in `builder.emitted`."""
    return cache().path / f"{unit}-{_digest(unit, processor)}.so"


def sources(unit: str) -> dict[str, bytes]:
    """The source files of a unit's code, by name: its entries with all that they import, the builder and the
    decorator. Imports are found by the beginnings of lines, which takes 1 ms for the largest unit."""
    found: dict[str, bytes] = {}
    waiting = [UNITS[unit], "compiled/builder.py"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            with open(f"{_ROOT}/{name}", "rb", buffering=0) as file:
                found[name] = file.read()
            waiting += [module.decode().replace(".", "/") + ".py" for module in _IMPORT.findall(found[name])]
    return found


_IMPORT: Final = re.compile(rb"\n(?:from|import) relfast_kernels\.([\w.]+)")
"""Of a module's own name: ``from relfast_kernels.text import ascii`` would name a package."""
_STRING: Final = b'"""'
_COMMENT: Final = re.compile(rb"\n *#.*")


def code_of(source: bytes) -> bytes:
    """Kernel source without docstrings and comment lines, so that editing those rebuilds nothing.

    By text search, which takes half a millisecond for the largest unit; a test checks that no code is lost.
    """
    start, *pieces = source.replace(b" r" + _STRING, b" " + _STRING).split(_STRING)
    kept = [start]
    for string, after in zip(pieces[::2], pieces[1::2], strict=True):
        line = kept[-1].rstrip(b" ")
        if line[-1:] in (b"", b"\n") and after[:1] == b"\n":
            kept[-1] = line[:-1]
            kept.append(after)
        else:
            kept += [_STRING, string, _STRING, after]
    return _COMMENT.sub(b"", b"".join(kept))


@lru_cache
def _digest(unit: str, processor: str) -> str:
    """The digest that names a unit's file: of its sources and of the processor."""
    digest = blake2b(digest_size=12)
    for _, content in sorted(sources(unit).items()):
        digest.update(code_of(content))
    made_for = f"{os.uname().machine} {processor}" if processor else _this_processor()
    digest.update(f"{_FORM} {made_for}".encode())
    return digest.hexdigest()


def _this_processor() -> str:
    """What determines code for this processor: its kind, instruction sets, and the compiler's versions."""
    import llvmlite  # without its binding, which takes 40 ms

    return f"{llvmlite.__version__} {sys.implementation.cache_tag} {json.dumps(_told_of_processor())}"


def _told_of_processor() -> dict[str, str]:
    """The fields of ``/proc/cpuinfo``, of the first processor, that determine what code may run."""
    found = {}
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if not name.strip():
                break
            if name.strip() in ("model name", "flags", "Features", "CPU part"):
                found[name.strip()] = " ".join(sorted(value.split()))
    return found


@lru_cache
def _shipped_for() -> list[str]:
    """The `PROCESSORS` whose code runs here, the best first, then this one; empty if no library shipped."""
    if not SHIPPED.is_dir():
        return []
    flags = set(_told_of_processor().get("flags", "").split())
    known = PROCESSORS.get(os.uname().machine, {})
    return [*(processor for processor, needed in known.items() if needed <= flags), ""]


def _files(unit: str) -> Iterator[tuple[Path, Callable[[], int]]]:
    """The files that may have a unit's code, in order of preference, each with a function that opens it."""
    for processor in _shipped_for():
        path = SHIPPED / shared_library(unit, processor).name
        yield path, partial(os.open, path, os.O_RDONLY | os.O_CLOEXEC)
    kept = shared_library(unit)
    yield kept, partial(cache().open, kept.name)


def is_kept(unit: str, processor: str) -> bool:
    """Whether the cache has a unit's library for a processor."""
    path = shared_library(unit, processor)
    return _is_there((path, partial(cache().open, path.name)))


def is_built(unit: str) -> bool:
    """Whether a file with a unit's code exists (it may still turn out to be torn)."""
    return folder_of(unit) is not None


def missing() -> list[str]:
    """The units that `is_built` does not find; looking for all takes 25 ms."""
    return [unit for unit in UNITS if not is_built(unit)]


def folder_of(unit: str) -> Path | None:
    """The folder of the file that has a unit's code: the wheel's, or the cache; None without one."""
    return next((file[0].parent for file in _files(unit) if _is_there(file)), None)


def _is_there(file: tuple[Path, Callable[[], int]]) -> bool:
    try:
        os.close(file[1]())
    except UntrustedError as error:
        cache().say(error)
    except OSError:
        pass
    else:
        return True
    return False


def load(unit: str) -> Functions | None:
    """Load a unit's functions, by name; None if there is no usable file.

    Each takes the struct that its entry declares (`relfast_kernels.entry`), and returns an int. `SHORT` ones
    hold the GIL: getting it back from busy threads takes milliseconds. The raw function behind one
    (``__wrapped__``) is quicker still to call: it takes the struct's ``arguments``, and returns 0 unless it
    has failed.
    """
    for path, open_file in _files(unit):
        try:
            with open(open_file(), "rb") as file:
                checksum, entries = _read(file)
                address_of = _open_library(file, checksum)
                if path.parent != SHIPPED and os.fstat(file.fileno()).st_mtime < time.time() - DAY:
                    with suppress(OSError):  # another user's file, or a read-only place
                        os.utime(file.fileno())  # `making.clean_up` looks at it
            short = {name for name in entries if not SHORT.isdisjoint((unit, f"{unit}.{name}"))}
            return {
                name: callable_at(address_of(entry["symbol"]), entry["arguments"], holds_gil=name in short)
                for name, entry in entries.items()
            }
        except UntrustedError as error:
            cache().say(error)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
            continue
    return None


DAY: Final = 86_400.0
_DIGITS: Final = 8


def with_trailer(code: bytes, entries: Mapping[str, Any]) -> bytes:
    """A library with a trailer: its checksum and entries as JSON, and the length of that in digits. It may
    have data after its end, but not before its beginning."""
    trailer = json.dumps({"blake2b": _checksum(code), "entries": entries}).encode()
    return code + trailer + b"%0*d" % (_DIGITS, len(trailer))


def _checksum(code: bytes) -> str:
    return blake2b(code, digest_size=32).hexdigest()


def _read(file: BinaryIO) -> tuple[str, Mapping[str, Any]]:
    """The checksum of a library, and its entries. Raises `ValueError` if the file is damaged."""
    content = file.read()
    end = len(content) - _DIGITS
    start = end - int(content[end:])
    described = json.loads(content[start:end])
    checksum = _checksum(content[:start])
    if checksum != described["blake2b"]:
        raise ValueError("the file is damaged")
    return checksum, described["entries"]


_libraries: dict[tuple[int, int, str], ctypes.CDLL] = {}
"""Loaded libraries by device, inode and checksum: loading one again must not take another descriptor."""


def _open_library(file: BinaryIO, checksum: str) -> Callable[[str], int]:
    """Load a shared library; returns a function that finds a symbol's address."""
    status = os.fstat(file.fileno())
    key = (status.st_dev, status.st_ino, checksum)
    library = _libraries.get(key)
    if library is None:
        # load the very file that was checked and read. The descriptor stays open: the loader knows libraries
        # by their paths, so that for a number that is used again it would return the old library
        number = os.dup(file.fileno())
        try:
            library = _libraries[key] = ctypes.CDLL(f"/proc/self/fd/{number}")
        except OSError:
            os.close(number)
            raise

    def address_of(symbol: str) -> int:
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0

    return address_of


_built: dict[str, Functions] = {}
_plain: dict[str, Functions] = {}
_looked: dict[str, float] = {}

_RETRY_SECONDS: Final = 2.0
"""How often a process that lacks a kernel checks whether it has been compiled meanwhile."""

_told: list[str] = []


def find(unit: str) -> Functions | None:
    """`load`, cached for the process; None while nothing is built, which `tell_missing` tells."""
    if unit not in _built and time.monotonic() - _looked.get(unit, -_RETRY_SECONDS) >= _RETRY_SECONDS:
        with _finding:
            if unit not in _built:
                functions = load(unit)
                if functions is not None:
                    _built[unit] = functions
                else:
                    tell_missing([unit])
                _looked[unit] = time.monotonic()
    return _built.get(unit)


def look_again() -> None:
    """Have `find` look at once for what it has not found before."""
    _looked.clear()


def tell_missing(units: Sequence[str] | None = None) -> None:
    """Say once a process, in a line, that ``units`` (None: those `missing`, if any) run as plain Python, and
    how to have them. Workers leave this to their parent; with ``RELFAST_COMPILE=off`` it is as wanted."""
    if _told or os.environ.get(QUIET_VARIABLE) or os.environ.get(COMPILE_VARIABLE) == OFF:
        return
    named = missing() if units is None else units
    # of a cache that cannot be used `load` has told why
    if named and cache().usable(make=True):
        tell(
            f"kernels that are missing ({', '.join(named)}) run as plain Python: rows are the same, but take"
            " longer; `relfast warmup` compiles all, once a machine"
        )


def tell(line: str) -> None:
    """Warn, once a process."""
    _told.append(line)
    with suppress(RuntimeWarning):  # scoring goes on even where warnings are errors
        warnings.warn(f"relfast: {line}", RuntimeWarning, stacklevel=4)


def functions(unit: str) -> Functions:
    """`find`; until the unit is built, the same functions as plain Python, some hundred times slower."""
    found = find(unit) or _plain.get(unit)
    if found is None:
        import importlib

        with uncharged():
            declared = importlib.import_module(entries_of(unit)).ENTRIES
        found = _plain[unit] = {name: _as_plain(*entry) for name, entry in declared.items()}
    return found


uncharged: Callable[[], AbstractContextManager[None]] = nullcontext
"""Context in which kernels run as plain Python; a caller with a clock for its work stops it there."""

_calling = threading.RLock()
_finding = threading.RLock()


def _start_anew() -> None:
    """Make new locks in a forked child: a thread that does not exist here may have held the old ones."""
    global _calling, _finding
    _calling, _finding = threading.RLock(), threading.RLock()


os.register_at_fork(after_in_child=_start_anew)


def _as_plain(function: Callable[..., int], _: Any) -> Callable[..., int]:
    """An entry as plain Python, called as what `callable_at` returns."""
    import numpy as np

    from relfast_kernels.compiled.plain_views import view

    def call(given: Any) -> int:
        # one at a time, like calls that hold the GIL; integers wrap around as in machine code
        with uncharged(), _calling, np.errstate(all="ignore"):
            return int(function(view(given)))

    return call


def entries_of(unit: str) -> str:
    """The name of the module that declares a unit's entries."""
    return "relfast_kernels." + UNITS[unit].removesuffix(".py").replace("/", ".")


def callable_at(address: int, name: str, *, holds_gil: bool) -> Callable[..., int]:
    """A numba function of a struct's address as a callable that takes the struct, of the class ``name``.

    numba's calling convention: a pointer to the result, one to the exception, then the arguments.
    """
    prototype = ctypes.PYFUNCTYPE if holds_gil else ctypes.CFUNCTYPE
    function = prototype(ctypes.c_int32)(address)

    def call(given: Any) -> int:
        if given.__class__.__name__ != name or given.arguments is None:
            raise TypeError(f"a {name} that has all its arrays is wanted, not {given!r}")
        status = function(*given.arguments)
        if status:
            raise RuntimeError(f"kernel failed with status {status}")
        result: int = given.result
        return result

    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call
