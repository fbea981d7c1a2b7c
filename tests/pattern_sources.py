"""The patterns that kernels run and the words that they know, as the ``strict`` extractors have them.

``python tests/pattern_sources.py`` writes `relfast_kernels.text.patterns.sources`,
`relfast_kernels.text.known_words` and `relfast_kernels.text.choices.data` anew; a test holds them to this.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from relfast.tasks import final, verdict, yes_no_patterns
from relfast.tasks.rel_a import markup, numbering, numbers, sentence, skim, vocabulary, walk, words
from relfast.tasks.rel_a import verdict as rel_a_verdict
from relfast.tasks.rel_a.clause import _AS_WELL
from relfast.tasks.rel_a.kernel_tables import _texts, words_with_flags
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

CHOICES_PATH = _TEXT / "choices/data.py"

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
    found |= _of_choices()
    found["LEADS"] = "(?:" + "|".join(sorted(yes_no_patterns.LEADS)) + ")", 0
    return found


_CIRCLED = "".join(numbers.DIGITS)
"""No kernel reads a text that has one of them."""

MARKS = "<\\[&*_!>(~n#"
"""What kernels know to be in a sentence; `#` stands for signs of comparison."""


_ITEM = (
    "第 ?(?:[1-9][0-9]{0,8}+|[一二三四五六七八九]) ?(?:[个個项項](?: ?(?:选项|選項|答案))?+|[号號]?(?:选项|選項|答案))"
    f"(?![\u4e00-\u9fff](?<![{vocabulary.BEHIND_ITEM}]))"
)
"""What `relfast_kernels.text.choices.tokens` reads without a pattern."""


def _of_choices() -> dict[str, tuple[str, int]]:
    """Those of REL-A's sentences."""
    lone = numbers._LONE_DIGIT.pattern.replace(_CIRCLED, "").replace("(?<=[①-➓])|", "")
    lone = lone.replace(r"\ufe0f?\u20e3", "\ufe0f?\u20e3")
    if any(c in lone for c in _CIRCLED):
        raise ValueError("_LONE_DIGIT is written otherwise")
    value = "|".join(vocabulary._VALUE.split("|")[:3])
    if vocabulary._ITEM != _ITEM:
        raise ValueError("_ITEM is written otherwise")
    dash = next(pattern for kind, pattern in vocabulary.SIGNS if kind == "-")
    patterns = {
        "PLAIN": skim.PLAIN.pattern,
        "LONE_DIGIT": lone,
        "HAS_WORD": numbers._HAS_WORD.__self__.pattern,
        "WORDY": numbers._WORDY.pattern,
        "GIVEN": numbers._PANEL.pattern,
        "NOT_GIVEN": numbers._NOT_GIVEN.pattern,
        "EXPRESSION": vocabulary._EXPRESSION,
        "VALUE": value,
        "DASH": dash,
        "DRAFT": "|".join(map(re.escape, sentence._DRAFTS)).replace("\\ ", " "),
        "UNREAL": sentence._UNREAL.pattern,
        "TURNED_DOWN": skim._TURNED_DOWN.pattern,
        "REOPENS": "|".join(map(re.escape, skim._REOPENS)).replace("\\ ", " "),
        "TAKES_BACK": walk._TAKES_BACK.pattern,
        "WAIT": walk.WAIT.pattern,
        "CONFIRMS": walk._CONFIRMS.pattern,
        "ERROR": walk._ERROR.pattern,
        "EXAMINES": walk._EXAMINES.pattern,
        "YES": walk._YES.pattern,
        "OR": walk.OR.pattern,
        "LIST_ITEM": walk.LIST_ITEM.pattern,
        "LISTED": walk._LISTED.pattern,
    }
    patterns |= {f"PHRASE_{n:02}": f"(?:{source})(?!\\w)" for n, (_, source) in enumerate(vocabulary.PHRASES)}
    patterns |= {f"SWAP_{n:02}": swap[1].pattern for n, swap in enumerate(_swaps())}
    return {f"A_{name}": (source, 0) for name, source in patterns.items()}


