"""Builds units: each in a process of its own, several at a time, none of which outlives the one that asks.

`make` starts and follows these processes; `build_here` is what each of them does. Two that build the same
unit at a time take turns, and the second one finds it done.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from relfast_kernels.compiled import native

_LOWERING: Final = 0.8
"""The share of a unit's build time that numba's lowering takes; the rest is LLVM's."""

_SECONDS: Final = {"text": 75.0, "maze": 20.0, "smiles": 15.0, "mcs": 15.0}

_ROOM: Final = 16 << 20
"""Bytes that all libraries may take."""

_FORGOTTEN_DAYS: Final = 7

_LINKERS: Final = (
    ("ld", "-shared", "-z", "noexecstack"),
    ("cc", "-shared", "-nostdlib", "-Wl,-z,noexecstack"),
)


class Progress(NamedTuple):
    """How far a build is: the unit last heard of, its functions lowered and in all (equal: LLVM optimises it,
    0 and 0: it is built), the share of the work that is done, and the seconds left (-1: unknown)."""

    unit: str
    done: int
    functions: int
    share: float
    left: float


def seconds_of(unit: str) -> float:
    """The approximate seconds that building a unit takes on one core."""
    return _SECONDS.get(unit, 8.0)


def make(
    units: Sequence[str],
    processes: int | None = None,
    *,
    processors: Sequence[str] = ("",),
    tell: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Build units, each in a process that ends with this thread, ``processes`` at a time (None: cores).

    ``processors`` are the targets, as `builder.emitted` takes them.

    Raises
    ------
    UntrustedError
        Somebody else can write to the cache directory.
    OSError
        A unit cannot be built or stored; the others are built all the same.
    """
    _check_room()
    done = dict.fromkeys(units, 0.0)
    whole = sum(map(seconds_of, units))
    waiting = sorted(units, key=seconds_of)
    running: dict[int, _Child] = {}
    failed: list[str] = []
    poller, started = select.poll(), time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < (processes or len(os.sched_getaffinity(0))):
                child = _Child(waiting.pop(), processors)
                running[child.descriptor] = child
                poller.register(child.descriptor, select.POLLIN)
            for descriptor, _ in poller.poll():
                child = running[descriptor]
                n, functions = child.heard()
                if child.process.returncode is not None:
                    poller.unregister(descriptor)
                    del running[descriptor]
                    failed += child.failure
                done[child.unit] = _LOWERING * n / functions if functions else 1.0
                share = sum(part * seconds_of(one) for one, part in done.items()) / whole
                left = (time.monotonic() - started) * (1 - share) / share if share > 0.02 else -1.0
                tell(Progress(child.unit, n, functions, share, left))
    finally:
        for child in running.values():
            child.process.kill()
            child.process.wait()
    if failed:
        raise OSError("; ".join(failed))


class _Child:
    """A process that builds a unit, and what it has said."""

    def __init__(self, unit: str, processors: Sequence[str]) -> None:
        import subprocess  # whoever only asks how long it takes need not load it

        self.unit = unit
        command = [sys.executable or "", "-P", "-m", "relfast_kernels.compiled"]
        self.process = subprocess.Popen(
            [*command, str(os.getpid()), unit, ",".join(processors)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(),
        )
        assert self.process.stdout is not None
        self.descriptor = self.process.stdout.fileno()
        self._said = ""

    def heard(self) -> tuple[int, int]:
        """Read what it says now, and wait for it at its end: functions lowered and in all, 0 and 0 at the end
        and before the first."""
        piece = os.read(self.descriptor, 1 << 16)
        self._said = (self._said + piece.decode(errors="replace"))[-(1 << 14) :]
        if not piece:
            with self.process:
                return 0, 0
        steps = _STEP.findall(self._said)
        return (int(steps[-1][0]), int(steps[-1][1])) if steps else (0, 1)

    @property
    def failure(self) -> list[str]:
        """Why it has failed, if it has."""
        status = self.process.returncode
        if not status:
            return []
        reason = _STEP.sub("", self._said).strip().rpartition("\n")[2]
        if status < 0:
            reason = f"killed by {signal.Signals(-status).name}"
        return [f"kernels {self.unit} cannot be built: {reason}"]


_STEP: Final = re.compile(r"^(\d+) (\d+)\n", re.MULTILINE)


def _environment() -> dict[str, str]:
    """This process's environment, in which the child finds every package where this process finds it."""
    path, here = [entry for entry in sys.path if entry], str(Path(__file__).parents[2])
    if here not in path:
        path.insert(0, here)
    # NUMBA_DISABLE_JIT, set to run kernels as plain Python, must not keep them from being built
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "NUMBA_DISABLE_JIT": "0"}


