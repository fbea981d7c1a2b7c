"""Embedding: the same bits in any company, each text once, caches that change nothing; checkpoints that become
models."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_cache import give_away
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import python, started
from tiny_bert import LETTERS, make_checkpoint

from relfast.embed import cache, models
from relfast.embed.adding import add, describe, resolve
from relfast.embed.embedder import Embedder, get_embedder
from relfast.embed.models import Model
from relfast.embed.session import Session
from relfast.errors import InputError, UsageError

WORDS = ["the", "answer", "is", "x", "=", "42", "equal", "to", "step", "\\boxed{7}", "+", "13"]
texts_strategy = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), min_size=1, max_size=24
)


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory of the test's own."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(directory))
    monkeypatch.delenv("RELFAST_EMBED_CACHE", raising=False)
    monkeypatch.delenv("RELFAST_EMBED_THREADS", raising=False)
    return directory


@pytest.fixture
def tiny(cache_dir: Path, tmp_path: Path) -> Model:
    """A tiny BGE-like model, added from its checkpoint."""
    return add(str(make_checkpoint(tmp_path / "checkpoint")), "tiny")


@given(texts=texts_strategy, cuts=st.lists(st.integers(1, 7), min_size=1), threads=st.integers(1, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_alone_batched_and_threaded_are_the_same_bits(
    tiny: Model, texts: list[str], cuts: list[int], threads: int
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


def test_each_distinct_text_is_computed_once(tiny: Model) -> None:
    embedder = Embedder(tiny)
    vectors, places = embedder.encode_distinct(["a", "b", "a", "a", "b"])
    assert (vectors.shape, places.tolist(), embedder.computed) == ((2, 32), [0, 1, 0, 0, 1], 2)
    assert np.array_equal(embedder.encode(["b", "a"]), vectors[[1, 0]])
    assert embedder.computed == 2
    assert embedder.encode([]).shape == (0, 32)


def test_any_text_has_a_vector(tiny: Model) -> None:
    texts = ["", " ", "\ud800 lone", "\0", "x" * 200_000, "\u202e", "🙂" * 500, "a\nb"]
    vectors = Embedder(tiny).encode(texts)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)


@pytest.fixture
def with_disk(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("RELFAST_EMBED_CACHE", "1")
    return tiny


def test_a_warm_disk_cache_gives_the_same_bits(with_disk: Model, cache_dir: Path) -> None:
    texts = [" ".join(WORDS[:n]) for n in range(12)]
    first = Embedder(with_disk)
    expected = first.encode(texts)
    second = Embedder(with_disk)
    assert np.array_equal(second.encode([*reversed(texts), "new one"])[:-1], expected[::-1])
    assert (first.computed, second.computed) == (12, 1)
    assert cache.open_disk_cache(replace(with_disk, batch_stable=False), "cpu") is None
    (file,) = (cache_dir / "vectors").glob("*.sqlite")
    assert file.name.startswith("tiny-")
    with_disk.graph_path.write_bytes(b"torn")  # read for the first text that is not cached, and not before
    third = Embedder(with_disk)
    assert np.array_equal(third.encode(texts), expected)
    with pytest.raises(InputError, match=r"model\.onnx"):
        third.encode([*texts, "newer one"])


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
    openers = [started("-c", _OPENER, tmp_path, number, at) for number in range(3)]
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
        lambda file: _change(file, "DROP TABLE vectors"),
    ],
)
@pytest.mark.filterwarnings("ignore:relfast. embeddings are not cached:RuntimeWarning")
def test_a_damaged_disk_cache_changes_no_vector(
    with_disk: Model, cache_dir: Path, damage: Callable[[Path], None]
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
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_forked_child_makes_its_own_session(tiny: Model) -> None:
    """In a fresh interpreter: pytest's own threads make a fork here a warning, rightly."""
    code = """
import os, sys, numpy as np
from relfast.embed.embedder import get_embedder
before = get_embedder(sys.argv[1]).encode(["the answer is 42"])
assert get_embedder(sys.argv[1]) is get_embedder(sys.argv[1])
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(not np.array_equal(get_embedder(sys.argv[1]).encode(["the answer is 42"]), before))
"""
    python("-c", code, tiny.path, check=True)


