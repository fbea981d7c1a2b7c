"""Kernels without numba: their machine code, kept in files and called through ctypes.

Importing numba and reading its cache takes 0.4 s in every process; a worker that scores text for less than
a second cannot pay that. `build` (needs numba, takes seconds, done by ``relfast warmup`` or in the background
of a first large run) compiles plain functions over pointers and keeps them as a shared library, which loads
in 1 ms, or, where no linker is at hand, as an object file, which llvmlite loads in 50. `load` gives the
functions, or None where nothing usable is there: the caller then takes the exact way in Python.

A file is named by a digest of everything that decides its code, and ends with a checksum of its content, so
that a stale or torn file is never run. One that somebody else could have written is not even read: see
`relfast_kernels.compiled.cache`.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from relfast_kernels.compiled import cache as policy
from relfast_kernels.compiled.cache import COMPILE_VARIABLE, QUIET_VARIABLE, Cache, how_to_compile, user_cache
from relfast_kernels.compiled.trust import UntrustedError

try:
    # hashlib's own; hashlib itself loads OpenSSL, which takes longer than all that is done here
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

Functions = Mapping[str, Callable[..., int]]
"""A unit's functions by name."""

_ROOT: Final = Path(__file__).parent.parent

UNITS: Final = {
    "text": "text/entries.py",
    "maze": "maze/entries.py",
    "smiles": "smiles/entries.py",
    "mcs": "mcs/entries.py",
    "motif": "motif/entries.py",
    "tags": "tags/entries.py",
    "align": "align.py",
    "isomers": "isomers.py",
}
"""What is built on its own, the longest first, and where its ``ENTRIES`` are declared."""

_FORM: Final = "1"
"""To be raised when files are written in another way."""

SHORT: Final = frozenset({"smiles", "tags", "maze", "mcs.prepare", "mcs.judge_one", "mcs.part", "text.judge"})
"""Units, and entries of units, that take microseconds."""

_LINKERS: Final = (
    ("ld", "-shared", "-z", "noexecstack"),
    ("cc", "-shared", "-nostdlib", "-Wl,-z,noexecstack"),
)


def cache() -> Cache:
    """Where the machine code is kept."""
    return user_cache("native")


SHIPPED: Final = Path(__file__).parent / "shipped"
"""Libraries that came with a wheel, named as those of the cache, and trusted as the code beside them is."""

PROCESSORS: Final = {
    "x86_64": {"x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"}, "x86-64": set[str]()},
    "aarch64": {"generic": set[str]()},
}
"""What wheels have libraries for, by kind of machine, the best first: LLVM's names of processors, and which
flags Linux must tell of one."""


def shared_library(unit: str, processor: str = "") -> Path:
    """Where a unit's shared library is, or would be; ``processor`` as `builder.emitted` has it."""
    return cache().path / f"{unit}-{_digest(unit, processor)}.so"


def object_file(unit: str, processor: str = "") -> Path:
    """The same of its object file."""
    return shared_library(unit, processor).with_suffix(".o")


