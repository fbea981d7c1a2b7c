"""REL-C1, C2 and C3 records, checked by RDKit with code of the test's own."""

from __future__ import annotations

import gzip
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from contract_records import Rec, check_run, generate, outcome
from corpora import rel_records
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator, rdFMCS, rdMolDescriptors
from rdkit.Chem.Scaffolds import MurckoScaffold
from relfast_kernels.caches import user_cache
from seeds import SEED, fresh

from relfast.chem import isomers as universes
from relfast.chem.bank import BUILT_IN, Bank, load_bank
from relfast.chem.molecule import Molecule, parse
from relfast.chem.motif import largest_motif, largest_motifs
from relfast.errors import InputError, UsageError


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache of universes for this module, with the kernels of this machine's."""
    kernels, here = user_cache("native").path, tmp_path_factory.mktemp("cache")
    (here / "native").symlink_to(kernels, target_is_directory=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(here))
        universes._universe.cache_clear()
        yield


@pytest.fixture(scope="module")
def bank() -> Bank:
    return load_bank(None, 8)


def test_c1_as_asked() -> None:
    asked = {"sizes": (4,), "yes_fraction": 0.2, "formulas": ("C4H8", "C6H6"), "odd": "any"}
    records = generate("REL-C1", 30, 1, universe_min=2, universe_max=217, **asked)
    assert sum(r["answer"]["label"] == "Yes" for r in records) == 6
    assert {len(r["answer"]["molecules"]) for r in records} == {4}
    molecules = [Chem.MolFromSmiles(s) for r in records for s in r["answer"]["molecules"]]
    assert {*map(rdMolDescriptors.CalcMolFormula, molecules)} == {"C4H8", "C6H6"}


# C2


def check_motif(record: Rec) -> None:
    molecules, gold = record["answer"]["molecules"], record["answer"]["smiles"]
    assert re.findall(r"^\d+\. (\S+)$", record["question"], re.MULTILINE) == molecules
    assert len(set(molecules)) == len(molecules)
    motif = Chem.MolFromSmiles(gold)
    assert Chem.MolToSmiles(motif, isomericSmiles=False) == gold
    assert "." not in gold
    assert motif.GetNumAtoms() == record["metadata"]["mcs_num_atoms"] >= 8
    assert all(Chem.MolFromSmiles(s).HasSubstructMatch(motif) for s in molecules)


