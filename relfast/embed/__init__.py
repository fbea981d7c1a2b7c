"""Sentence embeddings on ONNX Runtime: the only place of the project that loads it.

A model is a directory (`models`), made once by ``relfast embedder add`` (`adding`, `export`); an
`Embedder` turns texts into unit vectors, each distinct text once, in batches of texts of equal token
length (`embedder`), with a cache in memory and, if asked for, on disk (`cache`).

On a CPU a text's vector has the same bits alone, in any batch, with any number of threads, and out of
the cache: rows do not depend on how a run was cut into blocks.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from relfast_kernels.compiled.cache import Cache, user_cache

if TYPE_CHECKING:
    from relfast.embed.embedder import Embedder, get_embedder
    from relfast.embed.models import Model, known_models, resolve

THREADS_VARIABLE: Final = "RELFAST_EMBED_THREADS"
"""Environment variable: threads of a model's session, instead of all usable cores."""

CACHE_VARIABLE: Final = "RELFAST_EMBED_CACHE"
"""Environment variable: ``1`` keeps vectors in the user's cache directory, a path keeps them there."""

_HOMES: Final = {
    "Embedder": "relfast.embed.embedder",
    "Model": "relfast.embed.models",
    "get_embedder": "relfast.embed.embedder",
    "known_models": "relfast.embed.models",
    "resolve": "relfast.embed.models",
}

__all__ = [
    "CACHE_VARIABLE",
    "THREADS_VARIABLE",
    "Embedder",
    "Model",
    "describe",
    "get_embedder",
    "known_models",
    "resolve",
    "vectors_cache",
]


def vectors_cache() -> Cache | None:
    """Where vectors are to be kept on disk; None where that is not asked for."""
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen in ("", "0", "off"):
        return None
    return user_cache("vectors") if chosen in ("1", "on") else Cache(Path(chosen), variable=CACHE_VARIABLE)


def describe(embedder: str, device: str) -> str:
    """The embedder's name, weight hash and device, for the signature: ``minilm@7256a72be61c``.

    What its vectors cannot promise (batches of int8, devices other than the CPU) is said.
    """
    from relfast.embed.models import describe_model, resolve
    from relfast.errors import RelfastError

    try:
        return describe_model(resolve(embedder), device)
    except RelfastError:
        return f"{embedder} (not on this machine)"


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'relfast.embed' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
