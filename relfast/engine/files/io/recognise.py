"""Recognises what a file is, by its first bytes and its name: JSON lines, a packing of these, a table, a
document of samples, or a format that relfast does not read, for which the error shows the command that
converts it."""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from relfast.engine.files.io.codecs import (
    MAGIC_BYTES,
    PACKINGS,
    ROWS,
    SUFFIXES,
    Codec,
    codec_seen,
    stream_of,
)
from relfast.engine.files.io.documents import (
    document_in_pipe,
    goes_on_as_lines,
    is_document,
    is_document_on_one_line,
)
from relfast.errors import Damaged, InputError, MissingExtraError, UsageError
from relfast.support.outputs import TABLES

_WHOLE: Final = {"parquet": "Parquet", "zip": "a ZIP"}
"""Codecs that a pipe cannot deliver, since their directory is at the end of the file."""

HEAD_BYTES: Final = 1 << 16
"""Number of first bytes by which JSON lines are told from all else."""

_LINES_JUDGED: Final = 3
_JUDGED_BYTES: Final = 4 << 20
"""So many lines, or bytes, tell whether a file that does not begin like JSON is damaged JSON lines."""

_BY_SUFFIX: Final = {**{packing.suffix: name for name, packing in PACKINGS.items()}, ".parquet": "parquet"}
_PACKED: Final = "|".join(map(re.escape, SUFFIXES))
_CSV: Final = re.compile(rf"\.(csv|tsv)({_PACKED})?$")
TSV: Final = re.compile(rf"\.tsv({_PACKED})?$")

_BLOCK_BYTES: Final = 1 << 20
"""Bytes of a packed file that are read to decompress its first ones: zstd and bzip2 only decompress whole
blocks."""


def head_of(file: BinaryIO) -> bytes:
    """The first bytes of a file, as many as tell its codec and whether it is read."""
    head = file.read(HEAD_BYTES)
    if codec_seen(head) in PACKINGS and not _unpacked(head, codec_seen(head)):
        head += file.read(_BLOCK_BYTES)
    if head.count(b"\n") < _LINES_JUDGED and not _is_text(head):
        head += file.read(_JUDGED_BYTES)
    return head


def check_foreign(path: str, head: bytes, codec: Codec) -> None:
    """Raise `InputError` if a file is of a format that is not read, whatever its name says; ``codec`` is from
    `codec_of`. What is compressed in a way that is read is looked into."""
    packed = codec_seen(head)
    text = _unpacked(head, packed, _JUDGED_BYTES) if packed in PACKINGS else head
    if codec == "csv" and text.startswith(UTF_16):
        return
    _refuse(path, head, by_name=codec in ("plain", "zip"))
    if text is not head:
        _refuse(path, text, by_name=False)


def codec_of(path: str, head: bytes) -> Codec:
    """The codec of a file by its name, or else by its first bytes ``head``. If the name says that it is
    packed and the first bytes are something else, these decide."""
    seen = _codec_of_bytes(head)
    codec = _BY_SUFFIX.get(Path(path).suffix, seen)
    if codec in PACKINGS and (seen != "plain" or _is_text(head) or goes_on_as_lines(head)):
        codec = seen
    text = _unpacked(head, codec).removeprefix(b"\xef\xbb\xbf")
    if _is_text(text):
        if is_document(text):
            return "json"
        if b"\n" not in text.rstrip() and os.path.isfile(path):
            with open(path, "rb") as file:
                return "json" if is_document_on_one_line(file) else codec
        return codec
    return "csv" if codec in ("plain", *PACKINGS) and _CSV.search(path.lower()) else codec


def _codec_of_bytes(head: bytes) -> Codec:
    """The codec that the first bytes indicate, if they are no damage to the first of several lines."""
    seen = codec_seen(head)
    if seen in PACKINGS:
        return "plain" if goes_on_as_lines(head) and not _unpacked(head, seen) else seen
    # each ZIP has a zero byte in its first header
    is_text = b"\0" not in head[:16] if seen == "zip" else _is_damaged_text(head)
    return "plain" if is_text else seen


def _is_damaged_text(head: bytes) -> bool:
    """Whether first bytes that are none of JSON lines are damage to the first line. In binary formats there
    is a zero byte soon; archives of texts are told by their headers."""
    return b"\0" not in head[:16] and not packs_texts(head) and goes_on_as_lines(head)


