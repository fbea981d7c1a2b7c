"""HELM's ``scenario_state.json`` and ``display_predictions.json``, one indented JSON document each.

The first holds requests with instance, references and completions; the second predictions by instance.
Completions and training trials of an instance are samples of one prompt, and perturbed instances prompts of
their own. ``per_instance_stats.json`` holds numbers only. Gold is a correct reference that is JSON text, or
comes from ``--data``, joined on the instance's text, else on its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.formats.failure import MISSING_RESPONSE, NoResponse
from relfast.formats.gold import gold_among, mapping_at, question_of


def matches(row: Mapping[str, Any]) -> bool:
    return _is_request(row) or _is_prediction(row)


def _is_request(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("instance"), Mapping) and isinstance(row.get("request"), Mapping)


def _is_prediction(row: Mapping[str, Any]) -> bool:
    return "instance_id" in row and "predicted_text" in row


def read(row: Mapping[str, Any]) -> Entry:
    if _is_prediction(row):
        id = _id(row.get("instance_id"), row)
        return Entry(id=id, response=row["predicted_text"], row=row)
    instance = row["instance"]
    references = instance.get("references")
    return Entry(
        id=_id(instance.get("id"), instance),
        question=question_of(mapping_at(instance, "input").get("text")),
        answer=gold_among(*_correct(references if isinstance(references, list) else ())),
        response=_completions(row),
        row=instance,
        numbered=True,
    )


def is_state(document: Any) -> bool:
    """Whether a JSON document is a scenario state."""
    return isinstance(document, Mapping) and "request_states" in document


def rows(document: Mapping[str, Any]) -> Iterator[Any]:
    """The requests of a scenario state."""
    yield from document["request_states"] or ()


def is_statistics(row: Any) -> bool:
    """Whether a row is one of ``per_instance_stats.json``, which says nothing that could be scored."""
    return isinstance(row, Mapping) and {"instance_id", "train_trial_index", "stats"} == {*row} - {
        "perturbation"
    }


def _id(id: Any, holder: Mapping[str, Any]) -> Any:
    name = mapping_at(holder, "perturbation").get("name")
    if id is None:
        return MISSING
    return f"{id} {name}" if name else id


def _correct(references: Iterable[Any]) -> Iterator[Any]:
    for reference in references:
        if isinstance(reference, Mapping) and "correct" in (reference.get("tags") or ()):
            yield mapping_at(reference, "output").get("text")


def _completions(row: Mapping[str, Any]) -> Any:
    result = mapping_at(row, "result")
    completions = result.get("completions")
    if result.get("success") is False:
        return NoResponse(MISSING_RESPONSE, str(result.get("error") or "the request failed"))
    texts = [c.get("text") for c in completions or () if isinstance(c, Mapping)]
    return texts or NoResponse(MISSING_RESPONSE, "result.completions is empty")
