"""Pieces of text that mean something to what reads responses."""

from __future__ import annotations

from typing import Final

PIECES: Final = [
    "Answer", "answer", "ANSWER", "nswer", "swer", "Answer 4", "Answer #3", "Answer # \n 2", "Answer\t8", "answer 9",
    "Answer 0", "Answer 17", "Answer" + "0" * 30 + "3", "Answer\u00a05", "Answer\u202f#\u30006", "Answer\x1c7", "Answer\x0b2",
    "<Yes>", "<no>", "< YES >", "<\nNo\t>", "<\u2009yes\u00a0>", "<Yes", "<Maybe>", "<", ">",
    "yes", "no", "Yes.", "No.", "eyes", "now", "\no", "n\no", "\\no", "\\\\no", "taxon_15", "taxon 3", "taxon\n7", "TAXON_4",
    "taxon\u00a09", "taxon\u202f15", "\taxon_5", "taxon", "taxon_", "xon", "15", "4th", "_4", "4_", "3.5", "-2", "\n4",
    "\\4", "4\\", "\"4\"", "8", "0", "00", "3 3 15 15 3", " ", "  ", "\n", "\t", "\r", "\f", "\b", "\x0b", "\x1c", "\x1f", "\x85",
    "/", "\\", "\"", "é", "ſ", "４", "–", "“", "×", "→", "你", "Ω", "4é", "é4", "–4–", "4你", "②", "½", "\u00a0", "K", "İ", "ı",
    "\u2028", "\x00", "\x7f", "😀", "\u0301", "ǅ", "٣", "𝟜", "ａ4", ",", ".", "#", "<think>", "</think>", "<THINK>", "</Think>",
    "<thinking>", "</thinking>", "[think]", "[/THINK]", "◁think▷", "<|channel|>final<|message|>", "<|im_end|>", "</s>", "[EOS]",
    "analysis", "Analysis", "assistantfinal", "<｜end▁of▁sentence｜>", "[1]", "[/x]", "</", "<eos>", "<seed:think>",
    "a" * 70, "no" * 40, "1" * 5000, " ".join(map(str, range(300))), "\ud83d", "\udc00",
]  # fmt: skip
"""What extractors, reasoning's marks and JSON's escapes may stumble over."""
