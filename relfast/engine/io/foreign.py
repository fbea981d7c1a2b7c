"""Refuses files in formats that relfast does not read, known by name or first bytes; the error shows the
command that converts such a file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Final

from relfast.errors import InputError, UsageError
from relfast.outputs import PACKED, TABLES

_PANDAS: Final = (
    "python -c \"import pandas; pandas.{reader}({path!r}).to_json({target!r}, orient='records', lines=True)\""
)
_STREAM: Final = (
    'python -c "import pyarrow; pyarrow.ipc.open_stream({path!r}).read_pandas()'
    ".to_json({target!r}, orient='records', lines=True)\""
)
_DATA_SET: Final = 'python -c "import datasets; datasets.load_from_disk({path!r}).to_json({target!r})"'
_ICONV: Final = "iconv -f {encoding} -t UTF-8 {typed} > {typed_target}"

_BY_NAME: Final = {
    ".xlsx": ("a spreadsheet (Excel)", _PANDAS.replace("{reader}", "read_excel")),
    ".xls": ("a spreadsheet (Excel)", _PANDAS.replace("{reader}", "read_excel")),
    ".feather": ("an Arrow file", _PANDAS.replace("{reader}", "read_feather")),
    # data sets of Hugging Face are Arrow streams; the Arrow file format begins with ARROW1
    ".arrow": ("an Arrow stream", _STREAM),
    ".pkl": ("a Python pickle", None),
    ".pickle": ("a Python pickle", None),
    ".bz2": ("compressed by bzip2", "bzip2 -dk {typed}"),
    ".xz": ("compressed by xz", "xz -dk {typed}"),
    ".yaml": ("YAML", None),
    ".yml": ("YAML", None),
}  # fmt: skip

_BY_MAGIC: Final = (
    # UTF-32 comes before UTF-16, since its mark begins with that of UTF-16
    (b"\xff\xfe\0\0", ("text in UTF-32", _ICONV.replace("{encoding}", "UTF-32"))),
    (b"\0\0\xfe\xff", ("text in UTF-32", _ICONV.replace("{encoding}", "UTF-32"))),
    (b"\xff\xfe", ("text in UTF-16", _ICONV.replace("{encoding}", "UTF-16"))),
    (b"\xfe\xff", ("text in UTF-16", _ICONV.replace("{encoding}", "UTF-16"))),
    (b"BZh", _BY_NAME[".bz2"]),
    (b"\xfd7zXZ", _BY_NAME[".xz"]),
    (b"ARROW1", _BY_NAME[".feather"]),
    (b"\xff\xff\xff\xff", _BY_NAME[".arrow"]),
    (b"SQLite format 3", ("an SQLite database", None)),
    (b"\x93NUMPY", ("a NumPy array", None)),
    (b"\x89PNG", ("a picture", None)),
    (b"%PDF", ("a PDF", None)),
    (b"\x7fELF", ("a program", None)),
    (b"\x80\x04", ("a Python pickle", None)),
    (b"\x80\x05", ("a Python pickle", None)),
)
_READ: Final = "JSON lines (plain, .gz, .zst), Parquet and CSV are read"


def refuse_foreign(path: str, head: bytes) -> None:
    """Check that a regular file that begins with ``head`` may be JSON lines, Parquet or CSV.

    Raises
    ------
    InputError
        Its name or first bytes show that it is something else; the message says how to convert it.
    """
    found = next((what for magic, what in _BY_MAGIC if head.startswith(magic)), None)
    if found is None and head.lstrip()[:1] not in (b"{", b""):
        found = _BY_NAME.get(Path(path).suffix.lower())
    if found is None:
        return
    what, command = found
    if command is None:
        raise InputError(f"this is {what}; {_READ}", file=path)
    target = os.path.splitext(path)[0] + ".jsonl"
    target = path + ".jsonl" if target == path else target
    raise InputError(
        f"this is {what}; this makes what is read of it: {_typed(command, path, target)}", file=path
    )


def _typed(command: str, path: str, target: str) -> str:
    """A command with the paths filled in, quoted for Python or for the shell as the command needs."""
    typed, typed_target = shlex.quote(path), shlex.quote(target)
    return command.format(path=path, target=target, typed=typed, typed_target=typed_target)


def advice_on_folder(names: Collection[str], path: str) -> str:
    """Advice for a folder in which no file can be read, to append to the error message; may be empty."""
    if not any(name.endswith(".arrow") for name in names):
        return ""
    if "state.json" not in names:
        return "; of an Arrow file it is said what converts it when it is named itself"
    path = path.rstrip("/")
    made = _typed(_DATA_SET, path, f"{path}.jsonl")
    return f"; it is a data set of Hugging Face, and this makes what is read of it: {made}"


ROWS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".csv")
"""Endings of the formats in which scored rows are written."""

_FORMATS: Final = frozenset({*_BY_NAME, *PACKED, *TABLES, ".tsv", ".html", ".md", ".tex", ".txt", ".zip"})


def refuse_output(path: str, made: tuple[str, ...] = ROWS, what: str = "rows are") -> None:
    """Check that an output's name does not promise a format that is not written.

    Parameters
    ----------
    made
        Endings of the formats that are; those that name no format may be used, too.
    what
        What is written, for the message.

    Raises
    ------
    UsageError
        It has such a suffix.
    """
    suffix = Path(path).suffix.lower()
    if suffix in _FORMATS and suffix not in {Path(f"x{ending}").suffix for ending in made}:
        more = "; `relfast report ROWS -o DIR` makes tables, LaTeX and HTML of them" if made == ROWS else ""
        raise UsageError(f"{path}: {what} written as {', '.join(made)}, not {suffix}{more}")
