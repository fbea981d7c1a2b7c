"""What a run is asked to do: everything a worker must know besides the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from relfast.engine import settings
from relfast.errors import UsageError
from relfast.formats import DIALECTS
from relfast.parameters import Choice, Flag
from relfast.tasks import get_task
from relfast.tasks.options import AllOptions

DEFAULT_TIMEOUT: Final = 5.0
"""Seconds a record may take; REL-C2's published substructure search has 5 s."""

MAX_LINE_BYTES: Final = 16 * 2**20
"""Longest line read; the longest published record has 20 kB, the longest real response 500 kB."""


@dataclass(frozen=True, slots=True)
class Job:
    """The settings of a run. Immutable and picklable: it is sent to every worker.

    Raises `UsageError` for a value that cannot be used.

    Attributes
    ----------
    options
        What decides a score.
    task
        Task of records that do not say.
    rewards
        Task name → metric that becomes ``reward``, where it is not the task's own.
    details
        Put the texts (``pred``, ``gold``) into ``metrics``.
    timeout
        Seconds a record may take, up to `settings.MAX_TIMEOUT`; 0, None or infinity = no limit, kept as 0.
    dialect
        Input dialect, or ``auto``.
    field_map
        Field → dotted path in the input row (``--map``).
    data
        Files with gold records to join on ``id``.
    filter
        Filter of lm-evaluation-harness whose rows are scored; None: the first that an input names.
    max_line_bytes
        Longer lines are skipped, with a row that says so.
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

    def __post_init__(self) -> None:
        for name, value in (
            ("timeout", settings.timeout_of(self.timeout)),
            ("max_line_bytes", settings.count_of("max_line_bytes", self.max_line_bytes, 1)),
            ("details", Flag().check("details", self.details)),
            ("dialect", Choice(("auto", *DIALECTS)).check("input_format", self.dialect)),
            ("field_map", settings.texts_of("map", self.field_map)),
        ):
            object.__setattr__(self, name, value)

    def decides(self) -> dict[str, Any]:
        """All that can change a row, for the check on resume; what is in ``data`` is looked at there."""
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


def check_rewards(rewards: Mapping[str, str]) -> dict[str, str]:
    """Canonical task names → metrics.

    Raises
    ------
    UnknownTaskError
        A task nobody knows.
    UsageError
        A metric the task does not have.
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
