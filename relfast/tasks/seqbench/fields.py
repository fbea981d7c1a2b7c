"""The parts of a record that SeqBench's gold is spread over, found in any of its forms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from relfast.errors import InputError
from relfast.json_text import decode_text
from relfast.tasks.seqbench.actions import Action, as_plan
from relfast.tasks.seqbench.layout import Layout, Source, from_facts, from_structure


class Fields(NamedTuple):
    """The parts, wherever they stood.

    ``structure`` is ``structural_details`` as text or decoded, ``context`` the facts. ``depth``,
    ``backtracking`` and ``noise`` are L, B and N as the record states them; like the names of the people,
    None where it does not.
    """

    completion: Any
    structure: str | Mapping[str, Any] | None
    context: str | None
    agent: str | None
    target: str | None
    depth: int | None
    backtracking: int | None
    noise: float | None

    @classmethod
    def of(cls, answer: object, question: object, row: Mapping[str, Any] | None = None) -> Fields:
        """Read ``answer`` (an object, or its JSON text), then the row; a field that is None is absent."""
        if type(answer) is not dict:
            answer = _decoded(answer)
        completion = answer.get("actions")
        if completion is None:
            completion = answer.get("completion")
        structure, context = answer.get("structural_details"), question
        metadata, parameters = answer.get("instance_metadata"), answer.get("complexity_parameters")
        if row is not None:
            completion = row.get("completion") if completion is None else completion
            structure = row.get("structural_details") if structure is None else structure
            context = row.get("context") if context is None else context
            metadata = row.get("instance_metadata") if metadata is None else metadata
            parameters = row.get("complexity_parameters") if parameters is None else parameters
        if context is None:
            context = answer.get("context")
        if type(metadata) is not dict:
            metadata = _decoded(metadata)
        if type(parameters) is not dict:
            parameters = _decoded(parameters)
        return cls(
            completion,
            structure if structure and isinstance(structure, (str, Mapping)) else None,
            context if isinstance(context, str) else None,
            _text(metadata.get("agent_name")),
            _text(metadata.get("target_name")),
            _count(parameters.get("logical_depth_L")),
            _count(parameters.get("backtracking_count_B")),
            _number(parameters.get("noise_ratio_N")),
        )

    @property
    def key(self) -> Hashable:
        """Equal for equal mazes and gold (but for a chance of 2^-64), and small: texts are not kept.

        Python's own hash is keyed anew in each process and reads 1 to 2 GB/s, faster than any digest.
        """
        structure, completion = self.structure, self.completion
        text = self.context if structure is None else structure
        if text is not None and not isinstance(text, str):
            text = repr(text)
        if not isinstance(completion, str):
            completion = repr(completion)
        size = -1 if text is None else len(text)
        return structure is None, hash(text), size, hash(completion), self.agent, self.target

    def gold(self) -> list[Action]:
        """The gold plan.

        Raises
        ------
        InputError
            There is none, or an item of it is no action.
        """
        if self.completion is None:
            raise InputError("gold is missing", field="completion")
        plan = as_plan(self.completion)
        if not plan:
            raise InputError("gold is no list of actions", field="completion")
        actions = []
        for index, action in enumerate(plan):
            if action is None:
                raise InputError(f"gold item {index} is no action", field="completion")
            actions.append(action)
        return actions

    def layout(self, gold: Sequence[Action] = ()) -> tuple[Layout, Source] | None:
        """The maze's names and where they were read from; None where nothing describes a maze."""
        rescued = next((action.parameter for action in reversed(gold) if action.name == "rescue"), None)
        agent, target = self.agent, rescued or self.target
        if self.structure is not None:
            layout = from_structure(self.structure)
            layout.agent, layout.target = agent, target
            return layout, "structural_details"
        layout_of_facts = from_facts(self.context or "", agent, target)
        return None if layout_of_facts is None else (layout_of_facts, "context")


def _decoded(value: object) -> Mapping[str, Any]:
    """An object, given as such or as its JSON text; empty if it is neither."""
    if isinstance(value, str):
        value = decode_text(value)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return value if type(value) in (float, int) else None


def _count(value: object) -> int | None:
    return value if type(value) is int else None
