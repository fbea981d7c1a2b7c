"""Which taxa a verdict comes with.

A list under the name of taxa comes first ("Taxa involved: 15, 49"), then what stands in the verdict's own
sentence, then the lines of a list or table after it. What is said of columns, scores, relatives or taxa
that are *not* involved is no list; ranges are spelt out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.tasks.verdict import plain

MAX_STATEMENT: Final = 50_000
"""Characters of the answer itself: a list of several thousand taxa."""

MAX_TAXA: Final = 5_000
"""Taxa a range is spelt out to."""

_LOOK_BACK: Final = 80

_CALLED: Final = r"(?:tax(?:on|a|ons|um)|species|sp|otus?|strains?|samples?|leaf|leaves|leafs|tips?|sequences?|seqs?|t)"
_TAXON: Final = rf"(?:(?:\b{_CALLED}[\s_#:-]{{0,3}}+|[#>]\s?)[0-9]{{1,9}}+|(?<![a-z0-9_])(?<![0-9]\.)[0-9]{{1,9}}+)(?![a-z0-9_]|\.[0-9]|%)"
_JOINT: Final = r"(?:[\s,;&*•·()\[\]{}+/|<>~-]|\band\b|\bas well as\b|\bplus\b|\bwith\b|\bto\b|\bthrough\b|\bor\b|\balso\b|\by\b|\bund\b|\bet\b|和|与|及|[–—]|\.\.\.?)"
_LIST: Final = re.compile(rf"{_TAXON}(?:{_JOINT}++{_TAXON})*+")
_ONE: Final = re.compile(rf"(?:\b{_CALLED}[\s_#:-]*)?[\s#>]*([0-9]+)")
_RANGE: Final = re.compile(r"\s*(?:-|–|—|\bto\b|\bthrough\b|\.\.\.?)\s*$")

_SCORE: Final = re.compile(
    r"(?<=[0-9])(?:\s*(?:\((?!\s*(?:or|and|also|alternatively|maybe|possibly|perhaps|plus)\b)(?=[^()\n]{0,80}[.%a-z=/])[^()\n]{0,80}\)|\[(?=[^\[\]\n]{0,80}[.%a-z=])[^\[\]\n]{0,80}\])"
    r"|\s*[:=–—-]\s*(?:[0-9]{0,3}\.[0-9]+|[0-9]{1,3}\s?%)%?)"
)
_FIELDS: Final = re.compile(
    r",?\s*\b(?:score|confidence|probability|support|weight|p)\s*[:=]\s*[0-9.]+\s?%?|\b(?:id|name|number|nos?)\s*[:.]\s*(?=[0-9]|tax)"
)
_WHOLE: Final = re.compile(r"(?<=[0-9])\.0+(?![0-9])")
_LABEL: Final = re.compile(
    r"\b(?:tax(?:on|a|ons)|members?|species|leaves|convergent|homoplastic|involved|homoplasious|group|list|pairs?|cluster|set)"
    r"(?:[ _]+(?:are|is|list|names?|ids?|numbers?|that|which|involved|convergent|with|showing|exhibiting|structured|homoplasy|in|"
    r"question|the|affected|identified|group|of|convergence|detected|implicated|sharing|motifs?|taxa|taxon|pair|members?|labels?|shares?|shared|shows?|have|same|following|repeatedly|nucleotide|identical|carry|forms?|stand|out))*"
    r"(?:\s*\([^()\n]{0,40}\))?\s*(?:[:=|→]|-(?=\s)|[–—]|\bare\b|\bis\b|->)[\s\[({|*-]*(?=(?:tax\w*|leaf|leaves|species|seq\w*|t|[#>])?[\s_#-]*[0-9]|none\b|n/a|\n|$)"
)
_OF_TAXA: Final = re.compile(r"\btax(?:a|on)[^\n]*[:=|]|\binvolved\b")
_NOT_A_LABEL: Final = re.compile(r"\b(?:other|no|not|excluded|unrelated|uninvolved|remaining|unaffected|total|number of|examined|all|non|candidate)[ -]*$")
_CALLED_OTHERWISE: Final = re.compile(
    r"\b(?:columns?|cols?|sites?|positions?|pos|blocks?|motifs?|lengths?|steps?|nodes?|clades?|lines?|rows?|regions?|"
    r"windows?|bases?|nucleotides?|nt|bp|at|score|confidence|distance|of|out of|around|approximately|about|over|all|only|"
    r"least|than|probability|p|n|count|from columns?|figure|part|indices|index)\b[^\w\n]*$"
)
_DASHED: Final = re.compile(r"\s[-–—]\s*[0-9]+$")
_NUMBERED: Final = re.compile(r"\b(?:groups?|clusters?|pairs?|sets?|part|case|option|step)[\s#]*$")
_OTHERS: Final = re.compile(
    r"\b(?:not|(?:everything|everyone|all|anything|any|each|taxon|taxa) but|except|excepting|excluding|unlike|without|neither|nor|other than|but not|rather than|relatives?|sisters?|"
    r"siblings?|neighbou?rs?|close to|related to|closest|compared (?:to|with)|versus|vs|instead of|than)\b[^.;:\n0-9]{0,30}$"
)
_OTHERS_AFTER: Final = re.compile(
    r"\s*,?\s*(?:which\s+)?(?:do|does|did|are|is|was|were|have|has)\s*(?:not|n['’]?t|no\b)|\s*(?:don|doesn|aren|isn|lack|differ|show no|share only|only share|merely)\b"
)
_COUNTED: Final = re.compile(
    r"[\s-]+(?:(?:distant|convergent|different|other|independent|shared|identical|separate|distantly related|more|of the)\s+)?"
    r"(?:taxa|taxons?|species|leaves|columns?|sites?|positions?|out|pairs?|groups?|blocks?|motifs?|times|nucleotides?|nt|bp|bases?|"
    r"members|sequences|characters|residues|branches|edges|nodes?|clades?|matches|shared|identical|of\s+[0-9]+)\b|\s*/\s*[0-9]+\s+(?:col|sit|pos)|\s*%"
)
_ENUMERATOR: Final = re.compile(r"^[ \t>*-]*\(?([0-9]{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
_MORE: Final = re.compile(
    r"^[\W_]*(?:and|also|as well as|additionally|in addition|plus|or|maybe|perhaps|possibly|alternatively|another|further|"
    r"furthermore|likewise|similarly|the other|second|a second|group|pair|cluster|set|too)\b"
)
_ADDS: Final = re.compile(
    r"^[\W_]*(?:or|and|also|alternatively|maybe|perhaps|possibly|additionally|plus|as well as|otherwise|else|and/or)\b"
)
_OR: Final = re.compile(r"^[\W_]*(?:or|alternatively|maybe|perhaps|possibly|otherwise|else)\b")
_ITEM: Final = re.compile(rf"^[\s>|*•·◦▪‣–—+-]*(?:\[[ x]?\]\s*)?(?:(?:group|pair|cluster|set)\s+[0-9a-z]\s*[:–-]\s*)?({_LIST.pattern})(?=(.?))")
_FINAL: Final = re.compile(r"\b(?:final|corrected|correction|updated|revised|actually|wait|so|therefore|thus|definitive)\b")
_SENTENCE: Final = re.compile(rf"(?<=[.!?])\s+|(?<=;)\s+(?=[a-z])(?!(?:{_CALLED}|and|or)\b)")
_PAIR: Final = re.compile(r"\bpairs?\b")


class _Found(NamedTuple):
    taxa: list[str]
    called: bool
    """By the name of taxa."""


def listed_taxa(text: str, start: int, end: int, *, yes: bool) -> list[str]:
    """The taxa listed with the verdict at ``text[start:end]``, each once, in order, without leading zeros.

    Of a no only those under a label or right behind it: a no that speaks of taxa is a no.
    """
    line = max(text.rfind("\n", 0, start), text.rfind("{", max(0, start - 2_000), start)) + 1
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


def _of_a_no(text: str, line: int, end: int) -> list[str]:
    lines = _lines(text[line : line + MAX_STATEMENT])
    first = plain(text[end : end + 200]).partition("\n")[0].lstrip(" \t.:,;-–—>)]}|/")
    taxa = _labelled(lines, of_a_no=True)
    if not taxa and (found := _LIST.match(first)) and not first[found.end() :].strip(" .*)]}|"):
        taxa = _spelt(found[0], "")
    if not taxa and len(lines) > 1 and not _rest_of(lines[0]):
        bare = _LIST.fullmatch(lines[1].strip(" .*-[](){}|>"))
        taxa = _spelt(bare[0], "") if bare else []
    return list(dict.fromkeys(taxa))


def _rest_of(line: str) -> str:
    return re.sub(r"\b(?:no|answer|final|verdict|label)\b|\W+", "", line)


def _lines(statement: str) -> list[str]:
    """Lines that are not blank, of plain text, without scores and the numbers of a numbered list."""
    statement = plain(statement)
    found = [int(match[1]) for match in _ENUMERATOR.finditer(statement)]
    if found and found[0] in (1, 2) and found == list(range(found[0], found[0] + len(found))):
        statement = _ENUMERATOR.sub("- ", statement)
    statement = _WHOLE.sub("", _SCORE.sub("", _FIELDS.sub("", statement)))
    return [line for line in statement.split("\n") if line.strip()]


def _spelt(found: str, before: str) -> list[str]:
    """The numbers of a list, ranges spelt out."""
    taxa: list[str] = []
    last: int | None = None
    at = 0
    pairs = _PAIR.search(before) is not None
    for match in _ONE.finditer(found):
        number = int(match[1])
        joint = found[at : match.start()]
        if last is not None and not pairs and _RANGE.fullmatch(joint) and last < number <= last + MAX_TAXA:
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
    for match in _LIST.finditer(line):
        before = line[max(0, match.start() - _LOOK_BACK) : match.start()]
        after = line[match.end() : match.end() + _LOOK_BACK]
        if _OTHERS.search(before) or _OTHERS_AFTER.match(after):
            continue
        called = re.match(_CALLED, match[0]) is not None or re.search(rf"\b{_CALLED}\b[^\w.;]*$", before) is not None
        taxa = _spelt(match[0], before)
        if _COUNTED.match(after) and len(taxa) > 1 and _DASHED.search(match[0]):
            taxa.pop()  # "15 — 5 motifs"
        elif started and before.endswith("(") and not called:
            continue  # "15 and 49 share 5 blocks (10-14, 30-34)"
        if not called and (
            _CALLED_OTHERWISE.search(before)
            or _COUNTED.match(after)
            or (len(taxa) == 1 and _NUMBERED.search(before))
        ):
            continue
        started = True
        yield _Found(taxa, called)


def _labelled(lines: list[str], *, of_a_no: bool = False) -> list[str]:
    """What stands under a label of taxa, on its line or the lines after it."""
    groups: list[tuple[list[str], bool]] = []
    for at, line in enumerate(lines):
        for label in _LABEL.finditer(line):
            before = line[max(0, label.start() - 30) : label.start()]
            if _NOT_A_LABEL.search(before) or _OTHERS.search(before):
                continue
            if of_a_no and not _OF_TAXA.search(label[0]):
                continue
            rest = line[label.end() :]
            found = _LIST.match(rest.lstrip(" [({|*-"))
            if found is not None:
                if _COUNTED.match(rest.lstrip(" [({|*-")[found.end() :]) and len(_ONE.findall(found[0])) == 1:
                    continue
                taxa = _spelt(found[0], label[0])
            elif not rest.strip(" [({|*-:"):
                taxa = _items(lines[at + 1 :])
            else:
                continue
            if taxa and at + 1 < len(lines) and _OR.match(lines[at + 1]):
                taxa += [taxon for one in _lists(lines[at + 1]) for taxon in one.taxa]
            if taxa:
                groups.append((taxa, _FINAL.search(before) is not None))
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
    for sentence in _SENTENCE.split(lines[0]) if lines else ():
        if taxa and not _MORE.match(sentence):
            break
        for found in _lists(sentence):
            taxa += found.taxa
    return taxa + _continued(lines) if taxa else taxa


def _continued(lines: list[str]) -> list[str]:
    """What the lines after the verdict's add to its list: the rest of it, or an alternative."""
    taxa: list[str] = []
    goes_on = lines[0].rstrip().endswith((",", " and", " or"))
    for line in lines[1:]:
        adds = _ADDS.match(line) is not None
        bare = not re.sub(rf"{_LIST.pattern}|\W+|\band\b|\bor\b", "", line)
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
                named = [at for at, cell in enumerate(cells) if re.search(rf"\b{_CALLED}\b", cell) and not any(map(str.isdigit, cell))]
                if named:
                    column = named[0]
                    continue
            if not any(map(str.isalnum, stripped)):
                continue
            cell = cells[column or 0] if (column or 0) < len(cells) else ""
            found = _LIST.match(cell)
            if found is not None:
                taxa += _spelt(found[0], "")
            continue
        match = _ITEM.match(line)
        if match is not None:
            found_taxa = _spelt(match[1], "")
            counted = _COUNTED.match(line[match.end(1) :]) is not None
            if counted and len(found_taxa) > 1 and _DASHED.search(match[1]):
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
        for sentence in _SENTENCE.split(line):
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
