"""Embedding: the same bits in any company, each text once, caches that change nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from relfast.embed import cache, models
from relfast.embed.adding import describe, resolve
from relfast.embed.embedder import Embedder, get_embedder
from relfast.embed.session import Session, usable_threads
from relfast.errors import InputError, UsageError

WORDS = ["the", "answer", "is", "x", "=", "42", "equal", "to", "step", "\\boxed{7}", "+", "13"]
texts_strategy = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), min_size=1, max_size=24
)


@given(texts=texts_strategy, cuts=st.lists(st.integers(1, 7), min_size=1), threads=st.integers(1, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_alone_batched_and_threaded_are_the_same_bits(
    tiny: models.Model, texts: list[str], cuts: list[int], threads: int
) -> None:
    together = Embedder(tiny, threads=1).encode(texts)
    other = Embedder(tiny, threads=threads)
    at, parts = 0, []
    while at < len(texts):
        step = cuts[len(parts) % len(cuts)]
        parts.append(other.encode(texts[at : at + step]))
        at += step
    assert np.array_equal(np.concatenate(parts), together)


@pytest.mark.slow
def test_minilm(cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It equals sentence-transformers, and gives the same bits in random batches, from the disk too."""
    reference = json.loads(Path(__file__).with_name("minilm_reference.json").read_text("utf-8"))
    model, rng = resolve("minilm"), np.random.default_rng(0)
    assert (model.max_tokens, model.dimensions, model.batch_stable) == (256, 384, True)
    # pieces of real steps, many of one length
    cuts = [(step, int(n)) for step in reference["steps"] for n in rng.integers(1, 14, 3)]
    texts = [*reference["steps"], *(" ".join(step.split()[:n]) for step, n in cuts)]
    expected = Embedder(model, threads=2).encode(texts)
    vectors = expected[: len(reference["steps"])]
    assert vectors[:, :8] == pytest.approx(np.array(reference["first_dimensions"]), abs=1e-5)
    assert vectors @ vectors.T == pytest.approx(np.array(reference["cosines"]), abs=1e-5)
    monkeypatch.setenv("RELFAST_EMBED_CACHE", "1")
    for threads, most in ((1, 5), (3, 40), (2, 40)):
        embedder, order = Embedder(model, threads=threads), rng.permutation(len(texts))
        while len(order):
            chosen, order = np.split(order, [int(rng.integers(1, most + 1))])
            assert np.array_equal(embedder.encode([texts[i] for i in chosen]), expected[chosen])


def test_each_distinct_text_is_computed_once(tiny: models.Model) -> None:
    embedder = Embedder(tiny)
    vectors, places = embedder.encode_distinct(["a", "b", "a", "a", "b"])
    assert (vectors.shape, places.tolist(), embedder.computed) == ((2, 32), [0, 1, 0, 0, 1], 2)
    assert np.array_equal(embedder.encode(["b", "a"]), vectors[[1, 0]])
    assert embedder.computed == 2
    assert embedder.encode([]).shape == (0, 32)


def test_any_text_has_a_vector(tiny: models.Model) -> None:
    texts = ["", " ", "\ud800 lone", "\0", "x" * 200_000, "\u202e", "🙂" * 500, "a\nb"]
    vectors = Embedder(tiny).encode(texts)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)


@pytest.fixture
def with_disk(tiny: models.Model, monkeypatch: pytest.MonkeyPatch) -> models.Model:
    monkeypatch.setenv("RELFAST_EMBED_CACHE", "1")
    return tiny


def test_a_warm_disk_cache_gives_the_same_bits(with_disk: models.Model, cache_dir: Path) -> None:
    texts = [" ".join(WORDS[:n]) for n in range(12)]
    first = Embedder(with_disk)
    expected = first.encode(texts)
    second = Embedder(with_disk)
    assert np.array_equal(second.encode([*reversed(texts), "new one"])[:-1], expected[::-1])
    assert (first.computed, second.computed) == (12, 1)
    assert cache.open_disk_cache(replace(with_disk, batch_stable=False), "cpu") is None
    (file,) = (cache_dir / "vectors").glob("*.sqlite")
    assert file.name.startswith("tiny-")


_OPENER = """
import sys, time, warnings
from pathlib import Path
from relfast.embed.cache import DiskCache
warnings.simplefilter("error")
folder, number, at = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for turn in range(20):
    while time.time() < at + 0.03 * turn:
        pass
    cache = DiskCache(folder / f"{turn}.sqlite", 4)
    cache.put([(bytes([number]) * 16, bytes(16))])
    cache.close()
"""