def test_threads_and_devices(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Embedder(tiny).threads >= 1
    monkeypatch.setenv("RELFAST_EMBED_THREADS", "3")
    assert Embedder(tiny).threads == 3
    monkeypatch.setenv("RELFAST_EMBED_THREADS", "many")
    with pytest.raises(UsageError, match="RELFAST_EMBED_THREADS"):
        Embedder(tiny)
    monkeypatch.delenv("RELFAST_EMBED_THREADS")
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CPUExecutionProvider"])
    wrong = dict.fromkeys(("tpu", "cuda:x", "cpu:1"), "unknown device") | {"cuda": "onnxruntime-gpu"}
    for device, message in wrong.items():
        for opened in (Session, Embedder):
            with pytest.raises(UsageError, match=message):
                opened(tiny, device)


def test_a_broken_graph_is_named(tiny: Model) -> None:
    tiny.graph_path.write_bytes(b"torn")
    with pytest.raises(InputError, match=r"model\.onnx"):
        Session(tiny)


def test_names_are_resolved(
    tiny: Model, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    tiny: Model, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "package_directory", lambda name: None)
    with pytest.raises(UsageError, match="relfast embedder add bge-large"):
        resolve("auto")
    home = models.models_cache().path
    Path(tiny.path).rename(home / "minilm")
    assert resolve("auto").path == str(home / "minilm")
    subprocess.run(["cp", "-r", str(home / "minilm"), str(home / "bge-large")], check=True)
    assert resolve("auto").path == str(home / "bge-large")


def test_the_signature_says_which_model(tiny: Model) -> None:
    assert describe("tiny", "cpu") == f"tiny@{tiny.hash[:12]}"
    assert describe("tiny", "cuda") == f"tiny@{tiny.hash[:12]} on cuda (last bits depend on the batch)"
    assert describe("nobody", "cpu") == "nobody (not on this machine)"
    assert models.describe_model(get_embedder("tiny").model, "cpu") == describe("tiny", "cpu")
    # the same weights under another name sign with that name
    subprocess.run(["cp", "-r", tiny.path, f"{tiny.path}-2"], check=True)
    assert get_embedder(f"{tiny.path}-2") is not get_embedder("tiny")


# models and vectors that somebody else can have written are not used


FILES = ("model.onnx", "tokenizer.json", "relfast.json")
PARTS = (".", "embedders", "embedders/tiny", *(f"embedders/tiny/{name}" for name in FILES))


@pytest.mark.parametrize("part", PARTS)
def test_a_model_that_others_can_have_written_is_not_here(
    part: str, tiny: Model, cache_dir: Path, tmp_path: Path
) -> None:
    assert resolve("tiny") == tiny
    spoilt = cache_dir / part
    give_away(spoilt)
    with pytest.warns(RuntimeWarning, match=f" is not used: {spoilt} |{spoilt} "):
        assert models.known_models() == []
    with pytest.raises(UsageError, match="no embedding model 'tiny'"):
        resolve("tiny")
    if spoilt.is_file():
        spoilt.rename(tmp_path / spoilt.name)
        spoilt.symlink_to(tmp_path / spoilt.name)
        with pytest.warns(RuntimeWarning, match=f"{spoilt} is a link"):
            assert models.known_models() == []


def test_a_model_added_with_an_open_umask_is_used(cache_dir: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        model = add(str(make_checkpoint(tmp_path / "bert")), "mine")
    finally:
        os.umask(before)
    assert models.known_models() == [model]
    assert cache_dir.stat().st_mode & 0o7777 == 0o700


@pytest.mark.parametrize("chosen", ["1", "path"])
def test_vectors_where_others_can_write_are_not_kept(
    chosen: str, tiny: Model, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache_dir / "vectors" if chosen == "1" else tmp_path / "chosen"
    monkeypatch.setenv("RELFAST_EMBED_CACHE", "1" if chosen == "1" else str(folder))
    disk = cache.open_disk_cache(tiny, "cpu")
    assert disk is not None
    disk.put([(bytes(16), bytes(128))])
    disk.close()
    assert disk.path.parent == folder
    give_away(folder)
    with pytest.warns(RuntimeWarning, match=f" is not used: {folder} "):
        assert cache.open_disk_cache(tiny, "cpu") is None


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_a_database_that_is_a_link_is_not_opened(
    suffix: str, tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELFAST_EMBED_CACHE", str(tmp_path / "chosen"))
    disk = cache.open_disk_cache(tiny, "cpu")
    assert disk is not None
    disk.close()
    file = disk.path.with_name(disk.path.name + suffix)
    file.unlink(missing_ok=True)
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match=f"{file} is a link"):
        assert cache.open_disk_cache(tiny, "cpu") is None
    assert not (tmp_path / "elsewhere").exists()


# checkpoints to model directories: the graph against a forward pass in numpy, and what is refused


TEXTS = [
    "a",
    "the answer is 42",
    "step 1: 2x + 5 = 13",
    "equal to \\boxed{7}. " * 3,
    "unknown: \u20ac \u00e9 \u4e2d",
    "",
    " ".join(LETTERS) * 3,
]


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ({"pooling": "cls", "hidden": 32, "heads": 4, "layers": 2}, [-0.154617, -0.072588, 0.239897]),
        ({"pooling": "cls", "hidden": 48, "heads": 3, "layers": 1}, [-0.134112, 0.110277, 0.074567]),
        ({"pooling": "cls", "hidden": 64, "heads": 1, "layers": 3}, [0.184376, 0.239134, -0.025172]),
        ({"pooling": "mean", "hidden": 32, "heads": 4, "layers": 2}, [-0.164258, -0.083078, 0.263213]),
        ({"pooling": "mean", "hidden": 48, "heads": 3, "layers": 1}, [-0.026159, 0.158982, 0.051516]),
        ({"pooling": "mean", "hidden": 64, "heads": 1, "layers": 3}, [0.190512, 0.235244, -0.026114]),
    ],
)
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_graph_equals_the_textbook(
    cache_dir: Path, tmp_path: Path, shape: dict[str, Any], first: list[float], prefix: str
) -> None:
    """Numbers of a forward pass in plain numpy, in float64, written from Devlin et al. 2019. Padding and a shorter
    cut, which the tokenizer's file asks for, are off."""
    model = add(str(make_checkpoint(tmp_path / "bert", prefix=prefix, **shape)))
    assert (model.pooling, model.dimensions, model.max_tokens) == ("graph", shape["hidden"], 48)
    embedder = Embedder(model)
    assert embedder.encode(["step 1: 2x + 5 = 13"])[0, :3] == pytest.approx(first, abs=2e-6)
    assert [batch.ids.shape for batch in embedder.batches([" ".join(LETTERS)])] == [(1, 48)]


def test_half_precision_is_for_gpus(cache_dir: Path, tmp_path: Path) -> None:
    """No CPU runs it for scores; here the runtime itself does, to see that the graph is close to the whole one."""
    import onnxruntime

    checkpoint = make_checkpoint(tmp_path / "bert", hidden=64)
    whole, half = add(str(checkpoint)), add(str(checkpoint), precision="fp16")
    assert (half.name, half.precision, half.batch_stable) == ("bert-fp16", "fp16", False)
    assert half.hash != whole.hash
    said = models.describe_model(half, "cuda")
    assert said == f"bert-fp16@{half.hash[:12]} fp16 on cuda (last bits depend on the batch)"
    with pytest.raises(UsageError, match=r"bert-fp16 is of fp16, which only a GPU runs: use --device cuda"):
        Embedder(half)
    ids = np.arange(2, 26, dtype=np.int64).reshape(4, 6)
    graph = onnxruntime.InferenceSession(str(half.graph_path), providers=["CPUExecutionProvider"])
    (given,) = graph.run(None, {"input_ids": ids, "lengths": np.full(4, 6)})
    expected = Session(whole).run(ids)
    assert given.dtype == np.float32
    assert not np.array_equal(given, expected)
    assert given == pytest.approx(expected, abs=5e-3)


def test_a_directory_with_its_own_onnx_file(cache_dir: Path, tmp_path: Path) -> None:
    """As hub repositories have it: token vectors out, masks and segments in, pooled by us."""
    import onnx

    checkpoint = make_checkpoint(tmp_path / "hub", pooling="mean")
    ours = add(str(checkpoint), "ours")
    graph = onnx.load(str(ours.graph_path))
    # the vectors before pooling: the input of the product that pools
    square = next(n for n in graph.graph.node if n.op_type == "Sqrt")
    product = next(n for n in graph.graph.node if n.output[0] == square.input[0])
    mean = next(n for n in graph.graph.node if n.output[0] == product.input[0])
    tokens = mean.input[1]
    del graph.graph.output[:]
    graph.graph.output.append(
        onnx.helper.make_tensor_value_info(tokens, onnx.TensorProto.FLOAT, ["batch", "tokens", 32])
    )
    (checkpoint / "onnx").mkdir()
    onnx.save_model(graph, str(checkpoint / "onnx" / "model.onnx"))

    copied = add(str(checkpoint), "copied", take="onnx")
    assert (copied.pooling, copied.dimensions) == ("mean", 32)
    expected = Embedder(ours).encode(TEXTS)
    assert Embedder(copied).encode(TEXTS) == pytest.approx(expected, abs=1e-6)
    # and read where it lies, without being added
    (checkpoint / "model.safetensors").unlink()
    foreign = resolve(str(checkpoint))
    assert foreign.graph == "onnx/model.onnx"
    assert Embedder(foreign).encode(TEXTS) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("file", "field", "value", "message"),
    [
        ("config.json", "model_type", "roberta", "only 'bert' can be converted"),
        ("config.json", "hidden_act", "relu", "hidden_act"),
        ("config.json", "position_embedding_type", "relative_key", "position_embedding_type"),
        ("config.json", "num_attention_heads", 5, "multiple"),
        ("config.json", "hidden_size", None, "hidden_size"),
        ("config.json", "num_hidden_layers", 9, "no tensor encoder.layer.2"),
        ("1_Pooling/config.json", "pooling_mode_max_tokens", True, "pools by"),
    ],
)
def test_what_cannot_be_converted_is_named(
    cache_dir: Path, tmp_path: Path, file: str, field: str, value: object, message: str
) -> None:
    checkpoint = make_checkpoint(tmp_path / "bert")
    facts = json.loads((checkpoint / file).read_text())
    facts[field] = value
    (checkpoint / file).write_text(json.dumps(facts))
    with pytest.raises(InputError, match=message) as caught:
        add(str(checkpoint))
    assert "\n" not in str(caught.value)
    assert not list(models.models_cache().path.glob("*"))


