"""``relfast warmup``."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import time

import click

from relfast import __version__
from relfast.engine.pool.launch import environment
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
    "ray": ("ray", "fsspec"),
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
    # the native units take as long as the others together: side by side, where there are two cores
    beside = _build_native() if not all(map(native.is_built, native.UNITS)) else None
    n = 0
    for module in pkgutil.walk_packages(relfast_kernels.__path__, "relfast_kernels."):
        loaded = importlib.import_module(module.name)
        if hasattr(loaded, "warm_up"):
            loaded.warm_up()
            n += 1
    if beside is not None:
        beside.wait()
    for unit in native.UNITS:
        if native.load(unit) is None:
            native.build(unit)
    return n


def _build_native() -> subprocess.Popen[bytes]:
    """A process that builds the native units; it ends with this one."""
    command = [sys.executable, "-P", "-m", "relfast_kernels.compiled", str(os.getpid())]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment())
