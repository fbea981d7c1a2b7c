"""What RDKit has said of the molecules of a bank, kept on disk: to ask it anew takes 0.3 ms a molecule.

A file is believed only if nobody else can have written it and its digest fits its content, the bank and the
RDKit that was asked; else the bank is read anew. Nothing that happens here can fail a run.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rdkit import rdBase
from relfast_kernels.compiled.cache import Cache, user_cache
from relfast_kernels.compiled.trust import UntrustedError

from relfast.chem.molecule import Molecule
from relfast.chem.motif_rows import packed
from relfast.chem.stored import Packed, StoredMolecule

_FORMAT: Final = 1
_DIGEST: Final = 32
_NONE: Final = -1


class Kept(NamedTuple):
    """Molecules, lines that were left out, and fingerprints with the number of their bits."""

    molecules: list[StoredMolecule]
    n_unusable: int
    prints: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]


def _cache() -> Cache:
    return user_cache("banks")


def _name(digest: str, min_atoms: int) -> str:
    return f"{digest[:24]}-{min_atoms}-rdkit{rdBase.rdkitVersion}"


def _seal(name: str, body: bytes) -> bytes:
    return hashlib.sha256(f"{_FORMAT} {name}\n".encode() + body).digest()


def read(digest: str, min_atoms: int) -> Kept | None:
    """What is known of the molecules of a file with this digest; None if nothing is."""
    name = _name(digest, min_atoms)
    try:
        content = _cache().read(name)
        if content[:_DIGEST] != _seal(name, content[_DIGEST:]):
            return None
        with np.load(io.BytesIO(zlib.decompress(content[_DIGEST:])), allow_pickle=False) as kept:
            return _kept(kept)
    except UntrustedError as error:
        _cache().say(error)
        return None
    except (OSError, ValueError, KeyError, zlib.error):
        return None


def _kept(arrays: Any) -> Kept:
    texts = arrays["texts"].tobytes().decode("ascii").split("\n")
    keys = arrays["keys"].tobytes().decode("ascii").split("\n")
    rows = arrays["rows"].astype(np.int32)
    starts, bonds = arrays["starts"].tolist(), arrays["bonds"].tolist()
    molecules = [
        StoredMolecule(text, key, n_bonds, None if start == _NONE else Packed(rows, start))
        for text, key, n_bonds, start in zip(texts, keys, bonds, starts, strict=True)
    ]
    return Kept(molecules, int(arrays["n_unusable"]), arrays["prints"], arrays["counts"])


def write(
    digest: str,
    min_atoms: int,
    molecules: Sequence[Molecule],
    n_unusable: int,
    prints: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.int64],
) -> None:
    """Keep what is known of the molecules of a file; where that cannot be, it is not."""
    known = [packed(molecule) for molecule in molecules]
    rows = [np.empty(0, np.int32) if one is None else one.row for one in known]
    ends = np.cumsum([len(row) for row in rows])
    starts = [_NONE if one is None else int(end) - len(one.row) for one, end in zip(known, ends, strict=True)]
    arrays: dict[str, Any] = {
        "texts": _text([molecule.text for molecule in molecules]),
        "keys": _text([molecule.key for molecule in molecules]),
        "bonds": np.array([molecule.n_bonds for molecule in molecules], np.int64),
        "rows": np.concatenate(rows).astype(np.int16),
        "starts": np.array(starts, np.int64),
        "n_unusable": np.array(n_unusable),
        "prints": prints,
        "counts": counts,
    }
    body = io.BytesIO()
    np.savez(body, **arrays)
    packed_body = zlib.compress(body.getvalue(), 1)
    name = _name(digest, min_atoms)
    try:
        _cache().write(name, _seal(name, packed_body) + packed_body)
    except UntrustedError as error:
        _cache().say(error)
    except OSError:
        return  # unwritable or full: the next process asks RDKit again


def _text(lines: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode("ascii"), np.uint8)
