"""ms-swift: the page's options through its own parser, its import of plugins and its table of rewards."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys


def scores(line):
    from swift.arguments import RLHFArguments
    from swift.rewards import orms

    given = dict(zip(*[iter(shlex.split(line)[2:])] * 2, strict=True))
    arguments = object.__new__(RLHFArguments)
    arguments.external_plugins = [given["--external_plugins"]]
    arguments.custom_register_path = []
    arguments._import_external_plugins()
    reward = orms[given["--reward_funcs"]](args=arguments)
    columns = {"task": ["REL-C1"] * 2, "answer": ['{"label": "Yes"}'] * 2, "question": ["isomers?"] * 2}
    return reward(["<Yes>", "<No>"], **columns)


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        found = scores(sys.argv[1])
    print(json.dumps(found))
