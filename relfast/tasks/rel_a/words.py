"""The words of a sentence about choices, as tokens of few kinds: what `sentence` reasons about.

Every pattern takes time linear in its text: repetitions are possessive or of bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

_DIGITS: Final = {
    **{chr(ord("①") + n): n + 1 for n in range(9)},
    **{chr(ord("❶") + n): n + 1 for n in range(9)},
    **{chr(ord("➀") + n): n + 1 for n in range(9)},
    **{chr(ord("➊") + n): n + 1 for n in range(9)},
}
_WORDS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_NTH: Final = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]

_LONE_DIGIT: Final = re.compile(
    rf"[0-9{''.join(_DIGITS)}](?:(?<=[①-➓])|"
    rf"(?<![a-z0-9_.,][0-9])(?<![^a-z][-+][0-9])(?<!panel [0-9])[0-9]{{0,8}}+(?![a-z0-9_]|[.,][0-9])|"
    r"\ufe0f?\u20e3|(?<=answer[0-9])|(?<=option[0-9])|(?<=choice[0-9])|(?<=panel[0-9])|(?:st|nd|rd|th)\b)"
)
_ANY_NTH: Final = "|".join(_NTH)
_ANY_WORD: Final = "|".join(_WORDS)
_WORDY: Final = re.compile(
    rf"(?:{_ANY_NTH})\W{{1,4}}(?:answer|option|choice|panel|candidate|one)s?|\bthe (?:{_ANY_NTH})\b|"
    rf"(?:answer|option|choice|number|panel|is|or|,|:)\W{{1,6}}(?:{_ANY_WORD})\b|"
    rf"^[\W_]*+(?:{_ANY_WORD})\b"
)
_HAS_WORD: Final = re.compile(
    "[efnostw](?:ne|wo|hree|our|ive|ix|even|ight|ine|irst|econd|hird|ifth|inth)"
).search


def has_number_word(text: str) -> bool:
    """Whether a number that could be a choice's may be written as a word: "five", "fifth"."""
    return _HAS_WORD(text) is not None


_PANEL: Final = re.compile("panel [0-9]")
NOT_GIVEN_WORDS: Final = frozenset(
    ["missing", "correct", "right", "final", "best", "next", "choose", "pick", "select", "index", "answer",
     "go", "take", "is", "be"]
)  # fmt: skip
_NOT_GIVEN: Final = re.compile(
    rf"panel [89]|\b(?:{'|'.join(sorted(NOT_GIVEN_WORDS - {'right'}))}|(?<!to )right)\b"
    r"|^[\W_]*+panel[^a-z]*+$"
)


def names_a_choice(text: str) -> bool:
    """Whether a sentence has a number that could be a choice's; "Panel 3" is mostly a given one."""
    return (
        _LONE_DIGIT.search(text) is not None
        or (has_number_word(text) and _WORDY.search(text) is not None)
        or (_PANEL.search(text) is not None and _NOT_GIVEN.search(text) is not None)
    )


_EXPRESSION: Final = (
    r"[0-9]++(?:[.,][0-9]++)*+(?:\s?(?:[-–+/^=<>%·−×÷~]|\.{2,3}|…)\s?[-+−]?[0-9]++(?:[.,][0-9]++)*+|"
    r"\s(?:to|through|thru|plus|minus|times|mod|of|out\sof|divided\sby)\s(?:the\s)?[0-9]++)++"
)
_AFTER_NUMBER: Final = "です|だ|で|입|번|이|は|が|の|号|个"
_VALUE: Final = (
    r"[0-9]++(?:[.,:][0-9]++)++|(?<![\w)])[-+−.,±√][0-9]++\w*+|[0-9]++(?=\s?[%°×÷^])|"
    rf"[0-9]++(?!st\b|nd\b|rd\b|th\b|{_AFTER_NUMBER})[^\W0-9]\w*+"
)

