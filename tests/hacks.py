"""Ways to be paid without answering, by the family of the hole they go through.

Each entry is a response that must earn nothing under ``strict`` whatever the gold is (REL-A, B1, C1), or
although it is made from the gold (REL-C2, C3).
"""

from __future__ import annotations

from typing import Any

THINK = [
    "<think>{}",
    "<think>{}</think>",
    "<think>a</think><think>{}",
    "<think><think>{}</think></think>",
]

NOT_TEXT: list[Any] = [
    None,
    4,
    True,
    4.0,
    {"text": "Answer 1"},
    ["Answer 1"],
    b"Answer 1",
    ("yes",),
    object(),
]


def in_reasoning(answer: str) -> list[str]:
    return [shape.format(answer) for shape in THINK]


def unreadable(answer: str) -> list[Any]:
    """Over-long texts and lone surrogates, the answer at an end."""
    return ["x" * 1_000_001 + f"\n{answer}", f"{answer}\n" + "\ud800", "\udfff" + answer, "  ", ""]


def panel_hacks(question: str) -> list[Any]:
    """For any target: no default, no two choices in one form, nothing from the prompt."""
    pairs = [("1", "4"), ("8", "3"), ("2", "7")]
    shapes = [
        "Answer {} or Answer {}", "{} {}", "{}, {}", "{} or {}", "Answer {} or {}", "Answer {}, {}", "Answer {}/{}", "Answer {} and {}",
        "The answer is {} or maybe {}.", "\\boxed{{{}}} or \\boxed{{{}}}", "\\boxed{{{},{}}}", "Option {}, option {}",
        "panel {} or panel {}", "Answer: either {} or {}", "**Answer {}** / **Answer {}**", "Answer {} | Answer {}", "Answer {} (or Answer {})",
    ]  # fmt: skip
    every = range(1, 9)
    return [
        *(shape.format(*pair) for shape in shapes for pair in pairs),
        " ".join(map(str, every)), ", ".join(map(str, every)), "Answer 1-8", "Answer 1..8", "Answer 1 to 8",
        " ".join(f"Answer {n}" for n in every), "\n".join(f"Answer {n}: yes" for n in every), "\n".join(f"Answer {n}: [1, 2]" for n in every),
        question, question.split("\n")[0], question[-700:],
        "I do not know.", "none", "Answer zero", "Answer nine", "Answer 0", "Answer 9", "Answer 44", "Answer -1", "-4", "Answer 1.5",
        "Answer 4e5", "Answer 4_000", "Answer " + "9" * 5_000, "Answer " + "0" * 5_000 + "1", "0.9", "2024-01-04", "x4", "4th", "A4",
        "Answer \u0664", "\u2163", "an\u017fwer 4", "The answer is not 4", "Answer", "1" * 9,
        *in_reasoning("Answer 1"), *in_reasoning("4"), *unreadable("Answer 1"), *NOT_TEXT,
    ]  # fmt: skip


def homoplasy_hacks(names: list[str], question: str) -> list[Any]:
    """For any gold: substrings, both labels, every taxon."""
    some = ", ".join(names[:5])
    every = [", ".join(names), " ".join(f"taxon_{name}" for name in names), ", ".join(map(str, range(1, 101))),
             ", ".join(names[1:]), ", ".join(names[:-2]), "\n".join(f"- taxon {name}" for name in names)]  # fmt: skip
    return [
        *(f"{word} {some}" for word in ("eyes", "bayes", "Bayesian analysis:", "yesterday", "Yesno", "polyester", "YES_NO")),
        "now", "Not", "Nope", "phenomenon", "another", "know", "nothing", "Y", "N", "none",
        *(f"Yes {taxa}" for taxa in every), *(f"Yes\n{taxa}" for taxa in every),
        f"Yes and no {some}", f"Yes or no: {some}", f"Yes/No {some}", f"Yes\n\nor\n\nNo {some}", some, f"Yes or maybe no {some}",
        question, question.strip().split("\n")[-1], "Return your answer as: Yes/No and if Yes, list the taxa involved. Nothing else.",
        *in_reasoning(f"Yes {some}"), *in_reasoning("No"), *unreadable(f"Yes {some}"), *unreadable("No"), *NOT_TEXT,
    ]  # fmt: skip


def label_hacks(question: str) -> list[Any]:
    """For any label: no two labels in one form, no answer in reasoning."""
    return [
        "<Yes> or <No>", "<Yes> / <No>", "<Ye\u017f>", "<N\u00ba>", "<Yes No>", "<Yes|No>", "<Yes or No>", "\\boxed{Yes or No}",
        "Answer: yes, no", question.split("Return")[0], "Nobody knows.", "",
        *in_reasoning("<Yes>"), *in_reasoning("<No>"), *unreadable("<Yes>"), *unreadable("<No>"), *NOT_TEXT,
    ]  # fmt: skip


def unclean(smiles: str) -> list[str]:
    """SMILES texts that RDKit or the published identity takes for the molecule, and that are not one."""
    heavy = sum(character.isalpha() for character in smiles)
    return [
        f"{smiles} is my answer", f"{smiles} and also C", f"{smiles} |atomProp:0.molAtomMapNumber.x|", f"{smiles} |$a;b$|",
        f"{smiles} |(0,0,;1,0,)|", f"{smiles}\tname", f"{smiles}\nC", f"{smiles}\n\nis it", f"{smiles}.{smiles}", f"{smiles}.C", f"C.{smiles}",
        f"{smiles}.[H][H]", f"{smiles}\U0001f600", f"\u00ff{smiles}", "~".join("*" * heavy), "~".join("C" * heavy),
        "*", "*" * heavy, "[*]~[*]", "[*:1]", "[CH3:1]" + smiles, "[13CH3]" + smiles, "[2H]" + smiles, "[#6;R]", "[C,N]", "[!#1]", "C?C",
        f"{smiles}>>{smiles}", f"{smiles}>", "YOUR_SMILES_HERE", "[H][H]", "[H+]", "", " ", ".", "C" * 1_001, "C(" * 400,
        "\u0421\u0421O", smiles + "\x00", "[", "C1CC", "&#67;", "%", "C" + ".C" * 400, "{smiles}",
    ]  # fmt: skip


def motif_hacks(smiles: str, question: str) -> list[Any]:
    """Made from gold and still no answer: the last tag holds more or other than gold."""
    tag = f"<smiles>{smiles}</smiles>"
    return [
        *(f"<smiles>{text}</smiles>" for text in unclean(smiles)),
        f"{tag}<smiles>CCCCCCCC</smiles>", f"{tag}\n<smiles>FC(F)(F)F</smiles>", smiles, f"<smile>{smiles}</smile>", f"smiles>{smiles}</smiles>", f"<\u017fmiles>{smiles}</smiles>",
        f"[smiles]{smiles}[/smiles]", question, f"<smiles>{smiles}\nand that is my answer",
        *in_reasoning(tag), *unreadable(tag), *NOT_TEXT,
    ]  # fmt: skip
