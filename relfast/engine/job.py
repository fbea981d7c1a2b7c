"""`Job`: the settings of a run, which is all that a worker must know besides the records.

Before it stand the types of its keywords, for editors and type checkers: a function that passes keywords on
declares ``**options: Unpack[JobKeywords]``, for example. Which keywords are accepted at run time is decided
by `Job` and the tasks' options; a test keeps the two lists equal. Behind it stand the checks of single
settings: the
command line, Python, the trainers' adapters and the server report a bad value with the same message, before
anything starts.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, Unpack

from relfast_kernels.caches import COMPILE_VARIABLE, OFF
from relfast_kernels.layouts import ALL_IDS_REPEAT, NUMBERS_REPEAT

from relfast.errors import UsageError, did_you_mean
from relfast.formats import DIALECTS
from relfast.formats.hints import why_unknown
from relfast.parameters import Choice, Flag, Whole, declared, number_of, parameters_of
from relfast.records import Policy as Policy
from relfast.support.system import default_workers
from relfast.tasks import TASKS, AllOptions, get_task
from relfast.tasks import OptionKeywords as OptionKeywords
from relfast.tasks import TaskKeywords as TaskKeywords

DEFAULT_TIMEOUT: Final = 6.0
"""Default deadline of a record in seconds; REL-C2's published substructure search has 5 s of them."""

MAX_TIMEOUT: Final = 1_000_000.0
"""Longest deadline in seconds, eleven days; a longer one is as good as none. Python can set the operating
system's timer to 9·10⁹ s at most."""

MAX_WORKERS: Final = 10_000

MAX_LINE_BYTES: Final = 16 * 2**20
"""Longest line read; the longest published record has 20 kB, the longest real response 500 kB."""


_BRACKETS: Final = re.compile(r"\[(-?[0-9]+|\*)\]")
_MAPS: Final = {
    "rewards": "task names to metrics, such as {'TASK': 'METRIC'}",
    "map": "fields to paths, such as {'response': 'choices.0.message.content'}",
}


Unscored = float | None | Literal["raise"]
"""The reward of an unscored response: a number, None (left out), or "raise" for an `UnscoredError`."""


class OnErrorByKind(TypedDict, total=False):
    """Rewards of unscored responses, by what is at fault.

    ``response``: scoring it took longer than its deadline or crashed its workers; default: under ``strict``
    the lowest reward of the task, else the value of ``machinery``. ``machinery``: everything else (broken
    gold, unknown tasks, no workers, an interrupted call); default: None.
    """

    response: Unscored
    machinery: Unscored


OnError = Unscored | OnErrorByKind
"""Rewards of unscored responses; a single value counts for the kind ``machinery``."""


class JobKeywords(OptionKeywords, total=False):
    """The settings that decide the rows of a run: see `Job`.

    ``reward``, ``input_format`` and ``map`` are the command-line names of ``rewards``, ``dialect`` and
    ``field_map``; both spellings are accepted.
    """

    task: str | None
    rewards: Mapping[str, str]
    reward: Mapping[str, str]
    details: bool
    timeout: float | None
    dialect: str
    input_format: str
    field_map: Mapping[str, str]
    map: Mapping[str, str]
    data: str | Path | Iterable[str | Path]
    filter: str | None
    max_line_bytes: int


class AdapterKeywords(JobKeywords, total=False):
    """The keywords that the trainers' reward functions accept besides ``on_error``."""

    workers: int | None


class ScorerKeywords(AdapterKeywords, total=False):
    """The keywords of `relfast.Scorer`."""

    on_error: OnError


