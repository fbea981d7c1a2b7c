"""From what a user types to a model: a name, a directory, or ``auto``."""

from __future__ import annotations

from pathlib import Path

from relfast.embed import models
from relfast.embed.models import Model
from relfast.errors import RelfastError, UsageError


def resolve(name: str) -> Model:
    """The model of a name, of a directory, or the one ``auto`` takes on this machine.

    ``auto`` is ReAlign's own model if it is here, else ``minilm`` if it is. A model whose weights are in
    an installed package is converted once, at its first use.

    Raises
    ------
    UsageError
        It is not on this machine; the message says what to type.
    """
    if name == "auto":
        return _resolve_auto()
    canonical = models.canonical_name(name)
    if _is_plain(canonical) and (directory := models.kept_directory(canonical)) is not None:
        return models.read_model(directory)
    if models.package_directory(canonical) is not None:
        return _convert(canonical)
    if Path(name).is_dir():
        return models.read_model(Path(name))
    if canonical in models.KNOWN:
        raise UsageError(
            f"the embedding model {canonical} is not on this machine: "
            f"type `relfast embedder add {canonical}`{models.offline_hint(canonical)}"
        )
    raise UsageError(
        f"no embedding model {name!r}: it is no directory, and none of the known names"
        f" ({', '.join(models.KNOWN)}{_other_names()})"
    )


def _resolve_auto() -> Model:
    for name in models.AUTO_ORDER:
        if (directory := models.kept_directory(name)) is not None:
            return models.read_model(directory)
    for name in models.AUTO_ORDER:
        if models.package_directory(name) is not None:
            return _convert(name)
    raise UsageError(
        "no embedding model is on this machine: type `relfast embedder add bge-large` (the benchmark's own)"
        f" or `relfast embedder add minilm`{models.offline_hint('minilm')}"
    )


def _convert(name: str) -> Model:
    from relfast.embed.adding import add  # needed once per machine

    return add(name)


def _other_names() -> str:
    return "".join(f", {model.name}" for model in models.known_models() if model.name not in models.KNOWN)


def _is_plain(name: str) -> bool:
    """Whether a name can be a directory of ours: no path, nothing hidden."""
    return bool(name) and name[0] != "." and not any(mark in name for mark in ("/", "\\", "\0"))


def describe(embedder: str, device: str) -> str:
    """The embedder's name, weight hash and device, for the signature: ``minilm@7256a72be61c``.

    What its vectors cannot promise (batches of int8, devices other than the CPU) is said.
    """
    try:
        return models.describe_model(resolve(embedder), device)
    except RelfastError:
        return f"{embedder} (not on this machine)"
