"""What the words around a ``<smiles>`` tag, or above a list of them, make of it: denied, struck out, asked
about, supposed, an example, somebody else's. Such tags are no answers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_END: Final = r"""[\s:：`*_"'“‘«(\[,\-]*(?:\(?\d{1,3}[.)]\s*)?[`*"']*$"""
_THINGS: Final = (
    r"(?:motifs?|answers?|molecules?|isomers?|structures?|compounds?|fragments?|substructures?|ones?|list"
    r"|smiles|set|results?|it|this|that|these|those|they|missing|final|common|largest|correct|right)"
)

DENIED_BEFORE: Final = re.compile(
    r"(?:(?<!\bif )\bnot(?:\s+even|\s+include)?|\bignore|\bdiscard|\bno(?=\s*:)|n['’]t(?:\s+include)?"
    r"|\bnever|\binstead\s+of"
    r"|\brather\s+than|\bunlike|\bexcept|\bwrong|\bincorrect|\breject(?:ed)?|\brul(?:e|ed)\s+out"
    r"|\bexclud(?:e|ed|ing)|≠|!=|\binvalid|\bbad"
    r"|\b(?:none|neither)(?:\s+of)?|\b(?:complete|full)\s+without"
    r"|(?:\bnot|n['’]t)\s+(?:think|believe|say|see\s+how|agree)(?:\s+that)?|\bdoubt(?:\s+that)?"
    r"|不是|并非|不对|错误的?是|n['’]est\s+pas|ne\s+sont\s+pas|\bno\s+(?:es|son)|\b(?:ist|sind)\s+nicht|\bnicht"
    r"|\bkein\w*|\bне|\bnão\s+(?:é|são)|\bnon\s+(?:è|sono)|[❌✗✘✖🚫])"
    r"(?:\s+(?:be|just|simply|the|a|an|is|are|it|motif|answer|molecule|guess|as))*\s*[:：`*\"'“(\[]*\s*$",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = re.compile(
    r"[\s`*\"'”.)\]—–-]{0,6}(?:,\s*)?(?:which\s+|it\s+|this\s+)?(?:"
    r"(?:is|was|seems|looks|would\s+be)\s+(?:wrong|incorrect|invalid|too\s|rejected|only\s+an?\s"
    r"|just\s+an?\s|an\s+example"
    r"|(?:my|a|the|our)\s+(?:very\s+)?(?:first|initial|earlier|previous|old)\s+(?:idea|guess|attempt"
    r"|thought|try)"
    r"|one\s+of\s+(?:several|many|the\s+(?:candidates|possib)|a\s+few|various)|what\s+(?:some\w*|others?"
    r"|they|he|she)\b"
    r"|not\s+(?:the|a\b|an\b|present|common|shared|in\b|contained|found|correct|right|valid|it\b|my\b"
    r"|missing))"
    r"|(?:isn|wasn)['’]t\b|cannot\s+be|can['’]t\s+be|\(?(?:wrong|incorrect|invalid|rejected"
    r"|no)\b\)?\s*[.)!]?$|❌|✗|✘"
    r"|does\s*(?:n['’]t|\s+not)\s+(?:belong|fit|occur|match|work|appear|count|satisfy|contain|have)"
    r"|has\s+(?:the\s+|an?\s+)?(?:wrong|different|other|another)\s+(?:molecular\s+)?formula"
    r"|(?:or|and|among)\s+(?:others?|(?:something\s+)?similar|the\s+like|so\s+on|whatever)\b|etc\b"
    r"|\?+\s*(?:no\b|nope|not\b|hmm|wait|but\b))",
    re.IGNORECASE,
)
_BUT: Final = re.compile(
    r"[^.!?\n<]{0,40}?[,;—–-]?\s*\b(?:but|however|yet|although)\b,?\s+(?:then\s+)?(?:(?:that|this|it|which"
    r"|they|I)\s+)?"
    r"(?:fails?\b|misses|(?:is|are|was|were)\s+(?:not\b|wrong|incorrect|invalid|already|given|absent|too\s)"
    r"|(?:isn|aren|wasn)['’]t\b|does\s*(?:n['’]t|\s+not)\s+(?:belong|fit|occur|match|work|lie|appear|have"
    r"|contain)"
    r"|disagree|reject|discard|exclud|ruled\s+it|have\s+(?:rejected|discarded)|has\s+(?:the|a)\s+wrong"
    r"|(?:cannot|can['’]t|could\s*(?:not|n['’]t))\s+(?:determine|tell|decide|say\s+which|answer))",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(
    r"(?:\b(?:such\s+as|e\.\s?g\.?|for\s+(?:example|instance))[,:]?\s*(?:the\s+|an?\s+)?(?:"
    + _THINGS
    + r"\s+)?"
    r"|\b(?:possible|potential|plausible|candidate)\s+\w+(?:\s+\w+)?\s+(?:include|are|might\s+be"
    r"|could\s+be|would\s+be)s?\s*"
    r"|\bone\s+of\s+(?:the|several|many|these|my|some)\s+(?:\w+\s+)?(?:candidates?|possib\w+|options?"
    r"|guesses)\b[^.!?]{0,30}"
    r"|\b(?:look|be\s+something|something|anything|be\s+of\s+the\s+form)\s+like"
    r"|(?:^|[.!?:]\s)\W*(?:an?\s+)?(?:sample|example|illustrat\w+|dummy|hypothetical|placeholder)s?"
    r"(?:\s+(?:of|for)\s+(?:the\s+|an?\s+)?(?:\w+\s+)?(?:format|output|answer|form|layout)"
    r"|\s+(?:output|answers?|response|format|list|smiles|tags?))?)" + _END,
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"(?:\b(?:if|suppos\w+|assum\w+|imagin\w+|say|what\s+if)\s+(?:that\s+)?(?:(?:the|my|our)\s+)?(?:"
    + _THINGS
    + r"\s+)+"
    r"(?:is|are|was|were|would\s+be|had\s+been)(?:\s+the\s+answer)?"
    r"|\b(?:one|you|some(?:one|body)?(?:\s+else)?|(?:some\s+)?(?:others|people|students?|users?"
    r"|colleagues?)|he|she|they"
    r"|another\s+model)"
    r"\s+(?:else\s+)?(?:(?:might|may|could|would|will|can)\s+)?(?:first\s+|initially\s+)?"
    r"(?:think|thought|sa(?:y|ys|id)|guess\w*|propos\w+|suggest\w*|answer(?:s|ed)?|claim\w*|expect|try"
    r"|tried|consider\w*"
    r"|be\s+tempted\s+to\s+\w+)"
    r"(?:\s+(?:that|of|with))?(?:\s+(?:it|they|the\s+\w+))?(?:\s+(?:is|are|was|were))?"
    r"|\b(?:question|prompt|problem|task|instructions?)\s+(?:says?|reads?|states?|shows?"
    r"|wants?)\b[^.!?\n]{0,60}[\"“'`][^.!?\n]{0,60}"
    r")" + _END,
    re.IGNORECASE,
)
_TESTED: Final = re.compile(
    r"(?:\b(?:let\s+(?:me|us)|let['’]s|I(?:['’]ll|\s+will|\s+need\s+to|\s+should)?)\s+(?:now\s+|first\s+"
    r"|just\s+)?"
    r"(?:test|try|check|verify|examine|look\s+at|considered|consider)\b[^.!?:\n]{0,40}"
    r"|(?:^|[.!?]\s)\W*(?:first\s+|initial\s+|rough\s+|my\s+)?draft(?:\s+(?:answer|list|motif))?"
    r"|(?:^|[.!?:]\s|\n)\W*(?:(?:or|maybe|perhaps|so|but|and|hmm|then)[,\s]+)*(?:is|are|could|might|would"
    r"|do|does|can|should)\b"
    r"[^.!?\n]{0,60}"
    r"(?P<ask>\?)?)" + _END,
    re.IGNORECASE,
)
_ASKED: Final = re.compile(r"[`*\"'”)\]]{0,4}\s?\?|[^.!?\n<]{0,80}\?")
_ASKED_HERE: Final = re.compile(r"[`*\"'”)\]]{0,4}\s?[?？]")
_CONFIRMED: Final = re.compile(
    r"\b(?:yes|indeed|confirmed|exactly|works|holds|matches|looks\s+right|correct|right)\b|[✓✔✅]"
    r"|\b(?:all|every|each)\b[^.?!\n]{0,60}\b(?:contains?|match\w*|has|have|includes?"
    r"|shares?)\b[^.?!\n]*(?:[.!\n]|$)",
    re.IGNORECASE,
)
_DISCONFIRMED: Final = re.compile(
    r"\bnot\b|n['’]t\b|\bno\b|\bnor\b|\bwrong\b|\bstill\s+(?:need|have)", re.IGNORECASE
)
_NO_HEADING: Final = re.compile(
    r"^\W*(?:(?:the\s+)?(?:following|these|those)\s+(?:are|were)\s+)?(?:the\s+|my\s+)?"
    r"(?:excluded|rejected|discarded|eliminated|ruled\s+out|wrong|incorrect|invalid|not(?:\s+missing)?"
    r"|duplicates?"
    r"|do\s+not\s+include|don['’]t\s+include|none\s+of\s+(?:these|the\s+following)\b[^.:]{0,40})"
    r"(?:\s+(?:answers?|isomers?|molecules?|candidates?|ones?|structures?|because\b.{0,40}))?\W*$",
    re.IGNORECASE,
)
_NONE_OF: Final = re.compile(
    r"(?:\b(?:none|neither)(?:\s+of)?|\b(?:complete|full)\s+without|不是|并非|n['’]est\s+pas|ne\s+sont\s+pas"
    r"|\bno\s+(?:es|son)|\b(?:ist|sind)\s+nicht|\bне|\bnão\s+(?:é|são)|\bnon\s+(?:è|sono)|[❌✗✘✖🚫])" + _END,
    re.IGNORECASE,
)
_HTML: Final = re.compile(r"</?[A-Za-z]+>")

_TAKEN_BACK: Final = re.compile(
    r"\b(?:that|this|it|which|answer|above|list)\s*(?:['’]s|is|was)\s+(?:wrong|incorrect|false|invalid"
    r"|not\s+(?:right|correct|my|the\s+(?:answer|motif|right|correct|largest)))\b|\bscratch\s+that"
    r"|\b(?:ignore"
    r"|disregard)\s+(?:that|this|the|my|it)\b|\bretract\b|\bnever\s+mind\b"
    r"|\btake\s+(?:it|that|this|them)\s+back|\bno,?\s+wait\b|\bwait,?\s+no\b|\bnot\s+this\s+one\b",
    re.IGNORECASE,
)
_LIST_TAKEN_BACK: Final = re.compile(
    r"(?:^|[.!\n]\s{0,3})(?:(?:but|however|wait|hmm|actually|sorry)[,:]?\s+)?(?:all\s+(?:of\s+)?)?(?:these"
    r"|those|they|(?:all\s+)?the\s+above)"
    r"\s+(?:molecules\s+|isomers\s+)?(?:are|were)\s+(?:all\s+|only\s+|just\s+|merely\s+"
    r"|already\s+)*(?:wrong|incorrect|invalid"
    r"|examples|placeholders|guesses|given|not\s+(?:missing|right|correct|valid|isomers|the\s+(?:missing"
    r"|answer)))\b"
    r"|\bnone\s+of\s+(?:these|those|them|the\s+above)(?:\s+\w+)?\s+(?:is|are)\s+(?:missing|right|correct"
    r"|valid|isomers?|the\s+answer)"
    r"|\b(?:actually|in\s+fact)[,:]?\s+(?:no|nothing|none)\b[^.!?\n]{0,40}\bmissing",
    re.IGNORECASE,
)

_ASKS: Final = ("is", "are", "could", "might", "would", "do", "can", "should")
_HINTS: Final = (
    "not", "n't", "n’t", "never", "instead", "rather", "unlike", "except", "wrong", "incorrect", "reject",
    "rul",
    "excl", "!=", "invalid", "bad", "ignore", "discard", "no:", "no :", "none", "neither", "without",
    "doubt", "n'est",
    "no es", "no son", "ne sont", "kein", "elimin", "duplic", "such", "e.g", "e. g", "exam", "instance",
    "possib", "potential",
    "plausib", "candid", "one of", "like", "sample", "illus", "dummy", "hypo", "placeh", "if ", "suppos",
    "assum",
    "imagin", "say", "said", "reads", "state", "show", "want", "think", "thought", "guess", "propos",
    "suggest", "answers",
    "answered", "claim", "expect", "try", "tried", "consider", "tempted", "would answer", "could answer",
    "test", "check",
    "verify", "look", "draft", "?", "nicht",
)  # fmt: skip
"""One of which is in every text that says something here, if it is ASCII and no question; to look for them
first is a tenth of the cost."""
_QUESTION: Final = re.compile(r"\b(?:is|are|could|might|would|do|does|can|should)\b")


def _plain(lowered: str) -> bool:
    if not lowered.isascii():
        return False
    return not any(hint in lowered for hint in _HINTS)


@lru_cache(1024)
def denied_before(line: str) -> bool:
    """Whether a line that ends at a tag denies it."""
    lowered = line.lower()
    return not _plain(lowered) and DENIED_BEFORE.search(line[-60:]) is not None


@lru_cache(1024)
def example_before(line: str) -> bool:
    """Whether a line that ends at a tag says that it is an example, a supposition or what others say."""
    return not _plain(line.lower()) and (_EXAMPLE.search(line) or _SUPPOSED.search(line)) is not None


def denied_after(tail: str) -> bool:
    """Whether what follows a tag on its line denies it."""
    return _DENIED_AFTER.match(tail) is not None or (
        ("but" in tail or "however" in tail or "yet" in tail or "although" in tail)
        and _BUT.match(tail) is not None
    )


@lru_cache(1024)
def _asks_nothing(line: str) -> bool:
    lowered = line.lower()
    return _plain(lowered) or _QUESTION.match(lowered) is not None


def asked(line: str, tail: str, behind: str) -> bool:
    """Whether a tag is only asked about or put to the test.

    ``line`` ends at it, ``tail`` follows on its line, ``behind`` is the text that follows."""
    here = "?" in tail or "？" in tail
    if not here and (not line or _asks_nothing(line)):
        return False
    if here and _ASKED_HERE.match(tail):
        return not _confirmed(behind)
    found = _TESTED.search(line)
    if found is None:
        return False
    if found[0].lstrip("\n .!?:*-`\"'(").lower().startswith(_ASKS) and not (here and _ASKED.match(tail)):
        return False
    return not _confirmed(behind)


def _confirmed(behind: str) -> bool:
    found = _CONFIRMED.search(behind, 0, 200)
    return found is not None and _DISCONFIRMED.search(behind, 0, found.start()) is None


@lru_cache(1024)
def heads_no_answers(heading: str) -> bool:
    """Whether a heading says that the molecules below it are no answers."""
    if _plain(heading.lower()):
        return False
    if "<" in heading:
        heading = _HTML.sub(" ", heading)
    bare = heading.strip().rstrip("*_")
    if _NO_HEADING.match(bare) or _NONE_OF.search(bare) or _EXAMPLE.search(bare) or _SUPPOSED.search(bare):
        return True
    if bare.endswith(("?", "？")):
        return _QUESTION.match(bare.lower().lstrip("*#_ ")) is not None
    found = _TESTED.search(bare)
    return found is not None and not found[0].lstrip("\n .!?:*-`\"'(").lower().startswith(
        (*_ASKS, "draft", "first draft")
    )


def taken_back(behind: str) -> bool:
    """Whether what follows the answer takes it back."""
    return _TAKEN_BACK.search(behind) is not None


def list_taken_back(behind: str) -> bool:
    """Whether what follows a list takes all of it back."""
    return _TAKEN_BACK.search(behind) is not None or _LIST_TAKEN_BACK.search(behind) is not None


_STRUCK: Final = (("~~", "~~"), ("<del>", "</del>"), ("<s>", "</s>"), ("<strike>", "</strike>"), ("/*", "*/"))


def without_struck(text: str) -> str:
    """The text without tags that are struck out or in a comment of a program."""
    for opening, closing in _STRUCK:
        at = text.find(opening)
        if opening == "<s>" and at >= 0 and not text[:at].strip():
            # what some models begin a turn with
            at = text.find(opening, at + 1)
        if at < 0 or text.find(closing, at + 2) < 0:
            continue
        parts = []
        begin = 0
        while at >= 0 and (end := text.find(closing, at + len(opening))) >= 0:
            struck = "<smiles>" in text[at:end].lower()
            parts.append(text[begin : at if struck else end + len(closing)])
            begin = end + len(closing)
            at = text.find(opening, begin)
        text = "".join((*parts, text[begin:]))
    return text
