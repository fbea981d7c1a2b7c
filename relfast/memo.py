"""A memo that all workers of a run share: short values by text.

Models give the same wrong answer again and again, and finding out what it is worth can take milliseconds.
Without sharing, each worker would find each answer anew. The memo is a table in memory that the workers have
in common: slots of fixed size, each with a checksum, so that one torn by a dying worker, or by two writers at
once, reads as empty. Nothing ever waits, and a full memo forgets.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from hashlib import blake2b
from struct import Struct
from typing import Final
from zlib import crc32

SLOTS: Final = 1 << 17
VALUE_BYTES: Final = 16
_KEY_BYTES: Final = 16
_CHECK: Final = Struct("<I")
_SLOT_BYTES: Final = _KEY_BYTES + VALUE_BYTES + _CHECK.size
MEMO_BYTES: Final = SLOTS * _SLOT_BYTES
"""5 MB, of which only pages that are written take memory."""

_PROBES: Final = 4


class Memo:
    """Values of `VALUE_BYTES` by text, in `MEMO_BYTES` of memory.

    Texts are told apart by 128 bits of BLAKE2, so a value is never another text's.
    """

    def __init__(self, memory: mmap.mmap | bytearray) -> None:
        self._memory = memory

    def get(self, text: str) -> bytes | None:
        """The value remembered for a text, or None."""
        key = _key(text)
        for at in _places(key):
            slot = self._memory[at : at + _SLOT_BYTES]
            if slot.startswith(key) and _CHECK.pack(crc32(slot[: -_CHECK.size])) == slot[-_CHECK.size :]:
                return bytes(slot[_KEY_BYTES : -_CHECK.size])
        return None

    def put(self, text: str, value: bytes) -> None:
        """Remember a value; an older one may have to go."""
        key = _key(text)
        places = _places(key)
        free = (at for at in places if not any(self._memory[at : at + _KEY_BYTES]))
        at = next(free, places[key[-1] % _PROBES])
        slot = key + value.ljust(VALUE_BYTES, b"\0")
        self._memory[at : at + _SLOT_BYTES] = slot + _CHECK.pack(crc32(slot))


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def _places(key: bytes) -> list[int]:
    first = int.from_bytes(key[:4], "little")
    return [(first + probe) % SLOTS * _SLOT_BYTES for probe in range(_PROBES)]


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
    descriptor = -1
    try:
        descriptor = os.memfd_create("relfast-memo")
        os.ftruncate(descriptor, MEMO_BYTES)
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
