"""Chooses the filter of lm-evaluation-harness whose rows are scored, if an input has rows of several filters.

A task with several filters writes each document once per filter, with the same raw responses. To score every
row would count every response several times. Unless ``--filter`` says otherwise, rows of the first filter
named in an input's head are scored. The head is a fixed number of bytes, so that the choice depends on the
input alone: not on workers, blocks, shards or resumed runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Final

from relfast.engine.files.io.parquet import first_rows
from relfast.engine.files.io.sources import Source
from relfast.errors import Damaged
from relfast.formats import filter_of
from relfast.json_text import Undecodable, decode_object

HEAD_BYTES: Final = 1 << 20
"""Size of an input's head in (decompressed) bytes; a filter is looked for in the whole lines within it."""

HEAD_ROWS: Final = 64
"""Size of the head of a Parquet file, in rows."""

_KEY: Final = b'"filter"'


class Filters:
    """The filter whose rows are scored, for each source: ``filters[source]``.

    Parameters
    ----------
    sources
        The inputs. The heads of files are read here, those of streams later by `look`.
    dialect
        As in a `Job`.
    wanted
        The filter that ``--filter`` names.

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
        """The filter of a source; None if none has been found yet."""
        return self._chosen[source]

    def look(self, source: int, start: int, data: bytes) -> None:
        """Look for a filter in lines of a stream, which are given in order; ``start`` is their offset."""
        if not self._settled and self._chosen[source] is None and start < HEAD_BYTES:
            self._chosen[source] = self._first(_whole_lines(data, HEAD_BYTES - start))

    @property
    def names(self) -> list[str]:
        """The chosen filters without repeats, in the order of the sources."""
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
    # damage is reported by an output row when the source is scored
    with contextlib.suppress(Damaged), source.open() as stream:
        return _whole_lines(stream.read(HEAD_BYTES + 1), HEAD_BYTES)
    return []
