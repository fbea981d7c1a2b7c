"""A tiny embedding model for the task's tests; no figure of theirs depends on what it thinks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from relfast_kernels.compiled import native
from tiny_bert import make_checkpoint

from relfast.tasks.options import AllOptions


@pytest.fixture(scope="module")
def tiny_options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AllOptions]:
    native.find("text")  # the process remembers its kernel, which the cache of these tests lacks
    home: Path = tmp_path_factory.mktemp("realign")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        from relfast.embed.adding import add

        add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "tiny")
        yield AllOptions(embedder="tiny")
