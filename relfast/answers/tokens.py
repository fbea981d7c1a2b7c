"""Split an answer into tokens: numbers, letters, words, functions and signs, without layout, colours and fonts.

One table (`_TABLE`) says what each command and sign is; a command that it lacks is a letter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple


class Token(NamedTuple):
    """Kinds: number, letter, word, function, accent, sign, begin and end (of an environment); whether a blank is
    before it."""

    kind: str
    text: str
    spaced: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_TABLE: Final = (
    # kind, what it means ("": its own name), names; "words" hold words, what "hidden" holds is not shown
    ("words", "", "text textbf textit textrm textsf texttt textnormal textup textsc mbox hbox mathrm operatorname emph"),
    ("hidden", "", "textcolor color phantom hphantom vphantom hspace vspace label tag"),
    ("layout", "", "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle"
     " textstyle scriptstyle limits nolimits large Large LARGE huge Huge small tiny bf rm it sf boxed fbox mathbf"
     " mathit mathsf mathcal mathbb mathfrak boldsymbol bm underline displaylines math ensuremath"),
    ("blank", "", "quad qquad enspace thinspace"),
    ("function", "", "sin cos tan cot sec sinh cosh tanh arcsin arccos arctan log ln exp gcd lcm max min det deg Re Im"),
    ("function", "csc", "csc cosec"), ("function", "log_10", "lg"),
    ("accent", "", "overline bar vec hat dot ddot tilde widehat overrightarrow"),
    ("letter", "", "alpha beta gamma delta zeta eta kappa lambda mu nu xi rho sigma tau chi psi omega Gamma Delta Theta"
     " Lambda Xi Pi Sigma Phi Psi Omega hbar ell pi int sum prod lim partial nabla angle triangle perp parallel to"),
    ("letter", "epsilon", "epsilon varepsilon"), ("letter", "theta", "theta vartheta"), ("letter", "phi", "phi varphi"),
    ("letter", "emptyset", "emptyset varnothing"), ("letter", "infty", "infty infin inf infinity oo"),
    ("letter", "ldots", "ldots dots cdots dotsc"),
    ("sign", "", "frac sqrt binom pm mp cup cap in notin lfloor rfloor lceil rceil √"),
    ("sign", "frac", "dfrac tfrac cfrac"), ("sign", "binom", "dbinom tbinom"), ("sign", "<", "lt"), ("sign", ">", "gt"),
    ("sign", "le", "le leq leqslant leqq <= =<"), ("sign", "ge", "ge geq geqslant geqq >="), ("sign", "ne", "ne neq !="),
    ("sign", "=", "=="), ("sign", "approx", "approx simeq sim equiv"), ("sign", "setminus", "setminus backslash"),
    ("sign", "*", "cdot times ast"), ("sign", "/", "div"), ("sign", "^", "**"), ("sign", ":", "colon"),
    ("sign", "|", "lvert rvert vert mid lVert rVert Vert"), ("sign", "°", "circ degree"), ("sign", "'", "prime"),
    ("sign", "%", "percent"), ("sign", "or", "or lor vee"), ("sign", "and", "and land"), ("sign", "(", "langle"),
    ("sign", ")", "rangle"), ("sign", "[", "lbrack"), ("sign", "]", "rbrack"), ("sign", r"\{", "lbrace"),
    ("sign", r"\}", "rbrace"),
)  # fmt: skip
_COMMANDS: Final = {
    name: (kind, meaning or name) for kind, meaning, names in _TABLE for name in names.split()
}
_BARE: Final = {name: entry for name, entry in _COMMANDS.items() if entry[0] == "function"} | {
    name: _COMMANDS[name]
    for name in "pi infty inf infinity oo or and alpha beta gamma theta lambda omega frac percent".split()
} | {"sqrt": ("sign", "√")}  # fmt: skip
"""What is known without a backslash too; √50 is one root, while \\sqrt50 is √5 · 0."""

_FAMILIES: Final = {
    "money": "dollar dollars USD, cent cents, euro euros, sterling, yen, rupee rupees",
    "mass": "g gram grams, mg milligram milligrams, kg kilogram kilograms, lb lbs pound pounds, oz ounce ounces, ton tons",
    "volume": "l L liter liters litre litres, ml mL milliliter milliliters, gallon gallons, quart quarts, pint pints,"
    " cup cups",
    "": "m meter meters metre metres, cm centimeter centimeters, mm millimeter millimeters, km kilometer kilometers,"
    " in inch inches, ft foot feet, yd yard yards, mi mile miles, s sec second seconds, min minute minutes,"
    " h hr hrs hour hours, day days, week weeks, month months, year years, mph, kmh kph, ° degree degrees deg,"
    " rad radian radians, K kelvin, C celsius, F fahrenheit, J, N, W, V, A, Hz, Pa, am AM, pm PM, st nd rd th, kJ, kW,"
    " sq square",
}
UNITS: Final = {
    word: names.split()[0]
    for rows in _FAMILIES.values()
    for names in rows.split(",")
    for word in names.split()
}
"""Units that can be told apart: word → the name of its unit."""
FAMILY: Final = {names.split()[0]: family for family, rows in _FAMILIES.items() for names in rows.split(",")}
"""Unit → what it measures, of those that a question may ask for; else ""."""

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
NUMERALS: Final = {word: n for n, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())} | {
    word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
SCALES: Final = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_WORDS: Final = words("yes no Yes No YES NO the The is are was of cup") | NUMERALS.keys()
MATRICES: Final = words("matrix pmatrix bmatrix Bmatrix vmatrix array smallmatrix")

_GREEK: Final = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega Gamma Delta"
    " Theta Lambda Xi Sigma Phi Psi Omega pi infty le ge ne cup cap in pm approx emptyset to angle"
)
_CHARACTERS: Final = str.maketrans(
    {
        **{c: f"\\{name} " for c, name in zip("αβγδεζηθκλμνξρστφχψωΓΔΘΛΞΣΦΨΩπ∞≤≥≠∪∩∈±≈∅→∠", _GREEK.split(), strict=True)},
        **{c: f"\\frac{n}{d} " for c, n, d in zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "112131234151357", "233445555668888", strict=True)},
        **{c: f"\\text{{{name}}}" for c, name in zip("€£¥₹¢", "euro sterling yen rupee cent".split(), strict=True)},
        **dict(zip("０１２３４５６７８９％，、（）＝．。⟨⟩ℝℤℕℚℂ’′", "0123456789%,,()=..()RZNQC''", strict=True)),
        **dict.fromkeys("−–—‐‑‒﹣－", "-"), **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad`“”„«»\"", ""),
        **dict.fromkeys("\u00a0\u202f\u2009\u2007\u3000~", " "), **dict.fromkeys("×·⋅∗", "*"),
        **dict.fromkeys("÷⁄∕／", "/"), "∛": "\\sqrt[3]",
    }
)  # fmt: skip
_SCRIPTS: Final = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ]+)|[₀₁₂₃₄₅₆₇₈₉]+")
_UNSCRIPTED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ₀₁₂₃₄₅₆₇₈₉", "0123456789-n0123456789")
_NOON: Final = re.compile(r"(?<![a-z])([ap])\.\s?m(?:\.|(?![a-z]))", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r"(?P<group>\{,\}|,\\!)|\\begin\{(?P<begin>[a-zA-Z]+)\*?\}(?:\{[lcr|]*\})?|\\end\{(?P<end>[a-zA-Z]+)\*?\}"
    r"|\\(?P<command>[a-zA-Z]+)\*?|\\(?P<newline>\\)(?:\[[0-9.]+[a-z]{2}\])?|\\(?P<escaped>.)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3}(?!\w|\.\d))?)"
    r"|(?P<letters>[^\W\d_]+)|(?P<space>\s+)|(?P<sign><=|>=|!=|==|=<|\*\*|.)",
    re.DOTALL,
)


_NONE: Final = Token("", "")


@lru_cache(maxsize=512)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of an answer."""
    if not text.isascii():
        text = _SCRIPTS.sub(lambda one: f"{'^' if one[1] else '_'}{{{one[0].translate(_UNSCRIPTED)}}}", text)
    out: list[Token] = []
    braces: list[str] = []  # of each open brace: "" shown, "words" or "hidden"
    tables: list[str] = []  # the open environments
    pending, spaced = "", False
    for found in _TOKEN.finditer(_NOON.sub(r"\1m ", text.translate(_CHARACTERS))):
        kind, held = str(found.lastgroup), found[str(found.lastgroup)]
        rest = ""
        if kind == "command":
            kind, held, rest = _command(held)
        elif held == "!=" and out and out[-1].kind == "number" and not spaced:
            kind, held, rest = "sign", "!", "="  # 5!=120
        elif kind == "sign":
            kind, held = _COMMANDS.get(held, (kind, held))
        if kind in ("space", "blank") or (kind == "escaped" and held in ",;:! \n"):
            spaced = True
            continue
        if kind in ("words", "hidden"):
            pending = kind
        elif kind == "sign" and held in "{}":
            if held == "{":
                braces.append(pending)
            mode = "".join(braces[-1:])
            if held == "}":
                del braces[-1:]
            pending = ""
            if not mode and "hidden" not in braces:
                out.append(Token("sign", held, spaced))
        elif "hidden" not in braces:
            tables = [*tables, held] if kind == "begin" else tables[:-1] if kind == "end" else tables
            if kind == "letters":
                out += _letters(held, out[-1] if out else _NONE, "words" in braces, spaced)
            elif kind != "layout":
                out += _signs(kind, held, tables, spaced)
            if rest:
                out += (
                    [Token("sign", rest)] if rest == "=" else _letters(rest, _NONE, "words" in braces, False)
                )
            spaced = spaced and kind == "layout"
    return tuple(out)


