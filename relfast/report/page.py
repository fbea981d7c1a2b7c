"""One HTML page that needs nothing else: styles inside, pictures as data."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from relfast import __version__
from relfast.errors import MissingExtraError, OutputError

_TEMPLATE: Final = "page.html.j2"


@dataclass
class Table:
    """Rows of texts under a header; the first columns (``text_columns``) are words, the others numbers."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    text_columns: int = 1


@dataclass
class Picture:
    """A PNG of the report's folder, with what it shows."""

    file: str
    title: str
    caption: str


@dataclass
class Section:
    """A part of the page."""

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()


@dataclass
class Page:
    """What a page holds. ``facts`` are shown as name and value at its top."""

    title: str
    lead: str
    facts: Sequence[tuple[str, str]] = ()
    sections: list[Section] = field(default_factory=list)


def write_page(page: Page, directory: Path) -> Path:
    """Write ``index.html`` into the folder that has the page's pictures.

    Raises
    ------
    MissingExtraError
        `jinja2` is not installed.
    OutputError
        It cannot be written.
    """
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("writing a report's page", "report") from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )

    def picture_data(file: str) -> str:
        data = (directory / file).read_bytes()
        return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"

    html = environment.get_template(_TEMPLATE).render(
        page=page, version=__version__, picture_data=picture_data
    )
    target = directory / "index.html"
    try:
        target.write_text(html, encoding="utf-8", errors="replace")
    except OSError as error:
        raise OutputError(target, error.strerror or str(error)) from error
    return target
