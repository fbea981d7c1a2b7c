"""What is counted in many threads, one by one and in batches, is there to the last of it."""

from __future__ import annotations

import threading

from relfast.engine.online.counts import FOLD_AT, Counts


def test_nothing_is_lost_between_threads() -> None:
    counts = Counts()
    read: list[int] = []

    def count() -> None:
        for _ in range(2_000):
            counts.add("ok")
            counts.ticks["shared"]()
            counts.add_all(["ok", "ok", "no_answer"])

    def read_now_and_then() -> None:
        read.extend(counts["ok"] for _ in range(500))

    threads = [threading.Thread(target=count) for _ in range(6)]
    threads.append(threading.Thread(target=read_now_and_then))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # more than are kept before they are added up
    assert FOLD_AT < 6 * 2_000
    assert (counts["ok"], counts["shared"], counts["no_answer"]) == (36_000, 12_000, 12_000)
    assert read == sorted(read)
    # to read counts nothing
    assert (counts["ok"], counts["crashed"], counts["crashed"]) == (36_000, 0, 0)
