"""What nothing can be faster than, or claims to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_DECODE = """
import sys, orjson
with open(sys.argv[1], "rb") as file:
    for line in file:
        orjson.loads(line)
"""


def decode(path: Path) -> None:
    """The decode floor: one process, every line through orjson, nothing else."""
    subprocess.run([sys.executable, "-c", _DECODE, str(path)], check=True)
