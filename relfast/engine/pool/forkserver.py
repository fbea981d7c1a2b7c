"""Fast replacements: a helper process with everything imported that forks workers on demand.

A worker that is started takes 0.3 s of imports before its first record; one that is forked from this
process takes 10 ms. Where many records hang or crash, that is most of the time. The helper is started by
exec when the first worker has died, so that a quiet run never pays for it, and it has one thread, so
that its forks are sound; the caller itself is never forked.

Over a socket of packets the pool sends ``fork`` with a worker's three descriptors, or ``kill`` with a pid;
the helper answers with the pid, and later with the exit status and the CPU time. The kernel keeps packets
and their descriptors together, so that they need no frames (`protocol`). Workers die with the helper, and the
helper with the pool's process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import Final

from relfast import interrupts
from relfast.engine.pool.failures import LOST
from relfast.engine.pool.launch import start

_REPLY: Final = struct.Struct("<cqqq")
_STARTED, _ENDED, _READY, _REFUSED = b"s", b"e", b"r", b"x"
_PACKET: Final = 1 << 16

REPLY_SECONDS: Final = 5.0
"""A fork takes 5 ms; where none comes for so long, a worker is started without the helper."""


class ForkedProcess:
    """A worker forked by the helper: what `subprocess.Popen` is for a started one."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.worked: float | None = None
        """CPU seconds that it spent in its life; known once it was waited for."""
        self._server = server

    def kill(self) -> None:
        # the helper kills what it has not yet reaped, so the pid cannot be somebody else's by now
        self._server.request_kill(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, negative for a signal. Raises `subprocess.TimeoutExpired`."""
        status, self.worked = self._server.wait(self.pid, timeout)
        return status


class ForkServer:
    """The pool's side of the helper.

    A thread of its own starts it and lives as long as it does: the kernel ends a child when the *thread*
    that started it ends.
    """

    def __init__(self, gold: Sequence[str]) -> None:
        self._gold = tuple(gold)
        self._changed = threading.Condition()
        self._ours: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._statuses: dict[int, tuple[int, float] | None] = {}
        self._started: deque[int | None] = deque()
        self._asking = threading.Lock()
        self.ready = self.gone = False
        self._closed = self._ended = False
        self._thread = threading.Thread(target=self._run, name="relfast-forkserver", daemon=True)
        self._thread.start()

    def fork(self, requests: int, answers: int, page: int) -> ForkedProcess:
        """A worker that reads ``requests`` and writes ``answers``. Raises `OSError` where none comes."""
        with self._asking:
            self._send(b"fork", [requests, answers, page])
            with self._changed:
                if not self._changed.wait_for(lambda: self._started or self.gone, REPLY_SECONDS):
                    # it may come later and would be taken for another: this helper is not asked again
                    self.gone = True
                    raise OSError("the fork server does not answer")
                pid = self._started.popleft() if self._started else None
            if pid is None:
                raise OSError("the fork server is gone")
            return ForkedProcess(self, pid)

    def request_kill(self, pid: int) -> None:
        with contextlib.suppress(OSError):
            self._send(b"kill %d" % pid, [])

    def wait(self, pid: int, timeout: float | None) -> tuple[int, float | None]:
        """A worker's exit status and CPU seconds. Raises `subprocess.TimeoutExpired`."""
        with self._changed:
            known = self._changed.wait_for(
                lambda: self._statuses.get(pid) is not None or self._ended, timeout
            )
            if not known:
                raise subprocess.TimeoutExpired("worker", timeout or 0)
            end = self._statuses.pop(pid, None)
        return (LOST, None) if end is None else end

    def close(self) -> None:
        """End the helper, and with it all that it forked."""
        with self._changed:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        if self._thread is not threading.current_thread():
            self._thread.join(2.0)

    def _send(self, message: bytes, descriptors: list[int]) -> None:
        ours = self._ours
        if ours is None or self.gone:
            raise OSError("the fork server is gone")
        flags = socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT
        if descriptors:
            socket.send_fds(ours, [message], descriptors, flags)
        else:
            ours.send(message, flags)

    def _run(self) -> None:
        process = None
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with ours:
                with theirs:
                    nowhere = subprocess.DEVNULL
                    process = start(__name__, stdin=theirs.fileno(), stdout=nowhere, stderr=nowhere)
                with self._changed:
                    self._process, self._ours = process, ours
                    if self._closed:
                        process.kill()
                ours.send(pickle.dumps(self._gold))
                while reply := ours.recv(_REPLY.size):
                    self._take(*_REPLY.unpack(reply))
        except OSError:
            pass
        finally:
            self._ours = None
            if process is not None:
                process.kill()
                process.wait()
            with self._changed:
                self.ready, self.gone, self._ended = False, True, True
                self._changed.notify_all()

    def _take(self, kind: bytes, pid: int, status: int, worked: int) -> None:
        with self._changed:
            if kind == _READY:
                self.ready = True
            elif kind == _STARTED:
                self._statuses[pid] = None
                self._started.append(pid)
            elif kind == _REFUSED:
                self._started.append(None)
            elif pid in self._statuses:
                self._statuses[pid] = status, worked / 1e6
            self._changed.notify_all()


# the helper's side


class _Helper:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: set[int] = set()
        self._wake, wake = socket.socketpair()
        self._wake.setblocking(False)
        wake.setblocking(False)
        self._wake_end = wake
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        self._reply(_READY, os.getpid(), 0)
        while True:
            for descriptor, _ in poller.poll():
                if descriptor == self._wake.fileno():
                    with contextlib.suppress(BlockingIOError):
                        self._wake.recv(_PACKET)
                    self._reap()
                elif not self._obey():
                    return

    def _obey(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, 3)
        if not message:
            return False
        if message == b"fork":
            self._fork(descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
        else:
            pid = int(message.split()[1])
            if pid in self._children:
                os.kill(pid, signal.SIGKILL)
        return True

    def _fork(self, descriptors: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError:
            self._reply(_REFUSED, 0, 0)
            return
        if not pid:
            try:
                self._become_worker(*descriptors)
            finally:
                os._exit(1)
        self._children.add(pid)
        self._reply(_STARTED, pid, 0)

    def _become_worker(self, requests: int, answers: int, page: int) -> None:
        from relfast.engine.pool import worker

        server = os.getppid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for mine in (self._control, self._wake, self._wake_end):
            mine.close()
        os.dup2(requests, 0)
        os.dup2(answers, 1)
        os.close(requests)
        os.close(answers)
        worker.main(server, page)
        os._exit(0)

    def _reap(self) -> None:
        while self._children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return
            self._children.discard(pid)
            worked = int(1e6 * (usage.ru_utime + usage.ru_stime))
            self._reply(_ENDED, pid, os.waitstatus_to_exitcode(status), worked)

    def _reply(self, kind: bytes, pid: int, status: int, worked: int = 0) -> None:
        self._control.send(_REPLY.pack(kind, pid, status, worked), socket.MSG_NOSIGNAL)


def _import_what_workers_need(gold: Sequence[str]) -> None:
    from relfast.engine.pool import worker
    from relfast.tasks import TASKS

    for task in TASKS.values():
        with contextlib.suppress(ImportError):
            task.import_modules()
    worker.keep_gold(tuple(gold))


def main(parent: int) -> None:
    """Serve the pool of process ``parent`` over the socket that is our stdin."""
    from relfast.engine.pool import worker

    worker.die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts.block_for_good()
    control = socket.socket(fileno=os.dup(0))
    gold = pickle.loads(control.recv(_PACKET))
    _import_what_workers_need(gold)
    # what is here now is never freed: the collector need not touch, and so copy, its pages
    gc.collect()
    gc.freeze()
    with contextlib.suppress(OSError):
        _Helper(control).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]))
