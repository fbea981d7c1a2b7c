"""The reward files under ``examples/``, loaded as verl and OpenRLHF load them: from a path."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from relfast import rewards

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("custom_module", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_verls_key_is_todays_wherever_it_is_named() -> None:
    """verl 0.9 silently ignores the key without ``reward.``."""
    root = EXAMPLES.parent
    files = [root / "README.md", *EXAMPLES.glob("*.py"), *(root / "relfast" / "rewards").glob("*.py")]
    named = [re.findall(r"([\w.]*)custom_reward_function\.path", path.read_text("utf-8")) for path in files]
    prefixes = {prefix for found in named for prefix in found}
    assert prefixes == {"reward."}


def test_verl_file() -> None:
    function = _load("verl_reward").compute_score
    good = function(
        data_source="REL-C2",
        solution_str="<smiles>CC</smiles>",
        ground_truth='{"smiles": "CCO"}',
        extra_info={},
    )
    bad = function(data_source="REL-C2", solution_str="x", ground_truth="{}", extra_info=None)
    assert 0 < good["score"] < 1
    assert (bad["score"], bad["unscored"]) == (0.0, 1.0)
    assert good.keys() == bad.keys()


def test_openrlhf_file() -> None:
    function = _load("openrlhf_reward").reward_func
    given = function(["q <Yes>", "q"], ["q", "q"], ['{"label": "Yes"}', "{}"])
    assert list(given["rewards"]) == [1.0, 0.0]
    rewards.close()
