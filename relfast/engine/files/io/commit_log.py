"""The journal beside an output: up to which byte the rows are whole, and where in the input to go on.

``OUT.journal`` is JSON lines: a header (everything that decides the bytes of the output), an entry for each
block, and a last line when the run is finished. An entry is written after the rows of its block.
"""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import orjson

from relfast.engine.columns.blocks import Position
from relfast.engine.files.io.sources import Source, find_sources
from relfast.engine.job import Job
from relfast.engine.signature import versions
from relfast.errors import told_of
from relfast.records import Plain
from relfast.support.outputs import PATHS

JOURNAL_VERSION: Final = 2
JOURNAL_SUFFIX: Final = ".journal"


@dataclass(slots=True, repr=False, eq=False)
class Commit(Plain):
    """A block's entry in the journal.

    Attributes
    ----------
    size
        Size of the output in bytes, including the block's rows.
    position
        Where in the input the next block begins.
    votes
        Votes of the scored rows, 4 bytes each, which maj@k needs and rows do not contain.
    rows_sum
        CRC-32 of the bytes that this block added to the output: after a power failure the journal may be
        there and the rows not.
    input_sum
        `relfast.engine.columns.blocks.Block.checksum`, to notice that the input has changed since.
    embedder
        The embedding model that scored rows of the block; "" if none did.
    """

    size: int
    position: Position
    votes: bytes = b""
    rows_sum: int = 0
    input_sum: int = 0
    embedder: str = ""

    def to_line(self) -> bytes:
        at = self.position
        entry: dict[str, Any] = {
            "bytes": self.size,
            "next": [at.seq, at.source, at.offset, at.index],
            "crc": self.rows_sum,
            "input": self.input_sum,
        }
        if self.votes:
            entry["votes"] = b2a_base64(self.votes, newline=False).decode("ascii")
        if self.embedder:
            entry["embedder"] = self.embedder
        return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_line(cls, line: bytes) -> Commit | None:
        """The entry of a line; None if the line is torn (not completely written)."""
        try:
            entry = orjson.loads(line)
            votes = a2b_base64(entry.get("votes", ""))
            return cls(
                entry["bytes"],
                Position(*entry["next"]),
                votes,
                entry["crc"],
                entry["input"],
                entry.get("embedder", ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


@dataclass(slots=True, repr=False, eq=False)
class CommitLog(Plain):
    """The content of a journal.

    Attributes
    ----------
    run
        The fingerprint in its header; None without a header.
    commits
        The entries before the first torn one.
    finished_rows
        Number of rows if the run was finished, else None.
    header_size
        Bytes of the header line.
    """

    run: dict[str, Any] | None
    commits: list[Commit]
    finished_rows: int | None
    header_size: int

    @classmethod
    def read(cls, lines: Iterator[bytes]) -> CommitLog:
        header = next(lines, b"")
        journal = cls(_run_of(header), [], None, len(header))
        for line in lines:
            if not line.endswith(b"\n"):
                break
            if line.startswith(b'{"finished"'):
                journal.finished_rows = orjson.loads(line)["finished"]
                break
            commit = Commit.from_line(line)
            if commit is None:
                break
            journal.commits.append(commit)
        return journal


def header_line(run: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"relfast_journal": JOURNAL_VERSION, "run": run}, option=orjson.OPT_APPEND_NEWLINE)


def finished_line(n_rows: int) -> bytes:
    return orjson.dumps({"finished": n_rows}, option=orjson.OPT_APPEND_NEWLINE)


def _run_of(header: bytes) -> dict[str, Any] | None:
    """The fingerprint in a journal's header; None if the line is no header."""
    try:
        entry = orjson.loads(header)
    except ValueError:
        return None
    if not isinstance(entry, dict) or "relfast_journal" not in entry:
        return None
    run = entry.get("run")
    if entry["relfast_journal"] != JOURNAL_VERSION:
        return {"journal format": entry["relfast_journal"]}
    return run if isinstance(run, dict) else None


# the fingerprint: everything that decides the bytes of an output, compared before a run is resumed

WHOLE_BYTES: Final = 16 * 2**20
_SAMPLES: Final = 64
_SAMPLE_BYTES: Final = 1 << 14
"""The digest of a file of up to 16 MB covers all of its bytes (5 ms). That of a larger one covers 64 pieces
of 16 kB, spread evenly and including both ends (1 ms); its size is compared too, and where its lines end,
since a resumed run counts them. Streams are checked by `relfast.engine.columns.blocks.Block.checksum`."""


def fingerprint(job: Job, sources: Sequence[Source], **more: Any) -> dict[str, Any]:
    """Everything that decides the bytes of the output.

    Raises
    ------
    InputError
        A gold file cannot be read.
    """
    gold = [source for path in job.data for source in find_sources([path])]
    return {
        **versions(),
        "option": job.decides(),
        "gold": [_digest(source.path, whole=True) for source in gold],
        "number of inputs": len(sources),
        "input": {str(number): _content(source) for number, source in enumerate(sources)},
        PATHS: {
            f"{what} {number}": source.path
            for what, files in (("input", sources), ("gold", gold))
            for number, source in enumerate(files)
        },
        **more,
    }


def _content(source: Source) -> dict[str, Any]:
    if not source.regular:
        return {"path": source.path}
    return {"size": source.size, "content": _digest(source.path, source.size)}


def _digest(path: str, size: int | None = None, *, whole: bool = False) -> str:
    """CRC-32 of a file's bytes (of the first ``size``), or of samples of a large file (see `WHOLE_BYTES`)."""
    total = 0
    with told_of(path), open(path, "rb") as file:
        size = file.seek(0, 2) if size is None else size
        if whole or size <= WHOLE_BYTES:
            file.seek(0)
            while size > 0 and (piece := file.read(min(size, 1 << 20))):
                total = crc32(piece, total)
                size -= len(piece)
        else:
            step = (size - _SAMPLE_BYTES) // (_SAMPLES - 1)
            for at in range(0, size - _SAMPLE_BYTES + 1, step):
                file.seek(at)
                total = crc32(file.read(_SAMPLE_BYTES), total)
    return f"{total:08x}"


_GROWING: Final = ("plain", "gz", "zst", "csv")
"""Codecs of files to which lines can be appended."""


def grown_since(
    before: Mapping[str, Any], now: Mapping[str, Any], sources: Sequence[Source]
) -> tuple[Mapping[str, Any], list[str]]:
    """The fingerprint of an earlier run, brought up to inputs that have only grown since (the digest of their
    old bytes is the same), and a remark on each. Parts of an input (``--shard``) are other parts then."""
    remarks: list[str] = []
    old, new = before.get("input"), now.get("input")
    if not isinstance(old, Mapping) or not isinstance(new, Mapping) or now.get("shard") is not None:
        return before, remarks
    inputs = dict(old)
    for number, source in enumerate(sources):
        was, present = (run.get(str(number), {}) for run in (old, new))
        if source.codec not in _GROWING or not was.get("size", source.size) < source.size:
            continue
        if _digest(source.path, was["size"]) == was["content"]:
            inputs[str(number)] = present
            sizes = f"from {was['size']:,} to {source.size:,} bytes"
            remarks.append(
                f"{source.path} has grown {sizes} since it was scored; what was appended is, too, now"
            )
    return {**before, "input": inputs}, remarks


def growing(sources: Sequence[Source]) -> list[str]:
    """A remark on each file that has grown since it was found, as a run reads its length at the start."""
    remarks = []
    for source in sources:
        try:
            size = os.stat(source.path).st_size if source.regular else 0
        except OSError:
            continue  # it was moved after it had been read to its end
        if size > source.size:
            sizes = f"from {source.size:,} to {size:,} bytes"
            remarks.append(
                f"{source.path} grew {sizes} while it was scored; --resume goes on with what was appended"
            )
    return remarks
