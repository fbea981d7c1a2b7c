"""A cache of kernels that is torn, or on a disk that is full, is told in one line and costs time only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALL = (
    "import numpy as np\n"
    "from relfast_kernels.text.find import same_bytes\n"
    "text = np.frombuffer(b'abab', np.uint8)\n"
    "print(same_bytes(text, 0, 2, text, 2, 4))\n"
)


def called(cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RELFAST_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("RELFAST_CACHE_QUIET", None)
    return subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, env=environment)


@pytest.mark.compiled
@pytest.mark.parametrize("kept", [0, 10], ids=["empty", "ten bytes"])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_torn_files_are_compiled_anew(tmp_path: Path, suffix: str, kept: int) -> None:
    tmp_path.chmod(0o700)
    first = called(tmp_path)
    files = list(tmp_path.rglob(f"*{suffix}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:kept])
    again = called(tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert again.stderr.count("kernels are compiled anew") == 1
    assert called(tmp_path).stderr == ""
