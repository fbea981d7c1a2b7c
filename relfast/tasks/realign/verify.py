r"""Compare answers with the package math-verify, in a child process with a time limit for each answer.

The package parses LaTeX with sympy: hostile answers keep it busy for minutes, a signal handler may not
stop it, and its own timeouts work only in a main thread. The child process, ``python -m
relfast.tasks.realign.verify``, reads JSON arrays ``[gold, pred]`` and replies ``true``, ``false`` or
``null`` (math-verify raised): after reading hostile text it can only say one of three words. A child that
exceeds the time limit is killed and replaced.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Final

from relfast.errors import MissingExtraError
from relfast.support.deadlines import Deadlines

SECONDS_PER_ANSWER: Final = 5.0
"""math-verify's own default for parsing."""

SECONDS_TO_START: Final = 60.0
"""Time limit for starting a child: importing sympy takes seconds on a busy machine."""

SHARE_OF_TIME_LEFT: Final = 0.8
"""Maximum share of a record's remaining time: an undecided answer must not cost the record its score."""

MAX_ANSWER_CHARS: Final = 2_000
"""Longer answers are not compared: no reference of MATH or GSM8K has more than 200 characters."""


def verify_answers(
    questions: Sequence[tuple[str, str] | None], deadlines: Deadlines | None = None
) -> list[bool | None]:
    """For each pair (gold, pred): whether they are mathematically equal; None if undecided, for example
    because the record's time runs out.

    Raises
    ------
    MissingExtraError
        `math-verify` is not installed.
    """
    if importlib.util.find_spec("math_verify") is None:
        raise MissingExtraError("--grader math-verify", "math")
    if deadlines is None:
        deadlines = Deadlines(len(questions))
    verdicts: list[bool | None] = [None] * len(questions)
    known: dict[tuple[str, str], bool | None] = {}
    with _lock:
        for k, question in enumerate(questions):
            if question is None or max(map(len, question)) > MAX_ANSWER_CHARS:
                continue
            if question not in known:
                deadlines.before_loading()
                child = _child()
                seconds = min(SECONDS_PER_ANSWER, SHARE_OF_TIME_LEFT * deadlines.left(k))
                with deadlines.step(k):
                    verdicts[k] = _ask(child, question, seconds)
                if verdicts[k] is None and seconds < SECONDS_PER_ANSWER:
                    continue  # another record may have more time
                known[question] = verdicts[k]
            verdicts[k] = known[question]
    return verdicts


_lock = threading.Lock()
_children: dict[int, _Child] = {}
"""Process id → the child of that process (a forked process must not use its parent's pipes)."""


def _child() -> _Child:
    """The child of this process, started if there is none."""
    return _children.get(os.getpid()) or _children.setdefault(os.getpid(), _Child())


def _ask(child: _Child, question: tuple[str, str], seconds: float) -> bool | None:
    """A child's verdict; a child that gives none within ``seconds``, or has died, is ended."""
    with contextlib.suppress(OSError, EOFError):
        child.line.send_bytes(json.dumps(question).encode())
        if child.line.poll(seconds):
            return {b"true": True, b"false": False}.get(child.line.recv_bytes())
    _end_child()
    return None


@atexit.register
def _end_child() -> None:
    child = _children.pop(os.getpid(), None)
    if child is not None:
        child.line.close()
        child.process.kill()
        child.process.wait()


class _Child:
    """A child process that runs math-verify, and the connection to it."""

    def __init__(self) -> None:
        self.line, child_end = Pipe()
        command = [sys.executable, "-P", "-m", "relfast.tasks.realign.verify", str(child_end.fileno())]
        with child_end:
            self.process = subprocess.Popen(
                command,
                pass_fds=[child_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)},
            )
        with contextlib.suppress(EOFError):  # the first question will notice that the child has died
            if self.line.poll(SECONDS_TO_START):
                self.line.recv_bytes()


def main(descriptor: str) -> None:
    """Run the child process: compare answers until the parent closes the connection."""
    from math_verify import parse, verify

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    line = Connection(int(descriptor))
    line.send_bytes(b"ready")
    while True:
        try:
            gold, pred = json.loads(line.recv_bytes())
        except EOFError:
            return
        # if the parent is killed while math-verify hangs, this timer ends the child
        signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS_PER_ANSWER)
        try:
            # without math-verify's timeouts: the parent enforces the time limit
            verdict = verify(
                parse(gold, parsing_timeout=None), parse(pred, parsing_timeout=None), timeout_seconds=None
            )
            answer = json.dumps(bool(verdict))
        except Exception:
            # math-verify and sympy raise anything on hostile text, MemoryError too: no verdict, and the child
            # goes on with the next answer
            answer = "null"
        line.send_bytes(answer.encode())
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main(sys.argv[1])
