"""One response to REL-C1…C3 as a page shows it: its tags marked, its molecules drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from relfast.tasks.display import Drawing, Exhibit, Group, Mark, Shown
from relfast.tasks.options import AllOptions
from relfast.tasks.rel_c.display import listed
from relfast.tasks.rel_c.extract import SMILES_TAG, extract_label, extract_molecule, extract_molecules

MAX_DRAWN: Final = 18
"""Molecules of a group that are drawn; the others are named."""

_TAG: Final = re.compile(r"<(yes|no)>", re.IGNORECASE)


def isomer_set(shown: Shown) -> Exhibit:
    """C1: the verdict, and the molecules with their formulas."""
    gold = _answer(shown).get("label")
    said = extract_label(shown.record.response, _options(shown)).value
    response = shown.record.response
    marks: tuple[Mark, ...] = ()
    if said is not None and isinstance(response, str):
        found = [tag for tag in _TAG.finditer(response) if tag[1].lower() == str(said).lower()]
        if found:
            tag = found[-1] if shown.strict else found[0]
            marks = (Mark(tag.start(), tag.end()),)
    why = "" if shown.correct else f"It says {said or 'nothing'}; the label is {gold}."
    return Exhibit(marks, why, (_plain("Molecules", _molecules(shown), formulas=True),))


def motif(shown: Shown) -> Exhibit:
    """C2: gold's motif and the named molecule, with what they have in common."""
    from relfast.chem.drawing import common_atoms, draw

    gold = _answer(shown).get("smiles")
    said = extract_molecule(shown.record.response, _options(shown)).value
    in_gold, in_said = common_atoms(gold, said)
    drawings = [
        Drawing(draw(gold, in_gold, 260, 190) or "", f"gold: {gold}"),
        Drawing(draw(said, in_said, 260, 190) or "", f"response: {said}", "good" if shown.correct else "bad"),
    ]
    if said is None:
        why = "No molecule could be read in it."
    elif not drawings[1].svg:
        why = f"{said[:200]} is no molecule."
    elif shown.metrics.get("response_is_substructure_of_correct"):
        why = "The molecule is only a part of the motif."
    elif shown.metrics.get("correct_is_substructure_of_response"):
        why = "The motif is only a part of the molecule."
    else:
        why = (
            f"The molecule shares {len(in_gold)} atoms with the motif and is neither part of it nor holds it."
        )
    note = "What both have in common is highlighted." if in_gold else ""
    groups = (
        Group("Motif and response", tuple(drawings), note, large=True),
        _plain("Molecules of the question", _molecules(shown), within=gold),
    )
    return Exhibit(_tags(shown.record.response, [said]), "" if shown.correct else why, groups)


def missing_isomers(shown: Shown) -> Exhibit:
    """C3: what was found, missed, and named beside it; and what the question gave."""
    from relfast.chem.matching import same

    gold = [one for one in _list(_answer(shown).get("missing_smiles")) if isinstance(one, str)]
    said = extract_molecules(shown.record.response, _options(shown)).value
    left = list(gold)
    right: list[str] = []
    wrong: list[str] = []
    for smiles in said[:500]:
        at = next((k for k, candidate in enumerate(left) if same(smiles, candidate)), None)
        (wrong if at is None else right).append(smiles)
        if at is not None:
            left.pop(at)
    why = ""
    if not shown.correct:
        found, beside, missed = (shown.metrics.get(name) for name in ("tp", "fp", "fn"))
        why = f"{found} of the missing isomers are found and {missed} are not; {beside} others are named."
    groups = (
        _plain("Found", right, kind="good"),
        _plain("False positives", list(dict.fromkeys(wrong)), kind="bad"),
        _plain("Missed", left, kind="missed"),
        _plain("Given", _molecules(shown)),
    )
    return Exhibit(
        _tags(shown.record.response, said), why, tuple(group for group in groups if group.drawings)
    )


def _options(shown: Shown) -> AllOptions:
    return AllOptions(policy="strict" if shown.strict else "reference")


def _answer(shown: Shown) -> Mapping[str, Any]:
    return shown.record.answer if isinstance(shown.record.answer, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _molecules(shown: Shown) -> list[str]:
    given = [one for one in _list(_answer(shown).get("molecules")) if isinstance(one, str)]
    return given or listed(shown.record.question)


def _plain(
    title: str, molecules: Sequence[str], kind: Any = "", formulas: bool = False, within: object = None
) -> Group:
    """A group of molecules; those beyond `MAX_DRAWN` are named in its note."""
    from relfast.chem.clean import ordinary_formula
    from relfast.chem.drawing import atoms_of, draw

    drawings = []
    for smiles in molecules[:MAX_DRAWN]:
        caption = smiles[:300]
        formula = ordinary_formula(smiles) if formulas else None
        if formula:
            caption += f" ({formula})"
        atoms = atoms_of(smiles, within) if within is not None else []
        drawings.append(Drawing(draw(smiles, atoms) or "", caption, kind))
    rest = molecules[MAX_DRAWN:]
    note = f"Not drawn: {', '.join(rest)[:5_000]}" if rest else ""
    return Group(f"{title} ({len(molecules)})", tuple(drawings), note)


def _tags(response: object, values: Iterable[str | None]) -> tuple[Mark, ...]:
    """Where the tags stand whose molecules were read."""
    if not isinstance(response, str):
        return ()
    wanted = {value for value in values if value}
    return tuple(
        Mark(tag.start(1), tag.start(1) + len(tag[1].rstrip()))
        for tag in SMILES_TAG.finditer(response)
        if tag[1].strip() in wanted
    )
