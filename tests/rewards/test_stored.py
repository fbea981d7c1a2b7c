"""Gold, tasks and questions as data sets give them back: whatever stored them, they are what they were before."""

from __future__ import annotations

import decimal
import io
import json
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from contract_records import gold

from relfast.formats.stored import gold_of
from relfast.rewards import trl, verl
from relfast.rewards.shared import read_sample
from relfast.tasks import TASKS

Rows = list[dict[str, Any]]

CASES = {task: gold(task)[0] for task in TASKS}
ROWS: Rows = [
    {"task": task, "answer": record["answer"], "question": record["question"]}
    for task, (record, _) in CASES.items()
]
RIGHT = [right for _, right in CASES.values()]
GOLD = [row["answer"] for row in ROWS]
TEXTS = [json.dumps(answer) for answer in GOLD]


def parquet(rows: Rows) -> Any:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    file.seek(0)
    return pq.read_table(file)


def datasets(rows: Rows) -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(rows)


def frame(rows: Rows) -> Any:
    """One column a member of gold: what is missing is NaN, and numbers beside it are floats."""
    pd = pytest.importorskip("pandas")
    return pd.DataFrame([row["answer"] for row in rows])


def polars(rows: Rows) -> Any:
    return pytest.importorskip("polars").from_arrow(parquet(rows))


def arrow_map(rows: Rows) -> Any:
    pa = pytest.importorskip("pyarrow")
    texts = [{"label": "Yes"} for _ in rows]
    return pa.array([list(text.items()) for text in texts], type=pa.map_(pa.string(), pa.string()))


STORED: dict[str, Callable[[Rows], list[Any]]] = {
    "datasets, structs": lambda rows: list(datasets(rows)["answer"]),
    "datasets, rows": lambda rows: [row["answer"] for row in datasets(rows)],
    "datasets as numpy": lambda rows: list(datasets(rows).with_format("numpy")["answer"]),
    "datasets as pandas": lambda rows: list(datasets(rows).with_format("pandas")[:]["answer"]),
    "datasets as arrow": lambda rows: list(datasets(rows).with_format("arrow")[:]["answer"]),
    "datasets, texts": lambda rows: list(datasets([{"answer": text} for text in TEXTS])["answer"]),
    "pandas of parquet": lambda rows: list(parquet(rows).to_pandas()["answer"]),
    "pandas of parquet, nullable": lambda rows: list(
        parquet(rows).to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype)["answer"]
    ),
    "pandas, objects": lambda rows: list(pytest.importorskip("pandas").DataFrame(rows)["answer"]),
    "pandas, a column a member": lambda rows: frame(rows).to_dict("records"),
    "pandas, rows": lambda rows: [row for _, row in frame(rows).iterrows()],
    "pandas, rows of nullable types": lambda rows: [row for _, row in frame(rows).convert_dtypes().iterrows()],
    "pandas, rows as JSON": lambda rows: frame(rows).to_json(orient="records", lines=True).splitlines(),
    "numpy, objects": lambda rows: list(np.array([*GOLD, None], dtype=object)[:-1]),
    "numpy, objects of no dimension": lambda rows: [np.array(answer, dtype=object) for answer in GOLD],
    "numpy, arrays of one": lambda rows: [np.array([answer], dtype=object) for answer in GOLD],
    "numpy, arrays of one text": lambda rows: [np.array([text], dtype=object) for text in TEXTS],
    "numpy, texts": lambda rows: list(np.array(TEXTS)),
    "numpy, texts of no dimension": lambda rows: [np.array(text) for text in TEXTS],
    "numpy, bytes": lambda rows: [np.bytes_(text.encode()) for text in TEXTS],
    "numpy, members": lambda rows: [in_numpy(answer) for answer in GOLD],
    "pyarrow, scalars": lambda rows: list(parquet(rows)["answer"]),
    "pyarrow, lists": lambda rows: parquet(rows)["answer"].to_pylist(),
    "pyarrow, texts": lambda rows: list(pytest.importorskip("pyarrow").array(TEXTS)),
    "pyarrow, bytes": lambda rows: list(pytest.importorskip("pyarrow").array([text.encode() for text in TEXTS])),
    "polars, rows": lambda rows: [row["answer"] for row in polars(rows).iter_rows(named=True)],
    "polars, a series": lambda rows: list(polars(rows)["answer"]),
    "bytes": lambda rows: [text.encode() for text in TEXTS],
    "bytearray": lambda rows: [bytearray(text.encode()) for text in TEXTS],
    "memoryview": lambda rows: [memoryview(text.encode()) for text in TEXTS],
    "a mapping": lambda rows: [MappingProxyType(answer) for answer in GOLD],
    "floats": lambda rows: [json.loads(text, parse_int=float) for text in TEXTS],
    "decimals": lambda rows: [json.loads(text, parse_int=decimal.Decimal) for text in TEXTS],
}  # fmt: skip


def in_numpy(value: Any) -> Any:
    """Gold with numpy's scalars and arrays for its members."""
    if isinstance(value, dict):
        return {np.str_(key): in_numpy(item) for key, item in value.items()}
    if isinstance(value, list):
        return np.array([in_numpy(item) for item in value], dtype=object)
    return {str: np.str_, int: np.int64, float: np.float32, bool: np.bool_}.get(
        type(value), lambda item: item
    )(value)


