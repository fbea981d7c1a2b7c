"""What stands around a yes or no and decides what it is: patterns on `plain`, lower-cased text."""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("*`\"'$“”‘’«»「」『』\u200b\u200c\u200d\ufeff\u2060\u00ad", None),
        **dict(zip("：。，；（）！？【】［］＜＞｜／＝\u00a0", ":.,;()!?[][]<>|/= ", strict=True)),
        "、": ",",
        "’": "'",
    }
)

_TAG: Final = re.compile(
    r"</?(?:b|i|u|em|strong|span|code|pre|mark|font|div|p|center|h[1-6]|li|td|th)\b[^<>]*>"
)

_LATEX: Final = re.compile(
    r"\\(?:text|mathrm|textbf|mathbf|textit|mbox|textsc|texttt|bf|it|rm|large|huge|langle|rangle|"
    r"lt|gt|left|right)\b"
)

_SPACING: Final = re.compile(r"\\[,;:!~ ]|&(?:lt|gt|nbsp|quot|#39);|(?<![a-z0-9])_|_(?![a-z0-9])")


def plain(part: str) -> str:
    """A part of a lower-cased text without quotation marks, bold, LaTeX's text commands and HTML's looks."""
    part = part.translate(_PLAIN)
    if "<" in part:
        part = _TAG.sub("", part)
    if "\\" in part or "&" in part or "_" in part:
        part = _SPACING.sub(" ", _LATEX.sub("", part))
    return part


ANSWER: Final = (
    r"(?:answers?|verdict|label|conclusion|decision|response|result|output|prediction|determination|judge?ment|"
    r"assessment|classification|final|answered|答案|回答|结论|結論|答え|respuesta|réponse|antwort|risposta|resposta|ответ)"
)

_FILLER: Final = (
    r"(?:is|are|was|be|it|would|should|must|will|has|have|to|the|this|that|these|question|then|therefore|thus|hence|so|"
    r"clearly|definitely|indeed|a|an|my|our|your|simply|just|here|as|follows|i|we|give|return|choose|in|for|word|one|"
    r"strong|clear|definite|resounding|still|now|remains|with|high|confidence|of|problem|homoplasy|list|set|molecules|"
    r"correct|and|also|based|on|present|above|detected|part|tag|format|form|required|requested|am|going|stands|"
    r"给出|是|为|est|es|ist|é|è|lautet|final|answer|correcta|finale|convergence|structured|constitutional|isomers|"
    r"isomer|是否|conclude|summary|presence)"
)

NAMED: Final = re.compile(
    rf"(?:(?:\b|(?<=[^\W]))(?<![a-z]){ANSWER}(?![a-z])|\\(?:f?boxed|fbox)|<(?:final_?)?answer>)"
    rf"(?:[^\w.!?;]|\b{_FILLER}\b|\byes\s?/\s?no\b|\byes\s+or\s+no\b)*+$"
)

PICKED: Final = re.compile(
    r"\b(?:i|we|i'?ll|i'?d|id|ill)\s+(?:would\s+|will\s+|therefore\s+|must\s+|have to\s+|can\s+|"
    r"now\s+|thus\s+|hereby\s+)*"
    r"(?:say|answer|choose|pick|vote|return|respond|reply|conclude|go)\b(?:\s+(?:with|for|that|is|it|the|answer))*[^\w.!?]*$"
)

CORRECTS: Final = re.compile(
    r"(?:\b(?:wait|actually|correction|corrected|scratch that|on (?:second thoughts?|reflection)|"
    r"my mistake|sorry|"
    r"i was wrong|reconsidering|revised|instead|rather|hmm|let me correct (?:that|this|myself)|"
    r"apologies|oops|but)\b)"
    r"(?:[^\w.?!\n]|\b(?:it|is|its|this|that|the|should|be|must|so|i|no|yes|say|answer|a)\b|[.!]\s)*+$"
)

