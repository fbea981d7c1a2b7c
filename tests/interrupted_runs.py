"""Runs ended at random moments, and continued: `python tests/interrupted_runs.py 60 [--seed SEED]`.

Each run scores a dump of all REL tasks with workers, is ended by SIGKILL, SIGINT or SIGTERM at a random moment, up to
three times, sometimes over an old output, and goes on with --resume. Rows must be those of a run without a signal, no
process and no draft may be left. The exit status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import random
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from engine_runs import Run, honest, scored_here, write_dump

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
SUFFIXES = (".jsonl", ".jsonl.gz", ".csv")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("ends", type=int)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    given = parser.parse_args()
    rng, found, wrong = random.Random(given.seed), Counter[str](), 0
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        dump = write_dump(here / "dump.jsonl", honest(6_000, given.seed, padding=1_000))
        expected = {suffix: scored_here(dump, here / f"quiet{suffix}") for suffix in SUFFIXES}
        began = time.monotonic()
        Run(dump, "-o", here / "first.jsonl", "-q", "--workers", 2).wait()
        whole = time.monotonic() - began
        number = 0
        while found.total() < given.ends:
            number += 1
            suffix = rng.choice(SUFFIXES)
            out = here / f"{number}" / f"rows{suffix}"
            out.parent.mkdir()
            how = rng.choice(("--resume", "--overwrite"))
            if how == "--overwrite":
                out.write_bytes(expected[suffix])
            for _ in range(rng.randint(1, 3)):
                run = Run(dump, "-o", out, "-q", "--workers", 2, how)
                time.sleep(rng.uniform(0, whole))
                signum = rng.choice(SIGNALS)
                run.kill(signum)
                code = run.wait().returncode
                found[f"{signal.Signals(signum).name} {'too late' if code == 0 else 'in time'}"] += 1
                wrong += bool(run.left())
                how = "--resume" if Path(f"{out}.journal").exists() or not out.exists() else how
            done = Run(dump, "-o", out, "-q", "--workers", 2, how).wait()
            names = {path.name for path in out.parent.iterdir()}
            if (
                done.returncode
                or out.read_bytes() != expected[suffix]
                or names != {out.name, f"{out.name}.journal"}
            ):
                wrong += 1
                print(f"differs: run {number}, {suffix}, {sorted(names)}, {done.stderr.decode()}")
            print(f"{dict(found)}, {number} outputs, {wrong} wrong", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
