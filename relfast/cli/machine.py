"""``relfast embedder``, ``path`` and ``warmup``: models, folders and compiled kernels on this machine."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click
from relfast_kernels.caches import base_directory

from relfast import __version__
from relfast.cli.compiling import build
from relfast.cli.progress import ProgressReporter
from relfast.engine.signature import version
from relfast.errors import OutputError, OutputExistsError, install_command


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
        known = models.canonical_name(source) in models.KNOWN and not Path(source).is_dir()
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
def warmup() -> None:
    """Compile and cache kernels; report versions and what is missing."""
    click.echo(f"relfast {__version__}, Python {sys.version.split()[0]}")
    click.echo("  " + ", ".join(f"{package} {version(package)}" for package in _PACKAGES))
    for extra, packages in _EXTRAS.items():
        missing = [package for package in packages if version(package) == "missing"]
        if missing:
            click.echo(f"  extra {extra}: not installed ({install_command(extra)})")
    started = time.perf_counter()
    n = compile_kernels()
    click.echo(f"kernels: {n} units ready in {time.perf_counter() - started:.1f} s")


def compile_kernels() -> int:
    """Compile the missing units of kernels. Returns the number of all units.

    Raises
    ------
    OutputError
        The compiled units cannot be written to the cache.
    """
    from relfast_kernels.compiled import making, native

    try:
        # a cache that is not used is an error below, if it is needed
        with warnings.catch_warnings(action="ignore"):
            missing = [unit for unit in native.UNITS if native.load(unit) is None]
        for unit in missing:
            with contextlib.suppress(OSError):
                native.shared_library(unit).unlink()  # a file that cannot be loaded is damaged
        if missing:
            with ProgressReporter(quiet=False) as reporter:
                build(missing, reporter)
    except OSError as error:
        raise OutputError(native.cache().path, error.strerror or str(error)) from None
    making.clean_up()
    return len(native.UNITS)
