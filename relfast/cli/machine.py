"""``relfast embedder``, ``path`` and ``warmup``: models, folders and compiled kernels on this machine; and what
other commands compile.

A wheel has kernels; a clone has none until ``relfast warmup``. A small command goes on as plain Python. One
whose input is so large that plain Python takes longer than compiling builds first what it needs. Whether it
does is counted, not timed: records of each task by the seconds that one takes longer without a unit
(`relfast.tasks.base.Task.plain_seconds`), against those of building it. ``RELFAST_COMPILE=off`` forbids it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from relfast_kernels.caches import COMPILE_VARIABLE, OFF, base_directory
from relfast_kernels.compiled import making, native

from relfast import __version__
from relfast.cli.progress import ProgressReporter, Status
from relfast.engine.signature import version
from relfast.errors import OutputError, OutputExistsError, install_command
from relfast.support.system import usable_cores
from relfast.tasks import TASKS

if TYPE_CHECKING:
    from relfast.engine.files.score_files import Progress


@click.group(name="embedder")
def embedder() -> None:
    """Embedding models of ReAlign: what is on this machine, adding one, and what one is."""


@embedder.command(name="list")
def list_models() -> None:
    """The known models, and those on this machine."""
    from relfast.embed import models

    here = {model.name: model for model in models.known_models()}
    for name, known in models.KNOWN.items():
        if name in here:
            state = models.describe_model(here[name], "cpu")
        elif models.package_directory(name) is not None:
            state = "in an installed package; converted at its first use"
        else:
            state = f"not here: relfast embedder add {name}"
        click.echo(f"{name:12} {state}\n{'':12} {known.repository}: {known.summary}")
    for name, model in here.items():
        if name not in models.KNOWN:
            click.echo(f"{name:12} {models.describe_model(model, 'cpu')}\n{'':12} {model.origin}")


@embedder.command(name="add")
@click.argument("source", metavar="NAME|DIR")
@click.option("--name", metavar="NAME", help="What it is called here.  [default: the known or the directory's name]")  # fmt: skip
@click.option("--from", "take", type=click.Choice(["auto", "safetensors", "onnx"]), default="auto", show_default=True, help="Weights to take: our export of safetensors, or the source's own ONNX file.")  # fmt: skip
@click.option("--precision", type=click.Choice(["fp32", "fp16"]), default="fp32", show_default=True, help="fp16 is for GPUs, and runs on no CPU.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a model of that name.")
def add(source: str, name: str | None, take: str, precision: str, overwrite: bool) -> None:
    """Make a model known: a known NAME (from an installed package or the hub), or a checkpoint's DIR."""
    from relfast.embed import adding, models

    try:
        model = adding.add(source, name, take=take, precision=precision, overwrite=overwrite)  # type: ignore[arg-type]
    except OutputExistsError as error:
        # a known model with default options, which is on this machine already: nothing to do
        known = models.canonical_name(source) in models.KNOWN and not os.path.isdir(source)
        if not known or (name, take, precision) != (None, "auto", "fp32"):
            raise
        click.echo(f"{source} is here already (--overwrite makes it anew)", err=True)
        _describe(error.path)
        return
    _describe(model.path)


@embedder.command(name="info")
@click.argument("name", metavar="NAME|DIR", default="auto")
def info(name: str) -> None:
    """What a model is: its origin, sizes and hash. The default is the one that `auto` takes."""
    from relfast.embed.adding import resolve

    _describe(resolve(name).path)


def _describe(path: str) -> None:
    from relfast.embed import models

    model = models.read_model(Path(path))
    facts = {
        "name": model.name,
        "signature": models.describe_model(model, "cpu"),
        "directory": model.path,
        "origin": model.origin,
        "dimensions": str(model.dimensions),
        "longest input": f"{model.max_tokens} tokens",
        "pooling": "in the graph" if model.pooling == "graph" else model.pooling,
        "same bits in every batch": "yes, on a CPU" if model.batch_stable else "no",
        "hash": model.hash,
    }
    for key, value in facts.items():
        click.echo(f"{key:26} {value}")


PLACES: Final[Mapping[str, Callable[[], Path]]] = {
    "lm-eval": lambda: Path(__file__).parent.parent / "integrations" / "lm_eval" / "tasks",
    "verl": lambda: Path(__file__).parent.parent / "rewards" / "verl.py",
    "cache": base_directory,
}
"""Argument of ``relfast path`` → function that returns the path."""


@click.command(name="path")
@click.argument("what", type=click.Choice(list(PLACES)))
def path(what: str) -> None:
    """Say where something is: ``lm-eval``, the folder of tasks for lm-evaluation-harness's --include_path; ``verl``,
    the file for verl's reward.custom_reward_function.path; ``cache``, what holds kernels, models and vectors (it need not exist)."""
    click.echo(PLACES[what]())


_PACKAGES = ("numpy", "numba", "rdkit", "onnxruntime", "tokenizers", "orjson")
_EXTRAS = {
    "parquet": ("pyarrow",),
    "zstd": ("zstandard",),
    "report": ("matplotlib", "pandas", "jinja2", "scipy"),
    "run": ("openai",),
    "hub": ("huggingface_hub", "datasets"),
    "convert": ("onnx", "safetensors"),
    "math": ("math-verify",),
    "serve": ("fastapi", "uvicorn"),
    "ray": ("ray", "fsspec"),
}


@click.command(name="warmup")
@click.argument("units", nargs=-1, type=click.Choice(native.UNITS), metavar="[UNIT]...")
def warmup(units: tuple[str, ...]) -> None:
    """Compile and cache kernels, all or those of some UNITs; report versions and what is missing."""
    click.echo(f"relfast {__version__}, Python {sys.version.split()[0]}")
    click.echo("  " + ", ".join(f"{package} {version(package)}" for package in _PACKAGES))
    for extra, packages in _EXTRAS.items():
        missing = [package for package in packages if version(package) == "missing"]
        if missing:
            click.echo(f"  extra {extra}: not installed ({install_command(extra)})")
    started = time.perf_counter()
    compile_kernels(units or native.UNITS)
    done = ", ".join(units) or f"{len(native.UNITS)} units"
    click.echo(f"kernels: {done} ready in {time.perf_counter() - started:.1f} s")


def compile_kernels(units: Iterable[str] = native.UNITS) -> None:
    """Compile those of some units of kernels that are missing.

    Raises
    ------
    OutputError
        The compiled units cannot be written to the cache.
    """
    try:
        # a cache that is not used is an error below, if it is needed
        with warnings.catch_warnings(action="ignore"):
            missing = [unit for unit in units if native.load(unit) is None]
        for unit in missing:
            with contextlib.suppress(OSError):
                native.shared_library(unit).unlink()  # a file that cannot be loaded is damaged
        if missing:
            with ProgressReporter(quiet=False) as reporter:
                build(missing, reporter)
    except OSError as error:
        raise OutputError(native.cache().path, error.strerror or str(error)) from None
    making.clean_up()


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
