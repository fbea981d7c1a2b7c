"""What a dump says about a response besides its text: its finish reason, its tokens, and reasoning that is
stored in a field of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.formats.paths import follow
from relfast.records import ResponseFacts
from relfast.tasks.reasoning import strip_reasoning

_REASONING: Final = ("reasoning", "reasoning_content", "thinking")
_TOKENS: Final = ("completion_tokens", "output_tokens")
_DETAILS: Final = ("completion_tokens_details", "output_tokens_details")


def facts_of(row: Mapping[str, Any], response: Any, sample: int = 0, samples: int = 1) -> ResponseFacts:
    """The facts of a sample.

    Parameters
    ----------
    row
        The dump's row, decoded: a native one with ``finish_reason``, ``usage`` and ``reasoning`` (also under
        ``generation``; each a value, or a list with one item per sample), or a row of OpenAI's batch API.
    response
        The sample's text.
    sample, samples
        The number of the sample, and how many the row has.
    """
    text = response if isinstance(response, str) else None
    body, choice = (_mapping(follow(row, f"response.body{path}")) for path in ("", f".choices.{sample}"))
    about = _mapping(row.get("generation")) or row
    usage = _mapping(_of_sample(about.get("usage"), sample, samples))
    if not usage and samples == 1:
        # a server counts the tokens of all choices together: with several, no choice's own number is known
        usage = _mapping(body.get("usage"))
    reasoning = next(
        (
            found
            for holder in (_mapping(choice.get("message")), about)
            for name in _REASONING
            if isinstance(found := _of_sample(holder.get(name), sample, samples), str)
        ),
        None,
    )
    if reasoning is not None:
        apart: int | None = len(reasoning)
    else:
        apart = None if text is None else len(text) - len(strip_reasoning(text))
    reason = choice.get("finish_reason", _of_sample(about.get("finish_reason"), sample, samples))
    if reason is None:
        reason = _mapping(body.get("incomplete_details")).get("reason")
    details = next((_mapping(usage[name]) for name in _DETAILS if name in usage), usage)
    return ResponseFacts(
        None if text is None else len(text),
        apart,
        next((n for name in _TOKENS if (n := _count(usage.get(name))) is not None), None),
        _count(details.get("reasoning_tokens")),
        reason if isinstance(reason, str) else None,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _of_sample(value: Any, sample: int, samples: int) -> Any:
    """A sample's part of a field: its item if the field is a list with one per sample; the value itself if
    the row has only one sample, or if it is a text; else None."""
    if isinstance(value, list):
        return value[sample] if len(value) == samples else None
    return value if samples == 1 or isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
