"""The output folder of a run on a cluster.

::

    OUT/part-000000.jsonl …   rows, a file for each part; concatenated they equal the output of one machine
    OUT/manifest.json         the list of these files with their inputs and rows; written last
    OUT/plan.json, _parts/    what the run was started with, and a note for each complete part: for --resume
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from relfast.distributed.part_scoring import NOTES, Done, file_of, note_of
from relfast.distributed.parts import Failed, Input, Part
from relfast.distributed.storage import Folder, is_url
from relfast.engine.io.commit_log import compare_runs
from relfast.errors import OutputError, OutputExistsError, RelfastError, ResumeMismatchError
from relfast.json_text import Undecodable, decode_object, encode_indented

PLAN: Final = "plan.json"
MANIFEST: Final = "manifest.json"
VERSION: Final = 2
_OURS: Final = re.compile(r"part-\d{6,}\.|\..*\.part|(plan|manifest)\.json$|_parts$")
_PART: Final = re.compile(r"part-\d{6,}\.")
_DRAFT: Final = re.compile(r"\..*\.part")
_LOCK: Final = ".lock"


class RunFolder:
    """The output folder of one run, locked while it is open.

    Parameters
    ----------
    run
        The settings that must be equal for a resumed run to continue this one.
    inputs
        The files that are scored.
    suffix
        The ending of the files of rows.

    Raises
    ------
    OutputExistsError
        The folder is not empty, and neither ``resume`` nor ``overwrite`` is set.
    ResumeMismatchError
        ``resume`` is set, and the run in the folder had other settings.
    OutputError
        The folder cannot be written, or another run is writing it.
    """

    def __init__(
        self,
        folder: Folder,
        run: Mapping[str, Any],
        inputs: Sequence[Input],
        suffix: str,
        *,
        resume: bool,
        overwrite: bool,
    ) -> None:
        self.folder, self.suffix = folder, suffix
        self._run, self._inputs = dict(run), [asdict(item) for item in inputs]
        self._lock = -1
        plan = folder.read(PLAN)
        there = [name for name in folder.names() if name != _LOCK]
        self._new, self._made = not there, not os.path.isdir(folder.path)
        if there and not (resume or overwrite):
            raise OutputExistsError(folder.path, resumable=True)
        folder.make()
        self._hold()
        try:
            self._planned = self._check(plan) if resume and there else None
            if self._planned is None:
                for name in filter(_OURS.match, there):
                    folder.remove(name)
            folder.make(NOTES)
            self._noted = frozenset(folder.names(NOTES))
        except BaseException:
            self.close()
            raise

    def _hold(self) -> None:
        """Lock the folder if it is local. Object stores have no locks; files appear in them complete."""
        if is_url(self.folder.path):
            return
        path = self.folder.join(_LOCK)
        try:
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            # the kernel drops the lock when its holder dies, however it dies
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise OutputError(self.folder.path, "another run is writing this output") from None
        except OSError as error:
            self.close()
            raise OutputError(path, error.strerror or str(error)) from error

    def _check(self, plan: bytes | None) -> dict[str, Any] | None:
        """The plan of the run to resume. Raises `ResumeMismatchError` if it is unreadable or differs."""
        try:
            planned: Any = decode_object(plan or b"")
            version = planned["relfast_plan"]
            before = planned["run"] if version == VERSION else {"plan format": version}
        except (Undecodable, KeyError):
            raise ResumeMismatchError(
                f"{self.folder.join(PLAN)} is missing or unreadable, so it is not known how"
                f" {self.folder.path} was made"
            ) from None
        if difference := compare_runs(before, self._run):
            raise ResumeMismatchError(difference)
        return dict(planned)

    def planned(self) -> list[Part] | None:
        """The parts of a resumed run; None if its inputs have changed or were not all measured."""
        plan = self._planned
        if plan is None or plan["inputs"] != self._inputs or plan["failed"]:
            return None
        return [Part(**{**part, "input": Input(**part["input"])}) for part in plan["parts"]]

    def plan(self, parts: Sequence[Part], failed: Sequence[Failed]) -> None:
        """Write the plan: the parts to score, and the inputs that could not be measured."""
        plan = {
            "relfast_plan": VERSION,
            "run": self._run,
            "inputs": self._inputs,
            "parts": [asdict(part) for part in parts],
            "failed": [asdict(failure) for failure in failed],
        }
        self.folder.write(PLAN, encode_indented(plan))

    def done_before(self, part: Part) -> Done | None:
        """The note of a part scored by an earlier run; None if note or rows are missing or incomplete."""
        if os.path.basename(note_of(part)) not in self._noted:
            return None
        done = Done.from_json(self.folder.read(note_of(part)), part)
        if done is None or self.folder.size(file_of(part, self.suffix)) != done.size:
            return None
        return done

    def finish(self, done: Sequence[Done], failed: Sequence[Failed], summary: Mapping[str, Any]) -> None:
        """Write the manifest, and remove files that earlier runs or lost tasks have left beside the parts."""
        files = {file_of(item.part, self.suffix): item for item in done}
        for name in self.folder.names():
            if _DRAFT.match(name) or (_PART.match(name) and name not in files):
                self.folder.remove(name)
        manifest = {
            "relfast_manifest": 1,
            "complete": not failed,
            "rows": sum(item.rows for item in done),
            "inputs": self._inputs,
            "parts": [
                {
                    "file": name,
                    "input": item.part.input.path,
                    "start": item.part.start,
                    "end": item.part.end,
                    "first_index": item.part.first_index,
                    "rows": item.rows,
                    "bytes": item.size,
                }
                for name, item in files.items()
            ],
            "failed": [asdict(failure) for failure in failed],
            "summary": summary,
        }
        self.folder.write(MANIFEST, encode_indented(manifest))

    def withdraw(self) -> None:
        """Remove all that this run has written, if it has scored nothing and the folder was empty before."""
        if self._new and not self.folder.names(NOTES):
            with contextlib.suppress(RelfastError, OSError):
                for name in (NOTES, PLAN, _LOCK):
                    self.folder.remove(name)
                if self._made and not is_url(self.folder.path):
                    os.rmdir(self.folder.path)

    def close(self) -> None:
        if self._lock >= 0:
            # the lock file is not removed: a process that waits for the lock has it open already
            os.close(self._lock)
            self._lock = -1
