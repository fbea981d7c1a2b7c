"""Sentence embeddings on ONNX Runtime: the only place of the project that loads it.

A model is a directory (`models`), made once by ``relfast embedder add`` (`adding`) and found by
name (`adding.resolve`); an `Embedder` turns texts into unit vectors, each distinct text once, in batches of
texts of equal token length (`embedder`), with a cache in memory and, if asked for, on disk (`cache`).

On a CPU a text's vector has the same bits alone, in any batch, with any number of threads, and out of
the cache: rows do not depend on how a run was cut into blocks.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from relfast_kernels.compiled.cache import Cache, user_cache

THREADS_VARIABLE: Final = "RELFAST_EMBED_THREADS"
"""Environment variable: threads of a model's session, instead of all usable cores."""

CACHE_VARIABLE: Final = "RELFAST_EMBED_CACHE"
"""Environment variable: ``1`` keeps vectors in the user's cache directory, a path keeps them there."""

SHARED_VARIABLE: Final = "RELFAST_EMBED_SHARED"
"""Environment variable: ``1`` has all processes of a user share one model on a machine's CPU; a path those
that name the same one."""


def vectors_cache() -> Cache | None:
    """Where vectors are to be kept on disk; None where that is not asked for."""
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen in ("", "0", "off"):
        return None
    return user_cache("vectors") if chosen in ("1", "on") else Cache(Path(chosen), variable=CACHE_VARIABLE)
