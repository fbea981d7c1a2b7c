"""`Comparison`, the result of `relfast.comparison.compare`, as plain data; and its tables for terminals, CSV,
Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, Final

from relfast.stats.intervals import Interval
from relfast.stats.paired import DifferenceMethod
from relfast.stats.sums import rounded
from relfast.tables import (
    Cell,
    csv_text,
    latex_escape,
    latex_table,
    markdown_table,
    markdown_text,
    number_cell,
    percent,
    percent_points,
    probability,
    share,
    signed,
    three_decimals,
)
from relfast.tasks import TASKS


def _plain(value: Any) -> Any:
    """A value of dicts and tuples as dicts and lists, so that an `Interval` is a list of two numbers."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is compared: the scored rows of one model.

    Attributes
    ----------
    name
        The run's name in tables.
    path
        File of its rows; None for rows in memory.
    signature
        Signature from the summary or journal beside the rows; None without them.
    rows, scored
        Number of rows, and of rows with a score.
    """

    name: str
    path: str | None
    signature: str | None
    rows: int
    scored: int


@dataclass(frozen=True, slots=True)
class Side:
    """A run's mean over the common prompts of one task, with its interval (None if none can be estimated)."""

    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Counts of the prompts of a task that form no pair: those in one run only, and those without a value of
    the metric in a run, most often because no sample has a score."""

    only_a: int = 0
    only_b: int = 0
    unscored_a: int = 0
    unscored_b: int = 0
    unscored_both: int = 0
    elsewhere: int = 0
    """Prompts that a third run lacks, or has no value for."""

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return sum(astuple(self))


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Run ``a`` compared with run ``b`` on the prompts of a task that they have in common.

    Attributes
    ----------
    task, a, b
        The task's name and the names of the runs.
    prompts
        Number of common prompts with a value of the metric in all runs.
    samples_a, samples_b
        Number of their samples with a value, in each run.
    side_a, side_b
        The means over these prompts of each prompt's mean over its samples.
    difference
        ``side_a.mean - side_b.mean``.
    error
        Standard error of the difference over prompts; None with a single prompt.
    interval, interval_method
        Interval of the difference (None where nothing tells its error, such as with a single prompt), and how
        it and ``p`` were made.
    p
        Two-sided p value of the hypothesis of no difference: less than 1 − level if and only if ``interval``
        leaves out 0; None without an interval.
    p_holm
        ``p`` after Holm's correction over all tasks and pairs of runs that were compared: what stays
        significant among many.
    wins, losses, ties
        Number of prompts in which ``a`` has the higher, the lower, the same value.
    gained, lost
        Number of prompts that ``a`` has right more often than ``b``, and less often, whatever the metric.
    left_out
        Counts of the prompts that are not compared.
    """

    task: str
    a: str
    b: str
    prompts: int
    samples_a: int
    samples_b: int
    side_a: Side
    side_b: Side
    difference: float
    error: float | None
    interval: Interval | None
    interval_method: DifferenceMethod
    p: float | None
    p_holm: float | None
    wins: int
    losses: int
    ties: int
    gained: int
    lost: int
    left_out: LeftOut


@dataclass(frozen=True, slots=True)
class Flip:
    """A prompt that one run has right more often than the other: ``right_a`` of ``scored_a`` samples against
    ``right_b`` of ``scored_b``.

    ``right`` is the name of the run that has it right more often; ``index_a`` and ``index_b`` are the
    ``index`` of the prompt's first rows in their runs.
    """

    task: str
    id: Any
    a: str
    b: str
    right: str
    right_a: int
    scored_a: int
    right_b: int
    scored_b: int
    index_a: int
    index_b: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; the keys are the fields' names."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs compared with each other, task by task.

    Attributes
    ----------
    metric
        ``correct``, ``reward`` or a metric of the rows.
    level
        Confidence level of all intervals.
    runs
        The runs in the order in which they were given.
    tasks
        A `TaskComparison` for each pair of runs and each common task.
    flips
        The first ``max_flips`` prompts that one run has right more often than the other; ``n_flips`` counts
        all.
    notes
        What a reader of the numbers must know: differing signatures, records left out.
    """

    metric: str
    level: float
    runs: tuple[Run, ...]
    tasks: tuple[TaskComparison, ...]
    n_flips: int = 0
    flips: tuple[Flip, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[TaskComparison]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: what ``relfast compare -f json`` writes. The keys are the fields' names."""
        made: dict[str, Any] = _plain(asdict(self))
        return made

    def to_csv(self) -> str:
        """The text of a CSV file, with a row for each task and pair of runs. Names are written so that no
        spreadsheet takes them for formulas."""
        return csv_text(CSV_HEADER, csv_rows(self))

    def to_markdown(self) -> str:
        """A Markdown table of means, differences, intervals and p, and below it methods and notes."""
        table = markdown_table(header_of(self), rows_of(self), text_columns=text_columns(self))
        return table + "".join(f"\n{markdown_text(line)}\n" for line in (methods(self), *self.notes))

    def to_latex(self) -> str:
        """A table for a paper (needs ``booktabs``): means with their intervals; the best and what is not
        distinguishable from it in bold."""
        return _latex(self)

    def __repr__(self) -> str:
        runs = ", ".join(run.name for run in self.runs)
        rows = "; ".join(
            f"{item.task}{'' if len(self.runs) == 2 else f' {item.a} − {item.b}'} {signed(item.difference)}"
            for item in self.tasks[:6]
        )
        more = f"; {len(self) - 6} more" if len(self) > 6 else ""
        return f"<Comparison of {runs} by {self.metric}: {rows}{more}>"


