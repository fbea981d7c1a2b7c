"""The ``relfast`` command: starts its workers before it loads itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def _workers(arguments: Sequence[str]) -> int:
    """How many workers ``relfast score`` is going to use, as far as can be seen at a glance."""
    if not arguments or arguments[0] != "score" or {"-h", "--help"} & set(arguments):
        return 0
    for at, argument in enumerate(arguments):
        value = argument.partition("=")[2] if argument.startswith("--workers=") else None
        if argument == "--workers" and at + 1 < len(arguments):
            value = arguments[at + 1]
        if value is not None:
            return min(int(value), 256) if value.isdecimal() else 0
    return len(os.sched_getaffinity(0))


def main() -> None:
    """Entry point of the ``relfast`` script and of ``python -m relfast``."""
    from relfast.engine.launch import dismiss, prestart

    # numpy's linear algebra would start a thread per core, and the command never uses one
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    prestart(_workers(sys.argv[1:]))
    try:
        from relfast.cli.main import main as run

        run()
    finally:
        dismiss()


if __name__ == "__main__":
    main()
