"""Split an answer into tokens: numbers, letters, words, functions, signs; without layout, colours and fonts.

One table (`_TABLE`) says what each command and sign is; a command that it lacks is a letter.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple


class Token(NamedTuple):
    """Kinds: number, letter, word, function, accent, sign, begin and end (of an environment). ``spaced``:
    whether a blank is before it."""

    kind: str
    text: str
    spaced: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_TABLE: Final = r"""
words : text textbf textit textrm textsf texttt textnormal textup textsc mbox hbox mathrm operatorname emph
hidden : textcolor color phantom hphantom vphantom hspace vspace label tag
layout : left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle
layout : textstyle scriptstyle limits nolimits large Large LARGE huge Huge small tiny bf rm it sf boxed fbox
layout : mathbf mathit mathsf mathcal mathbb mathfrak boldsymbol bm underline displaylines math ensuremath
space : quad qquad
function : sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln exp gcd lcm max min det deg Re
function : Im
accent : overline bar vec hat dot ddot tilde widehat overrightarrow
letter : alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega
letter : pi Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega hbar ell int sum prod lim partial nabla angle
letter : triangle perp parallel to emptyset infty ldots
sign : frac sqrt binom pm mp cup cap in notin lfloor rfloor lceil rceil le ge ne approx setminus or and
function csc : cosec | function log_10 : lg | letter epsilon : varepsilon | letter theta : vartheta
letter phi : varphi | letter emptyset : varnothing | letter infty : infin inf infinity oo
letter ldots : dots cdots | sign frac : dfrac tfrac cfrac | sign binom : dbinom tbinom | sign < : lt
sign > : gt | sign = : == | sign le : leq leqslant leqq <= =< | sign ge : geq geqslant geqq >=
sign ne : neq != | sign approx : simeq sim equiv | sign setminus : backslash | sign * : cdot times ast
sign / : div | sign ^ : ** | sign : : colon | sign ° : circ degree
sign ∣ : lvert rvert vert mid lVert rVert Vert | sign ' : prime | sign % : percent | sign or : lor vee
sign and : land | sign ( : langle | sign ) : rangle | sign [ : lbrack | sign ] : rbrack | sign \{ : lbrace
sign \} : rbrace
"""
"""Of each command and sign: its kind, what it means if that is not its own name, and names. "words" hold
words; what "hidden" holds is not shown."""
_ROWS: Final = [
    row.strip().rpartition(" : ") for line in _TABLE.strip().splitlines() for row in line.split(" | ")
]
_COMMANDS: Final = {
    name: (kind.split()[0], (kind.split()[1:] or [name])[0].replace("∣", "|"))
    for kind, _, names in _ROWS
    for name in names.split()
}
_BARE: Final = {name: entry for name, entry in _COMMANDS.items() if entry[0] == "function"} | {
    name: _COMMANDS[name]
    for name in words("pi infty inf infinity oo or and alpha beta gamma theta lambda omega frac percent")
} | {"sqrt": ("sign", "√")}  # fmt: skip
"""What is known without a backslash too; √50 is one root, while \\sqrt50 is √5 · 0."""

_UNITS: Final = """
money : dollar dollars USD | cent cents | euro euros | sterling | yen | rupee rupees
mass : g gram grams | mg milligram milligrams | kg kilogram kilograms | lb lbs pound pounds | oz ounce ounces
mass : ton tons
volume : l L liter liters litre litres | ml mL milliliter milliliters | gallon gallons | quart quarts
volume : pint pints | cup cups
other : m meter meters metre metres | cm centimeter centimeters | mm millimeter millimeters | ft foot feet
other : km kilometer kilometers | in inch inches | yd yard yards | mi mile miles | s sec second seconds
other : min minute minutes | h hr hrs hour hours | day days | week weeks | month months | year years | mph
other : kmh kph | ° degree degrees deg | rad radian radians | K kelvin | C celsius | F fahrenheit | J | N | W
other : V | A | Hz | Pa | am AM | pm PM | st nd rd th | kJ | kW | sq square
"""
"""What is measured, and names of each unit: those between bars are of one."""
_MEASURES: Final = [
    (names.split(), family)
    for family, _, rows in (line.partition(" : ") for line in _UNITS.strip().splitlines())
    for names in rows.split(" | ")
]
UNITS: Final = {name: names[0] for names, _ in _MEASURES for name in names}
"""Units that can be told apart: name → the first name of its unit."""
FAMILY: Final = {names[0]: family for names, family in _MEASURES}
"""Unit → what it measures."""

_NUMERALS: Final = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_NUMERAL: Final = re.compile(
    rf"(?<![a-zA-Z\\])({'|'.join(_NUMERALS)})(?:(?<=ty)[- ]({'|'.join(_NUMERALS[1:10])}))?(?![a-zA-Z])",
    re.IGNORECASE,
)
SCALES: Final = {
    "dozen": 12, "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_SHORT_WORDS: Final = words("yes no Yes No YES NO the The is are was of cup")
MATRICES: Final = words("matrix pmatrix bmatrix Bmatrix vmatrix array smallmatrix")

_NAMED_CHARACTERS: Final = str.split(
    "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta κ kappa λ lambda μ mu ν nu ξ xi"
    " ρ rho σ sigma τ tau φ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta"
    " Λ Lambda Ξ Xi Σ Sigma Φ Phi Ψ Psi Ω Omega π pi"
    " ∞ infty ≤ le ≥ ge ≠ ne ∪ cup ∩ cap ∈ in ± pm ≈ approx ∅ emptyset → to ∠ angle"
)
_CHARACTERS: Final = str.maketrans(
    {
        **{
            c: f"\\{name} "
            for c, name in zip(_NAMED_CHARACTERS[::2], _NAMED_CHARACTERS[1::2], strict=True)
        },
        **{
            c: f"\\frac{n}{d} "
            for c, n, d in zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "112131234151357", "233445555668888", strict=True)
        },
        "€": "\\text{euro}", "£": "\\text{sterling}", "¥": "\\text{yen}", "₹": "\\text{rupee}",
        "¢": "\\text{cent}",
        **dict(zip("０１２３４５６７８９％，、（）＝．。⟨⟩", "0123456789%,,()=..()", strict=True)),
        **dict(zip("ℝℤℕℚℂ’′", "RZNQC''", strict=True)), **dict.fromkeys("÷⁄∕／", "/"), "∛": "\\sqrt[3]",
        **dict.fromkeys("−–—‐‑‒﹣－", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad`“”„«»\"", ""),
        **dict.fromkeys("\u00a0\u202f\u2009\u2007\u3000~", " "), **dict.fromkeys("×·⋅∗", "*"),
    }
)  # fmt: skip
_SCRIPTS: Final = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ]+)|[₀₁₂₃₄₅₆₇₈₉]+")
_UNSCRIPTED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ₀₁₂₃₄₅₆₇₈₉", "0123456789-n0123456789")
_NOON: Final = re.compile(r"(?<![a-z])([ap])\.\s?m(?:\.|(?![a-z]))", re.IGNORECASE)
_GROUPED: Final = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:\{,\}|,?\\[,;:! ]|[ ~\xa0\u2009\u202f])\s*\d{3})+(?!\d|\s*/)"
)
_COMMAS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_POINT: Final = re.compile(r"(?<![\d.,])(\d+)\{,\}(\d+)(?!\d|\{,\})")
_TOKEN: Final = re.compile(
    r"\\begin\{(?P<begin>[a-zA-Z]+)\*?\}(?:\{[lcr|]*\})?|\\end\{(?P<end>[a-zA-Z]+)\*?\}"
    r"|\\(?P<command>[a-zA-Z]+)\*?|\\(?P<newline>\\)(?:\[[0-9.]+[a-z]{2}\])?|\\(?P<escaped>.)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3}(?!\w|\.\d))?)"
    r"|(?P<letters>[^\W\d_]+)|(?P<space>\s+)|(?P<sign><=|>=|!=|==|=<|\*\*|.)",
    re.DOTALL,
)
_NONE: Final = Token("", "")


def with_commas_joined(text: str) -> str:
    """A text with the digits of numbers like 1,000 joined: the commas of (1,000) separate."""
    return text if "(" in text or "[" in text or "\\{" in text else _COMMAS.sub(_digits, text)


def _digits(found: re.Match[str]) -> str:
    return re.sub(r"\D", "", found[0])


def _prepared(text: str) -> str:
    """A text with numbers in digits, without separators, and no characters that have a command."""
    text = _POINT.sub(r"\1.\2", _GROUPED.sub(_digits, text)).replace("{,}", ",")
    if not text.isascii():
        text = _SCRIPTS.sub(lambda one: f"{'^' if one[1] else '_'}{{{one[0].translate(_UNSCRIPTED)}}}", text)
    text = _NOON.sub(r"\1m ", text.translate(_CHARACTERS))
    return _NUMERAL.sub(lambda one: str(sum(map(_in_digits, filter(None, one.groups())))), text)


def _in_digits(numeral: str) -> int:
    place = _NUMERALS.index(numeral.lower())
    return place if place < 20 else 10 * (place - 18)


@lru_cache(maxsize=512)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of an answer."""
    out: list[Token] = []
    braces: list[str] = []  # of each open brace: "" shown, "words" or "hidden"
    tables: list[str] = []  # the open environments
    pending, spaced = "", False
    for found in _TOKEN.finditer(_prepared(text)):
        kind, held, rest = str(found.lastgroup), found[str(found.lastgroup)], ""
        if kind == "command":
            kind, held, rest = _command(held)
        elif held == "!=" and out and out[-1].kind == "number" and not spaced:
            held, rest = "!", "="  # 5!=120
        elif kind == "sign":
            kind, held = _COMMANDS.get(held, (kind, held))
        elif kind in ("newline", "escaped"):
            kind, held = (
                ("word", "dollar") if held == "$" else ("sign", "\\" + held if held in "{}\\" else held)
            )
            kind = (
                "space" if held in (",", ";", ":", "!", " ", "\n") else "layout" if held in "()[]" else kind
            )
        if kind in ("words", "hidden"):
            pending = kind
        elif kind == "sign" and held in ("{", "}"):
            braces += [pending] * (held == "{")
            if not any(braces[-1:]) and "hidden" not in braces:
                out.append(Token("sign", held, spaced))
            braces, pending = braces[: len(braces) - (held == "}" and bool(braces))], ""
        elif kind not in ("space", "layout") and "hidden" not in braces:
            tables = [*tables, held] if kind == "begin" else tables[:-1] if kind == "end" else tables
            if kind == "letters":
                out += _letters(held, out[-1] if out else _NONE, "words" in braces, spaced)
            elif held != "$" and (held != "&" or any(one in MATRICES for one in tables[-1:])):
                out.append(Token(kind, held, spaced))
            out += [Token("sign", "=")] if rest == "=" else _letters(rest, _NONE, "words" in braces, False)
        spaced = kind == "space" or (spaced and kind in ("layout", "words"))
    return tuple(out)


