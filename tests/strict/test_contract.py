"""The contract of docs/strict.md: documented forms are read in any dress, the end decides, one answer is read."""

from __future__ import annotations

import itertools
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import pytest
from corpora import (
    DATA,
    boxed_choices,
    chemistry_responses,
    naughty_strings,
    real_choices,
    rel_records,
    solutions,
)
from relfast_kernels.text.form_table import FORMS, LANGUAGES
from seeds import SEED, fresh
from strict.corpus import FAMILIES, WORKING

import relfast
from relfast.tasks.reasoning import last_form, read_strictly

# the documented forms in the dresses that models put on them, which change what a reader sees in no way: one of `AROUND` is
# put around a whole form (a quotation, a list mark, reasoning before it), one of `EACH_LINE` on each of its lines that a
# mark of markdown or JSON does not open, one of `VALUE` on the value alone


Dress = Callable[[str], str]

AROUND: Final[dict[str, Dress]] = {
    "blank lines": lambda form: f"\n\n{form}\n\n\n",
    "CRLF": lambda form: form.replace("\n", "\r\n") + "\r\n",
    "trailing blanks": lambda form: f"{form}  \n ",
    "byte order mark": lambda form: f"\ufeff{form}",
    "zero width": lambda form: f"\u200b{form}\u200b",
    "no-break space": lambda form: f"\u00a0{form}\u00a0" if _is_inline(form) else form,
    "working": lambda form: f"{WORKING}{form}",
    "a heading before": lambda form: f"## Step 3: compare\n\n{WORKING}{form}",
    "a list before": lambda form: f"1. Row 1 has 3.\n2. Row 2 has 5.\n\n{form}",
    "a rule before": lambda form: f"{WORKING}---\n\n{form}",
    "a table before": lambda form: f"| row | sum |\n|---|---|\n| 1 | 7 |\n\n{form}",
    "code before": lambda form: f"```python\nanswer = 3\nprint(answer)\n```\n\n{form}",
    "an earlier answer": lambda form: f"Answer: 3\n\nNo, I mean:\n\n{form}",
    "a fence before": lambda form: f"```\nx = 4\n```\n\n{form}",
    **FAMILIES,
    "paragraph": lambda form: f"<p>{form}</p>" if _is_inline(form) else form,
    "div": lambda form: f"<div>{form}</div>" if _is_inline(form) else form,
    "centred": lambda form: f"<center>\n{form}\n</center>" if _is_inline(form) else form,
    "list item": lambda form: f"- {form}" if _is_inline(form) else form,
    "star item": lambda form: f"* {form}" if _is_inline(form) else form,
    "indented": lambda form: f"  {form}" if _is_inline(form) else form,
    "decomposed": lambda form: unicodedata.normalize("NFD", form),
    "quotation": lambda form: "\n".join(f"> {line}".rstrip() for line in form.split("\n")),
}

EACH_LINE: Final = (
    *("**X**", "*X*", "***X***", "__X__", "<b>X</b>", "<strong>X</strong>", "<em>X</em>"),
    '<span style="color:red">X</span>',
)
VALUE: Final = (
    *("**X**", "*X*", "`X`", "**`X`**", "<strong>X</strong>", "<b>X</b>", "<code>X</code>"),
    *("\u200bX\u200b", "X\ufe0f"),
    *(r"\text{X}", r"\textbf{X}", r"\mathrm{X}", "$X$", r"$\text{X}$", r"\text{\textbf{X}}"),
)