def _command(name: str) -> tuple[str, str, str]:
    """The kind and the meaning of a command, and what stands behind its name: ``\\omegat`` is ``\\omega t``."""
    size = len(name)
    if name not in _COMMANDS:
        size = next((k for k in range(min(12, size - 1), 1, -1) if name[:k] in _COMMANDS), size)
    return *_COMMANDS.get(name[:size], ("letter", name[:size])), name[size:]


def _signs(kind: str, held: str, tables: Sequence[str], spaced: bool) -> list[Token]:
    """The tokens of a sign, a number or a command."""
    if kind == "escaped":
        kind, held = ("word", "dollar") if held == "$" else ("sign", "\\" + held if held in "{}" else held)
        return [] if held in "()[]" else [Token(kind, held, spaced)]
    if kind in ("group", "newline"):
        return [Token("sign", "{,}" if kind == "group" else "\\\\", spaced)]
    if kind == "sign" and (held == "$" or (held == "&" and not (tables and tables[-1] in MATRICES))):
        return []
    return [Token(kind, held, spaced)]


def _letters(run: str, last: Token, in_words: bool, spaced: bool) -> list[Token]:
    """The tokens of a run of letters: a name, a word, or single letters that are multiplied."""
    behind_value = last.kind == "number" or last.text in ("}", ")", "^", "°")
    is_unit = run in UNITS and (len(run) > 1 or (run in ("C", "F") and last.text == "°"))
    if not (is_unit and (behind_value or in_words)):
        if run == "U" and last.text in (")", "]", r"\}"):  # (0, 1) U (2, 3)
            return [Token("sign", "cup", spaced)]
        if run in _BARE:
            return [Token(*_BARE[run], spaced)]
        if not (in_words or len(run) > 3 or run in _SHORT_WORDS):
            size = 2 if behind_value and run[:2] == "or" else 0  # "2or x"
            parts = [Token("sign", "or", spaced)] if size else []
            return parts + [Token("letter", one, spaced and not k) for k, one in enumerate(run[size:])]
    return [Token("word", run, spaced)]


