"""The paths of the table of dialects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from relfast.formats.paths import found, steps_of
from relfast.formats.table import DIALECTS


def _paths() -> Iterator[str]:
    for dialect in DIALECTS.values():
        for form in dialect.forms:
            for tells in form.tells:
                yield from (
                    condition.partition(":")[0] for condition in f"{tells} {form.when} {form.needs}".split()
                )
            fields = (
                form.id,
                form.number or "",
                form.answer,
                form.question,
                form.response,
                form.source,
                form.row,
            )
            yield from " ".join(fields).replace("#", "").split()
            for said in form.said:
                yield from f"{said.items} {said.error} {said.reason} {said.instead}".split()
                yield from (path for _, path in said.says)
            yield from (path for path, *_ in form.none)


def test_every_path_of_the_table_is_one() -> None:
    paths = [*_paths()]
    assert len(paths) > 100
    for path in paths:
        assert len(steps_of(path)) == len([step for step in path.split(".") if step])


ROW: dict[str, Any] = {
    "a": {"b": [1, {"c": "x", "on": True, "no": None}, [2, 3]], "at": [1], "n": 0},
    "text": '{"c": {"d": 4}}',
    "list": [{"k": 1, "tags": ["right", 1]}, {"k": 2, "tags": "right"}, {"k": 0}],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("", [ROW]),
        ("a.b.0", [1]),
        ("a.b.-1.1", [3]),
        ("a.b.3", []),
        ("a.b.*.c", ["x"]),
        ("a.b.*.*?", [1, ROW["a"]["b"][1], 2, 3]),
        ("a.nothing?.n", [0]),
        ("a.n?", [0]),
        ("a.n.x?", [0]),
        ("a.b[at].c", ["x"]),
        ("a.b[n]", [1]),
        ("a.b[nothing]", []),
        ("list.*.k!.k", [1, 2]),
        ("list.*.!k.k", [0]),
        ("list.*.tags=right.k", [1, 2]),
        ("list.*.!tags=right.k", [0]),
        ("a.b.*.on=true.c", ["x"]),
        ("a.b.*.on=false.c", []),
        ("a.n=false", []),
        ("text.@.c.d", [4]),
        ("list.@.k", [1]),
        ("a.b.*.{}.c", ["x"]),
        ("a.b.*.[]", [[2, 3]]),
        ("a.b.1.~", [{"c": "x", "on": True}]),
        ("a.n.~", [0]),
        ("text.c", []),
    ],
)
def test_a_path_leads_to(path: str, values: list[Any]) -> None:
    assert [*found(ROW, path)] == values


@pytest.mark.parametrize("path", ["a..b", "a.b!=c", "a.[b]", "#a", "a b"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="no step of a path"):
        steps_of(path)
