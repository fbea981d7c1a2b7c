"""Records of REL-C3 for the strict corpus."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Final

from corpora import rel_records
from spellings import spell
from strict.corpus import Case

from relfast.tasks.rel_c.generate import missing_isomers
from relfast.tasks.rel_c.parameters import MissingIsomersParameters

MOST: Final = 12
"""Missing molecules of a record here: all forms of a long list are those of a short one."""


def tag(smiles: str) -> str:
    return f"<smiles>{smiles}</smiles>"


def a_line(molecules: Iterable[str], form: str = "<smiles>{}</smiles>") -> str:
    """The molecules a line each; ``{}`` in the form is the molecule, ``#`` its number."""
    return "\n".join(form.replace("#", str(at)).replace("{}", one) for at, one in enumerate(molecules, 1))


FORMS: Final = {
    "tags": "<smiles>{}</smiles>", "bullets": "- <smiles>{}</smiles>", "numbered": "#. <smiles>{}</smiles>",
    "in backquotes": "<smiles>`{}`</smiles>", "in bold": "<smiles>**{}**</smiles>", "with stop": "<smiles>{}.</smiles>",
    "isotopes": "<smiles>[13CH3]{}</smiles>", "wild": "<smiles>*{}</smiles>", "reaction": "<smiles>{}>>{}</smiles>",
    "queries": "<smiles>[#6]{}</smiles>", "odd bond": "<smiles>{}~C</smiles>", "mapped": "<smiles>[CH3:1]{}</smiles>",
}  # fmt: skip


def cases() -> list[Case]:
    rng = random.Random(13)
    short = [r for r in rel_records("REL-C3") if 3 <= len(r["answer"]["missing_smiles"]) <= MOST]
    made = missing_isomers(40, 5, MissingIsomersParameters(given=(5, 10), universe_max=16))
    few = [record for record in made if 3 <= len(record["answer"]["missing_smiles"]) <= MOST]
    return [_case(record, rng) for record in (*rng.sample(short, 20), *few[:6])]


def _case(record: dict[str, Any], rng: random.Random) -> Case:
    missing, given = record["answer"]["missing_smiles"], record["answer"]["molecules"]
    shuffled = rng.sample(missing, len(missing))
    first = missing[0]
    words = {
        **{name: a_line(missing, form) for name, form in FORMS.items()},
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
