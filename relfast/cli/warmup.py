"""``relfast warmup``."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time

import click

from relfast import __version__
from relfast.engine.signature import version
from relfast.errors import OutputError, install_command

_PACKAGES = ("numpy", "numba", "rdkit", "onnxruntime", "tokenizers", "orjson")
_EXTRAS = {
    "parquet": ("pyarrow",),
    "zstd": ("zstandard",),
    "report": ("matplotlib", "seaborn", "pandas", "jinja2", "scipy"),
    "run": ("openai", "tenacity"),
    "hub": ("huggingface_hub", "datasets"),
    "convert": ("onnx", "safetensors"),
    "math": ("math-verify",),
    "serve": ("fastapi", "uvicorn"),
}


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
    click.echo(f"kernels: {n} modules ready in {time.perf_counter() - started:.1f} s")


def compile_kernels() -> int:
    """Call every kernel module's ``warm_up``; the number of modules that have one.

    Raises
    ------
    OutputError
        What is compiled cannot be kept.
    """
    import relfast_kernels
    from relfast_kernels.compiled import native

    try:
        native.cache().check(make=True)
    except OSError as error:
        raise OutputError(native.cache().path, error.strerror or str(error)) from None
    n = 0
    for module in pkgutil.walk_packages(relfast_kernels.__path__, "relfast_kernels."):
        loaded = importlib.import_module(module.name)
        if hasattr(loaded, "warm_up"):
            loaded.warm_up()
            n += 1
    for unit in native.UNITS:
        if native.load(unit) is None:
            native.build(unit)
    return n
