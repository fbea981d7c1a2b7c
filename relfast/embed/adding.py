"""Find an embedding model by name (`resolve`), and add models to this machine (`add`): from a checkpoint,
from an ONNX file of a hub repository, or from an installed package.

`export_bert` converts a checkpoint (safetensors) into an ONNX graph of plain operators that includes
pooling and L2 normalisation: BERT (Devlin et al. 2019) as `transformers` computes it, with post-norm
layers, exact GELU and absolute positions. Inputs are ``input_ids`` (batch, tokens) and ``lengths``
(batch,), both int64; the output ``embedding`` is (batch, hidden) float32 of length 1. Operator set 20 has
LayerNormalization and Gelu as operators; fusing further by hand (attention, skip connections) made the
graph 7–10 % slower.

Why relfast has its own exporter: those of Optimum and sentence-transformers need torch. And a vector has
the same bits alone and in a batch only if pooling and norm are matrix products, which they are not in
those exporters.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from relfast.embed import models
from relfast.embed.models import Model, Pooling, Precision, Session
from relfast.errors import (
    InputError,
    MissingExtraError,
    OutputError,
    OutputExistsError,
    RelfastError,
    UsageError,
)
from relfast.support.outputs import keep_apart

Source = Literal["auto", "safetensors", "onnx"]

_LENGTHS_TRIED: Final = (3, 8, 21, 40)
_TEXTS_TRIED: Final = 8

_TEXT_FILES: Final = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "modules.json",
    "1_Pooling/config.json",
)
_HUB_PATTERNS: Final = {
    "safetensors": [*_TEXT_FILES, "model.safetensors"],
    "onnx": [*_TEXT_FILES, "model.onnx", "onnx/model.onnx", "onnx/model.onnx_data"],
}


def resolve(name: str) -> Model:
    """The model with a name, in a directory, or the one that ``auto`` chooses on this machine.

    ``auto`` is ReAlign's own model (``bge-large``) if this machine has it, else ``minilm``. A model whose
    weights are in an installed package is converted at its first use.

    Raises
    ------
    UsageError
        The model is not on this machine; the message says how to add it.
    """
    canonical = models.canonical_name(name)
    tried = models.AUTO_ORDER if name == "auto" else (canonical,)
    for one in filter(_is_plain, tried):
        if (directory := models.kept_directory(one)) is not None:
            return models.read_model(directory)
    for one in tried:
        if models.package_directory(one) is not None:
            return add(one)
    if name == "auto":
        raise UsageError(
            "no embedding model is on this machine: type `relfast embedder add bge-large` (the benchmark's"
            f" own) or `relfast embedder add minilm`{models.offline_hint('minilm')}"
        )
    if os.path.isdir(name):
        return models.read_model(Path(name))
    if canonical in models.KNOWN:
        raise UsageError(
            f"the embedding model {canonical} is not on this machine: "
            f"type `relfast embedder add {canonical}`{models.offline_hint(canonical)}"
        )
    others = [f", {model.name}" for model in models.known_models() if model.name not in models.KNOWN]
    raise UsageError(
        f"no embedding model {name!r}: it is no directory, and none of the known names"
        f" ({', '.join(models.KNOWN)}{''.join(others)})"
    )


def _is_plain(name: str) -> bool:
    """Whether a name can be that of a model directory in relfast's cache: not a path, not hidden."""
    return bool(name) and name[0] != "." and not any(mark in name for mark in ("/", "\\", "\0"))


def describe(embedder: str, device: str) -> str:
    """An embedder's name, weight hash and device, for the signature: ``minilm@7256a72be61c``.

    Says if vectors may depend on their batch (graphs of others, devices other than the CPU).
    """
    try:
        return models.describe_model(resolve(embedder), device)
    except RelfastError:
        return f"{embedder} (not on this machine)"


