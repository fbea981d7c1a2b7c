"""Which filter of lm-evaluation-harness is scored, where its samples come once per filter.

A task with several filters has all its documents once for each, with the same raw responses: to score every
row would count every response as often as there are filters. Unless ``--filter`` says otherwise, the first
filter that an input's head names is scored. The head is a number of bytes, so that the choice depends on
nothing but the input: neither on workers and blocks, nor on shards and resumed runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Final

from relfast.engine.io.codecs import Damaged
from relfast.engine.io.parquet import first_rows
from relfast.engine.io.sources import Source
from relfast.formats import filter_of
from relfast.json_text import Undecodable, decode_object

HEAD_BYTES: Final = 1 << 20
"""Bytes (decompressed) at an input's start in whose whole lines a filter is looked for."""

HEAD_ROWS: Final = 64
"""The same for Parquet, in rows."""

_KEY: Final = b'"filter"'


class Filters:
    """The filter that is scored of each source.

    Parameters
    ----------
    sources
        The inputs. Files are looked at here, streams as they are read.
    dialect
        As in a `Job`.
    wanted
        The one that ``--filter`` names.

    Raises
    ------
    InputError, ReadError
        A file cannot be read.
    """

    def __init__(self, sources: Sequence[Source], dialect: str, wanted: str | None = None) -> None:
        self._dialect = dialect
        self._settled = wanted is not None or dialect not in ("auto", "lm-eval")
        self._chosen: list[str | None] = [wanted] * len(sources)
        if not self._settled:
            self._chosen = [self._first(_head(source)) if source.regular else None for source in sources]

    def __getitem__(self, source: int) -> str | None:
        """The filter of a source, or None while none has been seen."""
        return self._chosen[source]

    def look(self, source: int, start: int, data: bytes) -> None:
        """See lines of a stream, in order; ``start`` is where in it they stand."""
        if not self._settled and self._chosen[source] is None and start < HEAD_BYTES:
            self._chosen[source] = self._first(_whole_lines(data, HEAD_BYTES - start))

    @property
    def names(self) -> list[str]:
        """The filters that were chosen, in the order of the sources."""
        return list(dict.fromkeys(name for name in self._chosen if name is not None))

    def _first(self, lines: Iterable[bytes]) -> str | None:
        for line in lines:
            if _KEY in line:
                with contextlib.suppress(Undecodable):
                    name = filter_of(decode_object(line), self._dialect)
                    if name is not None:
                        return name
        return None


def _whole_lines(data: bytes, length: int) -> list[bytes]:
    """The lines that end within the first ``length`` bytes."""
    lines = data[:length].split(b"\n")
    if len(data) > length:
        lines.pop()
    return lines


def _head(source: Source) -> list[bytes]:
    if source.codec == "parquet":
        return first_rows(source.path, HEAD_ROWS, columns=("doc", "filter"))
    # what is damaged gets its row when it is read to be scored
    with contextlib.suppress(Damaged), source.open() as stream:
        return _whole_lines(stream.read(HEAD_BYTES + 1), HEAD_BYTES)
    return []
