"""What is a molecule for the kernel is one for RDKit, and the other way round."""

from __future__ import annotations

import pytest
from corpora import DATA, rows
from hypothesis import given
from hypothesis import strategies as st

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


PUBLISHED = [record["answer"]["molecules"][0] for record in rows("rel/REL-C2.jsonl.gz")[::20]]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(PUBLISHED), st.integers(0, 200), st.sampled_from("CNOcno()[]=#12+-H@ \n\x00é*.%")
        ),
        max_size=6,
    )
)
def test_mutilated_molecules(edits: list[tuple[str, int, str]]) -> None:
    texts = [text[: at % len(text)] + put + text[at % len(text) + 1 :] for text, at, put in edits]
    assert readable(texts) == by_rdkit(texts)


def test_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["CCO", "C(", "", "c1ccccc1 benzene", "C\nC"]
    whole = readable(texts)
    monkeypatch.setattr(module, "simple_table", lambda: None)
    assert readable(texts) == whole == by_rdkit(texts)
    assert readable([]) == []
