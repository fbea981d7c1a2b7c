"""The disk cache of isomers, which take long to compute, by formula.

A cached file is used only if no other user can have written it and its digest fits its content, its name
and the version of RDKit that wrote it; otherwise the caller computes the result again. No failure of the
cache reaches the caller.
"""

from __future__ import annotations

import hashlib
from typing import Final

from rdkit import rdBase
from relfast_kernels.caches.cache import user_cache
from relfast_kernels.caches.trust import UntrustedError

_FORMAT: Final = 3


def kept_name(name: str) -> str:
    """The file name of a cached result; every version of RDKit has its own file."""
    return f"{name}-rdkit{rdBase.rdkitVersion}"


def _digest(name: str, body: bytes) -> bytes:
    return hashlib.sha256(f"{_FORMAT} {kept_name(name)}\n".encode() + body).hexdigest().encode()


def read_kept(name: str) -> bytes | None:
    """The result cached under a name; None if there is no valid one."""
    cache = user_cache("isomers")
    try:
        digest, _, body = cache.read(kept_name(name)).partition(b"\n")
    except UntrustedError as error:
        cache.say(error)
        return None
    except OSError:
        return None
    return body if digest == _digest(name, body) else None


def write_kept(name: str, body: bytes) -> None:
    """Cache a result; does nothing if the cache cannot be written."""
    cache = user_cache("isomers")
    try:
        cache.write(kept_name(name), _digest(name, body) + b"\n" + body)
    except UntrustedError as error:
        cache.say(error)
    except OSError:
        return  # unwritable or full: the next process computes the result again