def test_missing_and_broken_files_are_named(cache_dir: Path, tmp_path: Path) -> None:
    checkpoint = make_checkpoint(tmp_path / "bert")
    (checkpoint / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(InputError, match=r"model\.safetensors"):
        add(str(checkpoint))
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no ONNX file"):
        add(str(checkpoint), take="onnx")
    with pytest.raises(InputError, match=r"no model\.safetensors"):
        add(str(checkpoint))
    (checkpoint / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        add(str(checkpoint))
    with pytest.raises(UsageError, match="none of the known names"):
        add("no-such-model")


def test_adding_twice_needs_overwrite(cache_dir: Path, tmp_path: Path) -> None:
    first = make_checkpoint(tmp_path / "bert")
    before = add(str(first), "mine")
    make_checkpoint(tmp_path / "bert", seed=1)
    with pytest.raises(UsageError, match="exists; --overwrite replaces it"):
        add(str(first), "mine")
    after = add(str(first), "mine", overwrite=True)
    assert after.hash != before.hash
    assert [model.name for model in models.known_models()] == ["mine"]
    assert [path.name for path in models.models_cache().path.iterdir()] == ["mine"]
    for bad in ("a/b", ".hidden", "auto"):
        with pytest.raises(UsageError, match="cannot be the name"):
            add(str(first), bad)
