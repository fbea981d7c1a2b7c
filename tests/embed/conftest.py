"""A cache directory of the test's own, and tiny models in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_bert import make_checkpoint

from relfast.embed.models import Model


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "cache"
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(directory))
    monkeypatch.delenv("RELFAST_EMBED_CACHE", raising=False)
    monkeypatch.delenv("RELFAST_EMBED_THREADS", raising=False)
    return directory


@pytest.fixture
def tiny(cache_dir: Path, tmp_path: Path) -> Model:
    """A tiny BGE-like model, added from its checkpoint."""
    from relfast.embed.adding import add

    return add(str(make_checkpoint(tmp_path / "checkpoint")), "tiny")
