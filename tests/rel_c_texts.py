"""Responses to REL-C2 and C3 for tests that hold a quick way against the ordinary one: texts of whatever means
something to an extractor, and texts as models write them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from corpora import rel_records, rows, with_prefix
from relfast_kernels.compiled import native
from strict import cases_rel_c2, cases_rel_c3
from strict.corpus import samples

Json = dict[str, Any]

POLICIES = ("reference", "strict")
RECORDS = {task: rel_records(task)[:6] for task in ("REL-C2", "REL-C3")}


def build_units() -> None:
    """See that the kernels are there that judge."""
    for unit in ("text", "tags", "smiles", "mcs"):
        if native.load(unit) is None:
            native.build(unit)


def molecules(record: Json) -> list[str]:
    """Of gold, and some that the question gives."""
    answer = record["answer"]
    return [*answer.get("missing_smiles", [answer.get("smiles")]), *answer["molecules"][:3]]


PIECES = (
    "<smiles>", "<smiles>", "<smiles>", "</smiles>", "</smiles>", "<SMILES>", "</ smiles>", "<smiles", "<",
    "<\u017fmiles>", "<sm\u0131les>", "<s>", "</s>", "<del>", "<strike>", "<!--", "-->", "~~", "/*", "&lt;", "\\u003c",
    "\\<", "\\n", "\uff1c", "<think>", "</think>", "<THINK", "[eos]", "[nH]", "\u25c1think\u25b7", "analysis",
    "<|im_end|>", "\n", "\r\n", "\n\n", " ", "\t", "\x1c", "\x85", "\u2028", "\u00e9", ". ", ", ", "1. ", "- ", "\u2022",
    "*", "`", "and", "or", "tag", "smiles=", "Answer=", "motif", "The answer is:", "Given molecules:\n", "not",
    "This is not the motif: ", "For example ", "CCO", "c1ccccc1", "C(C)C", "CC[Te]C", "[13CH4]", "[NH4+]", "C.C",
    "C:C", "C\\C=C/C", "F[C@H](Cl)Br", "C" * 1_001, "wait, ", "C1CC(", "<answer>", "</answer>", "---", "***", "|", '", "',
    "}", "\\boxed{", "[", "$", ":", "Yes?", "Is it ", "?", "Such as ", "Final answer: ", "&", "Not an isomer:\n",
    "\ud800", "answer", "O=C1C=CC=CN1", "Oc1ccccn1",
)  # fmt: skip


def tags_with_pieces(rng: random.Random, said: Sequence[str], n: int, before: Sequence[str] = ()) -> str:
    """A few tags with some of what is ``said`` in them, ``n`` pieces among them."""
    parts = [*before, *(f"<smiles>{rng.choice(said)}</smiles>\n" for _ in range(rng.randrange(1, 5)))]
    for _ in range(n):
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(PIECES))
    return "".join(parts)


def as_models_write(rng: random.Random) -> Iterator[tuple[Json, str]]:
    """Records with made-up responses, honest ones and attacks, and with those of which the published scorer's
    results are known."""
    for table, cases in (("rel_c2", cases_rel_c2.cases()), ("rel_c3", cases_rel_c3.cases())):
        for sample in samples(table, cases, rng, 4):
            yield dict(sample.case.record), sample.response
    records = {record["id"]: record for task in RECORDS for record in rel_records(task)}
    for row in rng.sample([row for row in rows("parity/rel.jsonl.gz") if row["id"] in records], 300):
        yield records[row["id"]], with_prefix(row.get("prefix"), row["response"])
