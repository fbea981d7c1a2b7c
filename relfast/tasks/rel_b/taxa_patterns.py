"""How taxa are listed, and what only looks like it: patterns on plain, lower-cased text."""

from __future__ import annotations

import re
from typing import Final

CALLED: Final = (
    r"(?:tax(?:on|a|ons|um)|species|sp|otus?|strains?|samples?|leaf|leaves|leafs|tips?|sequences?|seqs?|t)"
)
TAXON: Final = (
    rf"(?:(?:\b{CALLED}[\s_#:-]{{0,3}}+|[#>]\s?)[0-9]{{1,9}}+|"
    rf"(?<![a-z0-9_])(?<![0-9]\.)[0-9]{{1,9}}+)(?![a-z0-9_]|\.[0-9]|%)"
)
JOINT: Final = (
    r"(?:[\s,;&*•·()\[\]{}+/|<>~-]|\band\b|\bas well as\b|\bplus\b|\bwith\b|\bto\b|\bthrough\b|"
    r"\bor\b|\balso\b|\by\b|\bund\b|\bet\b|和|与|及|[–—]|\.\.\.?)"
)
LIST: Final = re.compile(rf"{TAXON}(?:{JOINT}++{TAXON})*+")
ONE: Final = re.compile(rf"(?:\b{CALLED}[\s_#:-]*)?[\s#>]*([0-9]+)")
NAME: Final = re.compile(CALLED)
NAMED_BEFORE: Final = re.compile(rf"\b{CALLED}\b[^\w.;]*$")
HEADING: Final = re.compile(rf"^[^0-9]*\b{CALLED}\b[^0-9]*$")
RANGE: Final = re.compile(r"\s*(?:-|–|—|\bto\b|\bthrough\b|\.\.\.?)\s*$")

