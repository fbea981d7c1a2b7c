"""`StepAligner`: the published class, implemented with relfast's embedder and kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relfast.tasks.realign.alignment import NOTHING, align_matrices, similarity_matrix


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