@pytest.mark.slow
@pytest.mark.fuzz
def test_many_c2_records(bank: Bank) -> None:
    """Groups of up to 15, a thousand others in each round of `make fuzz`: of 5 to 50 molecules they take minutes."""
    n, seed = (90, 42) if SEED is None else (1_000, fresh(42).randrange(10**9))
    records = check_run(generate("REL-C2", n, seed, bank=bank, sizes=(5, 10, 15)), n)
    morgan = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    for record in records:
        check_motif(record)
        bits = [morgan.GetFingerprint(Chem.MolFromSmiles(s)) for s in record["answer"]["molecules"]]
        similar = [[DataStructs.TanimotoSimilarity(a, b) for b in bits if b is not a] for a in bits]
        assert any(min(row) >= 0.35 and max(row) <= 0.90 for row in similar)
        wrong = f"<smiles>{record['answer']['smiles'][:1]}</smiles>"
        assert not any(outcome(record, wrong, policy).correct for policy in ("reference", "strict"))
    assert {*Counter(len(r["answer"]["molecules"]) for r in records).values()} <= {n // 3, n // 3 + 1}


def test_no_constant_is_gold_of_many_c2_records(bank: Bank) -> None:
    records = list(generate("REL-C2", 300, 11, bank=bank, sizes=(5, 10)))
    ((_, most),) = Counter(record["answer"]["smiles"] for record in records).most_common(1)
    assert most <= 7
    as_published = list(generate("REL-C2", 300, 11, bank=bank, sizes=(5, 10), gold_share=1.0))
    ((_, more),) = Counter(record["answer"]["smiles"] for record in as_published).most_common(1)
    assert more > most
    # records do not depend on how many follow
    assert list(generate("REL-C2", 10, 11, bank=bank, sizes=(5, 10))) == records[:10]


def test_c2_by_scaffold(bank: Bank) -> None:
    for record in check_run(generate("REL-C2", 12, 1, bank=bank, sizes=(5, 8), strategy="scaffold"), 12):
        check_motif(record)
        molecules = map(Chem.MolFromSmiles, record["answer"]["molecules"])
        (scaffold,) = {MurckoScaffold.MurckoScaffoldSmiles(mol=mol) for mol in molecules}
        assert scaffold
    mixed = generate("REL-C2", 20, 1, bank=bank, sizes=(5,), strategy="mixed")
    assert {r["metadata"]["sampling_strategy"] for r in mixed} == {"similarity", "scaffold"}


CASE = (
    "O=C1CSC2(CCN(CCCN3c4ccccc4Sc4ccc(Cl)cc43)CC2)N1",
    "OCCN1CCN(CCCN2c3ccccc3Sc3ccc(C(F)(F)F)cc32)CC1",
    "CSc1ccc2c(c1)N(CCC1CCCCN1C)c1ccccc1S2",
    "CN1CCN(CCCN2c3ccccc3Sc3ccc(Cl)cc32)CC1",
    "CN1CCN(CCCN2c3ccccc3Sc3ccc(C(F)(F)F)cc32)CC1",
)
"""A chain of each lies partly in a ring."""


def test_the_definition_is_the_question_s(tmp_path: Path) -> None:
    molecules = [m for m in map(parse, CASE) if m is not None]
    published, whole = (largest_motif(molecules, 8, 10**6, whole_rings=w) for w in (False, True))
    assert published == ("CCN(C)CCCN1c2ccccc2Sc2ccccc21", 21, 23)
    assert whole == ("CCN1c2ccccc2Sc2ccccc21", 16, 18)
    (tmp_path / "bank.smi").write_text("\n".join(CASE))
    asked = {"bank": tmp_path / "bank.smi", "sizes": (5,), "tanimoto": (0.0, 1.0)}
    (record,) = generate("REL-C2", 1, 1, **asked)
    assert (record["answer"]["smiles"], record["metadata"]["mcs_definition"]) == (published[0], "published")
    assert "ring" not in record["question"]
    (record,) = generate("REL-C2", 1, 1, whole_rings=True, **asked)
    assert (record["answer"]["smiles"], record["metadata"]["mcs_definition"]) == (whole[0], "whole rings")
    assert "Rings are not cut open" in record["question"]


@pytest.mark.slow
@pytest.mark.parametrize(("whole_rings", "least_proven"), [(False, 0.2), (True, 0.35)])
def test_gold_of_two_hundred_records_is_what_rdkit_finds(
    bank: Bank, whole_rings: bool, least_proven: float
) -> None:
    """Of 5 to 50 molecules. Where RDKit's search comes to its end it finds as much, elsewhere no more."""
    n_proven = 0
    for record in check_run(generate("REL-C2", 200, 3, bank=bank, whole_rings=whole_rings), 200):
        check_motif(record)
        molecules = [Chem.MolFromSmiles(smiles) for smiles in record["answer"]["molecules"]]
        result, is_whole = found_by_rdkit(molecules, whole_rings)
        ours = record["metadata"]["mcs_num_bonds"], record["metadata"]["mcs_num_atoms"]
        if whole_rings:
            # a pattern of which a ring is cut open is none
            is_whole = is_whole and _has_whole_rings(molecules[0], Chem.MolFromSmarts(result.smartsString))
        else:
            assert result.numBonds <= ours[0]
        assert not is_whole or (result.numBonds, result.numAtoms) == ours
        n_proven += is_whole
    print(f"{n_proven} of 200 proven")
    assert n_proven >= 200 * least_proven


def test_a_search_cut_short_is_never_gold(bank: Bank) -> None:
    molecules = [parse(s) for s in ("Cc1ccc2ncccc2c1", "Cc1ccc2ncccc2c1C", "OCc1ccc2ncccc2c1")]
    whole = [m for m in molecules if m is not None]
    motif = largest_motif(whole, 8, 1_000)
    assert motif is not None
    assert motif == ("Cc1ccc2ncccc2c1", 11, 12)
    for steps in range(1, 6):
        short = largest_motif(whole, 8, steps)
        assert short is None or short == motif
    assert largest_motif(whole, 8, 1) is None


def test_unclear_motifs_are_turned_down() -> None:
    def motif(*smiles: str, least: int = 3, whole_rings: bool = False) -> object:
        molecules = [m for m in map(parse, smiles) if m is not None]
        return largest_motif(molecules, least, 10_000, whole_rings=whole_rings)

    assert motif("OCCCF", "OCCCCl") == ("CCCO", 4, 3)
    # CCCO and CCCN are equally large
    assert motif("OCCCN", "OCCCCCCCCN", "NCCCCCCO") is None
    assert motif("OCCCSCCCN", "OCCCCCCCCN") is None
    # smaller than asked for
    assert motif("OCCCF", "OCCCCl", least=5) is None
    # aromatic bonds match single ones, and the motif would be no molecule, or not in both
    assert motif("c1ccccc1O", "CCCCCCO") is None
    assert motif("C1CCCCC1O", "CCCCCCO") == ("CCCCCCO", 7, 6)
    # a ring is never matched by a chain, nor cut open
    assert motif("C1CCCCC1O", "CCCCCCO", least=2, whole_rings=True) is None


def found_by_rdkit(molecules: Sequence[Any], whole_rings: bool, *, every: bool = False) -> tuple[Any, bool]:
    """What one plain search of RDKit's over all molecules finds, and whether it came to its end: on some groups it would
    take minutes."""

    class Limit(rdFMCS.MCSProgress):  # type: ignore[misc]
        left = 300

        def __call__(self, _stat: object, _parameters: object) -> bool:
            self.left -= 1
            return self.left > 0

    parameters = rdFMCS.MCSParameters()
    parameters.StoreAll = every
    if whole_rings:
        parameters.BondTyper = rdFMCS.BondCompare.CompareOrderExact
        parameters.AtomCompareParameters.RingMatchesRingOnly = True
        parameters.BondCompareParameters.RingMatchesRingOnly = True
        parameters.BondCompareParameters.CompleteRingsOnly = True
    parameters.ProgressCallback = limit = Limit()
    result = rdFMCS.FindMCS(molecules, parameters)
    return result, not result.canceled and limit.left > 0


def motifs_by_rdkit(molecules: Sequence[Molecule], whole_rings: bool) -> set[tuple[int, int]]:
    """Bonds and atoms of the largest motifs; nothing where RDKit does not come to its end."""
    result, is_whole = found_by_rdkit([molecule.mol for molecule in molecules], whole_rings, every=True)
    if not is_whole or result.numAtoms < 2:
        return set()
    patterns = list(result.degenerateSmartsQueryMolDict.values())
    # of some groups it tells patterns of which a ring is cut open, and no others
    if whole_rings and not all(_has_whole_rings(molecules[0].mol, pattern) for pattern in patterns):
        return set()
    return {(pattern.GetNumBonds(), pattern.GetNumAtoms()) for pattern in patterns}


def _has_whole_rings(mol: Any, pattern: Any) -> bool:
    """Whether each bond of a pattern that is in a ring of the molecule is in one of the pattern."""
    atoms = mol.GetSubstructMatch(pattern)
    ends = [(atoms[bond.GetBeginAtomIdx()], atoms[bond.GetEndAtomIdx()]) for bond in pattern.GetBonds()]
    bonds = [mol.GetBondBetweenAtoms(*pair) for pair in ends]
    part = Chem.PathToSubmol(mol, [bond.GetIdx() for bond in bonds])
    Chem.FastFindRings(part)
    return sum(bond.IsInRing() for bond in part.GetBonds()) == sum(bond.IsInRing() for bond in bonds)


@pytest.mark.fuzz
@pytest.mark.parametrize("whole_rings", [False, True])
def test_the_kernel_finds_what_rdkit_finds(bank: Bank, whole_rings: bool) -> None:
    """Groups that RDKit finishes within some steps: thousands in each round of `make fuzz`."""
    n, numbers = (150, random.Random(1)) if SEED is None else (3_000, fresh(1))
    draws = (
        bank.scaffold_group,
        lambda numbers, size: bank.similar_group(numbers, size, 0.2, 0.9),
        lambda numbers, size: numbers.sample(bank.molecules, size),
    )
    n_compared = 0
    for _ in range(n):
        size = numbers.choice([2, 3, 4, 5, 8])
        group = numbers.choice(draws)(numbers, size)
        theirs = group and motifs_by_rdkit(group, whole_rings)
        if group and theirs:
            ours = largest_motifs(group, 2, 10_000_000, whole_rings=whole_rings)
            n_compared += 1
            keys = [molecule.key for molecule in group]
            assert {(len(bonds), len(atoms)) for atoms, bonds in ours.places} == theirs, keys
    assert n_compared > n / 4


def test_groups_that_the_kernel_does_not_take_have_no_motif() -> None:
    """More bonds or atoms than fit in a number; where one molecule is smaller its bonds are what counts."""
    cage, small = "C12C3C4C1C5C2C3C45" + "C1CC1" * 14, "CC1CC1"
    many = "C" * 70
    whole = [m for m in map(parse, (cage + "F", cage + "N", small + "S", many)) if m is not None]
    assert [m.n_atoms for m in whole] == [51, 51, 5, 70]
    assert whole[0].n_bonds > 62
    assert largest_motif(whole[:2], 2, 1_000_000) is None
    assert largest_motif(whole[2:], 2, 1_000_000) is None
    found = largest_motif(whole[:3], 2, 1_000_000)
    assert found is not None
    assert found.smiles == "CC1CC1"


def test_the_built_in_bank_is_the_published_molecules(bank: Bank) -> None:
    # 3,530 SMILES; twelve of them are another spelling of a molecule that is there already
    whole = load_bank(None, 1)
    assert len(whole) == len(bank) == 3_518
    assert whole.n_unusable == 0
    theirs = {s for record in rel_records("REL-C2") for s in record["answer"]["molecules"]}
    keys = {parse(s).key for s in theirs}  # type: ignore[union-attr]
    assert {m.key for m in whole.molecules} == keys


def test_banks_from_files(tmp_path: Path) -> None:
    lines = "# comment\nCCO ethanol\n\nOCC again\nnot a molecule\nC*\nC[C@H](N)O x\nCC.O\n%s\nCCN\n" % (
        "C" * 101
    )
    plain = tmp_path / "bank.smi"
    plain.write_text(lines)
    packed = tmp_path / "bank.txt"
    packed.write_bytes(gzip.compress(lines.encode()))
    for path in (plain, packed, str(plain)):
        found = load_bank(path, 2)
        assert [m.key for m in found.molecules] == ["CCO", "CC(N)O", "CCN"]
        assert found.n_unusable == 4
    with pytest.raises(InputError, match="fewer than two"):
        load_bank(plain, 4)
    with pytest.raises(InputError, match="cannot be read"):
        load_bank(tmp_path / "none.smi", 1)
    torn = tmp_path / "torn.smi.gz"
    torn.write_bytes(gzip.compress(lines.encode() * 200)[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        load_bank(torn, 1)
    assert BUILT_IN.endswith(".gz")


def test_what_a_bank_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "bank.smi"
    lines = [f"{tail}c1ccc2nc({head})ccc2c1" for tail in "CNOFS" for head in "CNOF"]
    # as good as not settled, too large to be taken, a charge, a bond that only RDKit knows
    lines += ["OC(=O)c1ccc2ncccc2c1", "C" * 80, "C[N+](C)(C)Cc1ccc2ncccc2c1"]
    lines += ["O=S(=O)(c1ccc2ncccc2c1)C", "not one"]
    path.write_text("\n".join(lines))
    bank = load_bank(path, 8)
    assert (bank.n_unusable, len(bank)) == (2, len(lines) - 2)
    assert generate("REL-C2", 12, 1, bank=path, sizes=(3, 4), tanimoto=(0.1, 0.9))
    with pytest.raises(UsageError, match="none of"):
        generate("REL-C2", 1, 1, bank=path, sizes=(21,))
