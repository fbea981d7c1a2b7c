"""The fork server: a helper process with one thread, which has imported what workers need and forks them.

A new Python process needs 0.3 s of imports before its first record, a forked worker 5 ms; if many records
hang or crash, starting workers takes most of the time. The caller's own process is not forked, since it may
have threads: a pool starts the helper by exec. Only a ``relfast`` command, which has a single thread when it
begins, forks the helper itself (`prefork`), and goes on importing while the helper gets ready.

Over a packet socket (SOCK_SEQPACKET) the pool sends ``fork`` with a worker's four file descriptors, ``kill``
with a pid, or ``import``. The helper answers with the pid, and later with the exit status and CPU time. The
socket keeps each packet and its descriptors together, so no frames (`protocol`) are needed. Workers die with
the helper, and the helper dies with the pool's process.
"""

from __future__ import annotations

# the module `socket` would take 4 ms to import, and nothing of it but `_socket` is needed
import _socket
import contextlib
import gc
import itertools
import os
import pickle
import select
import signal
import struct
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from relfast_kernels.caches import QUIET_VARIABLE

from relfast.engine.isolated.failures import LOST
from relfast.support.system import block_interrupts, uninterrupted

if TYPE_CHECKING:
    import subprocess

_REPLY: Final = struct.Struct("<cqqq")
_STARTED, _ENDED, _REFUSED = b"s", b"e", b"x"
_FORK, _IMPORT = b"fork", b"import"
_PACKET: Final = 1 << 16
_DESCRIPTORS: Final = struct.Struct("4i")

START_SECONDS: Final = 120.0
"""Longest time that a worker may take to start: imports take 0.3 s, and a minute from a cold network disk."""


class ServerGone(Exception):
    """The helper ended, with this exit status, before it had forked the requested worker."""

    def __init__(self, status: int) -> None:
        self.status = status


class ForkServer:
    """The pool's side of the helper: uses the helper that `prefork` has started, if there is one, else starts
    one.

    A separate thread starts the helper and lives as long as it does: since the helper asks to die with its
    parent, the operating system ends it when the *thread* that started it ends.

    Parameters
    ----------
    gold
        The files of ``--data``, which the helper reads once for all of its workers.
    strict
        Whether the policy is ``strict``, under which more of gold is prepared.
    """

    def __init__(self, gold: Sequence[str], *, strict: bool) -> None:
        self._changed = threading.Condition()
        self._statuses: dict[int, tuple[int, float | None]] = {}
        self._started: deque[tuple[int, int]] = deque()
        self._asking = threading.Lock()
        self._status = 0
        self._error: OSError | None = None
        self._closed = self._ended = False
        early = _early.pop() if _early else None
        self._process: _Forked | subprocess.Popen[bytes] | None = early and early[0]
        self._ours, theirs = (early[1], None) if early else _socketpair()
        gold_of = pickle.dumps(([*gold], strict))
        # workers read themselves so many files that their names are no packet
        self._ours.send(gold_of if len(gold_of) <= _PACKET else pickle.dumps(([], strict)))
        self._thread = threading.Thread(
            target=self._run, args=(theirs,), name="relfast-forkserver", daemon=True
        )
        self._thread.start()

    def fork(self, requests: int, answers: int, page: int, counts: int) -> int:
        """Fork a worker that reads the descriptor ``requests`` and writes ``answers``, with its in-flight
        ``page`` and the pool's ``counts`` of lines; returns its pid.

        Raises
        ------
        OSError
            The worker cannot be started.
        ServerGone
            The helper has ended.
        """
        with self._asking:
            self._send(_FORK, [requests, answers, page, counts])
            with self._changed:
                if not self._changed.wait_for(lambda: self._started or self._ended, START_SECONDS):
                    # the late answer would be taken for that to a later request: the helper is ended
                    self._kill()
                    self._changed.wait_for(lambda: self._ended)
                if self._error is not None:
                    raise self._error
                if not self._started:
                    raise ServerGone(self._status)
                pid, number = self._started.popleft()
        if not pid:
            raise OSError(number, os.strerror(number))
        return pid

    def kill(self, pid: int) -> None:
        """Kill a worker. The helper does it, as the parent: the pid cannot belong to another process yet."""
        self._send(b"kill %d" % pid)

    def import_tasks(self) -> None:
        """Make the helper import the modules of all tasks (0.3 s), so that workers forked from now on have
        them. Called after a worker has died: more may follow."""
        self._send(_IMPORT)

    def wait(self, pid: int, timeout: float | None) -> tuple[int, float | None] | None:
        """A worker's exit status (negative for a signal) and CPU seconds; None if it still runs after
        ``timeout`` seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: pid in self._statuses or self._ended, timeout):
                return None
            return self._statuses.pop(pid, (LOST, None))

    def close(self) -> None:
        """End the helper, and with it all workers that it has forked."""
        with self._changed:
            self._closed = True
            self._kill()
        if self._thread is not threading.current_thread():
            self._thread.join(2.0)

    @property
    def gone(self) -> bool:
        """Whether the helper has ended."""
        return self._ended

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))
        with self._changed:
            try:
                flags = _socket.MSG_NOSIGNAL | _socket.MSG_DONTWAIT
                self._ours.sendmsg([message], [rights] if descriptors else [], flags)
            except OSError:  # the helper has ended, or does not read its socket
                self._kill()

    def _run(self, theirs: _socket.socket | None) -> None:
        """The thread's work: start the helper, unless ``theirs`` is None, and receive its answers."""
        try:
            if theirs is not None:
                started = _start(theirs.fileno())
                theirs.close()
                with self._changed:
                    self._process = started
                    if self._closed:
                        started.kill()
            while reply := self._ours.recv(_REPLY.size):
                self._take(*_REPLY.unpack(reply))
        except OSError as error:
            self._error = None if self._process else error
        finally:
            with self._changed:
                process, self._process = self._process, None
            if process is not None:
                process.kill()
                self._status = process.wait()
            with self._changed:
                self._ended = True
                self._ours.close()
                self._changed.notify_all()

    def _take(self, kind: bytes, pid: int, status: int, worked: int) -> None:
        with self._changed:
            if kind == _ENDED:
                self._statuses[pid] = status, worked / 1e6
            else:
                self._started.append((pid, status))
            self._changed.notify_all()