def test_a_new_disk_cache_is_opened_by_several_at_once(tmp_path: Path) -> None:
    """As workers do; one that finds the file locked while another makes it must not go without."""
    at = time.time() + 1.0
    commands = [[sys.executable, "-c", _OPENER, str(tmp_path), str(number), str(at)] for number in range(3)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    openers = [subprocess.Popen(command, env=env) for command in commands]
    assert [opener.wait() for opener in openers] == [0, 0, 0]
    for turn in range(20):
        disk = cache.DiskCache(tmp_path / f"{turn}.sqlite", 4)
        assert len(disk.get([bytes([number]) * 16 for number in range(3)])) == 3
        disk.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b"not a database at all" * 100),
        lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
        lambda file: _change(file, "UPDATE vectors SET vector = zeroblob(128)"),
        lambda file: _change(file, "UPDATE vectors SET vector = 'text'"),
        lambda file: _change(file, "UPDATE vectors SET check_sum = NULL WHERE 0"),
        lambda file: _change(file, "DROP TABLE vectors"),
    ],
)
@pytest.mark.filterwarnings("ignore:relfast. embeddings are not cached:RuntimeWarning")
def test_a_damaged_disk_cache_changes_no_vector(
    with_disk: models.Model, cache_dir: Path, damage: Callable[[Path], None]
) -> None:
    texts = [" ".join(WORDS[:n]) for n in range(12)]
    embedder = Embedder(with_disk)
    expected = embedder.encode(texts)
    assert embedder._disk is not None
    embedder._disk.close()
    (file,) = (cache_dir / "vectors").glob("*.sqlite")
    for extra in file.parent.glob(f"{file.name}-*"):
        extra.unlink()
    damage(file)
    assert np.array_equal(Embedder(with_disk).encode(texts), expected)


def _change(file: Path, statement: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_threads_share_an_embedder(tiny: models.Model) -> None:
    embedder = Embedder(tiny)
    texts = [f"{word} {n}" for n in range(40) for word in WORDS]
    expected = Embedder(tiny).encode(texts)
    parts = [list(range(part, len(texts), 3)) * 2 for part in range(6)]
    with ThreadPoolExecutor(6) as threads:
        for part, found in zip(
            parts, threads.map(lambda part: embedder.encode([texts[i] for i in part]), parts), strict=True
        ):
            assert np.array_equal(found, expected[part])


def test_a_forked_child_makes_its_own_session(tiny: models.Model) -> None:
    """In a fresh interpreter: pytest's own threads make a fork here a warning, rightly."""
    code = (
        "import os, numpy as np\n"
        "from relfast.embed.embedder import get_embedder\n"
        f"name = {tiny.path!r}\n"
        "before = get_embedder(name).encode(['the answer is 42'])\n"
        "assert get_embedder(name) is get_embedder(name)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    same = np.array_equal(get_embedder(name).encode(['the answer is 42']), before)\n"
        "    os._exit(0 if same else 1)\n"
        "_, status = os.waitpid(child, 0)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(status))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=PATIENCE, check=False)
    assert done.returncode == 0


def test_threads_and_devices(tiny: models.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert usable_threads() >= 1
    monkeypatch.setenv("RELFAST_EMBED_THREADS", "3")
    assert usable_threads() == 3
    monkeypatch.setenv("RELFAST_EMBED_THREADS", "many")
    with pytest.raises(UsageError, match="RELFAST_EMBED_THREADS"):
        usable_threads()
    monkeypatch.delenv("RELFAST_EMBED_THREADS")
    for device in ("tpu", "cuda:x", "cpu:1"):
        with pytest.raises(UsageError, match="unknown device"):
            Session(tiny, device)
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        with pytest.raises(UsageError, match="onnxruntime-gpu"):
            Session(tiny, "cuda")


def test_a_broken_graph_is_named(tiny: models.Model) -> None:
    tiny.graph_path.write_bytes(b"torn")
    with pytest.raises(InputError, match=r"model\.onnx"):
        Session(tiny)


def test_names_are_resolved(
    tiny: models.Model, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert resolve("tiny") == tiny
    assert resolve(tiny.path) == tiny
    assert models.canonical_name("baai/BGE-large-en-v1.5") == "bge-large"
    for name in ("bge-large", "BAAI/bge-large-en-v1.5"):
        with pytest.raises(UsageError, match="relfast embedder add bge-large"):
            resolve(name)
    with pytest.raises(UsageError, match=r"no embedding model 'nobody'.*bge-base.*tiny"):
        resolve("nobody")
    with pytest.raises(InputError, match="no ONNX file"):
        resolve(str(tmp_path))
    (Path(tiny.path) / "relfast.json").write_text("{}")
    with pytest.raises(InputError, match="add the model again"):
        resolve("tiny")


def test_auto_prefers_the_benchmarks_own_model(
    tiny: models.Model, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "package_directory", lambda name: None)
    with pytest.raises(UsageError, match="relfast embedder add bge-large"):
        resolve("auto")
    home = models.models_directory()
    Path(tiny.path).rename(home / "minilm")
    assert resolve("auto").path == str(home / "minilm")
    subprocess.run(["cp", "-r", str(home / "minilm"), str(home / "bge-large")], check=True)
    assert resolve("auto").path == str(home / "bge-large")


def test_the_signature_says_which_model(tiny: models.Model) -> None:
    assert describe("tiny", "cpu") == f"tiny@{tiny.hash[:12]}"
    assert describe("tiny", "cuda") == f"tiny@{tiny.hash[:12]} on cuda (last bits depend on the batch)"
    assert describe("nobody", "cpu") == "nobody (not on this machine)"
    assert get_embedder("tiny").describe() == describe("tiny", "cpu")
    # the same weights under another name sign with that name
    subprocess.run(["cp", "-r", tiny.path, f"{tiny.path}-2"], check=True)
    assert get_embedder(f"{tiny.path}-2") is not get_embedder("tiny")
