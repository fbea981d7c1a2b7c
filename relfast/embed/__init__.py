"""Sentence embeddings on ONNX Runtime: the only place of the project that loads it.

A model is a directory (`models`), made once by ``relfast embedder add`` (`adding`, `export`) and found by
name (`resolving`); an `Embedder` turns texts into unit vectors, each distinct text once, in batches of
texts of equal token length (`embedder`), with a cache in memory and, if asked for, on disk (`cache`).

On a CPU a text's vector has the same bits alone, in any batch, with any number of threads, and out of
the cache: rows do not depend on how a run was cut into blocks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from relfast.embed.settings import CACHE_VARIABLE, SHARED_VARIABLE, THREADS_VARIABLE, vectors_cache

if TYPE_CHECKING:
    from relfast.embed.embedder import Embedder, get_embedder
    from relfast.embed.models import Model, known_models
    from relfast.embed.resolving import describe, resolve

_HOMES: Final = {
    "Embedder": "relfast.embed.embedder",
    "Model": "relfast.embed.models",
    "describe": "relfast.embed.resolving",
    "get_embedder": "relfast.embed.embedder",
    "known_models": "relfast.embed.models",
    "resolve": "relfast.embed.resolving",
}

__all__ = [
    "CACHE_VARIABLE",
    "SHARED_VARIABLE",
    "THREADS_VARIABLE",
    "Embedder",
    "Model",
    "describe",
    "get_embedder",
    "known_models",
    "resolve",
    "vectors_cache",
]


if not TYPE_CHECKING:  # type checkers would take any name for one of ours

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'relfast.embed' has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)
