"""A drawing's SVG file as part of a page that forbids styles and scripts, in the page's colours.

matplotlib writes styles, which a strict Content-Security-Policy takes away; they become attributes here,
and the colours of the house become variables, which follow dark mode.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Final

from relfast.report.canvas import GRID, INK, PAPER, SERIES, SOFT

_SVG: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "http://www.w3.org/1999/xlink"
_DROPPED: Final = frozenset({f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"})
_VARIABLES: Final = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    GRID: "var(--line)",
    PAPER: "var(--paper)",
    **{colour: f"var(--s{place})" for place, colour in enumerate(SERIES)},
}
PIXELS_A_POINT: Final = 1.1
_FONT: Final = re.compile(r"(?:(italic|oblique) )?(?:(bold|\d{3}) )?([\d.]+)px (.+)")
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def inline_svg(path: Path, name: str, title: str) -> str:
    """The drawing in a file that we wrote, as an element whose ids begin with ``name``."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        for child in list(element):
            if child.tag in _DROPPED:
                element.remove(child)
        _restyle(element)
        _rename(element, name)
    # its own size, so that letters are as large as those of other figures; the page makes it smaller only
    width = float(root.attrib.pop("width").removesuffix("pt"))
    root.attrib.pop("height", None)
    root.set("width", f"{width * PIXELS_A_POINT:.0f}")
    root.set("role", "img")
    root.set("aria-label", title)
    return ElementTree.tostring(root, encoding="unicode")


def _restyle(element: ElementTree.Element) -> None:
    style = element.attrib.pop("style", "")
    for declaration in style.split(";"):
        key, _, value = declaration.partition(":")
        key, value = key.strip(), value.strip()
        if key == "font":
            found = _FONT.fullmatch(value)
            if found is not None:
                italic, weight, size, _ = found.groups()
                element.set("font-size", size)
                if weight and weight != "400":
                    element.set("font-weight", weight)
                if italic:
                    element.set("font-style", italic)
        elif key and not key.startswith("font-family"):
            element.set(key, value)
    for key in ("fill", "stroke"):
        colour = element.get(key)
        if colour is not None:
            element.set(key, _VARIABLES.get(colour.lower(), colour))
    if element.tag == f"{{{_SVG}}}text" and element.get("fill") is None:
        element.set("fill", "var(--ink)")


def _rename(element: ElementTree.Element, name: str) -> None:
    """Ids of several drawings in one page must not meet."""
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    link = element.attrib.pop(f"{{{_LINK}}}href", None)
    if link is not None:
        element.set("href", f"#{name}-{link[1:]}" if link.startswith("#") else link)
    for key, value in element.attrib.items():
        if "url(#" in value:
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))
