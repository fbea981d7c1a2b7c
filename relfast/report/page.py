"""Shared by all reports: the files they write, progress callbacks, and the HTML page.

The page is self-contained: styles, scripts, drawings and records are in it, and a Content-Security-Policy
forbids everything else."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from relfast import __version__
from relfast.errors import MissingExtraError
from relfast.report.canvas import FORMATS, Canvas, inline_svg
from relfast.stats.summary import Summary
from relfast.support.outputs import whole_folder, writing

OnStep = Callable[[str], None]
"""Called with a description of each step that a report begins."""


def ignore_step(text: str) -> None:
    """An `OnStep` that does nothing."""


def report_folder(directory: str | Path) -> AbstractContextManager[Path]:
    """The folder to write a report in. Its files appear in ``directory`` at the end, all together; those of
    an older report that have no successor go. Raises `OutputError`."""
    return whole_folder(
        Path(directory), last="index.html", stale=(f"{PIECES}/*.js", f"{HEATMAPS}*", "differences*")
    )


def check_packages(*more: str) -> None:
    """Check, before a long run, that a report can be drawn afterwards: that the packages all reports need,
    and ``more``, are installed. Raises `MissingExtraError`."""
    for name in ("jinja2", "matplotlib", *more):
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError("a report", "report")


@dataclass
class Report:
    """A report being written: the ``files`` written into its directory so far, ``notes`` on what could not
    be shown and why, the embedding model of its heatmaps, the numbers of each run of scored rows, and the
    progress callback. Raises `OutputError`."""

    directory: Path
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    embedder: str = "auto"
    summaries: dict[str, Summary] = field(default_factory=dict)
    on_step: OnStep = ignore_step
    _drawn: list[tuple[Path, Canvas]] = field(default_factory=list)

    def at(self, directory: Path) -> Report:
        """The report after its files have moved to another directory."""
        files = [directory / path.relative_to(self.directory) for path in self.files]
        return replace(self, directory=directory, files=files)

    def draw(self, file: str, title: str, caption: str, figure: Canvas) -> Picture:
        """Add a figure, to be saved as ``file`` (PNG), SVG and PDF. Returns the picture for the page."""
        path = self.directory / file
        self._drawn.append((path, figure))
        self.files += [path.with_suffix(suffix) for suffix in FORMATS]
        return Picture(file, title, caption)

    def write_page(self, page: Page) -> None:
        """Save the figures, which takes most of a report's time, and write the page, which has them in it."""
        for number, (path, figure) in enumerate(self._drawn, 1):
            self.on_step(f"drawing figures: {number} of {len(self._drawn)}")
            figure.save(path)
        self._drawn.clear()
        self.on_step("writing the page")
        self.files += write_page(page, self.directory)

    def write_texts(self, texts: Mapping[str, str]) -> None:
        """Write text files (name → text) into the report's directory. Raises `OutputError`."""
        for name, text in texts.items():
            path = self.directory / name
            with writing(path):
                path.write_text(text, encoding="utf-8", errors="replace")
            self.files.append(path)


_TEMPLATE: Final = "page.html.j2"
_ASSETS: Final = Path(__file__).parent / "assets"
_SCRIPTS: Final = ("text.js", "tables.js", "store.js", "record.js", "prompt.js", "browser.js", "main.js")
_STYLES: Final = ("page.css", "records.css")
RECORDS: Final = "Records"
ABOUT: Final = "About"
PIECES: Final = "records"
"""The folder, beside the page, of the blocks of records that are not in the page itself."""
HEATMAPS: Final = "heatmap_example_"
"""How the names of figures begin that not every report has."""


@dataclass(frozen=True)
class Link:
    """A link in a table to a place of the page: ``place`` is its URL fragment (``view=records&task=…``)."""

    text: str
    place: str


@dataclass(frozen=True)
class Share:
    """A share from 0 to 1 with the bounds of its interval (equal to it without one), as texts ``text`` and
    ``interval``; what is said below it (``note``); and the ``place`` of the records it is computed from, if
    they are on the page."""

    value: float
    low: float
    high: float
    text: str
    interval: str
    note: str
    place: str = ""


