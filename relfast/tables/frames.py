"""Columns as a data frame or an Arrow table; both packages are optional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relfast.errors import MissingExtraError


def to_pandas(columns: Mapping[str, Sequence[Any]], what: str) -> Any:
    """A `pandas.DataFrame`; ``what`` is named by the `MissingExtraError` that is raised without pandas."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError(what, "report") from None
    return pandas.DataFrame(dict(columns))


def to_arrow(columns: Mapping[str, Sequence[Any]], what: str) -> Any:
    """A `pyarrow.Table`; ``what`` is named by the `MissingExtraError` that is raised without pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(what, "parquet") from None
    return pyarrow.table({name: pyarrow.array(list(values)) for name, values in columns.items()})