_INTERVALS: Final = {
    "bonett-price": "Bonett and Price's over prompts",
    "student": "Student's over prompts",
    "bootstrap": "the paired bootstrap's over prompts",
}


def letters_of(comparison: Comparison) -> dict[str, str]:
    """Letters for the runs, where their names are too long for a terminal: name → letter."""
    names = [run.name for run in comparison.runs]
    return {name: chr(ord("A") + at) if at < 26 else f"#{at + 1}" for at, name in enumerate(names)}


def header_of(
    comparison: Comparison, called: Mapping[str, str] | None = None, *, outcomes: bool = True
) -> list[str]:
    """The headings for `rows_of`; ``called`` maps the runs' names to the names to show, and with ``outcomes``
    there are the numbers of prompts that the first run has won and lost, and of ties."""
    names = [called[run.name] if called else run.name for run in comparison.runs]
    sides = ["prompts", *names] if len(names) == 2 else ["runs", "prompts", "first", "second"]
    level = f"{100 * comparison.level:g} % interval"
    return ["task", *sides, "diff.", level, "p", *(["win/loss/tie"] if outcomes else [])]


def rows_of(
    comparison: Comparison,
    called: Mapping[str, str] | None = None,
    *,
    outcomes: bool = True,
    percents: bool = False,
) -> list[list[str]]:
    """A row of texts for each task and pair of runs; ``percents``: shares and differences in percent."""
    shown, change = (share, percent_points) if percents else (three_decimals, signed)
    rows = []
    for item in comparison:
        runs = [pair_of(item, called)] if len(comparison.runs) > 2 else []
        means = [shown(item.side_a.mean), shown(item.side_b.mean), change(item.difference)]
        bounds = ", ".join(map(change, item.interval or ()))
        row = [item.task, *runs, f"{item.prompts:,}", *means, f"[{bounds}]" if bounds else "–", marked(item)]
        rows.append(row + ([f"{item.wins:,}/{item.losses:,}/{item.ties:,}"] if outcomes else []))
    return rows


def pair_of(item: TaskComparison, called: Mapping[str, str] | None = None) -> str:
    """The names of the two runs that are compared: ``A − B``."""
    a, b = (called[name] if called else name for name in (item.a, item.b))
    return f"{a} − {b}"


def text_columns(comparison: Comparison) -> int:
    """How many of the first columns are texts, not numbers."""
    return 1 if len(comparison.runs) == 2 else 2


SIGNIFICANT: Final = 0.05


def marked(item: TaskComparison) -> str:
    """p as it is shown, with a star if it stays significant among all that was compared."""
    if item.p is None or item.p_holm is None:
        return "–"
    return probability(item.p) + ("*" if item.p_holm < SIGNIFICANT else "")


def methods(comparison: Comparison) -> str:
    """How intervals and p values were made, in words."""
    made = "; ".join(dict.fromkeys(_INTERVALS[item.interval_method] for item in comparison))
    many = f" after Holm's correction over {len(comparison)} comparisons" if len(comparison) > 1 else ""
    return f"Intervals and p: {made}. * p < {SIGNIFICANT}{many}."


CSV_HEADER: Final = (
    "task", "a", "b", "metric", "prompts", "samples_a", "samples_b",
    "mean_a", "mean_a_low", "mean_a_high", "mean_b", "mean_b_low", "mean_b_high",
    "difference", "error", "low", "high", "level", "interval_method", "p", "p_holm",
    "wins", "losses", "ties", "gained", "lost", "left_out",
)  # fmt: skip


def csv_rows(comparison: Comparison) -> list[list[object]]:
    """All counts and estimates, a row for each task and pair of runs, in the columns `CSV_HEADER`."""
    rows = (_csv_row(comparison, item) for item in comparison)
    return [[rounded(value) if isinstance(value, float) else value for value in row] for row in rows]


def _csv_row(comparison: Comparison, item: TaskComparison) -> list[object]:
    values: dict[str, object] = {"metric": comparison.metric, "level": comparison.level}
    values |= {"left_out": item.left_out.total}
    values |= zip(("low", "high"), item.interval or (None, None), strict=True)
    for name, side in (("mean_a", item.side_a), ("mean_b", item.side_b)):
        low, high = side.interval or (None, None)
        values |= {name: side.mean, f"{name}_low": low, f"{name}_high": high}
    return [values[name] if name in values else getattr(item, name) for name in CSV_HEADER]


