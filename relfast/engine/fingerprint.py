"""What decides the bytes of an output: compared before a run is resumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import orjson

from relfast import __version__
from relfast.engine.job import Job
from relfast.engine.sources import Source, find_sources
from relfast.errors import InputError
from relfast.signature import version
from relfast.tasks import TASKS

_SAMPLES: Final = 64
_SAMPLE_BYTES: Final = 1 << 14
"""A file is known by its size and 64 pieces of 16 kB, spread evenly and including both ends: all of a file
of 1 MB, and 1 ms for any size. That what was scored is still the same is seen block by block
(`relfast.engine.journal.Commit.input_sum`)."""


PATHS: Final = "paths"
"""Key of what is only there to be shown: a file may have been moved since."""


def fingerprint(job: Job, sources: Sequence[Source], **more: Any) -> dict[str, Any]:
    """All that decides the bytes of the output.

    Raises
    ------
    InputError
        A gold file cannot be read.
    """
    return {
        "relfast version": __version__,
        "scorer revision": {name: task.revision for name, task in TASKS.items()},
        "rdkit version": version("rdkit"),
        "option": job.decides(),
        "gold": [_digest(gold.path, whole=True) for path in job.data for gold in find_sources([path])],
        "number of inputs": len(sources),
        "input": {str(number): _content(source) for number, source in enumerate(sources)},
        PATHS: {f"input {number}": source.path for number, source in enumerate(sources)},
        **more,
    }


def _content(source: Source) -> dict[str, Any]:
    if not source.regular:
        return {"path": source.path}
    return {"size": Path(source.path).stat().st_size, "content": _digest(source.path)}


def _digest(path: str, *, whole: bool = False) -> str:
    digest = blake2b(digest_size=8)
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            step = _SAMPLE_BYTES if whole else max(_SAMPLE_BYTES, (size - _SAMPLE_BYTES) // (_SAMPLES - 1))
            for at in (*range(0, size, step), max(0, size - _SAMPLE_BYTES)):
                file.seek(at)
                digest.update(file.read(_SAMPLE_BYTES))
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from error
    return digest.hexdigest()


def compare_runs(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first difference between two fingerprints in words, or None."""
    flat_before, flat_now = dict(_flatten(before)), dict(_flatten(now))
    for name in {**flat_before, **flat_now}:
        old, new = flat_before.get(name), flat_now.get(name)
        if old != new and not name.startswith(PATHS):
            for shown, path in now.get(PATHS, {}).items():
                if name.startswith(f"{shown} "):
                    name = f"{name.removeprefix(shown).lstrip()} of {path}"
            return f"{name} was {_show(old)} and is {_show(new)}"
    return None


def _flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flatten(item, f"{prefix} {key}" if prefix else str(key))
    else:
        # through JSON, as the journal's side went: tuples become lists
        yield prefix, orjson.loads(orjson.dumps(value))


def _show(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 80 else text[:77] + "…"
