"""``relfast warmup``."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Sequence

import click

from relfast import __version__
from relfast.cores import usable_cores
from relfast.engine.pool.launch import environment
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

_SECONDS = {"text": 80, "smiles": 45, "mcs": 30, "maze": 30}
"""What native units take to compile, about."""


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
    # native units take a minute each, the other kernels as long as one of them: side by side on all cores
    beside = [_build_native(units) for units in _shares(usable_cores())]
    n = 0
    for module in pkgutil.walk_packages(relfast_kernels.__path__, "relfast_kernels."):
        loaded = importlib.import_module(module.name)
        if hasattr(loaded, "warm_up"):
            loaded.warm_up()
            n += 1
    for process in beside:
        process.wait()
    for unit in native.UNITS:
        if native.load(unit) is None:
            native.build(unit)
    return n


def _shares(processes: int) -> list[list[str]]:
    """The native units that are missing, dealt out to processes: each to the one that has least to do."""
    from relfast_kernels.compiled import native

    shares: list[list[str]] = [[] for _ in range(processes)]
    for unit in sorted(native.UNITS, key=_weight, reverse=True):
        if not native.is_built(unit):
            min(shares, key=lambda share: sum(map(_weight, share))).append(unit)
    return [share for share in shares if share]


def _weight(unit: str) -> int:
    return _SECONDS.get(unit, 10)


def _build_native(units: Sequence[str]) -> subprocess.Popen[bytes]:
    """A process that builds native units; it ends with this one."""
    command = [sys.executable, "-P", "-m", "relfast_kernels.compiled", str(os.getpid()), *units]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment())
