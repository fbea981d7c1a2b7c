"""Statements of a final answer in a text: boxes, and what words or marks announce; which are asserted."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from relfast.tasks.final import Candidate
from relfast.tasks.realign.boxed import closing
from relfast.tasks.realign.phrases import QUANTITY, one_value, read_phrase
from relfast.tasks.realign.values import value_of

_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*(?:\{|(\d)(?!\d))")
_OF_LANGUAGES: Final = (
    "respuesta(?: final| correcta)?|réponse(?: finale)?|antwort|endergebnis|risposta(?: finale)?"
    "|resposta(?: final)?|ответ|відповідь|odpowiedź|cevap|jawaban|đáp án|उत्तर|الإجابة|答案|答え|答|最终答案|정답|답"
)
_NAME: Final = rf"(?:(?:final|correct|numerical|short|exact)[ _*]*)*(?:answer|ans\b\.?|(?:(?<=correct )|(?<=right ))(?:choice|option)|{_OF_LANGUAGES})"
_MARKS: Final = re.compile(
    # "#### 42", "A: 42"
    r"(?P<hash>^[ \t]*####[ \t]*(?=[-+−$\\\d.(£€]))|(?P<a>^[ \t>*_-]*A[ \t*_]*[:：])"
    # "#### Thursday" at the end; further up it is a heading
    r"|(?P<word>^####[ \t]+(?=[^\W\d_][^\n]{0,40}$))"
    # "Option C is correct"
    r"|(?P<option>(?<![\w\\])(?:(?:option|choice)[ \t]+)?(?=\(?(?-i:[A-E])\)?[ \t]+is (?:the )?(?:correct|right)\b))"
    # "<answer>42</answer>", {"answer": 42}
    r"|(?P<tag>[<\[](?:final|result|(?:final_?)?answer)[>\]])"
    r"|(?P<key>[\"'](?:final[_ ]?)?(?:answer|result)[\"']\s*:\s*[\"']?)"
    # "**Final Answer:** 42", "### Answer", "Answer (in dollars): 42"
    rf"|(?P<label>(?:^|(?<=[.!?] )|(?<=\|)|(?<=>))(?:_|[^\w\n:=$\\(]){{0,12}}(?:(?:so|thus|therefore|hence|the|my|your|our|and)[ ,*_]+){{0,3}}"
    rf"{_NAME}[*_ \t]*+(?:\([^()\n]{{0,40}}\))?+[*_ \t]*+(?:[:：=|]|[-–—](?=\s)|$))"
    # "the answer is 42", "the answer to the problem is therefore 42"
    rf"|(?P<words>\b{_NAME}s?(?:\b|(?=[は은는是为為]))(?:[ \t]+(?:to|for|of|in)\b[^\n.:;!?=]{{0,60}}?)?(?:,[^,\n.:!?=]{{1,60}},)?[ \t*_,]*"
    r"(?:\bis\b|\bwould be\b|\bshould be\b|\bmust be\b|\bwill be\b|\bequals\b|\bcomes (?:out )?to\b"
    r"|\b(?:works|turns) out to be\b|\bes\b|\best\b|\bist\b|\blautet\b|\bè\b|\bé\b|是|为|為|は|은|는|[:：=—–])"
    r"[ \t]*(?:(?:therefore|thus|then|simply|just|exactly|clearly|now|indeed)\b[ ,]*)?[:：]?)",
    re.IGNORECASE | re.MULTILINE,
)
_CUES: Final = (
    "ans", "####", "final>", "final]", "result", "choice", "option", "is correct", "is right",
    "is the correct", "is the right",
    *re.sub(r"\(\?:[^()]*\)", "", _OF_LANGUAGES).split("|"),
)  # fmt: skip
"""A line without any of these has no mark, but for "A:", which stands on the last one."""

_UNASSERTED: Final = re.compile(
    r"^\W*(?:(?:so|but|and|what|even|or)\W+)*(?:if|suppose|assume|assuming|imagine|pretend|say|whether|unless|(?:is|was|could|can|would|might) (?:it|the answer|this|that))\b"
    r"|(?:\bnot|n['’]t|\bnever|\bcannot|\bhardly)\s+(?:\w+ly\s+)?(?:true|the case|think|believe|say|sure|certain|correct|right|claim|mean|conclude|follow)"
    r"|\b(?:doubt|deny|untrue|false|unclear|mistakenly|wrongly|incorrectly|tempting|tempted|rumou?r)\b"
    r"|\b(?:might|may|could|would|some|someone) (?:\w+ )?(?:think|say|guess|assume|claim|believe|expect|answer)"
    r"|\b(?:whether|assume that|suppose that|claims? that|claimed that|unsure|no guarantee)\b"
    # a mistake named, an order not to, what nothing is, somebody else's words
    r"|\b(?:wrong|incorrect|false) (?:answer|result|value|solution|choice)\b|\b(?:mistake|error|trap|pitfall)s? (?:is|are|was|would be)\b"
    r"|(?:\b(?:do|should|must|would) not|n['’]t|\bnever) (?:\w+ )?(?:write|answer|say|put|enter|give|pick|choose|box|accept)\b"
    r"|\b(?:no (?:solution|value|answer|number|choice|one)|nobody|nothing|none of (?:them|these|it)) (?:has|is|gives?|equals?|yields?|can be|could be)\b"
    r"|\b(?:prompt|instructions?|user|friend|teacher|book|somebody) (?:says?|said|tells?|told|wrote|writes|reads?|insists?)\b",
    re.IGNORECASE,
)
NOT_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|neither|nor|rather than|instead of|except|anything but|far from|cannot be|isn['’]t)|n['’]t(?: be)?)[\s$*_`(\\[]*(?:(?:equal to|exactly|the answer|just|simply|a|be)\s*)?[\s$*_`(\\[]*$",
    re.IGNORECASE,
)
_NOT_AT_ALL: Final = re.compile(
    r"[\s*_]*(?:not|never|neither|unknown|unclear|either|anything but|far from)\b", re.IGNORECASE
)
_DENIED_AFTER: Final = re.compile(
    r"[\s$*_`)\\\]}.,;:!–—-]{0,12}(?:(?:but |and |which |that |this |it |, )*(?:is|was|would be|looks|seems|(?:turn|prov)(?:s|ed)(?: out)?(?: to be)?)\s+(?:clearly |obviously |definitely )?(?:not\b|wrong|incorrect|false|impossible|a mistake|an error)"
    r"|(?:isn|wasn)['’]t\b|\(?(?:wrong|incorrect)\b|\?)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;:!?\n,](?=\s)|\b(?:so|therefore|thus|hence|but|then)\b|\n", re.IGNORECASE)
_MORE_LINES: Final = re.compile(r"[^\n]*+\s*+\S")
_STRING_END: Final = re.compile(r"""["']?\s*[,}\]]\s*(?:["'}\]]|$)|["']""")

_MOST_STATEMENTS: Final = 32
"""Statements of an answer that are read, from the end on: what comes before decides nothing."""

_LONGEST_STATEMENT: Final = 300


def find_statements(text: str) -> list[tuple[Candidate, bool, bool]]:
    """All statements of an answer in order, as (span, (text, value)), whether each is asserted, and
    whether it is in a box."""
    found: list[tuple[Candidate, bool, bool]] = []
    boxes = list(_boxes(text))[-_MOST_STATEMENTS:]
    for start, end, inside in boxes:
        value = value_of(inside)
        asserted = not (
            NOT_BEFORE.search(text[max(0, start - 60) : start])
            or _DENIED_AFTER.match(text, end, end + 80)
            or inside.rstrip(" $}").endswith("?")
            or unasserted(text, start)
        )
        found.append((Candidate(start, end, (inside, value)), asserted, True))
    first = text.split("\n", 1)[0].strip(" *`$") if not text[:1].isspace() else ""
    if 0 < len(first) <= 40 and len(first) + 6 < len(text) and QUANTITY.fullmatch(first):
        value = value_of(first)
        found.append((Candidate(0, len(first), (first, value)), True, False))  # "42", and then why
    at = 0
    for mark in deque(_marks(text), _MOST_STATEMENTS):
        start, begin = mark.span()
        while at < len(boxes) and boxes[at][1] <= start:
            at += 1
        if at < len(boxes) and boxes[at][0] <= start:
            continue  # within a box
        if (mark["a"] or mark["word"]) is not None and _MORE_LINES.match(text, begin):
            continue  # "A: 3 people", "B: 4 people"; a heading
        line = _statement_after(text, mark)
        if at < len(boxes) and boxes[at][0] < begin + len(line) + 4:
            continue  # "the answer is \boxed{5}": the box says it
        begin = text.find(line, begin) if line else begin
        if mark["key"] is not None:
            line = _STRING_END.split(line, maxsplit=1)[0]
        phrase, value = read_phrase(line)
        if not value:
            continue
        end = begin + len(phrase)
        denial = _NOT_AT_ALL.match(phrase)
        if denial is not None:
            value = one_value(phrase[denial.end() :]) or value
        asserted = not (
            denial
            or _DENIED_AFTER.match(text, end, end + 80)
            or (mark["words"] is not None and unasserted(text, start))
        )
        found.append((Candidate(start, end, (phrase, value)), asserted, False))
    found.sort(key=lambda item: item[0].start)
    return found


def _marks(text: str) -> Iterator[re.Match[str]]:
    """What announces an answer. Most lines hold no word for it, and need not be gone through."""
    lowered = text.lower()
    cues = [cue for cue in _CUES if cue in lowered]
    begin, last = 0, len(text.rstrip())
    for line in text.split("\n"):
        end = begin + len(line)
        if begin <= last <= end or (cues and any(map(line.lower().__contains__, cues))):
            yield from _MARKS.finditer(text, begin, end)
        begin = end + 1


def _boxes(text: str) -> Iterator[tuple[int, int, str]]:
    """Outermost boxes: start, end, and what is inside."""
    end = 0
    for box in _BOX.finditer(text):
        if box.start() < end:
            continue
        if box[1] is not None:
            end = box.end()
            yield box.start(), end, box[1]
            continue
        end = closing(text, box.end())
        if end < 0:
            return  # and none of those inside it
        end += 1
        yield box.start(), end, text[box.end() : end - 1]


def unasserted(text: str, start: int) -> bool:
    """Whether the clause before a statement denies, asks or supposes it."""
    before = text[max(0, start - 100) : start]
    begin = 0
    for cut in _CLAUSE.finditer(before):
        begin = cut.end()
    return _UNASSERTED.search(before[begin:]) is not None


def _statement_after(text: str, mark: re.Match[str]) -> str:
    """The line after a mark, or where the line ends there, the next one with ink."""
    begin = mark.end()
    if mark["words"] is None:
        head = text[begin : begin + _LONGEST_STATEMENT]
        rest = head.lstrip("*_ \t`:：#=\n\r$\\[(-" if mark["label"] or mark["a"] else "*_ \t`\n\r")
        # signs that belong to the value
        begin += len(head) - len(rest)
        while begin > mark.end() and text[begin - 1] in "-$\\[(":
            begin -= 1
    return text[begin : begin + _LONGEST_STATEMENT].split("\n", 1)[0]
