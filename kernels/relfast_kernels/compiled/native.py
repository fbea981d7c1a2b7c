"""Kernels without numba: their machine code, kept in files and called through ctypes.

Importing numba and reading its cache takes 0.4 s in every process; a worker that scores text for less than a
second cannot pay that. `build` (needs numba, takes seconds, done by ``relfast warmup`` or in the background
of a first large run) compiles plain functions over pointers and stores them as a shared library, which loads
in 1 ms, or, where no linker is installed, as an object file, which llvmlite loads in 50 ms. `load` returns
the functions, or None if there is no usable file: the caller then scores in Python.

A file is named by a digest of everything that determines its code, and ends with a checksum, so that a stale
or torn file is never run. A file that somebody else could have written is not even read: see `cache`.
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
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from relfast_kernels.compiled import cache as policy
from relfast_kernels.compiled.cache import COMPILE_VARIABLE, QUIET_VARIABLE, Cache, how_to_compile, user_cache
from relfast_kernels.compiled.trust import UntrustedError

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
    "smiles": "smiles/entries.py",
    "mcs": "mcs/entries.py",
    "motif": "motif/entries.py",
    "tags": "tags/entries.py",
    "align": "align.py",
    "isomers": "isomers.py",
}
"""What is built as one library, the longest build first, and the file that declares its ``ENTRIES``."""

_FORM: Final = "1"
"""Version of the file format, to be raised when files are written differently."""

SHORT: Final = frozenset({"smiles", "tags", "maze", "mcs.prepare", "mcs.judge_one", "mcs.part", "text.judge"})
"""Units, and entries of units, that take microseconds: they are called with the GIL held (`load`)."""

_LINKERS: Final = (
    ("ld", "-shared", "-z", "noexecstack"),
    ("cc", "-shared", "-nostdlib", "-Wl,-z,noexecstack"),
)


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


def object_file(unit: str, processor: str = "") -> Path:
    """The path of a unit's object file, likewise."""
    return shared_library(unit, processor).with_suffix(".o")


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
            for following in found[name].split(_IMPORT)[1:]:
                waiting.append(following.partition(b" ")[0].decode().replace(".", "/") + ".py")
    return found


_IMPORT: Final = b"\nfrom relfast_kernels."
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
    yield from _kept_files(unit)


def _kept_files(unit: str, processor: str = "") -> Iterator[tuple[Path, Callable[[], int]]]:
    """The files in the cache that may have a unit's code, as `_files`."""
    for path in (shared_library(unit, processor), object_file(unit, processor)):
        yield path, partial(cache().open, path.name)


def is_built(unit: str) -> bool:
    """Whether a file with a unit's code exists (it may still turn out to be torn)."""
    return any(map(_is_there, _files(unit)))


def place_of(unit: str) -> Path | None:
    """The folder of the file that has a unit's code: the wheel's, or the cache; None without one."""
    return next((file[0].parent for file in _files(unit) if _is_there(file)), None)


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
    """Delete a unit's files, if there are any, and the note that `note_failure` has left."""
    for path in (shared_library(unit), object_file(unit), _failed(unit)):
        with suppress(OSError):
            path.unlink()


def _failed(unit: str) -> Path:
    return shared_library(unit).with_suffix(".failed")


def failure(unit: str) -> str | None:
    """Why a unit could not be built here, so that only ``relfast warmup`` tries again; empty once the user
    was warned, None if no failure is noted."""
    with suppress(OSError):
        return cache().read(_failed(unit).name).decode(errors="replace")
    return None


def note_failure(unit: str, reason: str) -> None:
    """Record for `failure` why these very sources of a unit cannot be built on this very machine."""
    with suppress(OSError):
        cache().write(_failed(unit).name, reason.encode(errors="replace"))


_ROOM: Final = 16 << 20


def check_room() -> None:
    """Make sure that libraries can be stored, before time is spent on compiling them. Raises as `keep`."""
    import tempfile

    cache().check(make=True)
    with tempfile.TemporaryFile(dir=cache().path) as file:
        os.posix_fallocate(file.fileno(), 0, _ROOM)


