"""Align many pairs of solutions at once: embed their steps, compute similarities, find the best paths.

`StepAligner` is the published class, which `relfast.realign` offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from relfast_kernels.align import align_batch, cosines
from relfast_kernels.layouts import MATCH, SKIP_BENCHMARK, SKIP_LLM

from relfast.support.deadlines import Deadlines

if TYPE_CHECKING:
    from relfast.embed.embedder import Embedder

GAP_PENALTY: Final = -0.1
DIVERGENCE_THRESHOLD: Final = 0.7
"""ReAlign's threshold: a match below it counts as divergence, an alignment score below it as low."""

STEPS_PER_WINDOW: Final = 16_384
"""Maximum steps whose vectors are in memory at once: 25 MB for MiniLM, 67 MB for BGE large. Splitting a batch
into windows changes no vector and no score."""

SKIPPED_SCORE: Final = 0.0
"""``score`` of a skipped step, as published: the gap penalty counts only while aligning."""
CELLS_PER_STEP: Final = 1 << 18
"""Maximum similarities computed between checks of the deadline, 0.1 s. Two solutions of
`relfast.tasks.realign.extract.MAX_STEPS` steps have 16 times as many."""

MOVES: Final = {MATCH: "match", SKIP_BENCHMARK: "skip_benchmark", SKIP_LLM: "skip_llm"}
"""The kernel's code of a move → the ``type`` of an entry."""


class Pair(NamedTuple):
    """The steps of two solutions to align: the benchmark's reference and the LLM's response."""

    benchmark: Sequence[str]
    llm: Sequence[str]


class Alignment(NamedTuple):
    """The alignment of one pair.

    ``moves`` are the kernel's codes in order (uint8), ``scores`` the similarities of the matches in order
    (float32). ``avg_score`` is their mean, summed in float64 from the last match to the first, the order
    of the published backtracking. ``first_divergence`` is the 1-based place of the first move that is a
    skip or a match below `DIVERGENCE_THRESHOLD`, or None.
    """

    moves: NDArray[np.uint8]
    scores: NDArray[np.float32]
    avg_score: float
    first_divergence: int | None

    @property
    def matches(self) -> int:
        return len(self.scores)

    def entries(self, benchmark: Sequence[str], llm: Sequence[str]) -> list[dict[str, Any]]:
        """The published list of entries: one per move, with indices, score and the texts of the steps."""
        entries: list[dict[str, Any]] = []
        i = j = 0
        scores = iter(self.scores.tolist())
        for move in self.moves.tolist():
            in_benchmark, in_llm = move != SKIP_LLM, move != SKIP_BENCHMARK
            entries.append(
                {
                    "type": MOVES[move],
                    "benchmark_idx": i if in_benchmark else None,
                    "llm_idx": j if in_llm else None,
                    "score": next(scores) if move == MATCH else SKIPPED_SCORE,
                    "benchmark_step": benchmark[i] if in_benchmark else None,
                    "llm_step": llm[j] if in_llm else None,
                }
            )
            i += in_benchmark
            j += in_llm
        return entries


NOTHING: Final = Alignment(np.empty(0, np.uint8), np.empty(0, np.float32), 0.0, None)
"""The alignment of a pair with an empty side: no entries and a score of 0.0, as published."""


def align_pairs(
    pairs: Sequence[Pair], encoder: Embedder, deadlines: Deadlines | None = None
) -> list[Alignment | None]:
    """The alignments of pairs, in order; steps of all pairs are embedded together. A pair with an empty side
    gives `NOTHING`, a pair whose time is up None."""
    if deadlines is None:
        deadlines = Deadlines(len(pairs))
    results: list[Alignment | None] = [NOTHING] * len(pairs)
    for window in _windows(pairs):
        for k, alignment in zip(window, _align_window(pairs, window, encoder, deadlines), strict=True):
            results[k] = alignment
    return [None if deadlines.passed(k) else result for k, result in enumerate(results)]