def sources(unit: str) -> dict[str, bytes]:
    """The sources that a unit's code comes from: its entries and all that is imported from there, the builder
    and the decorator. Found by the beginnings of lines, which takes 1 ms for the largest."""
    found: dict[str, bytes] = {}
    waiting = [UNITS[unit], "compiled/builder.py"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            with open(f"{_ROOT}/{name}", "rb", buffering=0) as file:
                found[name] = file.read()
            for following in found[name].split(_IMPORT)[1:]:
                waiting.append(following.partition(b" ")[0].decode().replace(".", "/") + ".py")
    return found


_IMPORT: Final = b"\nfrom relfast_kernels."
_STRING: Final = b'"""'
_COMMENT: Final = re.compile(rb"\n *#.*")


def code_of(source: bytes) -> bytes:
    """Kernel source without docstrings and lines of comments, so that to document it rebuilds nothing.

    By its looks, which takes half a millisecond for the largest unit; a test holds that no code is lost.
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
    digest = blake2b(digest_size=12)
    for _, content in sorted(sources(unit).items()):
        digest.update(code_of(content))
    made_for = f"{os.uname().machine} {processor}" if processor else _this_processor()
    digest.update(f"{_FORM} {made_for}".encode())
    return digest.hexdigest()


def _this_processor() -> str:
    """What code for this very processor comes from: kind, instruction sets, and versions of the compiler."""
    import llvmlite  # without its binding, which takes 40 ms

    return f"{llvmlite.__version__} {sys.implementation.cache_tag} {json.dumps(_told_of_processor())}"


def _told_of_processor() -> dict[str, str]:
    """What Linux tells of the first processor, as far as it decides what code may run."""
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
    """Which of `PROCESSORS` this one is, the best first, and itself; none where no library was shipped."""
    if not SHIPPED.is_dir():
        return []
    flags = set(_told_of_processor().get("flags", "").split())
    known = PROCESSORS.get(os.uname().machine, {})
    return [*(processor for processor, needed in known.items() if needed <= flags), ""]


def _files(unit: str) -> Iterator[tuple[Path, Callable[[], int]]]:
    """Where a unit's code may be, the place to look first in first, each with what opens it to read."""
    for processor in _shipped_for():
        path = SHIPPED / shared_library(unit, processor).name
        yield path, partial(os.open, path, os.O_RDONLY | os.O_CLOEXEC)
    yield from _kept_files(unit)


def _kept_files(unit: str, processor: str = "") -> Iterator[tuple[Path, Callable[[], int]]]:
    for path in (shared_library(unit, processor), object_file(unit, processor)):
        yield path, partial(cache().open, path.name)


def is_built(unit: str) -> bool:
    """Whether a unit's code is there (it may still turn out torn)."""
    return any(map(_is_there, _files(unit)))


def is_kept(unit: str, processor: str) -> bool:
    """Whether the cache has a unit's code for a processor."""
    return any(map(_is_there, _kept_files(unit, processor)))


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


def remove(unit: str) -> None:
    """Remove a unit's files, where there are any, and what `note_failure` has left."""
    for path in (shared_library(unit), object_file(unit), _failed(unit)):
        with suppress(OSError):
            path.unlink()


def _failed(unit: str) -> Path:
    return shared_library(unit).with_suffix(".failed")


def failure(unit: str) -> str | None:
    """Why a unit could not be built here, so that only ``relfast warmup`` tries again; empty once told."""
    with suppress(OSError):
        return cache().read(_failed(unit).name).decode(errors="replace")
    return None


def note_failure(unit: str, reason: str) -> None:
    """Have `failure` know why a unit of these very sources cannot be built on this very machine."""
    with suppress(OSError):
        cache().write(_failed(unit).name, reason.encode(errors="replace"))


_ROOM: Final = 16 << 20


def check_room() -> None:
    """Make sure that libraries can be kept, so that they are not compiled for nothing. Raises as `keep`."""
    import tempfile

    cache().check(make=True)
    with tempfile.TemporaryFile(dir=cache().path) as file:
        os.posix_fallocate(file.fileno(), 0, _ROOM)


def load(unit: str) -> Functions | None:
    """A unit's functions by name, or None.

    Each takes the integers and pointers its entry declares (``int`` and ``ctypes.c_void_p``) and returns
    an int. `SHORT` ones hold the GIL: to get it back from busy threads takes milliseconds. What a function
    wraps (``__wrapped__``) is quicker still to call: it wants pointers to an int64 for the result and to a
    pointer for a failure first, and returns 0 if it has not failed. Its arguments are not converted: a plain
    integer goes in 32 bits, and the rest of the 64 is anything.
    """
    for path, open_file in _files(unit):
        open_code = _open_library if path.suffix == ".so" else _open_object
        try:
            with open(open_file(), "rb") as file:
                code, checksum, entries = _read(file)
                address_of = open_code(file, code, checksum)
                if path.parent != SHIPPED and os.fstat(file.fileno()).st_mtime < time.time() - _DAY:
                    with suppress(OSError):  # another user's, or nothing can be written there
                        os.utime(file.fileno())  # `clean_up` looks at it
            short = {name for name in entries if not SHORT.isdisjoint((unit, f"{unit}.{name}"))}
            return {
                name: callable_at(address_of(entry["symbol"]), entry["arguments"], holds_gil=name in short)
                for name, entry in entries.items()
            }
        except UntrustedError as error:
            cache().say(error)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError):
            continue
    return None