def load(unit: str) -> Functions | None:
    """Load a unit's functions, by name; None if there is no usable file.

    Each takes the integers and pointers its entry declares (``int`` and ``ctypes.c_void_p``) and returns an
    int. `SHORT` ones hold the GIL: getting it back from busy threads takes milliseconds. The raw function
    behind one (``__wrapped__``) is quicker still to call: its first two arguments are pointers to an int64
    for the result and to a pointer for an exception, and it returns 0 unless it has failed. Its arguments are
    not converted: a plain integer is passed in 32 bits, and the other 32 of its register are undefined.
    """
    for path, open_file in _files(unit):
        open_code = _open_library if path.suffix == ".so" else _open_object
        try:
            with open(open_file(), "rb") as file:
                code, checksum, entries = _read(file)
                address_of = open_code(file, code, checksum)
                if path.parent != SHIPPED and os.fstat(file.fileno()).st_mtime < time.time() - _DAY:
                    with suppress(OSError):  # another user's file, or a read-only place
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
    """Code with a trailer: its checksum and entries as JSON, and the length of that in digits. A shared
    library may have data after its end, but not before its beginning."""
    trailer = json.dumps({"blake2b": _checksum(code), "entries": entries}).encode()
    return code + trailer + b"%0*d" % (_DIGITS, len(trailer))


def _checksum(code: bytes) -> str:
    return blake2b(code, digest_size=32).hexdigest()


def _read(file: BinaryIO) -> tuple[bytes, str, Mapping[str, Any]]:
    """The code in a file, its checksum, and its entries. Raises `ValueError` if the file is damaged."""
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


def _open_object(file: BinaryIO, code: bytes, checksum: str) -> Callable[[str], int]:
    """Load an object file by llvmlite; returns a function that finds a symbol's address."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for symbol in ("memcpy", "memmove", "memset", "abort"):
        # LLVM resolves an unknown symbol to address 0
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
"""How often a process that lacks a kernel checks whether it has been compiled meanwhile."""

_SEARCHES: Final = frozenset({"isomers", "motif"})
"""Units that generate records: searches that would take hours as plain Python."""


def find(unit: str) -> Functions | None:
    """`load`, cached for the process; None while nothing is built. A missing unit calls `see_to_missing`."""
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
    """Compile missing kernels as ``RELFAST_COMPILE`` says, once a process: ``wait`` compiles all of them
    first, ``background`` compiles while the process works without them. ``unit`` is the one that is needed
    now; those of `_SEARCHES` are waited for in both cases. Workers leave this to their parent."""
    how, needed = how_to_compile(), unit if unit in _SEARCHES else ""
    if how == "off" or needed in _seen_to or os.environ.get(QUIET_VARIABLE):
        return
    _seen_to.add(needed)
    missing = [one for one in ([needed] if needed else UNITS) if not is_built(one)]
    if missing and cache().usable(make=True):
        _make_missing(missing, now=bool(needed) or how == "wait")


_MEANWHILE: Final = "rows are the same, but take longer; `relfast warmup` tries again"


def _make_missing(units: Sequence[str], *, now: bool) -> None:
    """Build missing units, ``now`` or in the background, and tell the user, or why that cannot be.

    The background build is a process of low priority, at most one per machine and user. A command may leave
    it behind; otherwise it ends with this process.
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
        with suppress(OSError):  # `failure` knows the reason, or somebody has killed the build
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

    with suppress(RuntimeWarning):  # scoring goes on even where warnings are errors
        warnings.warn(f"relfast: {line}", RuntimeWarning, stacklevel=3)


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


def _as_plain(function: Callable[..., int], given: Any) -> Callable[..., int]:
    """An entry as plain Python, called as what `callable_at` returns."""
    import numpy as np

    from relfast_kernels.compiled.plain_views import view

    convert = _address if isinstance(given, str) else view

    def call(*values: Any) -> int:
        # one at a time, like calls that hold the GIL; integers wrap around as in machine code
        with uncharged(), _calling, np.errstate(all="ignore"):
            return int(function(*map(convert, values)))

    def call_raw(result: Any, _: Any, *values: Any) -> int:
        result._obj.value = call(*values)
        return 0

    call.__wrapped__ = call_raw  # type: ignore[attr-defined]
    return call


