"""``OUT.run.json``: what a run was asked with, and what came of it, for reports on its rows.

Its flat entries are what responses depend on (`relfast.inference.client.Settings.describe`, with ``api``
and ``samples``); its `MADE` is counted from the rows of a finished run, and so the same however it was
interrupted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from relfast import __version__
from relfast.inference.request_log import MADE, SETTINGS_SUFFIX
from relfast.inference.requests import Request

_SCORED: Final = ".scored.jsonl"


@dataclass
class Made:
    """What is counted of a run's rows."""

    records: int = 0
    failed: int = 0
    models: Counter[str] = field(default_factory=Counter)
    finish_reasons: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any], generation: str) -> None:
        """Count a row; ``generation`` is the field that says how its response came about."""
        about = row[generation]
        self.records += 1
        self.failed += row["error"] is not None
        for error in _listed(row["error"]):
            self.errors[error["type"]] += 1
        for model in _listed(about.get("server_model")):
            self.models[model] += 1
        for reason in _listed(about.get("finish_reason")):
            self.finish_reasons[reason] += 1
        for usage in _listed(about.get("usage")):
            self.tokens.update(usage)

    def to_dict(self, requests: Iterable[Request]) -> dict[str, Any]:
        """The `MADE` of a header: with the prompts by task, and our version."""
        prompts: dict[str, str] = {}
        for request in requests:
            if request.wording is not None:
                prompts.setdefault(request.task or "(unknown)", request.wording)
        return {
            "relfast": __version__,
            "prompts": prompts,
            "records": self.records,
            "failed": self.failed,
            "errors": dict(sorted(self.errors.items())),
            "server_models": sorted(self.models),
            "finish_reasons": dict(sorted(self.finish_reasons.items())),
            "tokens": dict(sorted(self.tokens.items())),
        }


def _listed(value: Any) -> list[Any]:
    """A value of each sample, as far as there is one."""
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None]


def read_header(path: str | Path) -> dict[str, Any] | None:
    """The header beside responses (``OUT``) or their scored rows (``OUT.scored.jsonl``); None without one."""
    for name in (str(path), str(path).removesuffix(_SCORED), str(path).replace(_SCORED, ".jsonl")):
        try:
            header = orjson.loads(Path(name + SETTINGS_SUFFIX).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(header, dict):
            return header
    return None


def header_line(header: Mapping[str, Any]) -> str:
    """What a run was asked with, in one line: to be shown where its scores are."""
    made = header.get(MADE) or {}
    parts = [f"model {header.get('model')}"]
    others = [name for name in made.get("server_models", ()) if name != header.get("model")]
    if others:
        parts.append(f"served as {', '.join(others)}")
    prompts = dict.fromkeys(made.get("prompts", {}).values())
    if prompts:
        parts.append(f"prompt {', '.join(prompts)}")
    parts += [
        f"{name.replace('_', '-')} {header[name]}"
        for name in ("temperature", "max_tokens", "samples", "seed")
        if header.get(name) is not None
    ]
    parts += [
        f"{name.replace('_', '-')} given" for name in ("system", "stop", "extra_body") if header.get(name)
    ]
    return " | ".join(parts)
