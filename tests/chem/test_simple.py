"""The molecules that a kernel judges, against RDKit: the same result, the same vote, with and without it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal

import molecule_pairs
import pytest
from corpora import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from missing_kernels import built
from molecule_pairs import spell
from processes import python
from rdkit import Chem
from relfast_kernels.compiled import native
from relfast_kernels.smiles import elements, layouts
from seeds import fresh, rounds, share

from relfast.chem import matching, smiles_table
from relfast.chem.common_substructure import UNIT
from relfast.chem.matching import same_molecule
from relfast.chem.molecule import _label, parse
from relfast.chem.smiles_table import SmilesTable, simple_table
from relfast.tasks.rel_c.gold import readable

# what the SMILES kernel reads in a text, held against RDKit; and texts that are worth it


PIECES = (
    *"CCCCNOSFPBI()()=#-123456[]H@/\\.%:+*~cnos09", "Cl", "Br", "[CH3]", "[CH2]", "[CH]", "[C]", "[C@H]", "[C@@H]", "[NH]",
    "[O]", "[SH]", "[N]", "%12", "%1", "%01", "=C", "(C)", "C1", "C=C", "N=N", "S(=O)", "[H]", "/C=C/", "[CH0]", "N(=O)=O",
    "C#N", "[nH]", "C=1", "=1", "[BH2]", "[PH2]", "[H][H]", "@@", "[C", "H]", "[13C]", "[O-]", "[NH3+]", " ", "|",
    "[13CH3]", "[CH3:1]", "[N+]", "[O+]", "[S+]", "[P+]", "[C-]", "[C+]", "[B-]", "[n+]", "[nH+]", "[n-]", "[o+]", "[c-]", "[cH-]", "[NH-]", "[Si]",
    "[se]", "[Na+]", "[Cl-]", "[CH2]", "[SH3]", "[pH]", "[bH]", "[cH2]", "N(=O)=O", "N=[N+]=[N-]", "[N+](=O)[O-]", "([H])", "[2H]", "\\\\",
    "c", "c", "n", "c1", "n1", "c2", "c(", "=O", "(=O)", "c1ccccc1", "c:c", "=c", "cc", "cn", "[cH]", "[n]", "[c]", "[n@H]",
)  # fmt: skip


def check(table: SmilesTable, text: str) -> bool:
    """Hold what the kernel says of a text against RDKit, atom for atom; whether it says anything."""
    graph = read(table, text)
    if graph is None:
        return False
    mol = Chem.MolFromSmiles(text)
    if graph == "invalid":
        assert mol is None, f"{text!r} is called invalid"
        return True
    assert mol is not None, f"{text!r} is read"
    assert graph == [
        (
            _label(atom),
            atom.GetTotalNumHs(),
            atom.GetNumRadicalElectrons(),
            sorted(
                (bond.GetOtherAtomIdx(atom.GetIdx()), ORDERS[bond.GetBondTypeAsDouble()])
                for bond in atom.GetBonds()
            ),
        )
        for atom in mol.GetAtoms()
    ], text
    code = table.code_of(text, by_rdkit=False)
    molecule = parse(text)
    assert molecule is not None
    flat = molecule.flat
    assert flat is not None
    # what RDKit writes of it is the same graph, and read as RDKit's text too
    assert table.code_of(molecule.key, by_rdkit=False) in (code, None), text
    if code is not None and not molecule.has_radicals:
        assert table.code_of(flat.key, by_rdkit=True) == code, text
    if not table.match([text], [text]).unknown:
        # a record whose only prediction is wrong votes with the fingerprint
        assert table.match([], [text]).vote == flat.fingerprint, text
    return True


ORDERS = {1.0: 1, 2.0: 2, 3.0: 3, 1.5: layouts.AROMATIC_BOND}


def read(table: SmilesTable, text: str) -> list[Any] | Literal["invalid"] | None:
    """The graph that the kernel reads: element and charge, hydrogens, unpaired electrons and bonds of each
    atom; None where it leaves the text to RDKit."""
    if not 0 < len(text) <= layouts.MAX_SMILES or not text.isascii():
        return None
    table.code_of(text, by_rdkit=False)
    graph: Any = table._table.graph
    n = graph[layouts.N_FOUND]
    if n < 0:
        return "invalid" if n == layouts.INVALID else None
    found = []
    for atom in range(n):
        start = layouts.BONDS + layouts.MAX_DEGREE * atom
        bonds = graph[start : start + graph[layouts.DEGREE + atom]]
        told = (graph[of + atom] for of in (layouts.LABEL, layouts.HYDROGENS, layouts.RADICALS))
        found.append((*told, sorted((bond >> 3, bond & 7) for bond in bonds)))
    return found


def mutations(rng: random.Random, smiles: str) -> str:
    letters = list(smiles)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        at = rng.randrange(len(letters) + 1)
        kind = rng.random()
        if kind < 0.35 and letters:
            del letters[min(at, len(letters) - 1)]
        elif kind < 0.75 or not letters:
            letters.insert(at, rng.choice(PIECES))
        else:
            letters[min(at, len(letters) - 1)] = rng.choice(PIECES)
    return "".join(letters)


GOLDS = (
    "C=C(Br)C(Br)CC", "BrC(Br)=C1CC1", "C#CSCS", "N1=C2C3C1N23", "FC12C3C4C1C432", "ClC=C=C1C=C1", "C=C1OCO1", "CC(O)CCOO",
    "BrC1=CC=C1", "O=S1CC1", "N=C1C2=CN12", "ClCC1=C2C=C21", "c1cn[nH]c#1", "C1c2ooc21", "CC(=O)C1(O)CCC2C3CCCC(C)(C)C3CCC21C",
    "CN(C)C=O", "CSC(C)=NC", "OB(O)C1CC1", "CP(C)C", "IC1CCC1", "O=CC1CCC(=O)N1", "CCC1(C)C(=O)NCNC1=O", "C1CC1.CO",
)  # fmt: skip
"""Golds and molecules of REL-C3 and C2 (MIT; tests/data/rel), and some with the rarer elements."""


@pytest.fixture(scope="session")
def table() -> SmilesTable:
    built(smiles_table.UNIT)
    functions = native.load(smiles_table.UNIT)
    assert functions is not None
    return SmilesTable(functions)


@cache
def molecules() -> list[str]:
    """The golds above and all published ones."""
    return sorted({*GOLDS, *molecule_pairs.molecules()})


def spelled(rng: random.Random) -> Iterator[str]:
    for smiles in share(molecules()):
        yield from (smiles, spell(smiles, rng))


def around_rings(rng: random.Random) -> Iterator[str]:
    """Rings joined and fused at random, written in every way and mutated."""
    bank = [*molecule_pairs.AROMATIC, *(smiles for smiles in molecules() if any(c in smiles for c in "cnos"))]
    for _ in range(rounds(12_000)):
        # the pieces are small enough to be joined
        smiles = molecule_pairs.relative(rng, molecule_pairs.AROMATIC if rng.random() < 0.6 else bank)
        text = spell(smiles, rng) if rng.random() < 0.7 else smiles
        yield mutations(rng, text) if rng.random() < 0.5 else text


def mutated(rng: random.Random) -> Iterator[str]:
    for _ in range(rounds(60_000)):
        yield mutations(rng, rng.choice(molecules()))


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("texts", "number", "least_read", "least_said"),
    [(spelled, 1, 0.9, 0.98), (around_rings, 7, 1 / 3, 1 / 3), (mutated, 2, 0, 1 / 12)],
)
def test_texts_as_rdkit_reads_them(
    texts: Callable[[random.Random], Iterator[str]],
    number: int,
    least_read: float,
    least_said: float,
    table: SmilesTable,
) -> None:
    """What the kernel says of them; it reads and judges most, so that RDKit is not held against itself."""
    said = read = n = 0
    for text in texts(fresh(number)):
        n += 1
        said += check(table, text)
        read += table.code_of(text, by_rdkit=False) is not None
    print(f"\nSMILES kernel: {read:,} of {n:,} texts read as RDKit does, {said:,} judged", end="")
    assert read >= least_read * n
    assert said >= max(read, least_said * n)


def test_the_table_of_elements_is_rdkits() -> None:
    periodic = Chem.GetPeriodicTable()
    for number, valences in elements._VALENCES.items():
        assert valences == [*periodic.GetValenceList(number)], number
    for number, electrons in elements._OUTER.items():
        assert number in elements._VALENCES
        assert electrons == periodic.GetNOuterElecs(number), number


BONDED = (
    "",
    "C",
    "(=O)=O",
    "(C)C",
    "(C)(C)C",
    "(=O)(C)C",
    "(F)(F)(F)F",
    "(=O)(F)(F)(F)F",
    "(F)(F)(F)(F)(F)F",
)
IN_RINGS = ("c1cc[%s]c1", "C1=C[%sH]C=CC=C1", "c1cc2ccccc2[%sH]1", "c1cc[%sH]c1", "c1cc[%s]cc1", "C1=C[%s]C=C1", "c1cc[%s](=O)c1", "c1ccc2c(c1)[%s]c1ccccc12", "[%s]=c1cccccc1",
            "C1CCCc2ccc([%s]2)CCCC1")  # fmt: skip


@pytest.mark.parametrize("number", elements._OUTER)
def test_every_element_that_is_read(number: int, table: SmilesTable) -> None:
    """With charges up to its atomic number, hydrogens, and more bonds than it can have."""
    symbol, said = elements._SYMBOLS[number - 1], 0
    charges = sorted({0, *range(-4, 10), min(number, 15)})
    for charge in ["" if charge == 0 else f"{charge:+}" for charge in charges]:
        for hydrogens in ("", "H", "H2", "H4"):
            said += sum(check(table, f"[{symbol}{hydrogens}{charge}]{bonds}") for bonds in BONDED)
        for ring in IN_RINGS:
            for spelling in (symbol, symbol.lower()):
                check(table, (ring % spelling).replace("]", f"{charge}]"))
    assert said or symbol == "H"


def test_symmetrical_molecules(table: SmilesTable) -> None:
    """Colour refinement alone cannot tell these apart, or cannot order their atoms."""
    cubane, prismane, hexagon, triangles = "C12C3C4C1C5C2C3C45", "C12C3C4C1C4C32", "C1CCCCC1", "C1CC1.C1CC1"
    decalins = ("C1CCC2CCCCC2C1", "C1CCC(C1)C1CCCC1")
    texts = (cubane, prismane, "C1(C2C=C2)C=C1", hexagon, triangles, *decalins)
    codes = [table.code_of(text, by_rdkit=False) for text in texts]
    assert None not in codes
    assert len({*codes}) == len(codes)
    assert table.code_of("C23C1C4C2C6C3C1C46", by_rdkit=False) == codes[0]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text(table: SmilesTable, text: str) -> None:
    check(table, text)


@pytest.mark.fuzz
def test_pairs_by_code_and_by_search(table: SmilesTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tautomers, charges, radicals, wildcards, isotopes: `same` with codes is `same_molecule`."""
    monkeypatch.setattr(smiles_table, "_table", table)
    rng = fresh(3)
    charged = ["C[N+](C)(C)C", "CC(=O)[O-]", "C[N+](=O)[O-]", "[CH3]", "C[CH2]", "c1c[nH]cn1", "c1cc[n+]([O-])cc1", "C~C", "*C",
               "[13CH3]C", "[2H]C", "[H]/C=C/F", "C[S-]", "[Na+].[Cl-]", "Cc1c[nH]cn1", "Cc1cnc[nH]1", "C[Si](C)C"]  # fmt: skip
    candidates = [rng.choices(charged, k=2) for _ in range(400)]
    for one in rng.choices([smiles for smiles in molecules() if len(smiles) < 30], k=1_500):
        candidates.append([spell(one, rng), spell(one, rng) if rng.random() < 0.3 else mutations(rng, one)])
    for one, other in candidates:
        mol, other_mol = parse(one), parse(other)
        if mol is None or other_mol is None:
            assert not matching.same(one, other)
            continue
        try:
            expected = same_molecule(mol, other_mol)
        except RuntimeError:
            continue
        assert matching.same(one, other) == expected, (one, other)


