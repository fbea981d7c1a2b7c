"""Against libraries that do one of our jobs: pebble's pool, Biopython's and parasail's aligners, Math-Verify.

Each does the same work, as its documentation says to do it, and the results are compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest
from naive_realign import align
from relfast_kernels.align import align_batch

import relfast

from .measure import against, size
from .workloads_realign import matrices, solutions
from .workloads_rewards import missing_isomers

ROWS, COLUMNS = 12, 14
GAP: Final = -0.1
SYMBOLS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: ROWS + COLUMNS]
"""A symbol a step, for libraries that align sequences by a matrix of their alphabet."""

WORKERS: Final = 2
SECONDS: Final = 5.0


def _ours(flat: Any, pairs: int) -> Any:
    sizes = np.full(pairs, ROWS), np.full(pairs, COLUMNS)
    cells, order = np.arange(pairs) * ROWS * COLUMNS, np.arange(pairs)
    return lambda: align_batch(flat, cells, *sizes, order, GAP, 0.7)


def _against_aligner(benchmark: Any, name: str, total_of: Callable[[Any], float], tolerance: float) -> None:
    pairs = size(benchmark, smoke=16, quick=500, full=2_000)
    stack = matrices(pairs, ROWS, COLUMNS)
    for matrix in stack[:16]:
        path, _ = align(matrix, ROWS, COLUMNS, GAP)
        best = sum(float(matrix[i][j]) if move == "match" else GAP for move, i, j in path)
        assert abs(total_of(matrix) - best) <= tolerance
    ours = _ours(stack.ravel(), pairs)
    ours()
    against(
        benchmark,
        ours,
        lambda: [total_of(matrix) for matrix in stack],
        task=f"alignment with path, {ROWS} × {COLUMNS}, against {name}",
        items=pairs,
        name="vs",
        limit=1.0,
        at_least=True,
    )


def test_alignment_against_biopython(benchmark: Any) -> None:
    from Bio.Align import PairwiseAligner, substitution_matrices

    aligner = PairwiseAligner(mode="global", open_gap_score=GAP, extend_gap_score=GAP)
    table = substitution_matrices.Array(SYMBOLS, dims=2)

    def total(matrix: Any) -> float:
        table.view(np.ndarray)[:ROWS, ROWS:] = matrix
        aligner.substitution_matrix = table
        alignment = aligner.align(SYMBOLS[:ROWS], SYMBOLS[ROWS:])[0]
        assert alignment.coordinates.shape[0] == 2
        return float(alignment.score)

    _against_aligner(benchmark, "Biopython's PairwiseAligner", total, 1e-4)


def test_alignment_against_parasail(benchmark: Any) -> None:
    """Parasail has whole numbers: similarities in thousandths, and so a tolerance of half of one a step. Its
    matrix is filled by the element, which is most of its time."""
    import parasail

    table = parasail.matrix_create(SYMBOLS, 0, 0)
    gap = round(-1_000 * GAP)

    def total(matrix: Any) -> float:
        whole = np.rint(matrix * 1_000).astype(int).tolist()
        for i, row in enumerate(whole):
            for j, value in enumerate(row, ROWS):
                table.set_value(i, j, value)
                table.set_value(j, i, value)
        result = parasail.nw_trace_striped_16(SYMBOLS[:ROWS], SYMBOLS[ROWS:], gap, gap, table)
        assert len(result.cigar.seq)
        return float(result.score) / 1_000

    _against_aligner(benchmark, "parasail", total, 0.0005 * (ROWS + COLUMNS))


def _published(gold: dict[str, Any], response: str) -> bool:
    """REL-C3's published scorer, in a process of pebble's."""
    from naive_rel import score_c3

    return bool(score_c3(gold, response)["correct"])


@pytest.fixture
def pebble_pool() -> Iterator[Any]:
    import pebble

    with pebble.ProcessPool(max_workers=WORKERS) as pool:
        yield pool


def test_rewards_against_pebble(pebble_pool: Any, benchmark: Any) -> None:
    """What a careful user writes: the published scorer in a pool with a deadline a record. Each round spells the
    molecules anew, so that nothing is remembered."""
    n = size(benchmark, smoke=16, quick=256, full=512)
    batches = (missing_isomers(n, 1, spelling) for spelling in itertools.count(2))
    current = [next(batches)]

    def theirs() -> list[bool]:
        current[0] = batch = next(batches)
        jobs = [
            pebble_pool.schedule(_published, args=(gold, response), timeout=SECONDS)
            for gold, response in zip(batch.answers, batch.responses, strict=True)
        ]
        return [job.result() for job in jobs]

    with relfast.Scorer(workers=WORKERS, timeout=SECONDS) as scorer:

        def ours() -> list[bool]:
            batch = current[0]
            return list(scorer.score_batch([batch.task] * n, batch.answers, batch.responses).correct)

        theirs()
        ours()
        against(
            benchmark,
            ours,
            theirs,
            task=f"{n} REL-C3 rewards against the published scorer in pebble's pool, 2 processes",
            items=n,
            workers=WORKERS,
            name="vs",
            limit=1.0,
            at_least=True,
            check=lambda mine, others: mine == others,
        )


@pytest.mark.filterwarnings("ignore")
def test_answers_against_math_verify(benchmark: Any) -> None:
    """Reading the final answers of real solutions and comparing them, against Math-Verify on the same texts.
    The two differ in what counts as the same: how often stands in the row."""
    from math_verify import parse, verify

    from relfast.tasks.realign.answers import same
    from relfast.tasks.realign.extract import read_final_answer

    texts = [
        (row["benchmark_solution"], row["llm_solution"])
        for row in solutions(size(benchmark, smoke=10, quick=100, full=400))
    ]

    def ours() -> list[bool]:
        return [
            same(read_final_answer(gold, reference=True).value, read_final_answer(text).value)
            for gold, text in texts
        ]

    def theirs() -> list[bool]:
        return [
            bool(
                verify(
                    parse(gold, parsing_timeout=None), parse(text, parsing_timeout=None), timeout_seconds=None
                )
            )
            for gold, text in texts
        ]

    agree: list[float] = []

    def check(mine: list[bool], others: list[bool]) -> bool:
        agree.append(sum(map(bool.__eq__, mine, others)) / len(mine))
        return agree[-1] > 0.8

    against(
        benchmark,
        ours,
        theirs,
        task="final answers of math solutions, read and compared, against Math-Verify",
        items=len(texts),
        name="vs",
        limit=1.0,
        at_least=True,
        rounds=3,
        check=check,
    )
    benchmark.extra_info["agreement"] = round(agree[-1], 4)
