"""The patterns of the ``strict`` extractors as programs, in the tables that the machine runs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.text.patterns.classes import LEFT as LEFT_OF
from relfast_kernels.text.patterns.compile import Programs
from relfast_kernels.text.patterns.sources import SOURCES
from relfast_kernels.text.patterns.symbols import N_SYMBOLS, constant

_PROGRAMS: Final = Programs()
for _name, (_source, _flags) in SOURCES.items():
    _PROGRAMS.add(_name, _source, _flags)

CODE: Final = np.array(_PROGRAMS.code, np.int16)
TABLES: Final = np.array(_PROGRAMS.tables, np.int16)
LISTS: Final = np.array(_PROGRAMS.lists, np.int16)
SETS: Final = np.zeros(len(_PROGRAMS.sets) * N_SYMBOLS, np.uint8)
for _members, _number in _PROGRAMS.sets.items():
    SETS[_number * N_SYMBOLS + np.array(sorted(_members), np.int64)] = 1
_NUMBERS: Final = {name: number for number, name in enumerate(_PROGRAMS.starts)}
STARTS: Final = np.array(list(_PROGRAMS.starts.values()), np.int32)
BEGINS: Final = np.array(_PROGRAMS.begins, np.uint8)
SECONDS: Final = np.array(_PROGRAMS.seconds, np.uint64)
LEFT: Final = np.array(LEFT_OF, np.uint8)


def number_of(name: str) -> int:
    """A pattern's number."""
    return constant(_NUMBERS[name])


def beginnings(numbers: Any) -> tuple[Any, Any]:
    """What matches of some patterns, 64 at most, may begin with: for each symbol those that may have it
    first, as bits; and for the last six bits of each those that may have it second."""
    firsts, seconds = np.zeros(N_SYMBOLS, np.uint64), np.zeros(64, np.uint64)
    rows = SECONDS.reshape(-1, N_SYMBOLS)
    for bit, number in enumerate(numbers):
        may = BEGINS[number * (N_SYMBOLS + 1) :][:N_SYMBOLS] != 0
        firsts[may] |= np.uint64(1 << bit)
        for symbol in range(64):
            if np.any(rows[number][may] >> np.uint64(symbol) & np.uint64(1)):
                seconds[symbol] |= np.uint64(1 << bit)
    return firsts, seconds
