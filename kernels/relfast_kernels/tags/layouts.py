"""What the kernels for tags and their callers share; imports neither numba nor numpy."""

from __future__ import annotations

from typing import Final

from relfast_kernels.entry import Array, Byte, Bytes, Const, Inner, Int, Ints, Rows, Struct
from relfast_kernels.smiles.layouts import Sizes


class Gold(Struct):
    """A gold: where its texts are in the store; where those that the question gave end, which follow them;
    and the numbers of both."""

    start: int = Int
    end: int = Int
    given_end: int = Int
    n: int = Int
    n_given: int = Int


class Told(Struct):
    """A reading of a response: its number of molecules (`LEFT_TO_PYTHON`: none is told), where they are, and
    how it was read."""

    n: int = Int
    start: int = Int
    end: int = Int
    how: int = Int


PLAIN, NEARLY, EMPTY, ONLY_REASONING, SEVERAL, FORM = range(6)
"""How a response was read: plain letters only, or no tag; other letters, too; it is blank; nothing but
reasoning is in it; it names several molecules where one is asked for; and not to its end, as another form of
an answer may stand after the last tag."""

LEFT_TO_PYTHON: Final = -1


class Responses(Struct):
    """Responses whose tags are read (`relfast_kernels.tags.read.gather`).

    ``data`` has their texts, one after the other: response k is ``data[spans[k]:spans[k + 1]]``, its gold is
    number ``golds[k]`` of ``known``, whose texts are in ``store``. ``strict``, ``cuts`` and ``one``: whether
    tags are read as ``strict`` does, reasoning is cut first, and one molecule is taken instead of all.

    ``out`` receives for each response that is read the texts of its gold, of its tags and of what was given,
    each ended by a newline; ``told`` a reading of each; ``sizes`` those of each that is read, one after the
    other.
    """

    n: int = Int
    strict: int = Int
    cuts: int = Int
    one: int = Int
    n_bytes: int = Int
    n_spans: int = Int
    most: int = Int
    n_known: int = Int
    n_store: int = Int
    n_out: int = Int
    data: Bytes = Const(Byte, "n_bytes")
    spans: Ints = Const(Int, "n_spans")
    golds: Ints = Const(Int, "most")
    known: Rows[Gold] = Const(Gold, "n_known")
    store: Bytes = Const(Byte, "n_store")
    out: Bytes = Array(Byte, "n_out")
    told: Rows[Told] = Array(Told, "most")
    sizes: Rows[Sizes] = Array(Sizes, "most")


class Answer(Struct):
    """A text without reasoning whose molecules ``strict`` reads, the last one (``one``) or all, into ``out``,
    which has room for one byte more than the text; their number, and how it was read."""

    one: int = Int
    told: Told = Inner(Told)
    n_bytes: int = Int
    n_out: int = Int
    text: Bytes = Const(Byte, "n_bytes")
    out: Bytes = Array(Byte, "n_out")
