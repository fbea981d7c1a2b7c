"""LaTeX tables for papers: booktabs, escaped, the best of a group in bold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from relfast.tables.numbers import percent

_ESCAPES: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "—": "---",
    "−": r"$-$",
    "±": r"$\pm$",
    "…": r"\ldots{}",
}
"""Characters that mean something else to LaTeX, in text of any font encoding of ours (T1)."""


def escape(text: str) -> str:
    """Text that LaTeX prints as it is: no command, no line break, no control character."""
    shown = "".join(_ESCAPES.get(char, char if char.isprintable() else " ") for char in text)
    return " ".join(shown.split())


@dataclass(frozen=True, slots=True)
class Cell:
    """What is LaTeX already, such as a number with its interval."""

    text: str


def number_cell(
    value: float, interval: tuple[float, float] | None, *, shown: Callable[[float], str], bold: bool = False
) -> Cell:
    r"""``51.2 {\small$\pm$2.1}``, or both distances where they differ by more than rounding.

    ``shown`` writes a number, ``interval`` are the bounds around ``value``.
    """
    text = shown(value)
    step = 10.0 ** -len(text.partition(".")[2])
    text = rf"\textbf{{{text}}}" if bold else text
    if interval is None:
        return Cell(text)
    low, high = shown(value - interval[0]), shown(interval[1] - value)
    if abs(float(high) - float(low)) < 1.5 * step:
        return Cell(rf"{text} {{\small$\pm${max(low, high, key=float)}}}")
    return Cell(rf"{text} {{\small$^{{+{high}}}_{{-{low}}}$}}")


def percent_cell(share: float, interval: tuple[float, float] | None, *, bold: bool = False) -> Cell:
    """A share in percent with its interval."""
    return number_cell(share, interval, shown=percent, bold=bold)


def table(
    header: Sequence[str | Cell],
    rows: Sequence[Sequence[str | Cell]],
    *,
    text_columns: int = 1,
    caption: str | None = None,
    label: str | None = None,
    groups: Sequence[int] = (),
) -> str:
    r"""A ``tabular`` with booktabs' rules, in a ``table`` where it has a caption.

    Parameters
    ----------
    header, rows
        Texts are escaped; a `Cell` is taken as it is.
    text_columns
        The first columns, which are words; the others are numbers, to the right.
    groups
        Row numbers before which a ``\midrule`` stands.
    """
    lines = ["% needs \\usepackage{booktabs}"]
    if caption is not None:
        lines += [r"\begin{table}", r"\centering", rf"\caption{{{escape(caption)}}}"]
        if label is not None:
            lines.append(rf"\label{{{label}}}")
    columns = "l" * text_columns + "r" * (len(header) - text_columns)
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(header), r"\midrule"]
    for number, row in enumerate(rows):
        if number in groups:
            lines.append(r"\midrule")
        lines.append(_row(row))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption is not None:
        lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str | Cell]) -> str:
    return " & ".join(cell.text if isinstance(cell, Cell) else escape(cell) for cell in cells) + r" \\"
