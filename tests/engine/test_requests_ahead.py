"""A worker that is about to be done is sent its next block: whatever becomes of it, each block is scored once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from patience import until

from relfast import score_file
from relfast.engine.file_run import files
from relfast.engine.io import cutting
from relfast.engine.pool.pool import Pool
from relfast.engine.pool.protocol import WorkItem
from relfast.engine.pool.worker_process import Worker

N = 1_000


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty blocks of lines that kernels read."""
    monkeypatch.setattr(files, "LARGE_BYTES", 0)
    monkeypatch.setattr(cutting, "BLOCK_BYTES", 1 << 14)
    path = tmp_path / "dump.jsonl"
    with path.open("w") as file:
        for n in range(N):
            response = f"{'x ' * 250}Answer {n % 5 + 1}"
            row = {"id": f"r{n}", "task": "REL-A1", "answer": {"target": n % 8}, "response": response}
            file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def expected(dump: Path) -> bytes:
    out = dump.with_name("expected.jsonl")
    assert score_file(dump, out, workers=0).rows == N
    return out.read_bytes()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("killed", [(), (2, 9)], ids=["left alone", "killed"])
def test_blocks_that_were_sent_ahead(
    workers: int, killed: tuple[int, ...], dump: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed then, the worker leaves its block in mid-answer and the next one not begun."""
    ahead: list[WorkItem] = []
    send = Pool._send_ahead

    def spy(pool: Pool, worker: Worker) -> None:
        send(pool, worker)
        if worker.ahead is not None:
            ahead.append(worker.ahead)
            if len(ahead) in killed:
                worker.kill()

    monkeypatch.setattr(Pool, "_send_ahead", spy)
    out = dump.with_name("out.jsonl")
    score_file(dump, out, workers=workers)
    assert out.read_bytes() == expected
    assert len(ahead) > 10


def test_a_request_that_cannot_be_sent_ahead(
    dump: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker is gone before it is sent its next block: what it had answered counts."""
    gone: list[Worker] = []
    send = Pool._send_ahead

    def too_late(pool: Pool, worker: Worker) -> None:
        if not gone:
            gone.append(worker)
            worker.kill()
            until(lambda: worker.pid in worker.server._statuses)
        send(pool, worker)

    monkeypatch.setattr(Pool, "_send_ahead", too_late)
    out = dump.with_name("out.jsonl")
    score_file(dump, out, workers=1)
    assert out.read_bytes() == expected
    assert gone
