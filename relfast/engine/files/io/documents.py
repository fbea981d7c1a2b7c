"""Whole-file formats as streams of lines: a ZIP of samples (Inspect's ``.eval``), or one JSON document.

A stream yields one line of JSON per sample, in the file's order, so that blocks, shards, limits and resumed
runs are those of JSON lines: a line's number is the number of its sample.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import zlib
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Final

import orjson

from relfast.engine.files.io.codecs import (
    EXPANSION_GRACE,
    MAGIC_BYTES,
    MAX_EXPANSION,
    ZIP_MAGIC,
    Stream,
    codec_seen,
    stream_of,
)
from relfast.errors import Damaged, InputError, MissingExtraError
from relfast.formats.documents import MEMBER, NoRows, is_known, kept, rows_of
from relfast.json_text import encode_json

if TYPE_CHECKING:
    import zipfile

MAX_DOCUMENT_BYTES: Final = 2**31
"""Largest JSON document: to decode it as a whole takes about five times its size in memory."""

_TOO_LARGE: Final = "a JSON document of more than 2 GiB; jq -c '.[]' makes lines of it"

_JUDGED: Final = 1 << 20
"""Bytes behind the first line in which a line must be an object by itself, if the file is no document."""

_STORED: Final = 0
_DEFLATED: Final = 8
_ZSTD: Final = 93
"""Compression methods of ZIP members. Before Python 3.14, zipfile cannot read zstd."""

_LOCAL_HEADER: Final = 30

_DOCUMENT_LINES: Final = (b"{", b"[", b"[{")
"""First lines of indented JSON; in JSON lines no line is one of these."""

_LIST: Final = re.compile(rb"\[[ \t]*\{")


def goes_on_as_lines(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is JSON lines, however its first line looks: a later line is
    an object by itself, and behind it no list or object ends."""
    lines = [line.strip() for line in head.split(b"\n")[1:] if line.strip()]
    for line, following in zip_longest(lines, lines[1:], fillvalue=b""):
        if line[:1] == b"{" and line[-1:] == b"}" and _is_json(line):
            return following[:1] not in (b"]", b"}", b",")
    return False


def is_document(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is one JSON document: indented, a list over several lines, or
    a list or table on one line. Where a damaged first line looks like that, later lines show that it is none;
    a line that is longer than ``head`` is found out by `open_json`."""
    return _looks_like_document(head) and not goes_on_as_lines(head)


_INDENTED: Final = re.compile(rb"[{\[]\r?\n[ \t]")
_LIST_SPREAD: Final = re.compile(rb"\[\s*\{")


def document_in_pipe(head: bytes) -> str | None:
    """What a stream that begins with ``head`` seems to be instead of JSON lines, in words; None if it is
    lines. More of the stream may show that it is lines all the same."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    indented, spread = _INDENTED.match(head), _LIST_SPREAD.match(head)
    if not (indented or spread) or goes_on_as_lines(head):
        return None
    first, ended, _ = head.partition(b"\n")
    if (
        ended
        and _LIST.match(first)
        and first.rstrip()[-1:] not in (b",", b"[", b"{", b":")
        and not _is_json(first)
    ):
        return None  # a damaged line; a list would go on behind a comma
    return "indented JSON" if indented else "a JSON array"


def _looks_like_document(head: bytes) -> bool:
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first, end, rest = head.partition(b"\n")
    if end and first.rstrip() in _DOCUMENT_LINES:
        second, ended, _ = rest.partition(b"\n")
        # indented, or a list with one object per line, unlike JSON lines
        return rest[:1] in b' \t"\r]}' or second.rstrip()[-1:] in (b",", b"{") or not ended
    if _LIST.match(first) is None:
        return False
    # PostgreSQL's json_agg puts the first record behind the bracket; as lines, only the last could be read
    return not rest.strip() or not (_is_json(first) or _is_torn(first, rest))


def _is_torn(first: bytes, rest: bytes) -> bool:
    """Whether a list that does not end on the first line ends there all the same: no writer of lists ends a
    line like this and begins the next one with an object."""
    return first.rstrip()[-1:] not in (b",", b"[", b"{", b":") and rest[:1] == b"{"


def is_document_on_one_line(file: IO[bytes]) -> bool:
    """Whether a file has one line, and this is the document of a known tool: not a row, which has one too."""
    stream = stream_of(file, codec_seen(file.peek(MAGIC_BYTES)))  # type: ignore[attr-defined]
    line = bytearray()
    try:
        for piece in stream.pieces:
            is_over = line.endswith(b"\n") or b"\n" in piece.rstrip()
            if len(line) > MAX_DOCUMENT_BYTES or (is_over and piece.strip()):
                return False
            line += piece
        document = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (Damaged, MissingExtraError, ValueError):
        return False  # what is wrong is said where it is read
    return isinstance(document, dict) and is_known(document)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError) as error:
        return isinstance(error, RecursionError)
    return True


