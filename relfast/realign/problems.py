"""Load problems: from the hub's data set by subset, from a JSONL file, or the few that ship with relfast."""

from __future__ import annotations

import os
import socket
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from relfast.engine.files.io.sources import find_sources, lines_of, objects_in
from relfast.errors import InputError, MissingExtraError, UsageError
from relfast.support.system import turn_off_telemetry

DATASET: Final = "EleutherAI/hendrycks_math"
SUBSETS: Final = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)
BUILT_IN: Final = Path(__file__).parent.parent / "data" / "realign_problems.jsonl"
BUILT_IN_SUBSETS: Final = ("gsm8k", "prealgebra")

_QUESTION: Final = ("problem", "question")
_SOLUTION: Final = ("solution", "benchmark_solution", "answer")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with its reference solution. ``subset`` and ``id`` together identify it."""

    subset: str
    id: Any
    question: str
    solution: str


def from_hub(
    subsets: Sequence[str], limit: int | None = None, *, dataset: str = DATASET
) -> Iterator[Problem]:
    """The first ``limit`` problems of each subset of a data set on the hub or in a local directory.

    Raises
    ------
    MissingExtraError
        `datasets` is not installed.
    InputError
        A subset cannot be loaded.
    """
    turn_off_telemetry()
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError(f"loading {dataset}", "hub", "; or name a file with --data") from error
    for subset in subsets:
        try:
            table = datasets.load_dataset(dataset, subset, split="test")
        except Exception as error:  # the library raises its own, the hub's and the network's errors
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"subset {subset!r} cannot be loaded: {reason}; or name a file with --data", file=dataset
            ) from error
        for number, row in enumerate(table):
            if limit is not None and number >= limit:
                break
            yield problem_of(row, subset, number, f"{dataset}/{subset}")


def from_file(path: str, subsets: Sequence[str] = (), limit: int | None = None) -> Iterator[Problem]:
    """The first ``limit`` problems of each subset (default: all) in a JSONL file, plain or compressed.

    A row has ``problem`` (or ``question``) and ``solution`` (or ``benchmark_solution``), and optionally
    ``subset`` (default: the file's name up to its first dot) and ``id`` (default: the line's number, from
    0). A problem that occurs again under another id (for example with solutions of several models) is
    taken once.

    Raises
    ------
    InputError
        The file cannot be read, a row is not a problem, or a subset has no problem in the file.
    """
    known: dict[str, None] = {}
    taken: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for source in find_sources([path]):
        if source.codec == "parquet":
            raise UsageError(f"{path}: problems are read from JSONL, not from Parquet")
        for number, row in objects_in(lines_of(source), source.path):
            problem = problem_of(row, Path(path).name.split(".")[0], number - 1, source.path)
            known[problem.subset] = None
            if subsets and problem.subset not in subsets:
                continue
            if (problem.subset, problem.question) in seen:
                continue
            if limit is not None and taken.get(problem.subset, 0) >= limit:
                continue
            seen.add((problem.subset, problem.question))
            taken[problem.subset] = taken.get(problem.subset, 0) + 1
            yield problem
    if not known:
        raise InputError("no problem in it", file=path)
    absent = [subset for subset in dict.fromkeys(subsets) if subset not in known]
    if absent:
        raise InputError(f"no problem of {', '.join(absent)}; its subsets are {', '.join(known)}", file=path)


def built_in(subsets: Sequence[str] = (), limit: int | None = None) -> Iterator[Problem]:
    """The first ``limit`` problems of each subset (default: all) of those that ship with relfast.

    Raises
    ------
    UsageError
        A subset has no problems that ship with relfast.
    """
    absent = [subset for subset in dict.fromkeys(subsets) if subset not in BUILT_IN_SUBSETS]
    if absent:
        raise UsageError(
            f"no problem of {', '.join(absent)} ships with relfast ({', '.join(BUILT_IN_SUBSETS)} do);"
            " name a file with --data, or a --dataset"
        )
    yield from from_file(str(BUILT_IN), subsets, limit)


def problem_of(row: Any, subset: str, number: int, place: str) -> Problem:
    """The problem in a row, which is row ``number`` of ``place``. ``subset``: used if the row names none.

    Raises
    ------
    InputError
        The row has no problem or no solution.
    """
    question = next((row[name] for name in _QUESTION if isinstance(row.get(name), str)), None)
    solution = next((row[name] for name in _SOLUTION if isinstance(row.get(name), str)), None)
    if question is None:
        raise InputError("is missing or no text", file=place, line=number + 1, field="problem")
    if solution is None:
        raise InputError("is missing or no text", file=place, line=number + 1, field="solution")
    named = row.get("subset")
    key = row.get("id")
    return Problem(
        named if isinstance(named, str) and named else subset,
        number if key is None else key,
        question,
        solution,
    )


OFFLINE: Final = "HF_HUB_OFFLINE"
"""The environment variable that makes the hub's client use its cache only, without the network."""

_HUB: Final = "https://huggingface.co"


def why_unreachable() -> str | None:
    """Why the hub's host name cannot be resolved: ``huggingface.co: Name or service not known``. None if
    it can (even slowly), or if a proxy would resolve it."""
    host = urlsplit(os.environ.get("HF_ENDPOINT") or _HUB).hostname
    try:
        if host and not urllib.request.getproxies():
            socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        return f"{host}: {getattr(error, 'strerror', None) or error}"
    return None
