"""What Python hands to kernels by name: machine code and plain Python see the same, and wrong values are errors."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import python
from relfast_kernels.compiled import native
from relfast_kernels.compiled.plain_views import view
from relfast_kernels.entry import (
    Array,
    Byte,
    Bytes,
    Const,
    Doubles,
    Float,
    Inner,
    Int,
    Int32,
    Ints,
    Rows,
    Struct,
    dtype_of,
    rows_of,
)


class Line(Struct):
    start: int = Int
    size: int = Int32  # as no field of NumPy's records can be called
    marks: Ints = Int * 3


class State(Struct):
    used: int = Int
    last: Line = Inner(Line)


class Golds(Struct):
    n_bytes: int = Int
    text: Bytes = Const(Byte, "n_bytes")


class Block(Struct):
    n_lines: int = Int
    n_columns: int = Int
    share: float = Float
    state: State = Inner(State)
    lines: Rows[Line] = Array(Line, "n_lines")
    table: Doubles = Array(Float, 2, "n_columns")
    golds: Golds = Inner(Golds)


def work(block: Block) -> int:
    for k in range(block.n_lines):
        block.lines[k].size = block.golds.text[k] + block.lines[k].start
        block.lines[k].marks[2] += k
    block.state.used = len(block.lines) * block.table.shape[1]
    block.state.last.start = block.lines[1].start
    for column in range(block.n_columns):
        block.table[1, column] = block.share * block.table[0, column]
    return block.golds.n_bytes


def a_block(lines: Any) -> Block:
    table = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    return Block(lines=lines, table=table, golds=Golds(text=b"abcd"), share=0.5)


def told(block: Block, result: int) -> str:
    lines = [(block.lines[k].start, block.lines[k].size, *block.lines[k].marks) for k in range(block.n_lines)]
    return f"{result} {lines} {block.state.used} {block.state.last.start} {block.table[1].tolist()}"


def some_lines() -> Any:
    lines = rows_of(Line, 2)
    for k in range(2):
        lines[k].start = 7 + k
    return lines


EXPECTED = "4 [(7, 104, 0, 0, 0), (8, 106, 0, 0, 1)] 6 8 [0.5, 1.0, 1.5]"


def test_plain_python_reads_and_writes_by_name() -> None:
    block = a_block(some_lines())
    assert told(block, work(view(block))) == EXPECTED


_BUILD = """
import sys
import tempfile
from relfast_kernels.compiled import builder, making, native
from relfast_kernels.compiled.jit import kernel
import test_entry
test_entry.ENTRIES = {"work": (kernel(test_entry.work), test_entry.Block)}
module, entries = builder.module_of("test_entry", own_way=sys.argv[1] == "own")
native.cache().check(make=True)
with tempfile.NamedTemporaryFile() as file:
    file.write(making._link(builder.emitted(module)))
    file.flush()
    address_of = native._open_library(file, "")
