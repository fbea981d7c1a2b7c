"""A part scored: its blocks by the local engine, its rows in one file, what they come to beside it; and what
a node of a cluster is asked."""

from __future__ import annotations

import base64
import json
import os
import pickle
import socket
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

from relfast_kernels.compiled import native

from relfast import __version__
from relfast.distributed.parts import Part, blocks_of, measure
from relfast.distributed.storage import Folder, is_url
from relfast.embed import SHARED_VARIABLE, THREADS_VARIABLE
from relfast.engine.file_run.first_causes import FirstCauses
from relfast.engine.file_run.run import in_process, on_pool
from relfast.engine.io.sources import iterate_lines
from relfast.engine.io.writer import encoder
from relfast.engine.job import Job
from relfast.engine.scoring import EMBEDDED
from relfast.engine.segments import Blocks
from relfast.engine.signature import embedder_of, packages_of, version
from relfast.errors import ReadError, UsageError
from relfast.json_text import decode_object, encode_json
from relfast.outputs import writing
from relfast.stats.tally import Tally, TaskTally
from relfast.stats.unusable import Cause, Unusable
from relfast.tasks import TASKS

NOTES: Final = "_parts"
"""Folder of the notes that parts are whole, one file each."""

SUFFIXES: Final = (".jsonl.gz", ".jsonl.zst", ".parquet", ".jsonl")


@dataclass(slots=True)
class Done:
    """A part whose rows are whole.

    ``embedder`` is what scored its texts, where that was an embedding model; ``size`` the bytes of its file;
    places in ``unusable`` are line numbers in the input.
    """

    part: Part
    rows: int
    size: int
    tally: Tally
    embedder: str = ""
    unusable: Unusable = field(default_factory=Unusable)

    def to_json(self) -> bytes:
        note = {
            "part": asdict(self.part),
            "rows": self.rows,
            "bytes": self.size,
            "embedder": self.embedder,
            "tasks": {name: asdict(task) for name, task in self.tally.tasks.items()},
            "unusable": [[*key, asdict(cause)] for key, cause in self.unusable.causes.items()],
            "samples": base64.b64encode(self.tally.samples).decode("ascii"),
        }
        return encode_json(note)

    @classmethod
    def from_json(cls, data: bytes | None, part: Part) -> Done | None:
        """The note of a part, or None where it speaks of another one or is torn."""
        try:
            note: Any = json.loads(data or b"")  # sums have more bits than orjson keeps
            if note["part"] != asdict(part):
                return None
            tasks = {name: TaskTally(**task) for name, task in note["tasks"].items()}
            tally = Tally(tasks, bytearray(base64.b64decode(note["samples"])))
            unusable = Unusable.of({(a, b): Cause(**cause) for a, b, cause in note["unusable"]})
            return cls(part, note["rows"], note["bytes"], tally, note["embedder"], unusable)
        except (ValueError, KeyError, TypeError):
            return None


def suffix_of(output: str) -> str:
    """What the parts of an output are in: what its name ends in, else ``.jsonl``."""
    return next((suffix for suffix in SUFFIXES if output.rstrip("/").endswith(suffix)), ".jsonl")


def file_of(part: Part, suffix: str) -> str:
    return f"part-{part.number:06}{suffix}"


def note_of(part: Part) -> str:
    return f"{NOTES}/{part.number:06}.json"


MOST: Final = 10_000
"""Causes told apart in a part: a run has fewer, but which ones is known when all are together."""


def score_part(part: Part, job: Job, score: Blocks, folder: Folder, suffix: str) -> Done:
    """Score a part; its rows are in the folder when this returns, and the note that they are.

    Raises
    ------
    InputError
        It cannot be read, or is not what was measured.
    OutputError
        The rows cannot be written.
    """
    tally, n_lines = Tally(), 0
    causes = FirstCauses((), job, Unusable(MOST), part.first_index - part.line)
    name = file_of(part, suffix)
    with folder.draft(name) as path:
        rows_path = f"{path}.jsonl" if suffix == ".parquet" else path
        encode = encoder(rows_path)
        with writing(name):
            file = open(rows_path, "wb")  # noqa: SIM115

        def put(rows: bytes) -> None:
            with writing(name):
                file.write(encode(rows) if encode else rows)

        with file, blocks_of(part, job) as blocks:
            for block, segments in score(blocks):
                if rows := b"".join([segment.rows for segment in segments]):
                    put(rows)
                n_lines += block.n_lines
                for segment in segments:
                    tally.merge(segment.tally)
                    if segment.tally.count("invalid_record"):
                        causes.rows(segment.rows, block)
            if not tally.rows:
                put(b"")
        if part.expected not in (-1, n_lines):
            raise ReadError("it changed while it was read", file=part.input.path)
        if suffix == ".parquet":
            from relfast.engine.io.parquet import write_rows

            with writing(name):
                write_rows(map(decode_object, iterate_lines(rows_path)), path)
                os.unlink(rows_path)
    embedder = embedder_of(job) if EMBEDDED & tally.tasks.keys() else ""
    done = Done(part, tally.rows, folder.size(name) or 0, tally, embedder, causes.unusable)
    folder.write(note_of(part), done.to_json())
    return done


Method = Literal["measure", "score"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """What every node must know of a run.

    ``workers`` are the processes that score a part, 0 = none; rows go to ``folder``, in files that end in
    ``suffix``.
    """

    job: Job
    workers: int
    part_bytes: int
    folder: Folder
    suffix: str


def versions() -> dict[str, str]:
    """All whose difference could make rows of one node differ from those of another."""
    return {"relfast": __version__, **{name: version(name) for name in packages_of(TASKS.values())}}


def answer(wanted: dict[str, str], told: bytes, method: Method, item: Any) -> Any:
    """A task on a node, in a process of Ray's: the parts of a chunk, or a part whose rows are written when
    this returns. ``told`` is a pickled `Assignment`, read if the `versions` are the ``wanted`` ones.

    Raises
    ------
    UsageError
        The node cannot give the same rows, or does not see the output.
    InputError, OutputError
        As `measure` and `score_part`.
    """
    host = socket.gethostname()
    for name, here in versions().items():
        if here != wanted.get(name):
            raise UsageError(
                f"node {host} has {name} {here}, the driver {wanted.get(name)}: install the same"
            )
    run: Assignment = pickle.loads(told)
    if not is_url(run.folder.path) and not os.path.isdir(run.folder.path):
        raise UsageError(f"node {host} does not see the output: name a folder that all nodes share, or a URL")
    if method == "measure":
        return measure(item, run.job, run.part_bytes)
    return score_part(item, run.job, kept_pool(told)[1], run.folder, run.suffix)


@lru_cache(maxsize=1)
def kept_pool(told: bytes) -> tuple[object, Blocks]:
    """What scores blocks of a run, for all parts that this process is given; it ends with the process, or
    when that of another run is wanted."""
    run: Assignment = pickle.loads(told)
    be_modest()
    native.see_to_missing()
    pool = on_pool(run.job, run.workers) if run.workers else in_process(run.job)
    return pool, pool.__enter__()


def be_modest() -> None:
    """Have this process, and its workers, take no more of a node than their share."""
    # a model would take a thread for every core there is, and every worker of every process would hold it
    os.environ.setdefault(THREADS_VARIABLE, "1")
    os.environ.setdefault(SHARED_VARIABLE, "1")