_SIGNS: Final[list[tuple[str, str]]] = [
    ("W", _EXPRESSION),
    ("KEYCAP", r"[1-9]\ufe0f?\u20e3"),
    ("NTH", r"(?<![\w.,])[0-9]{1,9}+(?:st|nd|rd|th)\b"),
    ("W", _VALUE),
    ("G", r"(?<![.,0-9])[0-9]++"),
    ("CIRCLED", f"[{''.join(_DIGITS)}]"),
    ("N", "[¬≠]"),
    ("B", "[❌✗✘🚫✖❎]"),
    ("Y", "[✓✔✅☑🎯]"),
    ("K", "&"),
    ("+", "[/|+]"),
    ("(", "[(（]"),
    (")", "[)）]"),
    (",", "[,，、;；]"),
    ("-", r"(?<=\s)[-–]+(?=\s|$)|[—―]|^[-–—]+(?=\s)|(?<=[0-9])[-–](?=\s)|[–—](?=[^\W0-9])"),
    ("C", "[:：=]"),
    ("?", "[?？]"),
]
"""Tokens that are no words, in order: the first that matches is taken."""

_PHRASES: Final[list[tuple[str, str]]] = [
    # what is no denial although it looks like one, and what is said of the other choices
    ("F", r"(?:no|without(?: a)?|beyond(?: a)?) (?:doubt|question)"),
    ("F", r"almost certainly|not (?:so )?much|not just|not (?:\w{1,20} )?(?:sure|certain)|uncertain|unsure"),
    ("J", r"not (?:because|since|due)|considering that"),
    ("O", r"(?:no|none|every|each|any|all)(?: of)?(?: the)? others?(?: (?:answer|option|choice|panel|"
    r"candidate)s?)?"),
    ("O", r"(?:nothing|everything|anything|none) else|the (?:rest|remaining)|none of (?:them|these)"),
    ("O", r"other (?:answer|option|choice|panel|candidate)s|(?:the )?others|the other"),
    ("n", r"(?:all|everything|every \w{1,9}|anything|nothing|none|nobody) (?:but|except)|(?:other|"
    r"rather) than|as opposed to|apart from"),
    ("D", r"(?:might|may|could) (?:think|say|seem|appear)|would think|some (?:would|might|may)"),
    ("B", r"if (?:not|it (?:was|were)n't) for"),
    ("X", r"or so"),
    ("n", r"any (?:number|answer|option|choice|panel|one) (?:but|except)"),
    ("n", r"instead of|except(?:ing)? for"),
    ("R", r"scratch that|make that|i mean(?:t)?|hold on|never mind|on second thoughts?|on reflection|"
    r"or rather|just kidding|my (?:mistake|bad)"),
    ("S", r"in conclusion|in short|i\.e|that is(?=,)|which means"),
    ("M", r"what about|how about|look(?:ing)? at"),
    ("E", r"rul(?:e[sd]?|ing) out"),
    ("N", r"no one|no longer|n'est pas|no es(?: la)?|\w{1,9}n't"),
    ("B", r"off by|not possible"),
    ("L", r"(?:go|going|went|gone) (?:with|for)|settled? on|opt(?:ed)? for|vote for"),
    ("m", r"corresponds? (?:to|with)|leads to|points to|found in|given by|completed by|shown in|"
    r"identical to|same as|equal to|matched by"),
    ("C", r"would be|must be|should be|will be|has to be|appears to be|seems to be"),
    ("F", r"to be|most likely|this one|the only(?= (?:answer|option|choice) is)"),
    ("I", r"one that"),
    ("F", r"it (?:looks|seems|appears) (?:like|as if|that)"),
    ("m", r"listed (?:under|as)"),
    ("F", r"(?:exactly|precisely|just) what"),
    ("B", r"(?:one|two) off"),
    ("F", r"the one(?= (?:labell?ed|numbered|called|named|marked|listed|given) )"),
    ("n", r"(?:second|third|next)[ -]best"),
    ("X", r"number of"),
    ("A", r"a(?=\s?:)"),
]  # fmt: skip
_CJK: Final[list[tuple[str, str]]] = [
    ("N", "并不是|不是|并非|不|ではありません|ではない|じゃない|아니"),
    ("T", "而是|但是|但"),
    ("S", "因此|所以|故"),
    ("U", "或者|或"),
    ("K", "和|と"),
    ("A", "答案|选项|選項|答え|正解|정답|답"),
    ("P", "面板|パネル"),
    ("Q", "正确|正確|最终|缺失"),
    ("F", "的|은|는|입니다|です|번|号"),
    ("C", "是|为|為|は"),
]
_STEMS: Final = {
    "elimin": "E", "crosse": "E", "exclud": "E", "reject": "E", "discar": "E", "dismis": "E", "violat": "B",
    "contra": "B", "mismat": "B", "satisf": "Y",
    "ответ": "A", "ответа": "A", "odpowi": "A", "правил": "Q",
}  # fmt: skip
"""First six letters of words that bend."""

