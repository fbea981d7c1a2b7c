"""`relfast_kernels.text.vectors` against bytes, and what is built on it for processors that lack some of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpora import ROOT
from processes import PATIENCE, python
from relfast_kernels.compiled.jit import BUILDING
from relfast_kernels.text import vectors
from relfast_kernels.text.vectors import WIDTH
from seeds import fresh

BYTES = b'\\\\\\nu"/[<0923 \x00\x1f\x7f\x80\x97\xe2\xffabz'


def _compiled(function: Any) -> Any:
    if not BUILDING:
        return function
    import numba

    return numba.njit(function)


def _bits(flags: Any) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def test_places() -> None:
    @_compiled
    def ask(data: Any, at: int) -> Any:
        return (
            vectors.places_of(data, at, 92, 0xE2),
            vectors.places_within(data, at, 48, 57),
            vectors.places_within(data, at, 0x80, 0xFF),
            vectors.places_within(data, at, 127, 31),
        )

    rng = fresh(5)
    for number in range(300):
        raw = bytes(rng.choices(BYTES, k=2 * WIDTH)) if number % 2 else rng.randbytes(2 * WIDTH)
        data = np.frombuffer(raw, np.uint8)
        at = number % WIDTH
        window = data[at : at + WIDTH].tolist()
        assert [int(each) for each in ask(data, at)] == [
            _bits(byte in (92, 0xE2) for byte in window),
            _bits(48 <= byte <= 57 for byte in window),
            _bits(byte >= 0x80 for byte in window),
            _bits(not 32 <= byte <= 126 for byte in window),
        ]


@pytest.mark.slow
@pytest.mark.skipif(BUILDING, reason="this is that process")
@pytest.mark.parametrize("processor", ["", "generic"])
def test_compiled(processor: str) -> None:
    """The same as machine code, for this processor and for one that has neither AVX-512 nor AVX2."""
    script = "import sys, relfast_kernels.compiled.builder, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    chosen = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""} if processor else {}
    tests = ("-q", "-n", 0, "-p", "no:cacheprovider", __file__)
    done = python("-c", script, *tests, environment=chosen, cwd=ROOT, timeout=5 * PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout, done.stdout
