"""Paired differences between two runs: standard error, interval and test, with prompts as units."""

from __future__ import annotations

from typing import Literal

DifferenceMethod = Literal["bonett-price", "student", "bootstrap"]
"""How a difference's interval was made: Bonett and Price's for paired shares, Student's over prompts, or the
paired bootstrap's percentiles."""

TestMethod = Literal["mcnemar", "permutation", "permutation-sampled", "permutation-normal"]
"""How a p was made: McNemar's exact test, all sign flips of the prompts' differences, drawn ones, or their
normal limit."""
