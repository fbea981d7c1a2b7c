"""``make fuzz``: the tests that make up their inputs, with fresh seeds, until time is over or one fails.

    python tests/fuzz.py MINUTES [pytest options]

What it finds becomes an ``@example`` or a case of the test before it is mended.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(minutes: float, options: list[str]) -> int:
    end, rounds = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < end:
        seed = secrets.randbelow(10**9)
        command = [sys.executable, "-m", "pytest", "-m", "fuzz", "-q", f"--hypothesis-seed={seed}", *options]
        environment = {**os.environ, "RELFAST_FUZZ_SEED": str(seed)}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            print(f"found with seed {seed}; again: RELFAST_FUZZ_SEED={seed} {' '.join(command[1:])}")
            return 1
        rounds += 1
    print(f"{rounds} rounds with fresh seeds: nothing found")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("minutes", type=float)
    given, options = parser.parse_known_args()
    raise SystemExit(main(given.minutes, options))
