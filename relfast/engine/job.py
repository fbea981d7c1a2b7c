"""`Job`: the settings of a run, which is all that a worker must know besides the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Unpack

from relfast_kernels.layouts import ALL_IDS_REPEAT, NUMBERS_REPEAT

from relfast.engine import settings
from relfast.engine.keywords import JobKeywords, OptionKeywords
from relfast.engine.settings import MAX_LINE_BYTES
from relfast.errors import UsageError, did_you_mean
from relfast.formats import DIALECTS
from relfast.parameters import Choice, Flag, check_parameters, parameters_of
from relfast.tasks import TASKS, get_task
from relfast.tasks.options import AllOptions

DEFAULT_TIMEOUT: Final = 6.0
"""Default deadline of a record in seconds; REL-C2's published substructure search has 5 s of them."""


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
        Seconds a record may take, up to `settings.MAX_TIMEOUT`; 0, None or infinity = no limit, kept as 0.
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
            ("timeout", settings.timeout_of(self.timeout)),
            ("max_line_bytes", settings.count_of("max_line_bytes", self.max_line_bytes, 1)),
            ("details", Flag().check("details", self.details)),
            ("dialect", Choice(("auto", *DIALECTS)).check("input_format", self.dialect)),
            ("field_map", settings.field_map_of(self.field_map)),
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
    return AllOptions(**check_parameters(AllOptions, given))


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
    settings.check_compiling()
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
    for name, metric in settings.texts_of("rewards", rewards).items():
        task = get_task(name)
        if metric not in task.reward_metrics:
            raise UsageError(
                f"{task.name} has no numeric metric {metric!r}; it has {', '.join(task.reward_metrics)}"
            )
        checked[task.name] = metric
    return checked