_KINDS: Final = {
    "n": "except excepting besides ignore skip forget unlike without than versus vs avoid avoids like",
    "O": "other else",
    "T": "but however although though whereas while yet nevertheless sondern mais pero",
    "R": "wait actually correction oops sorry instead nevermind edit revised correcting hmm",
    "S": "so therefore thus hence finally consequently overall conclusion ultimately accordingly namely ergo "
    "meaning daher",
    "J": "because since as given due based where when weil porque car parce",
    "D": "wish naive someone somebody tempting people if suppose supposing assume assuming whether unless "
    "imagine hypothetically",
    "M": "consider considering check checking try trying test testing let lets compare compared comparing "
    "examine examining look looking "
    "start starting begin beginning between evaluate verify",
    "U": "or alternatively maybe perhaps possibly otherwise either oder ou o или",
    "K": "and then und et",
    "N": "refuse refuses decline almost nearly partially partly doubt doubts not never neither nor "
    "cannot hardly barely nobody "
    "cant dont isnt wont doesnt aint pas nicht kein "
    "keine non não не",
    "Z": "no",
    "B": "far mistake wrong incorrect invalid inconsistent false bad impossible mistaken error break "
    "breaks broke broken "
    "decoy distractor trap least worst fail fails failed lacks misses "
    "differs deviates disagrees unlikely worse out nope incompatible",
    "1": "only solely exclusively",
    "Y": "good fit fits fitted fitting work works continue continues follow follows agree agrees consistent "
    "identical same exact exactly precisely valid "
    "remains left survives preserves obeys completes complete completing perfect perfectly winner wins "
    "yes matching does better",
    "L": "place insert put choose chooses choosing chose pick picks picked picking select selects "
    "selected selecting conclude "
    "concludes submit report "
    "return output say guess",
    "m": "require requires demands implies suggests match matches matched equals equal gives yields "
    "leaves leaving gets get indicates need needs reads",
    "C": "is are be being was were es est ist sei è é jest",
    "A": "answer answers ans opt response lösung вариант option options choice choices candidate candidates "
    "solution result boxed selection prediction possibility alternativa chosen "
    "respuesta réponse antwort risposta resposta yanıt cevap الإجابة الجواب उत्तर opción выбор вариант",
    "P": "panel panels panneau tafel index position",
    "Q": "final correct right missing best fehlende falta manquant correta proper true correcta correcto "
    "correcte richtige richtig",
    "X": "there step steps row rows column columns value values difference differences sum sums cell cells "
    "entry entries element elements total "
    "product increment delta size count score confidence probability length grid level figure example "
    "question problem line item case rule "
    "section page chapter equation constant base start range digit digits numbers attempt attempts tries "
    "turn time times minutes more less "
    "squared cubed plus minus cdot version part half twice double sign",
    "F": "the a an my our number no. n° will must should would likely probably definitely clearly certainly "
    "indeed just very surely simply "
    "obviously la le el der die das il id label labelled labeled numbered called "
    "named uh well also too equally",
    "I": "it that this which they these i we you me he",
}
_KIND: Final = {word: kind for kind, words in _KINDS.items() for word in words.split()}

_LETTER: Final = r"[^\W0-9_\u2460-\u2468\u2776-\u2792\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_TABLE: Final = [
    ("A", "उत्तर"),  # marks that are no letters to `re` would cut it
    ("JOINED", r"(?:answer|option|choice|panel)(?=[0-9])"),
    ("WORD", rf"{_LETTER}(?:{_LETTER}|[0-9])*+(?:'(?!s\b)\w++)?"),
    ("C", r"'s\b"),
    *_SIGNS,
    *_CJK,
]
_TOKEN: Final = re.compile("|".join(f"({pattern})" for _, pattern in _TABLE))
_IS_WORD: Final = 3
"""Number of the group of words in `_TOKEN`."""