def _is_text(head: bytes) -> bool:
    """Whether JSON may begin like this."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")


def _unpacked(head: bytes, codec: Codec, most: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file, decompressed as far as possible; empty if they are damaged or no text."""
    if codec == "plain":
        return head
    if codec not in PACKINGS:
        return b""
    try:
        return stream_of(io.BytesIO(head), codec).read(most)[:most]
    except (Damaged, MissingExtraError):
        return b""  # the error is raised when the file is read


def first_bytes(file: IO[bytes], path: str) -> tuple[bytes, Codec]:
    """Read the first bytes of stdin or a pipe, and recognise the codec. Documents raise `InputError`."""
    head = b""
    # `read1` returns what is there: the writer may wait for the row of its first line before it goes on
    read = cast(io.BufferedReader, file).read1
    while len(head) < MAGIC_BYTES and (more := read(HEAD_BYTES)):
        head += more
    # some packings only decompress whole blocks; what cannot be decompressed may be lines
    while codec_seen(head) != "plain" and not _unpacked(head, codec_seen(head)) and len(head) < _BLOCK_BYTES:
        if goes_on_as_lines(head) or not (more := read(_BLOCK_BYTES)):
            break
        head += more
    codec = _codec_of_bytes(head)
    text = _unpacked(head, codec).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"{", b"[")):
        # an archive's first bytes have no line of which the writer may wait for the row
        while b"\n" not in text and len(head) < HEAD_BYTES and (more := read(HEAD_BYTES)):
            head += more
            text = _unpacked(head, codec).removeprefix(b"\xef\xbb\xbf").lstrip()
        while True:
            try:
                _refuse(path, head, by_name=False)
                _refuse(path, _unpacked(head, codec, _JUDGED_BYTES), by_name=False)
                break
            except InputError:
                # the line behind may show that it is a damaged one
                if len(head) > _JUDGED_BYTES or not (more := read(HEAD_BYTES)):
                    raise
                head += more
        text = _unpacked(head, codec)
    if codec in _WHOLE:
        raise InputError(f"{_WHOLE[codec]} cannot be read from a pipe: name the file", file=path)
    # what looks like a document is judged by the lines behind it
    while (kind := document_in_pipe(text)) and text.count(b"\n") < _LINES_JUDGED and len(head) < _BLOCK_BYTES:
        if not (more := read(HEAD_BYTES)):
            break
        head += more
        text = _unpacked(head, codec)
    if kind is not None:
        raise InputError(f"{kind} cannot be read from a pipe: name the file", file=path)
    return head, codec


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
_READ: Final = f"JSON lines (plain, {', '.join(SUFFIXES)}), Parquet and CSV are read"


def _refuse(path: str, head: bytes, *, by_name: bool) -> None:
    """Check that an input that begins with ``head``, decompressed, may be JSON lines, Parquet or CSV.
    ``by_name``: its name may tell what it is, if its first bytes do not.

    Raises
    ------
    InputError
        Its name or first bytes show that it is something else; the message says how to convert it.
    """
    if _is_damaged_text(head):
        return
    found = next((what for magic, what in _BY_MAGIC if head.startswith(magic)), None)
    if found is not None and not _is_binary(head):
        found = None  # damage to a line of text
    elif found is not None and "UTF-" in found[0] and head.count(0) * 8 < len(head):
        found = None  # in UTF-16 each character of JSON itself has a zero byte
    if is_tar(head) or (found is not None and path.lower().endswith(_TARS)):
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


_TARS: Final = (".tar.lz4", ".tar.lz", ".tar.br", ".tar.z")
"""Archives compressed in ways that are not read."""


def _is_binary(head: bytes) -> bool:
    """Whether what follows a format's first bytes is its own: a zero byte in nearly all, text in one."""
    return b"\0" in head[:16] or head.startswith(b"%PDF-")


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


_FORMATS: Final = frozenset({*_BY_NAME, *SUFFIXES, *TABLES, ".tsv", ".html", ".md", ".tex", ".txt", ".zip"})


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
        It has such a suffix, or is empty.
    """
    if not path:
        raise UsageError("the output has an empty name (a variable that is not set?)")
    stem, suffix = os.path.splitext(path.lower())
    inner = os.path.splitext(stem)[1]
    packed = suffix in SUFFIXES and inner in _FORMATS  # tables and archives are not
    if packed or (suffix in _FORMATS and suffix not in {Path(f"x{ending}").suffix for ending in made}):
        suffix = inner + suffix if packed else suffix
        more = "; `relfast report ROWS -o DIR` makes tables, LaTeX and HTML of them" if made == ROWS else ""
        raise UsageError(f"{path}: {what} written as {', '.join(made)}, not {suffix}{more}")
