"""What the question says about its answer: the form it asks for, the unit, and what would only repeat it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from relfast.answers.comparing import Comparison
from relfast.answers.reading import read, trimmed
from relfast.answers.tokens import FAMILY, UNITS, tokens_of, words
from relfast.answers.trees import Named, Node, Relation

MAX_QUESTION: Final = 6_000
"""Characters of a question that are read."""
_MAX_FORMULAS: Final = 1_200
"""Characters of its formulas that are parsed."""
_FORMULA: Final = re.compile(r"\$([^$]{1,400})\$|\\\(((?:[^\\]|\\[^)]){1,400})\\\)")
_OPERATIONS: Final = words("+ - * / ^ ! % frac sqrt √ binom")
_UNREAD: Final = words("{ } * ( )")


def form_matters(gold: str, question: str) -> bool:
    """Whether the question states gold in another form ("Factor x^2-4"): then equal value is not enough."""
    by_value, by_form = Comparison(evaluate=True), Comparison(evaluate=False)
    return any(
        by_value.equal(tree, one) and not by_form.equal(tree, one)
        for tree in read(gold).trees[:1]
        for one in _formulas(question)
    )


def restates(answer: str, gold: str, question: str) -> bool:
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


def other_unit(answer: str, question: str) -> bool:
    """Whether an answer's unit does not occur in the question, although another of the same kind does: 1,250
    cents if the question asks for dollars."""
    units = _units(answer)
    if not units or (family := FAMILY[units[-1]]) == "other":
        return False
    known = _units(question[:MAX_QUESTION])
    return units[-1] not in known and family in map(FAMILY.get, known)


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
    sides = (tree.parts for tree in trees if isinstance(tree, Relation | Named))
    return (*trees, *(side for some in sides for side in some))


def _within(tree: Node) -> list[Node]:
    return [tree, *(one for part in tree.parts for one in _within(part))]
