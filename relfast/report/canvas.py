"""The paper that figures are drawn on: one style, every figure as PNG, SVG and PDF, and its SVG as a part
of a page that forbids styles and scripts (matplotlib's become attributes, and colours variables)."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Final, Self

from relfast.errors import MissingExtraError
from relfast.outputs import writing

FORMATS: Final = (".png", ".svg", ".pdf")
"""What every figure is saved as."""

INK: Final = "#1c2430"
SOFT: Final = "#5d6875"
GRID: Final = "#e3e6ea"
PAPER: Final = "#ffffff"

SERIES: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a00", "#8a4fbf")
"""Okabe and Ito's colours, which people who are colour-blind tell apart, and two more."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Beside colours: a figure must be readable in print."""

CORRECT_COLOUR: Final = SERIES[0]
INCORRECT_COLOUR: Final = SERIES[1]

DPI: Final = 130
_NAME_CHARS: Final = 36

_STYLE: Final = {
    "font.size": 10.0,
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "svg.fonttype": "none",  # text stays text: it can be searched, read out and copied
    "svg.hashsalt": "relfast",  # the same results give the same file
    "pdf.fonttype": 42,
}
_WITHOUT_DATE: Final = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


class Canvas:
    """A figure with one pair of axes, or several side by side, in the house style; ``title`` stands above the
    first."""

    def __init__(
        self, title: str = "", width: float = 8.0, height: float = 4.8, panels: int = 1, columns: int = 1
    ) -> None:
        try:
            import matplotlib
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("drawing a report", "report") from error
        self._style = matplotlib.rc_context
        # no pyplot: it keeps global state, and a GUI where there is one
        with self._style(_STYLE):
            self.figure = Figure(figsize=(width, height), layout="constrained")
            rows = -(-panels // columns)
            grid = self.figure.subplots(rows, columns, squeeze=False)
        self.panels: list[Any] = list(grid.flat)[:panels]
        for unused in list(grid.flat)[panels:]:
            unused.set_axis_off()
        if title:
            line = title if len(title) <= 2 * _NAME_CHARS else f"{title[: 2 * _NAME_CHARS - 1]}…"
            self.axes.set_title(plain(line), fontsize=12, fontweight="bold", pad=10, color=INK)

    @property
    def axes(self) -> Any:
        return self.panels[0]

    def say(self, message: str, axes: Any = None) -> Self:
        """A sentence in the place of a drawing."""
        axes = axes or self.axes
        axes.set_axis_off()
        axes.text(0.5, 0.5, message, ha="center", va="center", transform=axes.transAxes, color=SOFT)
        return self

    def count_axis(self, label: str) -> None:
        """The vertical axis counts: whole numbers only."""
        from matplotlib.ticker import MaxNLocator

        self.axes.set_ylabel(label)
        self.axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    def save(self, path: Path, *, alone: bool = False) -> None:
        """Write the figure; unless ``alone``, as SVG and PDF beside it. Raises `OutputError`."""
        paths = [path] if alone else [path.with_suffix(suffix) for suffix in FORMATS]
        with warnings.catch_warnings(), self._style(_STYLE):
            # steps come in any script; a missing glyph is a box in the picture, not a failure
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            warnings.filterwarnings("ignore", message=".*missing from font", category=UserWarning)
            # laid out once for all formats: that takes longer than writing them
            self.figure.draw_without_rendering()
            self.figure.set_layout_engine("none")
            for target in paths:
                drawn = io.BytesIO()  # a backend whose file is full trips over its own feet
                self.figure.savefig(
                    drawn, format=target.suffix[1:], dpi=DPI, metadata=_WITHOUT_DATE.get(target.suffix)
                )
                with writing(target):
                    target.write_bytes(drawn.getbuffer())


def colour_of(place: int) -> str:
    return SERIES[place % len(SERIES)]


def marker_of(place: int) -> str:
    return MARKERS[place % len(MARKERS)]


_XML_NEVER: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


def plain(text: str) -> str:
    """Text that is shown as it is: a dollar sign would start a formula, a lone surrogate ends the drawing, a
    control character the SVG."""
    return text.encode("utf-8", "replace").decode("utf-8").translate(_XML_NEVER).replace("$", r"\$")


def short(name: str, most: int = _NAME_CHARS) -> str:
    """A name beside an axis: one line, cut where it would push the drawing out of its figure."""
    line = " ".join(name.split())
    return plain(line if len(line) <= most else f"{line[: most - 1]}…")


def percent_axis(axis: Any) -> None:
    """Shares from 0 to 1 as per cent."""
    axis.set_ticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0%", "20%", "40%", "60%", "80%", "100%"])


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