@pytest.fixture(scope="module")
def earned() -> list[float | None]:
    """What the right responses earn with gold as it is; ReAlign needs a model, and is compared as gold."""
    rewards = trl.reward(completions=RIGHT, **columns(GOLD))
    assert rewards[:-1] == [1.0] * (len(TASKS) - 1)
    return rewards


def columns(answers: list[Any]) -> dict[str, Any]:
    return {"task": list(TASKS), "answer": answers, "question": [row["question"] for row in ROWS]}


@pytest.mark.parametrize("how", STORED)
def test_gold_of_every_task(how: str, earned: list[float | None]) -> None:
    stored = STORED[how](ROWS)
    for answer, original in zip(stored, GOLD, strict=True):
        assert gold_of(answer) == original
        assert exactly(gold_of(answer)) == exactly(original)
    assert (
        trl.reward(completions=RIGHT[:-1], **{name: column[:-1] for name, column in columns(stored).items()})
        == (earned[:-1])
    )
    for at, task in enumerate(list(TASKS)[:-1]):
        about = {"question": ROWS[at]["question"]}
        assert verl.compute_score(task, RIGHT[at], stored[at], about)["score"] == earned[at]


def exactly(value: Any) -> Any:
    """A value with the types of all that is in it: 3.0 equals 3, and a number of numpy equals Python's."""
    if isinstance(value, dict):
        return dict, [(exactly(key), exactly(item)) for key, item in sorted(value.items())]
    return (list, [*map(exactly, value)]) if isinstance(value, list) else (type(value), value)


@pytest.mark.parametrize(
    ("stored", "original"),
    [
        ({"target": 3.0, "label": None}, {"target": 3}),
        ('{"target": 3.0}', {"target": 3}),
        ({"target": 3.5}, {"target": 3.5}),
        ({"target": 2.0**60}, {"target": 2.0**60}),  # more digits than a float has
        ({"target": float("inf")}, {"target": float("inf")}),
        ({"target": np.float64("nan"), "label": "Yes"}, {"label": "Yes"}),
        ({"a": {"b": None, "c": [1.0, {"d": None, "e": 2.0}]}}, {"a": {"c": [1, {"e": 2}]}}),
        ({"taxa": np.array([])}, {"taxa": []}),
        ({"taxa": np.array(["t1"], dtype=object)}, {"taxa": ["t1"]}),  # a list of one stays a list
        ({"rows": np.array([np.array([1.0, 2.0]), np.array([3.0])], dtype=object)}, {"rows": [[1, 2], [3]]}),
        ({"label": b"Yes"}, {"label": "Yes"}),
        ({b"label": "Yes"}, {"label": "Yes"}),
        ({"label": b"\xff"}, {"label": b"\xff"}),
        ({"target": np.array(3)}, {"target": 3}),
        ({"target": True}, {"target": True}),
        ({"target": np.bool_(True)}, {"target": True}),
        (np.array([(3, "Yes")], dtype=[("target", "i8"), ("label", "U3")])[0], {"target": 3, "label": "Yes"}),
        ([("label", "Yes")], {"label": "Yes"}),
        ([[{"label": "Yes"}]], {"label": "Yes"}),
        ({"smiles": None}, {"smiles": None}),
        ([1, 2], [1, 2]),
        ("[1, 2]", [1, 2]),
        ("text", "text"),
        (None, None),
        (7, 7),
        (b"\xff", b"\xff"),
        (np.float64("nan"), None),
    ],
)  # fmt: skip
def test_kinds_of_values(stored: Any, original: Any) -> None:
    assert exactly(gold_of(stored)) == exactly(original)


def test_maps_of_arrow() -> None:
    assert [gold_of(one) for one in arrow_map(ROWS[:2])] == [{"label": "Yes"}] * 2
    assert [gold_of(one) for one in arrow_map(ROWS[:2]).to_pandas()] == [{"label": "Yes"}] * 2


def test_tasks_and_questions_too() -> None:
    """In every place that an adapter looks at."""
    row = {"task": np.str_("REL-C1"), "answer": b'{"label": "Yes"}', "question": np.array("isomers?")}
    expected = ("REL-C1", {"label": "Yes"}, "isomers?")
    for given in (read_sample(None, None, row), read_sample(row, None), read_sample(None, None, None, row)):
        assert exactly(list(given)) == exactly(list(expected))
    missing = {"task": float("nan"), "answer": {"label": "Yes"}, "question": float("nan")}
    assert read_sample(None, "asked", missing) == (None, {"label": "Yes"}, "asked")
    tasks: list[Any] = [b"REL-C1", np.str_("REL-C1"), np.array("REL-C1"), None, float("nan")]
    assert trl.reward(completions=["<Yes>"] * 5, task=tasks, answer=[{"label": "Yes"}] * 5) == [1.0] * 5


def test_relfast_score_reads_files_as_published(tmp_path: Any) -> None:
    import relfast

    (row,) = relfast.score([{"task": "REL-A1", "answer": {"target": 3.0}, "response": "Answer: 4"}])
    assert row.status == "invalid_record"
