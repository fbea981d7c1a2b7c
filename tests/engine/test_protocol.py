"""Frames between the pool and its workers."""

from __future__ import annotations

import os
import threading

import pytest

from relfast.engine.file_run.block_scoring import Segment
from relfast.engine.pool.protocol import Ready, frame, receive, send
from relfast.records import Score
from relfast.stats.tally import Tally


@pytest.mark.parametrize("size", [0, 1, 200, 3_000_000])
def test_rows_arrive_as_they_were(size: int) -> None:
    """Those that a pipe holds, and those that it takes many reads for."""
    rows = os.urandom(size)
    tally = Tally.of([Score(0, "a", "REL-A1", 0, "ok", True, 1.0, {})])
    sent = Segment(7, rows, 1, tally, n_fast=2, n_exact=3, n_left=4, detours={"gold": (2, "KeyError('x')")})
    readable, writable = os.pipe()
    writer = threading.Thread(target=lambda: [send(writable, each) for each in (sent, None, Ready(5))])
    writer.start()
    try:
        got = receive(readable)
        assert got == sent
        assert type(got.rows) is bytes
        assert receive(readable) is None
        assert receive(readable) == Ready(5)
    finally:
        writer.join()
        os.close(readable)
        os.close(writable)


def test_a_frame_in_one_piece_is_read_too() -> None:
    readable, writable = os.pipe()
    os.write(writable, frame(Ready(3)))
    assert receive(readable) == Ready(3)
    os.write(writable, frame(Ready(4))[:-1])
    os.close(writable)
    with pytest.raises(EOFError):
        receive(readable)
    os.close(readable)
