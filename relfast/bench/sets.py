"""The built-in sets of records, one for each benchmark: named, versioned, and the same on every machine.

REL's and SeqBench's are made with relfast's generators (`benchmarks/make_built_in.py` has seeds and sizes),
ReAlign's are problems of GSM8K and MATH.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from relfast.errors import UsageError

_DATA: Final = Path(__file__).parent.parent / "data"


@dataclass(frozen=True, slots=True)
class Part:
    """A set of records: its name in file names, its input files, and its name in tables (``shown``).

    ``rows`` holds the records themselves if they are not read from ``inputs``; ``files`` are then those that
    they came from.
    """

    name: str
    inputs: tuple[str, ...]
    shown: str
    rows: tuple[Mapping[str, Any], ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A set that ships with relfast. Its version increases whenever a byte of it changes."""

    name: str
    version: int
    file: str

    @property
    def path(self) -> Path:
        return _DATA / self.file

    @property
    def part(self) -> Part:
        return Part(self.name, (str(self.path),), f"{self.name} built-in {self.version}")


SETS: Final[Mapping[str, BuiltIn]] = {
    "rel": BuiltIn("rel", 3, "rel_built_in.jsonl.gz"),
    "seqbench": BuiltIn("seqbench", 1, "seqbench_built_in.jsonl.gz"),
    "realign": BuiltIn("realign", 1, "realign_problems.jsonl"),
}


def built_in(names: Iterable[str] = ()) -> list[Part]:
    """The built-in sets of these names; all if there are no names.

    Raises
    ------
    UsageError
        There is no set of a name.
    """
    chosen = list(dict.fromkeys(name.strip().lower() for name in names)) or list(SETS)
    absent = [name for name in chosen if name not in SETS]
    if absent:
        raise UsageError(f"no built-in set {absent[0]!r}; there are {', '.join(SETS)}")
    return [SETS[name].part for name in chosen]


def from_files(paths: Iterable[str]) -> Iterator[Part]:
    """A part for each file of records, named after it.

    Raises
    ------
    UsageError
        Two files have the same name.
    """
    seen: dict[str, str] = {}
    for path in paths:
        name = Path(path).name.split(".")[0] or "records"
        if name in seen:
            raise UsageError(f"{seen[name]} and {path} would both be written to {name}.jsonl: rename one")
        seen[name] = path
        yield Part(name, (path,), f"{Path(path).name} {_digest(path)}")


def _digest(path: str) -> str:
    """The start of a file's SHA-256; "" if the path is no file (a pattern or a folder, say)."""
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
