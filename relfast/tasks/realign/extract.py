r"""Extract the steps and the final answer of solutions: of responses and of references.

`parse_steps` and `extract_boxed_answer` behave like the published functions; under ``strict`` the answer
is the content of the last box, tag or label (`read_final_answer`). Linear time; never raises.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from relfast_kernels.text.form_table import BOX_TOKENS, BOXES, COUNTING, LANGUAGES, POWERS, TAGS

from relfast.answers import same_answer
from relfast.answers.reading import MAX_CHARS, read
from relfast.records import Extracted, Options, Record
from relfast.tasks.reasoning import last_form, read_strictly, strip_reasoning

OPENING: Final = "\\boxed{"

# The scan for a closing brace ends at the next brace, and every `\boxed{` has one: linear in the text.
FLAT: Final = re.compile(r"\\boxed\{([^{}]*+)\}")
_BRACE: Final = re.compile(r"[{}]")


def extract_boxed_answer(text: str) -> str | None:
    r"""The content of the first ``\boxed{…}`` without braces inside; if there is none, of the first box,
    up to its matching brace.

    None if there is no box, or the first one is never closed.
    """
    if OPENING not in text:
        return None
    if flat := FLAT.search(text):
        return flat[1]
    start = text.index(OPENING) + len(OPENING)
    end = closing(text, start)
    return None if end < 0 else text[start:end]


def equals_as_published(gold: str | None, pred: str | None) -> bool:
    """ReAlign's symbolic correctness: both answers are present, not empty, and equal without spaces."""
    return bool(gold) and bool(pred) and without_spaces(gold) == without_spaces(pred)


def without_spaces(answer: str | None) -> str:
    return "" if answer is None else answer.replace(" ", "")


