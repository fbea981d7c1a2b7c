"""Output files: none is replaced unasked, and one that is made in one go appears when it is whole."""

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
    """Keep a file from being replaced unasked. Devices and pipes are there to be written to.

    Parameters
    ----------
    unless
        Whether the caller was asked to replace, or to continue, what is there.
    resumable
        Whether the error names ``--resume`` as a way on.

    Raises
    ------
    OutputExistsError
    """
    if not unless and os.path.isfile(path):
        raise OutputExistsError(path, resumable=resumable)


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Have what the system refuses meanwhile be an `OutputError` that names ``path``."""
    try:
        yield
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def write_json(path: str | Path, value: Any) -> None:
    """A value as JSON for people to read. Raises `OutputError`."""
    with writing(path):
        Path(path).write_bytes(encode_indented(value) + b"\n")


@contextmanager
def whole_file(output: str, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file that appears under its name when everything is in it; ``-`` is stdout.

    Raises
    ------
    OutputExistsError
        The file exists and is not to be replaced.
    OutputError
        It cannot be written.
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
