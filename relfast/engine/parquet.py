"""Parquet in and out (extra ``parquet``): a row is a record, a row group a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from relfast.engine.reader import Block
from relfast.errors import InputError, MissingExtraError

_ROWS: Final = 4_096
"""Rows turned into Python objects at a time."""


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading or writing Parquet", "parquet") from None
    return pyarrow


def _file(path: str) -> Any:
    pyarrow = _pyarrow()
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"not a readable Parquet file: {error}", file=path) from None


def row_groups(path: str, first: int) -> Iterator[Block]:
    """A block per row group; ``start`` and ``end`` count row groups."""
    with _file(path) as file:
        for group in range(first, file.num_row_groups):
            n_rows = file.metadata.row_group(group).num_rows
            yield Block(0, 0, 0, n_rows, group, group + 1, path=path, parquet=True)


def read_group(path: str, group: int) -> list[bytes]:
    """The rows of a row group as lines of JSON."""
    with _file(path) as file:
        lines: list[bytes] = []
        for batch in file.iter_batches(_ROWS, row_groups=[group]):
            lines += map(_line, batch.to_pylist())
        return lines


def iterate_rows(path: str) -> Iterator[bytes]:
    """All rows as lines of JSON."""
    with _file(path) as file:
        for batch in file.iter_batches(_ROWS):
            yield from map(_line, batch.to_pylist())


def _line(row: dict[str, Any]) -> bytes:
    # a struct column holds the union of all rows' keys, the absent ones null: absent is what they are
    answer = row.get("answer")
    if isinstance(answer, dict):
        row["answer"] = {key: value for key, value in answer.items() if value is not None}
    return orjson.dumps(row, default=str)


def write_rows(rows_path: str, path: str) -> None:
    """Turn a file of rows (JSONL) into Parquet, a chunk at a time.

    ``metrics`` is a column of JSON text, since tasks do not share their metrics.
    """
    pyarrow = _pyarrow()
    schema = pyarrow.schema(
        [
            ("index", pyarrow.int64()),
            ("id", pyarrow.string()),
            ("task", pyarrow.string()),
            ("sample", pyarrow.int64()),
            ("status", pyarrow.string()),
            ("correct", pyarrow.bool_()),
            ("reward", pyarrow.float64()),
            ("metrics", pyarrow.string()),
            ("error", pyarrow.struct([("type", pyarrow.string()), ("message", pyarrow.string())])),
        ]
    )
    with open(rows_path, "rb") as lines, pyarrow.parquet.ParquetWriter(path, schema) as writer:
        rows: list[dict[str, Any]] = []
        for line in lines:
            row = orjson.loads(line)
            row["metrics"] = orjson.dumps(row["metrics"]).decode()
            row["id"] = row["id"] if isinstance(row["id"], str | None) else orjson.dumps(row["id"]).decode()
            rows.append(row)
            if len(rows) == _ROWS:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))
