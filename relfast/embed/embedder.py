"""Texts to unit vectors: each distinct text once, from the cache or in batches of equal token length."""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.embed import cache
from relfast.embed.models import Model, describe_model, resolve
from relfast.embed.session import Session, usable_threads

TOKENS_PER_BATCH: Final = 1024
"""Tokens of one call of the runtime: enough rows for its matrix products, small enough for their memory
(33 MB of attention scores for BGE large at 512 tokens)."""

TEXTS_PER_WINDOW: Final = 8192
"""Texts tokenised and sorted at once: enough of each token length to fill batches."""

TEXTS_PER_TOKENISING: Final = 512

MAX_TEXT_CHARS: Final = 32_768
"""What of a text the tokenizer sees. The model reads 512 tokens at most; more characters than this make
fewer tokens only if they are blanks or words of hundreds of letters."""


class Batch:
    """Texts of equal token length: ``ids`` (texts, tokens) int64, and where each came from."""

    __slots__ = ("ids", "positions")

    def __init__(self, ids: NDArray[np.int64], positions: Sequence[int]) -> None:
        self.ids, self.positions = ids, positions


class Embedder:
    """An embedding model in use. Thread-safe; of one process (`get_embedder` gives each its own).

    Parameters
    ----------
    model
        A `Model`, or what `resolve` takes: a name, a directory, or ``auto``.
    device
        ``cpu``, ``cuda`` or ``cuda:N``.
    threads
        Batches that are run at the same time on a CPU, each by one thread, which is a quarter faster than
        one after the other by all; RELFAST_EMBED_THREADS, else the usable cores, if left out.
    """

    def __init__(self, model: Model | str = "auto", device: str = "cpu", threads: int | None = None) -> None:
        self.model = resolve(model) if isinstance(model, str) else model
        self.device = device
        self.threads = usable_threads() if threads is None else threads
        self._session = Session(self.model, device, threads=1)
        if self._session.provider != "cpu":
            self.threads = 1  # the device is parallel in itself
        self._tokenizer = _load_tokenizer(self.model)
        self._memory = cache.MemoryCache(self.model.dimensions)
        self._disk = cache.open_disk_cache(self.model, self._session.provider)
        self._lock = threading.Lock()
        self.computed = 0
        """Texts that went through the model so far; the rest came out of a cache or was said twice."""

    @property
    def dimensions(self) -> int:
        return self.model.dimensions

    def describe(self) -> str:
        """For the signature: model, weights' hash, precision, device, and what is not reproducible."""
        return describe_model(self.model, self.device)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, (texts, dimensions) float32, in the order of the texts."""
        vectors, places = self.encode_distinct(texts)
        return vectors[places]

    def encode_distinct(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The distinct texts' vectors, and for each text its row among them (int64)."""
        place: dict[str, int] = {}
        places = np.fromiter((place.setdefault(text, len(place)) for text in texts), np.int64, len(texts))
        distinct = list(place)
        vectors = np.empty((len(distinct), self.dimensions), np.float32)
        for at in range(0, len(distinct), TEXTS_PER_WINDOW):
            self._fill(distinct[at : at + TEXTS_PER_WINDOW], vectors[at : at + TEXTS_PER_WINDOW])
        return vectors, places

    def batches(self, texts: Sequence[str]) -> Iterator[Batch]:
        """The texts as token ids, longest first, in batches of one length each: nothing is padded.

        Padding makes the last bits of 12 % of the vectors depend on their batch; without it they are the
        same alone and in any company, and at the price of 10 % padding the batches are as large.
        """
        rows: list[NDArray[np.int64]] = []
        for at in range(0, len(texts), TEXTS_PER_TOKENISING):
            some = [_clean(text) for text in texts[at : at + TEXTS_PER_TOKENISING]]
            encoded = self._tokenizer.encode_batch_fast(some)
            # arrays at once: Python's integers take ten times the room
            rows.extend(np.array(item.ids, np.int64) for item in encoded)
        by_length: dict[int, list[int]] = {}
        for position, row in enumerate(rows):
            by_length.setdefault(row.size, []).append(position)
        for length in sorted(by_length, reverse=True):
            positions = by_length[length]
            step = max(1, TOKENS_PER_BATCH // max(1, length))
            for at in range(0, len(positions), step):
                some_positions = positions[at : at + step]
                yield Batch(np.stack([rows[p] for p in some_positions]), some_positions)

    def _fill(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Write the vectors of distinct texts into the rows of ``vectors``."""
        keys = [cache.text_key(text) for text in texts]
        with self._lock:
            missing = [i for i, key in enumerate(keys) if not self._remembered(key, vectors[i])]
        if self._disk is not None and missing:
            stored = self._disk.get([keys[i] for i in missing])
            with self._lock:
                for i in missing:
                    if (found := stored.get(keys[i])) is not None:
                        vectors[i] = np.frombuffer(found, "<f4")
                        self._memory.put(keys[i], found)
            missing = [i for i in missing if keys[i] not in stored]
        if not missing:
            return
        for batch, output in self._run(self.batches([texts[i] for i in missing])):
            for position, vector in zip(batch.positions, output, strict=True):
                vectors[missing[position]] = vector
        computed = [(keys[i], cache.to_bytes(vectors[i])) for i in missing]
        with self._lock:
            self.computed += len(missing)
            for key, stored_vector in computed:
                self._memory.put(key, stored_vector)
        if self._disk is not None:
            self._disk.put(computed)

    def _run(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        """Batches with their vectors, in order; so many at the same time as there are threads."""
        some = list(itertools.islice(batches, 2))
        batches = itertools.chain(some, batches)
        if self.threads == 1 or len(some) < 2:
            for batch in batches:
                yield batch, self._vectors_of(batch)
            return
        under_way: deque[tuple[Batch, Future[NDArray[np.float32]]]] = deque()
        with ThreadPoolExecutor(self.threads, "relfast-embed") as pool:
            for batch in batches:
                under_way.append((batch, pool.submit(self._vectors_of, batch)))
                # one more than are run, so that no thread waits for the next
                if len(under_way) > self.threads:
                    done, output = under_way.popleft()
                    yield done, output.result()
            for done, output in under_way:
                yield done, output.result()

    def _vectors_of(self, batch: Batch) -> NDArray[np.float32]:
        count, length = batch.ids.shape
        return self._session.run(batch.ids, np.full(count, length, np.int64))

    def _remembered(self, key: bytes, row: NDArray[np.float32]) -> bool:
        found = self._memory.get(key)
        if found is None:
            return False
        row[:] = np.frombuffer(found, "<f4")
        return True


_embedders: dict[tuple[str, str, str], Embedder] = {}
_embedders_lock = threading.Lock()
_of_parent: list[Embedder] = []


def _start_anew() -> None:
    """In a forked child: a session's threads stayed with the parent, and whoever uses it, or even frees
    it, waits for them for ever. So the parent's embedders are kept, unused."""
    global _embedders_lock
    _of_parent.extend(_embedders.values())
    _embedders.clear()
    _embedders_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def get_embedder(name: str = "auto", device: str = "cpu") -> Embedder:
    """The process's embedder of a model and device; a forked child makes its own.

    Raises
    ------
    UsageError, InputError
        As `resolve` and `Session` do.
    """
    model = resolve(name)
    # the path too: one model may stand here under two names, and rows are signed with the one asked for
    key = (model.path, model.hash, device)
    with _embedders_lock:
        embedder = _embedders.get(key)
        if embedder is None:
            embedder = _embedders[key] = Embedder(model, device)
        return embedder


def _load_tokenizer(model: Model) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model.tokenizer_path))
    # MiniLM's file pads everything to 128 tokens and cuts there; the model reads 256
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.max_tokens)
    return tokenizer


def _clean(text: str) -> str:
    text = text[:MAX_TEXT_CHARS]
    # the tokenizer takes UTF-8 only; a lone surrogate has none
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
