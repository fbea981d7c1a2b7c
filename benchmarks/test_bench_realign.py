"""ReAlign: the alignment kernel, embeddings against naive batches and torch, memory, the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from engine_runs import write_dump
from numpy.typing import NDArray
from processes import python

from relfast.embed import models
from relfast.embed.adding import resolve
from relfast.embed.cache import MemoryCache
from relfast.embed.embedder import Embedder
from relfast.embed.models import Model

from .measure import QUICK, against, relfast_command, size
from .workloads_realign import matrices, solutions, steps

ROWS, COLUMNS = 12, 14


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(tmp_path_factory.mktemp("embedders")))
        patch.delenv("RELFAST_EMBED_CACHE", raising=False)
        yield resolve("minilm")


@pytest.fixture(scope="module")
def embedder(minilm: Model) -> Embedder:
    return Embedder(minilm)


def _fresh(embedder: Embedder) -> Embedder:
    """An embedder whose caches are empty."""
    embedder._memory = MemoryCache(embedder.model.dimensions)
    return embedder


def test_alignment_against_the_textbook(benchmark: Any) -> None:
    from naive_realign import align
    from relfast_kernels.align import align_batch

    pairs = size(benchmark, smoke=16, quick=1_000, full=4_000)
    stack = matrices(pairs, ROWS, COLUMNS)
    rows, columns = np.full(pairs, ROWS), np.full(pairs, COLUMNS)
    cells = np.arange(pairs) * ROWS * COLUMNS
    flat = stack.ravel()
    align_batch(flat, cells, rows, columns, -0.1, 0.7)
    against(
        benchmark,
        lambda: align_batch(flat, cells, rows, columns, -0.1, 0.7),
        lambda: [align(matrix, ROWS, COLUMNS) for matrix in stack],
        task=f"alignment with path, batch of {ROWS} × {COLUMNS}, against a plain loop over the matrix",
        items=pairs,
        limit=500,
        at_least=True,
        check=lambda ours, theirs: all(
            total / matches == average
            for total, matches, (_, average) in zip(ours[4], ours[3], theirs, strict=True)
        ),
    )


@pytest.mark.slow
def test_embedding_against_naive_batches(minilm: Model, embedder: Embedder, benchmark: Any) -> None:
    """Batches of 32 as they come, padded to their longest text, through the same graph."""
    texts = [
        step
        for row in solutions(size(benchmark, smoke=4, quick=6, full=160))
        for field in ("benchmark_solution", "llm_solution")
        for step in row[field].split("\n")
        if len(step) > 1
    ]
    session = onnxruntime.InferenceSession(str(minilm.graph_path))

    def naive() -> NDArray[np.float32]:
        parts = []
        for at in range(0, len(texts), 32):
            encoded = [item.ids for item in embedder._tokenizer.encode_batch(texts[at : at + 32])]
            lengths = np.array([len(ids) for ids in encoded])
            ids = np.zeros((len(encoded), lengths.max()), np.int64)
            for row, tokens in zip(ids, encoded, strict=True):
                row[: len(tokens)] = tokens
            parts.append(session.run(None, {"input_ids": ids, "lengths": lengths})[0])
        return np.concatenate(parts)

    against(
        benchmark,
        lambda: _fresh(embedder).encode(texts),
        naive,
        task="embedding the steps of solutions, MiniLM, against padded batches of 32",
        items=len(texts),
        limit=3.0,
        at_least=True,
        check=lambda ours, theirs: bool(np.allclose(ours, theirs, atol=1e-5)),
    )


_ADDED = """
import json, sys, psutil
from relfast.embed.embedder import Embedder
embedder = Embedder(sys.argv[1])
texts = json.load(sys.stdin)
embedder.encode(texts[:2])
before = psutil.Process().memory_info().rss
embedder.encode(texts)
print((psutil.Process().memory_info().rss - before) / 2**20)
"""


def test_memory_over_the_loaded_model(minilm: Model, benchmark: Any) -> None:
    """Resident memory that embedding adds to a loaded model and runtime, in a process of its own."""
    texts = steps(size(benchmark, smoke=24, quick=1_000, full=4_000))

    def measure() -> float:
        done = python("-c", _ADDED, minilm.path, input=json.dumps(texts), check=True, timeout=None)
        return float(done.stdout)

    added = benchmark.pedantic(measure, rounds=1, iterations=1)
    assert added <= 100
    task = "memory that embedding adds to a loaded MiniLM"
    benchmark.extra_info.update(task=task, items=len(texts), value=round(added, 1), unit="MB", limit=100)


@pytest.mark.slow
def test_a_warm_disk_cache_against_a_cold_one(minilm: Model, tmp_path: Path, benchmark: Any) -> None:
    """`relfast score` on real solutions: the first run computes, the next ones look up."""
    rows = solutions(size(benchmark, smoke=4, quick=100, full=1_200))
    dump, out = write_dump(tmp_path / "dump.jsonl", rows), tmp_path / "out.jsonl"
    arguments = ["score", dump, "-o", out, "--overwrite", "-q", "--embedder", minilm.path, "--timeout", 0]
    runs = iter(range(1000))

    def score(cache: Path) -> bytes:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RELFAST_EMBED_CACHE", str(cache))
            relfast_command(*arguments)
        return out.read_bytes()

    score(tmp_path / "warm")
    against(
        benchmark,
        lambda: score(tmp_path / "warm"),
        lambda: score(tmp_path / f"cold{next(runs)}"),
        task="relfast score on solutions with a warm disk cache of embeddings, against a cold one",
        items=len(rows),
        limit=10,
        at_least=True,
        rounds=1 if QUICK else 3,
        check=lambda warm, cold: bool(warm == cold and warm.count(b"\n") == len(rows)),
    )


# against torch, which is no dependency: `make test-trainers` installs it and runs this as a smoke test, `make bench-torch`
# measures


@pytest.mark.trainers
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_minilm_against_sentence_transformers(embedder: Embedder, benchmark: Any) -> None:
    import sentence_transformers
    import torch

    package = models.package_directory("minilm")
    texts = steps(size(benchmark, smoke=64, quick=200, full=1_500))
    torch.set_num_threads(embedder.threads)
    rival = sentence_transformers.SentenceTransformer(str(package), device="cpu")
    rival.encode(texts[:32], show_progress_bar=False)
    embedder.encode(["warm up"])
    against(
        benchmark,
        lambda: _fresh(embedder).encode(texts),
        lambda: rival.encode(texts, batch_size=32, show_progress_bar=False),
        task="embedding distinct steps, MiniLM, against sentence-transformers (float32, same threads)",
        items=len(texts),
        limit=2.2,
        at_least=True,
        check=lambda ours, theirs: bool(np.abs(ours - theirs).max() <= 1e-5),
    )