CONCLUDES: Final = re.compile(
    r"\b(?:so|therefore|thus|hence|finally|overall|ultimately|in (?:conclusion|summary|short|"
    r"brief)|to (?:conclude|sum up)|"
    r"tl;?dr|consequently|accordingly|(?:it|that|this) is|its|thats|it's|is a|"
    r"short)\b[\s,:—–-]*+(?:a |the |clear |clearly |"
    r"definite |definitely )*$"
)

BEGINS: Final = re.compile(r"(?:^|[\n.!?:;>|=]|<br\s*/?>)(?:[^\w\n]|\d{1,2}[.)]\s|\([a-z0-9]\))*$")

ASKED: Final = re.compile(r"\?[^\w\n]*$")

DENIED: Final = re.compile(
    r"(?:\b(?:(?:anything|everything) but|not|never|neither|nor|cannot|rather than|instead of|other than|"
    r"nt|isnt|wasnt|doesnt|dont|cant|against|reject(?:ed|s|ing)?|rules? out|ruling out|excludes?|"
    r"opposite of|far from|unlike|wrong)|n't)"
    r"(?:\s+(?:a|an|the|be|simply|just|merely|necessarily|to|say|answer|return|choose|been|as|call|label|it|this|that|"
    r"really|quite|exactly|clear|clearly|correct|option|write|use|output|put|pick|select|give|respond|reply|with|go|for|claim|conclude|think|believe|that|is))*[^\w.!?;:\n]*$"
)

DENIED_AFTER: Final = re.compile(
    r"[^\w.!?\n]*(?:is|was|would be|would have been|seems|looks|can be|cannot|can't|must be|isn't|"
    r"wouldn't|could not)\s+"
    r"(?:clearly\s+|definitely\s+|therefore\s+)?(?:not|wrong|incorrect|false|excluded|ruled out|"
    r"be\b|the wrong|"
    r"rejected|right\?|correct\?|the (?:right |correct )?answer\?)"
)

CONDITION: Final = re.compile(
    r"\b(?:if|whether|when|unless|in case|assuming|suppose|supposing|provided|were|had|otherwise|"
    r"else|whenever)\b"
    r"(?P<clause>[^.!?\n]*)$"
)

SETTLED: Final = re.compile(
    r"\w.*\b(?:so|therefore|thus|hence|since|because|then i|indeed)\b|\blist\b[^:]*:\s*$"
)

EVEN: Final = re.compile(r"\b(?:even|as to|as|see|check(?:ed)?|decide|determine)\s+$")

CONDITION_AFTER: Final = re.compile(
    r"[^\w.!?\n]*(?:only\s+)?(?:if|when|unless|in case|provided|otherwise|assuming)\b"
)

FORM: Final = re.compile(
    r"[–-]|[^\w]*(?:(?:[/|]|\b(?:or|and|vs|versus|else|otherwise|oder|ou|或)\b)(?:\s+(?:maybe|"
    r"perhaps|possibly|else|just|a|the|even|rather|probably|also|both|return|answer|tag|"
    r"with))*)[^\w]*"
)

DRAFT: Final = re.compile(
    r"\b(?:at first|initial(?:ly)?|first (?:guess|thought|impression|glance|sight|instinct)|"
    r"some (?:would|might|may|people)|"
    r"about to (?:say|answer|write)|almost (?:said|answered|wrote)|going to (?:say|answer|write)|"
    r"(?:old|former|draft|wrong|incorrect|preliminary|tentative|provisional) (?:answer|guess|verdict|label)|"
    r"(?:one|you) (?:could|might|would|may) (?:say|think|answer|argue|be)|(?:may|might) (?:seem|"
    r"look|appear)|tempt\w+|naive\w*|"
    r"previous(?:ly)?|earlier)\b[^.!?\n,;]*$"
)
"""An answer that is told, not given."""

ASKS: Final = re.compile(
    r"^[\W_]*(?:so\s+|but\s+)?(?:(?:is|was|would|could|can|should|do|does|are)\s+(?:it|"
    r"the (?:answer|label|verdict)|you|we|i|that|this|they)|"
    r"(?:should|had|were) (?:the|they|all|every|these)|who)\b[^:]*$"
)
"""The beginning of a question or a condition, up to the word."""

