"""The generated parts of docs/strict.md are what docs/forms.py makes of the table of forms and the tasks today."""

from __future__ import annotations

import importlib.util

import pytest
from corpora import ROOT

_spec = importlib.util.spec_from_file_location("docs_forms", ROOT / "docs" / "forms.py")
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)


@pytest.mark.parametrize("name", made.PARTS)
def test_parts_of_the_page_are_made_from_the_code(name: str) -> None:
    on_page = made.part(made.PAGE.read_text("utf-8"), name)
    assert on_page == "\n".join(made.PARTS[name]()), "python docs/forms.py writes it anew"
