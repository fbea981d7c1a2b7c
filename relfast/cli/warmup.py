"""``relfast warmup``."""

from __future__ import annotations

import sys
import time
import warnings

import click
from relfast_kernels.compiled.making import Progress

from relfast import __version__
from relfast.cores import usable_cores
from relfast.engine.signature import version
from relfast.errors import OutputError, install_command

_PACKAGES = ("numpy", "numba", "rdkit", "onnxruntime", "tokenizers", "orjson")
_EXTRAS = {
    "parquet": ("pyarrow",),
    "zstd": ("zstandard",),
    "report": ("matplotlib", "pandas", "jinja2", "scipy"),
    "run": ("openai", "tenacity"),
    "hub": ("huggingface_hub", "datasets"),
    "convert": ("onnx", "safetensors"),
    "math": ("math-verify",),
    "serve": ("fastapi", "uvicorn"),
    "ray": ("ray", "fsspec"),
}

_CLEAR = "\r\x1b[K"
_EVERY_SECONDS = 0.2


@click.command(name="warmup")
def command() -> None:
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
    """Build the kernels' units that are missing; how many there are.

    Raises
    ------
    OutputError
        What is compiled cannot be kept.
    """
    from relfast_kernels.compiled import native

    try:
        with warnings.catch_warnings(
            action="ignore"
        ):  # a cache that is not used is an error below, if needed
            missing = [unit for unit in native.UNITS if native.load(unit) is None]
        if missing:
            native.check_room()
            for unit in missing:
                native.remove(unit)  # what cannot be loaded is damaged
            with _Shown() as shown:
                native.make(missing, usable_cores(), tell=shown)
    except OSError as error:
        raise OutputError(native.cache().path, error.strerror or str(error)) from None
    native.clean_up()
    return len(native.UNITS)


class _Shown:
    """Tells on standard error how far compiling is: a line that is rewritten on a terminal, else one a unit."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._said = 0.0

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            click.echo(_CLEAR, nl=False, err=True)

    def __call__(self, made: Progress) -> None:
        left = f", about {made.left:.0f} s left" if made.left >= 1 else ""
        share = f"{made.share:.0%} of all kernels{left}"
        if not made.functions:
            click.echo(f"{_CLEAR * self._live}  {made.unit} compiled; {share}", err=True)
        elif self._live and (made.done == made.functions or time.monotonic() - self._said > _EVERY_SECONDS):
            self._said = time.monotonic()
            click.echo(
                f"{_CLEAR}  {made.unit}: {made.done} of {made.functions} functions; {share}",
                nl=False,
                err=True,
            )
