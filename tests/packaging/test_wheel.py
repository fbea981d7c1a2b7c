"""What is built and shipped: exactly two top-level packages, typed, with the demo; and a wheel that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import processes
import pytest
from corpora import ROOT
from engine_runs import honest, rows_of, write_dump
from missing_kernels import built
from processes import PATIENCE
from relfast_kernels.compiled import native

from relfast import __version__
from relfast.tasks.seqbench.generate import make_rows


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for unit in native.UNITS:
        built(unit)
    return build("wheel", tmp_path_factory.mktemp("wheel"))[0]


def asked_for(kind: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A build from the sources as they are by the backend that pip calls."""
    code = f"import hatch_build; print(hatch_build.build_{kind}({str(folder)!r}))"
    done: subprocess.CompletedProcess[str] = processes.python("-c", code, cwd=ROOT, environment=environment)
    return done


def build(kind: str, folder: Path, processors: str = "native") -> tuple[Path, str]:
    """What was built, with the libraries that are there, and what the build said."""
    done = asked_for(kind, folder, RELFAST_WHEEL_FOR=processors)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1], done.stderr


def test_what_is_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"relfast-{__version__}.dist-info/METADATA").decode("utf-8")
        entry_points = archive.read(f"relfast-{__version__}.dist-info/entry_points.txt").decode("utf-8")
    for said in (
        f"Version: {__version__}",
        "Requires-Python: >=3.11",
        "License-Expression: MIT",
        "Author: The relfast authors",
    ):
        assert f"{said}\n" in metadata
    assert "relfast = relfast." in entry_points
    assert any(name.endswith("licenses/LICENSE") for name in names)
    top = {name.split("/")[0] for name in names}
    assert top == {"relfast", "relfast_kernels", f"relfast-{__version__}.dist-info"}
    assert {
        *("relfast/py.typed", "relfast/data/rel_demo.jsonl.gz", "relfast/data/NOTICE"),
        *(f"relfast_kernels/{name}" for name in ("py.typed", "compiled/native.py", "text/lines.py")),
    } <= set(names)
    shipped = [name for name in names if name.endswith((".so", ".o"))]
    units = {f"relfast_kernels/compiled/shipped/{unit}" for unit in native.UNITS}
    assert {name.rpartition("-")[0] for name in shipped} == units
    assert not [name for name in names if "tests/" in name or name.endswith(".pyc")]
    assert wheel.name.endswith(f"-py3-none-manylinux_2_28_{os.uname().machine}.whl")


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is part of binutils, as ld is")
def test_libraries_need_functions_of_the_c_library_in_no_version(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        archive.extractall(tmp_path, names)
    command = ["objdump", "-p", "-T", *names]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert said.count("DYNAMIC SYMBOL TABLE") == len(names)
    assert "NEEDED" not in said
    assert "GLIBC" not in said
    missing = {line.split()[-1] for line in said.splitlines() if "*UND*" in line}
    assert missing <= {"abort", "memchr", "memcmp", "memcpy", "memmove", "memset"}


@pytest.mark.parametrize("processors", ["", "none"])
def test_a_wheel_without_libraries_is_made_where_it_is_asked_for(tmp_path: Path, processors: str) -> None:
    wheel, said = build("wheel", tmp_path, processors)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert said.count("no compiled kernels in this wheel") == 1
    assert zipfile.is_zipfile(wheel)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("linker", "said"),
    [
        (None, "ld: not found; cc: not found"),
        ("echo 'unknown architecture' >&2; exit 1", "ld: unknown architecture; cc: not found"),
    ],
)
def test_without_libraries_there_is_no_other_wheel_and_the_cause_is_told(
    tmp_path: Path, linker: str | None, said: str
) -> None:
    (tmp_path / "bin").mkdir()
    if linker is not None:
        (tmp_path / "bin/ld").write_text(f"#!/bin/sh\n{linker}\n")
        (tmp_path / "bin/ld").chmod(0o755)
    environment = {"PATH": str(tmp_path / "bin"), "RELFAST_CACHE_DIR": str(tmp_path / "cache")}
    done = asked_for("wheel", tmp_path, **environment)
    assert done.returncode == 1
    assert said in done.stderr
    assert "RELFAST_WHEEL_FOR=none" in done.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_sdist_holds_what_a_build_needs(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)[0]) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    assert {
        *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "relfast/__init__.py"),
        *("tests/test_contract.py", "kernels/relfast_kernels/compiled/jit.py"),
    } <= names
    # `kernels` is a package of Hugging Face's that transformers imports; ours must not stand before it
    assert "kernels/__init__.py" not in names
    assert not (ROOT / "kernels.py").exists()


