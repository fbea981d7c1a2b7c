"""Prompts: how a question is worded for a model, under a name and a version; users can add their own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from relfast.errors import UsageError

PLACE: Final = "{question}"
"""The placeholder for a record's question in a prompt's text."""


def resolve(name: str) -> Callable[..., Any]:
    """Import the function (or other object) named by ``module:function``."""
    module, _, function = name.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(module), function))


@dataclass(frozen=True, slots=True)
class Prompt:
    """One wording of a task's questions.

    Attributes
    ----------
    name, version
        Recorded with a run's outputs; the version is bumped whenever the wording changes.
    build
        The function ("module:function") that makes the prompt, ``(question, row) -> str``. None: the question
        itself is the prompt.
    text
        A template that contains `PLACE`; used instead of ``build`` if a prompt only adds fixed words.
    """

    name: str
    version: int
    build: str | None = None
    text: str | None = None

    def words(self, question: str, row: Mapping[str, Any]) -> str:
        """The prompt sent to a model for a question; ``row`` is the question's row."""
        if self.text is not None:
            # replaced, not formatted: braces of LaTeX and JSON stand as they are
            return self.text.replace(PLACE, question)
        if self.build is None:
            return question
        return str(resolve(self.build)(question, row))

    @property
    def shown(self) -> str:
        """Name and version, ``seqbench-few-shot 1``; for a user's own prompt, its name and digest."""
        if self.text is None or self.version:
            return f"{self.name} {self.version}"
        import hashlib

        return f"{self.name} sha256:{hashlib.sha256(self.text.encode()).hexdigest()[:16]}"

    @classmethod
    def own(cls, name: str, text: str) -> Prompt:
        """A prompt from a user's own template text.

        Raises
        ------
        UsageError
            The text does not contain `PLACE`.
        """
        if PLACE not in text:
            raise UsageError(f"{name}: a prompt needs {PLACE} in the place of the record's question")
        return cls(name, 0, text=text)

    @classmethod
    def boxed(cls, version: int, sentence: str) -> Prompt:
        """The question followed by a sentence that asks for an answer form that ``strict`` reads."""
        return cls(BOXED, version, text=f"{PLACE}\n\n{sentence}")

    @property
    def sentence(self) -> str | None:
        """The sentence that `boxed` adds to a question; None for other prompts."""
        return self.text.removeprefix(f"{PLACE}\n\n") if self.name == BOXED and self.text else None


BOXED: Final = "boxed"
"""The name of every task's prompt that asks for a marked form: ``--prompt boxed``."""

AS_IT_STANDS: Final = Prompt("question", 1)
"""The question alone. The questions of REL's records are complete prompts, the published ones."""