def _socketpair() -> tuple[_socket.socket, _socket.socket]:
    return _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)


# starting a process


def _start(stdin: int) -> subprocess.Popen[bytes]:
    """Start the helper as a new program, which inherits no memory of the caller.

    Raises
    ------
    OSError
        It cannot be started.
    """
    import subprocess  # loads a dozen modules, which commands that use `prefork` do without

    if not sys.executable:
        raise OSError("this interpreter does not know its own program (sys.executable is empty)")
    # -P: the caller's directory may hold a module that shadows one of ours. -S: the caller's path is
    # handed over whole, so that looking for site packages again (20 ms) would find nothing new.
    command = [sys.executable, "-P", "-S", "-m", "relfast.engine.isolated.forkserver", str(os.getpid())]
    # a child inherits blocked signals: a Ctrl-C while it still imports must not print a traceback. It sets
    # up its signals itself once it runs.
    with uninterrupted():
        return subprocess.Popen(command, stdin=stdin, env=environment())


def environment() -> dict[str, str]:
    """The caller's environment variables, with a PYTHONPATH that finds all packages the caller can import."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(import_path()),
        # otherwise numpy's OpenBLAS starts a thread per core in each worker, and no worker uses them
        "OPENBLAS_NUM_THREADS": "1",
        # the pool reports problems with the kernels once for all workers
        QUIET_VARIABLE: "1",
    }


def import_path() -> list[str]:
    """The import path for workers: the folders of relfast and its kernels, then the caller's path."""
    here = Path(__file__).parent.parent.parent.parent
    roots = [str(here), str(here / "kernels")] if (here / "kernels").is_dir() else [str(here)]
    return list(dict.fromkeys([*roots, *(entry or os.getcwd() for entry in sys.path)]))


# the helper's side


class _Helper:
    """The helper's main loop: obeys the pool's requests, and reports workers that end (SIGCHLD)."""

    def __init__(self, control: _socket.socket) -> None:
        self._control = control
        self._children: set[int] = set()
        self._wake, self._wake_end = os.pipe()
        for end in (self._wake, self._wake_end):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(self._wake_end, warn_on_full_buffer=False)

    def serve(self) -> None:
        poller = select.poll()
        poller.register(self._control.fileno(), select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        while True:
            for descriptor, _ in poller.poll():
                if descriptor == self._wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake, _PACKET)
                    self._reap()
                elif not self._obey():
                    return

    def _obey(self) -> bool:
        message, rights, *_ = self._control.recvmsg(_PACKET, _socket.CMSG_SPACE(_DESCRIPTORS.size))
        if message == _FORK:
            descriptors = _DESCRIPTORS.unpack(rights[0][2])
            self._fork(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
        elif message == _IMPORT:
            _import_tasks()
        elif message and (pid := int(message.split()[1])) in self._children:
            os.kill(pid, signal.SIGKILL)
        return bool(message)

    def _fork(self, requests: int, answers: int, page: int, counts: int) -> None:
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            self._reply(_REFUSED, 0, error.errno or 0)
            return
        if not pid:
            try:
                self._become_worker(server, requests, answers, page, counts)
            finally:
                os._exit(1)
        self._children.add(pid)
        self._reply(_STARTED, pid, 0)

    def _become_worker(self, server: int, requests: int, answers: int, page: int, counts: int) -> None:
        from relfast.engine.isolated import worker

        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(requests, 0)
        os.dup2(answers, 1)
        for mine in (self._control.fileno(), self._wake, self._wake_end, requests, answers):
            os.close(mine)
        try:
            worker.main(server, page, counts)
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())

    def _reap(self) -> None:
        while self._children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            self._children.discard(pid)
            worked = int(1e6 * (usage.ru_utime + usage.ru_stime))
            self._reply(_ENDED, pid, os.waitstatus_to_exitcode(status), worked)

    def _reply(self, kind: bytes, pid: int, status: int, worked: int = 0) -> None:
        self._control.send(_REPLY.pack(kind, pid, status, worked), _socket.MSG_NOSIGNAL)


