"""Starting processes of our own. Imports the standard library only, and what does so too."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relfast_kernels.compiled.cache import QUIET_VARIABLE

from relfast import interrupts

if TYPE_CHECKING:
    import subprocess


def start(module: str, *arguments: int, stdin: int, **more: Any) -> subprocess.Popen[bytes]:
    """``python -m MODULE OUR_PID ARGUMENTS…``: by exec, so that nothing of the caller is in it.

    Raises
    ------
    OSError
        It cannot be started.
    """
    import subprocess  # loads a dozen modules; a quiet command starts nobody

    if not sys.executable:
        raise OSError("this interpreter does not know its own program (sys.executable is empty)")
    # -P: the caller's directory may hold a module that shadows one of ours. -S: the caller's path is
    # handed over whole, so that looking for site packages again (20 ms) would find nothing new.
    command = [sys.executable, "-P", "-S", "-m", module, *map(str, (os.getpid(), *arguments))]
    # a child inherits what its starter blocks: Ctrl-C while it imports must not fill the terminal with its
    # traceback. It arranges its signals itself when it is up.
    with interrupts.uninterrupted():
        return subprocess.Popen(command, stdin=stdin, env=environment(), **more)


def environment() -> dict[str, str]:
    """The caller's environment, with every package findable where the caller finds it."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(import_path()),
        # numpy's linear algebra would start a thread per core in each worker, and none is ever used
        "OPENBLAS_NUM_THREADS": "1",
        # the pool says it, once for all of them
        QUIET_VARIABLE: "1",
    }


def import_path() -> list[str]:
    """Where a worker finds modules: the caller's path, after every place where there are packages of ours."""
    here = Path(__file__).parent.parent.parent.parent
    roots = [str(here), str(here / "kernels")] if (here / "kernels").is_dir() else [str(here)]
    return list(dict.fromkeys([*roots, *(entry or os.getcwd() for entry in sys.path)]))
