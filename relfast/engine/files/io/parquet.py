"""Reads and writes Parquet and CSV (extra ``parquet``), of which each row is a record or an output row.

In a CSV of records every cell is text, and an empty cell is a missing value, as pandas writes None. In a CSV
of output rows, numbers are numbers and empty cells are null.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import orjson

from relfast.engine.columns.blocks import Fault
from relfast.engine.files.io.codecs import MAGIC_BYTES, PACKINGS, Stream, codec_seen, stream_of
from relfast.engine.files.io.recognise import TSV, UTF_16
from relfast.errors import Damaged, InputError, MissingExtraError
from relfast.json_text import as_text, encode_json
from relfast.support.outputs import draft_of, ends_with

ROWS: Final = 4_096
"""Number of rows that are turned into Python objects at a time."""

_BUFFER: Final = 1 << 20

_CSV_BLOCK: Final = 32 * 2**20
"""Bytes of CSV that pyarrow parses at a time; a record must fit."""


def require_parquet() -> Any:
    """The module pyarrow. Raises `MissingExtraError` if it is not installed."""
    try:
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading or writing Parquet or CSV", "parquet") from None
    return pyarrow


def _file(path: str) -> Any:
    pyarrow = require_parquet()
    try:
        # with a buffer, columns are read piece by piece, not whole
        return pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"not a readable Parquet file: {_one_line(error)}", file=path) from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def count_rows(path: str) -> int:
    """Number of rows of a CSV or Parquet file, by its name. Raises `InputError` if it is no such file."""
    if ends_with(path, ".csv"):
        return sum(1 for _ in csv_lines(path))
    return sum(n_rows for n_rows, _ in group_sizes(path))


def group_sizes(path: str) -> list[tuple[int, int]]:
    """(rows, uncompressed bytes) of each row group. Raises `InputError` if the file is no Parquet."""
    with _file(path) as file:
        described = map(file.metadata.row_group, range(file.num_row_groups))
        return [(int(group.num_rows), int(group.total_byte_size)) for group in described]


def batches(path: str, group: int) -> Iterator[list[bytes]]:
    """The rows of a row group as lines of JSON, in lists of at most `ROWS`.

    Raises
    ------
    Damaged
        The row group cannot be read.
    """
    with _file(path) as file:
        read = file.iter_batches(ROWS, row_groups=[group], use_threads=False)
        while True:
            try:
                batch = next(read, None)
                lines = None if batch is None else [_line(row) for row in batch.to_pylist()]
            except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors or OSErrors
                raise Damaged(f"row group {group} cannot be read: {_one_line(error)}") from None
            if lines is None:
                return
            yield lines


def damaged_rows(indices: Iterable[int], error: Damaged) -> dict[int, Fault]:
    """The same fault for each row of a row group that cannot be read."""
    return dict.fromkeys(indices, ("DamagedInput", str(error)))


def read_group(path: str, group: int) -> list[bytes]:
    """The rows of a row group as lines of JSON. Raises `Damaged` if it cannot be read."""
    return [line for lines in batches(path, group) for line in lines]


def first_rows(path: str, n: int, *, columns: Sequence[str]) -> list[bytes]:
    """The first ``n`` rows as lines of JSON; none if one of ``columns`` is missing, or if reading fails."""
    with _file(path) as file:
        if not set(columns) <= set(file.schema_arrow.names):
            return []
        try:
            return [_line(row) for row in next(file.iter_batches(n, use_threads=False)).to_pylist()]
        except (StopIteration, OSError, ValueError):
            return []


def parquet_lines(path: str) -> Iterator[bytes]:
    """All rows as lines of JSON. Raises `InputError`, or `Damaged` if a row group cannot be read."""
    for group in range(len(group_sizes(path))):
        for lines in batches(path, group):
            yield from lines


def csv_lines(path: str) -> Iterator[bytes]:
    """The rows of a CSV or TSV, also compressed, as lines of JSON. The header is read by the call itself: it
    says what separates cells (comma, tab, semicolon or bar), and whether they are UTF-8 or UTF-16.

    Raises
    ------
    InputError
        The file cannot be opened, is empty, is in another encoding, or names a column twice.
    Damaged
        From the iterator: a row has other columns than the header, or is no UTF-8.
    """
    pyarrow = require_parquet()
    types: dict[str, Any] = {}
    try:
        form = _form_of(path)
        with _csv(path, form, types) as file:
            names = file.schema.names
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"not a readable CSV: {_one_line(error)}", file=path) from None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are called {twice!r}", file=path)
    schema = _row_schema(frozenset(names), error=pyarrow.string())
    is_output = names == schema.names
    types |= {name: schema.field(name).type if is_output else pyarrow.string() for name in names}
    return _csv_rows(path, form, types, is_output)


_DELIMITERS: Final = ",\t;|"
_HEADER_BYTES: Final = 1 << 20
_CELL: Final = re.compile(r'\s*"((?:[^"]|"")*)"\s*|\s*([^"]*?)\s*')
_KNOWN: Final = frozenset(
    {
        "id",
        "task",
        "sample",
        "status",
        "correct",
        "reward",
        "question",
        "answer",
        "response",
        "prompt",
        "completion",
        "output",
    }
)


class _Form(NamedTuple):
    """How a CSV is written: its encoding, and what separates its cells."""

    encoding: str
    delimiter: str


def _form_of(path: str) -> _Form:
    """The form of a CSV, by its header. Raises `InputError` if it cannot be told."""
    with _bytes_of(path) as file:
        head: bytes = file.read(_HEADER_BYTES)
    encoding = "utf-16" if head.startswith(UTF_16) else "utf-8-sig"
    if encoding == "utf-16":
        head = head[: len(head) // 2 * 2]
    text, flaw = _decoded(head, encoding)
    if flaw is not None:
        raise InputError(f"line {flaw} is no UTF-8; {_iconv(path)}", file=path)
    header = text.lstrip("\r\n").partition("\n")[0].rstrip("\r")
    usual = "\t" if TSV.search(path.lower()) or encoding == "utf-16" else ","
    splits = {
        mark: [a or b for a, b in map(_cell, header.split(mark))] for mark in _DELIMITERS if mark in header
    }
    known = {mark: len(_KNOWN.intersection(map(str.lower, names))) for mark, names in splits.items()}
    best = [mark for mark in splits if known[mark] == max(known.values())]
    if usual in best or not splits:
        return _Form(encoding, usual)
    if len(best) > 1:
        shown = " or ".join(map(repr, best))
        raise InputError(
            f"its header may be separated by {shown}: commas are expected ({header:.80})", file=path
        )
    return _Form(encoding, best[0])


def _cell(text: str) -> tuple[str, str]:
    found = _CELL.fullmatch(text)
    return ("", text) if found is None else (found[1] or "", found[2] or "")


def _decoded(head: bytes, encoding: str) -> tuple[str, int | None]:
    """The text of a file's first bytes, and the number of the first line that is in another encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return decoder.decode(head), None
    except UnicodeDecodeError as error:
        return "", head.count(b"\n", 0, error.start) + 1


