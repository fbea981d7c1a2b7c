"""Tables and lists for a terminal of any width: nothing is cut, what does not fit is folded between its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from relfast.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

INDENT: Final = "  "


def show_table(
    console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1
) -> None:
    """A table where the terminal is wide enough, or else each row as a line that says what its numbers are.

    Parameters
    ----------
    words
        How many columns, from the left, hold names; the others hold numbers.
    """
    table = _table(header, rows, words)
    if console.measure(table, options=console.options.update(width=1_000)).maximum <= console.width:
        console.print(table)
        return
    for row in rows:
        named = zip(header[words:], row[words:], strict=False)
        parts = [f"{name} {cell}" for name, cell in named if cell]
        show_list(console, " ".join(filter(None, row[:words])), parts)


def show_list(console: Console, name: str, parts: Sequence[str]) -> None:
    """``name: part · part · …``, in as many lines as it takes."""
    for line in folded(f"{name}: ", parts, console.width):
        console.print(line, markup=False, soft_wrap=True)


def folded(lead: str, parts: Sequence[str], columns: int) -> Iterator[str]:
    """Lines of ``columns``, further ones indented; a part is broken only if it is wider than a line."""
    from rich.cells import cell_len

    line, empty = printable(lead), True
    pieces = (piece for part in parts for piece in _pieces(printable(part), columns - len(INDENT)))
    for part, first in pieces:
        longer = f"{line}{'' if empty else ' · ' if first else ' '}{part}"
        if cell_len(longer) > columns:
            yield line.rstrip()
            longer = INDENT + part
        line, empty = longer, False
    yield line.rstrip()


def _pieces(part: str, columns: int) -> Iterator[tuple[str, bool]]:
    """A part, word by word if it is wider than a line; with each piece whether it begins the part."""
    from rich.cells import cell_len

    if cell_len(part) <= columns:
        yield part, True
        return
    for at, word in enumerate(part.split()):
        yield word, not at


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(pad_edge=False, box=None, header_style="bold")
    for place, name in enumerate(header):
        justify = "left" if place < words else "right"
        table.add_column(Text(printable(name)), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