_DIGITS: Final = 8


def _with_trailer(code: bytes, entries: Mapping[str, Any]) -> bytes:
    """Code, what is to be known of it, and the length of that in digits. A shared library may have such an
    end, but no such beginning."""
    trailer = json.dumps({"blake2b": _checksum(code), "entries": entries}).encode()
    return code + trailer + b"%0*d" % (_DIGITS, len(trailer))


def _checksum(code: bytes) -> str:
    return blake2b(code, digest_size=32).hexdigest()


def _read(file: BinaryIO) -> tuple[bytes, str, Mapping[str, Any]]:
    """The code in a file, its checksum, and its entries. Raises `ValueError` if it is not whole."""
    content = file.read()
    end = len(content) - _DIGITS
    start = end - int(content[end:])
    described = json.loads(content[start:end])
    code = content[:start]
    checksum = _checksum(code)
    if checksum != described["blake2b"]:
        raise ValueError("the file is damaged")
    return code, checksum, described["entries"]


_keep_alive: list[Any] = []


_libraries: dict[tuple[int, int, str], ctypes.CDLL] = {}
"""Loaded libraries by device, inode and checksum: loading one again must not take another descriptor."""


def _open_library(file: BinaryIO, code: bytes, checksum: str) -> Callable[[str], int]:
    status = os.fstat(file.fileno())
    key = (status.st_dev, status.st_ino, checksum)
    library = _libraries.get(key)
    if library is None:
        # the very file that was judged and read. The number stays taken: the loader takes a name that it has
        # met for the library that it knows by it
        number = os.dup(file.fileno())
        try:
            library = _libraries[key] = ctypes.CDLL(f"/proc/self/fd/{number}")
        except OSError:
            os.close(number)
            raise

    def address_of(symbol: str) -> int:
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value or 0

    return address_of