def closing(text: str, start: int) -> int:
    """Index of the brace that closes the one before index ``start``, or -1."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return -1


HEADERS: Final = ("sure", "here is")
"""A line that starts with one of these, in any case, is not a step ("Surely, …" neither, as published)."""

MIN_STEP_CHARS: Final = 2

MAX_STEPS: Final = 2048
"""Maximum steps of a solution. The longest of 2,624 real solutions has 119; 300,000 lines of two
characters would need as many embeddings and a table of 3·10⁵ × n cells."""

# Possessive quantifiers: no backtracking. `\d` and `\s` match Unicode digits and blanks, as published.
_NUMBERING: Final = re.compile(r"(?:Step\s++)?+\d++[.:)]\s*+")
_BRACKETED: Final = re.compile(r"\([a-zA-Z0-9]++\)\s*+")
_BLANKS: Final = re.compile(r"\s++")


def parse_steps(text: str) -> list[str]:
    """Split a solution into steps: its lines in order, without headers ("Sure, …") and nearly empty lines.

    From each line one leading ``Step 3:``, ``3.`` or ``3)`` and then one leading ``(a)`` is removed.
    """
    steps = []
    for raw in text.split("\n"):
        line = raw.strip()
        # the rest of the loop only shortens lines, so a line that is too short is skipped at once
        if len(line) < MIN_STEP_CHARS:
            continue
        # checking the first character rules most lines out: 10 MB of short lines take a third of the time
        first = line[0]
        if first in "sShH" and line[:7].lower().startswith(HEADERS):
            continue
        if (first == "S" or first.isdecimal()) and (number := _NUMBERING.match(line)):
            line = line[number.end() :]
        if line.startswith("(") and (bracket := _BRACKETED.match(line)):
            line = line[bracket.end() :]
        if len(line) >= MIN_STEP_CHARS:
            steps.append(line)
    return steps


def without_repeats(steps: Sequence[str], reference: Iterable[str]) -> list[str]:
    """The steps without those that repeat an earlier step word for word.

    A step may occur as often as in the reference, so that a step which the reference repeats ("x = 4") is
    kept. Case, spacing and punctuation at the ends do not matter.
    """
    left = Counter(map(_wording, reference))
    kept = []
    seen: set[str] = set()
    for step in steps:
        wording = _wording(step)
        if wording not in seen or left[wording] > 0:
            kept.append(step)
        left[wording] -= 1
        seen.add(wording)
    return kept


def _wording(step: str) -> str:
    return _BLANKS.sub(" ", step).strip(" .,;:!").casefold()


_NUMBER: Final = (
    r"(?:[-−+]\s?)?(?:\\?\$\s?)?(?:\\[dct]?frac\s?\{[^{}\n]{1,40}\}\s?\{[^{}\n]{1,40}\}"
    r"|\d[\d,]*+(?:\.\d++)?(?:\s?/\s?\d++)?|\.\d++)(?:\s?\\?%)?"
)
_QUANTITY: Final = re.compile(_NUMBER)
_LEADING: Final = re.compile(
    rf"[\s$*_]*+({_NUMBER})[$*_]*+(?=\s*+(?:[,;:(–—]\s*+)?[^\W\d_]{{2}})"
    rf"(?!\s*+(?:[,;]\s*+)?(?:{'|'.join(f'{LANGUAGES[0].joins} {COUNTING} {POWERS}'.split())})\b)"
)
"""A number at the beginning, followed by words: "18 dollars a day", not "4 or 6", "4 to 6" or "4 squared"."""

_IN_BRACES: Final = r"((?:[^{}\n]|\{[^{}\n]{0,80}\}){1,200})"
_IN_ANGLES: Final = r"\s?([^<>\n]{1,200})\s?"
_OPTIONS: Final = r"(?:\s?\[[^\[\]\n]{0,80}\]|\{[^{}\n]{0,80}\}(?=\{)){0,3}"
_BOX_OPENS, _BOX_CLOSES = map(re.escape, BOX_TOKENS)
_HELD: Final = (
    rf"\\(?:{'|'.join(BOXES.split())}){_OPTIONS}\s?\{{{_IN_BRACES}\}}"
    rf"|<(?:{'|'.join(TAGS.split())})>{_IN_ANGLES}</[a-z_]{{1,20}}>"
    rf"|{_BOX_OPENS}{_IN_ANGLES}{_BOX_CLOSES}"
)
_JOINS: Final = "|".join(
    rf"(?<!\w){join}(?!\w)" if join < "\u2e80" else join
    for join in " ".join(language.joins for language in LANGUAGES).split()
)
_BESIDE: Final = re.compile(
    rf"(?:{_HELD})[ \t$*\\)]{{0,6}}(?:[,;/&]|{_JOINS})[ \t$*\\(/]{{0,6}}(?:{_JOINS})?[ \t$*\\(]{{0,6}}$",
    re.IGNORECASE,
)
"""A box or tag right before another one: if their values differ, neither is the final answer."""


class FinalAnswer(NamedTuple):
    """The final answer of a text as written (None if there is none), what of it is compared (a label's answer
    may go on: "4, since 2 + 2 = 4"), and the code of why there is none."""

    text: str | None
    value: str = ""
    reason: str | None = None


def read_final_answer(text: str, *, reference: bool = False) -> FinalAnswer:
    """The final answer of a text by the rules of ``strict``.

    Parameters
    ----------
    reference
        The text is a reference: without a marked answer, the last number of its last line is the answer.
    """
    form = last_form(text, keep_commands=True)
    if form is not None:
        value = _of_label(form.content) if form.kind == "label" else form.content
        beside = _BESIDE.search(text, max(0, form.start - 300), form.start)
        if beside is not None and not reference and not same_answer(value, beside[beside.lastindex or 0]):
            return FinalAnswer(None, reason="several_answers")
        if len(value) > MAX_CHARS or read(value).spelled:
            return FinalAnswer(form.content, value)
    if reference:
        numbers = _QUANTITY.findall(text.strip().rsplit("\n", 1)[-1])
        if numbers:
            return FinalAnswer(numbers[-1], numbers[-1].rstrip(","))
    return FinalAnswer(None, reason="no_answer")


def _of_label(text: str) -> str:
    """The answer behind a label: a number without the words behind it, or all of it."""
    found = None if read(text).is_number else _LEADING.match(text)
    return text if found is None else found[1].rstrip(",")


class Solution(NamedTuple):
    """A solution's steps, in order, and its final answer: the boxed one, or any marked one (``strict``).
    ``value``, set under ``strict`` only, is what of it is compared."""

    steps: list[str]
    answer: str | None
    value: str = ""


NOTHING: Final = Solution([], None)

MAX_STRICT_STEPS: Final = 400
"""Maximum steps of a response under ``strict``. The longest of 2,624 real solutions has 86, the longest
reference 28. Eight responses with 2,000 lines took 16 s of a training step before their time was up."""

MAX_STRICT_CHARS: Final = 50_000
"""Maximum characters of a response outside its reasoning under ``strict``, for the same reason; the
longest real one has 10,421."""

GOLD_FIELDS: Final = ("benchmark_solution", "solution", "benchmark_steps")
"""Fields of gold that may have the reference; the first one present counts."""


def read_response(response: Any, options: Options) -> Extracted[Solution]:
    """The `Solution` of a response, by the options' policy.

    Under ``strict`` its answer is that of `read_final_answer`.
    """
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is None and len(text) > MAX_STRICT_CHARS:
            reason = "too_long"
        if reason is not None:
            return Extracted(NOTHING, found=False, reason=reason)
        steps = parse_steps(text)
        if len(steps) > MAX_STRICT_STEPS:
            return Extracted(NOTHING, found=False, reason="too_many_steps")
        answer = read_final_answer(text)
        solution = Solution(steps, answer.text, answer.value)
        return Extracted(solution, found=answer.reason is None, reason=answer.reason)
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"llm_solution is {type(response).__name__}, not text")
    text = strip_reasoning(response, options.reasoning) if options.strip_reasoning else response
    solution = Solution(parse_steps(text), extract_boxed_answer(text))
    if len(solution.steps) > MAX_STEPS:
        return Extracted(NOTHING, found=False, error=_too_many("llm_solution", len(solution.steps)))
    return Extracted(solution, found=bool(solution.steps))


def read_reference(record: Record, options: Options) -> Solution | str:
    """The reference solution of a record, or an error message that names the unusable field.

    Under ``strict`` gold's field ``final_answer``, if present, is the final answer.
    """
    answer = record.answer
    if not isinstance(answer, Mapping):
        return f"answer must be an object with benchmark_solution, got {type(answer).__name__}"
    field = next((name for name in GOLD_FIELDS if answer.get(name) is not None), None)
    if field is None:
        return "benchmark_solution is missing"
    value = answer[field]
    if field == "benchmark_steps":
        if not isinstance(value, list | tuple) or not all(isinstance(step, str) for step in value):
            return "benchmark_steps must be a list of texts"
        steps, text = list(value), "\n".join(value)
    elif isinstance(value, str):
        steps, text = parse_steps(value), value
    else:
        return f"{field} must be text, got {type(value).__name__}"
    if len(steps) > MAX_STEPS:
        return _too_many(field, len(steps))
    if options.strict:
        if not steps:
            return f"{field} has no steps"
        final = _stated(answer.get("final_answer")) or _of_reference(text)
        if not final.value:
            return f"{field} has no final answer; say it as final_answer"
        return Solution(steps, final.text, final.value)
    return Solution(steps, extract_boxed_answer(text))


_of_reference: Final = lru_cache(maxsize=1024)(partial(read_final_answer, reference=True))
"""`read_final_answer`, cached: a reference is read once for all responses to its problem."""


def _stated(answer: object) -> FinalAnswer | None:
    """Gold's field ``final_answer``, a text or a number, as a `FinalAnswer`; None if it is anything else."""
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return None
    return FinalAnswer(str(answer), str(answer).strip())


def _too_many(field: str, count: int) -> str:
    return f"{field} has {count} steps; at most {MAX_STEPS} are aligned"
