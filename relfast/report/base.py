"""What all reports have in common: the files they write, and who is told of their steps."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from relfast.errors import MissingExtraError, OutputError

FORMATS: Final = (".png", ".svg", ".pdf")
"""What every figure is saved as."""

OnStep = Callable[[str], None]
"""Is told what a report is doing from now on."""


def ignore_step(text: str) -> None:
    """An `OnStep` that tells nothing."""


def check_packages(*more: str) -> None:
    """Find out before the work whether a report of it can be drawn, with ``more`` packages than all reports
    need. Raises `MissingExtraError`."""
    for name in ("jinja2", "matplotlib", *more):
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError("a report", "report")


@dataclass
class Report:
    """The files a report wrote, in order, and what it could not show and why; the model of its heatmaps; and
    who is told of each figure."""

    directory: Path
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    embedder: str = "auto"
    on_step: OnStep = ignore_step
    n_figures: int = 0

    def drew(self, path: Path) -> None:
        """Note a figure: a PNG, with its SVG and PDF beside it."""
        self.files += [path.with_suffix(suffix) for suffix in FORMATS]
        self.n_figures += 1
        self.on_step(f"drawing figures: {self.n_figures} done")

    def write_texts(self, texts: Mapping[str, str]) -> None:
        """Write files by name and text, in the report's directory. Raises `OutputError`."""
        for name, text in texts.items():
            path = self.directory / name
            try:
                path.write_text(text, encoding="utf-8", errors="replace")
            except OSError as error:
                raise OutputError(path, error.strerror or str(error)) from error
            self.files.append(path)
