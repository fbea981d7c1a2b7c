"""Writes the records of `relfast bench`'s built-in sets, with our own generators:

    python -m benchmarks.make_built_in relfast/data

The same seeds give the same bytes; a test holds the files against the generators. Change a set and bump its version
in `relfast.bench.sets`.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.tasks import get_task
from relfast.tasks.seqbench.generate import make_rows

SEED: Final = 20261
"""Seeds of the sets; ids bear it."""

REL: Final[dict[str, tuple[int, dict[str, Any]]]] = {
    **{f"REL-A{number}": (6, {}) for number in (1, 2, 3, 4)},
    "REL-B1": (6, {"num_leaves": 20, "seq_len": 120}),
    "REL-C1": (6, {"sizes": (5, 10)}),
    "REL-C2": (6, {"sizes": (5,)}),
    "REL-C3": (6, {}),
}
"""Task → records, and parameters that keep questions short enough for small contexts."""

MAZES: dict[str, Any] = {"L": (10, 49), "cover": True, "bin_width": 10, "B": (0, 1, 2), "N": (0.0, 0.5)}
"""SeqBench: each combination once, so that L0, and the tables by L, B and N, have something to show."""


def rel() -> Iterator[dict[str, Any]]:
    for name, (count, parameters) in REL.items():
        yield from get_task(name).generator_module.generate(name, count, SEED, **parameters)


def seqbench() -> Iterator[dict[str, Any]]:
    return make_rows(1, SEED, **MAZES)


def write(path: Path, records: Iterator[dict[str, Any]]) -> None:
    data = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
    path.write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write(folder / "rel_built_in.jsonl.gz", rel())
    write(folder / "seqbench_built_in.jsonl.gz", seqbench())