_PHRASE: Final = re.compile("|".join(f"((?:{pattern})(?!\\w))" for _, pattern in _PHRASES))
_OPENS_PHRASE: Final = frozenset(
    [
        "almost",
        "it",
        "listed",
        "exactly",
        "if",
        "precisely",
        "two",
        "second",
        "third",
        "next",
        "any",
        "my",
        "no",
        "without",
        "beyond",
        "not",
        "uncertain",
        "unsure",
        "considering",
        "none",
        "every",
        "each",
        "any",
        "all",
        "nothing",
        "everything",
        "anything",
        "the",
        "other",
        "others",
        "nobody",
        "rather",
        "as",
        "apart",
        "instead",
        "except",
        "excepting",
        "scratch",
        "make",
        "i",
        "hold",
        "never",
        "on",
        "or",
        "in",
        "that",
        "which",
        "what",
        "how",
        "look",
        "looking",
        "rule",
        "ruled",
        "rules",
        "ruling",
        "n",
        "es",
        "off",
        "go",
        "going",
        "went",
        "gone",
        "settle",
        "settled",
        "opt",
        "opted",
        "vote",
        "corresponds",
        "correspond",
        "leads",
        "points",
        "found",
        "given",
        "completed",
        "shown",
        "identical",
        "same",
        "equal",
        "matched",
        "might",
        "may",
        "could",
        "some",
        "just",
        "would",
        "must",
        "should",
        "will",
        "has",
        "appears",
        "seems",
        "to",
        "most",
        "this",
        "one",
        "number",
        "a",
    ]
)
"""First words of `_PHRASES`."""


class Token(NamedTuple):
    """A word of a sentence: its kind, and the number it names.

    Kinds: ``G`` a number that can be a choice, ``A`` a word for a choice, ``P`` for a panel or a place,
    ``Q`` "correct", "missing", ``C`` a copula or colon, ``L`` "I choose", ``m`` "corresponds to", ``N`` a
    denial, ``n`` "other than", ``E`` an exclusion, ``B`` bad and ``Y`` good verdicts, ``O`` the other
    choices, ``1`` "only",
    ``D`` a supposition, ``M`` an examination, ``R`` a correction, ``S`` a conclusion, ``T`` a contrast,
    ``J`` a reason, ``U`` an alternative, ``K`` "and", ``X`` what else has numbers, ``I`` a pronoun, ``F``
    filler, ``W`` any other word; and punctuation.
    """

    kind: str
    value: int = 0
    word: bool = False
    text: str = ""


_W: Final = Token("W")
_TOKEN_OF: Final[dict[str, Token]] = {
    **{word: Token(kind, text=word) for word, kind in _KIND.items()},
    **{word: Token("G", n, True, word) for n, word in enumerate(_WORDS, 1)},
    **{word: Token("#", n, True, word) for n, word in enumerate(_NTH, 1)},
    **{
        word: Token("W", text=word)
        for word in (
            "to",
            "through",
            "thru",
            "as",
            "your",
            "for",
            "in",
            "with",
            "by",
            "another",
            "whichever",
            "whatever",
            "any",
            "alternative",
        )
    },
    **{word: Token("F", text=word) for word in ("i'll", "i'd", "we'll", "we'd", "i'm", "you'd")},
}
"""What a word is; any other one is ``W``."""


def tokens(text: str) -> list[Token]:
    """The tokens of a sentence in lower case, `clean`ed."""
    found = []
    match = _TOKEN.search(text)
    while match is not None:
        said, end = match[0], match.end()
        number = match.lastindex or 1
        if number == _IS_WORD:
            token = _TOKEN_OF.get(said)
            if said in _OPENS_PHRASE or "'" in said:
                phrase = _PHRASE.match(text, match.start())
                if phrase is not None:
                    end = phrase.end()
                    token = Token(_PHRASES[(phrase.lastindex or 1) - 1][0], text=phrase[0])
            if token is None:
                kind = _STEMS.get(said[:6], "W")
                token = _W if kind == "W" else Token(kind, text=said)
        else:
            token = _sign(_TABLE[number - 1][0], said)
        found.append(token)
        match = _TOKEN.search(text, end)
    return found


@lru_cache(maxsize=4096)
def kind_of(word: str) -> str:
    """The kind of a word by itself; "" for what is none, and for words that phrases begin or end with."""
    if not word.isalpha() or word in _OPENS_PHRASE or word in _ENDS_PHRASE:
        return ""
    token = _TOKEN_OF.get(word)
    return token.kind if token is not None else _STEMS.get(word[:6], "W")


