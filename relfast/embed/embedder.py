"""`Embedder`: turns texts into unit vectors, from its caches or computed in batches of equal token length."""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast.embed import THREADS_VARIABLE, cache
from relfast.embed.adding import resolve
from relfast.embed.models import Model
from relfast.embed.session import Session, providers_of
from relfast.support.deadlines import Deadlines
from relfast.support.system import number_in, usable_cores

TOKENS_PER_BATCH: Final = 1024
"""Maximum tokens of a batch (one call of the runtime): enough rows for efficient matrix products, few
enough for their memory (33 MB of attention scores for BGE large at 512 tokens)."""

TEXTS_PER_WINDOW: Final = 8192
"""Texts that are tokenised and sorted by length together: enough of each length to fill batches."""

TEXTS_PER_TOKENISING: Final = 512
CHARS_PER_TOKENISING: Final = 1 << 17
"""Maximum texts and characters of one call of the tokenizer, which takes 0.2 s for the slowest script. Steps
of solutions have 80 characters."""

RUNS_PER_DEADLINE: Final = 4
"""A batch may take at most a quarter of a record's time limit, since a record cannot be stopped during a
batch. MiniLM on a CPU needs no smaller batches if the limit is 1 s or more; BGE large, 30 s."""

MAX_TEXT_CHARS: Final = 32_768
"""Characters of a text that the tokenizer reads. A model reads at most 512 tokens, and only texts of
blanks or of words with hundreds of letters have fewer tokens in so many characters."""


class Batch(NamedTuple):
    """Texts of equal token length: ``ids`` (texts, tokens) int64, and the texts' ``positions`` in the
    input."""

    ids: NDArray[np.int64]
    positions: Sequence[int]


class _Due:
    """Charges the time of embedding each distinct text to the records (owners) that need it."""

    def __init__(self, deadlines: Deadlines, places: NDArray[np.int64], owners: NDArray[np.int64]) -> None:
        self.deadlines = deadlines
        self._places, self._owners_of_texts = places, owners

    @cached_property
    def _owners(self) -> list[set[int]]:
        # lazy: not needed if every vector comes from a cache
        found: list[set[int]] = [set() for _ in range(int(self._places.max()) + 1)]
        for place, owner in zip(self._places.tolist(), self._owners_of_texts.tolist(), strict=True):
            found[place].add(owner)
        return found

    def wanted(self, position: int) -> bool:
        """Whether any record that needs the text at ``position`` has time left."""
        return not self.deadlines.seconds or not all(map(self.deadlines.passed, self._owners[position]))

    def charge(self, positions: Iterable[int], seconds: float) -> None:
        """Charge ``seconds`` per text to every record that needs the text, as if each were scored alone."""
        for position in positions if self.deadlines.seconds else ():
            for owner in self._owners[position]:
                self.deadlines.charge(owner, seconds)


