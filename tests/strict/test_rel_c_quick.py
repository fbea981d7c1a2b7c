"""The quick readings of REL-C2 and REL-C3 lists are the thorough ones."""

from __future__ import annotations

import pytest
from seeds import fresh
from strict import cases_rel_c2, cases_rel_c3
from strict.corpus import samples

from relfast.tasks.rel_c import final_tags
from relfast.tasks.rel_c.tags import unescaped


@pytest.mark.parametrize(
    ("table", "read"), [("rel_c2", final_tags.final_molecule), ("rel_c3", final_tags.final_molecules)]
)
def test_quick_readings_are_the_thorough_ones(
    table: str, read: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(read)
    cases = (cases_rel_c2 if table == "rel_c2" else cases_rel_c3).cases()
    texts = [unescaped(sample.response) for sample in samples(table, cases, fresh(33), 2)]
    quick = [read(text) for text in texts]
    monkeypatch.setattr(final_tags, "plain_tail", lambda _: None)
    monkeypatch.setattr(final_tags, "plain_list", lambda _: None)
    other = [(text, was, now) for text, was in zip(texts, quick, strict=True) if (now := read(text)) != was]
    assert not other, other[:10]
