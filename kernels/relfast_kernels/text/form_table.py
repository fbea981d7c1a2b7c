"""The documented forms of a final answer under ``strict``, as data: labels by language, fillers, tags, boxes,
nouns. `relfast_kernels.text.forms` reads answers by it, and the documentation's table is made from it.

All words are in lower case, as `relfast_kernels.text.dress` leaves a text.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Language(NamedTuple):
    """Words between blanks: ``labels`` name the answer, ``links`` tie it to its value, ``joins`` add a second
    value, ``fillers`` may stand between; a value ends before ``ends``: "12 because …", "12 for n = 3".

    All languages share one table: a word here acts in every text; before adding a short word, try it in
    English."""

    name: str
    labels: str
    links: str
    joins: str = ""
    fillers: str = ""
    ends: str = ""


LANGUAGES: Final = (
    Language(
        "English",
        "answer answers ans solution result conclusion choice option panel verdict label pick selection index"
        " decision final prediction finalanswer final_answer",
        "is are equals equal be",
        "or and",
        "the therefore thus hence so clearly indeed simply definitely number answer option choice panel final"
        " correct right best my our a exactly obviously finally",
        "because since when whenever if where whereas while for so at with as from using given provided"
        " assuming"
        " due which that thus hence therefore once unless via",
    ),
    Language(
        "Chinese",
        "答案 最终答案 正确答案 答 结论 选项",
        "是 为 选 应为 选择 应该是 就是",
        "或 和 或者",
        "第 选项 答案",
        "因为 由于 当 所以 因此 如果 其中",
    ),
    Language(
        "Spanish",
        "respuesta solución",
        "es",
        "o y",
        "final correcta la el opción",
        "porque cuando si donde para",
    ),
    Language(
        "French",
        "réponse reponse",
        "est",
        "ou et",
        "finale correcte la le option",
        "parce puisque quand si où pour",
    ),
    Language(
        "German", "antwort lösung", "ist lautet", "oder und", "die das option richtige", "weil da wenn wo für"
    ),
    Language("Portuguese", "resposta", "é", "ou e", "correta opção a", "porque quando se onde para"),
    Language("Italian", "risposta", "è", "e", "finale corretta opzione", "perché poiché quando se dove per"),
    Language(
        "Russian", "ответ", "это", "или и", "вариант правильный", "потому поскольку когда если где при для"
    ),
    Language("Japanese", "答え 解答 回答 正解 最終回答", "は", "または と", "選択肢", "なぜなら"),
    Language("Korean", "정답 답 최종답", "은 는", "또는", "선택지", "왜냐하면"),
)

QUALIFIED: Final = "one correct missing right"
"""Labels only after a word of `QUALIFIERS`: "the correct one is 4"."""
WEAK: Final = "option choice panel index result selection pick label"
"""Labels that need such a word if a verb ties them to the value: "every panel is 6" names no answer."""
QUALIFIERS: Final = "the my our final correct right best missing overall"

AUXILIARIES: Final = "would must should will"
"""Verbs that count before *be*, and nowhere else: what *could* be is no answer."""
BE: Final = "be"
IT: Final = "it that"
"""What is chosen, before a link: "it is 4"."""

NOUNS: Final = "answer option choice panel candidate number"
"""Nouns of a choice, right before it, or right after an ordinal."""

ORDINALS: Final = "first second third fourth fifth sixth seventh eighth"

CONCLUDING: Final = "so thus therefore hence finally"
"""Words that may open a line or a sentence that is nothing but an answer."""

CHOOSING: Final = (
    "so thus therefore hence choose chose chosen pick select selected with is be leaves leaving matches to "
    "equals found it's"
    " that's conclude selecting picking choosing"
)
"""Words that make a stated form right before a choice with its noun: "so it is option 4"."""
CHOOSING_BARE: Final = "choose pick select it's that's"
"""The same before a choice without its noun: "I choose 4", "it is 4"."""

FITTING: Final = (
    "correct right one missing match identical fits matches completes works satisfies continues fit"
)
"""Words that make a stated form after a choice with its noun and *is*, *the*: "option 4 is correct"."""

COUNTING: Final = "plus minus times over to modulo mod"
"""Words that make a value part of an expression if a number, a bracket or a variable follows: "4 to 6"."""
POWERS: Final = "squared cubed percent factorial"
"""Words that do so alone."""

ADVERBS: Final = "maybe perhaps possibly also either even then else"
"""Words that may stand between two joined values."""

YES, NO = "yes", "no"

TAGS: Final = "answer final_answer solution result"
BOXES: Final = "boxed fbox framebox bbox colorbox fcolorbox"
"""TeX commands around a final answer; those of colours (`PAINTS`) are none within another one."""
assert all(3 <= len(box) < 20 for box in BOXES.split())  # what `relfast_kernels.text.dress` reads of a name
BOX_TOKENS: Final = "<|begin_of_box|>", "<|end_of_box|>"
"""GLM's marks around a final answer: a box like those of TeX."""