def _open_object(file: BinaryIO, code: bytes, checksum: str) -> Callable[[str], int]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for symbol in ("memcpy", "memmove", "memset", "abort"):
        # LLVM takes an unknown symbol for address 0
        function = getattr(ctypes.CDLL(None), symbol)
        llvm.add_symbol(symbol, ctypes.cast(function, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _keep_alive.append(engine)

    def address_of(symbol: str) -> int:
        address: int = engine.get_function_address(symbol)
        if not address:
            raise ValueError(f"{symbol} is not in the file")
        return address

    return address_of


_built: dict[str, Functions] = {}
_plain: dict[str, Functions] = {}
_looked: dict[str, float] = {}

_RETRY_SECONDS: Final = 2.0
"""How often a process without a kernel looks whether it has been compiled meanwhile."""

_SEARCHES: Final = frozenset({"isomers", "motif"})
"""Units that records are generated with: searches that would take hours as plain Python."""


def find(unit: str) -> Functions | None:
    """`load`, once a process; None as long as nothing is built. `see_to_missing` is done about that."""
    if unit not in _built and time.monotonic() - _looked.get(unit, -_RETRY_SECONDS) >= _RETRY_SECONDS:
        with _finding:
            if unit not in _built:
                functions = load(unit)
                if functions is None:
                    see_to_missing(unit)
                    functions = load(unit)
                if functions is not None:
                    _built[unit] = functions
                _looked[unit] = time.monotonic()
    return _built.get(unit)


_seen_to: set[str] = set()


def see_to_missing(unit: str = "") -> None:
    """Do what ``RELFAST_COMPILE`` says about kernels that are missing, once a process: ``wait`` compiles all
    of them first, ``background`` beside what is done without. ``unit`` is the one that somebody needs; those
    of `_SEARCHES` are waited for in both cases. Workers leave it to who has started them."""
    how, needed = how_to_compile(), unit if unit in _SEARCHES else ""
    if how == "off" or needed in _seen_to or os.environ.get(QUIET_VARIABLE):
        return
    _seen_to.add(needed)
    missing = [one for one in ([needed] if needed else UNITS) if not is_built(one)]
    if missing and cache().usable(make=True):
        _make_missing(missing, now=bool(needed) or how == "wait")


_MEANWHILE: Final = "rows are the same, but take longer; `relfast warmup` tries again"


def _make_missing(units: Sequence[str], *, now: bool) -> None:
    """Build units that somebody misses, ``now`` or in the background, and say so; or why that cannot be.

    The background is a process of low priority, at most one a machine and user. A command may leave it
    behind; else it ends with this process.
    """
    from relfast_kernels.compiled import making  # loads some twenty modules

    wanted = [unit for unit in units if failure(unit) is None]
    try:
        if wanted:
            check_room()
    except OSError as error:
        _say(f"kernels are not compiled, {cache().path}: {error.strerror or error}; {_MEANWHILE}")
        return
    if wanted and now:
        seconds = sum(map(making.seconds_of, wanted)) / min(len(wanted), len(os.sched_getaffinity(0)))
        _say(
            f"kernels that are missing ({', '.join(wanted)}) are compiled first, about {seconds:.0f} s, once"
            f" a machine; `relfast warmup` does it ahead, {COMPILE_VARIABLE}=off goes on without"
        )
        with suppress(OSError):  # which `failure` knows, or somebody has killed it
            make(wanted)
    elif wanted:
        _say(
            "kernels that are missing are compiled in the background: until then rows are the same, but take"
            f" longer (`relfast warmup` waits for them; {COMPILE_VARIABLE}=wait or off)"
        )
        making.start_all(outlives=policy.is_command)
    for unit in units:
        if reason := failure(unit):
            _say(f"kernels {unit} cannot be compiled here ({reason}): {_MEANWHILE}")
            note_failure(unit, "")


def _say(line: str) -> None:
    import warnings

    with suppress(RuntimeWarning):  # who has made errors of warnings wants scores all the same
        warnings.warn(f"relfast: {line}", RuntimeWarning, stacklevel=3)


def functions(unit: str) -> Functions:
    """`find`, or the same functions as plain Python, some hundred times slower, until something is built."""
    found = find(unit) or _plain.get(unit)
    if found is None:
        import importlib

        declared = importlib.import_module(entries_of(unit)).ENTRIES
        found = _plain[unit] = {name: _as_plain(function) for name, (function, _) in declared.items()}
    return found


_calling = threading.RLock()
_finding = threading.RLock()


def _start_anew() -> None:
    """In a forked child: a thread that is not here may have held a lock."""
    global _calling, _finding
    _calling, _finding = threading.RLock(), threading.RLock()


os.register_at_fork(after_in_child=_start_anew)


def _as_plain(function: Callable[..., int]) -> Callable[..., int]:
    import numpy as np

    def call(*values: Any) -> int:
        # one at a time, as calls that hold the interpreter's lock; numbers wrap around as in machine code
        with _calling, np.errstate(all="ignore"):
            return int(function(*map(_address, values)))

    def call_raw(result: Any, _: Any, *values: Any) -> int:
        result._obj.value = call(*values)
        return 0

    call.__wrapped__ = call_raw  # type: ignore[attr-defined]
    return call


def _address(value: Any) -> int:
    """What stands in a register for an argument, as ctypes passes it."""
    if isinstance(value, ctypes.c_int64 | ctypes.c_void_p):
        value = value.value or 0
    return int(value) if isinstance(value, int) else ctypes.cast(value, ctypes.c_void_p).value or 0


def entries_of(unit: str) -> str:
    """The module that declares a unit's entries."""
    return "relfast_kernels." + UNITS[unit].removesuffix(".py").replace("/", ".")


def callable_at(address: int, arguments: str, *, holds_gil: bool) -> Callable[..., int]:
    """A numba function as a Python callable; ``arguments`` has a letter each, ``p`` pointer, ``i`` int64.

    numba's calling convention: a place for the result, one for an exception, then the arguments.
    """
    kinds = {"p": ctypes.c_void_p, "i": ctypes.c_int64}
    prototype = ctypes.PYFUNCTYPE if holds_gil else ctypes.CFUNCTYPE
    function = prototype(
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int64),
        ctypes.POINTER(ctypes.c_void_p),
        *(kinds[letter] for letter in arguments),
    )(address)

    def call(*values: Any) -> int:
        result, exception = ctypes.c_int64(), ctypes.c_void_p()
        status = function(ctypes.byref(result), ctypes.byref(exception), *values)
        if status:
            raise RuntimeError(f"kernel failed with status {status}")
        return result.value

    call.__wrapped__ = prototype(ctypes.c_int32)(address)  # type: ignore[attr-defined]
    return call


@contextmanager
def alone(name: str, *, wait: bool = True) -> Iterator[None]:
    """Do what has a name, as the building of a library, once a machine: wait while another process is at it.

    Its lock ends with that process, however it ends. Raises `OSError` as `keep`, and without ``wait``
    `BlockingIOError`.
    """
    cache().check(make=True)
    place = cache().path / f".{name}.lock"
    lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
        with suppress(OSError):
            place.unlink()  # who waits for it sees that all is done, or does it again
    finally:
        os.close(lock)


_DAY: Final = 86_400.0


def clean_up() -> None:
    """Remove what other versions have left, and nobody has used for a week. A library that is loaded says so
    by its time (`load`), once a day."""
    import shutil

    with suppress(OSError):
        cache().check()
        for path in cache().path.iterdir():
            if path.lstat().st_mtime > time.time() - 7 * _DAY:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def keep(
    unit: str, code: str, entries: Mapping[str, Any], emitted: Callable[..., bytes], processor: str
) -> None:
    """Write a unit's file, whole or not at all. ``emitted`` makes object code of ``code`` for ``processor``.

    Raises
    ------
    UntrustedError
        Somebody else can write to the cache directory.
    OSError
        It cannot be written, or has to be a shared library, for a wheel, and nothing here links one.
    """
    cache().check(make=True)
    path = shared_library(unit, processor)
    made = _link(emitted(code, processor, reloc="pic", codemodel="default"))
    if made is None:
        if processor:
            raise OSError("nothing here links a shared library: neither ld nor cc does")
        # the code will land anywhere in the address space, far from the C library
        path, made = path.with_suffix(".o"), emitted(code, reloc="static", codemodel="large")
    cache().write(path.name, _with_trailer(made, entries))


def build(unit: str) -> Path:
    """Build a unit in a process of its own; where its file is. Raises as `keep`."""
    cache().check(make=True)
    make([unit])
    path = shared_library(unit)
    return path if path.exists() else object_file(unit)


def make(units: Sequence[str], processes: int | None = None, **how: Any) -> None:
    """`relfast_kernels.compiled.making.make`, with what crashes noted."""
    from relfast_kernels.compiled.making import make

    make(units, processes, crashed=note_failure, **how)


def _link(code: bytes) -> bytes | None:
    """A shared library of object code; None where none can be made, or loaded, here."""
    import shutil
    import subprocess
    import tempfile

    # private whatever the umask is, and where the library is going to lie
    with tempfile.TemporaryDirectory(prefix=".linking-", dir=cache().path) as folder:
        source, made = Path(folder) / "code.o", Path(folder) / f"{os.path.basename(folder)}.so"
        source.write_bytes(code)
        for linker, *options in _LINKERS:
            command = [shutil.which(linker) or "", *options, "-o", str(made), str(source)]
            if not command[0] or subprocess.run(command, capture_output=True).returncode:
                continue
            try:
                ctypes.CDLL(str(made))  # not everything that links can be loaded: folders without execution
                return made.read_bytes()
            except OSError:
                continue
    return None