def add(
    source: str,
    name: str | None = None,
    *,
    take: Source = "auto",
    precision: Precision = "fp32",
    overwrite: bool = False,
) -> Model:
    """Add a model to this machine, so that it is found by name.

    Parameters
    ----------
    source
        A known name or its hub repository, or a directory with a checkpoint or an ONNX file.
    name
        The model's name on this machine. Default: the known name or that of the directory, followed by the
        precision if it is not fp32.
    take
        Which weights to use: ``safetensors`` (exported by relfast, extra `convert`), ``onnx`` (the
        directory's own graph), or ``auto``: whichever is there, safetensors first.
    precision
        ``fp16`` is for GPUs, and runs on no CPU.

    Raises
    ------
    UsageError, InputError, OutputError, MissingExtraError
        `OutputExistsError` (a `UsageError`) if a model of that name exists and ``overwrite`` is false.
    """
    canonical = models.canonical_name(source)
    if canonical in models.KNOWN and not os.path.isdir(source):
        checkpoint, origin = _locate(canonical, take)
        default = canonical
    elif os.path.isdir(source):
        checkpoint = Path(source)
        origin = str(checkpoint.resolve())
        default = checkpoint.resolve().name
    else:
        raise UsageError(
            f"{source!r} is no directory and none of the known names ({', '.join(models.KNOWN)})"
        )
    if precision != "fp32":
        default = f"{default}-{precision}"
    chosen = name or default
    if not _is_plain(chosen) or chosen == "auto":
        raise UsageError(f"{chosen!r} cannot be the name of a model; choose another with --name")
    target = models.models_cache().path / chosen
    keep_apart("embedder add", {"--name": [target], "SOURCE": [checkpoint]})
    if (target / models.MANIFEST).is_file() and not overwrite:
        raise OutputExistsError(target)
    return _build(checkpoint, origin, chosen, target, take, precision)


def _locate(name: str, take: Source) -> tuple[Path, str]:
    """Directory and origin of a known model's weights: an installed package, else fetched from the hub."""
    package = models.package_directory(name)
    if package is not None and take != "onnx":
        return package, f"package {models.KNOWN[name].package}"
    repository = models.KNOWN[name].repository
    hint = f"; {models.offline_hint(name).strip(' ()')}" if models.KNOWN[name].package else ""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(f"fetching {repository}", "hub", hint) from error
    patterns = _HUB_PATTERNS["onnx" if take == "onnx" else "safetensors"]
    try:
        path = snapshot_download(repository, allow_patterns=patterns)
    except Exception as error:  # the hub's client raises its own, requests' and httpx's errors
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be fetched from the hub: {reason}{hint}", file=repository) from error
    return Path(path), f"hub {repository} {Path(path).name}"


def _build(
    checkpoint: Path, origin: str, name: str, target: Path, take: Source, precision: Precision
) -> Model:
    """Build the model directory under a temporary name, then rename it: no half-built model is read."""
    for file in ("config.json", "tokenizer.json"):
        if not (checkpoint / file).is_file():
            raise InputError(f"has no {file}", file=str(checkpoint))
    try:
        models.models_cache().check(make=True)
        workplace = Path(tempfile.mkdtemp(prefix=f".adding-{name}-", dir=target.parent))
    except OSError as error:
        raise OutputError(target.parent, error.strerror or str(error)) from error
    try:
        pooling = _write_graph(checkpoint, workplace, take, precision)
        for file in ("config.json", "tokenizer.json"):
            shutil.copyfile(checkpoint / file, workplace / file)
        # sessions that `_is_batch_stable` opens read the graph from the temporary directory
        model = models.described(workplace, checkpoint, name, origin, pooling, precision)
        stable = precision == "fp32" and _is_batch_stable(model)
        models.write_manifest(workplace, replace(model, batch_stable=stable))
        workplace.chmod(0o755)  # mkdtemp's directories are private
        for made in workplace.iterdir():
            made.chmod(0o644)  # a lax umask would let other users change scores
        _move(workplace, target)
    except OSError as error:
        raise OutputError(target, error.strerror or str(error)) from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return models.read_model(target)


def _move(workplace: Path, target: Path) -> None:
    try:
        workplace.rename(target)
    except OSError:
        # the directory exists: an older model to replace, or one that another process just added
        aside = Path(tempfile.mkdtemp(prefix=".old-", dir=target.parent))
        target.rename(aside / "model")
        workplace.rename(target)
        shutil.rmtree(aside, ignore_errors=True)


def _write_graph(checkpoint: Path, workplace: Path, take: Source, precision: Precision) -> Pooling:
    """Write the model's ONNX graph into the workplace; return how its vectors are pooled."""
    own_graph = next((g for g in ("model.onnx", "onnx/model.onnx") if (checkpoint / g).is_file()), None)
    graph = workplace / "model.onnx"
    pooling = models.pooling_of(checkpoint)
    from_safetensors = take == "safetensors" or (
        take == "auto" and (own_graph is None or (checkpoint / "model.safetensors").is_file())
    )
    if from_safetensors:
        config = models.read_json(checkpoint / "config.json")
        export_bert(checkpoint, config, pooling, graph, half=precision == "fp16")
    elif own_graph is None:
        raise InputError("has no ONNX file (model.onnx or onnx/model.onnx)", file=str(checkpoint))
    else:
        if precision == "fp16":
            raise UsageError("half precision is made from safetensors, not from an ONNX file")
        shutil.copyfile(checkpoint / own_graph, graph)
        data = checkpoint / f"{own_graph}_data"
        if data.is_file():
            shutil.copyfile(data, workplace / data.name)
    return "graph" if from_safetensors else pooling


