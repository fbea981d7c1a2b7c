"""Checkpoints to model directories: the graph against a forward pass in numpy, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from tiny_bert import LETTERS, forward, make_checkpoint

from relfast.embed import models
from relfast.embed.adding import add, resolve
from relfast.embed.embedder import Embedder
from relfast.errors import InputError, UsageError

TEXTS = [
    "a",
    "the answer is 42",
    "step 1: 2x + 5 = 13",
    "equal to \\boxed{7}. " * 3,
    "unknown: \u20ac \u00e9 \u4e2d",
    "",
    " ".join(LETTERS) * 3,
]


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize(("hidden", "heads", "layers"), [(32, 4, 2), (48, 3, 1), (64, 1, 3)])
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_graph_equals_the_textbook(
    cache_dir: Path,
    tmp_path: Path,
    pooling: Literal["cls", "mean"],
    hidden: int,
    heads: int,
    layers: int,
    prefix: str,
) -> None:
    checkpoint = make_checkpoint(
        tmp_path / "bert", hidden=hidden, heads=heads, layers=layers, pooling=pooling, prefix=prefix
    )
    model = add(str(checkpoint))
    assert (model.pooling, model.dimensions, model.max_tokens) == ("graph", hidden, 48)
    embedder = Embedder(model)
    for text, vector in zip(TEXTS, embedder.encode(TEXTS), strict=True):
        (batch,) = embedder.batches([text])
        # padding and a shorter cut, which the tokenizer's file asks for, are off
        assert batch.ids[0, -1] == 3
        expected = forward(checkpoint, batch.ids[0].tolist(), pooling, prefix)
        assert vector == pytest.approx(expected, abs=2e-6), text


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_other_precisions_are_close_and_labelled(
    cache_dir: Path, tmp_path: Path, precision: Literal["fp16", "int8"]
) -> None:
    checkpoint = make_checkpoint(tmp_path / "bert", hidden=64)
    whole, small = add(str(checkpoint)), add(str(checkpoint), precision=precision)
    assert (small.name, small.precision, small.batch_stable) == (
        f"bert-{precision}",
        precision,
        precision != "int8",
    )
    assert small.hash != whole.hash
    said = models.describe_model(small, "cpu")
    assert (precision in said, "depend on the batch" in said) == (True, precision == "int8")
    a, b = Embedder(whole).encode(TEXTS), Embedder(small).encode(TEXTS)
    assert b.dtype == np.float32
    assert not np.array_equal(a, b)
    assert (a * b).sum(axis=1).min() > 0.98
    assert precision == "int8" or a == pytest.approx(b, abs=5e-3)


def test_a_directory_with_its_own_onnx_file(cache_dir: Path, tmp_path: Path) -> None:
    """As hub repositories have it: token vectors out, masks and segments in, pooled by us."""
    import onnx

    checkpoint = make_checkpoint(tmp_path / "hub", pooling="mean")
    ours = add(str(checkpoint), "ours")
    graph = onnx.load(str(ours.graph_path))
    # the vectors before pooling: the input of the product that pools
    pooled = next(node for node in graph.graph.node if "embedding" in node.output)
    square = next(n for n in graph.graph.node if n.op_type == "Sqrt")
    product = next(n for n in graph.graph.node if n.output[0] == square.input[0])
    mean = next(n for n in graph.graph.node if n.output[0] == product.input[0])
    tokens = mean.input[1]
    assert pooled.op_type == "Squeeze"
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
    assert not list(models.models_directory().glob("*"))


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
    assert [path.name for path in models.models_directory().iterdir()] == ["mine"]
    for bad in ("a/b", ".hidden", "auto"):
        with pytest.raises(UsageError, match="cannot be the name"):
            add(str(first), bad)
