"""REL-C2's outcomes by columns, of many pairs that the kernel has compared: as `motif_reference.decide` and
`motif_strict.of_pair` have them one by one."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
from relfast_kernels.mcs.layouts import (
    COMMON_ATOMS,
    PAIR_ATOMS,
    PAIR_FINGERPRINT,
    PAIR_IN_FIRST,
    PAIR_IN_SECOND,
    PAIR_PART,
    PAIR_SETTLED,
)

from relfast.tasks.modules import JudgedText
from relfast.tasks.rel_c.motif_reference import RIGHT

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def published(results: Ints, n_gold: Ints, said: list[str]) -> list[JudgedText]:
    """What pairs with a result are worth as published.

    Parameters
    ----------
    results
        int64, shape (n, PAIR_SIZE): of pairs of a gold and a response.
    n_gold
        int64, shape (n,): atoms of the golds.
    said
        The responses' texts.
    """
    in_gold, in_response = results[:, PAIR_IN_FIRST] == 1, results[:, PAIR_IN_SECOND] == 1
    n = results[:, PAIR_ATOMS]
    common = np.where(in_gold | in_response, np.minimum(n, n_gold), results[:, COMMON_ATOMS])
    correct = in_gold & in_response
    votes = np.where(correct, RIGHT, np.maximum(results[:, PAIR_FINGERPRINT], RIGHT + 1))
    columns = (correct, votes), (in_gold, in_response, common / np.maximum(n, n_gold))
    return _rows(columns, said)


def strict(
    results: Ints, n_gold: Ints, gold_settled: Flags, said: list[str]
) -> tuple[list[JudgedText], Flags]:
    """The same under ``strict``, and for which pairs that says nothing: those that may be one molecule, or of
    which the response is a part of gold. None may be an isotope."""
    in_gold, in_response = results[:, PAIR_IN_FIRST] == 1, results[:, PAIR_IN_SECOND] == 1
    correct = in_gold & in_response
    is_open = (results[:, PAIR_PART] == 1) | (correct & ~(gold_settled & (results[:, PAIR_SETTLED] == 1)))
    most = np.maximum(results[:, PAIR_ATOMS], n_gold)
    overlap = np.minimum(results[:, COMMON_ATOMS], most - 1) / most
    votes = np.where(correct, RIGHT, np.maximum(results[:, PAIR_FINGERPRINT], RIGHT + 1))
    metrics = in_gold, in_response, np.where(correct, 1.0, overlap), correct.astype(np.float64)
    return _rows(((correct, votes), metrics), said, None), is_open


def _rows(
    columns: tuple[tuple[npt.NDArray[Any], ...], tuple[npt.NDArray[Any], ...]], said: list[str], *more: Any
) -> list[JudgedText]:
    (correct, votes), metrics = columns
    return [
        *zip(
            repeat(True),
            correct.tolist(),
            votes.tolist(),
            said,
            *(column.tolist() for column in metrics),
            *map(repeat, more),
            strict=False,
        )
    ]
