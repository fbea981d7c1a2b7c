"""What is known of the answer while sentences are read from the last one back.

What comes after a statement is explanation, unless it takes the statement back; what comes before it is
draft, unless it is still the same statement: two answers side by side, neither set above the other, are none.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.rel_a.numbers import names_a_choice
from relfast.tasks.rel_a.said import (
    DENIED,
    FITS,
    MENTIONED,
    N_CHOICES,
    PLACE,
    SEVERAL,
    SHORT,
    STATED,
    Said,
    Sentence,
)
from relfast.tasks.rel_a.sentence import read
from relfast.tasks.rel_a.skim import skim
from relfast.tasks.rel_a.units import MAX_PLAIN, Unit

_MAX_NEIGHBOURS: Final = 6
"""Sentences before the final statement that can belong to it."""

_ENUMERATED: Final = re.compile(r"^[ \t>*_#]*+\(?([0-9]{1,2})[.)]\s", re.MULTILINE)

_LISTED: Final = re.compile(
    r"(?:answer|option|choice|panel)\s?#?([1-8])[*_`\s]{0,4}(?:[:(|\[–—]|"
    r"-\s)(?![*_`\s]{0,4}(?:because|since|as)\b)"
)

LIST_ITEM: Final = re.compile(
    r"[*_`]{0,4}+(?:answer|option|choice) ?#?[1-8][*_`]{0,4}+[:(\[–—-][0-9.,:;*_`\[\](){}'\" +-]*+"
)
"""A choice's numbers after it, as the question lists them."""

_TAKES_BACK: Final = re.compile(
    r"[\W_]*+(?:(?:hmm|wait|oh|oops|actually|but|no|sorry|well|and|"
    r"on second thoughts?|on reflection)\b[\W_]*+){0,4}+"
    r"(?:(?:that|this|it|i|which|my|the|above)\b(?:\s(?:answer|choice|one|above|statement|previous|"
    r"last|first|before|response|reply)){0,3}"
    r"(?:'s|\sis|\swas|'m|\sam|\sseems|\slooks)?\s?(?:also|all|probably|clearly|completely|just)?\s?"
    r"(?:wrong|incorrect|mistaken|a mistake|an error|false|n't|not)(?:\s(?:right|correct|it|true|"
    r"the answer|my answer))?[\W_]*+$|"
    r"(?:that|this|it)(?:'s|\sis|\swas|\sdoes|\scan)?\s?(?:n't|n’t|not|cannot)\s(?:be\s)?(?:right|"
    r"correct|it\b|true|the answer|fit|match|work)|"
    r"(?:that|this|it|which)\s(?:isn|doesn|wasn|can)['’]t\s(?:be\s)?(?:right|correct|it\b|true|"
    r"the answer|fit|match|work)|"
    r"scratch (?:that|it)|never ?mind|(?:just )?kidding|jk\b|psych|(?:i )?(?:ignore|disregard|"
    r"forget)\s(?:that|this|it|the above|my|everything)|"
    r"i (?:take|took) (?:that|it) back|i lied|i (?:was|am) (?:joking|kidding)|i'm (?:joking|kidding)|"
    r"(?:that|this|it)(?:'s|\sis|\swas) (?:a|an) (?:lie|joke|mistake|error)|"
    r"i (?:made|was|got) (?:an? )?(?:mistake|error|wrong|it wrong)|"
    r"not[\W_]*+$)"
)

WAIT: Final = re.compile(
    r"[\W_]*+(?:(?:hmm+|actually|well|on second thoughts?|on reflection)[\W_]+)?"
    r"(?:wait|no\b(?=[\W_]*+(?:$|wait|[,.!]))|oops|hold on|correction)\b"
)

_CONFIRMS: Final = re.compile(
    r"\b(?:yes|confirmed|confirms|indeed|correct|verified|checks out|holds|consistent|double-?check|"
    r"verify|sure)\b"
)

_ERROR: Final = re.compile(
    r"[\W_]*+(?:that|this|it|i|which|my)\b[^:;,.]{0,30}\b(?:mistake|error|wrong|incorrect|mistaken)\b[\W_]"
)

