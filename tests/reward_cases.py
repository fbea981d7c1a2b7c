"""Responses with known rewards, hostile ones, and a look at the processes a scorer has: for reward tests."""

from __future__ import annotations

import itertools
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import psutil
from processes import until

import relfast
from relfast.tasks.rel_c import motif


class Case(NamedTuple):
    """A response with its strict reward; None = it has no score."""

    task: Any
    answer: Any
    response: Any
    reward: float | None


@dataclass
class Sample:
    """The fields of slime's ``Sample`` that a reward reads."""

    prompt: Any = "q"
    response: str = ""
    label: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


def chat(text: Any) -> list[dict[str, Any]]:
    """A conversation that is an answer and nothing else."""
    return [{"role": "assistant", "content": text}]


MIXED: Final = [
    Case("REL-A1", {"target": 3}, "The pattern rotates. Answer: 4", 1.0),
    Case("rel-a1", '{"target": 3}', "Answer: 5", 0.0),
    Case("REL-B1", {"label": "no", "taxa": []}, "No.", 1.0),
    Case("REL-C1", {"label": "Yes", "smiles": None, "target": None}, "they are: <Yes>", 1.0),
    Case("REL-C1", {"label": "Yes"}, "<think><Yes></think> <No>", 0.0),
    Case("REL-C2", {"smiles": "CCO"}, "<smiles>OCC</smiles>", 1.0),
    Case("REL-C2", {"smiles": "CCO"}, "no idea", 0.0),
    Case("REL-C3", {"missing_smiles": ["CCO", "COC"]}, "<smiles>CCO</smiles> <smiles>COC</smiles>", 1.0),
    Case("REL-C3", {"missing_smiles": ["CCO", "COC"]}, "<smiles>C(O)C</smiles>", 2 / 3),
    Case(None, {"label": "No"}, "<no>", 1.0),
    Case("no-such-task", {"label": "No"}, "<no>", None),
    Case("REL-C2", {"smiles": None}, "<smiles>CCO</smiles>", None),
    Case("REL-C3", {"missing_smiles": "CCO"}, "<smiles>CCO</smiles>", None),
    Case("REL-A1", "not JSON", "Answer: 4", None),
    Case(None, None, "<Yes>", None),
]

HOSTILE_TEXTS: Final = [
    "",
    "\x00",
    "\ud800<smiles>CCO</smiles>",
    "<smiles>" * 20_000,
    "<think>" * 50_000,
    "<smiles>CC |atomProp:0.molAtomMapNumber.x|</smiles>",
    "<smiles>" + "C(" * 5_000 + "</smiles>",
    "<smiles>" + "C" * 100_000 + "</smiles>",
    "Answer " + "9" * 5_000,
    "Answer" + " " * 30_000,
    "<smiles>C.C.C.C.C.C.N.N</smiles>",
    "__import__('os').system('true')",
]

TORI: Final = (
    "C123C45C67C89C%103C%11%12C2%13C5%14C7%15C9%12C%16%17C%11%18C%13%19C%14%20C%15%17C%21%22C%16%23C%18%24"
    "C%19%25C%20%22C4%26C%216C%238C%24%10C%251%26",
    "C123C45C67C89C%10%11C%123C%13%14C2%15C5%16C7%17C9%18C%11%14C%19%20C%13%21C%15%22C%16%23C%17%24C%18%20"
    "C8%25C%19%10C%21%12C%221C%234C%246%25",
)
"""Two carbon tori whose common substructure RDKit still searches after 25 s, whatever its timeout says
(`tests/data/hostile/nasty_pairs.jsonl.gz`)."""

HANG: Final = ({"smiles": TORI[1]}, f"<smiles>{TORI[0]}</smiles>")
"""Gold and response of a REL-C2 record that hangs."""


def distinct_c2(n: int) -> list[tuple[dict[str, str], str]]:
    """Gold and response of ``n`` cheap REL-C2 records with different answers. Gold has tellurium, which no kernel
    reads: they are for the workers."""
    endings = ["O", "N", "S", "F", "Cl", "Br", "=O", "#N", "C(=O)O", "C(=O)N"]
    shapes = itertools.product(range(1, 40), endings, endings)
    return [
        ({"smiles": "CCCC[Te]"}, f"<smiles>{_head(left)}{'C' * length}{right}</smiles>")
        for length, left, right in itertools.islice(shapes, n)
    ]


def _head(ending: str) -> str:
    return {"=O": "O=", "#N": "N#", "C(=O)O": "OC(=O)", "C(=O)N": "NC(=O)"}.get(ending, ending)


def forget(scorer: relfast.Scorer) -> None:
    """Have a scorer ask its workers again."""
    scorer._isolated._cache._scores.clear()
    motif._known.clear()


def workers_of(pid: int | None = None) -> list[psutil.Process]:
    """The live relfast workers among a process's children (default: this one's)."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        try:
            if child.name() == "relfast-worker" and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def wait_for_no_workers(before: Set[int] = frozenset()) -> None:
    """Wait until all workers but ``before`` are gone."""
    until(lambda: not {worker.pid for worker in workers_of()} - before, "the end of the workers")
