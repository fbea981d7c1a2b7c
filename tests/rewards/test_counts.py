"""What is counted in many threads is there to the last of it."""

from __future__ import annotations

import threading

from relfast.engine.online.pending import Counts


def test_nothing_is_lost_between_threads() -> None:
    counts = Counts()
    read: list[int] = []

    def count() -> None:
        for _ in range(2_000):
            for name in ("ok", "shared", "ok"):
                counts[name]()

    def read_now_and_then() -> None:
        read.extend(counts.told("ok") for _ in range(500))

    threads = [threading.Thread(target=count) for _ in range(6)]
    threads.append(threading.Thread(target=read_now_and_then))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counts.told("ok"), counts.told("shared")) == (24_000, 12_000)
    assert read == sorted(read)
    # to read counts nothing
    assert (counts.told("ok"), counts.told("crashed"), counts.told("crashed")) == (24_000, 0, 0)