_NO_DEADLINE: Final = _Due(Deadlines(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
"""For texts whose time is charged to no record."""


class Embedder:
    """An embedding model with its caches. Thread-safe, but for one process only (see `get_embedder`). Its
    graph and tokenizer are loaded for the first text that no cache has (0.2 s for MiniLM).

    Parameters
    ----------
    model
        A `Model`, or what `resolve` accepts: a name, a directory, or ``auto``.
    device
        ``cpu``, ``cuda`` or ``cuda:N``.
    threads
        Number of batches that run at the same time on a CPU, each in one thread, which is a quarter faster
        than running them in turn with all threads. Default: RELFAST_EMBED_THREADS, else the usable cores.

    Raises
    ------
    UsageError, InputError
        As `resolve` and `providers_of` do; or the variable is not a positive number.
    """

    def __init__(self, model: Model | str = "auto", device: str = "cpu", threads: int | None = None) -> None:
        self.model = resolve(model) if isinstance(model, str) else model
        self.threads = threads or number_in(THREADS_VARIABLE, least=1, otherwise=None) or usable_cores()
        providers_of(self.model, device)
        self._device = device
        provider = device.partition(":")[0]
        if provider != "cpu":
            self.threads = 1  # a GPU runs one batch in parallel already
        self._loading = threading.Lock()
        self._memory = cache.MemoryCache(self.model.dimensions)
        self._disk = cache.open_disk_cache(self.model, provider)
        self._lock = threading.Lock()
        self._seconds_per_token = 0.0
        self.computed = 0
        """Number of texts computed by the model so far; all others came from a cache or were duplicates."""

    @cached_property
    def _session(self) -> Session:
        return Session(self.model, self._device)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(f"{self.model.path}/tokenizer.json")
        # MiniLM's tokenizer.json pads and truncates to 128 tokens, although the model reads 256
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.model.max_tokens)
        return tokenizer

    def load(self) -> None:
        """Load graph and tokenizer now. Raises `InputError` if the graph cannot be loaded."""
        with self._loading:
            _ = self._session, self._tokenizer

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors of length 1, (texts, dimensions) float32, in the order of the texts."""
        vectors, places = self.encode_distinct(texts)
        return vectors[places]

    def encode_distinct(
        self,
        texts: Sequence[str],
        owners: NDArray[np.int64] | None = None,
        deadlines: Deadlines | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of the distinct texts, and for each text the index of its row among them (int64).

        With ``deadlines``, ``owners`` (texts,) are the records that the texts belong to. The records are
        charged for what is computed. A text that only records without time left need is not computed: its
        vector is undefined.
        """
        place: dict[str, int] = {}
        places = np.fromiter((place.setdefault(text, len(place)) for text in texts), np.int64, len(texts))
        distinct = list(place)
        due = _NO_DEADLINE if deadlines is None or owners is None else _Due(deadlines, places, owners)
        vectors = np.empty((len(distinct), self.model.dimensions), np.float32)
        for at in range(0, len(distinct), TEXTS_PER_WINDOW):
            self._fill(distinct, range(at, min(at + TEXTS_PER_WINDOW, len(distinct))), vectors, due)
        return vectors, places

    def batches(
        self, texts: Sequence[str], chosen: Iterable[int] | None = None, due: _Due = _NO_DEADLINE
    ) -> Iterator[Batch]:
        """The texts (or those at the positions ``chosen``) as token ids, longest first, in batches of
        equal token length, so that nothing is padded.

        With padding the last bits of 12 % of the vectors would depend on their batch. Batches are as large as
        they would be with 10 % padding.
        """
        by_length: dict[int, list[tuple[int, NDArray[np.int64]]]] = {}
        for part in _tokenising_parts(texts, range(len(texts)) if chosen is None else chosen):
            for position, row in self._tokenised(texts, part, due):
                by_length.setdefault(row.size, []).append((position, row))
        for length in sorted(by_length, reverse=True):
            rows = by_length.pop(length)
            at = 0
            while at < len(rows):
                some = rows[at : at + self._rows_per_run(length, due)]
                at += len(some)
                some = [item for item in some if due.wanted(item[0])]
                if some:
                    yield Batch(np.stack([row for _, row in some]), [position for position, _ in some])

    def _tokenised(
        self, texts: Sequence[str], part: Sequence[int], due: _Due
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Tokenise the texts at some positions in one call; charge its time to their owners."""
        part = [position for position in part if due.wanted(position)]
        due.deadlines.before_step()
        began = due.deadlines.clock()
        encoded = self._tokenizer.encode_batch_fast([_clean(texts[position]) for position in part])
        seconds = due.deadlines.clock() - began
        sizes = [min(len(texts[position]), MAX_TEXT_CHARS) + 1 for position in part]
        whole = sum(sizes)
        for position, size, item in zip(part, sizes, encoded, strict=True):
            due.charge((position,), seconds * size / whole)
            # convert at once: lists of Python integers take ten times the memory
            yield position, np.array(item.ids, np.int64)

    def _rows_per_run(self, length: int, due: _Due) -> int:
        """How many texts of a token length make a batch within `TOKENS_PER_BATCH` and the deadlines."""
        tokens = TOKENS_PER_BATCH
        if due.deadlines.seconds and self._seconds_per_token:
            most = due.deadlines.seconds / RUNS_PER_DEADLINE / self._seconds_per_token
            tokens = int(min(tokens, most))
        return max(1, tokens // max(1, length))

    def _fill(self, texts: Sequence[str], window: range, vectors: NDArray[np.float32], due: _Due) -> None:
        """Write the vectors of a window of distinct texts into their rows of ``vectors``."""
        keys = {i: cache.text_key(texts[i]) for i in window}
        missing = []
        with self._lock:
            for i, key in keys.items():
                if (found := self._memory.get(key)) is None:
                    missing.append(i)
                else:
                    vectors[i] = np.frombuffer(found, "<f4")
        if self._disk is not None and missing:
            due.deadlines.before_loading()  # the file may be locked by other processes
            stored = self._disk.get([keys[i] for i in missing])
            with self._lock:
                for i in missing:
                    if (found := stored.get(keys[i])) is not None:
                        vectors[i] = np.frombuffer(found, "<f4")
                        self._memory.put(keys[i], found)
            missing = [i for i in missing if keys[i] not in stored]
        if not missing:
            return
        due.deadlines.before_loading()
        self.load()
        if due.deadlines.seconds and not self._seconds_per_token:
            # measure the model's speed; the runtime also does its one-time setup in this first run
            self._timed_vectors_of(Batch(np.zeros((1, 8), np.int64), [0]), due.deadlines.clock)
        computed: list[tuple[bytes, bytes]] = []
        for batch, output, seconds in self._run(self.batches(texts, missing, due), due.deadlines.clock):
            for position, vector in zip(batch.positions, output, strict=True):
                vectors[position] = vector
                computed.append((keys[position], vector.astype("<f4", copy=False).tobytes()))
            due.charge(batch.positions, seconds / len(batch.positions))
            due.deadlines.before_step()
        with self._lock:
            self.computed += len(computed)
            for key, stored_vector in computed:
                self._memory.put(key, stored_vector)
        if self._disk is not None:
            due.deadlines.before_loading()
            self._disk.put(computed)

    def _run(
        self, batches: Iterator[Batch], clock: Callable[[], float]
    ) -> Iterator[tuple[Batch, NDArray[np.float32], float]]:
        """Run batches, ``threads`` at a time; yield each with its vectors and seconds, in order.

        The seconds of batches that ran at the same time are divided by their number.
        """
        some = list(itertools.islice(batches, 2))
        batches = itertools.chain(some, batches)
        if self.threads == 1 or len(some) < 2:
            for batch in batches:
                yield batch, *self._timed_vectors_of(batch, clock)
            return
        under_way: deque[tuple[Batch, Future[tuple[NDArray[np.float32], float]]]] = deque()
        most = 0

        def next_done() -> tuple[Batch, NDArray[np.float32], float]:
            batch, future = under_way.popleft()
            output, seconds = future.result()
            return batch, output, seconds / most

        with ThreadPoolExecutor(self.threads, "relfast-embed") as pool:
            for batch in batches:
                under_way.append((batch, pool.submit(self._timed_vectors_of, batch, clock)))
                most = min(self.threads, max(most, len(under_way)))
                # one more than there are threads, so that no thread has to wait for the next batch
                if len(under_way) > self.threads:
                    yield next_done()
            while under_way:
                yield next_done()

    def _timed_vectors_of(
        self, batch: Batch, clock: Callable[[], float]
    ) -> tuple[NDArray[np.float32], float]:
        began = clock()
        output = self._session.run(batch.ids)
        seconds = clock() - began
        self._seconds_per_token = seconds / max(1, batch.ids.size)
        return output, seconds


_embedders: dict[tuple[str, str, str], Embedder] = {}
_embedders_lock = threading.Lock()
_of_parent: list[Embedder] = []


def _start_anew() -> None:
    """Set the parent's embedders aside in a forked child, unused but alive. Their sessions' threads are in
    the parent, and using or even freeing a session would wait for them for ever."""
    global _embedders_lock
    _of_parent.extend(_embedders.values())
    _embedders.clear()
    _embedders_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def get_embedder(name: str = "auto", device: str = "cpu") -> Embedder:
    """This process's embedder for a model and device; a forked child gets its own.

    Raises
    ------
    UsageError, InputError
        As `Embedder` does.
    """
    model = resolve(name)
    # with the path, since a model may have two names here, and rows are signed with the requested name
    key = (model.path, model.hash, device)
    with _embedders_lock:
        embedder = _embedders.get(key)
        if embedder is None:
            embedder = _embedders[key] = Embedder(model, device)
        return embedder


def _tokenising_parts(texts: Sequence[str], chosen: Iterable[int]) -> Iterator[list[int]]:
    """Split the positions ``chosen`` into parts, each for one call of the tokenizer."""
    part: list[int] = []
    chars = 0
    for position in chosen:
        part.append(position)
        chars += min(len(texts[position]), MAX_TEXT_CHARS)
        if len(part) == TEXTS_PER_TOKENISING or chars >= CHARS_PER_TOKENISING:
            yield part
            part, chars = [], 0
    if part:
        yield part


def _clean(text: str) -> str:
    text = text[:MAX_TEXT_CHARS]
    # the tokenizer takes UTF-8, which cannot encode lone surrogates
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
