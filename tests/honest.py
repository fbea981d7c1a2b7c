"""Honest answers: the right answer to a record, in documented forms."""

from __future__ import annotations

import random
from typing import Any

from corpora import b1_names
from molecule_pairs import spell

PANEL = [
    "Answer {n}", "answer {n}", "Answer: {n}", "Answer #{n}", "**Answer {n}**", "**Answer: {n}**",
    "**Answer:** {n}", "{n}", "**{n}**", "({n})", "( {n} )", "{n}.", "\\boxed{{{n}}}", "$\\boxed{{{n}}}$", "\\[\\boxed{{{n}}}\\]",
    "The answer is {n}.", "The answer is \\boxed{{{n}}}.", "The correct answer is option {n}.", "Option {n}",
    "The missing panel is {n}.", "The missing panel is Answer {n}.",
    "Final answer: {n}", "**Final Answer:** Answer {n}", "So the answer is Answer {n}.", "I choose option {n}.",
    "Therefore, the correct choice is {n}.", "<answer>{n}</answer>",
    "The panel that completes the matrix is panel {n}.", "Answer {n} completes the matrix.", "### Answer\n\n{n}",
    "Answer:\n{n}", "Answer:\u00a0{n}", "Answer “{n}”", "Answer - {n}", '{{"answer": {n}}}', "Thus the answer must be {n} (all panels are equal).",
]  # fmt: skip

YES = [
    "Yes. The taxa involved are {forms}.", "Yes\n{forms}", "Yes — {numbers}", "yes: {forms}", "Yes, {numbers}", "<Yes> {numbers}",
    "**Yes**\n\n{bullets}", "Yes. The taxa are {prose}.", "Yes, taxa {prose}.", "Answer: Yes, {forms}",
    "Final answer: **Yes** – taxa {numbers}", "Yes\n\n{enumerated}", "Yes, structured homoplasy is present. Taxa involved: {numbers}",
    "Yes ({count} taxa): {numbers}", '{{"answer": "Yes", "taxa": [{numbers}]}}',
    "Yes {quoted}", "The answer is yes. Taxa involved: {forms}",
]  # fmt: skip

NO = [
    "No", "no", "No.", "NO", "**No**", "No, there is no structured homoplasy.", "Answer: No", "The answer is no.", "1. No",
    "No. I examined all 50 taxa.", "Final answer: **No**.", "<No>",
    '{{"answer": "No"}}',
]  # fmt: skip

LABEL = ["<{label}>", "< {label} >", "<{lower}>", "<{upper}>", "**<{label}>**", "My answer: <{label}>", "`<{label}>`", "<{label}>."]  # fmt: skip

MOTIF = [
    "<smiles>{smiles}</smiles>", "<smiles> {smiles} </smiles>", "<smiles>\n{smiles}\n</smiles>", "<SMILES>{smiles}</SMILES>",
    "<smiles>{smiles}", "The motif is <smiles>{smiles}</smiles>.", "```\n<smiles>{smiles}</smiles>\n```",
    "**<smiles>{smiles}</smiles>**", "Final answer:\n<smiles>{smiles}</smiles>\n",
]  # fmt: skip


def _panel(record: dict[str, Any], rng: random.Random) -> str:
    return rng.choice(PANEL).format(n=record["answer"]["target"] + 1)


def _homoplasy(record: dict[str, Any], rng: random.Random) -> str:
    if record["answer"]["label"].lower() == "no":
        return rng.choice(NO).format()
    taxa = b1_names(record)
    rng.shuffle(taxa)
    form = rng.choice(["taxon_{}", "Taxon {}", "TAXON_{}", "taxon{}", "taxon {}"])
    forms = [form.format(taxon) for taxon in taxa]
    return rng.choice(YES).format(
        forms=", ".join(forms),
        numbers=", ".join(taxa),
        bullets="\n".join(f"- {taxon}" for taxon in taxa),
        enumerated="\n".join(f"{number}. {taxon}" for number, taxon in enumerate(forms, 1)),
        prose=", ".join(taxa[:-1]) + f" and {taxa[-1]}" if len(taxa) > 1 else taxa[0],
        quoted=", ".join(f'"{taxon}"' for taxon in taxa),
        count=len(taxa),
    )


def _label(record: dict[str, Any], rng: random.Random) -> str:
    label = record["answer"]["label"]
    return rng.choice(LABEL).format(label=label, lower=label.lower(), upper=label.upper())


def _motif(record: dict[str, Any], rng: random.Random) -> str:
    return rng.choice(MOTIF).format(smiles=spell(record["answer"]["smiles"], rng))


def _isomers(record: dict[str, Any], rng: random.Random) -> str:
    missing = [spell(smiles, rng) for smiles in record["answer"]["missing_smiles"]]
    rng.shuffle(missing)
    bullet = rng.choice(["", "", "- ", "* "])
    return "\n".join(f"{bullet}<smiles>{smiles}</smiles>" for smiles in missing)


_WRITERS = {"REL-A": _panel, "REL-B": _homoplasy, "REL-C1": _label, "REL-C2": _motif, "REL-C3": _isomers}


def answer(record: dict[str, Any], rng: random.Random) -> str:
    """The bare right answer to a published record, in one of its forms."""
    task = record["task"]
    return _WRITERS[task if task in _WRITERS else task[:5]](record, rng)
