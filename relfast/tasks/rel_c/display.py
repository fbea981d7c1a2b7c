"""What a report shows for REL-C1…C3: rates by number of molecules, and the tables of the paper's notebooks.

The columns and bins are those of `analyse_c1`, `analyse_c2`, `analyse_c3` and `plot_relational_complexity` in
`paper_results/chemistry` of REL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from relfast.records import Record
from relfast.tasks.display import (
    Axis,
    Column,
    Display,
    Drawing,
    Exhibit,
    Group,
    Layout,
    Mark,
    Measures,
    Shown,
    verdict_columns,
)
from relfast.tasks.reasoning import utf8
from relfast.tasks.rel_c.extract import extract_label, extract_molecule, extract_molecules, published_tags

MOLECULES: Final = Axis("n_molecules", "number of molecules", (20, 40))
GIVEN: Final = Axis("n_molecules", "number of given molecules", (20, 40))

_SHOWN: Final = "relfast.tasks.rel_c.display"
_DIRECTIONS: Final = ("response_is_substructure_of_correct", "correct_is_substructure_of_response")


def _means(*metrics: str) -> tuple[Column, ...]:
    return tuple(Column(name, (name,), decimals=6) for name in metrics)


def _completion(*metrics: str) -> Layout:
    """The published table of task completion: the mean of some metrics by bins of `MOLECULES`."""
    mean = Column("Task Completion", metrics, decimals=6, each=len(metrics))
    return Layout("Task completion", "n_molecules", "n_mol bin", (mean,), True, False)


C1: Final = Display(
    axes=(MOLECULES,),
    measure=f"{_SHOWN}:molecules",
    mistake=f"{_SHOWN}:label_mistake",
    exhibit=f"{_SHOWN}:isomer_set",
    layouts=(
        Layout(
            "Performance by number of molecules", "n_molecules", "N_molecules", verdict_columns("Yes", "No")
        ),
        _completion("correct"),
    ),
)

C2: Final = Display(
    completion=_DIRECTIONS,
    shown=("overlap_metric",),
    axes=(MOLECULES,),
    measure=f"{_SHOWN}:molecules",
    mistake=f"{_SHOWN}:motif_mistake",
    exhibit=f"{_SHOWN}:motif",
    layouts=(
        Layout("Exact and overlap", None, "", _means("correct", "overlap_metric"), count=False),
        Layout(
            "By n bin",
            "n_molecules",
            "n_mol bin",
            _means("correct", *_DIRECTIONS, "overlap_metric"),
            True,
            False,
        ),
        _completion(*_DIRECTIONS),
    ),
)

_RATES: Final = tuple(Column(name, (name.lower(),)) for name in ("Precision", "Recall", "F1"))
_COUNTS: Final = tuple(Column(f"Avg_{name}", (name.lower(),), decimals=1) for name in ("TP", "FP", "FN"))
_MISSING: Final = Column("Avg_Missing", ("tp", "fn"), decimals=1)
_PREDICTED: Final = Column("Avg_Predicted", ("tp", "fp"), decimals=1)
_EXACT: Final = Column("Exact_Match")
_SILENT: Final = Column("No_Predictions", ("no_answer",))

C3: Final = Display(
    completion=("recall",),
    shown=("f1",),
    axes=(GIVEN,),
    measure=f"{_SHOWN}:molecules",
    mistake=f"{_SHOWN}:isomers_mistake",
    exhibit=f"{_SHOWN}:missing_isomers",
    layouts=(
        Layout("Overall", None, "", (_EXACT, *_RATES, _MISSING, _PREDICTED, *_COUNTS, _SILENT)),
        Layout(
            "Performance by number of given molecules",
            "n_molecules",
            "N_given",
            (_MISSING, *_RATES, _EXACT, *_COUNTS),
        ),
        _completion("recall"),
    ),
)


# Sizes of REL-C's problems, and kinds of mistakes, which rows' metrics tell.


_LISTED: Final = re.compile(r"^\d+\. \S", re.MULTILINE)
_MOLECULE: Final = re.compile(r"^\d+\. (\S+)$", re.MULTILINE)
_IN_ID: Final = re.compile(r"_(?:n|given)(\d{1,4})_")
"""The number of molecules in published ids: 25 in ``q2_n25_00428``, 35 in ``q3_given35_02737``."""


def listed(question: object) -> list[str]:
    """The molecules that a question lists, one on each numbered line: ``1. CCO``."""
    return _MOLECULE.findall(question) if isinstance(question, str) else []


def molecules(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """How many molecules the question lists; the class of gold is C1's label."""
    answer = record.answer if isinstance(record.answer, Mapping) else {}
    given = answer.get("molecules")
    count = len(given) if isinstance(given, list) else 0
    if not count and isinstance(record.question, str):
        count = len(_LISTED.findall(record.question))
    if not count and isinstance(record.id, str) and (found := _IN_ID.search(record.id)):
        count = int(found[1])
    label = answer.get("label")
    return Measures({"n_molecules": count} if count else {}, label if label in ("Yes", "No") else None)