call = native.callable_at(address_of(entries["work"]["symbol"]), entries["work"]["arguments"], holds_gil=True)
block = test_entry.a_block(test_entry.some_lines())
print(test_entry.told(block, call(block)))
"""


@pytest.mark.parametrize("way", ["once", "own"])
def test_machine_code_reads_and_writes_by_name(way: str) -> None:
    here = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    done = python("-W", "ignore", "-c", _BUILD, way, environment=here)
    assert done.stdout.strip() == EXPECTED, done.stderr


@pytest.mark.parametrize(
    "lines",
    [
        np.array([(7, 0, [0, 0, 0]), (8, 0, [0, 0, 0])], dtype_of(Line)),
        np.rec.array([(7, 0, [0, 0, 0]), (8, 0, [0, 0, 0])], dtype_of(Line)),
    ],
)
def test_rows_may_be_an_array_of_numpy(lines: Any) -> None:
    block = a_block(lines)
    assert work(view(block)) == 4
    assert lines["size"].tolist() == [104, 106]


class Numbers(Struct):
    n: int = Int
    limit: int = Int
    given: Ints = Const(Int, "n")
    found: Ints = Array(Int, "n")


def frozen(n: int) -> Any:
    numbers = np.arange(n)
    numbers.flags.writeable = False
    return numbers


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"fuond": np.zeros(3, int)}, AttributeError, "fuond"),
        ({"found": np.zeros(3, np.int32)}, TypeError, "found is an array of c_long, not int32"),
        ({"found": np.zeros(3)}, TypeError, "found is an array of c_long, not float64"),
        ({"found": b"abc"}, TypeError, "found is an array of c_long, not bytes"),
        ({"found": None}, TypeError, "found is an array of c_long, not NoneType"),
        ({"found": (ctypes.c_double * 3)()}, TypeError, "found is an array of c_long, not c_double"),
        ({"found": array("i", [1, 2, 3])}, TypeError, "found is an array of c_long, not i"),
        ({"found": np.arange(6)[::2]}, ValueError, "found: the array is not contiguous"),
        ({"found": frozen(3)}, ValueError, "found: the array is read-only"),
        ({"found": np.zeros((3, 1), int)}, ValueError, "found has 1 dimensions, not 2"),
        ({"found": np.zeros(2, int)}, ValueError, "n is 2, but 3 in given"),
        ({"found": np.zeros(2, int), "given": np.zeros(4, int)}, ValueError, "but n is 2"),
        ({"n": 2}, TypeError, "n is set with the arrays"),
        ({"limit": 2.5}, TypeError, "int"),
    ],
)
def test_a_wrong_value_is_an_error(values: dict[str, Any], error: type[Exception], said: str) -> None:
    numbers = Numbers(given=np.arange(3), found=np.zeros(3, int))
    with pytest.raises(error, match=said):
        numbers.put(**values)
    assert (numbers.n, view(numbers).found.size, numbers.given.size) == (3, 3, 3)


def test_read_only_and_empty_arrays_are_given_where_kernels_only_read() -> None:
    numbers = Numbers(given=frozen(3), found=array("q", [1, 2, 3]))
    assert view(numbers).given.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        view(numbers).given[0] = 5
    numbers.put(given=np.empty(0, int), found=np.empty(0, int))
    assert (numbers.n, view(numbers).found.size) == (0, 0)
    assert view(Golds(text=b"")).text.size == 0


def test_arrays_of_ctypes_have_dimensions() -> None:
    block = a_block(some_lines()).put(table=(ctypes.c_double * 3 * 2)())
    assert view(block).table.shape == (2, 3)
    with pytest.raises(ValueError, match="table has the shape"):
        block.put(table=(ctypes.c_double * 2 * 3)())


def test_what_a_struct_was_given_lives_as_long_as_it() -> None:
    numbers = Numbers(given=(kept := np.arange(3)), found=np.zeros(3, int))
    place, kept = weakref.ref(kept), None  # type: ignore[assignment]
    gc.collect()
    assert view(numbers).given.tolist() == [0, 1, 2]
    numbers.given = np.arange(5, 8)
    assert place() is None
    assert numbers.given[2] == 7


def test_a_function_takes_its_struct_only_with_all_its_arrays() -> None:
    function = native.callable_at(
        ctypes.cast(ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0), ctypes.c_void_p).value or 0,
        "Numbers",
        holds_gil=True,
    )
    numbers = Numbers(given=np.arange(3))
    for wrong in (numbers, Golds(text=b""), None):
        with pytest.raises(TypeError, match="a Numbers that has all its arrays is wanted"):
            function(wrong)
    with pytest.raises(TypeError, match="golds is a whole Golds"):
        Block(golds=Golds())
    numbers.found = np.zeros(3, int)
    assert function(numbers) == 0


def test_a_text_is_entered_alone() -> None:
    assert [Golds.held["text"].is_text, Numbers.held["given"].is_text] == [True, False]  # type: ignore[attr-defined]
    golds = Golds(text=b"abc")
    golds.text = b"defgh"  # type: ignore[assignment]
    assert (golds.n_bytes, golds.text, bytes(view(golds).text)) == (5, b"defgh", b"defgh")


def test_a_shape_names_numbers_of_its_struct() -> None:
    with pytest.raises(TypeError, match=r"Wrong\.found: its shape names m"):

        class Wrong(Struct):
            n: int = Int
            found: Ints = Array(Int, "m")