def forms(value: str, kinds: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Every example of the table's rows of some kinds with a value: the example, and the text."""
    for form in FORMS:
        if form.kind in kinds:
            for example in form.examples:
                yield example, example.format(X=value)


def dressed(value: str, kinds: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Every form in every dress: the example, the dress and the text."""
    for example, form in forms(value, kinds):
        for name, dress in AROUND.items():
            yield example, name, dress(form)
        for dress in EACH_LINE:
            lines = (dress.replace("X", line) if _takes(line) else line for line in form.split("\n"))
            yield example, dress, "\n".join(lines)
    for dress in VALUE:
        for example, form in forms(dress.replace("X", value), kinds):
            if '"' not in example or "\\" not in form:  # a backslash in JSON is an escape
                yield example, dress, form


def _is_inline(form: str) -> bool:
    return "\n" not in form and _takes(form)


def _takes(line: str) -> bool:
    """Whether marks around a line do not end what markdown or JSON makes of it."""
    return bool(line) and not line.startswith(("#", "|", "{", "`")) and "**" not in line


MARKED: Final = frozenset({"box", "tag", "label"})
ALL: Final = MARKED | {"line"}

DECIDED: Final = tomllib.loads((DATA / "strict" / "decided.toml").read_text("utf-8"))


class Reader(NamedTuple):
    """A task with values that its forms may hold, and the kinds of forms that it reads."""

    task: str
    values: tuple[str, ...]
    kinds: frozenset[str] = ALL

    def record(self) -> dict[str, Any]:
        records = rel_records(self.task)
        return next(one for one in records if one["answer"].get("label", "yes").lower() == "yes")


READERS: Final = {
    reader.task: reader
    for reader in (
        Reader("REL-A1", ("1", "4", "8")),
        Reader("REL-A3", ("Answer 7", "option 2", "(5)")),
        Reader("REL-B1", ("No", "Yes: 15, 49", "yes: taxon_3 and taxon_20")),
        Reader("REL-C1", ("Yes", "no", "<No>")),
        Reader("REL-C2", ("CCOc1ccccc1", "O=C(N)C1CC1"), MARKED),
    )
}
MORE: Final = "because"
"""In an example that has more behind its value, where a motif's form holds nothing but one SMILES."""
WILD: Final = "*X*"
"""A dress that is no dress around a SMILES: ``*`` is an atom."""


def read(task: str, texts: Sequence[str]) -> list[tuple[Any, str | None]]:
    """What strict reads of responses, and why it reads nothing."""
    record = READERS[task].record() if task in READERS else rel_records(task)[0]
    rows = [{**record, "response": text} for text in texts]
    found = []
    for score in relfast.score(rows, policy="strict", details=True, workers=0):
        metrics = score.metrics
        if task == "REL-B1" and metrics["pred_label"] is not None:
            value = metrics["pred_label"], tuple(sorted(map(str, metrics["pred_taxa"] or ())))
        else:
            value = metrics.get("pred")
        found.append((value if score.status == "ok" else None, metrics["reason"]))
    return found


def examples(reader: Reader, value: str) -> list[str]:
    return [text for example, text in forms(value, reader.kinds) if _holds(reader, example)]


def _holds(reader: Reader, example: str, dress: str = "") -> bool:
    return reader.task != "REL-C2" or (MORE not in example and dress != WILD)


@pytest.mark.parametrize("task", READERS)
def test_documented_forms_are_read_in_every_dress(task: str) -> None:
    reader = READERS[task]
    assert len(AROUND) + len(EACH_LINE) + len(VALUE) >= 50
    lost, n = [], 0
    for value in reader.values:
        ((wanted, _),) = read(task, [f"\\boxed{{{value}}}"])
        assert wanted is not None, value
        tried = [each for each in dressed(value, reader.kinds) if _holds(reader, *each[:2])]
        for (example, dress, text), (found, reason) in zip(
            tried, read(task, [each[2] for each in tried]), strict=True
        ):
            n += 1
            if found != wanted:
                lost.append(f"{dress}: {example!r}: {text!r} is {found} ({reason}), not {wanted}")
    print(f"{task}: {len(lost)} of {n} lost")
    assert not lost, "\n".join([f"{len(lost)} of {n}", *lost[:40]])


FULL_WIDTH: Final = {ord(char): chr(ord(char) + 0xFEE0) for char in map(chr, range(0x21, 0x7F))}
SPELLED: Final[dict[str, Dress]] = {
    "as it is": str,
    "capitals": str.upper,
    "title case": str.title,
    "full width": lambda text: text.translate(FULL_WIDTH),
    "full-width capitals": lambda text: text.upper().translate(FULL_WIDTH),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "decomposed capitals": lambda text: unicodedata.normalize("NFD", text.upper()),
}


def test_every_label_is_read_in_every_spelling() -> None:
    tried = {
        spell(f"{label}: 4"): f"{language.name}, {name}"
        for language in LANGUAGES
        for label in language.labels.split()
        for name, spell in SPELLED.items()
    }
    found = zip(tried.items(), read("REL-A1", list(tried)), strict=True)
    assert not [(text, of, reason) for (text, of), (value, reason) in found if value != 3]


HOSTILE: Final = [
    "```\ncode", "~~~\nx", "~~struck", "**bold", "<b>", "<del>", "<!--", "\\boxed{", "\\boxed{3}", "\\boxed{3} or", "<answer>", "<answer>3", "<|end_of_box|>", "<|begin_of_box|>3<|end_of_box|><|end_of_box|>",
    "Answer:", "Answer: 3 or", "Answer: 3\nor", "The answer is not", "It is not the case that", '{"answer": ', '{"answer": 3}', '"', "$",
    "$$", "\\[", "\\text{", "| Answer |", "| Answer | 3 |", "> quote", "- ", "1. ", "# ", "## Answer", "`", "not", "<smiles>", "<smiles>CC",
    "<Yes>", "<No> or", "Taxa: 3, 20", "Yes: 3, 20", "No", "3?", "4 / 6", "(", "[", "{", "\\", "&lt;", "答案：3", "答案", "e.g.", "~~Answer: 3~~",
    "    code", "\t", "\u200b", "\ufeff", "\u202e", "If the answer is 3", "wait, no.", "Final list:", "['start: A1'", "<details>", "</think",
]  # fmt: skip


def prefixes() -> list[str]:
    """Real and hostile texts, none of which ends within reasoning: 1,000 under ``make fuzz``, 400 by day."""
    rng, n = fresh(41), 60 if SEED is None else 260
    real = [
        *(row["response"] for row in rng.sample(real_choices(), n)),
        *(row["llm_solution"] for row in rng.sample(solutions(), n)),
        *(row["response"] for row in rng.sample(chemistry_responses(), n)),
    ]
    texts = [*real, *HOSTILE, *naughty_strings()]
    return [text for text in texts if (read_strictly(f"{text}\n\nX")[0] or "").endswith("X")]


@pytest.mark.fuzz
@pytest.mark.parametrize("task", READERS)
def test_the_end_decides(task: str) -> None:
    """``read(w + "\\n\\n" + F) == read(F)``: no text before a marked form changes what is read."""
    reader = READERS[task]
    before, rng = prefixes(), fresh(42)
    assert len(before) >= (400 if SEED is None else 1000)
    some = [text for value in reader.values for text in examples(reader, value)]
    alone = dict(zip(some, read(task, some), strict=True))
    tried = [
        (text, form)
        for text in before
        # short ones cost little: `make fuzz` tries every form with them, with long ones a few
        for form in (
            alone
            if len(text) < 80 and SEED is not None
            else rng.sample(list(alone), 12 if len(text) < 80 else 6)
        )
    ]
    found = read(task, [f"{text}\n\n{form}" for text, form in tried])
    moved = [
        f"{form!r} is {now}, not {alone[form]}, behind {text[-80:]!r}"
        for (text, form), now in zip(tried, found, strict=True)
        if now != alone[form]
    ]
    assert not moved, "\n".join([f"{len(moved)} of {len(tried)}", *moved[:40]])


@pytest.mark.parametrize(("task", "golds"), [("REL-A1", range(8)), ("REL-C1", ("Yes", "No"))])
def test_at_most_one_gold_is_paid(task: str, golds: Sequence[Any]) -> None:
    """One commitment: over all golds of a task a response, hedge or not, earns 1 at most."""
    rng = fresh(43)
    values = READERS[task].values
    some = [text for value in values for text in examples(READERS[task], value)]
    between = [" or ", ", ", " and ", "\n", "\n\n", " / "]
    hedges = [rng.choice(between).join(pair) for pair in itertools.permutations(some, 2)]
    texts = [*rng.sample(hedges, 1500), *HOSTILE]
    texts += [row["response"] for row in rng.sample(real_choices(), 100)]
    key = "target" if task == "REL-A1" else "label"
    with relfast.Scorer(policy="strict") as scorer:
        earned = [scorer.rewards(task, [{key: gold}] * len(texts), texts) for gold in golds]
    for text, rewards in zip(texts, zip(*earned, strict=True), strict=True):
        assert sum(reward or 0.0 for reward in rewards) in (0.0, 1.0), text


_DRAFTS: Final = (
    "<think>{}",
    "<think>{}</think>",
    "<think>a</think><think>{}",
    "{}\n\ud800",
    "\udfff{}",
    f"{'x' * 1_000_001}\n{{}}",
)
NO_ANSWER: Final[dict[str, tuple[str, ...]]] = {
    "REL-A1": (
        "", "  ", "I do not know.", "none", "Answer zero", "Answer 0", "Answer 9", "Answer 44", "Answer -1", "-4", "Answer 1.5", "Answer 4e5",
        "Answer 4_000", "Answer " + "9" * 5_000, "Answer " + "0" * 5_000 + "1", "0.9", "2024-01-04", "x4", "A4", "Answer \u0664", "\u2163",
        "an\u017fwer 4", "Answer", "1" * 9, "Answer 1-8", "Answer 1..8", "Answer 1 to 8", "1 2 3 4 5 6 7 8", "1, 4", "**Answer 1** / **Answer 4**",
        *(draft.format("Answer 1") for draft in _DRAFTS),
    ),
    "REL-B1": (
        "eyes 3, 20", "Bayesian analysis: 3, 20", "yesterday 3", "Yesno 3", "YES_NO 3", "now", "Nope", "phenomenon", "another", "nothing", "Y",
        "3, 20", "Yes/No 3, 20", "Yes or no: 3, 20", *(draft.format("Yes 3") for draft in _DRAFTS), *(draft.format("No") for draft in _DRAFTS),
    ),
    "REL-C1": (
        "<Yes> or <No>", "<Yes> / <No>", "<Ye\u017f>", "<N\u00ba>", "<Yes No>", "<Yes|No>", "<Yes or No>", "\\boxed{Yes or No}",
        "Answer: yes, no", "Nobody knows.", "", *(draft.format("<Yes>") for draft in _DRAFTS), *(draft.format("<No>") for draft in _DRAFTS),
    ),
}  # fmt: skip
"""Responses that are none, whatever gold is: other numbers and words, two answers in one, drafts, no texts."""


@pytest.mark.parametrize("task", NO_ANSWER)
def test_no_answer_is_read_of_what_has_none(task: str) -> None:
    question = READERS[task].record()["question"]
    texts = [*NO_ANSWER[task], question.strip().split("\n")[-1]]
    texts += [question] * (task != "REL-C1")  # which ends with the two answers
    found = zip(texts, read(task, texts), strict=True)
    assert not [text for text, (value, reason) in found if value is not None or not reason]


@pytest.mark.parametrize("task", DECIDED)
def test_decided_cases(task: str) -> None:
    """``tests/data/strict/decided.toml``: a response and what is read of it."""
    cases, wrong = DECIDED[task], []
    for (text, wanted), (value, reason) in zip(cases.items(), read(task, list(cases)), strict=True):
        shown = reason if value is None else str(value + 1) if isinstance(value, int) else str(value)
        if isinstance(value, tuple):  # REL-B1's label and taxa
            shown = ": ".join([value[0], *[", ".join(value[1])] * bool(value[1])])
            shown = f"{shown}, {reason}" if reason else shown
        if shown != wanted:
            wrong.append(f"{text!r} is {shown}, not {wanted}")
    assert not wrong, "\n".join(wrong)


VALUES: Final = (
    "Answer: {}",
    "The answer is **{}**",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "<answer>{}",
    "答案：{}",
)
"""Forms whose value may have more behind it."""
ENDS: Final = (
    "because",
    "since",
    "when",
    "if",
    "where",
    "for",
    "so",
    "at",
    "with",
    ", as",
    "(since",
    "whenever",
)
OPERATORS: Final = ("+", "-", "−", "*", "/", "×", "÷", "^", "\\cdot", "\\times", "⋅", "·", "±", "\\pm")
OPERANDS: Final = (
    "(-1)",
    "x",
    "{x}",
    "\\frac{1}{2}",
    "\\sqrt{2}",
    "2.5",
    "y_1",
    "[3 + x]",
    "n, where n is small",
)
PROSE: Final = ("the third row fits", "a clear match", "I think so", "it is the only one")


def test_what_follows_a_value_is_not_read_but_an_expression_is_no_value() -> None:
    """From the rule's own words: a word that ends a value, or an operator before an operand or before prose."""
    wanted: dict[str, int | None] = {}
    for form in VALUES:
        for word in ENDS:
            wanted[form.format(f"4 {word} n = 3")] = 3
            wanted[form.format(f"12 {word} n = 3")] = None
        for operator, operand in itertools.product(OPERATORS, OPERANDS):
            wanted[form.format(f"4 {operator} {operand}")] = None
        if "box" not in form:  # which holds nothing but its value, and what ends one
            wanted |= dict.fromkeys(
                (form.format(f"4 {dash} {words}") for dash in "-–—" for words in PROSE), 3
            )
            wanted |= {form.format(f"4 {words}"): None for words in ("squared", "to 6", "times x", "plus 2")}
    wrong = [
        f"{text!r} is {value} ({reason})"
        for (text, value), (found, reason) in zip(wanted.items(), read("REL-A1", list(wanted)), strict=True)
        if found != value and not (value is None and reason == "several_answers")  # 4 / (2), side by side
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(wanted)}", *wrong[:40]])


def test_open_answers_are_found_where_choices_are() -> None:
    """One finder: in real outputs the form that holds a choice holds it as text, too."""
    rows = [
        row for row in real_choices()[::8] if "\\boxed" in row["response"] or "answer is" in row["response"]
    ]
    found = [(row["choice"], last_form(row["response"])) for row in rows]
    assert len(found) > 50
    assert not [(choice, form) for choice, form in found if form is None or str(choice) not in form.content]


def test_real_choices_are_read() -> None:
    """Those of other benchmarks' runs, and boxes of mathematical solutions that hold a choice."""
    read_of = [(row["response"], row["choice"]) for row in real_choices()]
    boxes = [(row["llm_solution"], int(row["pred"])) for row in boxed_choices()]
    for rows, most in ((read_of, 0.005), (boxes, 0.02)):
        lost = [
            f"{gold}: {value}, {reason}: …{text[-120:]!r}"
            for (text, gold), (value, reason) in zip(
                rows, read("REL-A1", [text for text, _ in rows]), strict=True
            )
            if value is None or value + 1 != gold
        ]
        print(f"real choices: {len(lost)} of {len(rows)} lost")
        assert len(lost) <= most * len(rows), "\n".join(lost)
