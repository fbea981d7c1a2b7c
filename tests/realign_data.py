"""ReAlign's data beside the repository (``../shared``), and small problems that every test has."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@cache
def shared_rows(path: str) -> list[dict[str, Any]]:
    """The rows of a gzipped JSONL file of ``../shared``, or the test is skipped."""
    file = SHARED / path
    if not file.exists():
        pytest.skip(f"../shared/{path} is not here (it comes with the project's workplace, not with a clone)")
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def parity(kind: str) -> list[dict[str, Any]]:
    """The published scorer's own outputs of a kind: align, parse or parse_ref."""
    return [row for row in shared_rows("parity/realign.jsonl.gz") if row["kind"] == kind]


def solutions() -> list[dict[str, Any]]:
    """2,624 real model solutions with reference solutions."""
    return shared_rows("data/realign/model_solutions.jsonl.gz")
