"""``/docs``: the server's interface on one page, made of its OpenAPI description.

No script and nothing to load: the machine that serves rewards has no way to a CDN.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; background: #8882; }
pre { padding: .7rem; overflow-x: auto; } code { padding: .1rem .25rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; }
h2 { margin-top: 2.5rem; } .method { text-transform: uppercase; } :root { color-scheme: light dark; }
"""


def docs_page(openapi: Mapping[str, Any]) -> str:
    """The page of an OpenAPI description, as HTML."""
    info = openapi["info"]
    title = f"{info['title']} {info['version']}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(title)}</h1><p>{escape(info.get('summary', ''))}"
        ' The same for programs: <a href="openapi.json">openapi.json</a>.</p>'
        f"{''.join(_operations(openapi))}<h2>Objects</h2>{''.join(_schemas(openapi))}</body></html>"
    )


def _operations(openapi: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            yield f'<h2><span class="method">{escape(method)}</span> <code>{escape(path)}</code></h2>'
            yield f"<p>{escape(operation.get('description', ''))}</p>"
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if body:
                yield f"<p>Body: {_type(body['schema'])}</p>"
            yield "<table><tr><th>Status</th><th>Meaning</th><th>Body</th></tr>"
            for status, response in operation.get("responses", {}).items():
                schema = response.get("content", {}).get("application/json", {}).get("schema")
                shown = _type(schema) if schema else ""
                what = escape(response.get("description", ""))
                yield f"<tr><td>{escape(status)}</td><td>{what}</td><td>{shown}</td></tr>"
            yield "</table>"


def _schemas(openapi: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in openapi.get("components", {}).get("schemas", {}).items():
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
        required = schema.get("required", ())
        yield "<table><tr><th>Field</th><th>Type</th><th></th></tr>"
        for field, kind in schema.get("properties", {}).items():
            notes = [kind.get("description", "")]
            if field in required:
                notes.insert(0, "Required.")
            if "default" in kind:
                notes.append(f"Default: {json.dumps(kind['default'])}.")
            text = escape(" ".join(note for note in notes if note))
            yield f"<tr><td><code>{escape(field)}</code></td><td>{_type(kind)}</td><td>{text}</td></tr>"
            for example in kind.get("examples", ()):
                shown = escape(json.dumps({field: example}, indent=1, ensure_ascii=False))
                yield f'<tr><td></td><td colspan="2"><pre>{shown}</pre></td></tr>'
        yield "</table>"


def _type(schema: Mapping[str, Any]) -> str:
    """A type in words, with links to the objects on the page."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(each) for each in schema[several])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "anything")))
