"""The lines of inputs, one after the other: how everybody but the block reader reads JSONL and Parquet."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from relfast.engine.io.codecs import Damaged
from relfast.engine.io.parquet import iterate_rows
from relfast.engine.io.sources import Source, find_sources
from relfast.errors import InputError, ReadError


def iterate_lines(path: str) -> Iterator[bytes]:
    """The lines of all that a name stands for (see `find_sources`), one input after the other.

    Raises
    ------
    InputError
        An input is not there, or cannot be read to its end.
    """
    for source in find_sources([path]):
        yield from lines_of(source)


def lines_of(source: Source) -> Generator[bytes]:
    """The lines of an input in any codec, without their ends; rows of Parquet as JSON.

    Raises
    ------
    InputError
        It cannot be read to its end.
    """
    if source.codec == "parquet":
        yield from iterate_rows(source.path)
        return
    try:
        with source.open() as stream:
            for line in stream:
                yield line.removesuffix(b"\n")
    except Damaged as error:
        raise InputError(str(error), file=source.path) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=source.path) from error
