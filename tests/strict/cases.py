"""Cases of the strict corpus' tables: published records and some of our generators', with words for the texts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import seqbench_checker as checker
from contract_records import generate
from corpora import DATA, b1_names, rel_records, solutions
from molecule_pairs import spell
from rdkit import Chem
from strict.corpus import Case

from relfast.chem.common_substructure import COMMON_MOTIFS
from relfast.tasks.realign.score import BASE
from relfast.tasks.rel_c.generate import common_motifs, missing_isomers
from relfast.tasks.rel_c.parameters import MissingIsomersParameters, MotifParameters
from relfast.tasks.seqbench.blind import STRATEGIES

_SOME: Final = (0, 4, 10, 16, 42, 44, 47, 48, 52, 57, 59, 64, 65, 66, 67, 1, 61)


def rel_b1() -> list[Case]:
    published = rel_records("REL-B1")
    records = [
        *(published[at] for at in _SOME),
        *generate("REL-B1", 4, 11),
        *generate("REL-B1", 4, 12, n_convergent_taxa=5, num_leaves=20),
        *generate("REL-B1", 2, 13, n_convergent_taxa=20, yes_fraction=1.0),
        *generate("REL-B1", 2, 14, n_convergent_taxa=4, taxa_as="index", yes_fraction=1.0),
    ]
    return [_homoplasy(record) for record in records]


def _homoplasy(record: dict[str, Any]) -> Case:
    rng = random.Random(record["question"])
    shown = re.findall(r"^\s*>\s*(\S+)", record["question"], re.MULTILINE)
    gold = b1_names(record)
    if record["answer"].get("taxa_as") == "index":
        gold = [sorted(shown)[place] for place in record["answer"]["taxa"]]
    others = [name for name in shown if name not in gold]
    x, y = rng.sample(others, 2)
    mixed = rng.sample(shown, len(shown))
    middle = len(shown) // 2
    label = record["answer"]["label"]
    words = {
        "x": x,
        "y": y,
        "all": ", ".join(shown),
        "allbullets": "\n".join(f"- taxon_{name}" for name in shown),
        "most": ", ".join(mixed[: round(0.74 * len(shown))]),
        "half": ", ".join(mixed[:middle]),
        "other": ", ".join(mixed[middle:]),
        "min": min(shown, key=int),
        "max": max(shown, key=int),
    }
    tags = {label}
    if label == "yes":
        words |= {
            "list": ", ".join(gold),
            "forms": ", ".join(f"taxon_{name}" for name in gold),
            "bullets": "\n".join(f"- {name}" for name in gold),
            "enum": "\n".join(f"{at}. taxon_{name}" for at, name in enumerate(gold, 1)),
            "json": f"[{', '.join(gold)}]",
            "n": str(len(gold)),
            "a": gold[0],
        }
        tags |= {"two"} if len(gold) == 2 else set()
    return Case(record, words, tags=frozenset(tags))


# REL-C2


def grid(rows: int, columns: int) -> str:
    """A sheet of carbon, every atom bound to those beside it: searches in it branch without end."""
    mol: Any = Chem.RWMol()
    for at in range(rows * columns):
        mol.AddAtom(Chem.Atom(6))
        if at % columns:
            mol.AddBond(at - 1, at, Chem.BondType.SINGLE)
        if at >= columns:
            mol.AddBond(at - columns, at, Chem.BondType.SINGLE)
    return str(Chem.MolToSmiles(mol))


GRID: Final = grid(11, 17)


def rel_c2() -> list[Case]:
    rng = random.Random(12)
    published = rng.sample(rel_records("REL-C2"), 24)
    made = list(common_motifs(6, 3, MotifParameters(sizes=(5, 10))))
    common = {Chem.CanonSmiles(smiles) for smiles in COMMON_MOTIFS}
    return [_motif(record, rng, common) for record in (*published, *made)]


def _motif(record: dict[str, Any], rng: random.Random, common: set[str]) -> Case:
    gold, given = record["answer"]["smiles"], record["answer"]["molecules"]
    same = Chem.CanonSmiles(gold)
    tags = set()
    if all(Chem.CanonSmiles(smiles, useChiral=0) != same for smiles in given):
        tags.add("larger")
    if same not in common:
        tags.add("uncommon")
    mol = Chem.RWMol(Chem.MolFromSmiles(gold))
    free = next(atom.GetIdx() for atom in mol.GetAtoms() if atom.GetTotalNumHs())
    mol.AddBond(free, mol.AddAtom(Chem.Atom(6)), Chem.BondType.SINGLE)
    words = {
        "right": gold,
        "respelt": spell(gold, rng),
        "given1": given[0],
        "given2": given[1],
        "given3": given[2],
        "shortest": min(given, key=len),
        "larger": str(Chem.MolToSmiles(mol)),
        "grid": GRID,
    }
    return Case(record, words, tags=frozenset(tags))


# REL-C3


MOST: Final = 12
"""Missing molecules of a record here: all forms of a long list are those of a short one."""


def tag(smiles: str) -> str:
    return f"<smiles>{smiles}</smiles>"


def a_line(molecules: Iterable[str], form: str = "<smiles>{}</smiles>") -> str:
    """The molecules a line each; ``{}`` in the form is the molecule, ``#`` its number."""
    return "\n".join(form.replace("#", str(at)).replace("{}", one) for at, one in enumerate(molecules, 1))