SCORE: Final = re.compile(
    r"(?<=[0-9])(?:\s*(?:\((?!\s*(?:or|and|also|alternatively|maybe|possibly|perhaps|plus)\b)(?=[^()\n]{0,80}[.%a-z=/])[^()\n]{0,80}\)|\[(?=[^\[\]\n]{0,80}[.%a-z=])[^\[\]\n]{0,80}\])"
    r"|\s*[:=–—-]\s*(?:[0-9]{0,3}\.[0-9]+|[0-9]{1,3}\s?%)%?)"
)
FIELDS: Final = re.compile(
    r",?\s*\b(?:score|confidence|probability|support|weight|p)\s*[:=]\s*[0-9.]+\s?%?|\b(?:id|name|number|nos?)\s*[:.]\s*(?=[0-9]|tax)"
)
WHOLE: Final = re.compile(r"(?<=[0-9])\.0+(?![0-9])")
LABEL: Final = re.compile(
    r"\b(?:tax(?:on|a|ons)|members?|species|leaves|convergent|homoplastic|involved|homoplasious|group|list|pairs?|cluster|set)"
    r"(?:[ _]+(?:are|is|list|names?|ids?|numbers?|that|which|involved|convergent|with|showing|"
    r"exhibiting|structured|homoplasy|in|"
    r"question|the|affected|identified|group|of|convergence|detected|implicated|sharing|motifs?|taxa|taxon|pair|members?|labels?|shares?|shared|shows?|have|same|following|repeatedly|nucleotide|identical|carry|forms?|stand|out)){0,8}"
    r"(?:\s*\([^()\n]{0,40}\))?\s*(?:[:=|→]|-(?=\s)|[–—]|\bare\b|\bis\b|->)[\s\[({|*-]*(?=(?:tax\w*|leaf|leaves|species|seq\w*|t|[#>])?[\s_#-]*[0-9]|none\b|n/a|\n|$)"
)
OF_TAXA: Final = re.compile(r"\btax(?:a|on)[^\n]*[:=|]|\binvolved\b")
NOT_A_LABEL: Final = re.compile(
    r"\b(?:other|no|not|excluded|unrelated|uninvolved|remaining|unaffected|total|number of|examined|all|non|"
    r"candidate)[ -]*$"
)
CALLED_OTHERWISE: Final = re.compile(
    r"\b(?:columns?|cols?|sites?|positions?|pos|blocks?|motifs?|lengths?|steps?|nodes?|clades?|lines?|rows?|regions?|"
    r"windows?|bases?|nucleotides?|nt|bp|at|score|confidence|distance|of|out of|around|"
    r"approximately|about|over|all|only|"
    r"least|than|probability|p|n|count|from columns?|figure|part|indices|index)\b[^\w\n]*$"
)
DASHED: Final = re.compile(r"\s[-–—]\s*[0-9]+$")
NUMBERED: Final = re.compile(r"\b(?:groups?|clusters?|pairs?|sets?|part|case|option|step)[\s#]*$")
OTHERS: Final = re.compile(
    r"\b(?:not|(?:everything|everyone|all|anything|any|each|taxon|taxa) but|except|excepting|"
    r"excluding|unlike|without|neither|nor|other than|but not|rather than|relatives?|sisters?|"
    r"siblings?|neighbou?rs?|close to|related to|closest|compared (?:to|with)|versus|vs|instead of|"
    r"than)\b[^.;:\n0-9]{0,30}$"
)
OTHERS_AFTER: Final = re.compile(
    r"\s*,?\s*(?:which\s+)?(?:do|does|did|are|is|was|were|have|has)\s*(?:not|n['’]?t|no\b)|"
    r"\s*(?:don|doesn|aren|isn|lack|differ|show no|share only|only share|merely)\b"
)
COUNTED: Final = re.compile(
    r"[\s-]+(?:(?:distant|convergent|different|other|independent|shared|identical|separate|"
    r"distantly related|more|of the)\s+)?"
    r"(?:taxa|taxons?|species|leaves|columns?|sites?|positions?|out|pairs?|groups?|blocks?|motifs?|times|nucleotides?|nt|bp|bases?|"
    r"members|sequences|characters|residues|branches|edges|nodes?|clades?|matches|shared|identical|of\s+[0-9]+)\b|\s*/\s*[0-9]+\s+(?:col|sit|pos)|\s*%"
)
ENUMERATOR: Final = re.compile(r"^[ \t>*-]*\(?([0-9]{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
MORE: Final = re.compile(
    r"^[\W_]*(?:and|also|as well as|additionally|in addition|plus|or|maybe|perhaps|possibly|"
    r"alternatively|another|further|"
    r"furthermore|likewise|similarly|the other|second|a second|group|pair|cluster|set|too)\b"
)
ADDS: Final = re.compile(
    r"^[\W_]*(?:or|and|also|alternatively|maybe|perhaps|possibly|additionally|plus|as well as|"
    r"otherwise|else|and/or)\b"
)
OR: Final = re.compile(r"^[\W_]*(?:or|alternatively|maybe|perhaps|possibly|otherwise|else)\b")
ITEM: Final = re.compile(
    rf"^[\s>|*•·◦▪‣–—+-]*(?:\[[ x]?\]\s*)?(?:(?:group|pair|cluster|"
    rf"set)\s+[0-9a-z]\s*[:–-]\s*)?({LIST.pattern})(?=(.?))"
)
FINAL: Final = re.compile(
    r"\b(?:final|corrected|correction|updated|revised|actually|wait|so|therefore|thus|"
    r"definitive)\b"
)
SENTENCE: Final = re.compile(rf"(?<=[.!?])\s+|(?<=;)\s+(?=[a-z])(?!(?:{CALLED}|and|or)\b)")
PAIR: Final = re.compile(r"\bpairs?\b")
BARE_NO: Final = re.compile(r"\b(?:no|answer|final|verdict|label)\b|\W+")
BARE_LIST: Final = re.compile(rf"{LIST.pattern}|\W+|\band\b|\bor\b")
