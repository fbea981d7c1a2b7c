"""Scores a part: the local engine scores its blocks, its rows go to one file, and its tally to a note
beside it. Also the function that runs on the nodes of a cluster."""

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
from relfast.embed import THREADS_VARIABLE
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
"""Folder of the notes of complete parts, one file each."""

SUFFIXES: Final = (".jsonl.gz", ".jsonl.zst", ".parquet", ".jsonl")


@dataclass(slots=True)
class Done:
    """A part whose file of rows is complete: the content of its note.

    ``embedder`` is the embedding model that its scores depend on ("" without one), ``size`` the bytes of its
    file of rows. Places in ``unusable`` are line numbers in the input.
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
        """Read the note of ``part``; None if it is of another part or incomplete."""
        try:
            note: Any = json.loads(data or b"")  # sums are integers longer than orjson reads
            if note["part"] != asdict(part):
                return None
            tasks = {name: TaskTally(**task) for name, task in note["tasks"].items()}
            tally = Tally(tasks, bytearray(base64.b64decode(note["samples"])))
            unusable = Unusable.of({(a, b): Cause(**cause) for a, b, cause in note["unusable"]})
            return cls(part, note["rows"], note["bytes"], tally, note["embedder"], unusable)
        except (ValueError, KeyError, TypeError):
            return None


def suffix_of(output: str) -> str:
    """The ending of the files of rows: that of the output's name if it is in `SUFFIXES`, else ``.jsonl``."""
    return next((suffix for suffix in SUFFIXES if output.rstrip("/").endswith(suffix)), ".jsonl")


def file_of(part: Part, suffix: str) -> str:
    return f"part-{part.number:06}{suffix}"


def note_of(part: Part) -> str:
    return f"{NOTES}/{part.number:06}.json"


MOST: Final = 10_000
"""Most causes of unusable records kept for a part; a run reports only the most frequent of all parts."""


def score_part(part: Part, job: Job, score: Blocks, folder: Folder, suffix: str) -> Done:
    """Score a part. When this returns, its rows and its note are in the folder.

    Raises
    ------
    InputError
        The input cannot be read, or has changed since it was measured.
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
                write_rows(lambda: map(decode_object, iterate_lines(rows_path)), path)
                os.unlink(rows_path)
    embedder = embedder_of(job) if EMBEDDED & tally.tasks.keys() else ""
    done = Done(part, tally.rows, folder.size(name) or 0, tally, embedder, causes.unusable)
    folder.write(note_of(part), done.to_json())
    return done


Method = Literal["measure", "score"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """The settings of a run that are sent to every node.

    ``workers`` are the processes that score a part (0: in the task's own process); rows go to ``folder``, in
    files that end in ``suffix``.
    """

    job: Job
    workers: int
    part_bytes: int
    folder: Folder
    suffix: str


def versions() -> dict[str, str]:
    """Versions of all packages that can change rows, so they must be equal on all nodes."""
    return {"relfast": __version__, **{name: version(name) for name in packages_of(TASKS.values())}}


def answer(wanted: dict[str, str], pickled: bytes, method: Method, item: Any) -> Any:
    """Run a task in a Ray process of a node: returns the parts of the chunk ``item``, or scores the part
    ``item``. ``pickled`` is an `Assignment`, which is unpickled only if the node's `versions` are the
    ``wanted`` ones.

    Raises
    ------
    UsageError
        The node has other versions, or does not see the output folder.
    InputError, OutputError
        As `measure` and `score_part`.
    """
    host = socket.gethostname()
    for name, here in versions().items():
        if here != wanted.get(name):
            raise UsageError(
                f"node {host} has {name} {here}, the driver {wanted.get(name)}: install the same"
            )
    run: Assignment = pickle.loads(pickled)
    if not is_url(run.folder.path) and not os.path.isdir(run.folder.path):
        raise UsageError(f"node {host} does not see the output: name a folder that all nodes share, or a URL")
    if method == "measure":
        return measure(item, run.job, run.part_bytes)
    return score_part(item, run.job, kept_pool(pickled)[1], run.folder, run.suffix)


@lru_cache(maxsize=1)
def kept_pool(pickled: bytes) -> tuple[object, Blocks]:
    """The pool of an assignment, and its function that scores blocks. It serves all parts that this process
    gets, and ends with the process, or when the process gets a part of another run."""
    run: Assignment = pickle.loads(pickled)
    be_modest()
    native.see_to_missing()
    pool = on_pool(run.job, run.workers) if run.workers else in_process(run.job)
    return pool, pool.__enter__()


def be_modest() -> None:
    """Limit the threads of embedding models in this process and its workers."""
    # by default a model uses a thread for every core of the node, and every worker loads a copy of its own
    os.environ.setdefault(THREADS_VARIABLE, "1")
