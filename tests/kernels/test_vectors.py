"""`relfast_kernels.text.vectors` against bytes, and what is built on it for processors that lack some of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from corpora import ROOT
from processes import PATIENCE, python
from relfast_kernels.compiled.jit import BUILDING
from relfast_kernels.text import find, json_scan, vectors
from relfast_kernels.text.marks import ANY, MARKS
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
    def ask(data: Any, at: int, out: Any) -> Any:
        block = vectors.load(data, at)
        vectors.store(block, out, 1)
        return (
            vectors.equal(block, 92),
            vectors.within(block, 48, 57),
            vectors.within(block, 0x80, 0xFF),
            vectors.within(block, 127, 31),
            vectors.equal(vectors.lower(block), 97),
            vectors.first(vectors.equal(block, 92)),
        )

    rng = fresh(5)
    for number in range(400):
        # the array may end within the block, or before it
        raw = bytes(rng.choices(BYTES, k=2 * WIDTH)) if number % 2 else rng.randbytes(2 * WIDTH)
        raw = raw[: 2 * WIDTH - number % 3 * rng.randrange(WIDTH + 1)]
        data, out = np.frombuffer(raw, np.uint8), np.zeros(WIDTH + 2, np.uint8)
        at = number % WIDTH
        window = raw[at : at + WIDTH].ljust(WIDTH, b"\0")
        assert [int(each) for each in ask(data, at, out)] == [
            _bits(byte == 92 for byte in window),
            _bits(48 <= byte <= 57 for byte in window),
            _bits(byte >= 0x80 for byte in window),
            _bits(not 32 <= byte <= 126 for byte in window),
            _bits(byte in b"aA" for byte in window),
            window.find(92) if 92 in window else WIDTH,
        ]
        assert out.tobytes() == b"\0" + window + b"\0"


WORDS = (b"no", b"yes", b"taxon", b"answer")


def test_searches() -> None:
    """Searches end where they are told, at the array's end and before it, against searches of `bytes`."""

    @_compiled
    def ask(data: Any, at: int, end: int, word: Any) -> Any:
        return (
            find.find_word(data, at, end, word),
            find.find_either(data, at, end, 120, 0x80),
            find.find_outside(data, at, end, 32, 126),
            find.find_decimal(data, at, end),
        )

    rng = fresh(6)
    for number in range(400):
        word = WORDS[number % len(WORDS)]
        raw = bytearray(rng.choices(b"ansWerTAXO yY.\x80\xd0\xe0\xef", k=rng.randrange(1, 3 * WIDTH)))
        for _ in range(number % 3):
            at = rng.randrange(len(raw))
            raw[at : at + len(word)] = word.swapcase() if number % 2 else word.title()
        at = rng.randrange(len(raw))
        end = rng.choice((len(raw), rng.randrange(at, len(raw) + 1)))
        inside = bytes(raw[at:end])
        odd = next((k for k, byte in enumerate(inside) if not 32 <= byte <= 126), len(inside))
        either = next((k for k, byte in enumerate(inside) if byte in (120, 0x80)), len(inside))
        digit = next((k for k, byte in enumerate(inside) if byte in b"\xe0\xef"), len(inside))
        here = inside.lower().find(word)
        expected = [at + (here if here >= 0 else len(inside)), at + either, at + odd, at + digit]
        assert [*ask(np.frombuffer(bytes(raw), np.uint8), at, end, np.frombuffer(word, np.uint8))] == expected


def test_openings() -> None:
    """Every mark of reasoning begins with what is sought, in any case; brackets of formulas do not."""

    @_compiled
    def ask(data: Any) -> Any:
        return find.find_opening(data, 0, len(data)), find.find_label_open(data, 0, len(data))

    formulas = b"1 < 2, [3], <<4>> " * 9
    labels = formulas.replace(b"< ", b"<")
    for word in (word.replace(ANY, "a") for mark in MARKS for word in mark):
        for spelled in (word, word.upper()):
            assert ask(np.frombuffer(formulas + spelled.encode(), np.uint8))[0] == len(formulas), spelled
    for label in ("<Yes>", "<no>", "<\u2003YES>", "<\tNo>"):
        assert ask(np.frombuffer(labels + label.encode(), np.uint8))[1] == len(labels), label


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


def test_last_and_lowered() -> None:
    """The last place of a byte before another, and letters in lower case, against `bytes`."""

    @_compiled
    def ask(data: Any, low: int, at: int, out: Any) -> Any:
        vectors.store(vectors.lowered(vectors.load(data, low)), out, 0)
        return find.find_last(data, low, at, 92, 92), find.find_last(data, low, at, 48, 57)

    rng = fresh(7)
    for number in range(300):
        raw = bytes(rng.choices(BYTES, k=3 * WIDTH)) if number % 2 else rng.randbytes(3 * WIDTH)
        low, at = sorted(rng.sample(range(3 * WIDTH + 1), 2))
        out = np.zeros(WIDTH, np.uint8)
        digits = [k for k in range(low, at) if 48 <= raw[k] <= 57]
        found = [int(each) for each in ask(np.frombuffer(raw, np.uint8), low, at, out)]
        assert found == [max(raw.rfind(92, low, at), low - 1), max(digits, default=low - 1)]
        assert out.tobytes() == raw[low : low + WIDTH].ljust(WIDTH, b"\0").lower()


ESCAPES = (
    r"\n",
    r"\"",
    r"\\",
    r"\/",
    r"\t",
    r"\b",
    r"\u00e9",
    r"\u0000",
    r"\u001F",
    r"\u005C",
    r"\u000a",
    r"\ud83d\ude00",
)


def test_escapes_undone() -> None:
    """Strings of JSON with their escapes undone, or as orjson writes them, whatever is behind them, against
    orjson."""

    @_compiled
    def write(data: Any, at: int, end: int, out: Any) -> Any:
        return json_scan.put_text(data, at, end, out, 1)

    @_compiled
    def write_json(data: Any, at: int, end: int, out: Any) -> Any:
        return json_scan.put_json(data, at, end, out, 1)

    pieces = [*ESCAPES, "é", "漢", "word", " some prose ", "x" * (WIDTH - 1)]
    rng = fresh(8)
    for number in range(400):
        said = "".join(rng.choices(pieces, k=rng.randrange(1, 30))).encode()
        before, behind = rng.choices((b"", b'"', b'", "a": "\\n\\u00e9'), k=2)
        data, out = np.frombuffer(before + said + behind, np.uint8), np.zeros(len(said) + WIDTH + 3, np.uint8)
        with np.errstate(over="ignore"):  # numbers wrap around, as compiled
            end = write(data, len(before), len(before) + len(said), out)
            text = out[1:end].tobytes().decode()
            end = write_json(data, len(before), len(before) + len(said), out)
        assert text == orjson.loads(b'"%s"' % said), number
        assert out[1:end].tobytes() == orjson.dumps(text), number