def _command(name: str) -> tuple[str, str, str]:
    r"""The kind and the meaning of a command, and what stands behind its name: ``\omegat`` is ``\omega"
    " t``."""
    size = len(name)
    if name not in _COMMANDS:
        size = next((k for k in range(min(12, size - 1), 1, -1) if name[:k] in _COMMANDS), size)
    kind, meaning = _COMMANDS.get(name[:size], ("letter", name[:size]))
    return "space" if meaning in ("quad", "qquad") else kind, meaning, name[size:]


def _letters(run: str, last: Token, in_words: bool, spaced: bool) -> list[Token]:
    """The tokens of a run of letters: a name, a word, or single letters that are multiplied."""
    behind_value = last.kind == "number" or last.text in ("}", ")", "^", "°")
    if run in UNITS and (len(run) > 1 or last.text == "°") and (behind_value or in_words):
        return [Token("word", run, spaced)]
    if run == "U" and last.text in (")", "]", r"\}"):  # (0, 1) U (2, 3)
        return [Token("sign", "cup", spaced)]
    if run in _BARE:
        return [Token(*_BARE[run], spaced)]
    if in_words or len(run) > 3 or run in _SHORT_WORDS:
        return [Token("word", run, spaced)] if run else []
    joins = behind_value and run[:2] == "or"  # "2or x"
    parts = [Token("sign", "or", spaced)] if joins else []
    return parts + [Token("letter", one, spaced and not k) for k, one in enumerate(run[2 * joins :])]
