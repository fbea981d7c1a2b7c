"""The memo that workers share."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from relfast import memo as memo_module
from relfast.memo import MEMO_BYTES, SLOTS, VALUE_BYTES, Memo, create_shared, path_of, use_shared


def test_values_come_back() -> None:
    memo = Memo(bytearray(MEMO_BYTES))
    assert memo.get(b"a") is None
    memo.put(b"a", b"1")
    memo.put(b"", b"nothing")
    memo.put(b"x" * 5_000, b"long")
    for other in (memo, Memo(memo._memory)):
        assert other.get(b"a") == b"1".ljust(VALUE_BYTES, b"\0")
        assert other.get(b"") == b"nothing".ljust(VALUE_BYTES, b"\0")
        assert other.get(b"x" * 5_000) == b"long".ljust(VALUE_BYTES, b"\0")
        assert other.get(b"b") is None


def test_a_torn_slot_reads_as_empty() -> None:
    memory = bytearray(MEMO_BYTES)
    Memo(memory).put(b"a", b"1234567890123456")
    used = [at for at in range(MEMO_BYTES) if memory[at]]
    for at in used:
        damaged = bytearray(memory)
        damaged[at] ^= 0x10
        assert Memo(damaged).get(b"a") is None


def test_a_full_memo_forgets_and_never_lies() -> None:
    rng = random.Random(0)
    memo = Memo(bytearray(MEMO_BYTES))
    keys = [rng.randbytes(8) for _ in range(2 * SLOTS)]
    for key in keys:
        memo.put(key, key)
    fresh = Memo(memo._memory)
    kept = 0
    for key in keys[-20_000:]:
        value = fresh.get(key)
        assert value in (None, key.ljust(VALUE_BYTES, b"\0"))
        kept += value is not None
    assert kept > 15_000


def test_processes_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo_module, "_memo", None)
    descriptor = create_shared()
    try:
        code = (
            "import sys\nfrom relfast.memo import memo, use_shared\n"
            "use_shared(sys.argv[1])\nmemo().put(b'found', b'42')"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", code, path_of(descriptor)], check=True, env=environment)
        use_shared(path_of(descriptor))
        assert memo_module.memo().get(b"found") == b"42".ljust(VALUE_BYTES, b"\0")
    finally:
        os.close(descriptor)


def test_without_the_common_memory_a_process_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo_module, "_memo", None)
    use_shared("/proc/self/fd/123456")
    memo_module.memo().put(b"a", b"b")
    assert memo_module.memo().get(b"a") == b"b".ljust(VALUE_BYTES, b"\0")
