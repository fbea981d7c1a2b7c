"""``/docs``: one page that describes the server's routes, made of its OpenAPI description, with a form to try
each call.

The page loads nothing: the machine that serves rewards may have no access to a CDN.
"""

from __future__ import annotations

import base64
import hashlib
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
textarea { width: 100%; box-sizing: border-box; font: 14px/1.4 ui-monospace, monospace; }
"""

_SCRIPT: Final = """
for (const form of document.querySelectorAll("form[data-path]")) form.onsubmit = async (event) => {
  event.preventDefault();
  const body = form.querySelector("textarea"), shown = form.querySelector("output");
  const token = document.getElementById("token"), headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token && token.value) headers.Authorization = "Bearer " + token.value;
  shown.textContent = "…";
  try {
    const asked = {method: form.dataset.method, headers, body: body ? body.value : undefined};
    const answer = await fetch(form.dataset.path, asked), text = await answer.text();
    shown.textContent = answer.status + " " + answer.statusText + "\\n" + text;
  } catch (error) { shown.textContent = error; }
};
"""

_TOKEN: Final = (
    '<p><label>Token, for the calls on this page: <input id="token" type="password" autocomplete="off">'
    "</label></p>"
)


def _source(code: str) -> str:
    """A script or style as a source of a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


HEADERS: Final = {
    "Content-Security-Policy": f"default-src 'none'; style-src {_source(_STYLE)};"
    f" script-src {_source(_SCRIPT)}; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}
"""Headers of the page: it runs its own script, asks its own server, and stands in no other page."""


def docs_page(openapi: Mapping[str, Any]) -> str:
    """The page for an OpenAPI description, as HTML."""
    info = openapi["info"]
    title = f"{info['title']} {info['version']}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(title)}</h1><p>{escape(info.get('summary', ''))}"
        ' The same for programs: <a href="openapi.json">openapi.json</a>.</p>'
        f"{_TOKEN if openapi.get('security') else ''}"
        f"{''.join(_operations(openapi))}<h2>Objects</h2>{''.join(_schemas(openapi))}"
        f"<script>{_SCRIPT}</script></body></html>"
    )


def _operations(openapi: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            yield f'<h2><span class="method">{escape(method)}</span> <code>{escape(path)}</code></h2>'
            is_open = operation.get("security") == []
            note = " Open: it wants no token." if is_open else ""
            yield f"<p>{escape(operation.get('description', ''))}{note}</p>"
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if body:
                yield f"<p>Body: {_type(body['schema'])}</p>"
            for example in _examples(body["schema"], openapi) if body else (None,):
                yield _form(path, method, example)
            yield "<table><tr><th>Status</th><th>Meaning</th><th>Body</th></tr>"
            for status, response in operation.get("responses", {}).items():
                schema = response.get("content", {}).get("application/json", {}).get("schema")
                shown = _type(schema) if schema else ""
                what = escape(response.get("description", ""))
                yield f"<tr><td>{escape(status)}</td><td>{what}</td><td>{shown}</td></tr>"
            yield "</table>"


def _examples(schema: Mapping[str, Any], openapi: Mapping[str, Any]) -> Iterator[Any]:
    """The example bodies of each request type that an operation accepts."""
    for kind in schema.get("anyOf", [schema]):
        name = kind["$ref"].rpartition("/")[2]
        yield from openapi["components"]["schemas"][name].get("examples", ())


def _form(path: str, method: str, example: object) -> str:
    """A form that sends a call: an editable body and a button; the response appears below it."""
    text = "" if example is None else json.dumps(example, indent=1, ensure_ascii=False)
    label = f"Body of {escape(path)}"
    rows = min(16, text.count("\n") + 1)
    body = f'<textarea rows="{rows}" aria-label="{label}" spellcheck="false">{escape(text)}</textarea>'
    return (
        f'<form data-path="{escape(path.lstrip("/") or ".")}" data-method="{escape(method.upper())}">'
        f"{body if text else ''}<button>Try it</button><pre><output></output></pre></form>"
    )


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