Cell = str | Share | Sequence[Link]


@dataclass
class Table:
    """A table of the page. Its first ``text_columns`` columns are texts, the others numbers.

    A ``folded`` table shows only its title until the reader opens it; above the table a reader can choose
    among the values of the column ``choose``.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    text_columns: int = 1
    folded: bool = False
    choose: int | None = None


@dataclass
class Picture:
    """A picture of the page: a PNG in the report's folder (with SVG and PDF beside it), title and caption."""

    file: str
    title: str
    caption: str

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".png")


@dataclass
class Section:
    """A section of the page, shown in the ``view`` (tab) of that name; ``folded``: closed at first."""

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    pictures_first: bool = False
    view: str = "Scores"
    folded: bool = False

    @property
    def anchor(self) -> str:
        return "".join(c if c.isalnum() and c.isascii() else "-" for c in self.title.lower()).strip("-")


@dataclass
class Records:
    """The records that the page can show: an index of all, and compressed blocks of their texts.

    A block is JSON, gzipped, in base64. The first ``inside`` blocks are in the page. Each other block is a
    script file beside the page, loaded when one of its records is opened. ``note`` says which records
    these are.
    """

    index: str
    blocks: Sequence[str]
    inside: int
    count: int
    note: str


@dataclass
class Page:
    """The contents of a page. ``facts`` are shown as name and value in the view About."""

    title: str
    lead: str
    facts: Sequence[tuple[str, str]] = ()
    sections: list[Section] = field(default_factory=list)
    records: Records | None = None

    @property
    def views(self) -> list[str]:
        """The names of the page's tabs, in order."""
        named = list(dict.fromkeys(section.view for section in self.sections))
        own = [*([RECORDS] if self.records is not None else []), ABOUT]
        return [*(name for name in named if name not in own), *own]


def write_page(page: Page, directory: Path) -> list[Path]:
    """Write ``index.html`` into the folder with the page's pictures, and the blocks of records beside it.

    Raises
    ------
    MissingExtraError
        `jinja2` is not installed.
    OutputError
        A file cannot be written.
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
        finalize=_harmless,
    )
    script, style = _together(_SCRIPTS), _together(_STYLES)
    template = environment.get_template(_TEMPLATE)
    target = directory / "index.html"
    pieces = [] if page.records is None else list(enumerate(page.records.blocks))[page.records.inside :]
    folder = directory / PIECES
    with writing(target):
        if pieces:
            folder.mkdir(exist_ok=True)
        for number, block in pieces:
            (folder / f"{number}.js").write_text(f'piece({number},"{block}")', encoding="ascii")
        html = template.render(
            page=page,
            version=__version__,
            script=script,
            style=style,
            policy=_policy(script, style, own=bool(pieces)),
            about=ABOUT,
            pieces=PIECES,
            drawing=lambda picture: inline_svg(
                directory / f"{picture.stem}.svg", picture.stem, picture.title
            ),
        )
        target.write_text(html, encoding="utf-8", errors="replace")
    return [target, *(folder / f"{number}.js" for number, _ in pieces)]


_MOVING: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, marks of direction and halves of characters."""


def _harmless(value: object) -> object:
    """A value of the template, such as a record's id or a model's name: in texts, U+FFFD stands for what
    would reverse the line's direction. The page's own code and drawings are no plain texts."""
    if type(value) is not str or value.isprintable():
        return value
    return _MOVING.sub("\N{REPLACEMENT CHARACTER}", value)


def _together(names: Sequence[str]) -> str:
    return "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


def _policy(script: str, style: str, *, own: bool) -> str:
    """The Content-Security-Policy: it allows the page's script and style, embedded pictures, scripts
    beside the page if there are blocks of records (``own``), and nothing else."""
    scripts = f"'{_hash(script)}'" + (" 'self'" if own else "")
    return (
        f"default-src 'none'; script-src {scripts}; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