_EXAMINES: Final = re.compile(r"[\W_]*+(?:check|checking|try|trying|test|testing|let's (?:check|try))\b")

_YES: Final = re.compile(
    r"[\W_]*+(?:yes|yep|correct|it (?:does|fits|matches|is))\b"
    r"(?!.{0,300}\b(?:maybe|perhaps|possibly|might|could|but|not|except|however)\b|.{0,300}n't)"
)
"""What answers a question for a choice."""

OR: Final = re.compile(
    r"[\W_]*+(?:(?:or|also|and|alternatively|maybe|perhaps|possibly|else|otherwise|if not)\b[\W_]*+)*+$"
)


class Walk:
    """What is known of the answer while sentences are read from the last one back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.final: Said | None = None
        self.final_unit: Unit | None = None
        self.final_sentence: Sentence | None = None
        self.last_line = 0
        self.weaker: dict[int, list[tuple[Said, bool]]] = {FITS: [], SHORT: [], MENTIONED: [], PLACE: []}
        self.denied: set[int] = set()
        self.verdicts: set[int] = set()
        self.alternatives: set[int] = set()
        self.talk: list[str] = []
        self.yes = False
        self.taken_back = False
        self.withdrawn = False
        self.neighbours = 0
        self._listed: frozenset[int] | None = None

    @property
    def listed(self) -> frozenset[int]:
        """The choices that the text describes one by one, if it does."""
        if self._listed is None:
            values = frozenset(int(match[1]) for match in _LISTED.finditer(self.text))
            self._listed = values if len(values) > 1 else frozenset()
        return self._listed

    def goes_on(self, unit: Unit) -> bool:
        """Take in a sentence; False once what comes before it cannot matter."""
        if self.final is not None:
            return self._neighbour(unit)
        text = unit.text
        yes, self.yes = self.yes, False
        if not names_a_choice(text):
            self._talk(text)
            self.yes = _YES.match(text) is not None
            return True
        denied = skim(text)
        if denied is not None:
            if not denied:
                self._talk(text)
            self.taken_back = self.taken_back and not denied
            self.denied.update(denied)
            return True
        if LIST_ITEM.fullmatch(text) is not None and self.listed:
            return True
        sentence = read(text)
        if unit.enumerated and not sentence.said:
            return True
        said = resolved(sentence)
        if yes and (said is None or said.force < SHORT) and (sentence.asks or _EXAMINES.match(text)):
            asked = {s.value for s in sentence.said}
            if len(asked) == 1:
                self.verdicts.update(asked)
                return True
        if said is not None and said.force == SHORT and _ERROR.match(text) is not None:
            said = said._replace(force=STATED, replaces=True)
        if said is None or said.force < STATED:
            if not sentence.said or WAIT.match(text):
                self._talk(text)
            elif self.taken_back:
                # "that is wrong" was said of this sentence
                self.taken_back = False
                self.denied.update(s.value for s in sentence.said if s.force >= SHORT)
                self._keep_denials(sentence)
                return True
            self._keep(sentence, said)
            return True
        if said.described and self.listed and said.value in self.listed:
            if said.force == STATED and _positive(sentence):
                self.verdicts.add(said.value)
            return True
        if self.taken_back and not any(map(_CONFIRMS.search, self.talk)):
            self.withdrawn = True
            return False
        if said.value in self.denied or (said.offers and sentence.asks):
            self.final = said._replace(value=SEVERAL)
            return False
        if self.alternatives - {said.value}:
            self.final = said._replace(value=SEVERAL)
            return False
        self.final, self.final_unit, self.final_sentence = said, unit, sentence
        self.last_line = unit.line
        if said.offers and not said.replaces:
            return True
        # a correction says what it corrects; nothing before it can matter
        return not (sentence.corrects or (sentence.concludes and not unit.whole_line))

    def _talk(self, text: str) -> None:
        if _TAKES_BACK.match(text) is not None:
            self.taken_back = True
        else:
            self.talk.append(text)
            if WAIT.match(text) is not None and _CONFIRMS.search(text) is None:
                self.taken_back = True

    def _keep(self, sentence: Sentence, said: Said | None) -> None:
        self._keep_denials(sentence)
        if said is not None and said.force in self.weaker:
            if said.described and self.listed:
                if said.force == FITS:
                    self.verdicts.add(said.value)
                return
            self.weaker[said.force].append((said, sentence.concludes))
        if any(s.offers for s in sentence.said) and (
            sentence.asks or (said is not None and said.force >= SHORT)
        ):
            self.alternatives.update(s.value for s in sentence.said)

    def _keep_denials(self, sentence: Sentence) -> None:
        self.denied.update(said.value for said in sentence.said if said.force == DENIED)

    def _neighbour(self, unit: Unit) -> bool:
        """Whether the sentence before the final statement belongs to it; two different answers are none."""
        final, final_unit, after = self.final, self.final_unit, self.final_sentence
        assert final is not None
        assert final_unit is not None
        assert after is not None
        self.neighbours += 1
        if self.neighbours > _MAX_NEIGHBOURS:
            return False
        same_line = unit.line == self.last_line
        if not same_line and not (final_unit.whole_line and after.plain) and not final.offers:
            return False
        if not names_a_choice(unit.text):
            if same_line:
                return _TAKES_BACK.match(unit.text) is None and WAIT.match(unit.text) is None
            return OR.match(unit.text) is not None
        if skim(unit.text) is not None:
            return same_line
        sentence = read(unit.text)
        said = resolved(sentence)
        if said is not None and said.force == PLACE and after.plain and final_unit.text.startswith("panel"):
            said = said._replace(force=STATED)  # two panels, one below the other
        if said is None or said.force < STATED:
            return same_line
        if said.value == final.value or sentence.asks:
            return said.value == final.value
        if said.value != SEVERAL and not 1 <= said.value <= N_CHOICES:
            return False
        if said.described and self.listed and said.value in self.listed:
            return False
        if not same_line and not final.offers:
            alike = unit.whole_line and len(unit.text) <= MAX_PLAIN and sentence.plain
            if not alike or said.boxed != final.boxed:
                return False
        if final.replaces and not final.offers and not (sentence.concludes and after.concludes):
            return False
        if after.concludes and not sentence.concludes and not final.offers:
            return False
        self.final = final._replace(value=SEVERAL)
        return False

    def answer(self) -> int | None:
        """The choice, `SEVERAL`, or None."""
        if self.final is not None:
            return self.final.value
        if self.withdrawn:
            return None
        if self.verdicts:
            return next(iter(self.verdicts)) if len(self.verdicts) == 1 else SEVERAL
        for force, said in self.weaker.items():
            if not said:
                continue
            (last, concludes), values = said[0], {one.value for one, _ in said}
            if force in (FITS, SHORT) and concludes:
                values = {last.value}
            if values & self.denied:
                values -= self.denied
                if not values:
                    continue
            return next(iter(values)) if len(values) == 1 else SEVERAL
        items = _ENUMERATED.findall(self.text)
        if len(items) == 1 and not self.taken_back:
            return int(items[0])  # "4. All panels are the same."
        return None


def _positive(sentence: Sentence) -> bool:
    return any(token.kind == "Y" or token.kind == "Q" for token in sentence.tokens)


def resolved(sentence: Sentence) -> Said | None:
    """The choice that a sentence settles on, if it says anything of any."""
    current: Said | None = None
    for said in sentence.said:
        if said.force == DENIED:
            if current is not None and current.value == said.value:
                current = None
            continue
        if said.force < MENTIONED:
            continue
        if current is None or said.force > current.force:
            if current is not None and current.force >= FITS and said.offers:
                said = said._replace(value=SEVERAL)
            current = said
        elif said.force == current.force or (said.offers and said.force >= SHORT):
            if said.value == current.value:
                continue
            if said.replaces and not said.offers:
                current = said
            elif said.force >= PLACE or said.force == current.force:
                current = current._replace(value=SEVERAL)
    return current
