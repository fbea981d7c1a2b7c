"""The journal beside an output: up to which byte every row is whole, and where the input goes on.

``OUT.journal`` is JSON lines: a header (what decides the bytes of the output), an entry per block, and a
last line when the run is finished. An entry is written after the rows it speaks of.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from relfast.engine.io.blocks import Position
from relfast.plain import Plain

JOURNAL_VERSION: Final = 2
JOURNAL_SUFFIX: Final = ".journal"


@dataclass(slots=True, repr=False, eq=False)
class Commit(Plain):
    """A block's entry.

    Attributes
    ----------
    size
        Bytes of the output with the block's rows.
    position
        Where the input goes on.
    votes
        What maj@k needs and rows do not say: 4 bytes a scored row.
    rows_sum
        CRC-32 of the bytes this block added to the output: a power failure may keep the journal and lose
        what it speaks of.
    input_sum
        `relfast.engine.io.blocks.Block.checksum`: the input may have changed since.
    embedder
        What scored the block's rows, where that was an embedding model.
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
        """The entry of a line, or None where it is torn."""
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
    """What a journal says.

    Attributes
    ----------
    run
        The fingerprint in its header; None where there is no header.
    commits
        Its entries, up to the first that is torn.
    finished_rows
        Number of rows, if the run came to its end.
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
