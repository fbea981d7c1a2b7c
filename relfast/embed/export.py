"""BERT from a checkpoint (safetensors) to an ONNX graph of plain operators, with pooling and L2 inside.

Devlin et al. 2019, as `transformers` computes it: post-norm layers, exact GELU, absolute positions.
Inputs are ``input_ids`` (batch, tokens) and ``lengths`` (batch,), both int64; the output ``embedding``
is (batch, hidden) float32 of length 1. Operator set 20 has LayerNormalization and Gelu as operators;
fusing further by hand (attention, skip connections) made the graph 7–10 % slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from relfast.errors import InputError, MissingExtraError

OPSET: Final = 20
IR_VERSION: Final = 10
"""Newest that ONNX Runtime 1.20, the oldest one we accept, reads."""

MASKED: Final = -1e9
"""Added to the scores of padding: zero after the softmax. Half precision takes its own least value."""


def export_bert(
    checkpoint: Path,
    config: Mapping[str, Any],
    pooling: Literal["cls", "mean"],
    target: Path,
    *,
    half: bool = False,
) -> None:
    """Write ``target``, the ONNX graph of the BERT encoder in ``checkpoint/model.safetensors``.

    Raises
    ------
    InputError
        The checkpoint is no BERT that the graph describes, or lacks a tensor; the message names it.
    MissingExtraError
        `onnx` or `safetensors` is not installed.
    """
    try:
        import onnx
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise MissingExtraError("converting an embedding model", "convert") from error
    _check(config, checkpoint)
    weights_path = checkpoint / "model.safetensors"
    if not weights_path.is_file():
        raise InputError("has no model.safetensors (PyTorch .bin files are not read)", file=str(checkpoint))
    try:
        weights = load_file(weights_path)
    except (SafetensorError, TypeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(weights_path)) from error
    model = _Graph(onnx, weights, weights_path, half).bert(config, pooling)
    onnx.save_model(model, str(target))


def _check(config: Mapping[str, Any], checkpoint: Path) -> None:
    file = str(checkpoint / "config.json")
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for field, value in expected.items():
        found = config.get(field, value)
        if found != value:
            raise InputError(f"is {found!r}; only {value!r} can be converted", file=file, field=field)
    sizes = ("hidden_size", "num_attention_heads", "num_hidden_layers")
    for field in sizes:
        if not isinstance(config.get(field), int):
            raise InputError("is missing", file=file, field=field)
    if config["hidden_size"] % config["num_attention_heads"]:
        raise InputError("is no multiple of num_attention_heads", file=file, field="hidden_size")


class _Graph:
    """An ONNX graph under construction: nodes in order, constants by name."""

    def __init__(self, onnx: Any, weights: Mapping[str, NDArray[np.generic]], file: Path, half: bool) -> None:
        self._onnx, self._weights, self._file = onnx, weights, file
        self._float = np.float16 if half else np.float32
        self._prefix = "bert." if any(name.startswith("bert.") for name in weights) else ""
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant_{len(self._constants)}"
        array = np.ascontiguousarray(value) if value.ndim else value
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def integer(self, value: int) -> str:
        return self.constant(np.array(value, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, self._float))

    def weight(self, name: str) -> NDArray[np.float32]:
        try:
            return self._weights[self._prefix + name].astype(np.float32)
        except KeyError:
            raise InputError(f"has no tensor {self._prefix}{name}", file=str(self._file)) from None

    def parameter(self, value: NDArray[np.float32]) -> str:
        return self.constant(value.astype(self._float))

    def linear(self, x: str, name: str, scale: float = 1.0) -> str:
        kernel = np.float32(scale) * self.weight(name + ".weight").T
        bias = np.float32(scale) * self.weight(name + ".bias")
        return self.op("Add", self.op("MatMul", x, self.parameter(kernel)), self.parameter(bias))

    def norm(self, x: str, name: str, epsilon: float) -> str:
        scale = self.parameter(self.weight(name + ".weight"))
        bias = self.parameter(self.weight(name + ".bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)

    def bert(self, config: Mapping[str, Any], pooling: Literal["cls", "mean"]) -> Any:
        hidden: int = config["hidden_size"]
        heads: int = config["num_attention_heads"]
        size = hidden // heads
        epsilon = float(config.get("layer_norm_eps", 1e-12))

        shape = self.op("Shape", "input_ids")
        tokens = self.op("Squeeze", self.op("Shape", "input_ids", start=1, end=2))
        positions = self.op("Range", self.integer(0), tokens, self.integer(1))
        present = self.op(
            "Less",
            self.op("Unsqueeze", positions, self.integers(0)),
            self.op("Unsqueeze", "lengths", self.integers(1)),
        )
        masked = MASKED if self._float is np.float32 else float(np.finfo(np.float16).min)
        mask = self.op("Where", present, self.number(0.0), self.number(masked))
        mask = self.op("Unsqueeze", mask, self.integers(1, 2))

        # there is one segment only, so its vector goes into the positions'
        place = self.weight("embeddings.position_embeddings.weight")
        place = place + self.weight("embeddings.token_type_embeddings.weight")[0]
        words = self.parameter(self.weight("embeddings.word_embeddings.weight"))
        x = self.op(
            "Add",
            self.op("Gather", words, "input_ids"),
            self.op("Gather", self.parameter(place), positions),
        )
        x = self.norm(x, "embeddings.LayerNorm", epsilon)

        split = self.op("Concat", shape, self.integers(heads, size), axis=0)
        joined = self.integers(0, 0, hidden)
        for layer in range(config["num_hidden_layers"]):
            block = f"encoder.layer.{layer}."
            query = self.linear(x, block + "attention.self.query", scale=size**-0.5)
            key = self.linear(x, block + "attention.self.key")
            value = self.linear(x, block + "attention.self.value")
            query = self.op("Transpose", self.op("Reshape", query, split), perm=[0, 2, 1, 3])
            key = self.op("Transpose", self.op("Reshape", key, split), perm=[0, 2, 3, 1])
            value = self.op("Transpose", self.op("Reshape", value, split), perm=[0, 2, 1, 3])
            scores = self.op("Add", self.op("MatMul", query, key), mask)
            context = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
            context = self.op("Reshape", self.op("Transpose", context, perm=[0, 2, 1, 3]), joined)
            attended = self.linear(context, block + "attention.output.dense")
            x = self.norm(self.op("Add", attended, x), block + "attention.output.LayerNorm", epsilon)
            inner = self.op("Gelu", self.linear(x, block + "intermediate.dense"))
            x = self.norm(
                self.op("Add", self.linear(inner, block + "output.dense"), x),
                block + "output.LayerNorm",
                epsilon,
            )

        if self._float is np.float16:
            x = self.op("Cast", x, to=self._onnx.TensorProto.FLOAT)
        # Sums as matrix products: the runtime's own reductions add up in another order when a batch has
        # one text only, and the last bits of its vector differ.
        if pooling == "cls":
            x = self.op("Gather", x, self.integers(0), axis=1)
        else:
            weight = self.op("Cast", present, to=self._onnx.TensorProto.FLOAT)
            share = self.op(
                "Cast", self.op("Unsqueeze", "lengths", self.integers(1)), to=self._onnx.TensorProto.FLOAT
            )
            weight = self.op("Unsqueeze", self.op("Div", weight, share), self.integers(1))
            x = self.op("MatMul", weight, x)
        square = self.op("MatMul", x, self.op("Transpose", x, perm=[0, 2, 1]))
        x = self.op("Div", x, self.op("Sqrt", square))
        self.op("Squeeze", x, self.integers(1), output="embedding")
        return self._finish(hidden)

    def _finish(self, hidden: int) -> Any:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [
                helper.make_tensor_value_info("input_ids", kinds.INT64, ["batch", "tokens"]),
                helper.make_tensor_value_info("lengths", kinds.INT64, ["batch"]),
            ],
            [helper.make_tensor_value_info("embedding", kinds.FLOAT, ["batch", hidden])],
            self._constants,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="relfast",
        )
