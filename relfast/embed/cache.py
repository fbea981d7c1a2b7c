"""Caches of vectors by text, in memory and optionally on disk. They never break a run or change a vector.

``RELFAST_EMBED_CACHE`` turns the disk cache on: ``1`` puts it into the user's cache directory; any other
value is its directory, to which no other user may be able to write. There is one SQLite file per model,
runtime and kind of processor, since all three decide a vector's last bits; several processes may use a
file at once.
"""

from __future__ import annotations

import hashlib
import platform
import sqlite3
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from relfast_kernels.caches import UntrustedError

from relfast.embed import vectors_cache
from relfast.embed.models import Model

MEMORY_BYTES: Final = 48 << 20
"""Maximum size of the memory cache: 30,000 vectors of MiniLM, 12,000 of BGE large. Embedding may take 100
MB beside the model; the batches being computed need the other half."""

DISK_BYTES: Final = 8 << 30
"""Maximum size of a disk cache, five million vectors of MiniLM; a full one is only read."""

_SQLITE_FILES: Final = ("", "-wal", "-shm", "-journal")

_KEYS_PER_QUERY: Final = 500
_BUSY_SECONDS: Final = 10.0
_DIGEST_BYTES: Final = 16
"""Keys of 128 bits: a collision among 10⁹ texts has a chance of 10⁻²¹."""


def text_key(text: str) -> bytes:
    """A text's key in both caches."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


class MemoryCache:
    """The most recently used vectors, up to `MEMORY_BYTES`. Not thread-safe: the caller must lock."""

    def __init__(self, dimensions: int) -> None:
        # a key and the dictionary's links are about 200 bytes beside the vector
        self._room = max(1, MEMORY_BYTES // (4 * dimensions + 200))
        self._vectors: OrderedDict[bytes, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, key: bytes) -> bytes | None:
        vector = self._vectors.get(key)
        if vector is not None:
            self._vectors.move_to_end(key)
        return vector

    def put(self, key: bytes, vector: bytes) -> None:
        self._vectors[key] = vector
        self._vectors.move_to_end(key)
        while len(self._vectors) > self._room:
            self._vectors.popitem(last=False)


class DiskCache:
    """Vectors in an SQLite file. After the first error the cache warns once and is no longer used."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self.path = path
        self._bytes = 4 * dimensions
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            # a transaction lost in a power cut is harmless: its vectors are computed again
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("BEGIN IMMEDIATE")  # if two workers create the file, one waits
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors"
                " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, check_sum BLOB NOT NULL) WITHOUT ROWID"
            )
            connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors of those keys that are cached and undamaged, by key."""
        found: dict[bytes, bytes] = {}
        with self._lock:
            if self._connection is None:
                return found
            try:
                for at in range(0, len(keys), _KEYS_PER_QUERY):
                    some = keys[at : at + _KEYS_PER_QUERY]
                    marks = ",".join("?" * len(some))
                    rows = self._connection.execute(
                        f"SELECT key, vector, check_sum FROM vectors WHERE key IN ({marks})", some
                    )
                    for key, vector, check_sum in rows:
                        if len(vector) == self._bytes and check_sum == _check_sum(key, vector):
                            found[key] = vector
            except (sqlite3.Error, TypeError) as error:
                self._give_up(error)
        return found

    def put(self, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        with self._lock:
            if self._connection is None or self._is_full():
                return
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                    ((key, vector, _check_sum(key, vector)) for key, vector in vectors),
                )
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._give_up(error)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _is_full(self) -> bool:
        try:
            return self.path.stat().st_size > DISK_BYTES
        except OSError:
            return False

    def _give_up(self, error: Exception) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        warnings.warn(
            f"relfast: embeddings are not cached, {self.path} cannot be used ({error})",
            RuntimeWarning,
            stacklevel=3,
        )


def open_disk_cache(model: Model, provider: str) -> DiskCache | None:
    """The disk cache of a model. None if it is not turned on, if the model's vectors are not reproducible,
    or if other users could write to it."""
    folder = vectors_cache()
    if folder is None or not model.batch_stable:
        return None
    import onnxruntime

    # all that decides a vector's bits: model, runtime, provider, instruction set
    facts = (model.hash, onnxruntime.__version__, provider, platform.machine(), _vector_extensions())
    digest = hashlib.blake2b("\n".join(facts).encode(), digest_size=8).hexdigest()
    name = f"{model.name}-{digest}.sqlite"
    try:
        folder.check(make=True)
        for suffix in _SQLITE_FILES:
            folder.check_file(name + suffix)
    except UntrustedError as error:
        folder.say(error)
        return None
    except OSError:
        pass  # `DiskCache` will meet the same error and warn
    return DiskCache(folder.path / name, model.dimensions)


def _check_sum(key: bytes, vector: bytes) -> bytes:
    return hashlib.blake2b(vector, digest_size=8, key=key).digest()


def _vector_extensions() -> str:
    """The processor's vector instructions, by which the runtime chooses its kernels."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if line.startswith(("flags", "Features")):
                    kinds = ("avx", "fma", "amx", "asimd", "sve", "vnni", "bf16")
                    return " ".join(sorted(f for f in line.split() if f.startswith(kinds) or "vnni" in f))
    except OSError:
        pass
    return platform.processor()