LISTS: Final = {
    "tags": "<smiles>{}</smiles>", "bullets": "- <smiles>{}</smiles>", "numbered": "#. <smiles>{}</smiles>",
    "in backquotes": "<smiles>`{}`</smiles>", "in bold": "<smiles>**{}**</smiles>", "with stop": "<smiles>{}.</smiles>",
    "isotopes": "<smiles>[13CH3]{}</smiles>", "wild": "<smiles>*{}</smiles>", "reaction": "<smiles>{}>>{}</smiles>",
    "queries": "<smiles>[#6]{}</smiles>", "odd bond": "<smiles>{}~C</smiles>", "mapped": "<smiles>[CH3:1]{}</smiles>",
}  # fmt: skip


def rel_c3() -> list[Case]:
    rng = random.Random(13)
    short = [r for r in rel_records("REL-C3") if 3 <= len(r["answer"]["missing_smiles"]) <= MOST]
    made = missing_isomers(40, 5, MissingIsomersParameters(given=(5, 10), universe_max=16))
    few = [record for record in made if 3 <= len(record["answer"]["missing_smiles"]) <= MOST]
    return [_isomers(record, rng) for record in (*rng.sample(short, 20), *few[:6])]


def _isomers(record: dict[str, Any], rng: random.Random) -> Case:
    missing, given = record["answer"]["missing_smiles"], record["answer"]["molecules"]
    shuffled = rng.sample(missing, len(missing))
    first = missing[0]
    words = {
        **{name: a_line(missing, form) for name, form in LISTS.items()},
        "oneline": " ".join(map(tag, missing)),
        "commas": ", ".join(map(tag, missing)),
        "fenced": f"```\n{a_line(missing)}\n```",
        "respelt": a_line(spell(smiles, rng) for smiles in missing),
        "shuffled": a_line(shuffled),
        "first": first,
        "given1": given[0],
        "given tags": a_line(given),
        "given lines": a_line(given, "{}"),
        "given bullets": a_line(given, "- <smiles>{}</smiles>"),
        "wrong": "CC(F)(Cl)CCCI",
        "carbons": a_line("C" * n for n in range(1, 30)),
        # of the formula C3H8N2, or of any: not what isomers are made of
        "radical": "[CH2]C[CH2]",
        "ions": "[CH2-]C[NH3+]",
        "fragments": f"{first}.[H][H]",
    }
    return Case(record, words)


