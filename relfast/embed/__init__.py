"""Sentence embeddings with ONNX Runtime. Only this package loads ONNX Runtime.

A model is a directory (`models`). ``relfast embedder add`` makes it once (`adding`), and `adding.resolve`
finds it by name. An `Embedder` turns texts into unit vectors (`embedder`): each distinct text once, in
batches of texts of equal token length, with a cache in memory and optionally on disk (`cache`).

On a CPU a text's vector has the same bits alone, in any batch, with any number of threads, and from the
cache: rows do not depend on how a run was cut into blocks.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from relfast_kernels.caches import Cache, user_cache

from relfast.support.system import turn_off_telemetry

# here, as ONNX Runtime reads its variable when it is imported, which only modules of this package do
turn_off_telemetry()

THREADS_VARIABLE: Final = "RELFAST_EMBED_THREADS"
"""Environment variable: number of threads that run a model; default: all usable cores."""

CACHE_VARIABLE: Final = "RELFAST_EMBED_CACHE"
"""Environment variable for the disk cache of vectors: ``1`` for the user's cache directory, or a path."""


def vectors_cache() -> Cache | None:
    """The directory of the disk cache of vectors; None if `CACHE_VARIABLE` does not turn it on."""
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen in ("", "0", "off"):
        return None
    return user_cache("vectors") if chosen in ("1", "on") else Cache(Path(chosen), variable=CACHE_VARIABLE)
