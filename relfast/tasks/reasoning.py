"""Text of a response without the model's reasoning. Shared by every task; knows no benchmark.

`MARKS` is a table of how families of models open and close their reasoning, `TURN_ENDS` of what is left
at the end of a turn where special tokens were kept. One scanner reads both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Final, NamedTuple


class Mark(NamedTuple):
    """How reasoning opens and closes, in lower case: any case is recognised in a response."""

    open: str
    close: str


MARKS: Final = (
    Mark("<think>", "</think>"),  # DeepSeek-R1, Qwen3, QwQ, Nemotron, Hunyuan, GLM, MiniMax, Phi-4-reasoning
    Mark("<thinking>", "</thinking>"),  # Claude's prompts, Reflection
    Mark("<thought>", "</thought>"),  # EXAONE Deep, Gemini's exports
    Mark("<reasoning>", "</reasoning>"),  # GRPO's tutorials
    Mark("<reflection>", "</reflection>"),
    Mark("[think]", "[/think]"),  # Magistral
    Mark("◁think▷", "◁/think▷"),  # Kimi
    Mark("<seed:think>", "</seed:think>"),  # Seed-OSS
    Mark("<longcat_think>", "</longcat_think>"),  # LongCat
    Mark("<|start_thinking|>", "<|end_thinking|>"),  # Command A
    Mark("<|begin_of_thought|>", "<|end_of_thought|>"),  # Sky-T1, OpenThinker
    Mark("<unused94>", "<unused95>"),  # MedGemma
    Mark("<|channel>thought", "<channel|>"),  # Gemma 4
)

_FIRST: Final = "<[◁"
"""What all of `MARKS` and `TURN_ENDS` begin with."""

_MEANING: Final = {mark.open: (mark, True) for mark in MARKS} | {mark.close: (mark, False) for mark in MARKS}
_PATTERNS: Final = {
    # a literal to begin with: `re` looks for it as fast as for a character
    first: re.compile(
        re.escape(first) + "(?:" + "|".join(re.escape(w[1:]) for w in _MEANING if w[0] == first) + ")"
    )
    for first in _FIRST
}

_CHANNEL: Final = "<|channel|>"
_FINAL_CHANNELS: Final = ("<|channel|>final<|message|>", "<|channel|>final <|constrain|>")
_MESSAGE: Final = "<|message|>"
_BARE_ANALYSIS: Final = "analysis"
_BARE_FINAL: Final = "assistantfinal"
"""gpt-oss's channels, with special tokens and without."""
_CUT_WHILE_THINKING: Final = re.compile(_BARE_ANALYSIS + "[A-Z]")
"""The name of a channel with its first sentence; prose goes on from the word in another way."""

_RESPONSE_OPENS: Final = "<|start_response|>"

TURN_ENDS: Final = (
    "<|im_end|>",  # Qwen, ChatML
    "<|eot_id|>",  # Llama 3
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|return|>",  # gpt-oss
    "<|end|>",  # Phi, gpt-oss
    "<end_of_turn>",  # Gemma
    "<｜end▁of▁sentence｜>",  # DeepSeek
    "<|end_response|>",  # Command A
    "<|end_of_turn_token|>",
    "<seed:eos>",
    "<eos>",
    "</s>",  # Mistral, Llama 2
    "[eos]",
    "[|endofturn|]",  # EXAONE
    "<|user|>",  # GLM
    "<turn|>",  # Gemma 4
)

_BEGINNING: Final = 4
"""Letters of a mark that are looked for first: formulas have brackets, and answers tags, that are none."""


def _any_of(beginnings: Set[str]) -> str:
    """A pattern for what `lower` makes one of several texts of, none of them longer than the others."""
    following: dict[str, set[str]] = {}
    for text in sorted(beginnings):
        if text:
            following.setdefault(text[0], set()).add(text[1:])
    branches = [_in_any_case(character) + _any_of(rest) for character, rest in following.items()]
    return f"(?:{'|'.join(branches)})" if len(branches) > 1 else "".join(branches)


def _in_any_case(character: str) -> str:
    odd = {"i": "İ", "k": "\u212a"}
    if character.isalpha():
        return f"[{character}{character.upper()}{odd.get(character, '')}]"
    return re.escape(character)


_WORDS: Final = (*_MEANING, *TURN_ENDS, _CHANNEL, *_FINAL_CHANNELS, _RESPONSE_OPENS)
_BEGINNINGS: Final = {
    first: re.compile(re.escape(first) + _any_of({word[1:_BEGINNING] for word in _WORDS if word[0] == first}))
    for first in _FIRST
}

BEGINNINGS: Final = frozenset(word[:_BEGINNING] for word in _WORDS)
"""How all marks begin, in lower case: a text without any of these has no reasoning to strip but gpt-oss's."""

_LAST_OF_ENDS: Final = frozenset(end[-1] for end in TURN_ENDS)
"""Brackets, which have no case."""
_LONGEST_END: Final = max(map(len, TURN_ENDS))

MAX_STRICT_CHARS: Final = 1_000_000
"""Longest response that ``strict`` reads. Longer than any model's output window today (≈ 500 kB)."""


def lower(text: str) -> str:
    """The text in lower case, every character in its place.

    Patterns that know the case are several times faster than those that ignore it (2 kB: 10 µs for 100).
    ``İ`` is the one character whose lower case is longer than itself.
    """
    return text.lower() if text.isascii() else text.replace("İ", "I").lower()


@lru_cache(maxsize=64)
def _lowered(marks: tuple[tuple[str, str], ...]) -> tuple[Mark, ...]:
    return tuple(Mark(lower(opens), lower(closes)) for opens, closes in marks)


