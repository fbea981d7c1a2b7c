r"""Find the last marked final answer in a response: a box (``\boxed{…}``), a tag (``<answer>…</answer>``)
or a label (``Answer: …``). For tasks with open answers (a molecule, a mathematical expression). The words
that mark an answer are in `relfast_kernels.text.form_table`.

Of several marked answers the one that opens last counts. Only a closed tag may contain a blank line. Runs in
linear time and raises nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final, Literal, NamedTuple

from relfast_kernels.text.form_table import (
    BOXES,
    BREAKS,
    LANGUAGES,
    LAYOUT,
    QUALIFIED,
    QUALIFIERS,
    STRUCK,
    TAGS,
    WRAPPERS,
)

MAX_LABELLED: Final = 200
"""Maximum characters of the answer behind a label."""

_MAX_HELD: Final = 2_000
"""Maximum characters inside a box or a tag."""


class Form(NamedTuple):
    """A marked answer: the offset where the mark opens, the kind of mark, and its stripped content."""

    start: int
    kind: Literal["box", "tag", "label"]
    content: str


def _words(*lists: str) -> str:
    return "|".join(sorted({re.escape(word) for words in lists for word in words.split()}, key=len)[::-1])


_LABELS: Final = _words(*(one.labels for one in LANGUAGES))
_LINKS: Final = _words(*(one.links for one in LANGUAGES))
_DRESS: Final = r"[*_`\"'“”]{0,4}"
_BOX: Final = re.compile(rf"\\(?:{_words(BOXES)})[ \t]?\{{", re.IGNORECASE)
_TAG: Final = re.compile(
    rf"<({_words(TAGS)})>((?:(?!<(?:{_words(TAGS)})>).){{1,{_MAX_HELD}}}?)</\1>", re.IGNORECASE | re.DOTALL
)
_LABEL: Final = re.compile(
    rf"(?<![^\W_])(?:(?:{_LABELS})|(?:{_words(QUALIFIERS)})\s(?:{_words(QUALIFIED)}))"
    rf"(?:[ _](?:{_words(QUALIFIED)}))?"
    rf"{_DRESS}(?:[ \t]?\([^()\n]{{0,20}}\))?[ \t]?"
    rf"(?:[:：=|]|[-=]>|→|⇒|(?<=[ \t])(?:{_LINKS})(?![^\W_])[ \t]?[:：]?"
    rf"|(?<=[\u3000-\uffff])(?:{_LINKS})[:：]?){_DRESS}[ \t]*|^[ \t]{{0,3}}\#{{4}}(?!\#)[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING: Final = re.compile(
    rf"^[ \t]{{0,3}}\#{{1,6}}[ \t]+{_DRESS}(?:[^\W\d_]+[ \t]){{0,3}}?(?:{_LABELS}){_DRESS}"
    rf"[ \t]*[:：]?{_DRESS}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE_END: Final = re.compile(r"[.!?](?=[\s*_\"'”`)$]*(?:\s|$))|[。！？]|\n|</|\||\"\s*[,}]|\}\s*$")
_NEXT_LINE: Final = re.compile(r"[ \t]*(?:\n[ \t]*){1,3}([^\n]{1,400})")
_FENCE: Final = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_QUOTED: Final = re.compile(r"[\"']")
_ENDS: Final = ' \t\r\n*_`"“”'

_FOLDED: Final = {
    **dict.fromkeys((0xAD, 0x61C, 0x180E, 0xFEFF), None),
    **dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)), None),
    **dict.fromkeys(range(0xFE00, 0xFE10), None),
    **dict.fromkeys((0x85, 0x2028, 0x2029, 0x0B, 0x0C), "\n"),
    **dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **{point: chr(point - 0xFEE0) for point in range(0xFF01, 0xFF5F)},
}
"""Folds characters as `relfast_kernels.text.dress.fold` does, but for those SMILES or numbers may need."""
_EMPHASISED: Final = re.compile(r"([*_]{1,3})[ \t]*\n([^\n]+)\n[ \t]*\1")
_MAX_NESTED: Final = 4
_FEED: Final = re.compile(r"\r\n?")
_QUOTATION: Final = re.compile(r"^[ \t]{0,3}(?:>[ \t]?){1,8}", re.MULTILINE)
_STRUCK: Final = re.compile(
    rf"~~(?=[^\s~])(?:(?!\n[ \t]*\n)[^~]){{1,{_MAX_HELD}}}~~"
    rf"|<({_words(STRUCK)})>(?:(?!\n[ \t]*\n)[^<]){{0,{_MAX_HELD}}}</\1>",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(rf"</?(?:{_words(BREAKS)})(?:[ \t][^<>\n]{{0,80}})?/?>", re.IGNORECASE)
_LAYOUT: Final = re.compile(rf"</?(?:{_words(LAYOUT)})(?:[ \t][^<>\n]{{0,80}})?/?>", re.IGNORECASE)
_WRAPPER: Final = re.compile(rf"\\(?:{_words(WRAPPERS)})[ \t]?\{{([^{{}}\n]{{0,400}})\}}")


def undress(text: str) -> str:
    """The text as a renderer shows it: marks of quotation, struck text, layout tags and TeX wrappers removed.

    Case is kept, and so are emphasis marks, since ``*``, ``_`` and the like are letters of SMILES and TeX.
    """
    text = _FEED.sub("\n", text).translate(_FOLDED)
    if ">" in text:
        text = _QUOTATION.sub("", text)
    if "~~" in text or "</" in text:
        text = _STRUCK.sub("", text)
    if "<" in text:
        text = _LAYOUT.sub("", _BREAK.sub("\n", text))
    for _ in range(_MAX_NESTED):
        if "\\" not in text:
            break
        text, n = _WRAPPER.subn(r"\1", text)
        if not n:
            break
    return text


def last_form(text: str) -> Form | None:
    """The marked answer that opens last, or None. ``text`` has no reasoning and went through `undress`.
    Inside a code fence only JSON keys count as labels."""
    found = [form for form in (_last_box(text), _last_tag(text), _last_label(text)) if form is not None]
    return max(found, default=None)


def _last_box(text: str) -> Form | None:
    for opening in reversed([*_BOX.finditer(text)][-50:]):
        at, depth = opening.end(), 1
        for at in range(opening.end(), min(len(text), opening.end() + _MAX_HELD)):
            if text[at] in "{}" and text[at - 1] != "\\":
                depth += 1 if text[at] == "{" else -1
                if not depth:
                    break
        content = text[opening.end() : at]
        if not depth and content.strip() and "\n\n" not in content:
            return Form(opening.start(), "box", content.strip())
    return None


def _last_tag(text: str) -> Form | None:
    form = None
    for found in _TAG.finditer(text):
        if held := found[2].strip():
            if (around := _EMPHASISED.fullmatch(held)) is not None:
                # the opening and the closing tag are emphasised, on lines of their own: ``**<answer>**``
                held = around[2].strip().removeprefix(around[1]).removesuffix(around[1])
            form = Form(found.start(), "tag", held)
    return form


def _last_label(text: str) -> Form | None:
    fences = [found.start() for found in _FENCE.finditer(text)]
    form = None
    for found in (*_HEADING.finditer(text), *_LABEL.finditer(text)):
        if form is not None and found.start() < form.start:
            continue
        inside = bisect_left(fences, found.start()) % 2
        if inside and len(fences) % 2 == 0 and not _QUOTED.match(text, max(0, found.start() - 1)):
            continue
        content = _labelled(text, found.end())
        if content:
            form = Form(found.start(), "label", content)
    return form


def _labelled(text: str, at: int) -> str:
    """The answer behind a label: the rest of the sentence on its line; if that is empty, the next line."""
    line_end = text.find("\n", at, at + 2 * MAX_LABELLED)
    line_end = min(len(text), at + 2 * MAX_LABELLED) if line_end < 0 else line_end
    line = text[at:line_end]
    if not line.strip(_ENDS + "$:"):
        following = _NEXT_LINE.match(text, line_end)
        if following is None:
            return ""
        line = following[1]
    line = line[: MAX_LABELLED + 1]
    end = _SENTENCE_END.search(line)
    answer = line[: end.start()] if end else line[:MAX_LABELLED]
    return answer.strip(_ENDS)