def _align_window(
    pairs: Sequence[Pair], window: Sequence[int], encoder: Embedder, deadlines: Deadlines
) -> Iterator[Alignment]:
    """Embed and align the pairs of one window, in order."""
    some = [pairs[k] for k in window]
    steps = [step for pair in some for step in pair.benchmark]
    half = len(steps)
    steps.extend(step for pair in some for step in pair.llm)
    rows = np.array([len(pair.benchmark) for pair in some], np.int64)
    columns = np.array([len(pair.llm) for pair in some], np.int64)
    owners = np.concatenate([np.repeat(window, rows), np.repeat(window, columns)])
    vectors, places = encoder.encode_distinct(steps, owners, deadlines)
    similarity = np.zeros(int((rows * columns).sum()), np.float32)
    cell, row, column = 0, 0, half
    for k, height, width in zip(window, rows.tolist(), columns.tolist(), strict=True):
        rows_of, columns_of = places[row : row + height], places[column : column + width]
        step = max(1, CELLS_PER_STEP // width)
        for at in range(0, height, step):
            end = cell + rows_of[at : at + step].size * width
            if not deadlines.passed(k):
                with deadlines.step(k):
                    similarity[cell:end] = cosines(vectors, rows_of[at : at + step], columns_of).ravel()
            cell = end
        row, column = row + height, column + width
    # the kernel takes 5 ns a cell: 20 ms for the largest pair
    yield from align_matrices(similarity, rows, columns)


def align_matrices(
    similarity: NDArray[np.float32], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Iterator[Alignment]:
    """The alignments of a batch of similarity matrices of shapes (rows[k], columns[k]), which are
    concatenated in ``similarity``: flat float32, row by row."""
    sizes = rows * columns
    cells = np.cumsum(sizes) - sizes
    path, begin, end, matches, total, diverged = align_batch(
        similarity, cells, rows, columns, GAP_PENALTY, DIVERGENCE_THRESHOLD
    )
    for p in range(rows.size):
        moves = path[begin[p] : end[p]]
        i = np.cumsum(moves != SKIP_LLM) - 1
        j = np.cumsum(moves != SKIP_BENCHMARK) - 1
        matched = moves == MATCH
        scores = similarity[cells[p] + i[matched] * columns[p] + j[matched]]
        average = float(total[p]) / int(matches[p]) if matches[p] else 0.0
        yield Alignment(moves, scores, average, int(diverged[p]) or None)


def similarity_matrix(benchmark: Sequence[str], llm: Sequence[str], encoder: Embedder) -> NDArray[np.float32]:
    """The cosine similarities of two lists of steps, (benchmark, llm) float32."""
    vectors, places = encoder.encode_distinct([*benchmark, *llm])
    return cosines(vectors, places[: len(benchmark)], places[len(benchmark) :])


def _windows(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Split the indices of pairs without an empty side into windows of at most `STEPS_PER_WINDOW` steps
    (or of one pair with more)."""
    window: list[int] = []
    steps = 0
    for k, pair in enumerate(pairs):
        if not pair.benchmark or not pair.llm:
            continue
        size = len(pair.benchmark) + len(pair.llm)
        if window and steps + size > STEPS_PER_WINDOW:
            yield window
            window, steps = [], 0
        window.append(k)
        steps += size
    if window:
        yield window


class StepAligner:
    """Aligns the steps of two solutions by the cosine similarity of their embeddings.

    Parameters
    ----------
    embedding_model_name
        A known name, its hub repository, a directory, or ``auto``: ReAlign's model if this machine has it,
        else MiniLM. Loaded at first use.
    device
        ``cpu`` (or None), ``cuda``, ``cuda:N``.
    """

    def __init__(self, embedding_model_name: str = "auto", device: str | None = None) -> None:
        self.embedding_model_name = embedding_model_name
        self.device = device or "cpu"

    def compute_similarity_matrix(
        self, steps_a: Sequence[str], steps_b: Sequence[str]
    ) -> NDArray[np.float32]:
        """The cosine similarities, (steps_a, steps_b) float32. Subclasses may override this.

        Raises
        ------
        UsageError
            The model is not on this machine; the message says how to add it.
        """
        from relfast.embed.embedder import get_embedder

        return similarity_matrix(steps_a, steps_b, get_embedder(self.embedding_model_name, self.device))

    def align_steps(
        self, steps_benchmark: Sequence[str], steps_llm: Sequence[str]
    ) -> tuple[list[dict[str, Any]], float]:
        """The best global alignment and the mean similarity of its matches.

        Returns
        -------
        (alignment, avg_score)
            One entry per move: ``type`` (match, skip_benchmark, skip_llm), ``benchmark_idx`` and
            ``llm_idx`` (None for the side without a step), ``score``, and the steps' texts. If a side is
            empty, ``([], 0.0)``.
        """
        if not len(steps_benchmark) or not len(steps_llm):
            return [], NOTHING.avg_score
        # the kernel aligns float32 similarities, whatever precision a subclass computes in
        matrix = np.asarray(self.compute_similarity_matrix(steps_benchmark, steps_llm), np.float32)
        shape = (len(steps_benchmark), len(steps_llm))
        if matrix.shape != shape:
            raise ValueError(f"the similarity matrix is {matrix.shape}, the steps are {shape}")
        rows, columns = np.array([shape[0]], np.int64), np.array([shape[1]], np.int64)
        (alignment,) = align_matrices(np.ascontiguousarray(matrix).ravel(), rows, columns)
        return alignment.entries(steps_benchmark, steps_llm), alignment.avg_score
