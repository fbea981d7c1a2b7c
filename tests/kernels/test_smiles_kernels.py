"""Reading SMILES and giving graphs canonical codes, against a textbook twin."""

from __future__ import annotations

import numpy as np
import pytest
from relfast_kernels.smiles import layouts
from relfast_kernels.smiles import table as tables


def new_table(max_texts: int, text_bytes: int, max_codes: int, code_bytes: int) -> tables.Table:
    """An empty table for so many texts and molecules (powers of two), which take so many bytes."""
    return tables.Table(
        np.zeros(2 * max_texts, np.int32),
        np.zeros(max_texts * layouts.TEXT_COLUMNS, np.int64),
        np.zeros(text_bytes, np.uint8),
        np.zeros(2 * max_codes, np.int32),
        np.zeros(max_codes * layouts.CODE_COLUMNS, np.int64),
        np.zeros(code_bytes, np.uint8),
        np.zeros(layouts.N_COUNTERS, np.int64),
        np.zeros(layouts.GRAPH_SIZE, np.int64),
        np.zeros(layouts.WORK_SIZE, np.int64),
    )


TABLE = new_table(1, 16, 4, 4 * layouts.MAX_CODE)


def code_of(text: str, *, by_rdkit: bool = False) -> bytes | int:
    code = np.zeros(2 * layouts.MAX_CODE, np.uint8)
    data = np.frombuffer(text.encode(), np.uint8)
    length = tables.code_of(data, by_rdkit, code, TABLE)
    return code[:length].tobytes() if length > 0 else length


@pytest.mark.slow
def test_symmetrical_molecules() -> None:
    """Colour refinement alone cannot tell these apart, or cannot order their atoms."""
    cubane = "C12C3C4C1C5C2C3C45"
    prismane, bicyclopropenyl = "C12C3C4C1C4C32", "C1(C2C=C2)C=C1"
    hexagon, triangles = "C1CCCCC1", "C1CC1.C1CC1"
    decalin, bicyclopentyl = "C1CCC2CCCCC2C1", "C1CCC(C1)C1CCCC1"
    codes = [
        code_of(text)
        for text in (cubane, prismane, bicyclopropenyl, hexagon, triangles, decalin, bicyclopentyl)
    ]
    assert all(isinstance(code, bytes) for code in codes)
    assert len(set(codes)) == len(codes)
    assert code_of("C23C1C4C2C6C3C1C46") == code_of(cubane)
