"""What an editable install needs beside paths: a folder in which `relfast` is alone.

A `.pth` file with plain paths is what pyright and mypy understand (an import hook they cannot follow). But
the root of the repository would also offer `tests`, `docs` and `kernels` as namespace packages, and
transformers takes any `kernels` for Hugging Face's. So `.editable/` gets a link to the package, and stands on
the path instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = ".editable"
"""One of `dev-mode-dirs` in pyproject.toml."""


class EditableFolder(BuildHookInterface):  # type: ignore[type-arg]
    """Makes the folder when an editable wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            return
        link = Path(self.root) / FOLDER / "relfast"
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(Path("..") / "relfast", target_is_directory=True)
