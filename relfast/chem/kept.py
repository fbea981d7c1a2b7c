"""What takes long to find out, kept on disk by name.

A file is believed only if no other user can have written it and its digest fits its own content, its name and
the RDKit that wrote it; anything else is found out anew. Nothing that happens here can fail who asks.
"""

from __future__ import annotations

import hashlib
from typing import Final

from rdkit import rdBase
from relfast_kernels.compiled.cache import user_cache
from relfast_kernels.compiled.trust import UntrustedError

_FORMAT: Final = 3


def kept_name(name: str) -> str:
    """The file of what has a name: another one for each RDKit."""
    return f"{name}-rdkit{rdBase.rdkitVersion}"


def _digest(name: str, body: bytes) -> bytes:
    return hashlib.sha256(f"{_FORMAT} {kept_name(name)}\n".encode() + body).hexdigest().encode()


def read_kept(kind: str, name: str) -> bytes | None:
    """What is kept in the user's cache of a kind; None if nothing is."""
    cache = user_cache(kind)
    try:
        digest, _, body = cache.read(kept_name(name)).partition(b"\n")
    except UntrustedError as error:
        cache.say(error)
        return None
    except OSError:
        return None
    return body if digest == _digest(name, body) else None


def write_kept(kind: str, name: str, body: bytes) -> None:
    """Keep it, if that can be."""
    cache = user_cache(kind)
    try:
        cache.write(kept_name(name), _digest(name, body) + b"\n" + body)
    except UntrustedError as error:
        cache.say(error)
    except OSError:
        return  # unwritable or full: the next process finds it out again
