"""``OUT.run.json``, the header of a run: its settings and statistics of its responses, for reports.

The flat entries are the settings that responses depend on (`relfast.inference.client.Settings.describe`,
with ``api`` and ``samples``). The entry `MADE` is counted from the rows of a finished run, so it does not
depend on interruptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from relfast import __version__
from relfast.inference.request_log import MADE, SETTINGS_SUFFIX
from relfast.inference.requests import Request

_SCORED: Final = ".scored.jsonl"


def made_of(
    rows: Iterable[Mapping[str, Any]], requests: Sequence[Request], generation: str
) -> dict[str, Any]:
    """The entry `MADE` of a header: relfast's version, the prompt of each task, and counts over the rows of
    ``requests``. ``generation`` is the name of the rows' field with the details of the request."""
    records = failed = 0
    errors, reasons, tokens = Counter[str](), Counter[str](), Counter[str]()
    models: set[str] = set()
    indices = {request.index for request in requests}
    for row in rows:
        about = row[generation]
        if about["index"] not in indices:
            continue
        records += 1
        failed += row["error"] is not None
        errors.update(error["type"] for error in _listed(row["error"]))
        models.update(_listed(about.get("server_model")))
        reasons.update(_listed(about.get("finish_reason")))
        for usage in _listed(about.get("usage")):
            tokens.update(usage)
    prompts: dict[str, str] = {}
    for request in requests:
        if request.wording is not None:
            prompts.setdefault(request.task or "(unknown)", request.wording)
    return {
        "relfast": __version__,
        "prompts": prompts,
        "records": records,
        "failed": failed,
        "errors": dict(sorted(errors.items())),
        "server_models": sorted(models),
        "finish_reasons": dict(sorted(reasons.items())),
        "tokens": dict(sorted(tokens.items())),
    }


def _listed(value: Any) -> list[Any]:
    """The values of a row's samples that are not None; ``value`` is one for all samples, or a list."""
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None]


def headers_of(path: str | Path) -> list[str]:
    """Where the header beside responses (``OUT``) or their scored rows (``OUT.scored.jsonl``) may be."""
    names = (str(path), str(path).removesuffix(_SCORED), str(path).replace(_SCORED, ".jsonl"))
    return [name + SETTINGS_SUFFIX for name in dict.fromkeys(names)]


def read_header(path: str | Path) -> dict[str, Any] | None:
    """The first header of `headers_of`; None without one."""
    for name in headers_of(path):
        try:
            header = orjson.loads(Path(name).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(header, dict):
            return header
    return None


def header_line(header: Mapping[str, Any]) -> str:
    """The settings of a run in one line, to be shown beside its scores."""
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
