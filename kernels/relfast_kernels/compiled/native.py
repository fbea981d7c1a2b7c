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
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from relfast_kernels.compiled.cache import Cache, user_cache
from relfast_kernels.compiled.trust import UntrustedError

try:
    # hashlib's own; hashlib itself loads OpenSSL, which takes longer than all that is done here
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_ROOT: Final = Path(__file__).parent.parent

UNITS: Final = {
    "text": "text/entries.py",
    "maze": "maze/entries.py",
    "smiles": "smiles/entries.py",
    "mcs": "mcs/entries.py",
    "motif": "motif/entries.py",
    "tags": "tags/entries.py",
    "prompts": "prompts/entries.py",
    "align": "align.py",
    "isomers": "isomers.py",
}
"""What is built on its own, the longest first, and where its ``ENTRIES`` are declared."""

_FORM: Final = "1"
"""To be raised when files are written in another way."""

SHORT: Final = frozenset({"smiles", "maze", "mcs.prepare", "mcs.part", "text.read", "text.read_many"})
"""Units, and entries of units, that take microseconds."""

_LINKERS: Final = (
    ("ld", "-shared", "-z", "noexecstack"),
    ("cc", "-shared", "-nostdlib", "-Wl,-z,noexecstack"),
)


def cache() -> Cache:
    """Where the machine code is kept."""
    return user_cache("native")


def shared_library(unit: str) -> Path:
    """Where a unit's shared library is, or would be."""
    return cache().path / f"{unit}-{_digest(unit)}.so"


def object_file(unit: str) -> Path:
    """Where a unit's object file is, or would be."""
    return shared_library(unit).with_suffix(".o")


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


@lru_cache
def _digest(unit: str) -> str:
    import llvmlite  # without its binding, which takes 40 ms

    digest = blake2b(digest_size=12)
    for _, content in sorted(sources(unit).items()):
        digest.update(content)
    digest.update(f"{_FORM} {llvmlite.__version__} {sys.implementation.cache_tag} {_processor()}".encode())
    return digest.hexdigest()


def _processor() -> str:
    """What code is compiled for: the kind of processor and its instruction sets."""
    found = {"machine": os.uname().machine}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if not name.strip():
                    break  # the first one's
                if name.strip() in ("model name", "flags", "Features", "CPU part"):
                    found[name.strip()] = " ".join(sorted(value.split()))
    except OSError:
        import platform  # compiles ten patterns

        found["name"] = platform.processor()
    return json.dumps(found)


def is_built(unit: str) -> bool:
    """Whether a unit's code is there (it may still turn out torn)."""
    for path in (shared_library(unit), object_file(unit)):
        try:
            os.close(cache().open(path.name))
            return True
        except UntrustedError as error:
            cache().say(error)
        except OSError:
            continue
    return False


def remove(unit: str) -> None:
    """Remove a unit's files, where there are any."""
    for path in (shared_library(unit), object_file(unit)):
        with suppress(OSError):
            path.unlink()


def load(unit: str) -> Mapping[str, Callable[..., int]] | None:
    """A unit's functions by name, or None.

    Each takes the integers and pointers its entry declares (``int`` and ``ctypes.c_void_p``) and returns
    an int. `SHORT` ones hold the GIL: to get it back from busy threads takes milliseconds. What a function
    wraps (``__wrapped__``) is quicker still to call: it wants pointers to an int64 for the result and to a
    pointer for a failure first, and returns 0 if it has not failed. Its arguments are not converted: a plain
    integer goes in 32 bits, and the rest of the 64 is anything.
    """
    for path, open_code in ((shared_library(unit), _open_library), (object_file(unit), _open_object)):
        try:
            with open(cache().open(path.name), "rb") as file:
                code, checksum, entries = _read(file)
                address_of = open_code(file, code, checksum)
                _say_used(file)
            return {
                name: callable_at(
                    address_of(entry["symbol"]), entry["arguments"], holds_gil=is_short(unit, name)
                )
                for name, entry in entries.items()
            }
        except UntrustedError as error:
            cache().say(error)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError):
            continue
    return None


def _say_used(file: BinaryIO) -> None:
    """Have `clean_up` know that a file is used."""
    import time

    if os.fstat(file.fileno()).st_mtime < time.time() - _DAY:
        with suppress(OSError):  # another user's, or nothing can be written there
            os.utime(file.fileno())


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
    for symbol in ("memchr", "memcpy", "memmove", "memset", "abort"):
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


_built: dict[str, Mapping[str, Callable[..., int]]] = {}
_plain: dict[str, Mapping[str, Callable[..., int]]] = {}


def functions(unit: str) -> Mapping[str, Callable[..., int]]:
    """`load`, once a process, or the same functions as plain Python, some hundred times slower, where nothing
    is built yet."""
    built = _built.get(unit) or load(unit)
    if built is not None:
        _built[unit] = built
    elif unit not in _plain:
        import importlib

        declared = importlib.import_module(entries_of(unit)).ENTRIES
        _plain[unit] = {name: _as_plain(function) for name, (function, _) in declared.items()}
    return built or _plain[unit]


_calling = threading.RLock()


def _start_anew() -> None:
    """In a forked child: a thread that is not here may have held the lock."""
    global _calling
    _calling = threading.RLock()


os.register_at_fork(after_in_child=_start_anew)


def _as_plain(function: Callable[..., int]) -> Callable[..., int]:
    import numpy as np

    def call(*values: Any) -> int:
        # one at a time, as calls that hold the interpreter's lock; numbers wrap around as in machine code
        with _calling, np.errstate(all="ignore"):
            return int(function(*map(_address, values)))

    return call


def _address(value: Any) -> int:
    """What stands in a register for an argument, as ctypes passes it."""
    if isinstance(value, int):
        return int(value)
    return ctypes.cast(value, ctypes.c_void_p).value or 0


def is_short(unit: str, name: str) -> bool:
    """Whether a function of a unit is called with the interpreter's lock held."""
    return not SHORT.isdisjoint((unit, f"{unit}.{name}"))


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
    """Remove what other versions have left: libraries, and numba's files of old, that nobody has used for a
    week. A library that is loaded says so by its time (`load`), once a day."""
    import shutil
    import time

    for folder in (cache().path, user_cache("numba").path):
        with suppress(OSError):
            for path in folder.iterdir():
                if path.lstat().st_mtime > time.time() - 7 * _DAY:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


def keep(unit: str, module: Any, entries: Mapping[str, Any], emitted: Callable[..., bytes]) -> Path:
    """Write a unit's file, whole or not at all; where that is. ``emitted`` makes object code of ``module``.

    Raises
    ------
    UntrustedError
        Somebody else can write to the cache directory.
    OSError
        It cannot be written.
    """
    cache().check(make=True)
    library = _link(emitted(module, reloc="pic", codemodel="default"))
    if library is not None:
        return cache().write(shared_library(unit).name, _with_trailer(library, entries))
    # the code will land anywhere in the address space, far from the C library
    code = emitted(module, reloc="static", codemodel="large")
    return cache().write(object_file(unit).name, _with_trailer(code, entries))


def build(unit: str) -> Path:
    """Build a unit in a process of its own; where its file is. Raises as `keep`."""
    from relfast_kernels.compiled.making import make

    cache().check(make=True)
    make([unit], 1)
    path = shared_library(unit)
    return path if path.exists() else object_file(unit)


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