def _import_tasks() -> None:
    from relfast.tasks import TASKS

    for task in TASKS.values():
        with contextlib.suppress(ImportError):
            task.import_modules()
    gc.freeze()


def _serve(parent: int, control: _socket.socket, guess: tuple[Sequence[str], bool] = ((), False)) -> None:
    """Run the helper: fork workers for process ``parent``, which sends over ``control`` the files of
    ``--data`` and whether the policy is ``strict``, and then requests. It begins with its ``guess`` of these,
    but with no pipe, which can be read only once."""
    from relfast.engine.isolated import worker
    from relfast.engine.job import MAX_LINE_BYTES

    worker.die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    block_interrupts()
    nowhere = _open_standard_streams()
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    # reading 100,000 gold records would run the garbage collector a dozen times, a quarter of the whole time
    gc.disable()
    # workers read them themselves if that fails, and report why, or if their job says otherwise
    with contextlib.suppress(Exception):
        paths, strict = guess
        guessed = tuple(map(os.path.abspath, paths))
        if guessed and all(os.path.isfile(path) or os.path.isdir(path) for path in guessed):
            worker.gold_of(guessed, MAX_LINE_BYTES, strict)
    with contextlib.suppress(Exception):
        paths, strict = pickle.loads(control.recv(_PACKET))
        if paths:
            worker.gold_of(tuple(paths), MAX_LINE_BYTES, strict)  # at once, if the guess was right
    # these objects are never freed; frozen, the collector does not touch their pages, which stay shared
    gc.freeze()
    gc.enable()
    with contextlib.suppress(OSError):
        _Helper(control).serve()


def _open_standard_streams() -> int:
    """Open /dev/null for standard streams that the caller had closed: no other file may get the numbers 0
    to 2. Returns one more descriptor of it."""
    while (nowhere := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    return nowhere


def main(parent: int) -> None:
    """The helper's entry point: serve the pool of process ``parent`` over the socket on stdin."""
    _open_standard_streams()
    control = _socket.socket(fileno=os.dup(0))
    _serve(parent, control)


# the helper that a command forks early


class _Forked:
    """A helper forked from this process, with the methods of `subprocess.Popen` that `ForkServer` uses."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end; its exit status. Call it once, as the last method."""
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


_early: list[tuple[_Forked, _socket.socket]] = []


def prefork(arguments: Sequence[str]) -> bool:
    """Fork the helper for the pool that this command is about to open. Returns False if this process has
    several threads, which forbids it.

    ``arguments`` are the command's arguments, from which the helper guesses ``--data`` and ``--policy``.
    """
    # this folder also lists threads that Python did not start
    if len(os.listdir("/proc/self/task")) != 1:
        return False
    from relfast.engine.isolated import worker  # noqa: F401 (which both need)

    parent = os.getpid()
    ours, theirs = _socketpair()
    # blocked, so that a signal sent to both processes does not run this command's handlers in the helper
    signals = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        pid = os.fork()
        if not pid:
            for signum in signals:
                signal.signal(signum, signal.SIG_DFL)
            ours.close()
            _become_helper(parent, theirs, arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    _early.append((_Forked(pid), ours))
    return True


def dismiss() -> None:
    """End a helper that `prefork` has started and no pool has used."""
    while _early:
        process, _ = _early.pop()
        process.kill()
        process.wait()


def _become_helper(parent: int, control: _socket.socket, arguments: Sequence[str]) -> NoReturn:
    from relfast.engine.isolated import worker

    try:
        sys.path[:] = import_path()
        os.environ[QUIET_VARIABLE] = "1"
        with contextlib.suppress(Exception):  # each worker will load it itself, and report the error
            worker.load_fast_path()
        is_strict = _values_of("--policy", arguments)[-1:] == ["strict"]
        _serve(parent, control, (_values_of("--data", arguments), is_strict))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _values_of(option: str, arguments: Sequence[str]) -> list[str]:
    """The values given for an option, as a parser finds them that knows no other option: the value of another
    one that looks like this one is taken for it."""
    values: list[str] = []
    left = iter(arguments)
    for argument in itertools.takewhile(lambda each: each != "--", left):
        if argument == option:
            values += itertools.islice(left, 1)
        elif argument.startswith(f"{option}="):
            values.append(argument.partition("=")[2])
    return values


if __name__ == "__main__":
    main(int(sys.argv[1]))