def _iconv(path: str) -> str:
    stem, suffix = os.path.splitext(path)
    names = shlex.quote(path), shlex.quote(f"{stem}.utf8{suffix}")
    return "Excel writes Windows-1252 so: iconv -f WINDOWS-1252 -t UTF-8 {} > {}".format(*names)


def _bytes_of(path: str) -> Any:
    """A file's bytes, decompressed, as a file that pyarrow reads."""
    file = open(path, "rb")  # noqa: SIM115 (closed with what is returned)
    codec = codec_seen(file.peek(MAGIC_BYTES))
    if codec in PACKINGS:
        return io.BufferedReader(_Unpacked(stream_of(file, codec)), _BUFFER)
    file.close()
    return require_parquet().input_stream(path, compression=None, buffer_size=_BUFFER)


class _Unpacked(io.RawIOBase):
    """A stream as a file, for pyarrow to read."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._left = stream, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        piece = self._left or self._stream.read(len(buffer))
        n = min(len(piece), len(buffer))
        buffer[:n], self._left = piece[:n], piece[n:]
        return n

    def close(self) -> None:
        self._stream.close()
        super().close()


def _csv(path: str, form: _Form, types: Mapping[str, Any]) -> Any:
    csv = require_parquet().csv
    encoding = "utf8" if form.encoding == "utf-8-sig" else form.encoding
    return csv.open_csv(
        _bytes_of(path),
        csv.ReadOptions(use_threads=False, block_size=_CSV_BLOCK, encoding=encoding),
        csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
        csv.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def _csv_rows(path: str, form: _Form, types: Mapping[str, Any], is_output: bool) -> Iterator[bytes]:
    """The rows of a CSV as lines of JSON, in the way that `csv_lines` describes."""
    pyarrow = require_parquet()
    try:
        with _csv(path, form, types) as file:
            for batch in file:
                for row in batch.to_pylist():
                    if not is_output:
                        row = {
                            name: cell or None
                            for name, cell in row.items()
                            if cell or name not in ("id", "task")
                        }
                    yield orjson.dumps(row)
    except (OSError, pyarrow.ArrowException) as error:
        advice = f"; {_iconv(path)}" if "UTF8" in str(error) else ""
        raise Damaged(f"CSV is damaged: {_one_line(error)}{advice}") from None


def _line(row: dict[str, Any]) -> bytes:
    # in a struct column all rows have all keys, and those that a row did not have are null: drop these
    answer = row.get("answer")
    if isinstance(answer, dict):
        row["answer"] = {key: value for key, value in answer.items() if value is not None}
    # JSON escapes newlines, so this is one line
    return orjson.dumps(row, default=str)


_TEXT_COLUMNS: Final = ("task", "status")


def write_rows(rows: Callable[[], Iterable[Mapping[str, Any]]], path: str) -> int:
    """Write output rows as Parquet or CSV, by the name of ``path``, and return their number. The file appears
    only when it is complete. ``rows`` is called twice: first to see which columns there are.

    ``metrics`` is a column of JSON text, since each task has other metrics; so are in CSV ``error``, and an
    ``id`` that is no text or that not every format can hold (`as_text`): then ``id_json`` says in which rows.
    Lone surrogates elsewhere become ``?``.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    pyarrow = require_parquet()
    is_csv = ends_with(path, ".csv")
    further = {name for row in rows() for name in (_PROMPT, _ID_JSON) if _further(row)[name]}
    schema = _row_schema(further, error=pyarrow.string() if is_csv else None)
    writer_of = pyarrow.csv.CSVWriter if is_csv else pyarrow.parquet.ParquetWriter
    part = draft_of(path)
    n_rows = 0
    try:
        with writer_of(part, schema) as writer:
            left = iter(rows())
            while chunk := [_storable(row, is_csv) for row in islice(left, ROWS)]:
                writer.write_table(pyarrow.Table.from_pylist(chunk, schema))
                n_rows += len(chunk)
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, os.path.realpath(path))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    return n_rows


