"""How a task's records are put to a model: prompts with a name and a version, and one's own from a file."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from relfast.errors import UsageError

PLACE: Final = "{question}"
"""Where a record's question goes in a prompt of one's own."""


def resolve(name: str) -> Callable[..., Any]:
    """The function that ``module:function`` names."""
    module, _, function = name.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(module), function))


@dataclass(frozen=True, slots=True)
class Prompt:
    """A wording, as a fact of a task.

    Attributes
    ----------
    name, version
        What a run says it asked with; the version is bumped whenever the wording changes.
    build
        The function ("module:function") that words a question, ``(question, row) -> str``. None: the question
        as it stands is the published prompt.
    text
        The text around `PLACE`, of prompts that add nothing but words.
    """

    name: str
    version: int
    build: str | None = None
    text: str | None = None

    def words(self, question: str, row: Mapping[str, Any]) -> str:
        """What a model is asked: the prompt of a question, of the row that has it."""
        if self.text is not None:
            # replaced, not formatted: braces of LaTeX and JSON stand as they are
            return self.text.replace(PLACE, question)
        if self.build is None:
            return question
        return str(resolve(self.build)(question, row))

    @property
    def shown(self) -> str:
        """Name and version, and of one's own wording its digest: ``seqbench-few-shot 1``."""
        if self.text is None or self.version:
            return f"{self.name} {self.version}"
        import hashlib

        return f"{self.name} sha256:{hashlib.sha256(self.text.encode()).hexdigest()[:16]}"

    @classmethod
    def own(cls, name: str, text: str) -> Prompt:
        """A prompt of one's own.

        Raises
        ------
        UsageError
            The text has no place for the question.
        """
        if PLACE not in text:
            raise UsageError(f"{name}: a prompt needs {PLACE} in the place of the record's question")
        return cls(name, 0, text=text)

    @classmethod
    def boxed(cls, version: int, sentence: str) -> Prompt:
        """The question, and below it a sentence that asks for a form that ``strict`` reads."""
        return cls(BOXED, version, text=f"{PLACE}\n\n{sentence}")

    @property
    def sentence(self) -> str | None:
        """What `boxed` adds to a question; None of other prompts."""
        return self.text.removeprefix(f"{PLACE}\n\n") if self.name == BOXED and self.text else None


BOXED: Final = "boxed"
"""The name of every task's prompt that asks for a marked form: ``--prompt boxed``."""

AS_IT_STANDS: Final = Prompt("question", 1)
"""The question alone, which REL's records word themselves: they are the published prompts."""
