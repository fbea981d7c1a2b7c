"""Universes of constitutional isomers: counts, published sets, the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from corpora import rel_records
from hostile_cache import SPOILT
from rdkit import Chem
from relfast_kernels.compiled import native

from relfast.chem import isomers as module
from relfast.chem.isomers import formula_of, hill, is_strained, isomers, parse_formula, structures
from relfast.errors import UsageError

KNOWN = {
    # alkanes, OEIS A000602; the others are textbook counts, 217 from MOLGEN
    "CH4": 1,
    "C4H10": 2,
    "C5H12": 3,
    "C6H14": 5,
    "C7H16": 9,
    "C8H18": 18,
    "C4H8": 5,
    "C5H10": 10,
    "C4H6": 9,
    "C6H6": 217,
    "C3H8O": 3,
    "C4H10O": 7,
    "C5H8Br2": 88,
    "HF": 1,
    "CHClBrF": 1,
}

# universes of published REL-C3 records (ada-f/rel, MIT), whole
C3H3BR3 = "BrC1C(Br)C1Br BrC1CC1(Br)Br BrC=C(Br)CBr BrC=CC(Br)Br BrCC=C(Br)Br C=C(Br)C(Br)Br C=CC(Br)(Br)Br CC(Br)=C(Br)Br"
C3H10N2 = (
    "CC(C)(N)N CC(C)NN CC(N)CN CCC(N)N CCCNN CCN(C)N CCNCN CCNNC CN(C)CN CNC(C)N CNCCN CNCNC CNN(C)C NCCCN"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of its own for each test."""
    native.functions("isomers")  # this machine's
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    module._universe.cache_clear()
    return tmp_path / "cache" / "isomers"


@pytest.mark.parametrize(("formula", "count"), KNOWN.items())
def test_known_counts(formula: str, count: int) -> None:
    assert len(isomers(formula)) == count


@pytest.mark.parametrize("formula", ["C2H3", "CH5", "CH", "C2H8", "CH6O"])
def test_formulas_that_no_molecule_has(formula: str) -> None:
    assert isomers(formula) == ()


@pytest.mark.parametrize(("formula", "published"), [("C3H3Br3", C3H3BR3), ("C3H10N2", C3H10N2)])
def test_small_published_universes(formula: str, published: str) -> None:
    assert set(isomers(formula)) == set(published.split())


@pytest.mark.parametrize("formula", ["C6H6", "C4H4N2", "C5H6O2", "C3H4S2"])
def test_every_smiles_is_its_own_canonical_form_with_the_formula_asked_for(formula: str) -> None:
    universe = isomers(formula)
    assert len(universe) > 40
    for smiles in universe:
        mol = Chem.MolFromSmiles(smiles)
        assert mol is not None
        assert Chem.MolToSmiles(mol) == smiles
        assert formula_of(smiles) == hill(formula)
        assert "." not in smiles


@pytest.mark.parametrize(("formula", "joined"), [("C4H4N2", 1), ("C8H8", 10), ("C6H6", 0)])
def test_only_kekule_forms_of_one_aromatic_molecule_count_once(formula: str, joined: int) -> None:
    forms: dict[str, int] = {}
    for atoms, chunk in structures(formula):
        for bonds in chunk:
            smiles = module._smiles(atoms, bonds)
            forms[smiles] = forms.get(smiles, 0) + 1
    several = [smiles for smiles, n in forms.items() if n > 1]
    assert len(several) == joined == sum(forms.values()) - len(forms)
    for smiles in several:
        assert any(atom.GetIsAromatic() for atom in Chem.MolFromSmiles(smiles).GetAtoms())


def _published() -> dict[str, set[str]]:
    universes: dict[str, set[str]] = {}
    for record in rel_records("REL-C3"):
        whole = set(record["answer"]["molecules"]) | set(record["answer"]["missing_smiles"])
        assert len(whole) == record["metadata"]["universe_size"]
        universes.setdefault(record["metadata"]["formula"], whole)
        assert universes[record["metadata"]["formula"]] == whole
    return universes


def _has_multiple_bond_in_ring(smiles: str) -> bool:
    bonds = Chem.MolFromSmiles(smiles).GetBonds()
    return any(b.IsInRing() and b.GetBondType() != Chem.BondType.SINGLE for b in bonds)


def test_published_universes() -> None:
    """Equal sets, once molecules with a multiple bond inside a ring are left out on both sides.

    Of those the published file lacks some, and never has one that ours lacks.
    """
    published = _published()
    assert len(published) == 53
    n_equal = 0
    for formula, theirs in published.items():
        ours = set(isomers(formula))
        assert theirs <= ours, formula
        assert all(_has_multiple_bond_in_ring(smiles) for smiles in ours - theirs), formula
        n_equal += ours == theirs
    assert n_equal == 30


