r"""math-verify's opinion of answers, from a process of its own with a deadline for each.

The package parses LaTeX with sympy: on hostile answers it runs for minutes and may not be stopped by a
signal handler, and its own timeouts work in a main thread only. The child is
``python -m relfast.tasks.realign.verify``: one JSON array ``[gold, pred]`` a line in, ``true``, ``false`` or
``null`` (it raised) out. A child that misses a deadline is killed and replaced.

JSON, and not the pickled frames of the engine's workers, which tasks do not know: a child that has read
hostile text can only say one of three words here.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from relfast.deadlines import Deadlines
from relfast.errors import MissingExtraError

SECONDS_PER_ANSWER: Final = 5.0
"""math-verify's own default for parsing."""

SECONDS_TO_START: Final = 60.0
"""Importing sympy takes seconds on a busy machine."""

SHARE_OF_TIME_LEFT: Final = 0.8
"""Most of a record's time for it: an answer that is left undecided must not cost the record its score."""

MAX_ANSWER_CHARS: Final = 2_000
"""Longer answers are not asked about: no reference of MATH or GSM8K has more than 200 characters."""

_READY: Final = b"ready"


def verify_answers(
    questions: Sequence[tuple[str, str] | None], deadlines: Deadlines | None = None
) -> list[bool | None]:
    """For each (gold, pred): whether they are the same mathematically; None where undecided, be it that
    the record's time runs out.

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
                with deadlines.step({k: 1}):
                    verdicts[k] = _ask(child, question, seconds)
                if verdicts[k] is None and seconds < SECONDS_PER_ANSWER:
                    continue  # another record may have more time
                known[question] = verdicts[k]
            verdicts[k] = known[question]
    return verdicts


_lock = threading.Lock()
_children: dict[int, _Child] = {}
"""The verifying process of each process of ours (a forked one must not use its parent's pipes)."""


def _child() -> _Child:
    """This process's verifying process, started if there is none."""
    pid = os.getpid()
    child = _children.get(pid)
    if child is None:
        child = _children[pid] = _Child()
    return child


def _ask(child: _Child, question: tuple[str, str], seconds: float) -> bool | None:
    verdict, alive = child.ask(question, seconds)
    if not alive:
        child.kill()
        del _children[os.getpid()]
    return verdict


@atexit.register
def _end_child() -> None:
    child = _children.pop(os.getpid(), None)
    if child is not None:
        child.kill()


class _Child:
    """A verifying process. Its pipes are raw: a deadline needs to know what has come."""

    def __init__(self) -> None:
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "relfast.tasks.realign.verify"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._read(SECONDS_TO_START)

    def ask(self, question: tuple[str, str], seconds: float) -> tuple[bool | None, bool]:
        """Its verdict within ``seconds``, and whether it is fit for another question."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
        except OSError:
            return None, False
        line = self._read(seconds)
        if line is None:
            return None, False
        return {b"true": True, b"false": False}.get(line.strip()), True

    def kill(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()

    def _read(self, seconds: float) -> bytes | None:
        """A line, or None where the deadline passes or the child is gone."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([descriptor], [], [], seconds)
            part = os.read(descriptor, 64) if ready else b""
            if not part:
                return None
            line += part
        return line


def main() -> None:
    """Answer questions until stdin ends."""
    from math_verify import parse, verify

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints must not land between answers
    os.write(answers, _READY + b"\n")
    for line in sys.stdin:
        gold, pred = json.loads(line)
        # the parent may be killed while we hang: then the kernel ends us
        signal.setitimer(signal.ITIMER_REAL, 2 * SECONDS_PER_ANSWER)
        try:
            # no timeout of its own: the parent has the clock
            verdict = verify(
                parse(gold, parsing_timeout=None), parse(pred, parsing_timeout=None), timeout_seconds=None
            )
            os.write(answers, json.dumps(bool(verdict)).encode() + b"\n")
        except Exception:
            os.write(answers, b"null\n")
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