_PROMPT, _ID_JSON = "prompt", "id_json"
"""Columns that tables have only if some row needs them."""


def _further(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row in the columns that not all tables have."""
    record_id = row["id"]
    is_json = record_id is not None and as_text(record_id) is not record_id
    return {_PROMPT: row.get("prompt"), _ID_JSON: is_json or None}


def _row_schema(further: Collection[str], error: Any = None) -> Any:
    """The columns of output rows, with those of `_further` that are named; ``error`` is the type of the
    column ``error``, by default a struct."""
    pyarrow = require_parquet()
    text, whole = pyarrow.string(), pyarrow.int64()
    more = [(_ID_JSON, pyarrow.bool_()), (_PROMPT, text)]
    return pyarrow.schema(
        [
            ("index", whole),
            ("id", text),
            *(column for column in more if column[0] in further),
            ("task", text),
            ("sample", whole),
            ("status", text),
            ("correct", pyarrow.bool_()),
            ("reward", pyarrow.float64()),
            ("metrics", text),
            ("error", error or pyarrow.struct([("type", text), ("message", text)])),
        ]
    )


def _storable(row: Mapping[str, Any], is_csv: bool) -> dict[str, Any]:
    """An output row with values as the columns of `_row_schema` hold them."""
    stored = {**row, **_further(row), "metrics": encode_json(row["metrics"]).decode()}
    if row["id"] is not None:
        stored["id"] = as_text(row["id"])
    for name in _TEXT_COLUMNS:
        stored[name] = _clean(stored[name])
    if row["error"] is not None:
        error = {name: _clean(text) for name, text in row["error"].items()}
        stored["error"] = encode_json(error).decode() if is_csv else error
    return stored


def _clean(text: Any) -> Any:
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text