@dataclass(frozen=True, slots=True)
class Job:
    """The settings of a run. Immutable and picklable: it is sent to every worker.

    Raises `UsageError` for a value that cannot be used.

    Attributes
    ----------
    options
        The scoring options of all tasks.
    task
        Task of records that name none.
    rewards
        Task name → metric that becomes ``reward``, for tasks whose default metric is replaced.
    details
        Also put the texts (``pred``, ``gold``) into ``metrics``.
    timeout
        Seconds a record may take, up to `MAX_TIMEOUT`; 0, None or infinity = no limit, kept as 0.
    dialect
        Input dialect, or ``auto``.
    field_map
        Field → dotted path in the input row (``--map``).
    data
        Files with gold records to join on ``id``.
    filter
        Only rows of this filter of lm-evaluation-harness are scored; None: the first that an input names.
    max_line_bytes
        Longer lines are not scored; their row says so.
    repeats
        Which ids may stand for several prompts: none (0, in calls), or in files `NUMBERS_REPEAT` or
        `ALL_IDS_REPEAT` of `relfast_kernels.layouts`. Set by `of_files`.
    """

    options: AllOptions = field(default_factory=AllOptions)
    task: str | None = None
    rewards: Mapping[str, str] = field(default_factory=dict)
    details: bool = False
    timeout: float = DEFAULT_TIMEOUT
    dialect: str = "auto"
    field_map: Mapping[str, str] = field(default_factory=dict)
    data: tuple[str, ...] = ()
    filter: str | None = None
    max_line_bytes: int = MAX_LINE_BYTES
    repeats: int = 0

    def of_files(self, n: int) -> Job:
        """The same job for ``n`` input files: in several, ids may repeat for different prompts."""
        return replace(self, repeats=ALL_IDS_REPEAT if n > 1 else NUMBERS_REPEAT)

    def __post_init__(self) -> None:
        for name, value in (
            ("timeout", timeout_of(self.timeout)),
            ("max_line_bytes", count_of("max_line_bytes", self.max_line_bytes, 1)),
            ("details", Flag().check("details", self.details)),
            ("dialect", Choice(("auto", *DIALECTS)).check("input_format", self.dialect)),
            ("field_map", field_map_of(self.field_map)),
        ):
            object.__setattr__(self, name, value)

    def decides(self) -> dict[str, Any]:
        """Every setting that can change a row, for the check on resume (which compares ``data`` itself)."""
        return {
            **asdict(self.options),
            "task": self.task,
            "rewards": dict(sorted(self.rewards.items())),
            "details": self.details,
            "timeout": self.timeout,
            "input_format": self.dialect,
            "map": dict(sorted(self.field_map.items())),
            "filter": self.filter,
            "max_line_bytes": self.max_line_bytes,
        }


def make_options(**given: Unpack[OptionKeywords]) -> AllOptions:
    """`AllOptions` from keyword arguments.

    Raises
    ------
    UsageError
        A name or value that does not exist.
    """
    return declared(AllOptions, given)


_ALIASES: Final = {"input_format": "dialect", "map": "field_map", "reward": "rewards"}
_JOB_FIELDS: Final = frozenset(field.name for field in fields(Job)) - {"options", "repeats"}


def make_job(**options: Unpack[JobKeywords]) -> Job:
    """A `Job` from the keywords that `score`, `score_batch`, `score_file` and `Scorer` share.

    ``input_format``, ``map`` and ``reward`` are accepted under their command-line names.

    Raises
    ------
    UsageError, UnknownTaskError
        A name or a value that cannot be used.
    """
    check_compiling()
    given: dict[str, Any] = dict(options)
    for alias, name in _ALIASES.items():
        if alias in given:
            given[name] = given.pop(alias)
    job_options = {name: given.pop(name) for name in list(given) if name in _JOB_FIELDS}
    if job_options.get("task") is not None:
        job_options["task"] = get_task(job_options["task"]).name
    if "rewards" in job_options:
        job_options["rewards"] = check_rewards(job_options["rewards"])
    data = job_options.get("data", ())
    if not isinstance(data, str | Path | Iterable):
        raise UsageError(f"data must be a path or several, not {data!r:.60}")
    job_options["data"] = (str(data),) if isinstance(data, str | Path) else tuple(map(str, data))
    taken = {parameter.name for parameter in parameters_of(AllOptions)}
    for name in given.keys() - taken:
        names = sorted({*taken, *_JOB_FIELDS, *_ALIASES, "workers"})
        raise UsageError(f"unknown option {name!r}; options: {', '.join(names)}{did_you_mean(name, names)}")
    job = Job(options=make_options(**given), **job_options)
    for name, metric in job.rewards.items():
        known = TASKS[name].metric_by_name.get(metric)
        if known is not None and known.strict_only and not job.options.strict:
            raise UsageError(f"{name}: {metric} is a metric of policy strict only")
    return job


