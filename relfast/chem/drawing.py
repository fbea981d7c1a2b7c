"""Draw molecules as small SVGs without styles, in the colours of the HTML page that shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape, unescape
from typing import Any, Final

from rdkit import Chem
from rdkit.Chem import rdDepictor, rdFMCS, rdMolDescriptors
from rdkit.Chem.Draw import rdMolDraw2D

from relfast.chem.molecule import Molecule, parse

MAX_ATOMS: Final = 150
"""Larger molecules are not drawn: they would be illegible."""

_HIGHLIGHT: Final = (1.0, 0.0, 1.0)
_STROKE: Final = re.compile(r"<(path|ellipse|text)([^>]*?)(?:/>|>([^<]*)</text>)")
_ATTRIBUTE: Final = re.compile(r"([\w:-]+)=['\"]([^'\"]*)['\"]")
_VARIABLES: Final = {
    "#000000": "currentColor",
    "#FF00FF": "var(--common)",
    "#FF0000": "var(--atom-o)",
    "#0000FF": "var(--atom-n)",
    "#4284F4": "var(--atom-n)",
    "#33CCCC": "var(--atom-x)",
    "#7F4C19": "var(--atom-br)",
    "#00CC00": "var(--atom-x)",
    "#CCCC00": "var(--atom-s)",
}
_KEPT: Final = {
    "fill": ("none",),
    "stroke": ("none",),
    "stroke-width": ("1", "1.0"),
    "fill-opacity": ("1", "1.0"),
    "font-size": (None,),
    "text-anchor": ("start",),
}
"""Attributes of a stroke's style that are kept, unless they have one of these usual values."""
_PLACES: Final = ("d", "cx", "cy", "rx", "ry", "x", "y")
_SHORT: Final = re.compile(r"(\d\.\d)\d+")


def formula_of(smiles: object) -> str | None:
    """The formula of a whole molecule, with its charge, in Hill order; None if the text is no molecule."""
    molecule = parse(smiles)
    return None if molecule is None else str(rdMolDescriptors.CalcMolFormula(molecule.mol))


def draw(smiles: object, common: Sequence[int] = (), width: int = 170, height: int = 130) -> str | None:
    """A molecule as SVG, its atoms ``common`` (indices) highlighted; None if the text is not a molecule or
    cannot be drawn."""
    molecule = parse(smiles)
    if molecule is None or not 0 < molecule.n_atoms <= MAX_ATOMS:
        return None
    return _draw(molecule, tuple(common), width, height)


@lru_cache(maxsize=4_000)
def _draw(molecule: Molecule, common: tuple[int, ...], width: int, height: int) -> str | None:
    try:
        mol = rdMolDraw2D.PrepareMolForDrawing(Chem.Mol(molecule.mol), kekulize=True)
        rdDepictor.SetPreferCoordGen(False)
        drawer = rdMolDraw2D.MolDraw2DSVG(width, height, -1, -1, True)  # letters as text: half the size
        options = drawer.drawOptions()
        options.clearBackground = False
        options.padding = 0.06
        options.bondLineWidth = 1
        options.fixedBondLength = 22
        options.minFontSize = 9
        options.highlightBondWidthMultiplier = 14
        atoms = list(common)
        chosen = set(atoms)
        bonds = [
            bond.GetIdx()
            for bond in mol.GetBonds()
            if bond.GetBeginAtomIdx() in chosen and bond.GetEndAtomIdx() in chosen
        ]
        options.setHighlightColour(_HIGHLIGHT)
        drawer.DrawMolecule(mol, highlightAtoms=atoms, highlightBonds=bonds)
        drawer.FinishDrawing()
        return _in_colours(str(drawer.GetDrawingText()), width, height)
    except (ValueError, RuntimeError):  # RDKit can parse molecules that it cannot draw
        return None


def _in_colours(text: str, width: int, height: int) -> str:
    """RDKit's SVG reduced to its shapes: styles become attributes, which every content security policy
    allows, and colours become CSS variables."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="molecule"'
        ' fill="none" stroke-width="1" stroke-linecap="round" stroke-linejoin="round">'
    ]
    before, path = "", ""
    for tag, inside, letters in _STROKE.findall(text):
        given: dict[str, str] = dict(_ATTRIBUTE.findall(inside))
        style = {
            key.strip(): value.strip()
            for key, _, value in (part.partition(":") for part in given.get("style", "").split(";"))
        }
        kept = {key: value.removesuffix("px") for key, value in {**given, **style}.items()}
        kept = {key: _VARIABLES.get(value.upper(), value) for key, value in kept.items()}
        shown = [
            f'{key}="{kept[key]}"' for key, usual in _KEPT.items() if kept.get(key, usual[0]) not in usual
        ]
        place = {key: _SHORT.sub(r"\1", given[key]) for key in _PLACES if key in given}
        if tag == "path" and place.get("d") and " ".join(shown) == before:
            path += place["d"]  # neighbouring strokes of the same style become one path
            continue
        if path:
            parts.append(f'<path {before} d="{path}"/>')
        before, path = " ".join(shown), place.get("d", "")
        if tag != "path":
            parts.append(
                f"<{tag} {before} "
                + " ".join(f'{key}="{value}"' for key, value in place.items())
                + (f">{escape(unescape(letters))}</text>" if tag == "text" else "/>")
            )
    if path:
        parts.append(f'<path {before} d="{path}"/>')
    return "".join([*parts, "</svg>"])


def common_atoms(one: object, other: object) -> tuple[list[int], list[int]]:
    """The atoms (indices) of each of two molecules that belong to their largest common substructure; empty if
    there is none or one of them is not a molecule."""
    a, b = parse(one), parse(other)
    if a is None or b is None or max(a.n_atoms, b.n_atoms) > MAX_ATOMS or not (a.n_atoms and b.n_atoms):
        return [], []
    pattern: Any = rdFMCS.FindMCS([a.mol, b.mol], timeout=1).queryMol
    if pattern is None or not pattern.GetNumAtoms():
        return [], []
    return list(a.mol.GetSubstructMatch(pattern)), list(b.mol.GetSubstructMatch(pattern))


def atoms_of(molecule: object, part: object) -> list[int]:
    """The atoms (indices) of a molecule that match the substructure ``part``; empty if there is no match."""
    from relfast.chem.matching import contains

    whole, query = parse(molecule), parse(part)
    if whole is None or query is None or whole.n_atoms > MAX_ATOMS or not contains(whole, query):
        return []
    return list(whole.mol.GetSubstructMatch(query.mol))
