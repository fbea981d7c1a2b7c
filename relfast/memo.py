"""A memo that all workers of a run share: short values by key.

Models give the same wrong answer again and again, and finding out what it is worth can take milliseconds.
Without sharing, each worker would find each answer anew. The memo is a table in memory that the workers have
in common: slots of fixed size, each with a checksum, so that one torn by a dying worker, or by two writers at
once, reads as empty. Nothing ever waits, and a full memo forgets.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Final
from zlib import crc32

SLOTS: Final = 1 << 17
VALUE_BYTES: Final = 16
_KEY_BYTES: Final = 16
_CHECK_BYTES: Final = 4
_SLOT_BYTES: Final = _KEY_BYTES + VALUE_BYTES + _CHECK_BYTES
_BUCKET_SLOTS: Final = 4
_BUCKET_BYTES: Final = _BUCKET_SLOTS * _SLOT_BYTES
MEMO_BYTES: Final = SLOTS * _SLOT_BYTES
"""5 MB, of which only pages that are written take memory."""

_FREE: Final = bytes(_KEY_BYTES)

NEAR: Final = 20_000
NEAR_BYTES: Final = 1_000
"""Keys a process keeps in a dictionary of its own, 0.1 µs away instead of 2, and the longest of them."""


class Memo:
    """Values of `VALUE_BYTES` by key, in `MEMO_BYTES` of memory.

    Keys of any length are told apart by 128 bits of BLAKE2, so a value is never another key's.
    """

    def __init__(self, memory: mmap.mmap | bytearray) -> None:
        self._memory = memory
        self._near: dict[bytes, bytes] = {}

    def get(self, what: bytes) -> bytes | None:
        """What is remembered of something (its value, filled up with zeros), or None."""
        value = self._near.get(what)
        if value is not None:
            return value
        key, at = _locate(what)
        bucket = self._memory[at : at + _BUCKET_BYTES]
        at = bucket.find(key)
        if at < 0:
            return None
        slot = bytes(bucket[at : at + _SLOT_BYTES])
        if slot[-_CHECK_BYTES:] != _checksum(slot[:-_CHECK_BYTES]):
            return None
        value = slot[_KEY_BYTES:-_CHECK_BYTES]
        self._keep_near(what, value)
        return value

    def put(self, what: bytes, value: bytes) -> None:
        """Remember a value; an older one may have to go."""
        value = value.ljust(VALUE_BYTES, b"\0")
        self._keep_near(what, value)
        key, at = _locate(what)
        for slot_at in range(at, at + _BUCKET_BYTES, _SLOT_BYTES):
            if self._memory[slot_at : slot_at + _KEY_BYTES] in (key, _FREE):
                break
        else:
            slot_at = at + key[-1] % _BUCKET_SLOTS * _SLOT_BYTES
        slot = key + value
        self._memory[slot_at : slot_at + _SLOT_BYTES] = slot + _checksum(slot)

    def _keep_near(self, what: bytes, value: bytes) -> None:
        if len(self._near) >= NEAR:
            self._near.clear()
        if len(what) <= NEAR_BYTES:
            self._near[what] = value


def _locate(what: bytes) -> tuple[bytes, int]:
    """The digest of a key, and where its bucket begins."""
    from hashlib import blake2b  # loads OpenSSL, and most runs of texts look nothing up

    key = blake2b(what, digest_size=_KEY_BYTES).digest()
    return key, int.from_bytes(key[:4], "little") % (SLOTS // _BUCKET_SLOTS) * _BUCKET_BYTES


def _checksum(slot: bytes) -> bytes:
    return crc32(slot).to_bytes(_CHECK_BYTES, "little")


_memo: Memo | None = None


def memo() -> Memo:
    """The process's memo: the common one in a worker, elsewhere its own."""
    global _memo
    if _memo is None:
        _memo = Memo(bytearray(MEMO_BYTES))
    return _memo


def create_shared() -> int:
    """A descriptor of memory for processes to share, gone with the last of them; -1 where there is none.

    A limit on the size of files holds for such memory too; each process then keeps a memo of its own.
    """
    return shared_memory("relfast-memo", MEMO_BYTES)


def shared_memory(name: str, n_bytes: int) -> int:
    """A descriptor of ``n_bytes`` zeros that processes can share; -1 where there is none to be had."""
    descriptor = -1
    try:
        descriptor = os.memfd_create(name)
        os.ftruncate(descriptor, n_bytes)
    except OSError:
        if descriptor >= 0:
            os.close(descriptor)
        return -1
    return descriptor


def path_of(descriptor: int) -> str:
    """Where our other processes find a descriptor of ours."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def use_shared(path: str) -> None:
    """Make the memory at a path this process's memo; where that is refused, it keeps one of its own."""
    global _memo
    with contextlib.suppress(OSError, ValueError), open(path, "r+b") as file:
        _memo = Memo(mmap.mmap(file.fileno(), MEMO_BYTES))
