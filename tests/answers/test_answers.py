"""`relfast.same_answer` against real pairs, cases made by hand, math-verify's verdicts, respelled and changed golds,
exact arithmetic and itself; and what it does with texts that were made to hurt it."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable
from fractions import Fraction

import corpora
import growth
import pytest
from answers.respelling import CHANGED, RESPELLED, golds
from hypothesis import example, given, settings
from hypothesis import strategies as st

import relfast
from relfast.answers import same_answer
from relfast.answers.evaluating import values
from relfast.answers.parser import parse
from relfast.answers.reading import MAX_CHARS, read, trimmed
from relfast.answers.tokens import tokens_of
from relfast.answers.trees import Apply, Group, Measured, Node, Number, Relation, Symbol, Words

GOLDS = golds()


def test_real_pairs_that_were_decided_by_reading() -> None:
    wrong = {True: [], False: []}  # type: dict[bool, list[tuple[str, str]]]
    for row in corpora.answer_pairs():
        if row.get("right") in (True, False):
            verdict = same_answer(row["gold"], row["answer"], row["question"])
            wrong[verdict] += [(row["gold"], row["answer"])] * (verdict != row["right"])
    assert wrong == {True: [], False: [("buyingusedphone", "buying a used phone")]}


def test_real_pairs_on_which_others_agree() -> None:
    differ = [
        (row["gold"], row["answer"])
        for row in corpora.answer_pairs()
        if row.get("right") is None and row["stored"] is row["math_verify"] is not None
        if same_answer(row["gold"], row["answer"]) != row["stored"]
    ]
    assert differ == []


@pytest.mark.parametrize("right", [True, False])
def test_pairs_made_by_hand(right: bool) -> None:
    wrong = [(gold, answer) for gold, answer, paid in corpora.answer_cases() if paid is right]
    assert [pair for pair in wrong if same_answer(*pair) != right] == []


def test_disagreements_with_math_verify_are_decided() -> None:
    """A row each: gold, answer, our verdict, and why it is right, arguable, or known to be wrong."""
    lines = (corpora.DATA / "answers/disagreements.tsv").read_text(encoding="utf-8").splitlines()
    decided = {tuple(line.split("\t")[:2]): line.split("\t")[2] == "+" for line in lines}
    found = {}
    for row in corpora.answer_pairs():
        verdict = same_answer(row["gold"], row["answer"], row.get("question"))
        if row["math_verify"] is not None and verdict != row["math_verify"]:
            found[row["gold"], row["answer"]] = verdict
    assert found == decided


@pytest.mark.parametrize("rule", RESPELLED)
def test_respelled_golds_are_paid(rule: str) -> None:
    pairs = [(gold, RESPELLED[rule](gold, random.Random(gold))) for gold in GOLDS]
    lost = [pair for pair in pairs if not same_answer(*pair)]
    assert len(lost) <= 0.013 * len(pairs), lost


@pytest.mark.parametrize("rule", CHANGED)
def test_changed_golds_are_not_paid(rule: str) -> None:
    changed = [(gold, CHANGED[rule](gold, random.Random(gold))) for gold in GOLDS]
    pairs = [(gold, answer) for gold, answer in changed if answer not in (None, gold)]
    paid = [pair for pair in pairs if same_answer(*pair)]
    assert len(pairs) > 20, "the rule fits nothing"
    assert len(paid) <= 0.015 * len(pairs) + 2, paid


# equality: reflexive, symmetric where no arithmetic is undone, and that of printed trees

_SIGNS = {"le": r" \le ", "ge": r" \ge ", "ne": r" \ne ", "approx": r" \approx ", "in": r" \in "}


def printed(tree: Node) -> str:
    """A tree in LaTeX, with all brackets and signs."""
    parts = [printed(part) for part in tree.parts]
    match tree:
        case Number(value):
            return f"({value})" if value < 0 else str(value)
        case Symbol(name):
            base, _, index = str(name).partition("_")
            base = base if len(base) == 1 else f"\\{base} "
            return base + (index if index[:1] in ("", "(", "'") else f"_{{{index}}}")
        case Words(text):
            return f"\\text{{{text}}}"
        case Measured(unit):
            return f"{parts[0]}\\text{{ {' '.join(unit)}}}".replace(r"\text{ °}", r"^\circ ")
        case Relation(signs):
            return parts[0] + "".join(
                _SIGNS.get(s, s) + part for s, part in zip(signs, parts[1:], strict=True)
            )
        case Group("" | ":" | "or"):
            return {"": ", ", "or": r" \text{ or } "}.get(tree.tag, ":").join(parts)
        case Group("#"):
            return (
                "\\begin{pmatrix}"
                + r" \\ ".join(" & ".join(map(printed, row.parts)) for row in tree.parts)
                + "\\end{pmatrix}"
            )
        case Group("{}"):
            return rf"\{{{', '.join(parts)}\}}"
        case Group("{|"):
            return rf"\{{{parts[0]} \mid {', '.join(parts[1:])}\}}"
        case Group("cup" | "cap" | "setminus"):
            return f" \\{tree.tag} ".join(parts)
        case Group(brackets):
            return brackets[0] + ", ".join(parts) + brackets[1]
        case Apply("+"):
            return "(" + "+".join(parts) + ")"
        case Apply("-" | "pm" | "mp"):
            return f"({'-' if tree.tag == '-' else chr(92) + tree.tag + ' '}{parts[0]})"
        case Apply("*"):
            return r" \cdot ".join(f"({part})" if "=" in part else part for part in parts)
        case Apply("/" | "binom"):
            return f"\\{'frac' if tree.tag == '/' else 'binom'}{{{parts[0]}}}{{{parts[1]}}}"
        case Apply("^"):
            return f"({parts[0]})^{{{parts[1]}}}"
        case Apply("!" | "%"):
            return f"({parts[0]})" + ("!" if tree.tag == "!" else r"\%")
        case Apply("abs"):
            return f"|{parts[0]}|"
        case Apply("floor" | "ceil" as name):
            return f"\\l{name} {parts[0]} \\r{name} "
        case Apply("()"):
            return f"({parts[0]})"
        case Apply(name) if name.startswith("_"):
            return f"{parts[0]}'" if name == "_'" else f"{parts[0]}_{{{name[1:]}}}"
        case Apply(name, (_, _)):
            return f"\\{name}_{{{parts[1]}}}({parts[0]})"
        case Apply(name):
            return f"\\{name}{{{parts[0]}}}"
    raise AssertionError(tree)


def test_equality_is_reflexive_and_that_of_printed_trees() -> None:
    for gold in GOLDS:
        assert same_answer(gold, gold), gold
    trees = [(gold, parse(trimmed(tokens_of(gold)))) for gold in GOLDS]
    pairs = [(gold, printed(tree)) for gold, tree in trees if tree is not None]
    lost = [pair for pair in pairs if not same_answer(*pair)]
    assert len(lost) <= 0.005 * len(GOLDS), lost


def test_equality_is_symmetric() -> None:
    """But for ratios, which equal fractions only in gold, and arithmetic that gold has done."""
    rng = random.Random(7)
    pairs = [(row["gold"], row["answer"]) for row in corpora.answer_pairs()] + [
        tuple(rng.sample(GOLDS, 2)) for _ in range(1_000)
    ]
    differ = [(a, b) for a, b in pairs if same_answer(a, b) != same_answer(b, a) and ":" not in a + b]
    assert len(differ) <= 10, differ


# exact arithmetic

_WHOLE = st.integers(0, 12).map(lambda n: (str(n), Fraction(n)))
_Expression = tuple[str, Fraction]


def _joined(
    sign: str, value: Callable[[Fraction, Fraction], Fraction]
) -> Callable[[tuple[_Expression, _Expression]], _Expression]:
    return lambda pair: (
        sign.replace("a", f"({pair[0][0]})").replace("b", f"({pair[1][0]})"),
        value(pair[0][1], pair[1][1]),
    )


def _larger(smaller: st.SearchStrategy[_Expression]) -> st.SearchStrategy[_Expression]:
    pairs = st.tuples(smaller, smaller)
    return st.one_of(
        pairs.map(_joined("a+b", lambda a, b: a + b)), pairs.map(_joined("a-b", lambda a, b: a - b)),
        pairs.map(_joined(r"a\cdot b", lambda a, b: a * b)), pairs.map(_joined("ab", lambda a, b: a * b)),
        pairs.map(lambda pair: (rf"\frac{{{pair[0][0]}}}{{{pair[1][0]}}}", pair[0][1] / pair[1][1]) if pair[1][1] else pair[0]),
        smaller.map(lambda one: (f"({one[0]})^2", one[1] ** 2)), smaller.map(lambda one: (f"-({one[0]})", -one[1])),
        smaller.map(lambda one: (rf"\left|{one[0]}\right|", abs(one[1]))), smaller.map(lambda one: (rf"\sqrt{{({one[0]})^2}}", abs(one[1]))),
    )  # fmt: skip


@settings(max_examples=150)
@given(st.recursive(_WHOLE, _larger, max_leaves=8), st.integers(-3, 3))
def test_expressions_have_their_exact_value(expression: _Expression, error: int) -> None:
    text, value = expression
    claimed = str(value + Fraction(error, 7))
    if len(text) <= MAX_CHARS and parse(tokens_of(text)) is not None:
        assert same_answer(text, claimed) is (error == 0)


def test_what_rounding_would_hide_is_told_apart() -> None:
    for gold, answer in (
        (r"e^{100}", r"e^{100}+1"), (r"\pi\cdot 1000000007", r"\pi\cdot 1000000008"), (r"10^{30}\pi+1", r"10^{30}\pi+2"),
        ("2^{1000}", "2^{1000}+1"), ("100!", "100!+1"), (r"x+10^{-15}", "x"), ("x^{50}+1", "x^{50}"),
        (r"\sqrt{2}\cdot 10^{15}", r"\sqrt{2}\cdot 10^{15}+1"), ("1/3", "0.33333333333"[:9]), ("9^{9^9}", "9^{9^9}+1"),
    ):  # fmt: skip
        assert not same_answer(gold, answer), (gold, answer)


def test_what_is_not_evaluated_is_told_apart() -> None:
    for name in (r"{}_7", r"\gcd({})", r"\det({})"):
        texts = [name.format(number) for number in range(100, 160)]
        assert not [pair for pair in itertools.combinations(texts, 2) if same_answer(*pair)]


@pytest.mark.parametrize("name", "abcdfghjkmnpqrstuvwxyz")
def test_the_root_of_a_square_is_no_expression_of_either_sign(name: str) -> None:
    for expression in (name, f"{name}+1", f"{name}-1", f"2{name}+1", f"{name}+2", f"1-{name}"):
        assert not same_answer(rf"\sqrt{{({expression})^2}}", expression)
        assert not same_answer(expression, f"|{expression}|")


# hostile texts

HOSTILE: dict[str, Callable[[int], str]] = {
    "letters, !": lambda n: "12 " + "a" * n + "!", "blanks": lambda n: "1" + " " * n + "2", "brackets": lambda n: "(" * n,
    "closed brackets": lambda n: "(" * (n // 2) + "1" + ")" * (n // 2), "braces": lambda n: "{" * n + "1", "bars": lambda n: "|" * n,
    "fractions": lambda n: r"\frac" * (n // 5), "nested fractions": lambda n: r"\frac{1}{" * (n // 9) + "2" + "}" * (n // 9),
    "roots": lambda n: r"\sqrt" * (n // 5) + "2", "powers": lambda n: "9^" * (n // 2) + "9", "braced powers": lambda n: "9^{" * (n // 4) + "9" + "}" * (n // 4),
    "factorials": lambda n: "9" + "!" * n, "sums": lambda n: "x+" * (n // 2) + "1", "products": lambda n: "xy" * (n // 2), "lists": lambda n: "1," * (n // 2) + "2",
    "lists of letters": lambda n: ",".join("abcdefghijklmnopqrstuvwxyz"[k % 26] + str(k) for k in range(n // 4)), "digits": lambda n: "9" * n,
    "exponents": lambda n: "1e999*" * (n // 6) + "1", "signs": lambda n: "-" * n + "1", "plusses": lambda n: "+" * n + "1", "primes": lambda n: "x" + "'" * n,
    "functions": lambda n: r"\sin" * (n // 4) + "x", "indices": lambda n: "x" + "_{1" * (n // 3), "both signs": lambda n: r"1\pm2," * (n // 6) + "1",
    "both signs, nested": lambda n: r"\pm(" * (n // 4) + "1" + ")" * (n // 4), "quotients": lambda n: "1/" * (n // 2) + "1", "relations": lambda n: "x<" * (n // 2) + "1",
    "unions": lambda n: r"(1,2)\cup" * (n // 9) + "(3,4)", "ratios": lambda n: "1:" * (n // 2) + "1", "words": lambda n: "ab cdef " * (n // 8), "dollars": lambda n: "$" * n,
    "texts": lambda n: r"\text{" * (n // 6), "matrices": lambda n: r"\begin{pmatrix}" * (n // 15), "rows": lambda n: r"\begin{matrix}" + r"1\\" * (n // 3) + r"\end{matrix}",
    "commas": lambda n: "1,000" * (n // 5), "groups": lambda n: "1{,}000" * (n // 7), "points": lambda n: "1." * (n // 2), "binomials": lambda n: r"\binom{500}{250}" * (n // 15),
    "logarithms": lambda n: r"\log_{" * (n // 6) + "2", "overlines": lambda n: r"0.\overline{1}" * (n // 14), "backslashes": lambda n: "\\" * n, "numerals": lambda n: "twenty-one " * (n // 11),
    "intervals": lambda n: r"[1,2)\cup" * (n // 9) + "(3,4)", "systems": lambda n: "x=1,y=2," * (n // 8) + "z=3", "conditions": lambda n: r"\{x|" * (n // 4) + "1",
    "fraction signs": lambda n: "½" * n, "about": lambda n: r"∞\approx" * (n // 8), "ligatures": lambda n: "ﷺ" * n, "factorials, products": lambda n: "*12!" * (n // 4),
}  # fmt: skip


def _calls(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls: the same number on every machine, however busy."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_long(name: str) -> None:
    """At most 100,000 calls, some 10 ms, for the longest texts that are read, and those right below other limits."""
    for size in (40, 120, MAX_CHARS):
        text = HOSTILE[name](size)[:MAX_CHARS]
        other = text[:-1] + "7" if len(text) == MAX_CHARS else text + "7"
        assert _calls(lambda: same_answer(text, other, f"Find ${text}$.")) < 100_000, size  # noqa: B023


def test_numbers_that_grow_too_large_have_no_value() -> None:
    for text in (
        "1e999*" * 30 + "1",
        "9^{9^{9^9}}",
        "x^{9999}",
        "400!*400!*400!",
        r"\frac{1e999}{1e-999}" * 3,
    ):
        assert values(read(text).trees[0]) == (), text


def test_time_grows_with_the_text_only() -> None:
    for name in ("letters, !", "blanks", "brackets", "words"):
        growth.assert_linear(lambda n: lambda: same_answer(HOSTILE[name](n), HOSTILE[name](n) + "1"), 100_000)  # noqa: B023
        growth.assert_linear(lambda n: lambda: same_answer("12", "13", HOSTILE[name](n)), 100_000)  # noqa: B023
    assert same_answer("x" * 5_000, "x" * 5_000 + " ")
    assert not same_answer("x" * 5_000, "x" * 4_999)


_FRAGMENTS = st.sampled_from([" ", "\n", "\0", "\ud800", *str.split(
    r"\frac \sqrt { } ( ) [ ] | , ; : = < > + - * / ^ _ ! ' % & $ . 0 1 2 12 0.5 1e3 x y n a e i \pi \infty \pm \text{"
    r" \text{cm} \left \right \begin{pmatrix} \end{pmatrix} \\ \{ \} \cup \in \le \ne \sin \log \binom \overline \lfloor"
    r" \rfloor \circ \cdot \, \! {,} or and cm yes (A) x= ½ √ ² π − ∞"
)])  # fmt: skip


@settings(max_examples=300)
@example("5", "(1,2)%", "")
@example("5", "-(a;b)°", "")
@example("5", "\\$(1,2)", "")
@given(
    st.lists(_FRAGMENTS, max_size=40).map("".join),
    st.lists(_FRAGMENTS, max_size=15).map("".join),
    st.text(max_size=60),
)
def test_nothing_is_raised(gold: str, answer: str, question: str) -> None:
    assert same_answer(gold, answer, f"{question} ${gold}$ {answer}") in (True, False)
    assert same_answer(gold, gold) is bool(read(gold.strip()).spelled)


def test_naughty_strings() -> None:
    for text in corpora.naughty_strings():
        assert same_answer(text, text) in (True, False)
        assert not same_answer("37", text)


def test_without_an_answer_nothing_is_right() -> None:
    for nothing in ("", " ", "$$", "\\,", "."):
        assert not same_answer(nothing, nothing), nothing


# what the question says


@pytest.mark.parametrize(
    ("gold", "answer", "question", "right"),
    [
        ("4/11", "8/22", "Simplify $8/22$.", False), ("4/11", "8/22", "What part is red?", True), (r"\frac{4}{11}", r"\frac{4}{11}", r"Is it $\frac{4}{11}$?", True),
        ("(x-2)(x+2)", "x^2-4", "Factor $x^2-4$.", False), ("(x-2)(x+2)", "-4+x^2", "Factor $x^2-4$.", False), ("(x-2)(x+2)", "(x+2)(x-2)", "Factor $x^2-4$.", True),
        ("x^2-4", "(x-2)(x+2)", r"Expand \((x-2)(x+2)\).", False), ("2", "\\sqrt{4}", "Find $\\sqrt{4}$.", False), ("x>4", "2(x-1)-x+2>4", "Solve $2(x-1)-x+2>4$.", False),
        ("1250", "1250 cents", "How many dollars does she pay?", False), ("1250", "1250 cents", "How many cents does she pay?", True), ("1250", "1250 cents", "How much?", True),
        ("5", "5 kg", "How many grams are 0.005 kg?", True), ("7", "7 mg", "How many grams?", False), ("0.25", "\\frac14", "Write $\\frac14$ as a decimal.", False),
    ],
)  # fmt: skip
def test_the_question_is_heeded(gold: str, answer: str, question: str, right: bool) -> None:
    assert relfast.same_answer(gold, answer, question) is right
