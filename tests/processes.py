"""Python in a process of its own, with the sources of this checkout and nothing that pytest adds to the path."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, Final

from corpora import ROOT
from patience import PATIENCE

PYTHONPATH: Final = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])


def python(
    *arguments: object, environment: dict[str, str] | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    """What a process says, and its exit status; its environment is this one's with what is given."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": PYTHONPATH, **(environment or {})},
        **{"capture_output": True, "text": True, "check": False, "timeout": PATIENCE, **more},
    )