WRAPPERS: Final = (
    "text textbf textit textrm textsf texttt textnormal textup textsc textsl textmd mathbf mathrm mathsf"
    " mathit"
    " mathtt mathbb mathcal mathfrak mathscr mathnormal mathop bf rm it sf tt cal normalfont selectfont"
    " boldmath hl smash makebox num bfseries itshape boldsymbol bm pmb bold emph underline uline"
    " ensuremath mbox hbox operatorname displaystyle textstyle scriptstyle"
    " tiny scriptsize footnotesize small normalsize large huge"
)
"""TeX commands that are removed with their braces; in any case, as ``\\Large``."""
SAYING: Final = (
    "text textbf textit textrm textsf texttt textnormal textup mathbf mathrm mathsf mathit mathbb mathcal"
    " operatorname mbox hbox"
)
"""Those that say of what kind their letters are: kept in a mathematical answer."""
PAINTS: Final = (
    "color textcolor colorbox fcolorbox pagecolor scalebox parbox resizebox raisebox rotatebox fontsize"
    " style class"
    " href hspace vspace phantom hphantom vphantom label tag cancel bcancel xcancel sout"
)
"""TeX commands whose arguments are not shown, but for one behind others: ``\\textcolor{red}{4}`` is 4."""
DROPPED: Final = (
    "left right big bigg quad qquad enspace thinspace hfill strut mathstrut noindent item centering therefore"
    " checkmark square blacksquare qed newline linebreak par smallskip medskip bigskip hline nonumber notag"
)
OPERATORS: Final = (
    "times cdot div pm mp frac dfrac tfrac cfrac binom sqrt over mod bmod pmod ast star circ bullet plus"
    " minus"
    " le leq leqslant ge geq geqslant lt gt neq approx equiv sim cong sum prod int pi alpha beta theta lambda"
    " sin cos tan log ln exp infty"
)
"""TeX commands behind a number that make it part of an expression."""
ARROWS: Final = "rightarrow to implies longrightarrow mapsto"

LAYOUT: Final = (
    "b i u em strong span code pre center font small big mark tt sub sup a ol ul table tbody "
    "thead details summary"
)
"""HTML tags that are removed."""
BREAKS: Final = "br p div h1 h2 h3 h4 h5 h6 tr li hr blockquote section"
"""HTML tags that end a line."""
CELLS: Final = "td th"
STRUCK: Final = "del s strike"


class Form(NamedTuple):
    """A row of the documentation's table: ``{X}`` stands for a task's value."""

    kind: str
    examples: tuple[str, ...]


FORMS: Final = (
    Form(
        "box",
        (
            r"\boxed{{{X}}}",
            r"$\boxed{{{X}}}$",
            r"\fbox{{{X}}}",
            r"\boxed{{\text{{{X}}}}}",
            r"\boxed{{\textcolor{{red}}{{{X}}}}}",
            r"\boxed{{\Large {X}}}",
            "<|begin_of_box|>{X}<|end_of_box|>",
        ),
    ),
    Form(
        "tag",
        (
            "<answer>{X}</answer>",
            "<final_answer>{X}</final_answer>",
            "<solution>{X}</solution>",
            "<answer>\n{X}\n</answer>",
            "<answer>{X}",
        ),
    ),
    Form(
        "label",
        (
            "Answer: {X}",
            "Final answer: {X}",
            "The answer is {X}",
            "The answer is {X}.",
            "the correct choice is {X}",
            "**Answer:** {X}",
            "Answer: {X} (because nothing else is left)",
            "## Answer\n\n{X}",
            "Answer:\n{X}",
            "#### {X}",
            '{{"answer": "{X}"}}',
            '{{"final_answer": "{X}"}}',
            '```json\n{{"answer": "{X}"}}\n```',
            "| Answer | {X} |",
            "答案：{X}",
            "最终答案是{X}",
            "Respuesta: {X}",
            "Réponse : {X}",
            "Antwort: {X}",
            "Ответ: {X}",
            "答え：{X}",
            "정답: {X}",
        ),
    ),
    Form("line", ("{X}", "**{X}**", "{X}.")),
)
"""For every task of one value. REL-A's value may have its noun ("Answer 4", "option 4") in each of them."""

STATED: Final = Form(
    "stated",
    (
        "so it is Answer {X}",
        "I choose option {X}",
        "therefore Panel {X}",
        "Answer {X} is correct",
        "Option {X} fits",
    ),
)
