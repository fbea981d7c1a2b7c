"""What relfast promises, with the releases that are installed: `python tests/promised.py OTHER [UNIT...]`.

Made for the lowest ones that pyproject.toml allows (`make test-lowest`), and needs nothing but them. The demo is scored
in both policies, and its rows are those that the Python OTHER writes, whose releases are others; records of each task
are generated, a reward function is called, a server asked, a stand-in model run and reported, tables are written.
Kernels run as plain Python but for UNITs, which are compiled first (`all`: everything).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parents[1] / "relfast/data/rel_demo.jsonl.gz"
TASKS = ("rel-a1", "rel-a2", "rel-a3", "rel-a4", "rel-b1", "rel-c1", "rel-c2", "rel-c3", "seqbench")
WRITTEN = "atomProp"
"""RDKit's releases differ in whether they can write the molecule of this response, and the row says so."""

REWARD = """
from relfast.rewards.trl import make_reward
reward = make_reward()
print(reward(prompts=["", ""], completions=["<Yes>", "<No>"], task=["REL-C1"] * 2, answer=['{"label": "Yes"}'] * 2))
"""
COMPILE = """
import sys
from relfast_kernels.compiled import making, native
units = sys.argv[1:] if sys.argv[1:] != ["all"] else list(native.UNITS)
making.make(units)
assert all(native.load(unit) for unit in units)
"""


def run(*arguments: object, python: str = sys.executable, seconds: float = 1_800) -> str:
    """What a run of Python says on standard output; tells how long it took."""
    started = time.monotonic()
    done = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, timeout=seconds)
    print(f"{time.monotonic() - started:6.1f} s  {' '.join(map(str, arguments))[:90]!r}", flush=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}exit status {done.returncode}")
    return done.stdout


def relfast(*arguments: object, python: str = sys.executable) -> str:
    return run("-m", "relfast", *arguments, python=python)


def scored(python: str, policy: str, folder: Path) -> list[str]:
    """The rows of the demo, without those whose response only some releases of RDKit can write."""
    output = folder / f"{policy}.jsonl"
    # kernels in plain Python take their time beside other jobs
    options = ("--policy", policy, "--timeout", 300, "--overwrite")
    relfast("score", DEMO, "-o", output, *options, python=python)
    rows = output.read_text().splitlines()
    responses: dict[tuple[int, int], str] = {}
    for index, line in enumerate(gzip.decompress(DEMO.read_bytes()).splitlines()):
        texts = json.loads(line)["response"]
        for sample, text in enumerate(texts if isinstance(texts, list) else [texts]):
            responses[index, sample] = json.dumps(text)
    found = map(json.loads, rows)
    kept = [WRITTEN not in responses[row["index"], row["sample"]] for row in found]
    assert len(rows) == len(responses) > sum(kept) > len(rows) - 5
    return [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]


def asked(server: subprocess.Popen[str]) -> Any:
    """What a server, once it says where it is, answers to a record."""
    assert server.stderr is not None
    url = next(found[1] for line in server.stderr if (found := re.search(r"serving on (\S+)", line)))
    record = {"task": "REL-A1", "answer": {"target": 3}, "response": "Answer: 4"}
    body = json.dumps({"records": [record]}).encode()
    request = urllib.request.Request(f"{url}/score", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=60))


def main(other: str, units: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"RELFAST_COMPILE": "off", "RELFAST_CACHE_DIR": f"{folder}/cache"}
        if units:
            run("-c", COMPILE, *units, seconds=1_800)
        for policy in ("reference", "strict"):
            ours, theirs = scored(sys.executable, policy, folder), scored(other, policy, folder)
            assert ours == theirs, [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]][:3]
        for task in TASKS:
            sizes = ("--sizes", "3,4") if task == "rel-c2" else ()
            relfast("generate", task, "-n", 2, *sizes, "-o", folder / f"{task}.jsonl")
        relfast("validate", *(folder / f"{task}.jsonl" for task in TASKS))
        assert run("-c", REWARD).strip() == "[1.0, 0.0]"

        command = [sys.executable, "-m", "relfast", "serve", "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert asked(server)["rows"][0]["correct"] is True
            finally:
                server.terminate()
        for ending in ("parquet", "csv", "jsonl.zst"):
            relfast("score", DEMO, "--limit", 20, "-o", folder / f"rows.{ending}")
        relfast("report", folder / "rows.parquet", "-o", folder / "report")
        relfast("bench", "--mock", "--set", "rel", "--set", "realign", "--limit", 2, "-o", folder / "bench")
        print("held")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