def label_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C1: which of the two possible mistakes a wrong row makes, if gold is known."""
    if gold is None:
        return "wrong verdict"
    return "took isomers for none" if gold == "Yes" else "took others for isomers"


def motif_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C2: how the response's molecule relates to the motif."""
    if metrics["response_is_substructure_of_correct"]:
        return "only a part of the motif"
    if metrics["correct_is_substructure_of_response"]:
        return "more than the motif"
    overlap = metrics["overlap_metric"]
    if overlap <= 0:
        return "nothing in common, or no molecule"
    return "shares half of the motif or more" if overlap >= 0.5 else "shares less than half of the motif"


def isomers_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C3: whether a response misses isomers, names too many, or both."""
    if not metrics["tp"]:
        return "none of the missing isomers"
    if not metrics["fp"]:
        return "some missing, none too many"
    return "some missing, some too many" if metrics["fn"] else "all found, some too many"


MAX_DRAWN: Final = 18
"""Maximum molecules of a group that are drawn; the others are named below it."""

_TAG: Final = re.compile(r"<(yes|no)>", re.IGNORECASE)


def isomer_set(shown: Shown) -> Exhibit:
    """C1: show the verdict and the molecules, those first whose formula is not that of the most."""
    gold = shown.answer.get("label")
    verdict = extract_label(shown.record.response, shown.options).value
    response = shown.record.response
    marks: tuple[Mark, ...] = ()
    if verdict is not None and isinstance(response, str):
        found = [tag for tag in _TAG.finditer(response) if tag[1].lower() == str(verdict).lower()]
        if found:
            tag = found[-1] if shown.strict else found[0]
            marks = (Mark(tag.start(), tag.end()),)
    fact, groups = _by_formula(_molecules(shown))
    if shown.correct and groups:
        groups = (groups[0]._replace(note=fact), *groups[1:])
    why = "" if shown.correct else f"It says {verdict or 'nothing'}; the label is {gold}. {fact}".strip()
    return Exhibit(marks, why, groups)


def _by_formula(molecules: Sequence[str]) -> tuple[str, tuple[Group, ...]]:
    """A sentence on the formulas of a list of molecules, and its drawings, the rarer formulas first. Captions
    have each molecule's number in the list."""
    from relfast.chem.drawing import formula_of

    formulas = {smiles: formula_of(smiles) or "no formula" for smiles in dict.fromkeys(molecules)}
    counts = Counter(formulas[smiles] for smiles in molecules)
    if not counts:
        return "", ()
    usual, n_usual = counts.most_common(1)[0]
    listed = [(number, smiles, formulas[smiles]) for number, smiles in enumerate(molecules, 1)]
    odd = [each for each in listed if each[2] != usual]
    same = [each for each in listed if each[2] == usual]
    if not odd:
        fact = f"All {n_usual} have the formula {usual}."
        captioned = [(f"{n}. {smiles}", smiles) for n, smiles, _ in same]
        return fact, (_group("Molecules", captioned, asked=True),)
    few = ", ".join(f"{smiles[:80]} (number {number}) has {formula}" for number, smiles, formula in odd[:3])
    more = f", and {len(odd) - 3} more deviate" if len(odd) > 3 else ""
    fact = f"{few}{more}; {'the other ' if len(odd) < n_usual else ''}{n_usual} have {usual}."
    captioned = [(f"{n}. {formula}: {smiles}", smiles) for n, smiles, formula in odd]
    return fact, (
        _group("Another formula", captioned, kind="odd", asked=True),
        _group(f"Formula {usual}", [(f"{n}. {smiles}", smiles) for n, smiles, _ in same], asked=True),
    )


