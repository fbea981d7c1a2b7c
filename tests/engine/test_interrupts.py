"""SIGINT while RDKit searches, which for that time has a handler of its own: no Ctrl-C may be
lost, and no score may change by it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest
from corpora import rel_records
from patience import until
from processes import PYTHONPATH

import relfast


def _searches(n: int, seed: int) -> list[dict[str, Any]]:
    """REL-C2 records for which RDKit must search, since no kernel reads charges: for a part of the motif,
    or for what two motifs have in common."""
    motifs = sorted(
        {row["answer"]["smiles"] for row in rel_records("REL-C2")}, key=lambda smiles: (len(smiles), smiles)
    )[:60]
    rng = random.Random(seed)
    parts = ["C" * length for length in range(2, 6)]
    return [
        {
            "task": "REL-C2",
            "answer": {"smiles": f"{rng.choice(motifs)}.[Na+]{'.C' * (at % 9)}"},
            "response": f"<smiles>{rng.choice([*parts, rng.choice(motifs)])}.[Na+]</smiles>",
        }
        for at in range(n)
    ]


@contextmanager
def _rain(*pids: int) -> Iterator[None]:
    """SIGINT to processes all the time."""
    over = threading.Event()

    def drops() -> None:
        while not over.wait(0.0002):
            for pid in pids:
                os.kill(pid, signal.SIGINT)

    thread = threading.Thread(target=drops)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_workers_do_not_hear_it() -> None:
    """A terminal's Ctrl-C and a notebook's go to all processes of their group."""
    records = _searches(3_000, seed=1)
    with relfast.Scorer(workers=2) as scorer:
        quiet = scorer.score(records)
    with relfast.Scorer(workers=2) as scorer:
        scorer.start()
        until(lambda: scorer.stats()["workers"] == 2, "two workers")
        with _rain(*(child.pid for child in psutil.Process().children(recursive=True))):
            wet = scorer.score(records)
        assert scorer.stats()["workers_replaced"] == 0
    assert [score.metrics for score in wet] == [score.metrics for score in quiet]
    assert {score.status for score in quiet} == {"ok"}


_CALLER = """
import json, signal, sys
import relfast
heard = []
signal.signal(signal.SIGINT, lambda *signal: heard.append(signal))
records = json.load(sys.stdin)
print("ready", flush=True)
told = set()
while not told or len(heard) < int(sys.argv[1]):
    rows = [relfast.evaluate_response(r["task"], r["answer"], r["response"]) for r in records]
    told.add(json.dumps(rows, default=str))
# signals cut what Python writes to a pipe, and an interpreter that ends gives them their default action back
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print(*told, sep="\\n")
"""


def test_a_caller_that_scores_in_its_own_process() -> None:
    """It scores the same records until it has heard a number of signals."""
    records = json.dumps(_searches(1_000, seed=2))
    told: list[set[str]] = []
    for heard in (0, 200):
        with subprocess.Popen(
            [sys.executable, "-c", _CALLER, str(heard)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": PYTHONPATH, "OPENBLAS_NUM_THREADS": "1"},
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(records)
            process.stdin.close()
            assert process.stdout.readline() == "ready\n"
            with _rain(process.pid) if heard else contextlib.nullcontext():
                told.append(set(process.stdout))
            assert process.wait() == 0
    assert len(told[0]) == 1
    assert told[1] == told[0]
