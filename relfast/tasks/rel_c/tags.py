"""Molecules in ``<smiles>`` tags, as ``strict`` reads them: what is in a tag, and which tags are the answer.

A tag is ``<smiles>`` in any case, its brackets as they are, escaped (HTML, markdown, JSON) or full-width, and
reaches to the next one or to a closing tag of any name. Around the molecule may stand what a renderer takes
away or a reader skips: fences, quotes, emphasis, LaTeX, list marks, the word SMILES, a final full stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from relfast.tasks.rel_c.stances import without_struck

PLACEHOLDER: Final = "YOUR_SMILES_HERE"
"""What the question writes where an answer goes; a response that repeats it answers nothing by it."""

_BRACKETS: Final = (
    ("&lt;", "<"), ("&gt;", ">"), ("&#60;", "<"), ("&#62;", ">"), ("\\u003c", "<"), ("\\u003e", ">"),
    ("\\u003C", "<"), ("\\u003E", ">"), ("\uff1c", "<"), ("\uff1e", ">"), ("\\<", "<"), ("\\>", ">"),
)  # fmt: skip

_OPEN: Final = re.compile("<(?:[sS][mM][iI][lL][eE][sS])>")
LABELS: Final = ("smiles=", "motif=", "answer=")
_PLAIN_TAG: Final = re.compile(r"<smiles>(?!(?i:smiles|motif|answer)=)([A-Za-z0-9@+\-\[\]()=#/%]++)</smiles>")
_PLAIN_TAGS: Final = re.compile(
    r"(?:<smiles>(?!(?i:smiles|motif|answer)=)[A-Za-z0-9@+\-\[\]()=#/%]++</smiles>[\s0-9.,;)*•`-]*+)++",
)

_INLINE: Final = re.compile(r"</?(?:code|pre|b|strong|i|em|tt|p|span|samp|kbd|u|mark)>", re.IGNORECASE)
_BREAK: Final = re.compile(r"<br ?/?>", re.IGNORECASE)
_LINES: Final = re.compile(r"[\r\n\u2028\u2029\x0b\x0c\x85]+|\\r\\n|\\n(?=[\s<]|$)")

_COMMAS: Final = re.compile(r"[,;]\s*")

_INVISIBLE: Final = dict.fromkeys(
    map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202c"), None
)
_DASHES: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\uff0d"), "-")
_LETTERS: Final = {**_INVISIBLE, **_DASHES, 0xA0: " ", 0x3000: " ", 0xFF1D: "=", 0xFF08: "(", 0xFF09: ")"}

_MARK: Final = re.compile(
    r"(?:[-*+•‣·–>]\s+|\(?\d{1,3}[.)、:]\s+|[#\[(]\d{1,3}[\])]?\s+"
    r"|(?:smiles|motif|answer|final answer|molecule|isomer)\s?\d{0,3}\s?[:=]\s*)",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"```[A-Za-z]{0,10}(?=[ \t\r\n])")
_CLOSING: Final = re.compile(r"<\s?[/\\]\s?[A-Za-z]{0,12}\s?>?")

MAX_BARED: Final = 2_000
"""Longest line that is looked at: twice the longest SMILES that is read."""
_LATEX: Final = re.compile(
    r"\\(?:text|texttt|textbf|mathrm|mathtt|mathbf|boxed|ce|verb)\s?\{(.*)\}", re.DOTALL
)
_PAIRS: Final = {
    "`": "`", "'": "'", '"': '"', "$": "$", "_": "_", "“": "”", "‘": "’", "«": "»", "「": "」", "『": "』",
    "„": "“", "‹": "›", "|": "|", "{": "}",
}  # fmt: skip
# not a single '*', which is an atom
_DOUBLE: Final = (("**", "**"), (r"\(", r"\)"), (r"\[", r"\]"), ('\\"', '\\"'))
_STOPS: Final = ".,;!。，；、"

_SMILES_LIKE: Final = re.compile(
    r"(?=.*[A-Zbcnops*])(?:Cl|Br|Si|Se|[BCNOPSFIbcnops*]|\[[^\]\s]{1,12}\]|[-=#$:~/\\.()0-9@+]|%\d\d)+"
)
_ENGLISH: Final = frozenset({"I", "no", "on", "so", "so,", "on,", "no,"})
EMPTY_WORDS: Final = frozenset(
    ["", *"""
    and or to tag tags smiles yoursmileshere yoursmiles smileshere smilesstring thesmiles youranswer answer
    youranswerhere answerhere molecule moleculehere motif string wrapper format insertsmileshere xxx
    yoursmilesstring smilesofthemotif smiles1 smiles2 missingsmiles missingisomer yourmotif motifsmiles
    """.split()]  # noqa: SIM905 -- thirty words
)  # fmt: skip
"""What no tag holds that answers, in lower case and without what is neither letter nor digit."""
_NOT_LETTERS: Final = re.compile(r"[\W_]+")


_NO_WORDS: Final = re.compile("[–—•→✅✓✔’“”·]")
_TELLING: Final = (
    "?", "#", "/", "~", "n't", "never", "none", "neither", "nor", "instead", "rather", "unlike", "except",
    "wrong",
    "incorrect", "invalid", "bad", "rul", "reject", "excl", "ignor", "discard", "disregard", "!=", "given",
    "provid",
    "input", "list", "known", "exist", "original", "there", "present", "question", "prompt", "problem",
    "molecules",
    "compounds", "structures", "duplic", "same", "identical", "repeat", "skip", "right", "correct",
    "actual", "true",
    "final", "revis", "updat", "consolid", "clean", "verif", "dedup", "start", "scratch", "draft", "answer",
    "solution",
    "exam", "such", "e.g", "sample", "illus", "dummy", "hypo", "placeh", "suppos", "assum", "imagin",
    "test", "check",
    "might", "could", "would", "should", "does", "fail", "however", "altho", "several", "possib", "potent",
    "plausib",
    "candid", "other", "similar", "etc", "doubt", "retract", "back", "mind", "wait", "these", "those",
    "they", "above",
    "said", "think", "thought", "guess", "propos", "suggest", "claim", "expect", "without", "nicht", "kein",
    "n'est",
    "idea", "attempt", "---", "***", "___", "===", "alternativ", "maybe", "perhaps", "differ", "another",
    "cannot",
)  # fmt: skip
"""One of which, or of `_TELLING_WORDS`, is in every text that denies tags, has them from the question or
starts another list."""
_TELLING_WORDS: Final = frozenset(
    """
    no not n t if all can can't too or but yet let over one many few various e. try tried tries say
    says like own
    ne es son only just
    """.split()  # noqa: SIM905
)

_STRIKES: Final = ("<del>", "<s>", "<strike>")


@lru_cache(4096)
def _tells(word: str) -> bool:
    """Whether a word could be one of a text that says something about tags; a text has few distinct ones."""
    return word.strip(".,:;()!*`'\"[]") in _TELLING_WORDS or any(hint in word for hint in _TELLING)


class Tag(NamedTuple):
    """A tag in a text.

    Attributes
    ----------
    start, end
        Its span; ``end`` is behind the closing tag.
    lines
        What it holds, line by line, bare.
    """

    start: int
    end: int
    lines: tuple[str, ...]


def unescaped(text: str) -> str:
    """The text with the brackets of tags as they are meant, without what a renderer strikes out."""
    # to look for one character is a tenth of the cost of looking for two
    if "&" in text or "\\" in text or (not text.isascii() and ("\uff1c" in text or "\uff1e" in text)):
        for written, meant in _BRACKETS:
            text = text.replace(written, meant)
    if "!" in text and "<!--" in text:
        text = _without_comments(text)
    at = text.find("<")
    if at < 0:
        return text
    for mark in _STRIKES:
        if text.find(mark, at) >= 0:
            return without_struck(text)
    if ("~" in text and "~~" in text) or ("*" in text and "/*" in text):
        return without_struck(text)
    return text


def _without_comments(text: str) -> str:
    """What a renderer shows of HTML."""
    parts = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join((*parts, text[at:]))


def plain_tail(text: str) -> tuple[int, list[str]] | None:
    """Where the tags of an unescaped text begin and what they hold, if it ends in nothing but plain ones.

    Most texts do, and this takes a tenth of the time.
    """
    first = _first(text)
    if first < 0 or _PLAIN_TAGS.fullmatch(text, first) is None:
        return None
    found = _PLAIN_TAG.findall(text, first)
    return (first, found) if EMPTY_WORDS.isdisjoint(map(str.lower, found)) else None


def plain_list(text: str) -> tuple[int, list[str]] | None:
    """As `plain_tail`, with words beside the tags that say nothing which could change what the tags are."""
    first = _first(text)
    if first < 0:
        return None
    parts = _PLAIN_TAG.split(text[first:])
    found = parts[1::2]
    words = "\n".join(parts[::2]).lower()
    if not words.isascii():
        words = _NO_WORDS.sub(" ", words)
    if not found or parts[0] or "<" in words or not words.isascii() or any(map(_tells, set(words.split()))):
        return None
    if len(set(found)) < len(found) or not EMPTY_WORDS.isdisjoint(map(str.lower, found)):
        return None
    return first, found


def _first(text: str) -> int:
    """Where the first tag begins, if it is a plain one; else -1."""
    at = text.find("<")
    if at < 0:
        return -1
    first = text.find("<smiles>", at)
    return -1 if first > at and _OPEN.search(text, at, first) else first


def tags(text: str) -> list[Tag]:
    """The tags of an unescaped text that hold something. Those that are mentioned (``in <smiles> tags``) or
    hold a placeholder are none. Linear time."""
    starts = [(found.start(), found.end()) for found in _OPEN.finditer(text)]
    found = []
    for place, (start, inside) in enumerate(starts):
        limit = starts[place + 1][0] if place + 1 < len(starts) else len(text)
        plain = _PLAIN_TAG.match(text, start)
        if plain is not None and plain[1].lower() not in EMPTY_WORDS:
            found.append(Tag(start, plain.end(), (plain[1],)))
            continue
        content, end, closed = _content(text, inside, limit)
        lines = tuple(_lines(content))
        if len(lines) > 1 and not all(map(like_smiles, lines)):
            # words beside a molecule: not a list, and not one that can be read
            lines = ("\n".join(lines),)
        if lines and not _mentioned(content, lines, closed=closed):
            found.append(Tag(start, end, lines))
    return found


def _content(text: str, inside: int, limit: int) -> tuple[str, int, bool]:
    """What a tag holds, where it ends, and whether something closes it."""
    at = text.find("<", inside, limit)
    if at < 0:
        return text[inside:limit], limit, False
    parts = []
    begin = inside
    while at >= 0:
        inline = _INLINE.match(text, at, limit)
        broken = None if inline else _BREAK.match(text, at, limit)
        if inline is None and broken is None:
            break
        parts.append(text[begin:at] + ("\n" if broken else ""))
        begin = (inline or broken).end()  # type: ignore[union-attr]
        at = text.find("<", begin, limit)
    if at < 0:
        return "".join((*parts, text[begin:limit])), limit, False
    parts.append(text[begin:at])
    closing = _CLOSING.match(text, at, limit)
    if closing is None:
        # not the end of a tag: what follows is part of what it says
        return text[inside:limit], limit, False
    return "".join(parts), closing.end(), True


def _lines(content: str) -> Iterator[str]:
    content = content.translate(_LETTERS) if not content.isascii() else content
    content = content.strip()
    if content.startswith("```") and content.endswith("```") and len(content) > 6:
        fence = _FENCE.match(content)
        content = content[fence.end() if fence else 3 : -3]
    for line in _LINES.split(content):
        line = bare(line)
        if "," in line or ";" in line:
            pieces = [bare(piece) for piece in _COMMAS.split(line)]
            if all(map(like_smiles, pieces)):
                yield from pieces
                continue
        if line:
            yield line


def bare(text: str) -> str:
    """A line without what stands around its molecule."""
    text = text.strip()
    before = None
    while text != before and len(text) <= MAX_BARED:
        before = text
        mark = _MARK.match(text)
        if mark is not None:
            text = text[mark.end() :]
        if len(text) > 1 and text[-1] in _STOPS:
            text = text[:-1].rstrip()
        if len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
            text = text[1:-1].strip()
        for first, last in _DOUBLE:
            if len(text) > 3 and text.startswith(first) and text.endswith(last):
                text = text[2:-2].strip()
        latex = _LATEX.fullmatch(text) if text.startswith("\\") else None
        if latex is not None:
            text = latex[1].strip()
    return _without_escapes(text) if "\\" in text else text


def _without_escapes(text: str) -> str:
    """Markdown and JSON put a backslash before what is theirs; stereo, which is what one means in SMILES,
    does not count anyway."""
    text = text.replace("\\\\", "\\").replace("\\#", "#").replace("\\=", "=").replace("\\_", "_")
    if "\\]" in text or "\\)" in text or "\\(" in text:
        for bracket in "[]()":
            text = text.replace("\\" + bracket, bracket)
    return text


def like_smiles(text: str) -> bool:
    """Whether a word could be meant as a molecule."""
    return text not in _ENGLISH and _SMILES_LIKE.fullmatch(text) is not None


def _mentioned(content: str, lines: tuple[str, ...], *, closed: bool) -> bool:
    """Whether a text speaks of the tag rather than answering in it."""
    if len(lines) == 1 and len(content) < 60:
        if lines[0] == PLACEHOLDER:
            return True
        word = _NOT_LETTERS.sub("", lines[0]).lower()
        if word in EMPTY_WORDS and not like_smiles(lines[0]):
            return True
    if closed:
        return False
    words = lines[0].split(None, 1)
    return not like_smiles(words[0].strip("`'\"*$.,;:")) and (len(words) > 1 or words[0][0].islower())
