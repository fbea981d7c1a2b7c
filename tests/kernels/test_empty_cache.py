"""Doors to scoring on a machine where no kernel is compiled yet: the same rows, said in one line, and nothing is
compiled behind the user's back."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
import pytest
from live_server import live_server
from missing_kernels import built
from processes import PATIENCE, python
from relfast_kernels.compiled import native

import relfast
from relfast.chem.matching import strict_common_substructure
from relfast.chem.molecule import parse

HARD: Final = (
    "CC1(C)OC2CC3C4CC(F)C5=CC(=O)C=CC5(C)C4C(O)CC3(C)C2(C(=O)CO)O1",
    "CC1(C)OC2CC3C4CCC5=CC(=O)CCC5(C)C4(F)C(O)CC3(C)C2(C(=O)CCl)O1",
)
"""Steroids of which RDKit does not find in many seconds what they have in common."""

SIDES: Final = ("C(C)", "C(CC(C)C)", "C(Cc1ccccc1)", "C(CO)", "C(CC(N)=O)", "C(CCSC)")

RECORDS: Final[list[dict[str, Any]]] = [
    {"task": "REL-A1", "answer": {"target": 3}, "response": "<answer>3</answer>"},
    *(
        {"task": "REL-C2", "answer": {"smiles": gold}, "response": f"<smiles>{said}</smiles>"}
        for gold, said in (HARD, ("C1C2CC3CC1CC(C2)C3", "C1CC2CCC1CC2C1CC1"))
    ),
]

Told = tuple[list[Any], str]
"""Rows, and what was said."""


def by_library(code: str, folder: Path) -> Told:
    before = "import json, relfast\nrecords, rows = [*map(json.loads, open('in.jsonl'))], []"
    script = f"{before}\n{code}\nprint(json.dumps(rows))"
    done = python("-c", script, cwd=folder, timeout=5 * PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


SINGLY: Final = """
for one in records:
    rows.append(relfast.evaluate_response("", one["answer"], one["response"], one["task"], policy="strict"))
"""
SCORER: Final = """
with relfast.Scorer(policy="strict", workers=1) as scorer:
    rows += [score.to_row() for score in scorer.score(records)]
"""


def by_score(folder: Path) -> Told:
    command = ("-m", "relfast", "score", "in.jsonl", "-o", "-", "--policy", "strict")
    done = python(*command, cwd=folder, timeout=5 * PATIENCE)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def by_server(folder: Path) -> Told:
    # how long RDKit takes until it is cut is the machine's; no deadline is tested here
    with live_server("--policy", "strict", "--timeout", str(PATIENCE)) as server:
        status, rows = server.ask("/score", {"records": RECORDS})
        assert status == 200, rows
        server.stop()
        assert server.process.stderr is not None
        return rows["rows"], server.process.stderr.read()


def ours(cache: str) -> list[psutil.Process]:
    """The processes that use a cache."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("RELFAST_CACHE_DIR") == cache:
                found.append(process)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The records in a folder, and all kernels in this machine's cache."""
    for unit in native.UNITS:
        built(unit)
    lines = [json.dumps({"id": at, **record}) + "\n" for at, record in enumerate(RECORDS)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    monkeypatch.delenv("RELFAST_COMPILE")
    return tmp_path


def test_a_search_under_strict_has_no_clock() -> None:
    """It is cut at the same candidate everywhere, for molecules beyond the kernel's size too."""
    peptides = (
        "".join(f"N{side}C(=O)" for side in 3 * SIDES) + "O",
        "".join(f"N{side}C(=O)" for side in 3 * SIDES[::-1]) + "O",
    )
    for pair in (HARD, peptides):
        one, other = map(parse, pair)
        assert one is not None
        assert other is not None
        assert strict_common_substructure(one, other)[1]
    found = relfast.evaluate_response(
        "", {"smiles": peptides[0]}, f"<smiles>{peptides[1]}</smiles>", "REL-C2", policy="strict"
    )
    assert found["mcs_canceled"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("door", "filter"),
    [
        (partial(by_library, SINGLY), ""),
        # a warning that is an error costs no score
        (partial(by_library, SCORER), "error::RuntimeWarning"),
        (by_score, ""),
        (by_server, ""),
    ],
)
def test_the_same_rows_in_plain_python(
    door: Callable[[Path], Told], filter: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", filter)
    expected, said = door(folder)
    assert "kernels" not in said
    cold = str(folder / "cache")
    monkeypatch.setenv("RELFAST_CACHE_DIR", cold)
    rows, said = door(folder)
    assert rows == expected
    assert said.count("relfast: kernels that are missing") == said.count("`relfast warmup`") == (not filter)
    assert not ours(cold)
    assert not list((folder / "cache").glob("native/*"))
