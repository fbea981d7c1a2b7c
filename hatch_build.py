"""What hatchling leaves to us: kernels' libraries for a wheel, a folder of links for an editable one.

Libraries need `memchr`, `memset` and the like of the C library, in no particular version, and nothing of
Python, so that one wheel serves every Python on a kind of machine. numba compiles them, and is asked for by
those builds only: an editable install, whose kernels are compiled later, does without.

A `.pth` file with plain paths is what pyright and mypy understand (an import hook they cannot follow). But
the root of the repository would also offer `tests`, `docs` and `kernels` as namespace packages, and
transformers takes any `kernels` for Hugging Face's. So `.editable/` gets a link to the package, and stands on
the path instead.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.build import *  # noqa: F403 -- the backend, with one answer of our own
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

FOLDER = ".editable"
"""One of `dev-mode-dirs` in pyproject.toml."""

PROCESSORS = "RELFAST_WHEEL_FOR"
"""Environment variable: LLVM's names of the processors that a wheel is for, with blanks between; `native`
is the very one that builds. `none`, or empty: no libraries, which is an error unless it is asked for so."""


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What a wheel needs that an editable one does not."""
    return ["numba>=0.61"]


class Wheel(BuildHookInterface):  # type: ignore[type-arg]
    """Puts libraries into a wheel; for an editable one, makes the folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable":
            link = root / FOLDER / "relfast"
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(Path("..") / "relfast", target_is_directory=True)
            return
        if os.environ.get(PROCESSORS, "all").strip() in ("", "none"):
            self.app.display_warning(
                "relfast: no compiled kernels in this wheel, as asked for; they are compiled where it is used"
            )
            return
        machine = os.uname().machine
        try:
            libraries = self._libraries(root / "kernels", machine)
        except OSError as error:
            self.app.abort(f"relfast: {error}; a wheel without compiled kernels: {PROCESSORS}=none")
        # a C library that is older, or another one, takes no such tag, though the code would do
        tags = [f"manylinux_2_28_{machine}", f"linux_{machine}"]
        build_data["tag"] = "py3-none-" + next(tag for tag in tags if tag in set(platform_tags()))
        build_data["pure_python"] = False
        for path in libraries:
            build_data["force_include"][str(path)] = f"relfast_kernels/compiled/shipped/{path.name}"

    def _libraries(self, source: Path, machine: str) -> list[Path]:
        """The libraries of all kernels for a kind of machine; what is missing is compiled into the cache.

        Raises `OSError` where one cannot be made.
        """
        sys.path.insert(0, str(source))
        from relfast_kernels.compiled import making, native

        known = native.PROCESSORS.get(machine, {}) if sys.platform == "linux" else {}
        names = os.environ.get(PROCESSORS, " ".join(known)).split()
        if not names:
            raise OSError(f"there are no compiled kernels for {sys.platform} on {machine}")
        processors = ["" if name == "native" else name for name in names]

        def tell(made: making.Progress) -> None:
            if not made.functions:
                self.app.display_info(f"  {made.unit} compiled; {made.share:.0%} of all kernels")

        # a small one first: what keeps all from being built is told after seconds
        making.make(["align"], processors=processors)
        making.make(list(native.UNITS), processors=processors, tell=tell)
        return [native.shared_library(unit, one) for unit in native.UNITS for one in processors]
