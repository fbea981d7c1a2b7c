"""Universes of constitutional isomers: counts, published sets, the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from corpora import rel_records
from hostile_cache import give_away
from rdkit import Chem
from relfast_kernels.caches import user_cache
from relfast_kernels.compiled import native

from relfast.chem import isomers as module
from relfast.chem.isomers import formula_of, hill, is_strained, isomers, kept_name, parse_formula, write_kept
from relfast.errors import UsageError

KNOWN = {
    # alkanes, OEIS A000602; the others are textbook counts, 217 from MOLGEN
    "CH4": 1, "C4H10": 2, "C5H12": 3, "C6H14": 5, "C7H16": 9, "C8H18": 18,
    "C4H8": 5, "C5H10": 10, "C4H6": 9, "C6H6": 217, "C3H8O": 3, "C4H10O": 7, "C5H8Br2": 88, "HF": 1, "CHClBrF": 1,
}  # fmt: skip


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


def test_published_universes() -> None:
    """Equal sets, once molecules with a multiple bond inside a ring are left out on both sides.

    Of those the published file lacks some, and never has one that ours lacks.
    """
    published: dict[str, set[str]] = {}
    for record in rel_records("REL-C3"):
        whole = {*record["answer"]["molecules"], *record["answer"]["missing_smiles"]}
        assert len(whole) == record["metadata"]["universe_size"]
        assert published.setdefault(record["metadata"]["formula"], whole) == whole
    assert len(published) == 53
    n_equal = 0
    for formula, theirs in published.items():
        ours = set(isomers(formula))
        assert theirs <= ours, formula
        for smiles in ours - theirs:
            rings = [bond for bond in Chem.MolFromSmiles(smiles).GetBonds() if bond.IsInRing()]
            assert any(bond.GetBondType() != Chem.BondType.SINGLE for bond in rings), smiles
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
        *((formula, "no molecular formula") for formula in ("", "c5h8", "C5H8Br2 ", "C９", "C1234")),
        *(("C5P", "element P"), ("C99", "99 heavy atoms"), ("H2", "0 heavy atoms")),
    ],
)
def test_formulas_that_cannot_be_enumerated(formula: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_formula(formula)
    assert (hill("Br2H8C5"), hill("N2OCl")) == ("C5H8Br2", "ClN2O")


@pytest.mark.parametrize(
    "spoil",
    [
        None,
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"CCO\n",
        lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        lambda data: b"\xff\x00" * 500,
        lambda data: b"[]\nCCO\n",
        lambda data: data.partition(b"\n")[2],
    ],
)
def test_a_spoilt_cache_changes_nothing_and_is_mended(
    cache: Path, spoil: Callable[[bytes], bytes] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int]] = []
    right = isomers("Br2H6C4", progress=lambda *found: told.append(found))
    assert told[-1] == ("C4H6Br2", 27)
    (file,) = cache.iterdir()
    good = file.read_bytes()
    if spoil is not None:
        file.write_bytes(spoil(good))
    module._universe.cache_clear()
    told.clear()
    assert isomers("C4H6Br2", progress=lambda *found: told.append(found)) == right
    assert (not told) == (spoil is None)
    assert file.read_bytes() == good
    # a file of another formula is not believed
    file.rename(file.with_name(file.name.replace("C4H6Br2", "C4H10")))
    module._universe.cache_clear()
    assert isomers("C4H10") == ("CC(C)C", "CCCC")


def test_a_planted_universe_is_not_believed(cache: Path) -> None:
    """Whole and with the right digest, as an attacker would plant it."""
    body = b"CCO\n"
    write_kept("C4H6Br2", body)
    file = user_cache("isomers").path / kept_name("C4H6Br2")
    assert isomers("C4H6Br2") == ("CCO",)
    module._universe.cache_clear()
    give_away(cache)
    with pytest.warns(RuntimeWarning, match=f" is not used: {cache} "):
        assert len(isomers("C4H6Br2")) == 27
    assert file.read_bytes().endswith(body)
