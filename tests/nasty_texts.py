"""Texts that take a careless pattern quadratic time or worse, at any length."""

from __future__ import annotations

from relfast_kernels.text.marks import ANY, MARKS, TURN_ENDS

UNITS = {
    "answer, spaces": ("Answer", " "), "answers": ("", "Answer "), "answers, filler": ("", "answer is the "), "tied": ("", "Answer 4 "),
    "tied, differing": ("", "Answer 4 blah Answer 3 blah "), "tied lines": ("", "Answer 4\n"), "listing": ("", "Answer 4: [1]\n"),
    "asserted": ("", "the answer is 4 "), "ranges": ("panel", " (1-8)"), "boxes": ("", "\\boxed{"), "boxed": ("", "\\boxed{4}"),
    "numbers alone": ("", "4\n"), "numbers": ("", "4 "), "digits": ("", "4"), "digits after answer": ("Answer ", "9"), "dots": ("", "1."),
    "enumeration": ("Yes\n", "1. x\n"), "commas": ("yes ", "1,"), "brackets": ("yes ", "1(["), "markup": ("", "*_"), "lines": ("", "\n"),
    "spaces": ("", " "), "carriage returns": ("", "\r"), "yes": ("", "yes "), "no": ("", "no "), "yes no": ("", "yes no "),
    "verdict lines": ("", "yes\nno\n"), "yes or no": ("", "yes/no "), "yes or": ("yes", " or"), "spaces in yes/no": ("", "yes  "),
    "taxon": ("", "taxon"), "taxon_": ("", "taxon_"), "taxa": ("yes ", "taxon_1 "), "taxa, words": ("yes taxa ", "are "),
    "and": ("yes 1", " and"), "no other": ("", "no other "), "tags": ("", "<smiles>"), "filled tags": ("", "<smiles>C</smiles>"),
    "differing tags": ("", "<smiles>C</smiles><smiles>N</smiles>"), "tag, spaces": ("<smiles>", " "), "tag, lines": ("<smiles>", "\n"),
    "tags, lines": ("", "<smiles>\n\n"), "open": ("", "<"), "open, spaces": ("", "<  "), "labels": ("", "<Yes>"), "half labels": ("", "<Yes "),
    "thoughts": ("", "<think>"), "ends of thought": ("", "</think>"), "thought over": ("", "<think>4</think>"), "nested": ("", "<think></thin"),
    "surrogates": ("", "\ud800"), "long s": ("", "<\u017f"), "nul": ("", "\x00"), "emoji": ("", "\U0001f600"), "words": ("", "word "),
    "a word": ("", "x"), "headings": ("", "# Answer\n"), "dashes": ("Answer", " - "), "quotes": ("", '"'), "steps": ("", "Step 1: \n"),
    "moves": ("", "('move_to', 'A1'), "), "open lists": ("", "['"), "escapes": ("", "\\"), "pairs": ("", "[("), "sure": ("", "Sure,\n"),
    "plans": ("", "['start: A1', "), "whole plans": ("", "['start: A1'] or "), "numbered moves": ("", "1. start: a\n2. rescue: b\n"),
    "moves in words": ("", "start: a, rescue: b, 'x', "), "calls": ("", "- start(A1"), "objects": ("", '{"a":'), "comments": ("", "<!--"),
    "struck": ("", "~~a "), "final": ("", "Final answer:\n<smiles>C"), "or": ("", "<smiles>CCO</smiles> or "), "entities": ("", "&lt;smiles&gt;"),
    "boxes in boxes": ("", "\\boxed{{"), "filled boxes": ("", "\\boxed{a "), "braces": ("", "{"), "parentheses": ("(", "a"),
    "a step": ("Step", " "), "results": ("", "#### \n"), "no, boxes": ("", "\\boxed{5} no, "), "dollars": ("", "$1$ "), "to": ("", "the answer to "),
    "labels of answers": ("", "A: "), "equations": ("", "a="), "answers' tags": ("", "<answer>"), "torn tags": ("</b>", "<b "),
    "own marks": ("", "<cot>"), "own marks over": ("", "<cot></cot>"), "own ends": ("", "</cot>\n"), "mixed marks": ("", "<cot><think>"),
    "other marks": ("", "<think></thinking>"), "channels": ("", "<|channel|>"),
    "final channels": ("", "<|channel|>final<|message|>"), "analysis": ("", "analysis"), "assistant": ("", "assistantfinal"),
    "capitals": ("", "\u0130"),
}  # fmt: skip
UNITS |= {
    word: ("", word) for word in (*(word.replace(ANY, "a") for mark in MARKS for word in mark), *TURN_ENDS)
}
"""Name → (head, unit): the head once, the unit over and over."""


def nasty_text(name: str, length: int) -> str:
    head, unit = UNITS[name]
    return (head + unit * (length // len(unit)))[:length]
