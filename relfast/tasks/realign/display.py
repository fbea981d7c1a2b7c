"""What a report shows for ReAlign: correctness by subset and length, and the alignment of a response."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import product
from typing import Any, Final

from relfast.errors import InputError, UsageError
from relfast.records import Record
from relfast.tasks.display import Axis, Display, Drawing, Exhibit, Group, Listing, Mark, Measures, Shown

DISPLAY: Final = Display(
    shown=("alignment_score",),
    axes=(Axis("subset", "subset", words=True), Axis("n_benchmark_steps", "steps of the reference")),
    measure="relfast.tasks.realign.display:measure",
    mistake="relfast.tasks.realign.display:mistake",
    exhibit="relfast.tasks.realign.display:exhibit",
    exhibits=60,
    columns=("alignment_score", "first_divergence", "quadrant"),
    section="relfast.report.realign:section",
)

MAX_STEPS_DRAWN: Final = 60
_CELL: Final = 22
_MARGIN: Final = 34
_SHADES: Final = 10


def measure(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """The record's subset, if it names one, and the number of steps of its reference."""
    sizes: dict[str, float | str] = {}
    subset = record.row.get("subset") if record.row is not None else None
    if isinstance(subset, str):
        sizes["subset"] = subset[:100]
    steps = metrics.get("n_benchmark_steps")
    if isinstance(steps, int):
        sizes["n_benchmark_steps"] = steps
    return Measures(sizes)


def mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """Name the quadrant of a wrong answer."""
    if metrics["quadrant"] is None:
        return "the published rule finds no answer in the reference"
    if metrics["quadrant"] == "hallucination":
        return "hallucination: follows the reference, answers wrong"
    return "failure: leaves the reference, answers wrong"


def exhibit(shown: Shown) -> Exhibit:
    """Mark the boxed answer, and show the similarities of the steps with their alignment."""
    from relfast.tasks.realign.extract import read_reference, read_response

    reference = read_reference(shown.record, shown.options)
    solution = read_response(shown.record.response, shown.options).value
    marks = _marks(shown.record.response, solution.answer, shown.strict)
    if isinstance(reference, str):
        return Exhibit(marks, reference)
    why = ""
    if not shown.correct and reference.answer is None:
        why = (
            "The published rule finds no answer in the reference, which has no \\boxed{…}: nothing is right."
        )
    elif not shown.correct:
        why = f"It answers {_named(solution.answer)}; the reference has {_named(reference.answer)}."
    return Exhibit(marks, why, *_alignment(reference.steps, solution.steps, shown.embedder))


def _named(answer: str | None) -> str:
    return "nothing" if answer is None else answer[:200]


def _marks(response: object, answer: str | None, strict: bool) -> tuple[Mark, ...]:
    if not answer or not isinstance(response, str):
        return ()
    boxed = f"\\boxed{{{answer}}}"
    at = response.rfind(boxed) if strict else response.find(boxed)
    if at >= 0:
        return (Mark(at, at + len(boxed)),)
    at = response.rfind(answer)
    return (Mark(at, at + len(answer)),) if at >= 0 else ()


def _alignment(
    benchmark: list[str], llm: list[str], embedder: str
) -> tuple[tuple[Group, ...], tuple[Listing, ...]]:
    """Heatmap and table of the alignment; only the steps if no embedding model is on this machine."""
    from relfast.embed.embedder import get_embedder
    from relfast.tasks.realign.alignment import Pair, align_pairs, similarity_matrix

    steps = Listing(
        "Steps",
        ("", "step"),
        tuple((f"B{k}", s) for k, s in enumerate(benchmark, 1))
        + tuple((f"L{k}", s) for k, s in enumerate(llm, 1)),
    )
    if not benchmark or not llm or max(len(benchmark), len(llm)) > MAX_STEPS_DRAWN:
        return (), (steps,)
    try:
        encoder = get_embedder(embedder)
    except (UsageError, InputError) as error:
        return (Group("Alignment", (), f"The heatmap is left out: {error}."),), (steps,)
    (alignment,) = align_pairs([Pair(benchmark, llm)], encoder)
    if alignment is None:
        return (), (steps,)
    entries = alignment.entries(benchmark, llm)
    matrix = similarity_matrix(benchmark, llm, encoder)
    path = {(e["benchmark_idx"], e["llm_idx"]) for e in entries if e["type"] == "match"}
    svg = _heatmap(matrix, path, benchmark, llm)
    rows = tuple(
        (
            e["type"].replace("_", " "),
            f"{e['score']:.2f}" if e["type"] == "match" else "",
            "" if e["benchmark_step"] is None else f"B{e['benchmark_idx'] + 1}  {e['benchmark_step']}",
            "" if e["llm_step"] is None else f"L{e['llm_idx'] + 1}  {e['llm_step']}",
        )
        for e in entries
    )
    drawing = Drawing(svg, _CAPTION)
    listing = Listing("Alignment", ("", "similarity", "reference", "response"), rows)
    return (Group("Alignment", (drawing,), wide=True),), (listing,)


_CAPTION: Final = (
    "Cosine similarity of the reference's steps (B, down) and the response's (L, across); aligned cells are"
    " framed."
)


def _heatmap(matrix: Any, path: set[tuple[int, int]], benchmark: list[str], llm: list[str]) -> str:
    """An SVG of the similarities: cells in shades by CSS classes ``h0`` to ``h9``, aligned cells framed."""
    rows, columns = matrix.shape
    width, height = _MARGIN + _CELL * columns + 4, _MARGIN + _CELL * rows + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        ' class="heatmap" font-size="10">'
    ]
    for i, j in product(range(rows), range(columns)):
        value = float(matrix[i, j])
        shade = min(_SHADES - 1, max(0, int(value * _SHADES)))
        x, y = _MARGIN + _CELL * j, _MARGIN + _CELL * i
        parts.append(
            f"<g><title>B{i + 1} × L{j + 1}: {value:.2f}</title>"
            f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" class="h{shade}"/>'
            f'<text x="{x + _CELL // 2}" y="{y + 14}" text-anchor="middle" class="h{shade}t">'
            f"{100 * value:.0f}</text></g>"
        )
    for i, j in sorted(path):
        x, y = _MARGIN + _CELL * j + 1, _MARGIN + _CELL * i + 1
        parts.append(f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}" class="path"/>')
    for k, step in enumerate(benchmark):
        parts.append(_name(f"B{k + 1}", step, _MARGIN - 6, _MARGIN + _CELL * k + 15, "end"))
    for k, step in enumerate(llm):
        parts.append(_name(f"L{k + 1}", step, _MARGIN + _CELL * k + _CELL // 2, _MARGIN - 8, "middle"))
    return "".join([*parts, "</svg>"])


def _name(name: str, step: str, x: int, y: int, anchor: str) -> str:
    # replace characters that XML does not allow
    title = escape("".join(c if c.isprintable() else " " for c in step[:300]))
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"><title>{title}</title>{name}</text>'
