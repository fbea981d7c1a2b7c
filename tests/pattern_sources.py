"""The patterns that kernels run and the words that they know, as the ``strict`` extractors have them.

``python tests/pattern_sources.py`` writes `relfast_kernels.text.patterns.sources` and
`relfast_kernels.text.known_words` anew; a test holds them to this.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from relfast.tasks import final, verdict, yes_no_patterns
from relfast.tasks.rel_a import skim
from relfast.tasks.rel_a.kernel_tables import words_with_flags
from relfast.tasks.rel_b import strict, taxa_patterns
from relfast.tasks.rel_c import label

_TEXT = Path(__file__).parent.parent / "kernels/relfast_kernels/text"
PATH = _TEXT / "patterns/sources.py"
WORDS_PATH = _TEXT / "known_words.py"

_HEAD = '''# ruff: noqa: E501
# fmt: off
"""Made by ``python tests/pattern_sources.py`` from the patterns of the ``strict`` extractors; not to be edited."""

from __future__ import annotations

from typing import Final

'''

_BACKREFERENCE = r"<(del|s|strike)>.{0,150}?</\1>"


def _of(module: object, prefix: str) -> dict[str, tuple[str, int]]:
    return {
        prefix + name.lstrip("_"): (pattern.pattern, int(pattern.flags & (re.IGNORECASE | re.MULTILINE)))
        for name, pattern in vars(module).items()
        if isinstance(pattern, re.Pattern)
    }


def sources() -> dict[str, tuple[str, int]]:
    """Name → pattern and flags."""
    found = (
        _of(final, "")
        | _of(verdict, "")
        | _of(yes_no_patterns, "")
        | _of(strict, "B_")
        | _of(taxa_patterns, "B_")
        | _of(label, "C_")
    )
    del found["C_YES_NO"]  # reference's
    # the machine knows no backreferences
    struck, flags = found["STRUCK"]
    if _BACKREFERENCE not in struck:
        raise ValueError("STRUCK is written otherwise")
    ways = "|".join(f"<{tag}>.{{0,150}}?</{tag}>" for tag in ("del", "s", "strike"))
    found["STRUCK"] = struck.replace(_BACKREFERENCE, ways), flags
    found["A_PLAIN"] = skim.PLAIN.pattern, 0
    found["LEADS"] = "(?:" + "|".join(sorted(yes_no_patterns.LEADS)) + ")", 0
    return found


def text() -> str:
    """The module."""
    table = yes_no_patterns._PLAIN
    deleted = "".join(chr(point) for point, to in table.items() if to is None)
    replaced = {chr(point): to for point, to in table.items() if to is not None}
    lines = [_HEAD, "SOURCES: Final = {\n"]
    lines += [
        f"    {name!a}: ({source!a}, {flags}),\n" for name, (source, flags) in sorted(sources().items())
    ]
    lines += [
        "}\n",
        '"""Name → pattern and flags; all on text in lower case."""\n\n',
        f"DELETED: Final = {deleted!a}\n",
        f"REPLACED: Final = {replaced!a}\n",
        '"""What `relfast.tasks.yes_no_patterns.plain` leaves out, and what it writes otherwise."""\n',
    ]
    return "".join(lines)


_WORDS_HEAD = '''# fmt: off
"""Made by ``python tests/pattern_sources.py`` from the words of the ``strict`` extractors; not to be edited.

Whoever reads them here need not load the extractor (20 ms).
"""

from __future__ import annotations

from typing import Final

'''


def words_text() -> str:
    """The module of words: for each union of flags those that have it."""
    by_flags: dict[int, list[str]] = {}
    for word, flags in sorted(words_with_flags().items()):
        by_flags.setdefault(flags, []).append(word)
    lines = [_WORDS_HEAD, "WORDS: Final = {\n"]
    for flags, words in sorted(by_flags.items()):
        lines.append(f"    {flags}: (\n")
        lines += [f'        "{line} "\n' for line in textwrap.wrap(" ".join(words), 96)]
        lines.append("    ),\n")
    lines += [
        "}\n",
        '"""By their flags (`relfast_kernels.layouts.WORD_KNOWN` and so on); a stem ends with a star."""\n',
    ]
    return "".join(lines)


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
    WORDS_PATH.write_text(words_text(), "utf-8")