# ReAlign: published problems of MATH and GSM8K, and a few with answers of other kinds


FULL: Final = BASE
"""A right answer is read where this is paid; how the working is graded, `tests/tasks/realign/test_score.py` tests."""

EVERY: Final = 87
"""Of the published solutions each such is a case, where its model was right."""

SPECIAL: Final[dict[str, tuple[str, str, str]]] = {
    "mixed": (
        "A cake takes $2\\frac{1}{2}$ cups of flour and a pie $1\\frac{1}{4}$ cups. How much do both take?",
        "The whole cups are 3 and the rest is $\\frac{3}{4}$.\nTogether that is $\\boxed{\\frac{15}{4}}$ cups.",
        "\\frac{15}{4}",
    ),
    "money": (
        "Tom earns $50 an hour and works 25 hours a week. How much does he earn in a week, in dollars?",
        "He earns 50*25=<<50*25=1250>>1250 dollars.\n#### 1250",
        "1250",
    ),
    "point": (
        "Where do $x + y = 1$ and $x - y = 7$ meet?",
        "Adding gives $2x = 8$, so $x = 4$ and $y = -3$.\nThe point is $\\boxed{(4,-3)}$.",
        "(4,-3)",
    ),
    "option": (
        "How many of the numbers are prime? (A) 12 (B) 15 (C) 18 (D) 20",
        "Counting them gives 18.\nThe answer is $\\boxed{\\text{(C)}}$.",
        "\\text{(C)}",
    ),
}
"""Problems with answers of one kind, by the tag that the table's groups ask for."""


def was_right(row: dict[str, Any]) -> bool:
    return bool(row["correct"] if "correct" in row else row["pred"] == row["gold"])


def realign() -> list[Case]:
    """Words: ``right``, the answer as it stands in a box; ``copy``: the problem; ``n`` and ``m``: the right and a wrong
    integer, with ``next`` after the right one."""
    found = [
        _solution(row["question"], row["benchmark_solution"], row["gold"], None)
        for row in solutions()[::EVERY]
        if was_right(row) and ".." not in row["gold"]
    ]
    return found + [_solution(*other, tag) for tag, other in SPECIAL.items()]


def _solution(question: str, solution: str, right: str, tag: str | None) -> Case:
    words = {"right": right, "copy": " ".join(question.split())}
    tags = set() if tag is None else {tag}
    if right.isdigit():
        words |= {"n": right, "m": str(int(right) + 7), "next": str(int(right) + 1)}
        tags.add("integer")
    record = {"task": "ReAlign", "question": question, "answer": {"benchmark_solution": solution}}
    return Case(record, words, tags=frozenset(tags))


# SeqBench: generated mazes and the published prompt's worked examples, with their plans written in many forms


EXAMPLES: Final = json.loads((DATA / "seqbench/few_shot_examples.json").read_text("utf-8"))["examples"]

Plan = Sequence[str]


def _pairs(plan: Plan) -> list[tuple[str, str]]:
    return [(name, parameter) for name, _, parameter in (action.partition(": ") for action in plan)]


PLANS: Final[dict[str, Callable[[Plan], str]]] = {
    "list": lambda plan: str(list(plan)),
    "json": lambda plan: json.dumps(list(plan)),
    "pairs": lambda plan: str(_pairs(plan)),
    "numbered": lambda plan: "\n".join(f"{n}. {action}" for n, action in enumerate(plan, 1)),
    "bullets": lambda plan: "\n".join(f"- {action}" for action in plan),
    "dicts": lambda plan: json.dumps([{"action": name, "target": to} for name, to in _pairs(plan)]),
    "calls": lambda plan: "\n".join(f"{name}({to})" for name, to in _pairs(plan)),
}
"""How a plan is written down: right ones under their name, wrong ones as ``not NAME``."""


