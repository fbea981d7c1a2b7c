"""Compiles kernels for a command: all for ``relfast warmup``, else those without which it would take longer.

A wheel has kernels; a clone has none until ``relfast warmup``. A small command goes on as plain Python. One
whose input is so large that plain Python takes longer than compiling builds first what it needs. Whether it
does is counted, not timed: records of each task by the seconds that one takes longer without a unit
(`relfast.tasks.base.Task.plain_seconds`), against those of building it. ``RELFAST_COMPILE=off`` forbids it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from relfast_kernels.caches.cache import COMPILE_VARIABLE, OFF
from relfast_kernels.compiled import making, native

from relfast.cli.progress import ProgressReporter, Status
from relfast.support.cores import usable_cores
from relfast.tasks import TASKS

if TYPE_CHECKING:
    from relfast.engine.files.score_files import Progress

_LEAST_SECONDS = min(map(making.seconds_of, native.UNITS))


class Compiling:
    """What a command builds before it goes on. ``quiet``: neither progress nor what could not be built."""

    def __init__(self, reporter: ProgressReporter, *, quiet: bool = False) -> None:
        self._reporter, self._quiet = reporter, quiet
        self._asked = os.environ.get(COMPILE_VARIABLE) == OFF
        self._missing: list[str] | None = None

    def of_run(self, state: Progress) -> None:
        """Called after each block of a run: build units without which what is left of its input takes longer
        than building them. That is taken to be like what has been read, and as much, if its size is unknown.
        """
        known = state.total_bytes and state.done_bytes
        more = state.total_bytes / state.done_bytes - 1 if known else 1.0
        plain: defaultdict[str, float] = defaultdict(float)
        for name, n_rows in state.rows_by_task().items():
            for unit, seconds in TASKS[name].plain_seconds if name in TASKS else ():
                plain[unit] += more * n_rows * seconds
        self.worth(plain)

    def worth(self, plain: Mapping[str, float]) -> None:
        """Build the missing ones of units without which a command would take these seconds longer, where
        that is longer than building takes. What cannot be built is told, and not tried again."""
        if self._asked or all(seconds <= _LEAST_SECONDS for seconds in plain.values()):
            return
        if self._missing is None:
            self._missing = native.missing()
        units = [unit for unit in self._missing if plain.get(unit, 0.0) > making.seconds_of(unit)]
        if not units:
            return
        self._missing = [unit for unit in self._missing if unit not in units]
        if not self._quiet:
            seconds = sum(map(making.seconds_of, units)) / min(len(units), usable_cores())
            self._reporter.say(
                f"kernels that are missing ({', '.join(units)}) are compiled first, once a machine, which takes"
                f" about {seconds:.0f} s: without, this would take longer ({COMPILE_VARIABLE}={OFF}: go on so)"
            )
        try:
            build(units, self._reporter)
        except OSError as error:
            if not self._quiet:
                self._reporter.say(f"{error.strerror or error}; rows are the same, but take longer")


def build(units: Iterable[str], reporter: ProgressReporter) -> None:
    """Build units in children of this process, with progress. Raises as `making.make`."""
    wanted: Sequence[str] = list(units)

    def show(made: making.Progress) -> None:
        done = f": {made.done} of {made.functions} functions" if made.done else ""
        left = None if made.left < 0 else made.left
        reporter.update(lambda: Status([f"kernels {made.unit}{done}"], made.share, left))

    making.make(wanted, usable_cores(), tell=show)
    native.look_again()
