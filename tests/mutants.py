"""How many faults the tests find: random changes of the product, each met by the tests that run its line.

    python tests/mutants.py 200 --seed 1      # that many mutants; says what was found, and each that was not

A mutant is one operator, comparison, number or condition of a function, exchanged. First the quick tests run once in
a copy of the project whose statements with a mutant tell which test has come to them; then each mutant meets its
tests, the quickest first, at most `TESTS` of them; what a mutant makes hang is found. One that no test comes to counts
as not found. Numbers of two builds may be compared where seed and count are the same and the product is: the draw is
over the product's files as they are.
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
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

PACKAGES: Final = ("tasks", "engine", "formats", "stats", "rewards")
QUICK: Final = "not slow and not trainers and not browser and not ray and not lines"
TESTS: Final = 100
SECONDS: Final = 300
"""After which a mutant is taken for hanging; its tests take less than a minute as a rule."""

SEEN: Final = """
import os

_told = set()

def seen(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if test and (number, test) not in _told:
        _told.add((number, test))
        with open({log!r}, "a") as file:
            file.write(f"{{number}} {{test}}\\n")
"""
"""A module of the copy: processes that a test starts have its name from pytest's variable."""

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
    """A piece of a file, and what stands there instead; the places where it and its statement begin."""

    path: Path
    line: int
    statement: tuple[int, int]
    start: int
    end: int
    was: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.was!r} -> {self.text!r}"


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


def mutants_of(root: Path, path: Path) -> Iterator[Mutant]:
    """All mutants of a file's functions; annotations and the insides of f-strings are left alone."""
    source = (root / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def walk(node: ast.AST, inside: bool, statement: tuple[int, int]) -> Iterator[Mutant]:
        statement = _place(node) if isinstance(node, ast.stmt) else statement
        if inside and isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno and node.end_col_offset:
            begin = starts[node.lineno - 1] + node.col_offset
            for text in replacements(node):
                end = starts[node.end_lineno - 1] + node.end_col_offset
                yield Mutant(path, node.lineno, statement, begin, end, source[begin:end].decode(), text)
        for name, value in ast.iter_fields(node):
            function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            if name in ("annotation", "returns", "decorator_list", "args") or isinstance(
                value, ast.JoinedStr
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from walk(child, inside or (function and name == "body"), statement)

    yield from walk(ast.parse(source), False, (0, 0))


def _place(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


class Telling(ast.NodeTransformer):
    """Puts a call of `SEEN` before statements with mutants."""

    def __init__(self, numbers: Mapping[tuple[int, int], Sequence[int]]) -> None:
        self._numbers = numbers

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and any(isinstance(child, ast.stmt) for child in value):
                value[:] = [new for child in value for new in (*self._calls(child), child)]
        return node

    def _calls(self, statement: ast.AST) -> list[ast.stmt]:
        numbers = self._numbers.get(_place(statement), ()) if isinstance(statement, ast.stmt) else ()
        calls = "".join(f"__import__('relfast.seen').seen.seen({number})\n" for number in numbers)
        return ast.parse(calls).body


def environment_of(root: Path) -> dict[str, str]:
    """The environment of a process with a checkout's sources."""
    path = [*(str(root / part) for part in (".", "kernels", "tests")), os.environ.get("PYTHONPATH")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def tests_of(mutants: Sequence[Mutant], root: Path, jobs: int) -> list[list[str]]:
    """The tests that come to each mutant, the quickest first; the copy in ``root`` is as it was afterwards."""
    log = root / "seen.txt"
    numbers: dict[Path, dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, mutant in enumerate(mutants):
        numbers[mutant.path][mutant.statement].append(number)
    sources = {path: (root / path).read_bytes() for path in numbers}
    for path, source in sources.items():
        tree = ast.fix_missing_locations(Telling(numbers[path]).visit(ast.parse(source)))
        (root / path).write_text(ast.unparse(tree))
    module = root / "relfast" / "seen.py"
    module.write_text(SEEN.format(log=str(log)))
    log.touch()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", str(jobs), "-m", QUICK]
    command += ["--dist", "loadgroup", "--durations=0", "--durations-min=0.01"]
    run = subprocess.run(
        command, cwd=root, env=environment_of(root), check=False, stdout=subprocess.PIPE, text=True
    )
    print(run.stdout.rpartition("\n==")[2], flush=True)
    module.unlink()
    for path, source in sources.items():
        (root / path).write_bytes(source)
    seconds: Counter[str] = Counter()
    for took, test in re.findall(r"^([\d.]+)s \w+ +(\S.*)$", run.stdout, re.M):
        seconds[test] += float(took)  # type: ignore[assignment]
    tests: list[set[str]] = [set() for _ in mutants]
    for line in log.read_text().splitlines():
        number, _, test = line.partition(" ")
        tests[int(number)].add(re.sub(r"@[^\[\]]*$", "", test))
    return [sorted(each, key=lambda test: (seconds[test], test))[:TESTS] for each in tests]


def verdict(mutant: Mutant, tests: list[str], root: Path) -> str:
    """``found``, ``hangs``, ``survives`` or ``never run``, by its tests in a copy of the project."""
    if not tests:
        return "never run"
    path = root / mutant.path
    source = path.read_bytes()
    chosen = root / "chosen.txt"
    chosen.write_text("\n".join(tests))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", f"@{chosen}"]
    path.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
    try:
        run = subprocess.run(
            command, cwd=root, env=environment_of(root), timeout=SECONDS, check=False, capture_output=True
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        path.write_bytes(source)
    return "found" if run.returncode else "survives"  # they may fail to be collected, too


def measure(project: Path, number: int, seed: int, jobs: int) -> None:
    """Draw mutants over the files, run each, and say what was found."""
    files = [path for package in PACKAGES for path in sorted((project / "relfast" / package).rglob("*.py"))]
    every = [mutant for path in files for mutant in mutants_of(project, path.relative_to(project))]
    chosen = random.Random(seed).sample(every, number)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as copy:
        root = Path(copy) / "relfast"
        left = shutil.ignore_patterns(".git", ".venv", "site", "__pycache__", ".hypothesis")
        shutil.copytree(project, root, ignore=left, symlinks=True)
        for mutant, tests in zip(chosen, tests_of(chosen, root, jobs), strict=True):
            said = verdict(mutant, tests, root)
            counts[said] += 1
            print(f"{said}: {mutant} ({len(tests)} tests)", flush=True)
    found = counts["found"] + counts["hangs"]
    print(f"{found} of {number} found, {found / number:.0%} (of {len(every):,}): {dict(counts)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes of the first run")
    parser.add_argument(
        "--project", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout; default: this"
    )
    given = parser.parse_args()
    measure(given.project, given.number, given.seed, given.jobs)
