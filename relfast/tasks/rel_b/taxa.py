"""Which taxa a verdict comes with.

A list under the name of taxa comes first ("Taxa involved: 15, 49"), then what stands in the verdict's own
sentence, then the lines of a list or table after it. What is said of columns, scores, relatives or taxa
that are *not* involved is no list; ranges are spelt out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.tasks.rel_b import taxa_patterns as patterns
from relfast.tasks.yes_no_patterns import plain

MAX_STATEMENT: Final = 50_000
"""Characters of the answer itself: a list of several thousand taxa."""

MAX_TAXA: Final = 5_000
"""Taxa a range is spelt out to."""

_LOOK_BACK: Final = 80


_BRACE: Final = re.compile(r"[{}]")


class _Found(NamedTuple):
    taxa: list[str]
    called: bool
    """By the name of taxa."""


def listed_taxa(text: str, start: int, end: int, *, yes: bool) -> list[str]:
    """The taxa listed with the verdict at ``text[start:end]``, each once, in order, without leading zeros.

    Of a no only those under a label or right behind it: a no that speaks of taxa is a no.
    """
    line = max(text.rfind("\n", 0, start), _open_brace(text, start)) + 1
    if not yes:
        return _of_a_no(text, line, end)
    lines = _lines(text[line : line + MAX_STATEMENT])
    behind = _lines(text[end : end + MAX_STATEMENT])
    if text.find("\n", end) != end and behind and not text[end:].lstrip(" ").startswith("\n"):
        taxa = _labelled(lines) or _stated(behind) or _stated(lines)
    else:
        taxa = _labelled(lines) or _stated(lines)
    taxa = taxa or _items(lines[1:]) or _called(lines)
    if not taxa and line:
        # "Taxa 15 and 49 share five motifs.\n\nAnswer: Yes"
        earlier = _lines(text[max(0, line - 2_000) : line])
        taxa = _last_before(earlier)
    return list(dict.fromkeys(taxa))


def _open_brace(text: str, at: int) -> int:
    """Where the object begins that ``at`` is in, or -1."""
    depth = 0
    for brace in reversed([*_BRACE.finditer(text, max(0, at - 2_000), at)]):
        depth += 1 if brace[0] == "}" else -1
        if depth < 0:
            return brace.start()
    return -1


def _of_a_no(text: str, line: int, end: int) -> list[str]:
    lines = _lines(text[line : line + MAX_STATEMENT])
    first = plain(text[end : end + 200]).partition("\n")[0].lstrip(" \t.:,;-–—>)]}|/")
    taxa = _labelled(lines, of_a_no=True)
    if not taxa and (found := patterns.LIST.match(first)) and not first[found.end() :].strip(" .*)]}|"):
        taxa = _spelt(found[0], "")
    if not taxa and len(lines) > 1 and not _rest_of(lines[0]):
        bare = patterns.LIST.fullmatch(lines[1].strip(" .*-[](){}|>"))
        taxa = _spelt(bare[0], "") if bare else []
    return list(dict.fromkeys(taxa))


def _rest_of(line: str) -> str:
    return patterns.BARE_NO.sub("", line)


def _lines(statement: str) -> list[str]:
    """Lines that are not blank, of plain text, without scores and the numbers of a numbered list."""
    statement = plain(statement)
    found = [int(match[1]) for match in patterns.ENUMERATOR.finditer(statement)]
    if found and found[0] in (1, 2) and found == list(range(found[0], found[0] + len(found))):
        statement = patterns.ENUMERATOR.sub("- ", statement)
    statement = patterns.WHOLE.sub("", patterns.SCORE.sub("", patterns.FIELDS.sub("", statement)))
    return [line for line in statement.split("\n") if line.strip()]


def _spelt(found: str, before: str) -> list[str]:
    """The numbers of a list, ranges spelt out."""
    taxa: list[str] = []
    last: int | None = None
    at = 0
    pairs = patterns.PAIR.search(before) is not None
    for match in patterns.ONE.finditer(found):
        number = int(match[1])
        joint = found[at : match.start()]
        if (
            last is not None
            and not pairs
            and patterns.RANGE.fullmatch(joint)
            and last < number <= last + MAX_TAXA
        ):
            taxa += map(str, range(last + 1, number + 1))
            last = None
        else:
            taxa.append(str(number))
            last = number
        at = match.end()
    return taxa


def _lists(line: str) -> Iterator[_Found]:
    """The lists of a line or sentence that are of taxa."""
    started = False
    for match in patterns.LIST.finditer(line):
        before = line[max(0, match.start() - _LOOK_BACK) : match.start()]
        after = line[match.end() : match.end() + _LOOK_BACK]
        if patterns.OTHERS.search(before) or patterns.OTHERS_AFTER.match(after):
            continue
        called = patterns.NAME.match(match[0]) is not None or patterns.NAMED_BEFORE.search(before) is not None
        taxa = _spelt(match[0], before)
        if patterns.COUNTED.match(after) and len(taxa) > 1 and patterns.DASHED.search(match[0]):
            taxa.pop()  # "15 — 5 motifs"
        elif started and before.endswith("(") and not called:
            continue  # "15 and 49 share 5 blocks (10-14, 30-34)"
        if not called and (
            patterns.CALLED_OTHERWISE.search(before)
            or patterns.COUNTED.match(after)
            or (len(taxa) == 1 and patterns.NUMBERED.search(before))
        ):
            continue
        started = True
        yield _Found(taxa, called)


def _labelled(lines: list[str], *, of_a_no: bool = False) -> list[str]:
    """What stands under a label of taxa, on its line or the lines after it."""
    groups: list[tuple[list[str], bool]] = []
    for at, line in enumerate(lines):
        for label in patterns.LABEL.finditer(line):
            before = line[max(0, label.start() - 30) : label.start()]
            if patterns.NOT_A_LABEL.search(before) or patterns.OTHERS.search(before):
                continue
            if of_a_no and not patterns.OF_TAXA.search(label[0]):
                continue
            rest = line[label.end() :]
            found = patterns.LIST.match(rest.lstrip(" [({|*-"))
            if found is not None:
                if (
                    patterns.COUNTED.match(rest.lstrip(" [({|*-")[found.end() :])
                    and len(patterns.ONE.findall(found[0])) == 1
                ):
                    continue
                taxa = _spelt(found[0], label[0])
            elif not rest.strip(" [({|*-:"):
                taxa = _items(lines[at + 1 :])
            else:
                continue
            if taxa and at + 1 < len(lines) and patterns.OR.match(lines[at + 1]):
                taxa += [taxon for one in _lists(lines[at + 1]) for taxon in one.taxa]
            if taxa:
                groups.append((taxa, patterns.FINAL.search(before) is not None))
            break
    if not groups:
        return []
    finals = [taxa for taxa, final in groups if final]
    if finals and groups[-1][1]:
        return finals[-1]
    return [taxon for taxa, _ in groups for taxon in taxa]


def _stated(lines: list[str]) -> list[str]:
    """The first sentence of the verdict's line that lists taxa, and those that go on with it."""
    taxa: list[str] = []
    for sentence in patterns.SENTENCE.split(lines[0]) if lines else ():
        if taxa and not patterns.MORE.match(sentence):
            break
        for found in _lists(sentence):
            taxa += found.taxa
    return taxa + _continued(lines) if taxa else taxa