def motif(shown: Shown) -> Exhibit:
    """C2: draw gold's motif and the response's molecule, and highlight what they have in common."""
    from relfast.chem.drawing import common_atoms, draw

    gold = shown.answer.get("smiles")
    pred = extract_molecule(shown.record.response, shown.options).value
    in_gold, in_pred = common_atoms(gold, pred)
    drawings = [
        Drawing(draw(gold, in_gold, 260, 190) or "", f"gold: {gold}"),
        Drawing(draw(pred, in_pred, 260, 190) or "", f"response: {pred}", "good" if shown.correct else "bad"),
    ]
    if pred is None:
        why = "No molecule could be read in it."
    elif not drawings[1].svg:
        why = f"{pred[:200]} is no molecule."
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
        _plain("Molecules of the question", _molecules(shown), within=gold, asked=True),
    )
    return Exhibit(_tags(shown.record.response, [pred]), "" if shown.correct else why, groups)


def missing_isomers(shown: Shown) -> Exhibit:
    """C3: draw the isomers found, the false positives, the missed isomers, and those the question gave."""
    from relfast.chem.matching import same

    gold = [one for one in _list(shown.answer.get("missing_smiles")) if isinstance(one, str)]
    preds = extract_molecules(shown.record.response, shown.options).value
    left = list(gold)
    right: list[str] = []
    wrong: list[str] = []
    for smiles in preds[:500]:
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
        _plain("Missed", left, kind="missed"),
        _plain("False positives", list(dict.fromkeys(wrong)), kind="bad"),
        _plain("Given", _molecules(shown), folded=True, asked=True),
    )
    return Exhibit(
        _tags(shown.record.response, preds), why, tuple(group for group in groups if group.drawings)
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _molecules(shown: Shown) -> list[str]:
    given = [one for one in _list(shown.answer.get("molecules")) if isinstance(one, str)]
    return given or listed(shown.record.question)


def _plain(title: str, molecules: Sequence[str], *, within: object = None, **look: Any) -> Group:
    return _group(title, [(smiles, smiles) for smiles in molecules], within=within, **look)


def _group(
    title: str,
    molecules: Sequence[tuple[str, str]],
    *,
    kind: Any = "",
    within: object = None,
    **look: bool,
) -> Group:
    """A group with drawings of molecules, (caption, SMILES) each; those beyond `MAX_DRAWN` are named
    below it."""
    from relfast.chem.drawing import atoms_of, draw

    drawings = []
    for caption, smiles in molecules[:MAX_DRAWN]:
        atoms = atoms_of(smiles, within) if within is not None else []
        drawings.append(Drawing(draw(smiles, atoms, 130, 100) or "", caption[:300], kind))
    rest = ", ".join(caption for caption, _ in molecules[MAX_DRAWN:])[:5_000]
    return Group(f"{title} ({len(molecules)})", tuple(drawings), "", rest, **look)


def _tags(response: object, values: Iterable[str | None]) -> tuple[Mark, ...]:
    """Marks of those tags in a response whose molecules were read (``values``)."""
    if not isinstance(response, str):
        return ()
    wanted, data = {value for value in values if value}, utf8(response)
    marks, at, place = [], 0, 0
    for start, stop in published_tags(data):
        held = data[start:stop].decode("utf-8", "surrogatepass")
        place += len(data[at:start].decode("utf-8", "surrogatepass"))
        at = start
        if held in wanted:
            marks.append(Mark(place, place + len(held)))
    return tuple(marks)
