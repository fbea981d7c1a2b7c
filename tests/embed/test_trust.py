"""Models and vectors that somebody else can have written are not used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hostile_cache import give_away
from tiny_bert import make_checkpoint

from relfast.embed import cache, models
from relfast.embed.adding import add, resolve
from relfast.embed.models import Model
from relfast.errors import UsageError

PARTS = [
    ".",
    "embedders",
    "embedders/tiny",
    *(f"embedders/tiny/{name}" for name in ("model.onnx", "tokenizer.json", "relfast.json")),
]


@pytest.mark.parametrize("part", PARTS)
def test_a_model_that_others_can_have_written_is_not_here(
    part: str, tiny: Model, cache_dir: Path, tmp_path: Path
) -> None:
    assert resolve("tiny") == tiny
    spoilt = cache_dir / part
    give_away(spoilt)
    with pytest.warns(RuntimeWarning, match=f" is not used: {spoilt} |{spoilt} "):
        assert models.known_models() == []
    with pytest.raises(UsageError, match="no embedding model 'tiny'"):
        resolve("tiny")
    if spoilt.is_file():
        spoilt.rename(tmp_path / spoilt.name)
        spoilt.symlink_to(tmp_path / spoilt.name)
        with pytest.warns(RuntimeWarning, match=f"{spoilt} is a link"):
            assert models.known_models() == []


def test_a_model_added_with_an_open_umask_is_used(cache_dir: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        model = add(str(make_checkpoint(tmp_path / "bert")), "mine")
    finally:
        os.umask(before)
    assert models.known_models() == [model]
    assert cache_dir.stat().st_mode & 0o7777 == 0o700


@pytest.mark.parametrize("chosen", ["1", "path"])
def test_vectors_where_others_can_write_are_not_kept(
    chosen: str, tiny: Model, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache_dir / "vectors" if chosen == "1" else tmp_path / "chosen"
    monkeypatch.setenv("RELFAST_EMBED_CACHE", "1" if chosen == "1" else str(folder))
    disk = cache.open_disk_cache(tiny, "cpu")
    assert disk is not None
    disk.put([(bytes(16), bytes(128))])
    disk.close()
    assert disk.path.parent == folder
    give_away(folder)
    with pytest.warns(RuntimeWarning, match=f" is not used: {folder} "):
        assert cache.open_disk_cache(tiny, "cpu") is None


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_a_database_that_is_a_link_is_not_opened(
    suffix: str, tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELFAST_EMBED_CACHE", str(tmp_path / "chosen"))
    disk = cache.open_disk_cache(tiny, "cpu")
    assert disk is not None
    disk.close()
    file = disk.path.with_name(disk.path.name + suffix)
    file.unlink(missing_ok=True)
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match=f"{file} is a link"):
        assert cache.open_disk_cache(tiny, "cpu") is None
    assert not (tmp_path / "elsewhere").exists()
