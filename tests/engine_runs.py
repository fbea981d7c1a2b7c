"""Runs of ``relfast score`` that are killed, starved and continued: their input, and what they leave."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import psutil
import pytest
from processes import PATIENCE, started, until

from relfast.cli.main import cli, main

MARK: Final = "RELFAST_TEST_RUN"
"""Environment variable by which all processes of a run are found, orphans too."""

HANG: Final = {
    "task": "REL-C2",
    "answer": {"smiles": "CCO"},
    # RDKit takes minutes to parse it (quadratic in the fragments), and cannot be interrupted
    "response": "<smiles>" + ".".join(["c1ccccc1"] * 5000) + "</smiles>",
}

OUT_OF_MEMORY: Final = {
    "task": "REL-C2",
    "answer": {"smiles": "CCO"},
    # a ring of 20,000 atoms: 11 GB, and a segmentation fault where there is less
    "response": "<smiles>C1" + "C" * 20_000 + "1</smiles>",
}

_MOLECULES: Final = [
    "CCO", "CC(=O)O", "c1ccccc1", "C1CCNCC1", "CC(C)CO", "CCN(CC)CC", "OC1CCCCC1", "Cc1ccncc1",
    "CC(=O)Nc1ccc(O)cc1", "CCOC(=O)CC", "C1CC1C(N)=O", "CC#N", "O=C1CCCN1", "FC(F)(F)c1ccccc1", "CSC",
    "Clc1ccccc1", "NCCO", "C1COCCN1", "CC=CC", "OCC(O)CO",
]  # fmt: skip


def honest(n: int, seed: int = 0, *, padding: int = 0) -> list[dict[str, Any]]:
    """Records of all REL kinds with responses right and wrong; ``padding`` characters of question each."""
    rng = random.Random(seed)
    records = []
    for number in range(n):
        molecule, other = rng.sample(_MOLECULES, 2)
        task, answer, response = rng.choice(
            [
                ("REL-A1", {"target": rng.randrange(8)}, f"so: Answer {rng.randrange(1, 9)}"),
                ("REL-B1", {"label": "yes", "taxa": [1, 2, 3]}, f"Yes: taxon_{rng.randrange(4)}, taxon_3"),
                ("REL-C1", {"label": "Yes"}, rng.choice(["<Yes>", "<No>", "?"])),
                ("REL-C2", {"smiles": molecule}, f"<smiles>{rng.choice([molecule, other])}</smiles>"),
                (
                    "REL-C3",
                    {"missing_smiles": [molecule, other]},
                    f"<smiles>{molecule}</smiles> <smiles>CC</smiles>",
                ),
            ]
        )
        question = "".join(rng.choices("abcdefgh ", k=padding))
        records.append(
            {"id": f"r{number}", "task": task, "question": question, "answer": answer, "response": response}
        )
    return records


def write_dump(path: Path, records: Iterable[Any]) -> Path:
    """JSON lines; ``bytes`` are written as they are."""
    with open(path, "wb") as file:
        for record in records:
            file.write(record if isinstance(record, bytes) else json.dumps(record).encode() + b"\n")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def rows_in(folder: Path) -> bytes:
    """Those of a run in parts."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part-*.jsonl")))


def told(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary as a file has it, but for what differs between two runs of the same."""
    kept = {key: value for key, value in summary.items() if key not in ("output", "seconds")}
    return dict(json.loads(json.dumps(kept)))


class Run:
    """A ``relfast score`` under way."""

    def __init__(self, *arguments: object, **more: Any) -> None:
        self.mark = uuid.uuid4().hex
        environment = {MARK: self.mark, **more.pop("environment", {})}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = ("-m", "relfast", "score", *arguments)
        self.process = started(*command, environment=environment, **{**pipes, **more})
        self.pid = self.process.pid

    def wait(self, timeout: float = 2 * PATIENCE) -> subprocess.CompletedProcess[bytes]:
        out, err = self.process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)

    def kill(self, signum: int = signal.SIGKILL) -> None:
        self.process.send_signal(signum)

    def workers(self, n: int = 1) -> list[psutil.Process]:
        """Its worker processes, as soon as there are ``n``."""
        found: list[psutil.Process] = []

        def enough() -> bool:
            found[:] = [process for process in self.processes() if process.pid != self.pid]
            return len(found) >= n

        until(enough, f"a run with {n} workers")
        return found

    def processes(self) -> list[psutil.Process]:
        """All that live of the run, whatever their parent is now."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found

    def left(self) -> list[psutil.Process]:
        """What still lives after the command has ended; to be empty."""
        until(lambda: not self.processes(), "the end of the run's processes")
        return self.processes()


def peak_memory(process: subprocess.Popen[Any]) -> int:
    """Most bytes (PSS) that a command and its processes held together, looked at every 10 ms until it ends."""
    most, root = 0, psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            family = [root, *root.children(recursive=True)]
            most = max(most, sum(each.memory_full_info().pss for each in family))
        time.sleep(0.01)
    return most


def relfast(*arguments: object, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """A run from start to end, which leaves no process behind."""
    run = Run(*arguments, **more)
    done = run.wait()
    assert run.left() == []
    return done


def scored_here(dump: Path, out: Path, *more: object) -> bytes:
    """The command in this process, where nothing happens to it; its output."""
    workers = () if "--workers" in more else ("--workers", 0)
    arguments = ["score", dump, "-o", out, "-q", *workers, *more]
    assert cli.main(list(map(str, arguments)), standalone_mode=False) == 0
    return out.read_bytes()


def exit_code(*arguments: object) -> int:
    """Of a command in this process."""
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    return int(left.value.code or 0)


def wait_for_blocks(path: Path, n_blocks: int) -> None:
    """Wait until a run has committed so many blocks of rows."""
    journal = Path(f"{path}.journal")
    until(
        lambda: journal.exists() and journal.read_bytes().count(b"\n") > n_blocks,
        f"{path}, {n_blocks} blocks,",
    )


def statuses(path: Path) -> list[str]:
    return [row["status"] for row in rows_of(path)]