def test_an_editable_install_is_plain_paths(tmp_path: Path) -> None:
    """Which type checkers follow; and none of them offers the repository's other folders as packages."""
    with zipfile.ZipFile(build("editable", tmp_path)[0]) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".pth")]
        folders = [Path(line) for line in archive.read(name).decode().splitlines()]
        assert not [name for name in archive.namelist() if name.endswith(".py")]
    offered = {path.name: path for folder in folders for path in folder.iterdir() if path.name[0] not in "._"}
    assert set(offered) == {"relfast", "relfast_kernels"}
    assert (offered["relfast"] / "py.typed").is_file()
    assert offered["relfast"].resolve() == ROOT / "relfast"


# installed beside nothing of ours: its libraries serve at once, and nothing compiles

WHEEL = os.environ.get("RELFAST_WHEEL")
"""A wheel that is there already; without, one is made of this machine's libraries."""

_HOOK = """
import os, sys

def note(event, values):
    compiler = event == "import" and values[0].partition(".")[0] == "numba"
    if compiler or (event == "subprocess.Popen" and "relfast_kernels.compiled" in map(str, values[1])):
        with open(os.environ["COMPILING"], "a") as file:
            file.write(f"{event} {values}\\n")

sys.addaudithook(note)
"""
"""Python runs ``sitecustomize`` in every process, before anything else."""


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of Python with what lies in a folder in front, and a cache of its own."""
    environment = {"PYTHONPATH": str(folder), "RELFAST_CACHE_DIR": str(folder / "cache")}
    environment |= {"RELFAST_COMPILE": "background", "COMPILING": str(folder / "compiling")}
    return processes.python(*arguments, cwd=folder, environment=environment, timeout=5 * PATIENCE)


@pytest.fixture(scope="module")
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing of ours but the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = Path(WHEEL).absolute() if WHEEL else request.getfixturevalue("wheel")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    done = subprocess.run([sys.executable, *pip], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (folder / "sitecustomize.py").write_text(_HOOK)
    return folder


@pytest.mark.slow
def test_nothing_compiles_where_a_wheel_is_installed(installed: Path, tmp_path: Path) -> None:
    where = "import relfast, relfast_kernels as k; print(relfast.__file__, k.__file__)"
    assert python(installed, "-c", where).stdout.count(f"{installed}/relfast") == 2
    absent = (
        "from relfast_kernels.compiled.native import UNITS, load; print([u for u in UNITS if not load(u)])"
    )
    assert python(installed, "-c", absent).stdout == "[]\n"

    mazes = list(make_rows(20, 5, rows=6, cols=6, B=1))
    plans = [{**maze, "response": mazes[at % 7]["completion"]} for at, maze in enumerate(50 * mazes)]
    write_dump(installed / "in.jsonl", [*honest(10_000), *plans])
    done = python(installed, "-m", "relfast", "score", "in.jsonl", "-o", "out.jsonl", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert "kernels" not in done.stderr
    assert not (installed / "compiling").exists(), (installed / "compiling").read_text()
    assert not list((installed / "cache").glob("native/*"))
    warm = python(installed, "-m", "relfast", "warmup")
    assert "8 units ready" in warm.stdout
    assert not list((installed / "cache").glob("native/*.so"))
    (installed / "cache").mkdir(exist_ok=True)
    (installed / "cache").chmod(0o777)  # which nobody needs
    again = python(installed, "-m", "relfast", "warmup")
    assert ("8 units ready" in again.stdout, again.stderr) == (True, "")

    records = installed / "in.jsonl"
    ours = processes.python("-m", "relfast", "score", records, "-o", tmp_path / "out.jsonl")
    assert ours.returncode == 0, ours.stderr
    assert (installed / "out.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()
    scored = rows_of(installed / "out.jsonl")
    assert len(scored) == 11_000
    assert {row["status"] for row in scored} <= {"ok", "no_answer"}
    assert {row["task"] for row in scored if row["correct"]} >= {"REL-A1", "REL-C2", "SeqBench"}