def _continued(lines: list[str]) -> list[str]:
    """What the lines after the verdict's add to its list: the rest of it, or an alternative."""
    taxa: list[str] = []
    goes_on = lines[0].rstrip().endswith((",", " and", " or"))
    for line in lines[1:]:
        adds = patterns.ADDS.match(line) is not None
        bare = not patterns.BARE_LIST.sub("", line)
        if not (adds or bare or goes_on):
            break
        found = [taxon for one in _lists(line) for taxon in one.taxa]
        goes_on = line.rstrip().endswith((",", " and", " or")) or (adds and not found)
        taxa += found
    return taxa


def _items(lines: list[str]) -> list[str]:
    """Taxa at the heads of lines: a bare list, bullets, a table."""
    taxa: list[str] = []
    column: int | None = None
    for line in lines:
        stripped = line.strip()
        if "|" in stripped[1:]:
            cells = [cell.strip() for cell in stripped.strip("|").split("|")]
            if column is None:
                named = [
                    at for at, cell in enumerate(cells) if len(cell) <= 80 and patterns.HEADING.search(cell)
                ]
                if named:
                    column = named[0]
                    continue
            if not any(map(str.isalnum, stripped)):
                continue
            cell = cells[column or 0] if (column or 0) < len(cells) else ""
            found = patterns.LIST.match(cell)
            if found is not None:
                taxa += _spelt(found[0], "")
            continue
        match = patterns.ITEM.match(line)
        if match is not None:
            found_taxa = _spelt(match[1], "")
            counted = patterns.COUNTED.match(line[match.end(1) :]) is not None
            if counted and len(found_taxa) > 1 and patterns.DASHED.search(match[1]):
                found_taxa.pop()
                counted = False
            if not counted:
                taxa += found_taxa
                continue
        bullet = stripped[:1] in "-•·+[{("
        called = [one.taxa for one in _lists(line) if one.called] if bullet or not taxa else []
        if called and (bullet or not taxa):
            taxa += called[0]
            if not bullet:
                break
        elif taxa:
            break
    return taxa


def _called(lines: list[str]) -> list[str]:
    for line in lines[1:]:
        for sentence in patterns.SENTENCE.split(line):
            taxa = [taxon for found in _lists(sentence) for taxon in found.taxa]
            if taxa:
                return taxa
    return []


def _last_before(lines: list[str]) -> list[str]:
    labelled = _labelled(lines)
    if labelled:
        return labelled
    for line in reversed(lines):
        called = [taxon for found in _lists(line) if found.called for taxon in found.taxa]
        if called:
            return called
    return []
