"""An HTML table for notebooks: escaped, no style of its own but alignment, no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    notes: Sequence[str] = (),
    text_columns: int = 1,
) -> str:
    """A table of texts, all of them escaped; the first columns are words, the others numbers."""
    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="text-align:left">{escape(caption)}</caption>')
    parts.append(f"<thead>{_row('th', header, text_columns)}</thead>")
    parts.append("<tbody>" + "".join(_row("td", row, text_columns) for row in rows) + "</tbody></table>")
    parts += [f"<div><small>{escape(note)}</small></div>" for note in notes]
    return "".join(parts)


def _row(tag: str, cells: Sequence[str], text_columns: int) -> str:
    sides = ("left" if place < text_columns else "right" for place in range(len(cells)))
    texts = (escape(cell) for cell in cells)
    return (
        "<tr>"
        + "".join(
            f'<{tag} style="text-align:{side}">{text}</{tag}>'
            for side, text in zip(sides, texts, strict=True)
        )
        + "</tr>"
    )
