"""Tables for papers (LaTeX), spreadsheets (CSV), pages (Markdown) and notebooks (data frames)."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from relfast.errors import MissingExtraError, printable
from relfast.json_text import as_text, encode_json


def signed(value: float, decimals: int = 3) -> str:
    """A difference with its sign; the minus is U+2212. A rounded 0 has no sign."""
    text = f"{value:+.{decimals}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{decimals}f}"


def percent_points(value: float) -> str:
    """A difference of shares in percentage points, as `signed`."""
    return signed(100 * value, 1)


def probability(p: float) -> str:
    """A p-value with three decimals, or ``<0.001``."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def percent(value: float) -> str:
    """A share in percent, without the percent sign."""
    return f"{100 * value:.1f}"


def share(value: float | None) -> str:
    """A share in percent: ``84.0 %``; a dash for None."""
    return "–" if value is None else f"{percent(value)} %"


def three_decimals(value: float) -> str:
    """A number with three decimals."""
    return f"{value:.3f}"


def number(value: float | None) -> str:
    """A mean: three decimals, from 1,000 on none; a dash for None and NaN."""
    if value is None or value != value:
        return "–"
    return three_decimals(value) if abs(value) < 1_000 else f"{value:,.0f}"


def to_pandas(columns: Mapping[str, Sequence[Any]], what: str) -> Any:
    """A `pandas.DataFrame`. Raises `MissingExtraError`, which names ``what``, without pandas."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError(what, "report") from None
    return pandas.DataFrame({name: _holdable(values) for name, values in columns.items()})


def to_arrow(columns: Mapping[str, Sequence[Any]], what: str, types: Mapping[str, str] | None = None) -> Any:
    """A `pyarrow.Table`. Columns have the given ``types``, or else those of their values; values of several
    types become JSON texts. Raises `MissingExtraError`, which names ``what``, without pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(what, "parquet") from None
    known = types or {}

    def array(values: list[Any], kind: str | None) -> Any:
        try:
            return pyarrow.array(values, kind)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            # values of several kinds, such as golds of several tasks, or integers beyond 64 bits
            return pyarrow.array([None if value is None else encode_json(value).decode() for value in values])

    return pyarrow.table(
        {name: array(list(_holdable(values)), known.get(name)) for name, values in columns.items()}
    )


def _holdable(values: Sequence[Any]) -> Any:
    """The values of a column, in which texts with lone surrogates, which no frame can hold, are JSON."""
    if any(isinstance(value, str) and _SURROGATE.search(value) for value in values):
        return [as_text(value) if isinstance(value, str) else value for value in values]
    return values


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that begin a formula in a spreadsheet (OWASP, "CSV Injection"), also in full width."""


def safe_cell(value: object) -> object:
    """The value of a CSV cell. A text that a spreadsheet would run as a formula gets an apostrophe before it.

    Numbers stay numbers: ``-0.5`` is unchanged, while the text ``"-0.5"`` (a record's id, say) gets the
    apostrophe.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    # lone surrogates cannot be encoded; for some readers NUL ends a cell, and a bare CR a line
    text = str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) or text.startswith(_FORMULA) else text


def csv_line(values: Iterable[object]) -> str:
    """A line of a CSV file, ended by LF; cells are quoted if necessary."""
    import csv

    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow([safe_cell(value) for value in values])
    return stream.getvalue()


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The text of a CSV file."""
    return "".join(map(csv_line, (header, *rows)))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> str:
    """A table in Markdown (GitHub's), whose columns are aligned as plain text, too; texts are escaped."""
    cells = [[markdown_text(cell) for cell in row] for row in (header, *rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        aligned = (
            cell.ljust(width) if at < text_columns else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(aligned)} |\n"

    rule = ["-" * width if at < text_columns else f"{'-' * (width - 1)}:" for at, width in enumerate(widths)]
    return "".join(map(line, (cells[0], rule, *cells[1:])))


_IN_MARKDOWN: Final = re.compile(r"[\\`*_<>|#~&]|\](?=[(\[:])")


def markdown_text(text: str) -> str:
    """Text of one line that Markdown shows literally."""
    return _IN_MARKDOWN.sub(r"\\\g<0>", " ".join(printable(text).split()))


_ESCAPES: Final = {
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "–": "--", "—": "---", "−": r"$-$", "±": r"$\pm$", "…": r"\ldots{}",
}  # fmt: skip
"""Characters that are special in LaTeX, or not in the font encoding (T1), and their replacements."""


def latex_escape(text: str) -> str:
    """Text escaped so that LaTeX prints it literally, on one line and without control characters."""
    shown = "".join(_ESCAPES.get(char, char if char.isprintable() else " ") for char in text)
    return " ".join(shown.split())


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is LaTeX code already, such as a number with its interval."""

    text: str


def number_cell(
    value: float, interval: tuple[float, float] | None, *, shown: Callable[[float], str], bold: bool = False
) -> Cell:
    r"""A number with its interval: ``51.2 {\small$\pm$2.1}``, or with both distances if they differ by more
    than rounding.

    ``shown`` formats a number, ``interval`` holds the bounds around ``value``.
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


def latex_table(
    header: Sequence[str | Cell], rows: Sequence[Sequence[str | Cell]], *, text_columns: int = 1
) -> str:
    """A ``tabular`` with booktabs' rules. Texts are escaped, a `Cell` is inserted as it is; the first
    ``text_columns`` columns hold words, aligned left, the others numbers, aligned right."""
    columns = "l" * text_columns + "r" * (len(header) - text_columns)
    lines = ["% needs \\usepackage{booktabs}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_latex_row(header), r"\midrule", *map(_latex_row, rows), r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str | Cell]) -> str:
    return " & ".join(cell.text if isinstance(cell, Cell) else latex_escape(cell) for cell in cells) + r" \\"
