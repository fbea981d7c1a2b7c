"""What is a molecule for the kernel is one for RDKit, and the other way round."""

from __future__ import annotations

import pytest
from corpora import DATA, rows

from relfast.chem import smiles_table as module
from relfast.chem.molecule import parse
from relfast.tasks.rel_c.gold import readable


def by_rdkit(texts: list[str]) -> list[bool]:
    return [parse(text) is not None for text in texts]


def test_texts_of_models_and_published_molecules() -> None:
    texts = (DATA / "hostile" / "bad_smiles.txt").read_text("utf-8").splitlines()
    for record in rows("rel/REL-C2.jsonl.gz")[::40]:
        texts += record["answer"]["molecules"]
    told = readable(texts)
    assert told == by_rdkit(texts)
    assert True in told
    assert False in told


def test_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["CCO", "C(", "", "c1ccccc1 benzene", "C\nC"]
    whole = readable(texts)
    monkeypatch.setattr(module, "simple_table", lambda: None)
    assert readable(texts) == whole == by_rdkit(texts)
    assert readable([]) == []
