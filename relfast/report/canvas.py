"""`Canvas`: a matplotlib figure in the reports' style, saved as PNG, SVG and PDF. `inline_svg` prepares
the SVG for a page whose policy forbids inline styles and scripts: styles become attributes, and colours
CSS variables."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from relfast.errors import MissingExtraError
from relfast.support.outputs import writing

FORMATS: Final = (".png", ".svg", ".pdf")
"""The formats in which every figure is saved."""

INK: Final = "#1c2430"
SOFT: Final = "#5d6875"
GRID: Final = "#e3e6ea"
PAPER: Final = "#ffffff"

SERIES: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a00", "#8a4fbf")
"""Okabe and Ito's colours, which colour-blind people can tell apart, and two more."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Markers in addition to colours, so that figures are readable in black and white."""

CORRECT_COLOUR: Final = SERIES[0]
INCORRECT_COLOUR: Final = SERIES[1]

_NAME_CHARS: Final = 36


@dataclass(frozen=True, slots=True)
class Style:
    """How figures are drawn: the width of a figure in inches, its font and the size of its letters in points,
    whether it has a title, and the dots per inch of its PNG."""

    width: float = 6.4
    font: str = "sans-serif"
    font_size: float = 10.5
    titles: bool = True
    dpi: int = 300


STYLES: Final = {"page": Style(), "paper": Style(width=3.35, font_size=8.0, titles=False)}
"""For the page, and for a column of a paper, whose caption is the title."""

_style: Final[ContextVar[Style]] = ContextVar("style", default=STYLES["page"])


@contextmanager
def drawn_in(style: Style) -> Iterator[None]:
    """Draw the figures of the ``with`` block in a style."""
    before = _style.set(style)
    try:
        yield
    finally:
        _style.reset(before)


_LOOK: Final = {
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


SMALL: Final = 0.95
"""Scale of letters beside axes: they stay legible where the page shows a figure smaller than it is."""


def letters(scale: float = 1.0) -> float:
    """The size of letters in the current style, in points."""
    return scale * _style.get().font_size


class Canvas:
    """A figure with one or several panels (matplotlib axes) in the current style, with its title.

    ``width`` and ``height`` are inches in the page's style; another style scales the width to its own, and
    the height less, since letters do not shrink as much.
    """

    def __init__(
        self, title: str = "", width: float = 6.4, height: float = 4.0, panels: int = 1, columns: int = 1
    ) -> None:
        try:
            import matplotlib
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("drawing a report", "report") from error
        self._context = matplotlib.rc_context
        style, usual = _style.get(), STYLES["page"]
        self._dpi = style.dpi
        self._look = {**_LOOK, "font.family": style.font, "font.size": style.font_size}
        across, letters = style.width / usual.width, style.font_size / usual.font_size
        # no pyplot: it has global state, and may start a GUI
        with self._context(self._look):
            self.figure = Figure(
                figsize=(width * across, height * max(across, letters)), layout="constrained"
            )
            rows = -(-panels // columns)
            grid = self.figure.subplots(rows, columns, squeeze=False)
        self.panels: list[Any] = list(grid.flat)[:panels]
        for unused in list(grid.flat)[panels:]:
            unused.set_axis_off()
        if title and style.titles:
            line = title if len(title) <= 2 * _NAME_CHARS else f"{title[: 2 * _NAME_CHARS - 1]}…"
            self.figure.suptitle(plain(line), fontsize=1.1 * style.font_size, fontweight="bold", color=INK)

    @property
    def axes(self) -> Any:
        return self.panels[0]

    def say(self, message: str, axes: Any = None) -> Self:
        """Show a message instead of a drawing."""
        axes = axes or self.axes
        axes.set_axis_off()
        axes.text(0.5, 0.5, message, ha="center", va="center", transform=axes.transAxes, color=SOFT)
        return self

    def count_axis(self, label: str) -> None:
        """Make the vertical axis one of counts, with whole numbers only."""
        from matplotlib.ticker import MaxNLocator

        self.axes.set_ylabel(label)
        self.axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    def save(self, path: Path, *, alone: bool = False) -> None:
        """Write the figure to ``path``; unless ``alone``, in all formats. Raises `OutputError`."""
        from matplotlib.text import Text

        paths = [path] if alone else [path.with_suffix(suffix) for suffix in FORMATS]
        with warnings.catch_warnings(), self._context(self._look):
            # steps may use any script; a missing glyph becomes a box in the picture, not a warning
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            warnings.filterwarnings("ignore", message=".*missing from font", category=UserWarning)
            for text in self.figure.findobj(Text):
                text.set_fontfamily(self._look["font.family"])
            # compute the layout once for all formats: that takes longer than writing them
            self.figure.draw_without_rendering()
            self.figure.set_layout_engine("none")
            for target in paths:
                drawn = io.BytesIO()  # draw in memory: backends handle a full disk badly
                self.figure.savefig(
                    drawn, format=target.suffix[1:], dpi=self._dpi, metadata=_WITHOUT_DATE.get(target.suffix)
                )
                with writing(target):
                    target.write_bytes(drawn.getbuffer())


def colour_of(place: int) -> str:
    return SERIES[place % len(SERIES)]


def marker_of(place: int) -> str:
    return MARKERS[place % len(MARKERS)]


_XML_NEVER: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


def plain(text: str) -> str:
    """Text that matplotlib shows literally: a dollar sign would start a formula, a lone surrogate would
    break the drawing, a control character the SVG."""
    return text.encode("utf-8", "replace").decode("utf-8").translate(_XML_NEVER).replace("$", r"\$")


def short(name: str, most: int = _NAME_CHARS) -> str:
    """A name beside an axis: one line, cut so that it does not push the drawing out of the figure."""
    line = " ".join(name.split())
    return plain(line if len(line) <= most else f"{line[: most - 1]}…")


def percent_axis(axis: Any) -> None:
    """Label an axis of shares from 0 to 1 in per cent."""
    axis.set_ticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"])


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
PIXELS_A_POINT: Final = 1.3
_PLACES: Final = frozenset({"d", "x", "y", "transform"})
_DECIMALS: Final = re.compile(r"(\.\d\d)\d+")
"""Digits of places beyond hundredths of a point, which nobody sees: they were a third of the page."""
_FONT: Final = re.compile(r"(?:(italic|oblique) )?(?:(bold|\d{3}) )?([\d.]+)px (.+)")
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def inline_svg(path: Path, name: str, title: str) -> str:
    """An SVG file written by `Canvas.save` as an element for the page; its ids begin with ``name``."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        for child in list(element):
            if child.tag in _DROPPED:
                element.remove(child)
        _restyle(element)
        _rename(element, name)
        for key in _PLACES & element.attrib.keys():
            element.set(key, _DECIMALS.sub(r"\1", element.attrib[key]))
    # a fixed width, so that letters have the same size in all figures; the page can only shrink it
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
    """Prefix ids and references to them with ``name``, so that ids of several drawings in a page differ."""
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    link = element.attrib.pop(f"{{{_LINK}}}href", None)
    if link is not None:
        element.set("href", f"#{name}-{link[1:]}" if link.startswith("#") else link)
    for key, value in element.attrib.items():
        if "url(#" in value:
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))