def _address(value: Any) -> int:
    """The integer that ctypes would pass in a register for an argument."""
    if isinstance(value, ctypes.c_int64 | ctypes.c_void_p):
        value = value.value or 0
    return int(value) if isinstance(value, int) else ctypes.cast(value, ctypes.c_void_p).value or 0


def entries_of(unit: str) -> str:
    """The name of the module that declares a unit's entries."""
    return "relfast_kernels." + UNITS[unit].removesuffix(".py").replace("/", ".")


def callable_at(address: int, arguments: str, *, holds_gil: bool) -> Callable[..., int]:
    """A numba function as a Python callable; ``arguments``: a letter each, ``p`` pointer, ``i`` int64.

    numba's calling convention: a pointer to the result, one to the exception, then the arguments.
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
    """Hold the lock of a name, such as a library to be built, so that one process per machine does the work:
    wait while another one holds it.

    The lock ends with its process, however that ends. Raises `OSError` as `keep`, and without ``wait``
    `BlockingIOError`.
    """
    cache().check(make=True)
    place = cache().path / f".{name}.lock"
    lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
        with suppress(OSError):
            place.unlink()  # a process that waits for it finds the work done, or does it again
    finally:
        os.close(lock)


_DAY: Final = 86_400.0


def clean_up() -> None:
    """Delete files, such as those of other versions, that nobody has used for a week. `load` updates the
    modification time of a library that it loads, once a day."""
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
    """Store a unit's file, whole or not at all. ``emitted`` makes object code of ``code``, for ``processor``.

    Raises
    ------
    UntrustedError
        Somebody else can write to the cache directory.
    OSError
        The file cannot be written; or it must be a shared library, for a wheel, and none can be made here; or
        the code lacks a function, as that of a compiler that is too old.
    """
    cache().check(make=True)
    path = shared_library(unit, processor)
    made, reason = _link(emitted(code, processor, reloc="pic", codemodel="default"))
    if made is None:
        if processor or "undefined symbol" in reason:
            raise OSError(f"no shared library can be made: {reason}")
        # the code will land anywhere in the address space, far from the C library
        path, made = path.with_suffix(".o"), emitted(code, reloc="static", codemodel="large")
    cache().write(path.name, _with_trailer(made, entries))


def build(unit: str) -> Path:
    """Build a unit in a process of its own and return the path of its file. Raises as `keep`."""
    cache().check(make=True)
    make([unit])
    path = shared_library(unit)
    return path if path.exists() else object_file(unit)


def make(units: Sequence[str], processes: int | None = None, **how: Any) -> None:
    """`relfast_kernels.compiled.making.make`, with crashes recorded by `note_failure`."""
    from relfast_kernels.compiled.making import make

    make(units, processes, crashed=note_failure, **how)


def _link(code: bytes) -> tuple[bytes | None, str]:
    """Link object code into a shared library; None if none can be linked, or loaded, here, and why, by
    linker."""
    import shutil
    import subprocess
    import tempfile

    reasons = []
    # private whatever the umask is, and in the directory where the library is going to be
    with tempfile.TemporaryDirectory(prefix=".linking-", dir=cache().path) as folder:
        source, made = Path(folder) / "code.o", Path(folder) / f"{os.path.basename(folder)}.so"
        source.write_bytes(code)
        for linker, *options in _LINKERS:
            program = shutil.which(linker)
            if program is None:
                reasons.append(f"{linker}: not found")
                continue
            command = [program, *options, "-o", str(made), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            try:
                if done.returncode:
                    raise OSError(" ".join(done.stderr.split()) or f"exit status {done.returncode}")
                ctypes.CDLL(str(made))  # not everything that links can be loaded: folders mounted noexec
                return made.read_bytes(), ""
            except OSError as error:
                reasons.append(f"{linker}: {error}".replace(f"{folder}/", ""))
    return None, "; ".join(reasons)
