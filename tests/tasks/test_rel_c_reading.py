"""What ``strict`` reads of REL-C2 and C3: the cases of the contract, that the end decides, and that the kernel says
the same as plain code."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import pytest
from missing_kernels import without

from relfast.tasks.rel_c.extract import read_molecules

DATA: Final = Path(__file__).resolve().parent.parent / "data"
TABLES: Final = tomllib.loads((DATA / "contract" / "rel_c.toml").read_text("utf-8"))
ONE: Final = [(case["reads"], text) for case in TABLES["one"] for text in case["texts"]]
SET: Final = [(case["reads"], text) for case in TABLES["set"] for text in case["texts"]]
FINAL: Final = (
    "<smiles>CCO</smiles>",
    "**<smiles>CCO</smiles>**",
    "\\boxed{CCO}",
    "<answer>CCO</answer>",
    "Answer: CCO",
    "## Answer\n\nCCO",
)
LISTS: Final = (
    "Final answer:\n<smiles>CCO</smiles>\n<smiles>COC</smiles>",
    "**Final Answer**\n\n1. <smiles>CCO</smiles>\n2. <smiles>COC</smiles>",
    "The missing isomers are: <smiles>CCO</smiles>, <smiles>COC</smiles>",
)
HOSTILE: Final = (
    "<smiles>", "<smiles>CC", "<smiles>CCN</smiles>", "~~", "<del>", "<!--", "```", "\\boxed{", "<answer>", "Answer:", "Final answer:",
    "not", "Final answer:\n<smiles>CCN</smiles>\n<smiles>C", "&lt;smiles&gt;", "<smiles>CCN</smiles> or", "wrong: <smiles>CCN</smiles>,",
    "\\boxed{CCN}", "Answer: CCN", "| Answer |", "<smiles><smiles>", "<s>", "\\text{", "$", "# ", "> ", "- ", "*", "\\",
)  # fmt: skip


@pytest.mark.parametrize(("reads", "text"), ONE)
def test_one_molecule(reads: str, text: str) -> None:
    found, reason = read_molecules(text, one=True)
    assert found == ([reads] if reads else [])
    assert (reason is None) == bool(reads)


@pytest.mark.parametrize(("reads", "text"), SET)
def test_a_set_of_molecules(reads: list[str], text: str) -> None:
    assert read_molecules(text, one=False)[0] == reads


def test_the_kernel_says_what_plain_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for _, text in (*ONE, *SET)] + [f"{a}\n\n{b}" for a in HOSTILE for b in (*FINAL, *LISTS)]
    compiled = [read_molecules(text, one=one) for text in texts for one in (True, False)]
    without(monkeypatch, "tags")
    assert [read_molecules(text, one=one) for text in texts for one in (True, False)] == compiled
