"""Names and places of REL-B1's gold, against the rule written with a regular expression, sets and `sorted`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias
from unittest.mock import Mock

import pytest
import tool_rows
from both_ways import Ways
from corpora import rel_records
from hypothesis import example, given, settings
from hypothesis import strategies as st
from missing_kernels import built
from seeds import rounds

from relfast.engine.job import Job
from relfast.tasks import AllOptions
from relfast.tasks.rel_b.score import alignment_in, gold_names
from relfast.tasks.text_scorer import compared_text, gold_text

Json: TypeAlias = dict[str, Any]
Write: TypeAlias = Callable[[Json], Json]

# the definition

FASTA: Final = re.compile(r"^[ \t]*>[ \t]*(\S+)[^\n]*\n[ \t]*([A-Za-z-]+)[ \t]*$", re.MULTILINE)
TAXON: Final = re.compile(r"(?:taxon|taxa)[\s_#:-]*", re.IGNORECASE | re.ASCII)


def plain_name(taxon: object) -> str:
    name = TAXON.sub("", str(taxon), count=1) if TAXON.match(str(taxon)) else str(taxon)
    name = name.lower()
    return (name.lstrip("0") or "0") if name.isascii() and name.isdigit() else name


def evidence(taxa: frozenset[str], rows: Mapping[str, str]) -> float:
    columns = [
        len(set(column)) == 1 and column[0] != "-"
        for column in zip(*(rows[taxon] for taxon in taxa), strict=False)
    ]
    stretches = [all(columns[at : at + 4]) for at in range(len(columns) - 3)]
    if not stretches:
        return 0.0
    seen, expected = sum(stretches), len(stretches) * (sum(columns) / len(columns)) ** 4
    return seen * math.log(seen / expected) - (seen - expected) if seen > expected else 0.0


def defined_names(taxa: Sequence[object], question: str, taxa_as: object) -> frozenset[str]:
    written = frozenset(map(plain_name, taxa))
    if taxa_as == "name" or not all(name.isascii() and name.isdigit() and len(name) < 10 for name in written):
        return written
    shown = FASTA.findall(question)
    rows = {plain_name(name): sequence.upper() for name, sequence in shown}
    order = sorted(name for name, _ in shown)
    if len(rows) != len(shown) or any(int(place) >= len(order) for place in written):
        return written
    places = frozenset(plain_name(order[int(place)]) for place in written)
    if taxa_as == "index" or not written <= rows.keys():
        return places
    here, there = evidence(written, rows), evidence(places, rows)
    return places if there >= 2 and there >= here + 2 else written


# alignments

NAMES: Final = st.one_of(
    st.integers(0, 12).map(str),
    st.integers(0, 12).map("taxon_{:03}".format),
    st.sampled_from(["0", "00", "01", "Taxon 3", "TAXA#4", "taxon", "10a", "A", "a", "é", "É", "ſ", "K", "k", "\u0663", "²",
                     "1\u00a02", "3\x1c4", "5\x85", "\u3000", "x>y", ">", "9999999999", "999999999", "Homo_sapiens", "\x7f", "😀",
                     "taxon_taxa_1", "taxon_taxon_0"]),
)  # fmt: skip
BLANKS: Final = st.sampled_from(["", "", "", " ", "\t", "  \t", "\r", "\x0b", "\u00a0"])
RESIDUES: Final = st.one_of(
    st.text("AC", min_size=5, max_size=90),
    st.text("Ac-", max_size=9),
    st.sampled_from(["ACGT" * 20, "acgt" * 20, "ACG-" * 20, "ACGT" * 20 + "é", "AC GT", "ACGT*", "A" * 700, "-"]),
)  # fmt: skip
ROW: Final = st.builds(
    "{}>{}{}{}{}{}{}{}".format, BLANKS, BLANKS, NAMES, st.sampled_from(["", "", " of a family", "\tx >1", "\r"]),
    st.sampled_from(["\n", "\n", "\n", "\n", "\n\n", "\r\n"]), BLANKS, RESIDUES, BLANKS,
)  # fmt: skip
LINE: Final = st.one_of(
    *(8 * [ROW]), st.sampled_from(["", "if p > 3\nACGT", ">", "> >", ">1", "(1,(2,3));", '"\\ \u2028'])
)
QUESTIONS: Final = st.builds(
    lambda lines, between, end: between.join(lines) + end,
    st.lists(LINE, max_size=14),
    st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\n "]),
    st.sampled_from(["", "\n", "\n\nWhich taxa?"]),
)
TAXA: Final = st.lists(
    st.one_of(
        st.integers(0, 9),
        st.integers(-1, 40),
        NAMES,
        st.sampled_from([True, 1.0, None, 10**9, 10**30, "taxon 007"]),
    ),
    min_size=1,
    max_size=6,
)
WRITTEN: Final = st.sampled_from([None, None, None, "name", "index", "Index", 1])


@st.composite
def planted(draw: st.DrawFn) -> str:
    """An alignment of numbered taxa, some of which share motifs: evidence decides."""
    n, size = draw(st.integers(4, 12)), draw(st.integers(20, 120))
    rows = [list(draw(st.text("ACDEFGHIKLMNPQRSTVWY-", min_size=size, max_size=size))) for _ in range(n)]
    among = draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=4, unique=True))
    for at in draw(st.lists(st.integers(0, size - 8), max_size=4)):
        for row in among:
            rows[row][at : at + 6] = "WYWHKM"
    names = draw(st.permutations([*map(str, range(n))]))
    return "\n".join(f">{name}\n{''.join(row)}" for name, row in zip(names, rows, strict=True))


@settings(max_examples=rounds(8_000))
@given(TAXA, st.one_of(QUESTIONS, planted()), WRITTEN)
@example([1], ">1\nA\n>01\nC", None)
@example([0], ">b\nAAAA\n>a\nCCCC", None)
@example(["taxon_taxa_1"], ">0\nACGTACGT\n>1\nACGTACGA", "index")
def test_names_are_those_of_the_definition(taxa: list[object], question: str, taxa_as: object) -> None:
    assert alignment_in(question) == FASTA.findall(question)
    names = defined_names(taxa, question, taxa_as)
    assert gold_names(taxa, question, taxa_as) == names
    built("text")
    gold = {"label": "yes", "taxa": taxa, "taxa_as": taxa_as}
    said = json.loads(compared_text(gold_text(gold), question))
    if isinstance(said, list) and said[1] is not None:
        assert said[0] == gold
        assert len({*said[1]}) == len(said[1])
        assert {*map(str, said[1])} == names
    elif all(type(taxon) is int and taxon >= 0 for taxon in taxa) and question.isascii():
        assert not all(name.isdigit() and len(name) < 19 for name in names)


def test_more_rows_than_there_is_room_for() -> None:
    """Machine code leaves the gold to Python."""
    question = "".join(f">{9_999 - number}\nACGT\n" for number in range(9_000))
    gold = {"label": "yes", "taxa": (taxa := [0, 3, 8_999])}
    assert gold_names(taxa, question) == defined_names(taxa, question, None) == {"1000", "1003", "9999"}
    built("text")
    assert json.loads(compared_text(gold_text(gold), question)) == [gold, None]


def _tool(name: str) -> Write:
    return lambda record: getattr(tool_rows, name)(record, [record["response"]], 3)


SHAPES: Final[dict[str, tuple[Write, bool, Json]]] = {
    **{
        name: (_tool(name), True, {})
        for name in ("traces", "inspect", "opencompass", "verl", "lm_eval", "nemo_gym", "evalscope", "skyrl")
    },
    "our own": (dict, True, {}),
    "answer as text": (lambda record: {**record, "answer": json.dumps(record["answer"])}, True, {}),
    "no question": (lambda record: {**record, "question": None}, True, {}),
    "a list for a question": (lambda record: {**record, "question": [record["question"]]}, False, {}),
    "mapped": (
        lambda record: {**record, "question": "?\n", "x": {"asked": record["question"]}},
        True,
        {"field_map": {"question": "x.asked"}},
    ),
    "mapped chat": (_tool("opencompass"), False, {"field_map": {"question": "origin_prompt"}}),
    "joined": (lambda record: {"id": record["id"], "response": record["response"]}, True, {"data": True}),
    "joined, with a question": (
        lambda record: {"id": record["id"], "question": "?\n", "response": record["response"]},
        False,
        {"data": True},
    ),
}
"""How records are written; whether their golds are read where they stand; and settings of the job."""


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_gold_is_settled_where_the_question_stands(shape: str, details: bool, tmp_path: Path) -> None:
    write, stands, more = SHAPES[shape]
    records: list[Json] = []
    for number, record in enumerate(rel_records("REL-B1")):
        places = record["answer"]["taxa"]
        names = [name for name, _ in FASTA.findall(record["question"])]
        taxa_as = {"taxa_as": ("name", "index", "?")[number % 3]} if number % 4 == 3 else {}
        for said in ([sorted(names)[place] for place in places], places):
            response = f"Yes: {', '.join(map(str, said))}" if said else "No"
            answer = {"label": record["answer"]["label"], "taxa": places, **taxa_as}
            records.append({**record, "id": f"r{len(records)}", "answer": answer, "response": response})
    data = tmp_path / "gold.jsonl"
    data.write_text("".join(json.dumps(record) + "\n" for record in records))
    more = {**more, "data": (str(data),) if "data" in more else ()}
    ways = Ways.of_job(Job(options=AllOptions(policy="strict"), details=details, **more))
    learn = Mock(wraps=ways.fast_path._known.gold_of)
    ways.fast_path._known.gold_of = learn  # type: ignore[method-assign]
    rows = ways.same([write(record) for record in records]).rows
    assert learn.called != stands
    for row, record in zip(rows, records, strict=True):
        if stands:
            question = "" if shape == "no question" else record["question"]
            answer = record["answer"]
            expected = defined_names(answer["taxa"], question, answer.get("taxa_as"))
            assert row["correct"] == ({*re.findall(r"\d+", record["response"])} == expected)
