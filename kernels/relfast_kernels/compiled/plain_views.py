"""What a kernel that runs as plain Python gets for a struct of `relfast_kernels.entry`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from relfast_kernels.compiled.jit import carray
from relfast_kernels.entry import ArrayField, InnerField, Kind, Struct, Value, dtype_of, fields_of


def view(struct: Struct) -> Any:
    """What a kernel gets for a struct: the record, or else a named tuple of numbers, arrays and structs."""
    kind = type(struct)
    if not kind.held:
        return _row_of(kind)(_record(struct.address, kind))
    parts: list[Any] = []
    for name, field in kind.declared.items():
        if isinstance(field, InnerField):
            parts.append(view(getattr(struct, name)))
        elif isinstance(field, ArrayField):
            shape = tuple(getattr(struct, size) if isinstance(size, str) else size for size in field.shape)
            place = ctypes.c_int64.from_address(struct.address + getattr(kind, field.at).offset).value
            array = carray(place, shape, dtype_of(field.kind))
            array.flags.writeable = not field.const
            parts.append(array if field.codes else _Many(array, _row_of(field.kind)))
        else:
            number = _record(struct.address + getattr(kind, name).offset, field)
            parts.append(_row_of(field)(number) if issubclass(field, Struct) else number)
    return fields_of(kind)(*parts)


def _record(address: int, kind: Kind) -> Any:
    """The record, number or numbers at an address."""
    return carray(address, 1, dtype_of(kind))[0]


def _part(record: Value, name: str, kind: Kind) -> Any:
    """A field of a record: a number, numbers in place, or a record in place."""
    return _row_of(kind)(record[name]) if issubclass(kind, Struct) else record[name]


@cache
def _row_of(kind: type[Struct]) -> Any:
    """The class of a row of records: NumPy's own has fields by name too, but not ``size`` or ``data``."""

    def field_of(name: str, kind: Kind) -> Any:
        def enter(row: Value, value: Value) -> None:
            row._record[name] = value

        return property(lambda row: _part(row._record, name, kind), enter)

    fields = {name: field_of(name, field) for name, field in kind.declared.items()}
    return type(kind.__name__, (_Row,), {"__slots__": (), **fields})


class _Row:
    __slots__ = ("_record",)

    def __init__(self, record: Value) -> None:
        self._record = record


class _Many:
    """An array of records whose items are rows."""

    __slots__ = ("_records", "_row")

    def __init__(self, records: Value, row: Callable[[Any], Any]) -> None:
        self._records, self._row = records, row

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        found = self._records[index]
        return _Many(found, self._row) if hasattr(found, "flags") and found.ndim else self._row(found)