def test_unstrained_leaves_out_what_it_says() -> None:
    universe, unstrained = isomers("C4H3F"), isomers("C4H3F", "unstrained")
    assert (len(universe), len(unstrained)) == (19, 12)
    assert {s for s in universe if is_strained(s)} == set(universe) - set(unstrained)
    assert is_strained("FC1C#CC1")
    assert is_strained("C1=C=CC1")
    assert not is_strained("FC1=CC=C1")
    assert not is_strained("C#CC1CC1")
    assert not is_strained("C=C=C1CC1")
    with pytest.raises(UsageError, match="all or unstrained"):
        isomers("C4H3F", "strained")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("", "no molecular formula"),
        ("c5h8", "no molecular formula"),
        ("C5H8Br2 ", "no molecular formula"),
        ("C９", "no molecular formula"),
        ("C5P", "element P"),
        ("C99", "99 heavy atoms"),
        ("H2", "0 heavy atoms"),
        ("C1234", "no molecular formula"),
    ],
)
def test_formulas_that_cannot_be_enumerated(formula: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_formula(formula)


def test_formula_order_does_not_matter() -> None:
    assert hill("Br2H8C5") == "C5H8Br2"
    assert hill("N2OCl") == "ClN2O"
    assert isomers("Br2H8C5") == isomers("C5H8Br2")


def test_progress_is_told_about_what_is_not_cached() -> None:
    told: list[tuple[str, int]] = []
    isomers("C6H6", progress=lambda formula, found: told.append((formula, found)))
    assert told[-1] == ("C6H6", 217)
    module._universe.cache_clear()
    told.clear()
    isomers("C6H6", progress=lambda formula, found: told.append((formula, found)))
    assert told == []


def _flip(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"CCO\n",
        _flip,
        lambda data: b"\xff\x00" * 500,
        lambda data: b"[]\nCCO\n",
        lambda data: data.partition(b"\n")[2],
    ],
)
def test_a_spoilt_cache_changes_nothing_and_is_mended(cache: Path, spoil: object) -> None:
    right = isomers("C4H6Br2")
    (file,) = cache.iterdir()
    good = file.read_bytes()
    file.write_bytes(spoil(good))  # type: ignore[operator]
    module._universe.cache_clear()
    assert isomers("C4H6Br2") == right
    assert file.read_bytes() == good


def test_a_cache_file_of_another_formula_is_not_believed(cache: Path) -> None:
    isomers("C4H6Br2")
    (file,) = cache.iterdir()
    file.rename(file.with_name(file.name.replace("C4H6Br2", "C4H10")))
    module._universe.cache_clear()
    assert isomers("C4H10") == ("CC(C)C", "CCCC")


def test_the_cache_is_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = isomers("C4H6Br2")
    module._universe.cache_clear()

    def enumerate_again(formula: str, progress: object) -> tuple[str, ...]:
        raise AssertionError("enumerated although cached")

    monkeypatch.setattr(module, "_enumerate", enumerate_again)
    assert isomers("C4H6Br2") == right


def test_an_unwritable_cache_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a file where the folder should be: not even root can write there
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(blocker))
    assert len(isomers("C4H6Br2")) == 27


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_planted_universe_is_not_believed(cache: Path, spoil: Callable[[Path], None]) -> None:
    """Whole and with the right digest, as an attacker would plant it."""
    body = b"CCO\n"
    head = json.dumps({"sha256": module._digest("C4H6Br2", body)})
    file = module._cache().write(module._cache_file("C4H6Br2"), head.encode() + b"\n" + body)
    assert isomers("C4H6Br2") == ("CCO",)
    module._universe.cache_clear()
    spoil(cache)
    with pytest.warns(RuntimeWarning, match=f" is not used: {cache} "):
        assert len(isomers("C4H6Br2")) == 27
    assert file.read_bytes().endswith(body)


@pytest.mark.slow
def test_eight_heavy_atoms_in_well_under_a_minute() -> None:
    """Not timed, only done: 69,471 isomers of C4H4N2O2, every one with its formula."""
    universe = isomers("C4H4N2O2")
    assert len(universe) == len(set(universe)) == 69_471
    # a sample: the whole is checked for smaller formulas
    assert all(formula_of(smiles) == "C4H4N2O2" for smiles in universe[::50])


def test_chunks_of_structures_stay_what_they_were() -> None:
    """A chunk kept is not overwritten by the next one."""
    chunks = [bonds for _, bonds in structures("C6H6", chunk=50)]
    kept = {bonds.tobytes() for chunk in chunks for bonds in chunk}
    assert len(chunks) == 5
    assert len(kept) == 217
