"""Records of REL-C3 for the strict corpus."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any, Final

from corpora import rel_records
from rdkit import Chem
from spellings import spell
from strict.corpus import Case

from relfast.chem.isomers import isomers
from relfast.tasks.rel_c.generate_isomers import missing_isomers
from relfast.tasks.rel_c.parameters import MissingIsomersParameters

MOST: Final = 12
"""Missing molecules of a record here: all forms of a long list are those of a short one."""


def tag(smiles: str) -> str:
    return f"<smiles>{smiles}</smiles>"


def a_line(molecules: Iterable[str], form: str = "<smiles>{}</smiles>") -> str:
    """The molecules a line each; ``{}`` in the form is the molecule, ``#`` its number."""
    return "\n".join(form.replace("#", str(at)).replace("{}", one) for at, one in enumerate(molecules, 1))


FORMS: Final = {
    "tags": "<smiles>{}</smiles>", "spaced": "<smiles> {} </smiles>", "bullets": "- <smiles>{}</smiles>",
    "numbered": "#. <smiles>{}</smiles>", "stars": "* <smiles>{}</smiles>", "upper": "<SMILES>{}</SMILES>",
    "unclosed": "<smiles>{}", "backquoted": "`<smiles>{}</smiles>`", "bold": "**<smiles>{}</smiles>**",
    "parens": "(#) <smiles>{}</smiles>", "table": "| # | <smiles>{}</smiles> |", "quoted": '"<smiles>{}</smiles>"',
    "rows": "Isomer #: <smiles>{}</smiles>", "lines": "{}", "numbered lines": "#. {}", "bullet lines": "- {}",
    "in backquotes": "<smiles>`{}`</smiles>", "in quotes": '<smiles>"{}"</smiles>', "in dollars": "<smiles>${}$</smiles>",
    "in bold": "<smiles>**{}**</smiles>", "with stop": "<smiles>{}.</smiles>", "with comma": "<smiles>{},</smiles>",
    "with zero width": "<smiles>\u200b{}\u200b</smiles>", "in latex": "<smiles>\\text{{}}</smiles>",
    "in single quotes": "<smiles>'{}'</smiles>", "with label": "<smiles>SMILES: {}</smiles>",
    "with number": "<smiles>#. {}</smiles>", "in code": "<smiles><code>{}</code></smiles>",
    "with blanks": "<smiles>\n{}\n</smiles>", "in curly quotes": "<smiles>“{}”</smiles>",
    "in fence": "<smiles>```\n{}\n```</smiles>", "html": "&lt;smiles&gt;{}&lt;/smiles&gt;",
    "markdown": "\\<smiles\\>{}\\</smiles\\>", "full width": "＜smiles＞{}＜/smiles＞",
    "json escaped": "\\u003csmiles\\u003e{}\\u003c/smiles\\u003e", "named": "<smiles>{}</smiles> (isomer #)",
    "dashed notes": "<smiles>{}</smiles> — with its halogen on carbon #", "checked": "<smiles>{}</smiles> ✅",
    "labelled": "**Isomer #:** <smiles>{}</smiles>", "headed by number": "**#.**\n<smiles>{}</smiles>",
    "letters": "#) <smiles>{}</smiles>", "square": "[smiles]{}[/smiles]", "misspelt": "<smile>{}</smile>",
    "with name": "<smiles>{} name</smiles>", "with words": "<smiles>{} is missing</smiles>",
    "with cx": "<smiles>{} |$a$|</smiles>", "words a line": "<smiles>{}\nis one of them</smiles>",
    "isotopes": "<smiles>[13CH3]{}</smiles>", "wild": "<smiles>*{}</smiles>", "reaction": "<smiles>{}>>{}</smiles>",
    "queries": "<smiles>[#6]{}</smiles>", "doubled": "<smiles>{}.{}</smiles>", "odd bond": "<smiles>{}~C</smiles>",
    "mapped": "<smiles>[CH3:1]{}</smiles>", "denied": "It is not <smiles>{}</smiles>.",
    "crossed": "<smiles>{}</smiles> ❌", "wrong notes": "<smiles>{}</smiles> is wrong",
    "given notes": "<smiles>{}</smiles> (given)",
}  # fmt: skip

JOINED: Final[dict[str, Callable[[list[str]], str]]] = {
    "oneline": lambda all_: " ".join(map(tag, all_)),
    "commas": lambda all_: ", ".join(map(tag, all_)),
    "semicolons": lambda all_: "; ".join(map(tag, all_)),
    "blank": lambda all_: "\n\n".join(map(tag, all_)),
    "fenced": lambda all_: f"```\n{a_line(all_)}\n```",
    "json": lambda all_: '{"missing": [' + ", ".join(f'"{tag(one)}"' for one in all_) + "]}",
    "comma lines": ", ".join,
    "semicolon lines": "; ".join,
    "br lines": "<br>".join,
    "sections": lambda all_: _sections(all_, "### {}\n\n"),
    "bold sections": lambda all_: _sections(all_, "**{}:**\n"),
    "plain sections": lambda all_: _sections(all_, "{}:\n"),
}


def _sections(molecules: list[str], heading: str) -> str:
    middle = (len(molecules) + 1) // 2
    return "\n\n".join(
        heading.format(name) + a_line(part)
        for name, part in (("Open chains", molecules[:middle]), ("Rings", molecules[middle:]))
        if part
    )


def cases() -> list[Case]:
    rng = random.Random(13)
    short = [r for r in rel_records("REL-C3") if 3 <= len(r["answer"]["missing_smiles"]) <= MOST]
    made = missing_isomers(40, 5, MissingIsomersParameters(given=(5, 10), universe_max=16))
    few = [record for record in made if 3 <= len(record["answer"]["missing_smiles"]) <= MOST]
    return [_case(record, rng) for record in (*rng.sample(short, 20), *few[:6])]


def _case(record: dict[str, Any], rng: random.Random) -> Case:
    missing, given = record["answer"]["missing_smiles"], record["answer"]["molecules"]
    formula = record["metadata"]["formula"]
    known = {Chem.CanonSmiles(smiles, useChiral=0) for smiles in (*missing, *given)}
    extra = [smiles for smiles in isomers(formula) if smiles not in known]
    shuffled = rng.sample(missing, len(missing))
    first = missing[0]
    words = {
        **{name: a_line(missing, form) for name, form in FORMS.items()},
        **{name: join(missing) for name, join in JOINED.items()},
        "respelt": a_line(spell(smiles, rng) for smiles in missing),
        "shuffled": a_line(shuffled),
        "half": a_line(missing[: len(missing) // 2]),
        "all": a_line([*missing, *extra]),
        "first": first,
        "given1": given[0],
        "given tags": a_line(given),
        "given lines": a_line(given, "{}"),
        "given bullets": a_line(given, "- <smiles>{}</smiles>"),
        "given noted": a_line(given, "#. <smiles>{}</smiles> (given)"),
        "wrong": "CC(F)(Cl)CCCI",
        "carbons": a_line("C" * n for n in range(1, 30)),
        # of the formula C3H8N2, or of any: not what isomers are made of
        "radical": "[CH2]C[CH2]",
        "ions": "[CH2-]C[NH3+]",
        "fragments": f"{first}.[H][H]",
    }
    tags = set()
    if extra:
        words["extra"] = extra[0]
        tags.add("incomplete")
    return Case(record, words, tags=frozenset(tags))
