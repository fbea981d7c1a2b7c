"""Runs a benchmark: sends each set of records (a part) to each model, scores the responses, writes reports.

``DIR/MODEL/PART.jsonl`` holds the responses, with ``.run.json`` beside them, ``PART.scored.jsonl`` the rows,
``PART.summary.json`` their summary, and ``report/`` the page. If there are several models, ``DIR/report/``
shows them side by side. ``DIR/results.json`` holds the results that the table shows. Runs are resumable.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.bench.sets import Part
from relfast.engine.files.io.sources import find_sources, paths_in
from relfast.engine.files.score_files import Progress, score_files
from relfast.engine.job import Job
from relfast.errors import (
    OutputExistsError,
    RelfastError,
    ResumeMismatchError,
    UsageError,
)
from relfast.inference.client import Prompt
from relfast.inference.replies import Completion
from relfast.inference.request_log import RequestCounts, read_header
from relfast.inference.requests import Request, Wordings, read_requests
from relfast.inference.run import Place, Plan, complete_records
from relfast.realign.benchmark import MOCK, Judge, solve_and_judge
from relfast.report.canvas import STYLES, Style, drawn_in
from relfast.report.page import check_packages
from relfast.report.realign import FIGURES_DIR, generate_analysis_report
from relfast.report.scored import generate_report
from relfast.stats.summary import Summary
from relfast.support.outputs import check_modes, keep_apart, write_json
from relfast.tasks import TASKS, find_task
from relfast.tasks.base import resolve
from relfast.tasks.realign.alignment import StepAligner

REPORT_DIR: Final = "report"
RESULTS_FILE: Final = "results.json"
JUDGED: Final = "ReAlign"
"""The task whose answers a model can grade (``--judge``)."""


@dataclass(frozen=True)
class Model:
    """A model to benchmark. ``plan`` has its server; ``name`` is also its folder's name, unless ``folder``
    is set.

    With a ``judge``, a model grades its answers to ReAlign's problems, besides the comparison of boxed
    answers.
    """

    name: str
    plan: Plan
    folder: str = ""
    judge: Judge | None = None


@dataclass(frozen=True)
class Spec:
    """A model's name, its server's URL and the environment variable of its key, as written on the command
    line: ``MODEL``, ``MODEL@URL`` or ``MODEL@URL#VARIABLE``."""

    model: str
    api: str | None = None
    key_variable: str | None = None

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read such a text. Raises `UsageError` if it names no model."""
        match = re.fullmatch(r"(?P<model>.+?)(?:@(?P<api>https?://[^#]+)(?:#(?P<key>\w+))?)?", text.strip())
        if match is None:
            raise UsageError(f"{text!r} is not of the form MODEL, MODEL@URL or MODEL@URL#KEY_VARIABLE")
        return cls(match["model"], match["api"], match["key"])

    @property
    def folder(self) -> str:
        """The model's name as the name of a folder."""
        return re.sub(r"[^\w.-]+", "_", self.model).strip("._") or "model"


@dataclass
class Result:
    """The result of one model on one part."""

    model: str
    part: Part
    counts: RequestCounts
    summary: Summary
    header: Mapping[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "model": self.model,
            "set": self.part.shown,
            "run": self.header,
            "signature": self.summary.signature,
            "tasks": {name: task.to_dict() for name, task in self.summary.tasks.items()},
        }


@dataclass
class Watch:
    """Callbacks for progress: ``asking(name, total)`` returns one for a part's requests, ``step(text)`` is
    called when a long step begins, ``scoring(name)`` returns one for rows as they are scored."""

    asking: Callable[[str, int], Callable[[RequestCounts], None]]
    step: Callable[[str], None]
    scoring: Callable[[str], Callable[[Progress], None]]