def _swaps() -> list[tuple[str, re.Pattern[str], str]]:
    """Markup that is replaced by what does not depend on it."""
    return [
        (mark, pattern, by) for mark, pattern, by in markup._SWAPS if isinstance(by, str) and "\\" not in by
    ]


_WORD_SETS: dict[str, frozenset[str]] = {
    "PREPOSITION": rel_a_verdict._PREPOSITIONS,
    "INDEX": frozenset({"index"}),
    "FOR_BY": frozenset({"for", "by"}),
    "BOXED": frozenset({"boxed", "a"}),
    "NUMBER_OF": frozenset({"number of"}),
    "VERSUS": frozenset({"vs", "versus"}),
    "BEGINS": rel_a_verdict._BEGINS,
    "ANSWERS": frozenset({"answers", "boxed"}),
    "WITHIN": frozenset({"in", "with", "by", "as"}),
    "BEST": frozenset({"better", "best"}),
    "RIGHT": rel_a_verdict._RIGHT | {"one"},
    "IT": frozenset({"it"}),
    "AS": frozenset({"as"}),
    "AS_WELL": _AS_WELL,
    "THROUGH": numbering._THROUGH,
    "NOR": frozenset({"nor"}),
    "OUTPUT": frozenset({"solution", "result", "output"}),
    "MINE": frozenset({"my", "our", "your"}),
    "NUMBER": frozenset({"number", "la"}),
    "ANY_OTHER": sentence._ANY_OTHER,
    "FINAL": frozenset({"final"}),
    "ONE": frozenset({"one"}),
    "LISTS": rel_a_verdict._LISTS,
    "GIVES_REASON": numbering._GIVES_REASON,
}
"""Words that the rules of clauses and numbers ask for by name."""


def _sets_of(text: str) -> int:
    return sum(1 << bit for bit, members in enumerate(_WORD_SETS.values()) if text in members)