def check_rewards(rewards: Mapping[str, str]) -> dict[str, str]:
    """The mapping of tasks to reward metrics, checked and with canonical task names.

    Raises
    ------
    UnknownTaskError
        An unknown task.
    UsageError
        A metric that the task does not have.
    """
    checked: dict[str, str] = {}
    for name, metric in texts_of("rewards", rewards).items():
        task = get_task(name)
        if metric not in task.reward_metrics:
            raise UsageError(
                f"{task.name} has no numeric metric {metric!r}; it has {', '.join(task.reward_metrics)}"
            )
        checked[task.name] = metric
    return checked


def timeout_of(value: object) -> float:
    """The seconds that a record may take; 0.0 (no limit) for 0, None and infinity.

    Raises
    ------
    UsageError
        The value is no number, NaN, negative, or more than `MAX_TIMEOUT`.
    """
    if value is None or value == math.inf:
        return 0.0
    seconds = number_of(value)
    if seconds is None or not 0 <= seconds <= MAX_TIMEOUT:
        limits = f"from 0 (no limit) to {MAX_TIMEOUT:,.0f}"
        raise UsageError(f"timeout must be seconds {limits}, not {value!r:.60}")
    return seconds


def check_compiling() -> None:
    """Raise `UsageError` if ``RELFAST_COMPILE`` has a value that it may not have."""
    chosen = os.environ.get(COMPILE_VARIABLE)
    if chosen and chosen != OFF:
        raise UsageError(f"{COMPILE_VARIABLE} is {OFF}, or not set, not {chosen!r}")


def count_of(name: str, value: object, least: int = 0, most: int | None = None) -> int:
    """``value`` as a whole number from ``least`` to ``most``, both included. Raises `UsageError`."""
    return Whole(least, most).check(name, value)


def workers_of(value: object) -> int | None:
    """The number of worker processes: ``value``, else ``RELFAST_WORKERS``, else None. Raises `UsageError`."""
    return default_workers() if value is None else count_of("workers", value, 0, MAX_WORKERS)


def texts_of(name: str, value: object) -> dict[str, str]:
    """``value`` as a dict of texts to texts. Raises `UsageError`."""
    texts = dict(value) if isinstance(value, Mapping) else None
    if texts is None or not all(isinstance(text, str) for pair in texts.items() for text in pair):
        what = _MAPS.get(name, "texts to texts")
        raise UsageError(f"{name} must map {what}, not {value!r:.60}")
    return texts


def field_map_of(value: object) -> dict[str, str]:
    """``--map`` as a dict of fields to dotted paths, in which ``choices[0]`` becomes ``choices.0``. Raises
    `UsageError`, also for an unknown field."""
    field_map = texts_of("map", value)
    for name in field_map:
        if why := why_unknown(name):
            raise UsageError(f"map: {why}")
    return {name: _BRACKETS.sub(r".\1", path).removeprefix(".") for name, path in field_map.items()}


def shard_of(value: object) -> tuple[int, int] | None:
    """A shard as a pair (I, N), I from 0; None for the whole input. Raises `UsageError`."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise UsageError(f"shard must be a pair (I, N), not {value!r:.60}")
    number, count = count_of("shard I", value[0]), count_of("shard N", value[1])
    if number >= count:
        raise UsageError(f"shard {number}/{count} does not exist: I counts from 0 to N-1")
    return number, count
