"""Whether a final answer of mathematics is right: parsed, not matched; nothing is evaluated as code.

`tokens` splits an answer, `parser` makes a tree of it (its docstring has the grammar), `reading` says what a
text may mean, `comparing` and `evaluating` compare trees, `asking` heeds the question.
``docs/answers.md`` has what is decided and why.
"""

from __future__ import annotations

from relfast.answers.asking import form_matters, other_unit, restates
from relfast.answers.comparing import same
from relfast.answers.reading import MAX_CHARS, read

__all__ = ["same_answer"]


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
    right = same(read(gold), read(answer), evaluate=not form_matters(gold, question))
    return right and not restates(answer, gold, question) and not other_unit(answer, question)
