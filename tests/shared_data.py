"""The data beside the repository (``../shared``), for tests that use it where it is there.

A user's clone has no such folder; whatever needs it is skipped with a reason. What a test always needs
is copied into the test tree, with its source.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

REL_FILES = {
    "REL-A1": "REL-A1",
    "REL-A2": "REL-A2",
    "REL-A3": "REL-A3",
    "REL-A4": "REL-A4",
    "REL-B1": "REL-B1_all",
    "REL-C1": "REL-C1",
    "REL-C2": "REL-C2",
    "REL-C3": "REL-C3",
}
"""Task → its published records in ``data/rel``."""


def shared(path: str) -> Path:
    """A file of the shared folder, or the test is skipped."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"../shared/{path} is not here (it comes with the project's workplace, not with a clone)")
    return found


@cache
def rows(path: str) -> list[Any]:
    """The rows of a gzipped JSONL file of the shared folder."""
    with gzip.open(shared(path), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rel_records(task: str) -> list[dict[str, Any]]:
    """The published records of a REL task."""
    return rows(f"data/rel/{REL_FILES[task]}.jsonl.gz")


@cache
def _texts(source: str) -> dict[Any, str]:
    if source == "realign":
        return {row["id"]: row["llm_solution"] for row in rows("data/realign/model_solutions.jsonl.gz")}
    if source == "chem":
        return {row["id"]: row["response"] for row in rows("data/rel/chem_llm_responses.jsonl.gz")}
    strings = json.loads(shared("data/hostile/naughty_strings.json").read_text(encoding="utf-8"))
    return dict(enumerate(strings))


def with_prefix(prefix: list[Any] | None, response: str) -> str:
    """A parity row's full response: ``[source, key, length]`` names the text that stands before it."""
    if prefix is None:
        return response
    source, key, length = prefix
    text = _texts(source)[key]
    return (text if length is None else text[:length]) + "\n" + response
