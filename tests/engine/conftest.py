"""Kernels that are there, and gold to join with."""

from __future__ import annotations

import pytest
from missing_kernels import built
from mutations import gold_file


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    built("text")


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of the records that `mutations.real_lines` respond to."""
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_bytes(gold_file())
    return str(path)