def _latex(comparison: Comparison) -> str:
    """A table of tasks × runs, see `best_in_bold`. For two runs it includes their differences; for
    more runs a second table has them."""
    runs = [run.name for run in comparison.runs]
    # a run's mean is the same in every pair of runs: all pairs are among samples common to all runs
    means = {(item.task, item.a): item.side_a for item in comparison}
    means |= {(item.task, item.b): item.side_b for item in comparison}
    percents = _is_share(comparison)
    unit = " (%)" if percents else ""
    tasks = list(dict.fromkeys(item.task for item in comparison))
    two = len(runs) == 2
    of_task = {item.task: item for item in comparison}
    ps = {(item.task, *sorted((item.a, item.b))): item.p for item in comparison}
    rows: list[list[str | Cell]] = []
    for task in tasks:
        sides = [means.get((task, run)) for run in runs]
        better = _higher_is_better(task, comparison.metric)

        def alike(at: int, other: int, task: str = task) -> bool:
            p = ps.get((task, *sorted((runs[at], runs[other]))))
            return p is not None and p >= SIGNIFICANT

        row: list[str | Cell] = [
            task,
            *best_in_bold(sides, alike, percents=percents, higher_is_better=better),
        ]
        if two:
            row += _difference(of_task[task], percents)
        rows.append(row)
    header = ["Task", *(f"{run}{unit}" for run in runs), *(["Difference", "$p$"] if two else [])]
    cells = [Cell(latex_escape(name)) if name != "$p$" else Cell(name) for name in header]
    text = latex_table(cells, rows)
    if two:
        return text + _footnote(comparison)
    pairs: list[list[str | Cell]] = [
        [item.task, pair_of(item), *_difference(item, percents)] for item in comparison
    ]
    second: list[str | Cell] = ["Task", "Runs", f"Difference{unit}", Cell("$p$")]
    return text + "\n" + latex_table(second, pairs, text_columns=2) + _footnote(comparison)


def _footnote(comparison: Comparison) -> str:
    """A LaTeX comment on metric and methods, since the caption is left to the author."""
    level = f"{100 * comparison.level:g} %"
    text = f"metric {comparison.metric}; means with {level} intervals; {BOLD}. {methods(comparison)}"
    return f"% {' '.join(text.split())}\n"


def _is_share(comparison: Comparison) -> bool:
    sides = [side for item in comparison for side in (item.side_a, item.side_b)]
    return comparison.metric == "correct" or all(
        0 <= value <= 1 for side in sides for value in (side.mean, *(side.interval or ()))
    )


def best_in_bold(
    sides: Sequence[Side | None],
    alike: Callable[[int, int], bool],
    *,
    percents: bool,
    higher_is_better: bool | None = True,
) -> list[str | Cell]:
    """Table cells with means and their intervals. Bold are the best mean and what is not distinguishable from
    it; nothing is if that is all, or if neither direction is better. ``alike`` says of two sides, by their
    places, whether they are not distinguishable."""
    number = percent if percents else three_decimals
    places = [place for place, side in enumerate(sides) if side is not None]
    means = {place: side.mean for place, side in enumerate(sides) if side is not None}
    marked: set[int] = set()
    if higher_is_better is not None and means:
        best = (max if higher_is_better else min)(places, key=means.__getitem__)
        shown = {place: number(mean) for place, mean in means.items()}
        marked = {place for place in places if shown[place] == shown[best] or alike(best, place)}
    bold = marked if len(marked) < len(places) else set()
    return [
        "--" if side is None else number_cell(side.mean, side.interval, shown=number, bold=place in bold)
        for place, side in enumerate(sides)
    ]


BOLD: Final = "bold: the best, and what is not distinguishable from it at 5 %"


def _higher_is_better(task: str, metric: str) -> bool | None:
    """Whether higher values of a metric are better; None if neither direction is."""
    known = TASKS.get(task)
    if known is None or metric not in known.metric_by_name:
        return True  # correct, reward
    return known.metric_by_name[metric].higher_is_better


def _difference(item: TaskComparison, percents: bool) -> list[str | Cell]:
    """Table cells: the difference with its interval, and p, with a star if it stays significant among
    many."""

    def number(value: float) -> str:
        text = percent(value) if percents else three_decimals(value)
        return text if float(text) else text.removeprefix("-")

    star = "^{*}" if marked(item).endswith("*") else ""
    value = number(item.difference)
    sign = "+" if not value.startswith("-") and float(value) else ""
    text = f"${sign}{value}{star}$"
    if item.interval is not None:
        text += rf" {{\small[${number(item.interval.low)}$, ${number(item.interval.high)}$]}}"
    p = "--" if item.p is None else f"${probability(item.p)}$"
    return [Cell(text), Cell(p)]