def test_nearly_everything_is_decided_without_rdkit(table: SmilesTable) -> None:
    """Otherwise the tests above would compare RDKit with itself."""
    small = [smiles for smiles in molecules() if len(smiles) <= 17 and not any(c in smiles for c in "cnos")]
    unknown = table.match(small, []).unknown
    assert len(unknown) <= max(2, 0.01 * len(small)), unknown


def test_a_kernel_compiled_meanwhile_is_taken(monkeypatch: pytest.MonkeyPatch, table: SmilesTable) -> None:
    monkeypatch.setattr(smiles_table, "_table", None)
    monkeypatch.setattr(native, "_built", {})
    monkeypatch.setattr(native, "_looked", {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "load", lambda unit: None)
        assert simple_table() is None
    native._looked.clear()
    assert simple_table() is not None


def test_a_full_table_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = native.load(smiles_table.UNIT)
    assert functions is not None
    # of its own: what only strict tells stays as an earlier call has left it
    whole = SmilesTable(functions)
    monkeypatch.setattr(smiles_table, "CACHED_TEXTS", 64)
    monkeypatch.setattr(smiles_table, "CACHED_CODES", 32)
    monkeypatch.setattr(smiles_table, "CACHED_BYTES", 4096)
    small = SmilesTable(functions)
    rng = random.Random(4)
    bank = [smiles for smiles in molecules() if len(smiles) < 18]
    for _ in range(300):
        gold = rng.sample(bank, min(6, len(bank)))
        pred = [spell(rng.choice(gold), rng) for _ in range(4)]
        ours, theirs = small.match(gold, pred), whole.match(gold, pred)
        if not ours.unknown:
            assert ours == theirs


def test_rdkit_is_not_loaded_for_what_kernels_decide(table: SmilesTable) -> None:
    built(UNIT)
    program = """
import sys, relfast
rows = [
    {"task": "REL-C2", "answer": {"smiles": "CCO"}, "response": "<smiles>OCCN</smiles>"},
    {"task": "REL-C3", "answer": {"missing_smiles": ["CCO"]}, "response": "<smiles>OCC</smiles>"},
]
for policy in ("reference", "strict", "reference"):
    print(*(score.correct for score in relfast.score(rows, policy=policy, workers=0)), "rdkit" in sys.modules)
    rows[1]["response"] = "<smiles>C~C</smiles>" if policy == "strict" else rows[1]["response"]
"""
    said = python("-c", program, check=True).stdout
    assert said.split("\n") == ["False True False", "False True False", "False False True", ""]


def test_what_is_readable_for_the_kernel_is_for_rdkit(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (DATA / "hostile" / "bad_smiles.txt").read_text("utf-8").splitlines()
    texts += [*molecules()[::40], "CCO", "C(", "", "c1ccccc1 benzene", "C\nC"]
    told = readable(texts)
    assert told == [parse(text) is not None for text in texts]
    assert {*told} == {True, False}
    monkeypatch.setattr(smiles_table, "simple_table", lambda: None)
    assert readable(texts) == told
    assert readable([]) == []
