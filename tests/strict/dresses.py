"""The documented forms of a final answer in the dresses that models put on them.

A dress changes what a reader sees of an answer in no way. One of `AROUND` is put around a whole form (a quotation,
a list mark, reasoning before it), one of `EACH_LINE` on each of its lines that a mark of markdown or JSON does not
open, one of `VALUE` on the value alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from relfast_kernels.text.form_table import FORMS
from strict.corpus import FAMILIES, WORKING

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
    "quotation": lambda form: "\n".join(f"> {line}".rstrip() for line in form.split("\n")),
}

EACH_LINE: Final[dict[str, Dress]] = {
    "bold line": lambda line: f"**{line}**",
    "italic line": lambda line: f"*{line}*",
    "bold italic line": lambda line: f"***{line}***",
    "underlined line": lambda line: f"__{line}__",
    "html bold line": lambda line: f"<b>{line}</b>",
    "strong line": lambda line: f"<strong>{line}</strong>",
    "span line": lambda line: f'<span style="color:red">{line}</span>',
    "em line": lambda line: f"<em>{line}</em>",
}

VALUE: Final[dict[str, Dress]] = {
    "bold": lambda value: f"**{value}**",
    "italic": lambda value: f"*{value}*",
    "code": lambda value: f"`{value}`",
    "bold code": lambda value: f"**`{value}`**",
    "strong": lambda value: f"<strong>{value}</strong>",
    "html bold": lambda value: f"<b>{value}</b>",
    "html code": lambda value: f"<code>{value}</code>",
    "text": lambda value: f"\\text{{{value}}}",
    "textbf": lambda value: f"\\textbf{{{value}}}",
    "mathrm": lambda value: f"\\mathrm{{{value}}}",
    "dollars": lambda value: f"${value}$",
    "dollars and text": lambda value: f"$\\text{{{value}}}$",
    "nested text": lambda value: f"\\text{{\\textbf{{{value}}}}}",
    "zero width inside": lambda value: f"\u200b{value}\u200b",
    "variation selector": lambda value: f"{value}\ufe0f",
}


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
        for name, dress in EACH_LINE.items():
            yield example, name, "\n".join(dress(line) if _takes(line) else line for line in form.split("\n"))
    for name, dress in VALUE.items():
        for example, form in forms(dress(value), kinds):
            if '"' not in example or "\\" not in form:  # a backslash in JSON is an escape
                yield example, name, form


def _is_inline(form: str) -> bool:
    return "\n" not in form and _takes(form)


def _takes(line: str) -> bool:
    """Whether marks around a line do not end what markdown or JSON makes of it."""
    return bool(line) and not line.startswith(("#", "|", "{", "`")) and "**" not in line
