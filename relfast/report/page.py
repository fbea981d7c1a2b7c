"""One HTML page that needs nothing else: styles, scripts, drawings and records are inside, and a policy
forbids everything else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from relfast import __version__
from relfast.errors import MissingExtraError, OutputError
from relfast.report.inline_svg import inline_svg

_TEMPLATE: Final = "page.html.j2"
_ASSETS: Final = Path(__file__).parent / "assets"
_SCRIPTS: Final = ("text.js", "tables.js", "figures.js", "store.js", "record.js", "browser.js", "main.js")
_STYLES: Final = ("page.css", "records.css")


@dataclass(frozen=True)
class Link:
    """A record of the page, as a cell of a table shows it."""

    text: str
    record: str


Cell = str | Sequence[Link]


@dataclass
class Table:
    """Rows of cells under a header; the first columns (``text_columns``) are words, the others numbers.

    A ``folded`` table shows its title until somebody asks for more.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    text_columns: int = 1
    folded: bool = False


@dataclass
class Picture:
    """A PNG of the report's folder, with its SVG and PDF beside it, and what it shows."""

    file: str
    title: str
    caption: str

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".png")


@dataclass
class Section:
    """A part of the page."""

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    pictures_first: bool = False

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() and c.isascii() else "-" for c in self.title.lower()).strip("-")


@dataclass
class Records:
    """Records that the page can show: an index, and blocks of texts, each compressed on its own (base64 of
    gzip of JSON). ``note`` says which records these are."""

    index: str
    blocks: Sequence[str]
    count: int
    note: str


@dataclass
class Page:
    """What a page holds. ``facts`` are shown as name and value at its top."""

    title: str
    lead: str
    facts: Sequence[tuple[str, str]] = ()
    sections: list[Section] = field(default_factory=list)
    records: Records | None = None


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
    script, style = _together(_SCRIPTS), _together(_STYLES)
    template = environment.get_template(_TEMPLATE)
    target = directory / "index.html"
    try:
        html = template.render(
            page=page,
            version=__version__,
            script=script,
            style=style,
            policy=_policy(script, style),
            drawing=lambda picture: inline_svg(
                directory / f"{picture.stem}.svg", picture.stem, picture.title
            ),
        )
        target.write_text(html, encoding="utf-8", errors="replace")
    except OSError as error:
        raise OutputError(target, error.strerror or str(error)) from error
    return target


def _together(names: Sequence[str]) -> str:
    return "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


def _policy(script: str, style: str) -> str:
    """The Content-Security-Policy: our own script and style, pictures from inside, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
