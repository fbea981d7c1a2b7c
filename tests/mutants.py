"""How many faults the tests find: random changes of the product, each met by the tests that run its line.

    python tests/mutants.py contexts              # once: which test runs which line, with coverage (an hour)
    python tests/mutants.py run 200 --seed 1      # that many mutants; says what was found, and each that was not

A mutant is one operator, comparison, number or condition of a function, exchanged. Its tests are those that ran its
line when contexts were gathered, the quickest first, at most `TESTS` of them; what a mutant makes hang is found. A line
that no test runs counts as not found. Numbers of two builds may be compared where seed and count are the same and the
product is: the draw is over the product's files as they are.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import coverage
import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("tasks", "engine", "formats", "stats", "rewards")
KEPT: Final = ROOT / ".mutants"
QUICK: Final = "not slow and not trainers and not browser and not ray and not lines"
TESTS: Final = 100
SECONDS: Final = 300
"""After which a mutant is taken for hanging; its tests take less than a minute as a rule."""
VARIABLE: Final = "RELFAST_MUTANT_TEST"

CONFIGURATION: Final = f"""
[run]
data_file = {KEPT}/data
parallel = true
patch = subprocess, _exit, fork
context = ${{{VARIABLE}-}}
include = {",".join(f"*/relfast/{package}/*" for package in PACKAGES)}
"""

COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}


class Mutant(NamedTuple):
    """A piece of a file, and what stands there instead; the lines where it and its statement begin."""

    path: Path
    line: int
    statement: int
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        was = (ROOT / self.path).read_bytes()[self.start : self.end].decode()
        return f"{self.path}:{self.line}: {was!r} -> {self.text!r}"


def replacements(node: ast.AST) -> Iterator[str]:
    """What may stand instead of an expression or a statement."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        yield f"(({left}) {COMPARISONS[type(node.ops[0])]} ({right}))"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield f"(({ast.unparse(node.left)}) {OPERATORS[type(node.op)]} ({ast.unparse(node.right)}))"
    elif isinstance(node, ast.BoolOp):
        other = " and " if isinstance(node.op, ast.Or) else " or "
        yield f"({other.join(f'({ast.unparse(value)})' for value in node.values)})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"bool({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield f"({node.value!r} + 1)"
    elif isinstance(node, ast.IfExp):
        parts = (ast.unparse(part) for part in (node.orelse, node.test, node.body))
        yield "(({}) if ({}) else ({}))".format(*parts)
    elif isinstance(node, (ast.Continue, ast.Break)):
        yield "pass"
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield "return None"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All mutants of a file's functions; annotations and the insides of f-strings are left alone."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def walk(node: ast.AST, inside: bool, statement: int) -> Iterator[Mutant]:
        statement = node.lineno if isinstance(node, ast.stmt) else statement
        if inside and isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno and node.end_col_offset:
            begin = starts[node.lineno - 1] + node.col_offset
            for text in replacements(node):
                end = starts[node.end_lineno - 1] + node.end_col_offset
                yield Mutant(path, node.lineno, statement, begin, end, text)
        for name, value in ast.iter_fields(node):
            function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            if name in ("annotation", "returns", "decorator_list", "args") or isinstance(
                value, ast.JoinedStr
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from walk(child, inside or (function and name == "body"), statement)

    yield from walk(ast.parse(source), False, 0)


# the plugin of `contexts`: which test runs is said to coverage here, and to processes that the test starts
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    os.environ[VARIABLE] = item.nodeid
    if measured := coverage.Coverage.current():
        measured.switch_context(item.nodeid)
    return (yield)


def gather(options: list[str]) -> int:
    """Run the tests under coverage, each with a context of its own."""
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir()
    configuration = KEPT / "coveragerc"
    configuration.write_text(CONFIGURATION)
    # one process: coverage has a context a process
    command = [
        *(sys.executable, "-m", "coverage", "run", f"--rcfile={configuration}"),
        *("-m", "pytest", "-p", "mutants", "-p", "no:cacheprovider", "-q", "-n", "0", "-m", QUICK),
        *("--durations=0", "--durations-min=0.01", *options),
    ]
    with (KEPT / "durations.log").open("w") as log:
        return subprocess.run(command, cwd=ROOT, env=environment_of(ROOT), stdout=log, check=False).returncode


def environment_of(root: Path) -> dict[str, str]:
    """The environment of a process with a checkout's sources."""
    path = [*(str(root / part) for part in (".", "kernels", "tests")), os.environ.get("PYTHONPATH")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


class Contexts:
    """Which tests ran a line, and how long each took."""

    def __init__(self, folder: Path) -> None:
        self._lines: dict[str, dict[int, set[str]]] = {}
        self.seconds: Counter[str] = Counter()
        for log in folder.glob("*.log"):
            for seconds, test in re.findall(r"^([\d.]+)s \w+ +(\S.*)$", log.read_text(), re.M):
                self.seconds[test] += float(seconds)  # type: ignore[assignment]
        for path in folder.glob("data.*"):
            data = coverage.CoverageData(str(path))
            try:
                data.read()
            except coverage.exceptions.DataError:
                continue  # of a process that a test has killed
            for file in data.measured_files():
                known = self._lines.setdefault("relfast/" + file.rpartition("/relfast/")[2], {})
                for line, tests in data.contexts_by_lineno(file).items():
                    known.setdefault(line, set()).update(filter(None, tests))

    def of(self, mutant: Mutant) -> list[str]:
        """A mutant's tests, the quickest first."""
        lines = self._lines.get(str(mutant.path), {})
        tests = lines.get(mutant.line, set()) or lines.get(mutant.statement, set())
        return sorted(tests, key=lambda test: (self.seconds[test], test))[:TESTS]


def verdict(mutant: Mutant, tests: list[str], root: Path) -> str:
    """``found``, ``hangs``, ``survives`` or ``never run``, by its tests in a copy of the project."""
    if not tests:
        return "never run"
    path, source = root / mutant.path, (ROOT / mutant.path).read_bytes()
    chosen = root / "chosen.txt"
    chosen.write_text("\n".join(test for test in tests if (root / test.partition("::")[0]).exists()))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", f"@{chosen}"]
    environment = environment_of(root) | {"PYTHONDONTWRITEBYTECODE": "1"}
    path.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
    try:
        run = subprocess.run(
            command, cwd=root, env=environment, timeout=SECONDS, check=False, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        path.write_bytes(source)
    if run.returncode in (0, 1, 2):
        return "found" if run.returncode else "survives"
    return f"no verdict: {(run.stdout + run.stderr)[-300:]}"


def measure(number: int, seed: int, folder: Path) -> None:
    """Draw mutants over the files, run each, and say what was found."""
    contexts = Contexts(folder)
    files = [path for package in PACKAGES for path in sorted((ROOT / "relfast" / package).rglob("*.py"))]
    every = [mutant for path in files for mutant in mutants_of(path.relative_to(ROOT))]
    chosen = random.Random(seed).sample(every, number)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as copy:
        root = Path(copy) / "relfast"
        left = shutil.ignore_patterns(".git", ".venv", "site", ".mutants", "__pycache__", ".hypothesis")
        shutil.copytree(ROOT, root, ignore=left, symlinks=True)
        for mutant in chosen:
            tests = contexts.of(mutant)
            said = verdict(mutant, tests, root)
            counts[said.partition(":")[0]] += 1
            print(f"{said}: {mutant} ({len(tests)} tests)", flush=True)
    found = counts["found"] + counts["hangs"]
    print(f"{found} of {number} found, {found / number:.0%} (of {len(every):,}): {dict(counts)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("contexts")
    runner = commands.add_parser("run")
    runner.add_argument("number", type=int)
    runner.add_argument("--seed", type=int, default=1)
    runner.add_argument("--contexts", type=Path, default=KEPT)
    given, options = parser.parse_known_args()
    if given.command == "contexts":
        raise SystemExit(gather(options))
    measure(given.number, given.seed, given.contexts)