def without_grouping(tokens: Sequence[Token], *, commas: bool) -> tuple[list[Token], bool]:
    """The tokens, with the digits of numbers like 1,000 or 1 000 joined; and whether a plain comma may as well
    separate; ``commas`` says whether it groups then."""
    out: list[Token] = []
    depth, at, doubtful = 0, 0, False
    while at < len(tokens):
        token, end, plain = tokens[at], at + 1, False
        depth += (token.text in ("(", "[", r"\{")) - (token.text in (")", "]", r"\}"))
        if token.kind == "number":
            end, plain = _end_of_digits(tokens, at, outside=depth == 0)
        digits = [one.text for one in tokens[at:end] if one.kind == "number"]
        if len(digits) > 1 and _is_grouped(*digits) and (commas or not plain):
            doubtful = doubtful or plain
            out.append(Token("number", "".join(digits), token.spaced))
        elif len(digits) == 2 and tokens[at + 1].text == "{,}" and digits[1].isdigit():
            out.append(Token("number", ".".join(digits), token.spaced))  # 3{,}75
        else:
            out += [Token("sign", ",") if one.text == "{,}" else one for one in tokens[at:end]]
        at = end
    return out, doubtful


def _end_of_digits(tokens: Sequence[Token], at: int, *, outside: bool) -> tuple[int, bool]:
    """Where the numbers end that commas or blanks join, and whether commas that may separate do."""
    end, plain = at + 1, False
    while end + 1 < len(tokens) and tokens[end + 1].kind == "number" and tokens[end].text in (",", "{,}"):
        comma = tokens[end].text == ","
        if comma and (tokens[end].spaced or tokens[end + 1].spaced or not outside):
            break
        end, plain = end + 2, plain or comma
    if end == at + 1:
        while end < len(tokens) and tokens[end].kind == "number" and tokens[end].spaced:
            end += 1
        end = at + 1 if end < len(tokens) and tokens[end].text == "/" else end  # 2 500/3
    return end, plain


def _is_grouped(first: str, *others: str) -> bool:
    """Whether numbers are the groups of one: one to three digits, then three each; the last may have a point."""
    whole = [*others[:-1], others[-1].partition(".")[0]]
    return first.isdigit() and len(first) <= 3 and all(part.isdigit() and len(part) == 3 for part in whole)
