"""What the gate measures: each unit of kernels, a text dump, a chemistry dump and reward calls, in a second or two."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import orjson

from benchmarks.measure import relfast_command
from benchmarks.workloads_dumps import PROMPT_OPENS, PROMPTS

if TYPE_CHECKING:
    from relfast.records import Policy

TEXT_RECORDS: Final = 20_000
CHEM_RECORDS: Final = 1_500


class Probe(NamedTuple):
    """Work, and how many slices of it are measured. ``whole``: a command of its own, which is run once a slice."""

    ours: Callable[[], object]
    slices: int = 60
    whole: bool = False


def _alignment(folder: Path) -> Probe:
    from relfast_kernels.align import align_batch

    from benchmarks.workloads_realign import matrices

    pairs, rows, columns = 200, 12, 14
    flat = matrices(pairs, rows, columns).ravel()
    sizes = np.full(pairs, rows), np.full(pairs, columns)
    cells = np.arange(pairs) * rows * columns
    return Probe(lambda: align_batch(flat, cells, *sizes, -0.1, 0.7))


def _mazes(folder: Path) -> Probe:
    from benchmarks.workloads_seqbench import mazes
    from relfast.tasks.seqbench.machine import machine
    from relfast.tasks.seqbench.maze import Fields
    from relfast.tasks.seqbench.score import solve

    (row,) = mazes(1, 20, 20, 100, 4)
    problem, n = solve(Fields.of(None, None, row)), 500
    texts = [row["completion"].encode()] * n
    return Probe(lambda: machine().judge(texts, [problem.address] * n))


N_LINES: Final = 300
N_FURTHER: Final = 3_000
"""Lines of a block: so many that opening what scores them is not most of it, where that is done in each call."""


def _maze_lines(samples: int) -> Callable[[Path], Probe]:
    """Lines of SeqBench to rows by what knows no maze yet, so many samples of each."""

    def probe(folder: Path) -> Probe:
        from benchmarks.workloads_seqbench import write_seqbench_dump

        path = folder / "mazes.jsonl"
        write_seqbench_dump(path, N_LINES, N_LINES // samples)
        return _rows_of(path.read_bytes(), N_LINES, "reference", None, knows=False)

    return probe


def _block(kind: str, *, knows: bool = True) -> Callable[[Path], Probe]:
    """Lines to rows in this process, as a worker does with a block, of a file as others write it. ``knows``: its golds
    are known after the first call; else gold files are read, and golds prepared, in each call. Prompts are new in each."""

    def probe(folder: Path) -> Probe:
        from benchmarks.workloads_dumps import PROMPTS, STRICT, data_of

        dump, path = PROMPTS[kind], folder / "block.jsonl"
        n_lines = N_LINES if knows else N_FURTHER
        dump.write(path, n_lines)
        policy: Policy = "strict" if STRICT[1] in dump.options else "reference"
        gold = data_of(path) if "--data" in dump.options else None
        return _rows_of(path.read_bytes(), n_lines, policy, gold, knows=knows)

    return probe


def _rows_of(data: bytes, n_lines: int, policy: Policy, gold: Path | None, *, knows: bool) -> Probe:
    from relfast.engine.columns.blocks import Block
    from relfast.engine.columns.scoring import Scoring
    from relfast.engine.files.block_scoring import BlockScoring
    from relfast.engine.files.io.reader import read_gold
    from relfast.engine.job import Job
    from relfast.tasks import AllOptions

    job = Job(options=AllOptions(policy=policy), data=() if gold is None else (str(gold),)).of_files(1)
    between, numbers = data.split(PROMPT_OPENS), itertools.count()

    def scoring() -> BlockScoring:
        return BlockScoring(Scoring(job, read_gold(job.data, strict=job.options.strict)))

    known = scoring()

    def ours() -> None:
        data = (PROMPT_OPENS + b"%d." % next(numbers)).join(between)
        block = Block(0, 0, 0, n_lines, 0, len(data), data=data, filter="none")
        blocks = known if knows else scoring()
        assert sum(segment.tally.rows for segment in blocks.segments(block)) >= n_lines

    return Probe(ours)


def _smiles(folder: Path) -> Probe:
    from relfast_kernels.compiled import native

    from benchmarks.floors import distinct_work
    from benchmarks.workloads_chem import batch
    from relfast.chem.smiles_table import SmilesTable

    functions = native.load("smiles")
    assert functions is not None, "the SMILES kernels are not compiled"
    table = SmilesTable(functions)
    made = batch("REL-C2", 60, 1)
    texts, _ = distinct_work(zip(made.answers, made.responses, strict=True))
    # nothing of a text is remembered: each is read and made canonical
    return Probe(lambda: [table.code_of(text, by_rdkit=False) for text in texts])


def _common_substructure(folder: Path) -> Probe:
    from benchmarks.floors import distinct_work
    from benchmarks.workloads_chem import batch
    from relfast.chem.common_substructure import largest_common

    made = batch("REL-C2", 60, 1)
    _, pairs = distinct_work(zip(made.answers, made.responses, strict=True))
    return Probe(lambda: [largest_common(*pair) for pair in pairs])


def _tags(folder: Path) -> Probe:
    from benchmarks.workloads_chem import batch
    from relfast.tasks.base import MAX_TEXTS
    from relfast.tasks.rel_c import RelCOptions
    from relfast.tasks.rel_c.extract import TagReader
    from relfast.tasks.rel_c.tag_scorers import NO_GOLDS

    texts = batch("REL-C2", MAX_TEXTS, 1).responses
    reader = TagReader(RelCOptions(policy="strict"), NO_GOLDS, one=True)
    return Probe(lambda: reader.read(texts, [0] * len(texts)))


def _motif(folder: Path) -> Probe:
    from relfast.chem.molecule import parse
    from relfast.chem.motif import largest_motifs

    group = [parse(f"OC(=O)c1ccc(CN{'C' * n}C2CCOC{'C' * (n % 3)}2)cc1O{'C' * (n % 4)}") for n in range(9)]
    found = [molecule for molecule in group if molecule is not None]
    return Probe(lambda: largest_motifs(found, 5, 10_000))


def _isomers(folder: Path) -> Probe:
    from relfast.chem.isomers import structures

    return Probe(lambda: [*structures("C5H10O")])


def _reward(task: str) -> Callable[[Path], Probe]:
    def probe(folder: Path) -> Probe:
        import relfast
        from benchmarks.workloads_dumps import DUMPS

        path = folder / "reward.jsonl"
        DUMPS["native"].write(path, 200)
        rows = [row for row in map(orjson.loads, path.read_bytes().splitlines()) if row["task"] == task]
        scorer = relfast.Scorer(policy="strict")

        def ours() -> None:
            for row in rows:
                scorer.reward(row["task"], row["answer"], row["response"])

        return Probe(ours)

    return probe


def _score(path: Path) -> None:
    out = path.with_suffix(".rows")
    relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", 1)


def _text_dump(folder: Path) -> Probe:
    from benchmarks.workloads_dumps import DUMPS

    path = folder / "text.jsonl"
    DUMPS["native"].write(path, TEXT_RECORDS)
    return Probe(lambda: _score(path), slices=9, whole=True)


def _chem_dump(folder: Path) -> Probe:
    from benchmarks import workloads_chem

    path = folder / "chem.jsonl"
    workloads_chem.write_dump(path, workloads_chem.missing_isomers(CHEM_RECORDS))
    return Probe(lambda: _score(path), slices=5, whole=True)


BLOCKS: Final = (*(kind for kind in PROMPTS if "golds joined" not in kind and "all distinct" not in kind),)
"""Every dialect in both policies, rows that kernels leave, and other scripts: with golds that are known."""
GOLDS: Final = (*(kind for kind in PROMPTS if "130,000 golds joined" in kind or "all distinct" in kind),)
"""What a run pays for its golds."""

PROBES: Final[dict[str, Callable[[Path], Probe]]] = {
    "alignment kernel": _alignment,
    "maze kernel": _mazes,
    "SMILES kernel": _smiles,
    "common substructure kernel": _common_substructure,
    "tags kernel": _tags,
    "motif kernel": _motif,
    "isomers kernel": _isomers,
    "reward call, REL-A1": _reward("REL-A1"),
    "new lines: distinct mazes": _maze_lines(1),
    "new lines: 8 samples of a maze": _maze_lines(8),
    "text dump": _text_dump,
    "chemistry dump": _chem_dump,
    **{f"new lines: {kind}": _block(kind) for kind in BLOCKS},
    **{f"golds: {kind}": _block(kind, knows=False) for kind in GOLDS},
}
