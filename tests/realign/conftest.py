"""A tiny embedding model under the name that `auto` takes, so that whole runs take seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from relfast_kernels import _jit
from tiny_bert import make_checkpoint


@pytest.fixture(scope="module")
def tiny_auto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The cache directory, for child processes."""
    home: Path = tmp_path_factory.mktemp("realign_runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        # child processes would compile every kernel anew in an empty cache
        patch.setenv("NUMBA_CACHE_DIR", str(_jit._DIRECTORY))
        from relfast.embed.adding import add

        add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "bge-large")
        yield str(home / "cache")
