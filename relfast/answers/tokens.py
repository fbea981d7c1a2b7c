"""Split an answer into tokens: numbers, letters, words, functions, signs; without layout, colours and fonts.

One table (`_TABLE`) says what each command and sign is; a command that it lacks is a letter.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import normalize

from relfast_kernels.text.form_table import BOXES, PAINTS


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
hidden : textcolor color colorbox fcolorbox phantom hphantom vphantom hspace vspace label tag
layout : left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle \[ \]
layout : textstyle scriptstyle limits nolimits large Large LARGE huge Huge small tiny bf rm it sf displaylines
style : mathbf mathit mathsf mathcal mathbb mathfrak boldsymbol bm underline math ensuremath
layout : $ \( \) ` “ ” „ « » " | space : quad qquad \, \; \: \! ~ | word dollar : \$ | word euro : €
word sterling : £ | word yen : ¥ | word rupee : ₹ | word cent : ¢ | sign : \{ \} \\ sqrt lfloor rfloor lceil
sign : rceil notin or | function : sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log exp gcd
function : lcm max min det deg Re Im | function csc : cosec | function log : ln | function log_10 : lg
accent : overline bar vec hat dot ddot tilde widehat overrightarrow
letter : hbar ell int sum prod lim partial nabla triangle perp parallel | letter angle : angle ∠
letter to : to → | letter epsilon : varepsilon | letter theta : vartheta | letter phi : varphi
letter emptyset : emptyset varnothing ∅ | letter infty : infty infin inf infinity oo ∞
letter ldots : ldots dots cdots
sign frac : frac dfrac tfrac cfrac | sign pm : pm ± | sign mp : mp ∓ | sign cup : cup ∪ | sign cap : cap ∩
sign in : in ∈ | sign binom : binom dbinom tbinom | sign < : lt | sign > : gt | sign = : ==
sign le : le leq leqslant leqq <= =< ≤ | sign ne : ne neq != ≠ | sign ge : ge geq geqslant geqq >= ≥
sign approx : approx simeq sim equiv ≈ | sign * : cdot times ast × · ⋅ ∗ | sign - : − – — ‐ ‒
sign setminus : setminus backslash | sign / : div ÷ ⁄ ∕ | sign ^ : ** | sign : : colon | sign ° : circ degree
sign ∣ : lvert rvert vert mid lVert rVert Vert | sign ' : prime ’ ′ | sign % : percent | sign or : lor vee
sign and : and land | sign ( : langle ⟨ | sign ) : rangle ⟩ | sign [ : lbrack | sign ] : rbrack
sign \{ : lbrace | sign \} : rbrace | sign , : 、 | sign . : 。
"""
"""Of each command and sign: its kind, what it means if that is not its own name, and names. "words" hold
words; what "hidden" holds is not shown; the braces of a "style" are not."""
_GREEK: Final = str.split(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau"
    " upsilon phi chi psi omega"
)
"""Names of the letters from α to ω, and, as titles, from Α to Ω."""
_BRACED: Final = words("words hidden style")
_NOT_SHOWN: Final = _BRACED | words("layout space letters")
_COMMANDS: Final = {name: ("letter", name) for name in [*_GREEK, *map(str.title, _GREEK)]} | {
    name: (kind.split()[0], (kind.split()[1:] or [name])[0].replace("∣", "|"))
    for row in [*re.split(r"\n| \| ", _TABLE.strip()), f"style : {' '.join(words(BOXES) - words(PAINTS))}"]
    for kind, _, names in [row.rpartition(" : ")]
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
KNOWN_UNITS: Final = frozenset(FAMILY)

_NUMERALS: Final = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_NUMERAL: Final = re.compile(
    rf"(?<![a-zA-Z\\])({'|'.join(_NUMERALS)})(?:(?<=ty)[- ]({'|'.join(_NUMERALS[1:10])}))?"
    r"(?:-(?=[a-z]{3})|(?![a-zA-Z]))",
    re.IGNORECASE,
)
_SCALES: Final = """
12 dozen | 1e2 hundred | 1e3 thousand | 1e6 million | 1e9 billion | 1e12 trillion | 1/2 half halves
1/3 third thirds | 1/4 quarter quarters fourth fourths | 1/5 fifth fifths | 1/6 sixth sixths
1/8 eighth eighths | 1/10 tenth tenths | 1/100 hundredth hundredths | 1/1000 thousandth thousandths
"""
SCALES: Final = {
    name: Fraction(row.split()[0])
    for row in re.split(r"\n| \| ", _SCALES.strip())
    for name in row.split()[1:]
}
"""What a number is multiplied by if it stands before a word: 4.5 million, 3 quarters."""
_SHORT_WORDS: Final = words("yes no Yes No YES NO all All the The is are was of cup")

_CHARACTERS: Final = str.maketrans(
    {chr(ord("α") + k): f"\\{name} " for k, name in enumerate(_GREEK)}
    | {chr(ord("Α") + k): f"\\{name.title()} " for k, name in enumerate(_GREEK)}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "") | {"∛": "\\sqrt[3]"}
)  # fmt: skip
_FRACTION: Final = re.compile("[¼½¾⅐-⅞]")
_SCRIPTS: Final = re.compile("([⁰¹²³⁴-⁹⁻ⁿ]+)|[₀-₉]+")
_NOON: Final = re.compile(r"(?<![a-z])([ap])\.\s?m(?:\.|(?![a-z]))", re.IGNORECASE)
_GROUPED: Final = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:\{,\}|,?\\[,;:! ]|[ ~\xa0\u2009\u202f])\s*\d{3})+(?!\d|\s*/)"
)
_COMMAS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_POINT: Final = re.compile(r"(?<![\d.,])(\d+)\{,\}(\d+)(?!\d|\{,\})")
_RAISED: Final = re.compile(r"\^\s*(\{)?\s*((?:(?:\\prime|\\circ|\\degree|['°])\s*)+)(?(1)\})")
_KNOWN: Final = "|".join(sorted(filter(str.isalpha, _COMMANDS), key=len, reverse=True))
_OPTIONS: Final = r"(?:(?<=box)(?:\[[^\[\]\n]{0,80}\])+)?(?:(?<=fcolorbox)\{[^{}\n]{0,80}\}(?=\{))?"
"""What boxes have before what they hold: ``\\bbox[red]{4}``, and the frame's colour."""
_TOKEN: Final = re.compile(
    r"\\begin\{(?P<begin>[a-zA-Z]+)\*?\}(?:\{[lcr|]*\})?|\\end\{(?P<end>[a-zA-Z]+)\*?\}"
    rf"|\\(?P<command>{_KNOWN}|[a-zA-Z]+)\*?{_OPTIONS}|(?P<newline>\\\\)(?:\[[0-9.]+[a-z]{{2}}\])?"
    r"|(?P<repeating>[0-9]{0,99}\.[0-9]{0,99}\\(?:overline|bar)\{?[0-9]{1,99}\}?)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3}(?!\w|\.\d))?)"
    r"|(?P<letters>[^\W\d_]+)|(?P<space>\\?\s+)|(?P<sign>\\.|<=|>=|(?<!\d)!=|==|=<|\*\*|.)",
    re.DOTALL,
)
NONE: Final = Token("", "")