def _is_batch_stable(model: Model) -> bool:
    """Whether a text's vector has the same bits alone and in a batch, measured on a CPU.

    True for graphs that relfast exports; others may do anything (int8 takes its scales from the whole batch).
    """
    session = Session(model)
    rng = np.random.default_rng(0)
    for tokens in _LENGTHS_TRIED:
        length = min(tokens, model.max_tokens)
        # token ids that every vocabulary has
        ids = rng.integers(5, 50, (_TEXTS_TRIED, length))
        together = session.run(ids)
        for some in (1, 3):
            apart = [session.run(ids[at : at + some]) for at in range(0, _TEXTS_TRIED, some)]
            if not np.array_equal(np.concatenate(apart), together):
                return False
    return True


OPSET: Final = 20
IR_VERSION: Final = 10
"""The newest version that ONNX Runtime 1.20, the oldest supported one, reads."""

MASKED: Final = -1e9
"""Added to the attention scores of padding, which makes them zero after the softmax. Half precision uses its
smallest value instead."""


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
        The checkpoint is not a BERT of the supported kind, or lacks a tensor; the message names it.
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
    """Check that a checkpoint's configuration is one that `export_bert` supports."""
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

    def constant(self, value: Any, kind: Any = np.int64) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.array(value, kind, order="C"), name))
        return name

    def number(self, value: Any) -> str:
        """A constant in the graph's precision (float16 or float32)."""
        return self.constant(value, self._float)

    def weight(self, name: str) -> NDArray[np.float32]:
        try:
            return self._weights[self._prefix + name].astype(np.float32)
        except KeyError:
            raise InputError(f"has no tensor {self._prefix}{name}", file=str(self._file)) from None

    def linear(self, x: str, name: str, scale: float = 1.0) -> str:
        kernel = np.float32(scale) * self.weight(name + ".weight").T
        bias = np.float32(scale) * self.weight(name + ".bias")
        return self.op("Add", self.op("MatMul", x, self.number(kernel)), self.number(bias))

    def norm(self, x: str, name: str, epsilon: float) -> str:
        scale = self.number(self.weight(name + ".weight"))
        bias = self.number(self.weight(name + ".bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)

    def bert(self, config: Mapping[str, Any], pooling: Literal["cls", "mean"]) -> Any:
        """The whole model: embeddings, encoder layers, pooling and L2 normalisation."""
        hidden: int = config["hidden_size"]
        heads: int = config["num_attention_heads"]
        size = hidden // heads
        epsilon = float(config.get("layer_norm_eps", 1e-12))

        shape = self.op("Shape", "input_ids")
        tokens = self.op("Squeeze", self.op("Shape", "input_ids", start=1, end=2))
        positions = self.op("Range", self.constant(0), tokens, self.constant(1))
        present = self.op(
            "Less",
            self.op("Unsqueeze", positions, self.constant([0])),
            self.op("Unsqueeze", "lengths", self.constant([1])),
        )
        masked = MASKED if self._float is np.float32 else float(np.finfo(np.float16).min)
        mask = self.op("Where", present, self.number(0.0), self.number(masked))
        mask = self.op("Unsqueeze", mask, self.constant([1, 2]))

        # there is only one segment, so its vector is added to those of the positions
        place = self.weight("embeddings.position_embeddings.weight")
        place = place + self.weight("embeddings.token_type_embeddings.weight")[0]
        words = self.number(self.weight("embeddings.word_embeddings.weight"))
        x = self.op(
            "Add", self.op("Gather", words, "input_ids"), self.op("Gather", self.number(place), positions)
        )
        x = self.norm(x, "embeddings.LayerNorm", epsilon)

        split = self.op("Concat", shape, self.constant([heads, size]), axis=0)
        joined = self.constant([0, 0, hidden])
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
        # Sums are matrix products: the runtime's reductions add up in another order if a batch has only
        # one text, and then the last bits of its vector differ.
        if pooling == "cls":
            x = self.op("Gather", x, self.constant([0]), axis=1)
        else:
            weight = self.op("Cast", present, to=self._onnx.TensorProto.FLOAT)
            share = self.op(
                "Cast", self.op("Unsqueeze", "lengths", self.constant([1])), to=self._onnx.TensorProto.FLOAT
            )
            weight = self.op("Unsqueeze", self.op("Div", weight, share), self.constant([1]))
            x = self.op("MatMul", weight, x)
        square = self.op("MatMul", x, self.op("Transpose", x, perm=[0, 2, 1]))
        x = self.op("Div", x, self.op("Sqrt", square))
        self.op("Squeeze", x, self.constant([1]), output="embedding")
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
