r"""The final answer of a solution as ``strict`` reads it: boxed, marked in words, or the last line's value.

Statements are found in the order of the text; those that are denied, asked or supposed are none; the last one
counts, and different ones beside each other are several. Without any, the last line that has a value says it.
Linear time, total.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.tasks.final import Candidate, concludes, offers_alternatives, on_one_line
from relfast.tasks.realign.boxed import closing
from relfast.tasks.realign.values import NONE, Value, same, value_of
from relfast.tasks.unseen import without_unseen


class FinalAnswer(NamedTuple):
    """What a solution says in the end.

    Attributes
    ----------
    text
        As it is written, None without one.
    value
        The same to compare.
    reason
        Why there is none: ``several_answers``, ``denied``, ``no_answer``.
    """

    text: str | None
    value: Value
    reason: str | None = None


_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*(?:\{|(\d)(?!\d))")
_OF_LANGUAGES: Final = (
    "respuesta(?: final| correcta)?|réponse(?: finale)?|antwort|endergebnis|risposta(?: finale)?"
    "|resposta(?: final)?|ответ|відповідь|odpowiedź|cevap|jawaban|đáp án|उत्तर|الإجابة|答案|答え|答|最终答案|정답|답"  # noqa: E501
)
_NAME: Final = rf"(?:(?:final|correct|numerical|short|exact)[ _*]*)*(?:answer|ans\b\.?|(?:(?<=correct )|(?<=right ))(?:choice|option)|{_OF_LANGUAGES})"  # noqa: E501
_MARKS: Final = re.compile(
    # "#### 42", "A: 42"
    r"(?P<hash>^[ \t]*####[ \t]*(?=[-+−$\\\d.(£€]))|(?P<a>^[ \t>*_-]*A[ \t*_]*[:：])"
    # "#### Thursday" at the end; further up it is a heading
    r"|(?P<word>^####[ \t]+(?=[^\W\d_][^\n]{0,40}$))"
    # "Option C is correct"
    r"|(?P<option>(?<![\w\\])(?:(?:option|choice)[ \t]+)?(?=\(?(?-i:[A-E])\)?[ \t]+is (?:the )?(?:correct|right)\b))"  # noqa: E501
    # "<answer>42</answer>", {"answer": 42}
    r"|(?P<tag>[<\[](?:final|result|(?:final_?)?answer)[>\]])"
    r"|(?P<key>[\"'](?:final[_ ]?)?(?:answer|result)[\"']\s*:\s*[\"']?)"
    # "**Final Answer:** 42", "### Answer", "Answer (in dollars): 42"
    rf"|(?P<label>(?:^|(?<=[.!?] )|(?<=\|)|(?<=>))[^\w\n:=$\\(]{{0,12}}(?:(?:so|thus|therefore|hence|the|my|your|our|and)[ ,*_]+){{0,3}}"  # noqa: E501
    rf"{_NAME}[*_ \t]*+(?:\([^()\n]{{0,40}}\))?+[*_ \t]*+(?:[:：=|]|[-–—](?=\s)|$))"
    # "the answer is 42", "the answer to the problem is therefore 42"
    rf"|(?P<words>\b{_NAME}s?(?:\b|(?=[は은는是为為]))(?:[ \t]+(?:to|for|of|in)\b[^\n.:;!?=]{{0,60}}?)?(?:,[^,\n.:!?=]{{1,60}},)?[ \t*_,]*"  # noqa: E501
    r"(?:\bis\b|\bwould be\b|\bshould be\b|\bmust be\b|\bwill be\b|\bequals\b|\bcomes (?:out )?to\b"
    r"|\b(?:works|turns) out to be\b|\bes\b|\best\b|\bist\b|\blautet\b|\bè\b|\bé\b|是|为|為|は|은|는|[:：=—–])"  # noqa: E501
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
    r"^\W*(?:(?:so|but|and|what|even|or)\W+)*(?:if|suppose|assume|assuming|imagine|pretend|say|whether|unless|(?:is|was|could|can|would|might) (?:it|the answer|this|that))\b"  # noqa: E501
    r"|(?:\bnot|n['’]t|\bnever|\bcannot|\bhardly)\s+(?:\w+ly\s+)?(?:true|the case|think|believe|say|sure|certain|correct|right|claim|mean|conclude|follow)"  # noqa: E501
    r"|\b(?:doubt|deny|untrue|false|unclear|mistakenly|wrongly|incorrectly|tempting|tempted|rumou?r)\b"
    r"|\b(?:might|may|could|would|some|someone) (?:\w+ )?(?:think|say|guess|assume|claim|believe|expect|answer)"  # noqa: E501
    r"|\b(?:whether|assume that|suppose that|claims? that|claimed that|unsure|no guarantee)\b"
    # a mistake named, an order not to, what nothing is, somebody else's words
    r"|\b(?:wrong|incorrect|false) (?:answer|result|value|solution|choice)\b|\b(?:mistake|error|trap|pitfall)s? (?:is|are|was|would be)\b"  # noqa: E501
    r"|(?:\b(?:do|should|must|would) not|n['’]t|\bnever) (?:\w+ )?(?:write|answer|say|put|enter|give|pick|choose|box|accept)\b"  # noqa: E501
    r"|\b(?:no (?:solution|value|answer|number|choice|one)|nobody|nothing|none of (?:them|these|it)) (?:has|is|gives?|equals?|yields?|can be|could be)\b"  # noqa: E501
    r"|\b(?:prompt|instructions?|user|friend|teacher|book|somebody) (?:says?|said|tells?|told|wrote|writes|reads?|insists?)\b",  # noqa: E501
    re.IGNORECASE,
)
_NOT_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|neither|nor|rather than|instead of|except|anything but|far from|cannot be|isn['’]t)|n['’]t(?: be)?)[\s$*_`(\\[]*(?:(?:equal to|exactly|the answer|just|simply|a|be)\s*)?[\s$*_`(\\[]*$",  # noqa: E501
    re.IGNORECASE,
)
_NOT_AT_ALL: Final = re.compile(
    r"[\s*_]*(?:not|never|neither|unknown|unclear|either|anything but|far from)\b", re.IGNORECASE
)
_DENIED_AFTER: Final = re.compile(
    r"[\s$*_`)\\\]}.,;:!–—-]{0,12}(?:(?:but |and |which |that |this |it |, )*(?:is|was|would be|looks|seems|(?:turn|prov)(?:s|ed)(?: out)?(?: to be)?)\s+(?:clearly |obviously |definitely )?(?:not\b|wrong|incorrect|false|impossible|a mistake|an error)"  # noqa: E501
    r"|(?:isn|wasn)['’]t\b|\(?(?:wrong|incorrect)\b|\?)",
    re.IGNORECASE,
)
_RETRACTION: Final = re.compile(
    r"\b(?:wait|actually|scratch that|on second thought|correction|i made (?:a|an) (?:mistake|error)|i was wrong|that(?:['’]s| is| was) (?:wrong|incorrect|not right)"  # noqa: E501
    r"|i was mistaken|let me (?:start over|start again|try again)|never ?mind|i take (?:that|it) back|(?:just |only )?(?:kidding|joking)|forget (?:that|it)"  # noqa: E501
    r"|this is (?:wrong|incorrect)|disregard|ignore that|sorry|oops|no,|but (?:no|it|that|maybe|perhaps)|or (?:maybe|perhaps|possibly)|could also be|might also be|alternatively)(?![a-z])",  # noqa: E501
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"wrong|incorrect|mistake|error|not right|\bno[,.!]|scratch|disregard|ignore|forget|start over|again|never|take|kidding|joking",  # noqa: E501
    re.IGNORECASE,
)
"""In a change of mind without another answer, what leaves none."""

_REPLACED: Final = re.compile(
    r"\b(?:wait|actually|hmm|no[,:;.!]|scratch that|correction|i (?:missed|made|forgot|overlooked|misread|miscounted)|recheck\w*|on second thought|let me redo)\b"  # noqa: E501
    r"|\bbut (?:it|that|this|now|after|then)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;:!?\n,](?=\s)|\b(?:so|therefore|thus|hence|but|then)\b|\n", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?。！？](?=\s|$|[*_\"'”`)$]+(?:\s|$)|[^\W\d_]{2})|[。！]|\n")
_CUT: Final = re.compile(
    r"[,;]?\s+(?:is (?:the )?(?:correct|right)|because|since|as (?:we|the|there|it)|given that|which|where|so that|when|after|from|with|per the|obtained|i\.e\.|due to|porque|car|parce|weil)\b"  # noqa: E501
    r"|;\s|\s+—\s|:\s+(?=\d*\s*[^\W\d])|</|\s+[-–—]\s+(?=[^\W\d_]{2})|\s*(?:<\||\[/)|,\s*(?:as|not|and (?:we|this|that|it))\b",  # noqa: E501
    re.IGNORECASE,
)
_BOLD: Final = re.compile(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__")
_PARENTHESIS: Final = re.compile(r"(?<![\s∪∩,+*/=-])(?<!\\cup)(?<!\\cap)\s+\([^()]*\)\s*$")
_QUANTITY: Final = re.compile(
    r"(?<![a-zA-Z0-9_.,/\\])(?:[-−+]\s?)?(?:\\?\$\s?)?(?:\\[dct]?frac\s*(?:\{[^{}\n]{1,40}\}|\d)\s*(?:\{[^{}\n]{1,40}\}|\d)"
    r"|\d[\d,]*(?:\.\d+)?(?:\s?/\s?\d+(?![\d/]))?|\.\d+)(?:\s?\\?%)?"
    r"(?:(?![a-zA-Z0-9_^])|(?=(?:[ckm]?m|[km]?g|m?[lL]|ft|lbs?|mph|km/h|kWh|oz|in|hrs?|mins?|h|s|pm|am|x)\b(?!\^)))"
)
_MORE_LINES: Final = re.compile(r"[^\n]*+\s*+\S")
_STRING_END: Final = re.compile(r"""["']?\s*[,}\]]\s*(?:["'}\]]|$)|["']""")
_FORMULA: Final = re.compile(r"\$([^$\n]{1,200})\$|\\\(((?:(?!\\\)).){1,200})\\\)")
_IN_WORDS: Final = re.compile(r"(?<![\\a-zA-Z])(?!sqrt|sin|cos|tan|log)[a-zA-Z]{3,} ")
_SAYS: Final = re.compile(rf"{_QUANTITY.pattern}|{_BOLD.pattern}|{_FORMULA.pattern}")
_OFFERED: Final = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|could|might|may|between|not|if)\b", re.IGNORECASE
)
_CLAUSE_END: Final = re.compile(r",\s+|\s+(?:so|thus|hence|therefore)\s+")
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|gets?|got|equals?|will|makes?|costs?|needs?|pays?|earns?|takes?|remains?|left)\b",
    re.IGNORECASE,
)
_CALCULATED: Final = re.compile(r"<<[^<>\n]{0,200}>>")
_A_WORD: Final = re.compile(r"[\s$)}\\]*[^\W\d_]{2}")
_BOUND: Final = re.compile(
    r"(?:\b(?:less|more|greater|fewer|larger|smaller|higher|lower|other|rather) than|\bat (?:least|most)|\b(?:over|under|above|below|between"  # noqa: E501
    r"|up to|not|never)|n['’]t)(?: be| equal to| exactly| the answer)?[\s$*_]*$|[≠<>≤≥][\s$]*$"
    r"|\b(?:problem|step|question|exercise|example|figure|equation|page|chapter|part)[\s#*_]*$",
    re.IGNORECASE,
)
"""Before a number: a bound, a denial or what is numbered, and no value."""

_TAG: Final = re.compile(
    r"</?(?:b|i|u|em|strong|span|code|mark|font|center|sub|sup|small|big)(?:\s[^<>]{0,80})?>"
    r"|(</?(?:p|br|div|li|ul|ol|h[1-6]|tr|td|th|table|hr)(?:\s[^<>]{0,80})?/?>)",
    re.IGNORECASE,
)
_NUMBER_WORD: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b", re.IGNORECASE
)
_TALK: Final = re.compile(
    r"\W*(?:let me know|i hope|hope (?:this|that)|feel free|if you (?:have|need|would)|is there anything|good luck|great (?:job|work)|please|thank|happy|does (?:this|that)|would you)",  # noqa: E501
    re.IGNORECASE,
)
_MOST_WORDS: Final = 3
"""Words of a response that says an answer in words and nothing else."""

_LOOKED_BACK: Final = 4
"""Lines from the end on that are looked at for one with a value."""

_NAMED: Final = re.compile(
    r"\b(?:final|correct|answers?|ans|option|case|and|solution|result)\b|\b\d+[.)]", re.IGNORECASE
)
"""Between two answers, what only says that another one follows."""

_MOST_STATEMENTS: Final = 32
"""Statements of an answer that are read, from the end on: what comes before decides nothing."""

_LONGEST_STATEMENT: Final = 300
_LONGEST_LINE: Final = 1_000


def read_final_answer(text: str, *, reference: bool = False) -> FinalAnswer:
    """The final answer of a text.

    Parameters
    ----------
    reference
        The text is a reference: somebody wrote it to say one answer, so that its last box counts whatever
        stands beside it, and the last number of its last line where nothing else does.
    """
    if "~~" in text or "<" in text or "%" in text:
        text = without_unseen(text)
    if "</" in text or "<br" in text:
        text = _TAG.sub(lambda tag: "\n" if tag[1] else "", text)
    statements = _statements(text)
    if any(boxed for _, _, boxed in statements):
        # "The answer is positive, because …" beside a box is no second answer
        statements = [
            item for item in statements if item[2] or not (reference or item[0].value[1].number is None)
        ]
    if statements and not statements[-1][0].value[1] and not reference:
        return FinalAnswer(None, NONE, "no_answer")  # a blank box
    statements = [item for item in statements if item[0].value[1]]
    denied = [statement.value for statement, asserted, _ in statements if not asserted]
    candidates = [statement for statement, asserted, _ in statements if asserted or reference]
    if not candidates:
        return _last_line(text, denied, reference)
    last = candidates[-1]
    shown, value = last.value
    if reference:
        return FinalAnswer(shown, value)
    if any(not same(value, other) for other in _beside(text, candidates)):
        return FinalAnswer(None, NONE, "several_answers")
    if any(same(value, other) for _, other in denied) or _retracted(text[last.end :], value):
        return FinalAnswer(None, NONE, "denied")
    return FinalAnswer(shown, value)


def _beside(text: str, candidates: list[Candidate]) -> Iterator[Value]:
    """The values that belong to the final statement with the last one."""
    final = [candidates[-1]]
    for earlier in reversed(candidates[:-1]):
        between = text[earlier.end : final[-1].start]
        beside = on_one_line(between) and not concludes(between)
        if not (beside or offers_alternatives(_NAMED.sub(" ", between))):
            break
        final.append(earlier)
    for later, earlier in itertools.pairwise(final):
        if _REPLACED.search(text[earlier.end : later.start]):
            return
        yield earlier.value[1]


def _statements(text: str) -> list[tuple[Candidate, bool, bool]]:
    """All statements of an answer in order, as (span, (text, value)), whether each is asserted, and
    whether it is in a box."""
    found: list[tuple[Candidate, bool, bool]] = []
    boxes = list(_boxes(text))[-_MOST_STATEMENTS:]
    for start, end, inside in boxes:
        value = value_of(inside)
        asserted = not (
            _NOT_BEFORE.search(text[max(0, start - 60) : start])
            or _DENIED_AFTER.match(text, end, end + 80)
            or inside.rstrip(" $}").endswith("?")
            or _unasserted(text, start)
        )
        found.append((Candidate(start, end, (inside, value)), asserted, True))
    first = text.split("\n", 1)[0].strip(" *`$") if not text[:1].isspace() else ""
    if 0 < len(first) <= 40 and len(first) + 6 < len(text) and _QUANTITY.fullmatch(first):
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
            value = _one_value(phrase[denial.end() :]) or value
        asserted = not (
            denial
            or _DENIED_AFTER.match(text, end, end + 80)
            or (mark["words"] is not None and _unasserted(text, start))
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


def _unasserted(text: str, start: int) -> bool:
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


def read_phrase(line: str) -> tuple[str, Value]:
    """What a statement says: its whole text as a value, or the only number in it."""
    end = _SENTENCE_END.search(line)
    phrase = line[: end.start()] if end else line
    cut = _CUT.search(phrase)
    short = phrase[: cut.start()] if cut is not None and phrase[: cut.start()].strip() else phrase
    bold = _BOLD.search(short)
    if bold is not None and bold.start() > 0 and (value := _one_value(bold[1] or bold[2])):
        return short, value
    value = _one_value(short)
    if value.number is None and short != phrase and (whole := _one_value(phrase)).number is not None:
        return phrase, whole
    return short, value


def _one_value(phrase: str) -> Value:
    phrase = _PARENTHESIS.sub("", phrase.lstrip(" }\t")).strip(" *_`|\"'“”「」\t\r").rstrip("!")
    if phrase.startswith(("$", "\\(")) and phrase.count("$") == 2:
        phrase = phrase.strip(".")
    value = value_of(phrase)
    if value.number is not None or not value:
        return value
    if (only := _only_quantity(phrase)) is not None:
        return only
    return value


def _only_quantity(phrase: str) -> Value | None:
    """The number of a sentence that has one: "Mark weighed 100 pounds"."""
    if "=" in phrase:
        phrase = phrase.rsplit("=", 1)[1]
    elif _NUMBER_WORD.search(phrase):
        return None
    found = [quantity[0] for quantity in _QUANTITY.finditer(phrase)]
    values = [value_of(text.rstrip(",")) for text in found]
    if not values or any(not same(values[0], value) for value in values[1:]):
        return None
    first = _QUANTITY.search(phrase)
    if first is not None and _BOUND.search(phrase[: first.start()]):
        return None
    if not _words_only(_QUANTITY.sub(" ", phrase)):
        return None
    return values[0]


_BRACKETED: Final = re.compile(r"[(\[{](?:[^\W\d_]?(?![^\W\d_])|\\[a-zA-Z]+|[^a-zA-Z])*[)\]}]")
"""A line that is a point, a set or a list in brackets, and no words."""

_MATHEMATICS: Final = re.compile(r"\d|[\\^+*/<>|(){}\[\]]|√|π")


def _words_only(rest: str) -> bool:
    return (
        _MATHEMATICS.search(re.sub(r"\\(?:text|mathrm)\s*\{[^{}]*\}|\\[()\[\]]|\\%|\\\$|\*\*", " ", rest))
        is None
    )


def _last_line(text: str, denied: list[tuple[str, Value]], reference: bool) -> FinalAnswer:
    """What the last line with a value says."""
    lines = [line for line in text[-8 * _LONGEST_LINE :].split("\n") if line.strip(" \t\r*_`#$|[]\\-=")]
    lines = [line for line in lines if not _TALK.match(line)]
    for line in lines[: -_LOOKED_BACK - 1 : -1]:
        line = _CALCULATED.sub("", line.strip()[-_LONGEST_LINE:])
        if not reference and line.rstrip("*_ ").endswith(("?", "？")):
            return FinalAnswer(None, NONE, "no_answer")
        sentences = [part for part in _sentences(line) if _SAYS.search(part)]
        if not sentences:
            if (
                line == lines[-1].strip()
                and len(lines) == 1
                and len(line.split()) <= _MOST_WORDS
                and not reference
            ):
                value = NONE if denied or "\\boxed" in line else _one_value(line)  # a response of one word
                return FinalAnswer(line, value) if value else FinalAnswer(None, NONE, "no_answer")
            continue
        sentence = sentences[-1]
        phrase, value = read_phrase(sentence)
        formula = None
        if "=" not in sentence and (value.number is None or phrase != sentence):
            value = _last_clause(sentence) or value
        bold = [found[1] or found[2] for found in _BOLD.finditer(sentence)]
        bold = [text for text in bold if not text.rstrip().endswith((":", "："))]
        if bold and (read := _one_value(bold[-1])):
            value = read
        elif (formula := _last_formula(sentence)) is not None:
            value = formula
        elif "=" in sentence and (tail := _result(sentence)).number is not None:
            value = tail
        if value.number is None and reference:
            value = (
                value_of(_QUANTITY.findall(sentence)[-1].rstrip(",")) if _QUANTITY.search(sentence) else value
            )
        if value.number is None and denied:
            return FinalAnswer(None, NONE, "denied")
        if value.number is None and not (bold or formula or _BRACKETED.fullmatch(line)) and len(lines) > 1:
            return FinalAnswer(None, NONE, "no_answer")
        if not value:
            return FinalAnswer(None, NONE, "no_answer")
        if any(same(value, other) for _, other in denied) or (
            not reference and (_unasserted_within(sentence) or _RETRACTION.match(sentence))
        ):
            return FinalAnswer(None, NONE, "denied")
        return FinalAnswer(phrase, value)
    return FinalAnswer(None, NONE, "no_answer")


def _last_clause(sentence: str) -> Value | None:
    """What the last clause says: "With 6 boxes of 7 apples, we have 42"."""
    if _OFFERED.search(sentence):
        return None
    clause = _CLAUSE_END.split(sentence)[-1]
    if clause == sentence or not _VERB.search(clause) or len(_QUANTITY.findall(clause)) != 1:
        return None
    value = _one_value(clause)
    return value if value.number is not None else None


def _last_formula(sentence: str) -> Value | None:
    """What the formula says that ends a sentence: "So we get $7\\pi$ square inches"."""
    spans = list(_FORMULA.finditer(sentence))
    if (
        not spans
        or _IN_WORDS.search(spans[-1][1] or spans[-1][2])
        or _QUANTITY.search(sentence, spans[-1].end())
    ):
        return None
    inside = (spans[-1][1] or spans[-1][2]).rsplit("=", 1)[-1]
    others = {(span[1] or span[2]).rsplit("=", 1)[-1].strip() for span in spans[:-1]}
    if any(any(map(str.isdigit, other)) for other in others - {inside.strip()}) and "=" not in spans[-1][0]:
        return None  # "from $3$ to $5$"
    return value_of(inside) or None


def _unasserted_within(sentence: str) -> bool:
    """Whether the clause that holds a sentence's last number denies or supposes it."""
    at = max((quantity.start() for quantity in _QUANTITY.finditer(sentence)), default=len(sentence))
    return _unasserted(sentence, at) or _NOT_BEFORE.search(sentence[max(0, at - 60) : at]) is not None


def _result(sentence: str) -> Value:
    """What stands after the last sign of equality: "40 - 24 = 16 people that think horse #12 will win"."""
    tail = sentence.rsplit("=", 1)[1].strip(" $\\({*")
    first = _QUANTITY.match(tail)
    if first is not None and _A_WORD.match(tail, first.end()):
        return value_of(first[0].rstrip(","))
    return value_of(tail)


def _sentences(line: str) -> list[str]:
    parts = []
    begin = 0
    for end in _SENTENCE_END.finditer(line):
        parts.append(line[begin : end.start()])
        begin = end.end()
    parts.append(line[begin:])
    return [part for part in parts if part.strip()]


def _retracted(tail: str, value: Value) -> bool:
    """Whether what follows the last statement takes it back: a change of mind that does not end with it."""
    found = _RETRACTION.search(tail)
    if found is None:
        return False
    after = [
        value_of(quantity[0].rstrip(",")) for quantity in _QUANTITY.finditer(tail[found.start() :][:2_000])
    ]
    after = [one for one in after if one.number is not None]
    if after:
        return not same(after[-1], value)
    return _TAKEN_BACK.search(tail, found.start(), found.end() + 8) is not None