def _check_room() -> None:
    """Make sure that libraries can be kept, before time is spent on compiling them. Raises as `make`."""
    import tempfile

    native.cache().check(make=True)
    with tempfile.TemporaryFile(dir=native.cache().path) as file:
        os.posix_fallocate(file.fileno(), 0, _ROOM)


def clean_up() -> None:
    """Delete files, such as those of other versions, that nobody has used for a week. `native.load` updates
    the modification time of a library that it loads, once a day."""
    import shutil

    with suppress(OSError):
        native.cache().check()
        for path in native.cache().path.iterdir():
            if path.lstat().st_mtime > time.time() - _FORGOTTEN_DAYS * native.DAY:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


# in the process that builds


def build_here(unit: str, processors: Sequence[str], *, own_way: bool) -> None:
    """Build a unit for those processors whose library is missing; if that fails, again in numba's own way. On
    standard output a line tells each step: how many functions are lowered, of how many."""
    with _alone(native.shared_library(unit, processors[0]).stem):
        missing = [each for each in processors if not native.is_kept(unit, each)]
        if not missing:
            return
        try:
            from relfast_kernels.compiled import builder

            module, entries = builder.module_of(native.entries_of(unit), own_way=own_way, tell=_tell)
        except Exception:
            if own_way:
                raise
            # in a new process: in this one numba's functions are half compiled
            again = [sys.executable, "-P", "-m", "relfast_kernels.compiled"]
            os.execv(sys.executable, [*again, *sys.argv[1:4], "own"])
        for processor in missing:
            keep(unit, module, entries, builder.emitted, processor)


def _tell(done: int, functions: int) -> None:
    sys.stdout.write(f"{done} {functions}\n")
    sys.stdout.flush()


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Hold the lock of a library to be built, so that one process per machine does the work: wait while
    another one holds it. The lock ends with its process, however that ends. Raises `OSError`."""
    place = native.cache().path / f".{name}.lock"
    lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        with suppress(OSError):
            place.unlink()  # a process that waits for it finds the work done, or does it again
    finally:
        os.close(lock)


def keep(
    unit: str, module: str, entries: Mapping[str, Any], emitted: Callable[..., bytes], processor: str
) -> None:
    """Store a unit's library, whole or not at all. ``emitted`` makes object code of LLVM's ``module``.

    Raises
    ------
    UntrustedError
        Somebody else can write to the cache directory.
    OSError
        It cannot be written; or nothing here links a library that can be loaded; or the code lacks a
        function, as that of a compiler that is too old.
    """
    native.cache().check(make=True)
    library = _link(emitted(module, processor))
    native.cache().write(native.shared_library(unit, processor).name, native.with_trailer(library, entries))


def _link(code: bytes) -> bytes:
    """A shared library, linked of object code, that can be loaded here. Raises `OSError`: why not, by
    linker."""
    import shutil
    import subprocess
    import tempfile

    reasons = []
    # private whatever the umask is, and in the directory where the library is going to be
    with tempfile.TemporaryDirectory(prefix=".linking-", dir=native.cache().path) as folder:
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
                return made.read_bytes()
            except OSError as error:
                reasons.append(f"{linker}: {error}".replace(f"{folder}/", ""))
    raise OSError(f"nothing links a shared library (binutils has a linker): {'; '.join(reasons)}")
