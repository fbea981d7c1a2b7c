"""Memory of the host and of the workers over 200,000 calls."""

from __future__ import annotations

import gc
import itertools

import psutil
import pytest
from reward_cases import distinct_c2, workers_of

import relfast

CALLS = 200_000
WARM = 100_000
"""By then every cache is full: 10,000 answers are remembered, and each worker has met the 3,000 molecules."""

BATCH = 400
GROWTH = 12 * 2**20
"""Noise of the allocators; what is kept of a call would be a hundred bytes at least, so 12 MB."""


@pytest.mark.slow
def test_memory_is_flat_over_200_000_calls() -> None:
    molecules = [response for _, response in distinct_c2(3_000)]
    golds = [{"smiles": "CCCCO"}, {"smiles": "CCN"}, {"smiles": "OCC(=O)O"}, {"smiles": "CCCl"}]
    # 12,000 different pairs come round and round, with reasoning that is new every time: more than are
    # remembered, so that each is scored again
    pairs = itertools.cycle((text, gold) for gold in golds for text in molecules)
    before = {worker.pid for worker in workers_of()}
    sizes: dict[int, dict[int, int]] = {}
    with relfast.Scorer(policy="strict", workers=2) as scorer:
        for call in range(0, CALLS, BATCH):
            chemistry = list(itertools.islice(pairs, BATCH // 4))
            n_text = BATCH - len(chemistry)
            batch = scorer.score_batch(
                ["REL-C2"] * len(chemistry) + ["REL-C1"] * n_text,
                [gold for _, gold in chemistry] + [{"label": "Yes"}] * n_text,
                [f"{call} so {text}" for text, _ in chemistry] + [f"{call} {n} <Yes>" for n in range(n_text)],
            )
            assert set(batch.status) == {"ok"}
            if call + BATCH in (WARM, CALLS):
                gc.collect()
                mine = [psutil.Process(), *(w for w in workers_of() if w.pid not in before)]
                sizes[call + BATCH] = {process.pid: process.memory_info().rss for process in mine}
        stats = scorer.stats()
    assert stats["ok"] == CALLS
    assert stats["workers_replaced"] == 0
    assert stats["scored_before"] + stats["shared"] < CALLS // 20
    assert sizes[WARM].keys() == sizes[CALLS].keys()
    grown = {pid: sizes[CALLS][pid] - sizes[WARM][pid] for pid in sizes[WARM]}
    assert max(grown.values()) < GROWTH, grown
