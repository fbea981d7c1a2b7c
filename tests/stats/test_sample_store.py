"""Samples that are put down while a run goes on come to the same numbers as those that are held."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relfast import score_file
from relfast.stats import samples as kept
from relfast.stats.samples import FURTHER, SAMPLE, SampleStore

NAMES = [*kept.TASK_NUMBERS, "(unknown)"]

SAMPLES = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.booleans(),
        st.integers(0, 60),
        st.sampled_from([0, 1, 2, 3, 2**32 - 1]),
        st.booleans(),
    ),
    max_size=120,
)


def packed(rows: list[tuple[int, bool, int, int, bool]]) -> list[bytes]:
    return [
        SAMPLE.pack(task + further * FURTHER, prompt * 0x9E37_79B9_7F4A_7C15 % 2**64, vote, correct)
        for task, further, prompt, vote, correct in rows
    ]


def stored(samples: list[bytes], chunk: int, patch: pytest.MonkeyPatch) -> SampleStore:
    patch.setattr(kept, "CHUNK_BYTES", chunk * SAMPLE.size)
    store = SampleStore()
    for each in samples:
        store += each
    return store


@settings(max_examples=100, deadline=None)
@given(SAMPLES, st.integers(1, 40))
def test_put_down_or_held(rows: list[tuple[int, bool, int, int, bool]], chunk: int) -> None:
    samples = packed(rows)
    with pytest.MonkeyPatch.context() as patch:
        store = stored(samples, chunk, patch)
        assert len(store._near) < chunk * SAMPLE.size
        # to the last bit, and in the same order: JSON shows it
        assert repr(store.collapse(NAMES)) == repr(kept.collapse(b"".join(samples), NAMES))
    if samples:
        assert kept.count_few(b"".join(samples)) == kept.count_many(b"".join(samples))


def test_what_cannot_be_put_down_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = packed([(number % 3, False, number % 50, number % 4, number % 5 == 0) for number in range(400)])
    expected = kept.collapse(b"".join(samples), NAMES)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    half = stored(samples[:200], 60, monkeypatch)
    monkeypatch.setattr(kept.os, "pwrite", full)
    for each in samples[200:]:
        half += each
    assert len(half._near) == (400 - 180) * SAMPLE.size
    assert half.collapse(NAMES) == expected
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert stored(samples, 60, monkeypatch).collapse(NAMES) == expected


def test_a_run_and_its_continuation_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "id": f"r{number % 90}",
            "task": "REL-A1",
            "answer": {"target": number % 8},
            "response": [f"Answer {(number + k) % 6 + 1}" for k in range(2)],
        }
        for number in range(300)
    ]
    dump, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    held = score_file(dump, out, workers=0).to_dict()["tasks"]
    monkeypatch.setattr(kept, "CHUNK_BYTES", 100 * SAMPLE.size)
    assert score_file(dump, out, workers=0, overwrite=True).to_dict()["tasks"] == held
    assert score_file(dump, out, workers=0, resume=True).to_dict()["tasks"] == held