def seqbench() -> list[Case]:
    """Mazes of several sizes, in the dataset's fields and as question and actions alone."""
    found = []
    for example, other in zip(EXAMPLES, [*EXAMPLES[1:], EXAMPLES[0]], strict=True):
        question, gold = " ".join(example["facts"]), example["completion"]
        record = {"task": "SeqBench", "question": question, "answer": {"actions": gold}}
        found.append(_maze(record, checker.from_context(question, "Bob", "Alice"), gold, other["completion"]))
    for number, (rows, cols, doors, noise) in enumerate(
        ((4, 4, 1, 1.0), (5, 5, 1, 0.4), (5, 4, 2, 1.0), (6, 6, 2, 0.2), (7, 7, 2, 0.6), (8, 8, 3, 1.0))
    ):
        for row in generate("SeqBench", 3, 1200 + number, rows=rows, cols=cols, B=doors, N=noise):
            gold, whole = checker.gold_of(row), number % 2 == 0
            answer = checker.answer_of(row) if whole else {"actions": gold}
            record = {"task": "SeqBench", "question": row["context"], "answer": answer}
            people = row["instance_metadata"]["agent_name"], row["instance_metadata"]["target_name"]
            world = checker.from_details(row) if whole else checker.from_context(row["context"], *people)
            found.append(_maze(record, world, gold, EXAMPLES[0]["completion"]))
    return found


def _maze(record: dict[str, Any], world: checker.World, gold: list[str], shot: list[str]) -> Case:
    beside = world.graph[world.start]
    far = min(room for room in world.graph if room != world.start and room not in beside)
    # goes wrong at once, and looks like a plan to the end
    wrong = [gold[0], f"move_to: {far}", *gold[1:]]
    # out of the start and back, where it can be left, as often as it takes to make a long plan
    there = next((room for room in beside if not beside[room]["locked"]), world.start)
    moves = [f"move_to: {room}" for room in (there, world.start)] * 10 * len(gold)
    words = {name: form(gold) for name, form in PLANS.items()}
    words |= {f"not {name}": form(wrong) for name, form in PLANS.items()}
    words |= {
        "lower": words["list"].lower(),
        "upper": words["calls"].upper(),
        "body": words["list"][1:-1],
        "start": gold[0],
        "startroom": gold[0].partition(": ")[2],
        "goal": world.goal,
        "target": world.target,
        "last": gold[-1],
        "first": str(gold[:4]),
        "keys": str([action for action in gold if "key" in action] or gold[1:3]),
        "junk": ", ".join(["'move_to: Z99'"] * 1000),
        "legal junk": ", ".join(f"'{move}'" for move in moves),
        "cycles": str([gold[0], *moves, *moves, *moves, *gold[1:]]),
        "only cycles": str([gold[0], *moves, *moves]),
        "teleport": str([gold[0], f"move_to: {world.goal}", gold[-1]]),
        "rescue first": str([gold[0], gold[-1], *gold[1:]]),
        "no start": str(gold[1:]),
        "reversed": str([gold[0], *gold[-2:0:-1], gold[-1]]),
        "shot": str(shot),
        "numbered junk": "\n".join(f"{n}. wait" for n in range(len(gold) + 1, len(gold) + 1000)),
        "quoted junk": ", ".join(["'wait'"] * 1000),
        **{f"blind: {name}": strategy(record, random.Random(4)) for name, strategy in STRATEGIES.items()},
    }
    tags = set()
    if any("key" in action for action in gold):
        tags.add("keys")
        words["unlock without key"] = str([a for a in gold if not a.startswith(("pick_up", "use_key"))])
        words["key unused"] = str([a for a in gold if not a.startswith("use_key")])
    if len(gold) > 20:
        tags.add("large")
    return Case(record, words, 0.0, frozenset(tags))


CASES: Final[dict[str, Callable[[], list[Case]]]] = {
    table.__name__: table for table in (realign, rel_b1, rel_c2, rel_c3, seqbench)
}
"""The cases of each table."""
