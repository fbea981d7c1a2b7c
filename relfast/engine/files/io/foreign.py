"""Refuses files in formats that relfast does not read, known by name or first bytes; the error shows the
command that converts such a file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Final

from relfast.errors import InputError, UsageError
from relfast.support.outputs import PACKED, TABLES

_PANDAS: Final = (
    "python -c \"import pandas; pandas.{reader}({path!r}).to_json({target!r}, orient='records', lines=True)\""
)
_STREAM: Final = (
    'python -c "import pyarrow; pyarrow.ipc.open_stream({path!r}).read_pandas()'
    ".to_json({target!r}, orient='records', lines=True)\""
)
_DATA_SET: Final = 'python -c "import datasets; datasets.load_from_disk({path!r}).to_json({target!r})"'
_ICONV: Final = "iconv -f {encoding} -t UTF-8 {typed} > {typed_target}"

_TAR: Final = ("a tar archive", "tar -xf {typed}")

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
    ".lz4": ("compressed by lz4", "lz4 -dk {typed}"),
    ".lz": ("compressed by lzip", "lzip -dk {typed}"),
    ".br": ("compressed by brotli", "brotli -dk {typed}"),
    ".z": ("compressed by compress", "gzip -dk {typed}"),
    **dict.fromkeys((".tar", ".tgz", ".tbz2", ".tbz", ".txz", ".tzst"), _TAR),
    ".yaml": ("YAML", None),
    ".yml": ("YAML", None),
}  # fmt: skip

UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16."""

_BY_MAGIC: Final = (
    # UTF-32 comes before UTF-16, since its mark begins with that of UTF-16
    (b"\xff\xfe\0\0", ("text in UTF-32", _ICONV.replace("{encoding}", "UTF-32"))),
    (b"\0\0\xfe\xff", ("text in UTF-32", _ICONV.replace("{encoding}", "UTF-32"))),
    (b"\xff\xfe", ("text in UTF-16", _ICONV.replace("{encoding}", "UTF-16"))),
    (b"\xfe\xff", ("text in UTF-16", _ICONV.replace("{encoding}", "UTF-16"))),
    (b"BZh", _BY_NAME[".bz2"]),
    (b"\xfd7zXZ", _BY_NAME[".xz"]),
    (b"\x04\x22\x4d\x18", _BY_NAME[".lz4"]),
    (b"LZIP", _BY_NAME[".lz"]),
    (b"\x1f\x9d", _BY_NAME[".z"]),
    (b"7z\xbc\xaf\x27\x1c", ("a 7z archive", "7z x {typed}")),
    (b"Rar!\x1a\x07", ("a RAR archive", "unrar x {typed}")),
    (b"!<arch>\n", ("an ar archive", "ar x {typed}")),
    (b"0707", ("a cpio archive", "cpio -id < {typed}")),
    (b"PK\x05\x06", ("an empty ZIP", None)),
    (b"PK\x07\x08", ("a ZIP in parts", "unzip {typed}")),
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


def refuse_foreign(path: str, head: bytes, *, by_name: bool = True) -> None:
    """Check that an input that begins with ``head``, decompressed, and does not go on as JSON lines, may be
    JSON lines, Parquet or CSV. ``by_name``: its name may tell what it is, if its first bytes do not.

    Raises
    ------
    InputError
        Its name or first bytes show that it is something else; the message says how to convert it.
    """
    found = next((what for magic, what in _BY_MAGIC if head.startswith(magic)), None)
    if found is not None and not _is_binary(head):
        found = None  # damage to a line of text
    elif found is not None and "UTF-" in found[0] and head.count(0) * 8 < len(head):
        found = None  # in UTF-16 each character of JSON itself has a zero byte
    if is_tar(head) or (found is not None and _is_packed_tar(path, head)):
        found = _TAR
    if found is None and by_name and head.lstrip()[:1] not in (b"{", b""):
        found = _BY_NAME.get(Path(path).suffix.lower())
    if found is None:
        return
    what, command = found
    if command is None or path == "-":
        raise InputError(f"this is {what}; {_READ}", file=path)
    target = os.path.splitext(path)[0] + ".jsonl"
    target = path + ".jsonl" if target == path else target
    if "-dk" in command and _BY_NAME.get(Path(path).suffix.lower()) != found:
        # the tools go by the name, which is wrong
        command = command.replace("-dk {typed}", "-dc < {typed} > {typed_target}")
    makes = "unpacks it" if "archive" in what or "ZIP" in what else "makes what is read of it"
    raise InputError(f"this is {what}; this {makes}: {_typed(command, path, target)}", file=path)


_TAR_BLOCK: Final = 512
_TAR_SUM: Final = slice(148, 156)


def is_tar(head: bytes) -> bool:
    """Whether bytes begin with a header of a tar archive, by its checksum."""
    block = head[:_TAR_BLOCK]
    try:
        told = int(block[_TAR_SUM].strip(b"\0 "), 8)
    except ValueError:
        return False
    # the checksum counts its own bytes as blanks
    return len(block) == _TAR_BLOCK and told == sum(block) - sum(block[_TAR_SUM]) + 8 * ord(" ")


def packs_texts(head: bytes) -> bool:
    """Whether bytes begin an archive whose members stand in it as they are: behind its first line, one of
    JSON lines goes on as these do."""
    return is_tar(head) or head.startswith((b"!<arch>\n", b"0707"))


_TARS: Final = (".tar.bz2", ".tar.xz", ".tar.lz4", ".tar.lz", ".tar.br", ".tar.z", ".tbz2", ".tbz", ".txz")


def _is_packed_tar(path: str, head: bytes) -> bool:
    """Whether a file compressed by bzip2 or xz is a tar archive, by its first bytes or else its name."""
    if path.lower().endswith(_TARS):
        return True
    import bz2  # imported late: few inputs are packed so
    import lzma

    try:
        if head.startswith(b"BZh"):
            return is_tar(bz2.BZ2Decompressor().decompress(head))
        return head.startswith(b"\xfd7zXZ") and is_tar(lzma.LZMADecompressor().decompress(head, _TAR_BLOCK))
    except (OSError, EOFError, lzma.LZMAError):
        return False


def _is_binary(head: bytes) -> bool:
    """Whether what follows a format's first bytes is its own: a zero byte in nearly all, text in two."""
    return b"\0" in head[:16] or head[4:10] == b"1AY&SY" or head.startswith(b"%PDF-")


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