def open_json(path: str) -> Stream:
    """The rows of a JSON document, which may be compressed; the lines of a file that only begins like one.

    Raises
    ------
    InputError
        The file is no JSON, is too large or damaged, or holds nothing to score.
    """
    data = bytearray()
    try:
        with open(path, "rb") as file:
            for piece in stream_of(file, codec_seen(file.peek(MAGIC_BYTES))).pieces:
                data += piece
                if len(data) > MAX_DOCUMENT_BYTES:
                    raise InputError(_TOO_LARGE, file=path)
    except Damaged as error:
        raise InputError(str(error), file=path) from None
    try:
        # orjson would round large integers
        rows = rows_of(json.loads(data))
    except NoRows as error:
        raise InputError(str(error), file=path) from None
    except (ValueError, RecursionError) as error:
        end = data.find(b"\n")
        rest = bytes(data[end + 1 : end + _JUDGED])
        if end >= 0 and (
            goes_on_as_lines(b"\n" + rest) or _is_torn(bytes(data[max(0, end - 9) : end]), rest)
        ):
            return Stream(iter([bytes(data)]))
        advice = "jq -c . makes lines of several objects"
        raise InputError(_no_json(data, error, advice), file=path) from None
    return Stream(encode_json(row) + b"\n" for row in rows)


def _no_json(data: bytearray, error: Exception, advice: str) -> str:
    """The message about a document that is no JSON; a list that was cut off says so."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" and not data.rstrip().endswith(b"]"):
        return (
            f"a JSON array that is cut off, and so is no JSON: {error}; lines of its whole records:"
            " jq -cn --stream 'fromstream(1|truncate_stream(inputs))'"
        )
    return f"a JSON document that is no JSON: {error}; {advice}"


def open_zip(path: str) -> Stream:
    """The samples of an Inspect log, which has one member per sample; of members of equal names, the last.

    Raises
    ------
    InputError
        The file is no ZIP, or no log of Inspect.
    """
    import zipfile  # imported late: few inputs are ZIPs

    file = open(path, "rb")  # noqa: SIM115 (the stream closes it)
    try:
        archive = zipfile.ZipFile(file)
    except Exception as error:  # zipfile raises errors of many types for a damaged directory
        file.close()
        raise InputError(f"not a readable ZIP: {error}", file=path) from None
    members = {info.filename: info for info in archive.infolist()}
    samples = [info for name, info in members.items() if MEMBER.fullmatch(name)]
    if not samples:
        archive.close()
        file.close()
        shown = ", ".join(list(members)[:3]) or "nothing"
        what = "an Inspect log without samples" if "_journal/start.json" in members else f"a ZIP of {shown}"
        unpack = (
            f"; this unpacks it: unzip {shlex.quote(path)}" if members and what.startswith("a ZIP") else ""
        )
        raise InputError(f"{what}; of ZIPs, logs of Inspect (.eval) are read{unpack}", file=path)
    return Stream((_sample(file, info) for info in samples), archive, file)


def _sample(file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """A member, which is a sample, as a line of JSON without the transcript."""
    data = _member(file, info)
    try:
        sample = orjson.loads(data)
    except ValueError:
        try:
            sample = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Damaged(f"member {info.filename} is no JSON: {error}") from None
    return encode_json(kept(sample)) + b"\n"


def _member(file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """The decompressed bytes of a member. Raises `Damaged` if their size or checksum is wrong."""
    size = os.fstat(file.fileno()).st_size
    # a damaged directory may hold any numbers: negative offsets, lengths of 2⁶³ bytes
    file.seek(min(max(0, info.header_offset), size))
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER or not header.startswith(ZIP_MAGIC):
        raise Damaged(f"member {info.filename} is not where the ZIP says it is")
    # lengths of name and extra field may differ from those in the directory
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    file.seek(name + extra, io.SEEK_CUR)
    packed = file.read(min(info.compress_size, size))
    if info.file_size > max(EXPANSION_GRACE, MAX_EXPANSION * len(packed)):
        raise Damaged(f"member {info.filename} expands more than {MAX_EXPANSION} times")
    if info.compress_type not in (_STORED, _DEFLATED, _ZSTD):
        raise Damaged(f"member {info.filename} is compressed in a way that is not read")
    try:
        if info.compress_type == _DEFLATED:
            packed = zlib.decompressobj(wbits=-15).decompress(packed, info.file_size + 1)
        elif info.compress_type == _ZSTD:
            packed = b"".join(stream_of(io.BytesIO(packed), "zst").pieces)
    except zlib.error as error:
        raise Damaged(f"member {info.filename} is damaged: {error}") from None
    except Damaged as error:
        raise Damaged(f"member {info.filename}: {error}") from None
    if len(packed) != info.file_size or zlib.crc32(packed) != info.CRC:
        raise Damaged(f"member {info.filename} is damaged")
    return packed