@dataclass
class Bench:
    """A whole run: models, parts, output folder and settings.

    With ``may_leave_out`` it skips parts that need an embedding model which is not on this machine: after
    `run`, ``left_out`` has their names and the reasons.
    """

    models: Sequence[Model]
    parts: Sequence[Part]
    folder: Path
    job: Job
    prompt: str | None = None
    limit: int | None = None
    workers: int | None = None
    may_leave_out: bool = False
    reports: bool = True
    style: Style = STYLES["page"]
    left_out: dict[str, str] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)

    def run(self, watch: Watch, *, resume: bool = False, overwrite: bool = False) -> list[Result]:
        """Request responses, score and report. Returns the results in order of models and parts.

        Raises
        ------
        UsageError, InputError, OutputError, ResumeMismatchError, MissingExtraError
            Failures of the server do not raise.
        """
        requests = self._requests()
        if self.may_leave_out:
            self._embedders(requests)
        self._check(requests, resume=resume, overwrite=overwrite)
        with drawn_in(self.style):
            return self._run(requests, watch, resume=resume)

    def _run(self, requests: Mapping[str, list[Request]], watch: Watch, *, resume: bool) -> list[Result]:
        for model in self.models:
            folder = self.folder_of(model)
            for part in self.parts:
                self.results.append(
                    self._part(model, part, requests[part.name], folder, watch, resume=resume)
                )
            scored = [str(_scored(folder, part)) for part in self.parts]
            if self.reports:
                watch.step(f"{model.name}: writing the report")
                drawn = {JUDGED: FIGURES_DIR} if model.judge is not None else {}
                generate_report(scored, folder / REPORT_DIR, drawn=drawn)
        if len(self.models) > 1 and self.reports:
            watch.step("writing the report of all models")
            pairs = product(self.models, self.parts)
            scored = [f"{model.name}={_scored(self.folder_of(model), part)}" for model, part in pairs]
            generate_report(scored, self.folder / REPORT_DIR)
        made = [result.to_dict() for result in self.results]
        write_json(self.folder / RESULTS_FILE, [*self._other_results(made), *made])
        return self.results

    def _other_results(self, made: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The results in the folder's `RESULTS_FILE` whose rows this run has not replaced: those of other
        models and sets. None if the file is not ours."""
        if any(model.folder for model in self.models):
            return []  # all models' rows are the same files
        replaced = {(result["model"], result["set"]) for result in made}
        try:
            before = orjson.loads((self.folder / RESULTS_FILE).read_bytes())
            return [result for result in before if (result["model"], result["set"]) not in replaced]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def folder_of(self, model: Model) -> Path:
        return self.folder / (model.folder or model.name)

    def _requests(self) -> dict[str, list[Request]]:
        wordings = Wordings(self.prompt)
        requests = {
            part.name: list(read_requests(part.inputs, self.limit, wordings))
            or [wordings.request(index, {**row}) for index, row in enumerate(part.rows)]
            for part in self.parts
        }
        for part in self.parts:
            unknown = next((request for request in requests[part.name] if request.task is None), None)
            if unknown is not None:
                raise UsageError(
                    f"{part.shown}: record {unknown.index} does not say its task, nor does its gold"
                )
        return requests

    def _embedders(self, requests: Mapping[str, Sequence[Request]]) -> None:
        """Check that the parts' embedding models are here; with ``may_leave_out`` skip parts without."""
        from relfast.embed.embedder import get_embedder

        for part in self.parts:
            if any(request.task and TASKS[request.task].embeds for request in requests[part.name]):
                try:
                    get_embedder(self.job.options.embedder, self.job.options.device)
                except RelfastError as error:
                    if not self.may_leave_out:
                        raise
                    self.left_out[part.name] = str(error)
        self.parts = [part for part in self.parts if part.name not in self.left_out]

    def _check(self, requests: Mapping[str, Sequence[Request]], *, resume: bool, overwrite: bool) -> None:
        """Raise, before the first request, for everything that would fail hours later."""
        check_modes(resume, overwrite)
        self._keep_apart()
        for model in self.models:
            there = self.folder_of(model)
            if not (resume or overwrite) and any(map(os.path.exists, self._outputs(model))):
                raise OutputExistsError(there, resumable=True)
            judged = [part for part in self.parts if model.judge and _is_judged(requests[part.name])]
            if len(judged) > 1 or (model.judge and not judged):
                raise UsageError(
                    f"--judge takes one set of ReAlign's problems, say --set realign; there are {len(judged)}"
                )
            if judged and (model.plan.samples > 1 or model.plan.cut_off_fails or self.prompt):
                raise UsageError("--judge goes with neither --samples, --prompt nor --truncated fail")
        self._embedders(requests)
        if self.reports:
            check_packages(*(("scipy",) if any(model.judge for model in self.models) else ()))

    def _outputs(self, model: Model) -> Iterator[Path]:
        """The files of a model that a new run would replace, the folder's own files included."""
        there = self.folder_of(model)
        for part in self.parts:
            yield from (_responses(there, part), _scored(there, part), _summary(there, part))
        if self.reports:
            yield there / REPORT_DIR / "index.html"
            yield from [self.folder / REPORT_DIR / "index.html"] if len(self.models) > 1 else []
        yield from [self.folder / RESULTS_FILE] if model.folder else []

    def _keep_apart(self) -> None:
        """Check that no record and no prompt is read from a file that is written."""
        places = [(self.folder_of(model), part) for model in self.models for part in self.parts]
        folders = [self.folder, *map(self.folder_of, self.models)]
        figures = [self.folder_of(model) / FIGURES_DIR for model in self.models if model.judge is not None]
        keep_apart(
            "bench",
            {
                "results": [self.folder / RESULTS_FILE],
                "responses": [_responses(*place) for place in places],
                "scored rows": [_scored(*place) for place in places],
                "summary": [_summary(*place) for place in places],
                "report": dict.fromkeys([*(folder / REPORT_DIR for folder in folders), *figures]),
                "--records": [path for part in self.parts for path in paths_in(find_sources(part.inputs))],
                "--data": [path for part in self.parts for path in part.files],
                "--prompt": Wordings(self.prompt).files,
            },
        )

    def _part(
        self, model: Model, part: Part, requests: list[Request], folder: Path, watch: Watch, *, resume: bool
    ) -> Result:
        """Request the responses of a model to a part, judge them if there is a judge, and score them."""
        responses = _responses(folder, part)
        asking = watch.asking(f"{model.name} {part.name}: ", len(requests))
        how: dict[str, Any] = {"resume": resume, "overwrite": not resume, "report": asking}
        if model.judge is None or not _is_judged(requests):
            counts = complete_records(requests, responses, model.plan, **how)
        else:
            options = self.job.options
            how |= {"judge": model.judge, "options": options, "dataset": part.shown}
            counts = solve_and_judge(requests, responses, model.plan, **how)
            if self.reports:
                aligner = StepAligner(options.embedder, options.device)
                generate_analysis_report(responses, folder / FIGURES_DIR, aligner=aligner, on_step=watch.step)
        watch.step(f"{model.name} {part.name}: scoring")
        for name in dict.fromkeys(request.task for request in requests):
            if name is not None and TASKS[name].loads:
                TASKS[name].load()
        watch_rows = watch.scoring(f"{model.name} {part.name}: scoring")
        summary = self._score(responses, _scored(folder, part), watch_rows, resume=resume)
        write_json(_summary(folder, part), summary.to_dict() | {"seconds": None})
        return Result(model.name, part, counts, summary, read_header(responses))

    def _score(
        self, responses: Path, scored: Path, progress: Callable[[Progress], None], *, resume: bool
    ) -> Summary:
        files = [str(responses)], str(scored), self.job
        if resume and scored.exists():
            try:
                return score_files(*files, workers=self.workers, progress=progress, resume=True)
            except ResumeMismatchError:
                pass  # the responses have changed: some that had failed have succeeded since
        return score_files(*files, workers=self.workers, progress=progress, overwrite=True)


def _is_judged(requests: Sequence[Request]) -> bool:
    """Whether all requests are ReAlign's problems. Other tasks' answers need no judge."""
    return {request.task for request in requests} == {JUDGED}


def _responses(folder: Path, part: Part) -> Path:
    return folder / f"{part.name}.jsonl"


def _scored(folder: Path, part: Part) -> Path:
    return folder / f"{part.name}.scored.jsonl"


def _summary(folder: Path, part: Part) -> Path:
    return folder / f"{part.name}.summary.json"


class MockAsker:
    """Replaces a server: answers from gold, right or wrong by chance; equal requests get equal answers."""

    async def completions(
        self, prompts: Iterable[tuple[Place, Prompt]], seed_of: Callable[[Place], int | None]
    ) -> AsyncIterator[tuple[Place, Completion]]:
        for (request, sample), _ in prompts:
            task = find_task(request.task)
            text = "I do not know."
            if task is not None and task.mock is not None:
                seed = orjson.dumps([task.name, request.digest, sample, seed_of((request, sample))])
                text = resolve(task.mock)(request.row, random.Random(seed))
            yield (request, sample), Completion(text, finish_reason="stop", model=MOCK)
