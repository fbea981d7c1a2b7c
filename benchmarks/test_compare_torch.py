"""Against torch: sentence-transformers for MiniLM, transformers for BGE's architecture on random weights.

Torch is no dependency: `make test-trainers` installs it and runs these as smoke tests, `make bench-torch` measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relfast.embed import models
from relfast.embed.adding import add
from relfast.embed.embedder import Embedder
from relfast.embed.models import Model

from .measure import against, size
from .workloads_realign import steps

BGE = {"small": (384, 12, 12), "base": (768, 12, 12), "large": (1024, 16, 24)}
"""hidden size, heads and layers of BAAI/bge-*-en-v1.5."""

TOLERANCE = 1e-5

pytestmark = pytest.mark.trainers


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("compare")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(directory / "cache"))
        patch.delenv("RELFAST_EMBED_CACHE", raising=False)
        yield directory


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_minilm_against_sentence_transformers(home: Path, benchmark: Any) -> None:
    import sentence_transformers
    import torch

    package = models.package_directory("minilm")
    texts = steps(size(benchmark, smoke=64, quick=200, full=1_500))
    embedder = Embedder("minilm")
    torch.set_num_threads(embedder.threads)
    rival = sentence_transformers.SentenceTransformer(str(package), device="cpu")
    rival.encode(texts[:32], show_progress_bar=False)
    embedder.encode(["warm up"])
    widest: list[float] = []

    def check(ours: Any, theirs: Any) -> bool:
        widest.append(float(np.abs(ours - theirs).max()))
        return widest[-1] <= TOLERANCE

    def ours() -> Any:
        from relfast.embed.cache import MemoryCache

        embedder._memory = MemoryCache(embedder.dimensions)
        return embedder.encode(texts)

    against(
        benchmark,
        ours,
        lambda: rival.encode(texts, batch_size=32, show_progress_bar=False),
        task="embedding distinct steps, MiniLM, against sentence-transformers (float32, same threads)",
        items=len(texts),
        name="vs",
        limit=2.2,
        at_least=True,
        check=check,
    )
    benchmark.extra_info |= {"widest_difference": widest[-1], "threads": embedder.threads}


@pytest.mark.parametrize("name", list(BGE))
def test_bge_architecture_equals_transformers(home: Path, name: str, benchmark: Any) -> None:
    """Random weights of BGE's shapes, with all their layers in the full run."""
    import torch
    import transformers

    package = models.package_directory("minilm")
    assert package is not None
    hidden, heads, layers = BGE[name]
    layers = min(layers, size(benchmark, smoke=1, quick=4, full=layers))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=hidden,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=4 * hidden,
    )
    network = transformers.BertModel(config, add_pooling_layer=False).eval()
    directory = home / f"bge-{name}-shape"
    network.save_pretrained(directory, safe_serialization=True)
    (directory / "tokenizer.json").write_bytes((package / "tokenizer.json").read_bytes())
    (directory / "1_Pooling").mkdir()
    (directory / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    model: Model = add(str(directory))
    assert model.max_tokens == 512
    embedder = Embedder(model)
    # a step takes the large one 20 times as long as the small one
    texts = steps(size(benchmark, smoke=16, quick=100, full=200 if name == "large" else 1_000))
    ours = benchmark.pedantic(lambda: embedder.encode(texts), rounds=1, iterations=1)
    widest = 0.0
    with torch.inference_mode():
        for batch in embedder.batches(texts):
            vectors = network(input_ids=torch.from_numpy(batch.ids)).last_hidden_state[:, 0]
            theirs = torch.nn.functional.normalize(vectors, dim=1).numpy()
            widest = max(widest, float(np.abs(ours[batch.positions] - theirs).max()))
    assert widest <= TOLERANCE
    benchmark.extra_info |= {
        "task": f"BGE {name} shape ({layers} layers, random weights) against transformers",
        "items": len(texts),
        "correct": True,
        "widest_difference": widest,
    }
