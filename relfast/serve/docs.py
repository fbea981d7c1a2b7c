"""``/docs``: the server's paths on one page, each with a call to copy; made of its OpenAPI description.

Nothing to load: the machine that serves rewards has no way to a CDN.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
pre { font: 14px/1.4 ui-monospace, monospace; background: #8882; padding: .7rem; overflow-x: auto; }
h2 { margin-top: 2.5rem; } :root { color-scheme: light dark; }
"""


def docs_page(openapi: Mapping[str, Any], url: str) -> str:
    """The page of an OpenAPI description, as HTML; ``url`` is the server's."""
    title = escape(f"{openapi['info']['title']} {openapi['info']['version']}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>{escape(openapi['info']['summary'])}"
        f' Fields, statuses and answers: <a href="openapi.json">openapi.json</a>.</p>'
        f"{''.join(_operations(openapi, url))}</body></html>"
    )


def _operations(openapi: Mapping[str, Any], url: str) -> Iterator[str]:
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            wants_token = operation.get("security", openapi.get("security"))
            yield f"<h2>{escape(method.upper())} <code>{escape(path)}</code></h2>"
            yield f"<p>{escape(operation['description'])}</p>"
            call = ["curl", f"{url.rstrip('/')}{path}"]
            if wants_token:
                call += ["-H", "Authorization: Bearer TOKEN"]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            for example in _examples(body["schema"], openapi) if body else (None,):
                sent = [] if example is None else ["-H", "Content-Type: application/json", "-d", example]
                yield f"<pre>{escape(shlex.join([*call, *sent]))}</pre>"


def _examples(schema: Mapping[str, Any], openapi: Mapping[str, Any]) -> Iterator[str]:
    """A body of each kind that an operation takes."""
    for kind in schema.get("anyOf", [schema]):
        name = kind["$ref"].rpartition("/")[2]
        for example in openapi["components"]["schemas"][name].get("examples", ()):
            yield json.dumps(example, ensure_ascii=False)