def strip_reasoning(text: str, more: tuple[tuple[str, str], ...] = ()) -> str:
    """The text outside of reasoning, without the marks at the end of a turn.

    An unclosed block reaches to the end. A closing mark without an opening one ends reasoning too (chat
    templates put the opening mark into the prompt), and all before it is dropped, unless nothing comes after
    it: then it is a slip, and the text before it is all there is. Linear time.

    Parameters
    ----------
    more
        Pairs of marks to know beside `MARKS`, in any case: the option ``reasoning``.
    """
    first = [character for character in _FIRST if character in text]
    if not (first or more or text.startswith(_BARE_ANALYSIS)):
        return text  # most texts, in a tenth of the time
    if first and not more and not _may_have_marks(text, first):
        return text
    lowered = lower(text)
    text, lowered = _final_message(text, lowered)
    end = end_of_turn(lowered)
    events = _events(lowered, first, _lowered(more) if more else (), end)
    if not events:
        return text if end == len(text) else text[:end]
    events.sort()
    last = _before_closing(lowered, events, end)
    parts: list[str] = []
    at = 0
    inside: Mark | None = None
    for start, stop, mark, opens in events:
        if start < at:
            continue
        if inside is not None:
            if mark == inside and not opens:
                inside, at = None, stop
        elif opens:
            parts.append(text[at:start])
            inside, at = mark, stop
        else:
            if start < last:
                parts.clear()
            else:
                parts.append(text[at:start])
            at = stop
    if inside is None:
        parts.append(text[at:end])
    return "".join(parts)


def _may_have_marks(text: str, first: Sequence[str]) -> bool:
    """Whether some mark's first letters are there, or gpt-oss's word at the beginning."""
    if lower(text[: len(_BARE_ANALYSIS)]) == _BARE_ANALYSIS:
        return True
    for character in first:  # noqa: SIM110 -- `any` takes a third longer
        if _BEGINNINGS[character].search(text) is not None:
            return True
    return False


def _events(
    lowered: str, first: Sequence[str], more: Sequence[Mark], end: int
) -> list[tuple[int, int, Mark, bool]]:
    """Where marks stand: start, end, mark, and whether it opens."""
    events = [
        (found.start(), found.end(), *_MEANING[found[0]])
        for character in first
        for found in _PATTERNS[character].finditer(lowered, 0, end)
    ]
    for mark in more:
        for word, opens in ((mark.open, True), (mark.close, False)):
            at = lowered.find(word, 0, end)
            while at >= 0:
                events.append((at, at + len(word), mark, opens))
                at = lowered.find(word, at + len(word), end)
    return events


def _before_closing(lowered: str, events: Sequence[tuple[int, int, Mark, bool]], end: int) -> int:
    """Where the text ends but for blanks and closing marks."""
    for start, stop, _, opens in reversed(events):
        if opens or lowered[stop:end].strip():
            break
        end = start
    return end


def _final_message(text: str, lowered: str) -> tuple[str, str]:
    """What a model with channels said in the final one; another model's text as it is."""
    if _CHANNEL in lowered:
        at = max(lowered.rfind(final) for final in _FINAL_CHANNELS)
        if at < 0:
            return "", ""
        at = lowered.find(_MESSAGE, at) + len(_MESSAGE) if _MESSAGE in lowered[at:] else len(text)
    elif lowered.startswith(_BARE_ANALYSIS):
        at = lowered.rfind(_BARE_FINAL)
        if at < 0:
            return ("", "") if _CUT_WHILE_THINKING.match(text) else (text, lowered)
        at += len(_BARE_FINAL)
    else:
        at = lowered.rfind(_RESPONSE_OPENS)
        if at < 0:
            return text, lowered
        at += len(_RESPONSE_OPENS)
    return text[at:], lowered[at:]


def end_of_turn(lowered: str) -> int:
    """Where the text ends but for blanks and marks of the end of a turn."""
    end = last = len(lowered)
    while True:
        while last and lowered[last - 1].isspace():
            last -= 1
        if not last or lowered[last - 1] not in _LAST_OF_ENDS or not lowered.endswith(TURN_ENDS, 0, last):
            return end
        found = next(mark for mark in TURN_ENDS if lowered.endswith(mark, 0, last))
        end = last = last - len(found)


def cut_turn(text: str) -> str:
    """The text without blanks and marks of the end of a turn behind it, if there is a mark."""
    said = text.rstrip() if text[-1:].isspace() else text
    # most texts have none, and are not copied; some end with a tag: "<Yes>"
    if said[-1:] not in _LAST_OF_ENDS or not lower(said[-_LONGEST_END:]).endswith(TURN_ENDS):
        return text
    return text[: end_of_turn(lower(text))]


def read_strictly(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> tuple[str, str | None]:
    """The final text of a response under ``strict``, or the reason why it is no answer.

    ``reasoning`` is the option of that name: marks to know beside `MARKS`.

    Returns
    -------
    (text, reason)
        ``reason`` is None where the text can be read, else one of ``not_text``, ``too_long``,
        ``lone_surrogate``, ``empty``, ``only_reasoning``.
    """
    if not isinstance(response, str):
        return "", "not_text"
    if len(response) > MAX_STRICT_CHARS:
        return "", "too_long"
    if not response.isascii():
        try:
            response.encode("utf-8")
        except UnicodeEncodeError:
            return "", "lone_surrogate"
    text = strip_reasoning(response, reasoning)
    if not text.strip():
        return "", "only_reasoning" if response.strip() else "empty"
    return text, None
