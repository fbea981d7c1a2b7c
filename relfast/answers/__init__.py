"""Whether a final answer of mathematics is right: parsed, not matched; nothing is evaluated as code.

`tokens` splits an answer, `parser` makes a tree of it (its docstring has the grammar), `reading` says what it
may mean, `comparing` and `evaluating` compare trees. What the question says is heeded here: the form it asks
for, the unit, and what would only repeat it. ``docs/answers.md`` has what is decided and why.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from relfast.answers.comparing import Comparison, same
from relfast.answers.reading import MAX_CHARS, read, trimmed
from relfast.answers.tokens import FAMILY, UNITS, tokens_of, words
from relfast.answers.trees import Named, Node, Relation

__all__ = ["same_answer"]

MAX_QUESTION: Final = 6_000
"""Characters of a question that are read."""
_MAX_FORMULAS: Final = 1_200
"""Characters of its formulas that are parsed."""
_FORMULA: Final = re.compile(r"\$([^$]{1,400})\$|\\\(((?:[^\\]|\\[^)]){1,400})\\\)")
_OPERATIONS: Final = words("+ - * / ^ ! % frac sqrt √ binom")
_UNREAD: Final = words("{ } * ( )")


def same_answer(gold: str, answer: str, question: str | None = None) -> bool:
    r"""Whether a final answer of mathematics equals the right one.

    Parameters
    ----------
    gold, answer
        LaTeX or plain text, as it stands in a box: ``\frac{1}{2}``, ``$x = 0.5$``, ``1/2 cm``. An answer of
        more than 400 characters equals itself only; an empty one equals nothing.
    question
        The question, if known. Then an answer is wrong that only repeats an expression of it, that is in
        another unit of money, mass or volume than those it names, or that has gold's value, but not its form,
        where the question states the value itself ("Factor $x^2-4$").

    Returns
    -------
    bool
        The same for the same texts, on every machine. It takes some 50 µs, and milliseconds at most, whatever
        the texts are, and raises nothing.

    Examples
    --------
    >>> same_answer(r"\frac{3}{4}", "0.75"), same_answer("(0, 1]", "0 < x \\le 1"), same_answer("4", "2+2")
    (True, True, False)
    """
    gold, answer = gold.strip(), answer.strip()
    if max(len(gold), len(answer)) > MAX_CHARS:
        return gold == answer
    if not question:
        return same(read(gold), read(answer))
    right = same(read(gold), read(answer), evaluate=not _form_matters(gold, question))
    return right and not _restates(answer, gold, question) and not _in_other_unit(answer, question)


def _form_matters(gold: str, question: str) -> bool:
    """Whether the question states gold in another form ("Factor x^2-4"): then equal value is not enough."""
    by_value, by_form = Comparison(evaluate=True), Comparison(evaluate=False)
    pairs = [(tree, one) for tree in read(gold).trees[:1] for one in _formulas(question)]
    return any(by_value.equal(*pair) and not by_form.equal(*pair) for pair in pairs)


def _restates(answer: str, gold: str, question: str) -> bool:
    """Whether an answer just repeats an expression of the question: 8/22 for "Simplify 8/22".

    It does if it has an operation in it, differs in writing from gold, and stands in the question: as a part
    of a formula, or as the same tokens.
    """
    written, wanted = _written(answer), _written(gold)
    repeated = set(read(answer).trees)
    decimal = {"frac", "/"} & set(wanted) and "." in "".join(written)  # where a fraction is asked
    operates = any(token.kind == "function" or token.text in _OPERATIONS for token in tokens_of(answer))
    if written == wanted or not (operates or decimal) or repeated & set(read(gold).trees):
        return False
    parts = {part for tree in _formulas(question) for part in _within(tree)}
    return bool(repeated & parts) or f" {' '.join(written)} " in f" {' '.join(_written(question))} "


def _in_other_unit(answer: str, question: str) -> bool:
    """Whether an answer's unit does not occur in the question, although another of the same kind does: 1,250
    cents if the question asks for dollars."""
    units, known = _units(answer), _units(question[:MAX_QUESTION])
    family = FAMILY[units[-1]] if units else "other"
    return family != "other" and units[-1] not in known and family in map(FAMILY.get, known)


def _units(text: str) -> list[str]:
    return [UNITS[token.text] for token in tokens_of(text) if token.kind == "word" and token.text in UNITS]


def _written(text: str) -> list[str]:
    return [token.text for token in trimmed(tokens_of(text[:MAX_QUESTION])) if token.text not in _UNREAD]


@lru_cache(maxsize=256)
def _formulas(question: str) -> tuple[Node, ...]:
    """The formulas of a question and the sides of its equations."""
    left, trees = _MAX_FORMULAS, list[Node]()
    for found in _FORMULA.finditer(question[:MAX_QUESTION]):
        text = (found[1] or found[2]).strip()
        left -= len(text)
        trees += read(text).trees if left >= 0 else ()
    return (*trees, *(side for tree in trees if isinstance(tree, Relation | Named) for side in tree.parts))


def _within(tree: Node) -> list[Node]:
    return [tree, *(one for part in tree.parts for one in _within(part))]