GUESSED: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|might be|could be|may be|could as well be|doubt\w*|unsure|"
    r"undecided|unclear|not sure)\b"
    r"(?:\s+(?:a|it|its|is|be|the|that|whether|answer|if|about))*[^\w\n]*$"
)

KEY: Final = re.compile(r"\s*:\s*(?:true|false|null|[01]?\.\d|\d+\s?%)")

IN_TAG: Final = re.compile(r"<[^<>\n]{1,20}$")

STRUCK: Final = re.compile(
    r"~~[^~\n]{0,150}~~|<(del|s|strike)>.{0,150}?</\1>|<!--(?:(?!-->)[\s\S]){0,150}-->"
)

LISTED: Final = re.compile(r"\b(?:options?|one of|either|between|choices?|possible answers)\b[^.!?\n]*$")

NUMBERED: Final = re.compile(r"(?:\b(?:tax(?:on|a)|species|and|leaf|leaves)|[,&])\s*$")
NUMBER_AFTER: Final = re.compile(r"\.\s?\d")
SENTENCE_END: Final = re.compile(r"[.!?\n]")

TAGGED: Final = re.compile(r"<\s*$")

FORMAT: Final = re.compile(
    r"\b(?:return|answer(?:s|ed)?|format|form|asked|respond|reply|output|choose|between|exactly|"
    r"one of|only|either|"
    r"options?|requires?|required|question|decide|whether|give|say|write|tags?)\b"
)

ENDS: Final = re.compile(r"[^\w\n]*(?:$|[\n.,;:!?<>/–—-]|[0-9(\[]|taxa?o?n?\b)")

NOT_ANY: Final = re.compile(
    r"[ \t]+(?:doubt|others?|further|more|additional|one|longer|matter|wonder|need|explanation|"
    r"exceptions?|idea|taxa|taxon|single|particular|clear|way|reason|such|problem|change|two|known|obvious|differences?|hydrogens?|rings?|"
    r"motifs?|shared|close|relationship|relation|relatives?|part|text|extra|markdown|means|signal|evidence|sign|"
    r"duplicates?|rows?|columns?|molecules?|atoms?|species|structured|homoplasy|convergence|convergent|pairs?|"
    r"groups?|isomers?|mismatch(?:es)?|odd|different|outliers?|less|significant|strong|repeated|consistent|formula|"
    r"indication|support|pattern|statistically|real|non|false|apparent|distantly|distant|explicit|answer|comment|verdict|"
    r"conclusion|decision)\b"
)

LEADS: Final = frozenset(
    [
        "is", "be", "as", "so", "say", "answer", "answered", "choose", "pick",
        "return", "thus", "therefore", "hence", "with", "clear", "clearly", "definite", "actually",
        "wait", "but", "a", "an", "instead", "rather", "hmm", "correction", "correct",
        "verdict", "label", "conclusion", "vote", "i", "its", "that", "and", "final",
        "overall", "still", "remains", "definitely", "finally", "ultimately", "indeed", "response", "result",
        "output", "conclude",
    ]
)  # fmt: skip
"""Words before a "no" that is an answer though it stands within a sentence."""

RUNS_ON: Final = re.compile(r"\s+[a-z]+")

FULL_STOP: Final = re.compile(r"[.!?]")
TAKEN_BACK: Final = re.compile(
    r"\b(?:wait|scratch that|hold on|on second thoughts?|i (?:was|am) (?:wrong|mistaken)|(?:my|a) mistake|"
    r"i (?:mis\w+|made an error|forgot)|correction|that(?: i|')s (?:wrong|not right))\b"
)
REVISES: Final = re.compile(
    r"\b(?:wait|actually|correct(?:ion|ed|ing)|re-?check\w*|re-?consider\w*|re-?examin\w*|"
    r"second thoughts?|on reflection|"
    r"mistake\w*|let me|however|looking (?:again|closer|more)|double-?check\w*|sorry|oops|hmm|"
    r"revis\w+|verif\w+|"
    r"but on|in fact|hold on|not right|wrong)\b"
)
