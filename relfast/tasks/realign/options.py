"""The options of ReAlign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from relfast.parameters import Choice, Text, parameter
from relfast.records import Options

Grader = Literal["symbolic", "math-verify"]


@dataclass(frozen=True)
class RealignOptions(Options):
    """What decides a score of ReAlign.

    The signature names the embedding model by its weights, wherever a task embeds, not by these two.
    """

    embedder: str = parameter("auto", Text(), "Embedding model of ReAlign.", metavar="NAME|DIR", shown=False)
    device: str = parameter("cpu", Text(), "Device of the embedding model.", shown=False)
    grader: Grader = parameter("symbolic", Choice(get_args(Grader)), "ReAlign's answer comparison.")


class RealignKeywords(TypedDict, total=False):
    """`RealignOptions` as keywords."""

    embedder: str
    device: str
    grader: Grader