_ENDS_PHRASE: Final = frozenset(
    ["with", "on", "for", "to", "in", "by", "as", "of", "out", "from", "except", "else", "thru", "through",
     "your", "number", "meant", "say"]
)  # fmt: skip


def _sign(kind: str, said: str) -> Token:
    match kind:
        case "G" if said[0] == "0" and len(said) > 1:
            return _W
        case "G":
            return Token("G", int(said) if len(said) < 10 else 10**9)
        case "KEYCAP":
            return Token("G", int(said[0]))
        case "CIRCLED":
            return Token("G", _DIGITS[said])
        case "NTH":
            return Token("#", int(said[:-2]), True, said)
        case "JOINED":
            return Token("P" if said == "panel" else "A", text=said)
        case _:
            return Token(kind, text=said)


_SWAPS: Final[tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    ("<", re.compile(r"<(del|s|strike)>(.{0,200}?)</\1>"), r" not \2 , instead "),
    ("<", re.compile(r"<(?:final[ _-]?)?(?:answer|solution|result|response|choice|output)>"), " answer: "),
    (
        "<",
        re.compile(
            r"</(?:(?:final[ _-]?)?(?:answer|solution|result|response|choice|output)|p|div|li|td)>|<br ?/?>"
        ),
        " ; ",
    ),
    ("<", re.compile(r"<(?:wrong|incorrect|rejected|eliminated|not)\b[^<>\n]{0,40}+>"), " not "),
    ("<", re.compile(r"</?[a-z][^<>\n]{0,80}+>|<<|>>"), " "),
    ("~~", re.compile(r"~~(.{1,200}?)~~"), r" not \1 , instead "),
    ("\\", re.compile("~"), " "),
    ("\\", re.compile(r"\\[()]"), " "),
    ("[/", re.compile(r"\[/\w{1,20}\]"), " "),
    ("&", re.compile(r"&(?:nbsp|lt|gt|quot|ensp|emsp);"), " "),
    ("\\", re.compile(r"\\(?:neq|ne|not=?)(?![a-z])"), " not "),
    ("\\", re.compile(r"\\(?:cdot|times|div|over|pm)(?![a-z])"), "×"),
    ("\\", re.compile(r"\\(?:to|rightarrow|longrightarrow|implies|mapsto)(?![a-z])"), " : "),
    ("\\", re.compile(r"\\(?:boxed|fbox|framebox)"), " boxed "),
    ("\\", re.compile(r"\\therefore(?![a-z])"), " so "),
    (
        "\\",
        re.compile(
            r"\\(?:text[a-z]{0,8}|math[a-z]{0,8}|left|right|underline|quad|qquad|bf|rm|emph|begin|end|[,;! ])"
        ),
        " ",
    ),
    ("*", re.compile(r"(?<=[0-9]) ?\*\*? ?(?=[0-9])"), "×"),
    ("[", re.compile(r"\[[0-9. -]++(?:,[0-9. -]++){2,}+\]"), " values "),
    ("_", re.compile(r"(?<=[0-9])_(?=[0-9])"), "x"),
    ("!=", re.compile("!="), " not "),
    ("!", re.compile(r"(?:^|(?<=\s))!\s?(?=[0-9])"), " not "),
    (">", re.compile(r"[-=]{1,3}>"), " : "),
    ("(1", re.compile(r"\(1 ?(?:-|–|to) ?8\)"), " "),
    ("", re.compile(r"(?<=[a-z0-9:]) ?(?:[<>≤≥≈]=?|~) ?(?=[0-9]++(?!>))"), " than "),
    ("not", re.compile(r"\bnot only\b"), " "),
)
_CHARACTERS: Final = str.maketrans(
    {
        **dict.fromkeys('*`$"“”„«»{}[]#\\<>【】「」『』_\u200b\u200c\u200d\u2060\ufeff\u00a0', " "),
        **dict.fromkeys("→➡⇒⟹⟶👉➜", ":"),
        "’": "'",
        "‘": " ",
        "∴": " so ",
    }
)  # fmt: skip


def clean(text: str) -> str:
    """A sentence without markup; what struck out or unequal marks say becomes "not"."""
    for mark, pattern, instead in _SWAPS:
        if mark in text:
            text = pattern.sub(instead, text)
    return text.translate(_CHARACTERS)
