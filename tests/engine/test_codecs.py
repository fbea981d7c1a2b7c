"""Compressed streams: whole, cut, broken, and expanding."""

from __future__ import annotations

import gzip
import io
import random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from relfast.engine.io import codecs
from relfast.engine.io.codecs import Damaged, Expanding, Gunzip, Plain, Unzstd

TEXT = b"".join(b'{"id": %d, "x": "%d"}\n' % (n, random.Random(n).randrange(10**9)) for n in range(3000))


def _stream(packed: bytes, kind: str) -> Expanding:
    return Expanding(Plain(io.BytesIO(packed)), Gunzip() if kind == "gz" else Unzstd())


def _read(stream: Expanding, size: int) -> tuple[bytes, str | None]:
    parts = []
    try:
        while part := stream.read(size):
            parts.append(part)
    except Damaged as error:
        return b"".join(parts), str(error)
    return b"".join(parts), None


def _packed(kind: str, *texts: bytes) -> bytes:
    if kind == "gz":
        return b"".join(gzip.compress(text, 6) for text in texts)
    return b"".join(zstandard.ZstdCompressor(3).compress(text) for text in texts)


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("size", [100, 4096, 1 << 20])
def test_members_one_after_the_other(kind: str, size: int) -> None:
    packed = _packed(kind, TEXT, b"", TEXT[:10], TEXT)
    assert _read(_stream(packed, kind), size) == (TEXT + TEXT[:10] + TEXT, None)


def test_padding_between_gzip_members() -> None:
    packed = gzip.compress(b"one\n") + b"\0" * 300_000 + gzip.compress(b"two\n") + b"\0" * 77
    assert _read(_stream(packed, "gz"), 1 << 20) == (b"one\ntwo\n", None)


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_cut_at_any_byte(kind: str) -> None:
    packed = _packed(kind, TEXT[:3000])
    for at in range(1, len(packed)):
        text, error = _read(_stream(packed[:at], kind), 1 << 20)
        assert TEXT.startswith(text)
        assert error == "compressed input ends early"


def test_a_broken_gzip_gives_all_before_the_fault() -> None:
    packed = bytearray(_packed("gz", TEXT))
    at = len(packed) * 3 // 4
    packed[at : at + 20] = b"\xff" * 20
    text, error = _read(_stream(bytes(packed), "gz"), 1 << 20)
    assert error is not None
    assert "damaged" in error
    # the fault may decode to something for a while before it shows
    same = next((n for n, (a, b) in enumerate(zip(text, TEXT, strict=False)) if a != b), len(text))
    assert same > len(TEXT) * 0.6


def test_a_wrong_checksum_is_told_after_the_text() -> None:
    packed = bytearray(_packed("gz", TEXT))
    packed[-6] ^= 1
    text, error = _read(_stream(bytes(packed), "gz"), 1 << 20)
    assert text == TEXT
    assert error is not None


@given(st.binary(max_size=200), st.sampled_from(["gz", "zst"]))
def test_garbage_never_hangs_or_raises_otherwise(garbage: bytes, kind: str) -> None:
    head = b"\x1f\x8b\x08" if kind == "gz" else b"\x28\xb5\x2f\xfd"
    for data in (garbage, head + garbage, _packed(kind, b"x" * 50) + garbage):
        _read(_stream(data, kind), 1 << 16)


def test_repeated_text_is_no_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "EXPANSION_GRACE", 1000)
    text = TEXT * 50
    assert _read(_stream(_packed("gz", text), "gz"), 1 << 20) == (text, None)
