"""Output files: existing files are replaced only on request, and `whole_file` makes files appear complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from relfast.errors import OutputError, OutputExistsError
from relfast.json_text import encode_indented

STDOUT: Final = "-"


def refuse_existing(path: str | Path, *, unless: bool, resumable: bool = False) -> None:
    """Raise if ``path`` is an existing file. Devices and pipes may be written to.

    Parameters
    ----------
    unless
        Whether the user asked to replace or to continue an existing file: then it is accepted.
    resumable
        Whether the error suggests ``--resume``.

    Raises
    ------
    OutputExistsError
        The file exists.
    """
    if not unless and os.path.isfile(path):
        raise OutputExistsError(path, resumable=resumable)


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Turn an `OSError` within the context into an `OutputError` that names ``path``."""
    try:
        yield
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def write_json(path: str | Path, value: Any) -> None:
    """Write a value as indented JSON. Raises `OutputError`."""
    with writing(path):
        Path(path).write_bytes(encode_indented(value) + b"\n")


@contextmanager
def whole_file(output: str, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that appears under its name when the context is left without an error; ``-`` is
    stdout.

    Raises
    ------
    OutputExistsError
        The file exists, and ``overwrite`` is not set.
    OutputError
        The file cannot be written.
    """
    if output == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(output)
    refuse_existing(path, unless=overwrite)
    # devices and pipes cannot be put in place by a rename
    in_place = path.exists() and not path.is_file()
    draft = path if in_place else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with writing(output):
            with draft.open("wb") as file:
                yield file
            if not in_place:
                os.replace(draft, path)
    finally:
        if not in_place:
            draft.unlink(missing_ok=True)