def with_commas_joined(text: str) -> str:
    """A text with the digits of numbers like 1,000 joined: the commas of (1,000) separate."""
    return text if "(" in text or "[" in text or "\\{" in text else _COMMAS.sub(_digits, text)


def _digits(found: re.Match[str]) -> str:
    return re.sub(r"\D", "", found[0])


def _in_digits(found: re.Match[str]) -> str:
    places = [_NUMERALS.index(numeral.lower()) for numeral in found.groups() if numeral]
    return f"{sum(place if place < 20 else 10 * (place - 18) for place in places)} "


def _repeating(text: str) -> str:
    r"""The value of 0.1\overline{6}: 15/90."""
    whole, digits, block = re.split(r"\.|\\[a-z]+\{?", text.rstrip("}"))
    top = int(whole + digits + block) - int(whole + digits or 0)
    return str(Fraction(top, (10 ** len(block) - 1) * 10 ** len(digits)))


def _prepared(text: str) -> str:
    """A text with numbers in digits, without separators, and no characters that have a command."""
    text = _POINT.sub(r"\1.\2", _GROUPED.sub(_digits, text)).replace("{,}", ",")
    text = _RAISED.sub(r"\2", text)
    if not text.isascii():
        text = _FRACTION.sub(lambda one: rf"\frac{normalize('NFKC', one[0]).replace('⁄', ' ')} ", text)
        text = _SCRIPTS.sub(lambda one: f"{'^' if one[1] else '_'}{{{one[0]}}}", text)
        same = normalize("NFKC", text)
        text = same if len(same) <= 2 * len(text) else text  # some characters are 18 others
    if "matrix}" not in text and "array}" not in text:
        text = text.replace("&", "")  # it aligns
    return _NUMERAL.sub(_in_digits, _NOON.sub(r"\1m ", text.translate(_CHARACTERS)))


@lru_cache(maxsize=512)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of an answer."""
    out: list[Token] = []
    braces: list[str] = []  # of each open brace: what the command before it is
    pending, spaced = "", False
    for found in _TOKEN.finditer(_prepared(text)):
        kind, held = str(found.lastgroup), found[str(found.lastgroup)]
        if kind in ("command", "newline", "sign"):
            kind = "letter" if kind == "command" else "sign"
            kind, held = _COMMANDS.get(held, (kind, held.removeprefix("\\")))
        elif kind == "repeating":
            kind, held = "number", _repeating(held)
        shown = "hidden" not in braces
        if kind == "sign" and held == "{":
            braces.append(pending)
        elif kind == "letters" and shown:
            out += _letters(held, out[-1] if out else NONE, "words" in braces, spaced)
        shown = shown and kind not in _NOT_SHOWN
        if shown and not (held in ("{", "}") and any(braces[-1:])):
            out.append(Token(kind, held, spaced))
        if kind == "sign" and held == "}" and braces:
            braces.pop()
        if kind != "space":
            pending = kind if kind in _BRACED else ""
        spaced = kind == "space" or (spaced and kind in ("layout", "style", "words"))
    return tuple(out)


def _letters(run: str, last: Token, in_words: bool, spaced: bool) -> list[Token]:
    """The tokens of a run of letters: a name, a word, or single letters that are multiplied."""
    behind_value = last.kind == "number" or last.text in ("}", ")", "^", "°")
    if run in UNITS and (len(run) > 1 or last.text == "°") and (behind_value or in_words):
        return [Token("word", run, spaced)]
    if run == "U" and last.text in (")", "]", r"\}"):  # (0, 1) U (2, 3)
        return [Token("sign", "cup", spaced)]
    if run in _BARE:
        return [Token(_BARE[run][0], _BARE[run][1], spaced)]
    if in_words or len(run) > 3 or run in _SHORT_WORDS:
        return [Token("word", run, spaced)]
    return [Token("letter", one, spaced and not k) for k, one in enumerate(run)]