def choices_text() -> str:
    """The module of what REL-A's kernels know of words and signs."""
    flags: dict[str, tuple[str, int, bool, int, bool, bool]] = {}
    for word in sorted({*words.TOKEN_OF, *vocabulary.OPENS_PHRASE, *vocabulary.ENDS_PHRASE}):
        token = words.TOKEN_OF.get(word)
        flags[word] = (
            "" if token is None else token.kind,
            0 if token is None else token.value,
            token is not None and token.word,
            0 if token is None else _sets_of(token.text),
            word in vocabulary.OPENS_PHRASE,
            word in vocabulary.ENDS_PHRASE,
        )
    by_flags: dict[tuple[object, ...], list[str]] = {}
    for word, about in flags.items():
        by_flags.setdefault(about, []).append(word)
    phrases = []
    for kind, source in vocabulary.PHRASES:
        (sets,) = {_sets_of(text) for text in _texts(source) if "\0" not in text} or {0}
        phrases.append((kind, sets))
    spaces = "".join(chr(point) for point, to in markup._CHARACTERS.items() if to == " ")
    colons = "".join(chr(point) for point, to in markup._CHARACTERS.items() if to == ":")
    signs = {
        kind: sorted(set(source.strip("[]")))
        for kind, source in vocabulary.SIGNS
        if len(source) == 1 or re.fullmatch(r"\[[^\]\\]+\]", source)
    }
    lines = [_CHOICES_HEAD]
    names = ", ".join(f"SET_{name}" for name in _WORD_SETS)
    lines.append("(\n" + textwrap.indent("\n".join(textwrap.wrap(names + ",", 100)), "    "))
    lines.append(
        f'\n) = (1 << bit for bit in range({len(_WORD_SETS)}))\n"""Words that rules ask for by name."""\n\n'
    )
    lines.append("WORDS: Final = {\n")
    for about, members in sorted(by_flags.items(), key=repr):
        lines.append(f"    {about!r}: (\n")
        lines += [f"        {line + ' '!a}\n" for line in textwrap.wrap(" ".join(members), 96)]
        lines.append("    ),\n")
    lines.append(
        "}\n"
        + '"""Kind, number, whether it is a number, sets; whether phrases begin or end with it → words."""\n\n'
    )
    lines.append(f"STEMS: Final = {dict(vocabulary.STEMS)!a}\n")
    lines.append(
        f"PHRASES: Final = {phrases!a}\n"
        + '"""Kind and sets of each phrase, whose patterns are numbered so."""\n'
    )
    lines.append(
        f"SWAPS: Final = {[(mark, by) for mark, _, by in _swaps()]!a}\n"
        + '"""What must be there, and what is written instead."""\n'
    )
    lines.append(
        f"SPACES: Final = {spaces!a}\nCOLONS: Final = {colons!a}\n"
        + '"""Characters that are written so."""\n'
    )
    lines.append(f"SIGNS: Final = {signs!a}\n")
    lines.append(
        f"SCRIPTS: Final = {[(kind, part) for kind, source in vocabulary.CJK for part in source.split('|')]!a}\n"
    )
    lines.append(f"AFTER_NUMBER: Final = {vocabulary.AFTER_NUMBER.split('|')!a}\n")
    lines.append(f"NUMERALS: Final = {numbers.NUMERALS!a}\n")
    for name in ("HAN", "COUNTERS", "BEHIND_ITEM"):
        lines.append(f"{name}: Final = {''.join(vars(vocabulary)[name])!a}\n")
    lines.append(f"ITEMS: Final = {vocabulary.ITEMS.split('|')!a}\n")
    lines.append(f"UNSURE: Final = {sorted(set(skim._UNSURE.pattern.strip('[]')))!a}\n")
    lines.append(
        '"""Tokens of signs and of other scripts, what may follow a number, and signs of doubt."""\n'
    )
    for name in (
        "_NOUNS",
        "_NUMBER_WORDS",
        "_ORDINALS",
        "_BEFORE_A_WORD",
        "_PANELS",
        "_COPULAS",
        "_PLACES",
        "_UNSURE_WORDS",
    ):
        lines.append(f"SKIM{name}: Final = {sorted(vars(skim)[name])!a}\n")
    lines.append(f"SKIM_NOT_GIVEN: Final = {sorted(numbers.NOT_GIVEN_WORDS)!a}\n")
    lines.append('"""What `relfast.tasks.rel_a.skim` knows of words."""\n')
    return "".join(lines)


_CHOICES_HEAD = '''# ruff: noqa: E501
# fmt: off
"""Made by ``python tests/pattern_sources.py`` from the tables of REL-A's ``strict`` extractor; not to be edited."""

from __future__ import annotations

from typing import Final

'''


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
    for flags, some in sorted(by_flags.items()):
        lines.append(f"    {flags}: (\n")
        lines += [f'        "{line} "\n' for line in textwrap.wrap(" ".join(some), 96)]
        lines.append("    ),\n")
    lines += [
        "}\n",
        '"""By their flags (`relfast_kernels.layouts.WORD_KNOWN` and so on); a stem ends with a star."""\n',
    ]
    return "".join(lines)


def compiled() -> str:
    """What the programs of the patterns come to, by a process that reads them anew. Raises `ValueError` where they
    are more than their tables have room for."""
    code = (
        "from relfast_kernels.text.patterns import compile, programs\n"
        "size = len(programs.CODE) // compile.WIDTH\n"
        "print(f'{size:,} instructions of {compile.MOST:,}')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError((done.stderr.splitlines() or ["no reason"])[-1])
    return done.stdout.strip()


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
    WORDS_PATH.write_text(words_text(), "utf-8")
    CHOICES_PATH.write_text(choices_text(), "utf-8")
    print(compiled())
