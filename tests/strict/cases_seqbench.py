"""Cases of the table ``seqbench``: generated mazes and the published prompt's worked examples, with their plans
written in many forms."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import seqbench_checker as checker
from strict.corpus import Case

from relfast.seqbench import Maze, generate, shortest_plan
from relfast.tasks.seqbench.blind import STRATEGIES

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "data" / "seqbench" / "few_shot_examples.json"

Plan = Sequence[str]


def _pairs(plan: Plan) -> list[tuple[str, str]]:
    return [(name, parameter) for name, _, parameter in (action.partition(": ") for action in plan)]


def _said(name: str, parameter: str) -> str:
    """An action as a sentence has it."""
    return {
        "start": f"Start at {parameter}",
        "move_to": f"Move to {parameter}",
        "pick_up_key": f"Pick up key {parameter}",
        "use_key": f"Use key {parameter}",
        "unlock_and_open_door_to": f"Unlock and open door to {parameter}",
        "rescue": f"Rescue {parameter}",
    }[name]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _field(name: str) -> str:
    return "person" if name == "rescue" else "key" if "key" in name else "room"


def _roomy(name: str, parameter: str) -> str:
    kind = {"room": "Room ", "key": "Key ", "person": ""}[_field(name)]
    return f"{name}: {kind}{parameter}"


FORMS: Final[dict[str, Callable[[Plan], str]]] = {
    "list": lambda plan: str(list(plan)),
    "json": lambda plan: json.dumps(list(plan)),
    "tall": lambda plan: json.dumps(list(plan), indent=2),
    "trailing": lambda plan: "[\n" + "".join(f"    '{action}',\n" for action in plan) + "]",
    "curly": lambda plan: "[" + ", ".join(f"“{action}”" for action in plan) + "]",
    "pairs": lambda plan: str(_pairs(plan)),
    "jsonpairs": lambda plan: json.dumps(_pairs(plan)),
    "tuple": lambda plan: str(tuple(_pairs(plan))),
    "tuplelines": lambda plan: "\n".join(map(str, _pairs(plan))),
    "lines": lambda plan: "\n".join(plan),
    "spaced": lambda plan: "\n".join(action.replace(": ", " ") for action in plan),
    "numbered": lambda plan: "\n".join(f"{n}. {action}" for n, action in enumerate(plan, 1)),
    "parens": lambda plan: "\n".join(f"{n}) {action}" for n, action in enumerate(plan, 1)),
    "bold": lambda plan: "\n".join(f"{n}. **{name}**: {to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "boldall": lambda plan: "\n".join(f"{n}. **{action}**" for n, action in enumerate(plan, 1)),
    "ticks": lambda plan: "\n".join(f"{n}. `{action}`" for n, action in enumerate(plan, 1)),
    "steps": lambda plan: "\n".join(f"Step {n}: {action}" for n, action in enumerate(plan, 1)),
    "bullets": lambda plan: "\n".join(f"- {action}" for action in plan),
    "stars": lambda plan: "\n".join(f"* `{name}`: `{to}`" for name, to in _pairs(plan)),
    "dots": lambda plan: "\n".join(f"• {action}" for action in plan),
    "remarks": lambda plan: "\n".join(f"{n}. {action} (legal)" for n, action in enumerate(plan, 1)),
    "dashes": lambda plan: "\n".join(f"{n}. {action} – the door is open here" for n, action in enumerate(plan, 1)),
    "nested": lambda plan: "\n".join(f"{n}. **{action}**\n   - This is legal." for n, action in enumerate(plan, 1)),
    "dicts": lambda plan: json.dumps([{"action": name, "target": to} for name, to in _pairs(plan)]),
    "talldicts": lambda plan: json.dumps([{"action": name, "parameter": to} for name, to in _pairs(plan)], indent=2),
    "pydicts": lambda plan: str([{"action": name, _field(name): to} for name, to in _pairs(plan)]),
    "swapped": lambda plan: json.dumps([{"target": to, "action": name} for name, to in _pairs(plan)]),
    "stepdicts": lambda plan: json.dumps(
        [{"step": n, "action": name, "param": to} for n, (name, to) in enumerate(_pairs(plan), 1)]
    ),
    "onedict": lambda plan: json.dumps([{name: to} for name, to in _pairs(plan)]),
    "textdicts": lambda plan: json.dumps([{"step": n, "action": action} for n, action in enumerate(plan, 1)]),
    "tools": lambda plan: json.dumps([{"name": name, "arguments": {_field(name): to}} for name, to in _pairs(plan)]),
    "argdicts": lambda plan: json.dumps([{"action": name, "args": [to]} for name, to in _pairs(plan)]),
    "jsonl": lambda plan: "\n".join(json.dumps({"action": name, "target": to}) for name, to in _pairs(plan)),
    "object": lambda plan: json.dumps({"actions": list(plan)}),
    "planobject": lambda plan: json.dumps({"reasoning": "the only way", "plan": list(plan)}, indent=2),
    "pairobject": lambda plan: json.dumps({"plan": _pairs(plan)}),
    "keyed": lambda plan: json.dumps({str(n): action for n, action in enumerate(plan, 1)}),
    "calls": lambda plan: "\n".join(f"{name}({to})" for name, to in _pairs(plan)),
    "quotedcalls": lambda plan: "\n".join(f'{name}("{to}")' for name, to in _pairs(plan)),
    "calllist": lambda plan: "[" + ", ".join(f"{name}({to})" for name, to in _pairs(plan)) + "]",
    "callstrings": lambda plan: str([f"{name}({to})" for name, to in _pairs(plan)]),
    "arrows": lambda plan: " → ".join(f"{name}({to})" for name, to in _pairs(plan)),
    "asciiarrows": lambda plan: " -> ".join(plan),
    "commas": lambda plan: ", ".join(plan),
    "semicolons": lambda plan: "; ".join(plan),
    "rooms": lambda plan: str([_roomy(*pair) for pair in _pairs(plan)]),
    "roomlines": lambda plan: "\n".join(f"{n}. {_roomy(*pair)}" for n, pair in enumerate(_pairs(plan), 1)),
    "sentences": lambda plan: "\n".join(f"{n}. {_said(*pair)}." for n, pair in enumerate(_pairs(plan), 1)),
    "titles": lambda plan: "\n".join(
        f"{n}. {name.replace('_', ' ').capitalize()}: {to}" for n, (name, to) in enumerate(_pairs(plan), 1)
    ),
    "upper": lambda plan: "\n".join(f"{n}. {name.upper()}: {to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "commented": lambda plan: "[\n" + "".join(f"    '{action}',  # legal\n" for action in plan) + "]",
    "slashes": lambda plan: "[\n" + ",\n".join(f'  "{action}" // next' for action in plan) + "\n]",
    "commentlines": lambda plan: "[\n" + "".join(f"    # then\n    '{action}',\n" for action in plan) + "]",
    "table": lambda plan: "| # | Action | Target |\n|---|---|---|\n"
    + "\n".join(f"| {n} | {name} | {to} |" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "yaml": lambda plan: "\n".join(f"- action: {name}\n  target: {to}" for name, to in _pairs(plan)),
    "html": lambda plan: "<ol>\n" + "\n".join(f"<li>{action}</li>" for action in plan) + "\n</ol>",
    "escaped": lambda plan: "\n".join(
        f"{n}. {name.replace('_', chr(92) + '_')}: {to}" for n, (name, to) in enumerate(_pairs(plan), 1)
    ),
    "fullwidth": lambda plan: "[" + "，".join(f"'{action.replace(': ', '：')}'" for action in plan) + "]",
    "small": lambda plan: str([f"{name}: {to.lower() if _field(name) == 'room' else to}" for name, to in _pairs(plan)]),
    "brackets": lambda plan: "\n".join(f"[{n}] {action}" for n, action in enumerate(plan, 1)),
    "inparens": lambda plan: "\n".join(f"({n}) {action}" for n, action in enumerate(plan, 1)),
    "numberdash": lambda plan: "\n".join(f"{n} - {action}" for n, action in enumerate(plan, 1)),
    "numbercolon": lambda plan: "\n".join(f"{n}: {action}" for n, action in enumerate(plan, 1)),
    "keycaps": lambda plan: "\n".join(f"{n}\ufe0f\u20e3 {action}" for n, action in enumerate(plan, 1)),
    "boldsteps": lambda plan: "\n".join(f"**Step {n}:** `{action}`" for n, action in enumerate(plan, 1)),
    "stepdashes": lambda plan: "\n".join(f"Step {n} - {action}" for n, action in enumerate(plan, 1)),
    "checks": lambda plan: "\n".join(f"- [x] {action}" for action in plan),
    "bracketed": lambda plan: "\n".join(f"{n}. [{action}]" for n, action in enumerate(plan, 1)),
    "tickline": lambda plan: ", ".join(f"`{action}`" for action in plan),
    "tight": lambda plan: ",".join(action.replace(": ", ":") for action in plan),
    "equals": lambda plan: "\n".join(f"{name}={to}" for name, to in _pairs(plan)),
    "arrowlines": lambda plan: "\n".join(f"{name} → {to}" for name, to in _pairs(plan)),
    "typed": lambda plan: json.dumps([{"type": name, _field(name): to} for name, to in _pairs(plan)]),
    "argobject": lambda plan: json.dumps([{"action": name, "args": {_field(name): to}} for name, to in _pairs(plan)]),
    "paramlist": lambda plan: json.dumps([{"action": name, "parameters": [to]} for name, to in _pairs(plan)], indent=1),
    "fromto": lambda plan: json.dumps([{"action": name, "from": "here", "to": to} for name, to in _pairs(plan)]),
    "longnames": lambda plan: json.dumps([{"action_type": name, "action_parameter": to} for name, to in _pairs(plan)]),
    "cmds": lambda plan: json.dumps([{"cmd": f"{name} {to}"} for name, to in _pairs(plan)]),
    "calldicts": lambda plan: json.dumps([{"action": f"{name}({to})"} for name, to in _pairs(plan)]),
    "roomdicts": lambda plan: json.dumps([{"action": pair[0], "target": _roomy(*pair).partition(": ")[2]} for pair in _pairs(plan)]),
    "reasondicts": lambda plan: json.dumps([{"action": name, "target": to, "reason": "it is legal"} for name, to in _pairs(plan)]),
    "spacedlist": lambda plan: str([action.replace(": ", " ") for action in plan]),
    "dashlist": lambda plan: str([f"{n}. {action}" for n, action in enumerate(plan, 1)]),
    "triples": lambda plan: json.dumps([[n, name, to] for n, (name, to) in enumerate(_pairs(plan), 1)]),
    "methods": lambda plan: "\n".join(f'bob.{name}("{to}")' for name, to in _pairs(plan)),
    "csv": lambda plan: "\n".join(f"{name},{to}" for name, to in _pairs(plan)),
    "xml": lambda plan: "<plan>\n" + "\n".join(f'  <action type="{name}" target="{to}"/>' for name, to in _pairs(plan)) + "\n</plan>",
    "xmlnames": lambda plan: "\n".join(f"<{name}>{to}</{name}>" for name, to in _pairs(plan)),
    "xmltext": lambda plan: "<plan>\n" + "\n".join(f"<action>{action}</action>" for action in plan) + "\n</plan>",
    "camel": lambda plan: "\n".join(f"{_camel(name)}({to})" for name, to in _pairs(plan)),
    "boldsaid": lambda plan: "\n".join(f"- **{_said(name, '').strip()}** {to}" for name, to in _pairs(plan)),
    "saidrooms": lambda plan: "\n".join(f"{n}. {_said(name, _roomy(name, to).partition(': ')[2].replace('Key ', ''))}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "stated": lambda plan: "\n".join(f"{n}. {action} → as the facts say" for n, action in enumerate(plan, 1)),
    "squares": lambda plan: "\n".join(f"{n}. {action} [open]" for n, action in enumerate(plan, 1)),
    "hashes": lambda plan: "\n".join(f"{action}  # legal" for action in plan),
    "barelines": lambda plan: "| Action | Parameter |\n| --- | --- |\n" + "\n".join(f"| {name} | {to} |" for name, to in _pairs(plan)),
    "tabletext": lambda plan: "| Step | Action | State |\n|:-|:-|:-|\n" + "\n".join(f"| {n} | `{action}` | fine |" for n, action in enumerate(plan, 1)),
    "items": lambda plan: "\\begin{enumerate}\n" + "\n".join(f"\\item {action}" for action in plan) + "\n\\end{enumerate}",
    "texttt": lambda plan: "\n".join(f"{n}. \\texttt{{{action.replace('_', chr(92) + '_')}}}" for n, action in enumerate(plan, 1)),
    "sentence": lambda plan: ", ".join(_said(*pair).lower() if pair[0] not in ("start", "rescue") else _said(*pair) for pair in _pairs(plan[:-1])).replace("move to a", "move to A") + f", and finally {_said(*_pairs(plan)[-1])}.",
    "blanklines": lambda plan: "\n\n".join(f"{n}. {action}" for n, action in enumerate(plan, 1)),
    "quoted": lambda plan: "\n".join(f'"{action}",' for action in plan),
    "htmlbr": lambda plan: "<br>\n".join(plan),
    "tabs": lambda plan: "\n".join(f"{n}\t{name}\t{to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "set": lambda plan: "{" + ", ".join(f"'{action}'" for action in plan) + "}",
    "ul": lambda plan: "<ul>" + "".join(f"<li><b>{name}</b>: {to}</li>" for name, to in _pairs(plan)) + "</ul>",
    "phases": lambda plan: "Phase 1: to the key\n" + "\n".join(f"- {action}" for action in plan[:3])
    + "\n\nPhase 2: to the goal\n" + "\n".join(f"- {action}" for action in plan[3:]),
    "toolcalls": lambda plan: "\n".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': {'target': to}})}\n</tool_call>" for name, to in _pairs(plan)
    ),
    "xmlsteps": lambda plan: "\n".join(
        f'<step id="{n}" action="{name}" param="{to}" />' for n, (name, to) in enumerate(_pairs(plan), 1)
    ),
    "assigned": lambda plan: "\n".join(f'step{n} = "{action}"' for n, action in enumerate(plan, 1)),
    "append": lambda plan: "actions = []\n" + "\n".join(f"actions.append('{action}')" for action in plan),
    "bold2": lambda plan: "\n".join(f"**{n}.** {action}" for n, action in enumerate(plan, 1)),
    "hashnumbers": lambda plan: "\n".join(f"#{n} {action}" for n, action in enumerate(plan, 1)),
    "semicalls": lambda plan: "\n".join(f"{name}('{to}');" for name, to in _pairs(plan)),
    "kwargs": lambda plan: "\n".join(f'{name}(target="{to}")' for name, to in _pairs(plan)),
    "yamlmap": lambda plan: "plan:\n" + "\n".join(f'  - {name}: "{to}"' for name, to in _pairs(plan)),
    "tomls": lambda plan: "\n".join(f'[[step]]\naction = "{name}"\ntarget = "{to}"\n' for name, to in _pairs(plan)),
    "then": lambda plan: ", then ".join(plan),
    "zero": lambda plan: "\n".join(f"{n}. {action}" for n, action in enumerate(plan)),
    "letters": lambda plan: "\n".join(f"{chr(97 + n % 26)}) {action}" for n, action in enumerate(plan)),
    "checkbox": lambda plan: "\n".join(f"- [x] {action}" for action in plan),
    "boldcolon": lambda plan: "\n".join(f"- **{name}:** {to}" for name, to in _pairs(plan)),
    "stepbold": lambda plan: "\n".join(f"**Step {n}:** {action}" for n, action in enumerate(plan, 1)),
    "stepheads": lambda plan: "\n\n".join(f"### Step {n}\n{action}" for n, action in enumerate(plan, 1)),
    "becauses": lambda plan: "\n".join(f"{n}. `{action}` because it is the way on" for n, action in enumerate(plan, 1)),
    "keyemoji": lambda plan: "\n".join(f"➡️ {action}" for action in plan),
    "keycapstwo": lambda plan: "\n".join(f"{n}️⃣ {action}" for n, action in enumerate(plan, 1)),
    "pipes": lambda plan: " | ".join(plan),
    "fatarrows": lambda plan: " ⇒ ".join(plan),
    "chained": lambda plan: "\n→ ".join(plan),
    "equalstwo": lambda plan: "\n".join(f"{name}={to}" for name, to in _pairs(plan)),
    "csvtwo": lambda plan: "\n".join(f"{n},{name},{to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "csvhead": lambda plan: "step,action,parameter\n" + "\n".join(f"{n},{name},{to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "yamlsteps": lambda plan: "steps:\n" + "\n".join(f"  - action: {name}\n    target: {to}" for name, to in _pairs(plan)),
    "xmlplan": lambda plan: "<plan>\n" + "\n".join(f"  <action name=\"{name}\">{to}</action>" for name, to in _pairs(plan)) + "\n</plan>",
    "lists": lambda plan: json.dumps([list(pair) for pair in _pairs(plan)], indent=1),
    "numberedpairs": lambda plan: "\n".join(f"{n}. {pair}" for n, pair in enumerate(_pairs(plan), 1)),
    "paired": lambda plan: "[" + ",\n ".join(f"({name}, {to})" for name, to in _pairs(plan)) + "]",
    "backticklist": lambda plan: "[" + ", ".join(f"`{action}`" for action in plan) + "]",
    "guillemets": lambda plan: "[" + ", ".join(f"«{action}»" for action in plan) + "]",
    "bareclist": lambda plan: "[" + ", ".join(plan) + "]",
    "nestedplan": lambda plan: json.dumps({"result": {"plan": list(plan), "length": len(plan)}}),
    "solution": lambda plan: json.dumps({"solution": [{"action": a, "reason": "needed"} for a in plan]}),
    "typedtwo": lambda plan: json.dumps([{"type": name, "value": to} for name, to in _pairs(plan)]),
    "uppertwo": lambda plan: "\n".join(f"{n}. {name.upper()}: {to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "title": lambda plan: "\n".join(f"{n}. {name.replace('_', ' ').capitalize()}: {to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "quotedargs": lambda plan: "\n".join(f"{n}. {name} '{to}'" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "fullwidthtwo": lambda plan: "\n".join(f"{n}、{name}：{to}" for n, (name, to) in enumerate(_pairs(plan), 1)),
    "andthen": lambda plan: ". Then ".join(_said(*pair) for pair in _pairs(plan)) + ".",
    "stars2": lambda plan: "\n".join(f"* **{action}** - {'begin' if n == 0 else 'go on'}" for n, action in enumerate(plan)),
}  # fmt: skip
"""How a plan is written down: right ones under their name, wrong ones as ``not NAME``."""


def cases() -> list[Case]:
    """Mazes of several sizes, in the dataset's fields and as question and actions alone."""
    found = [_example(example, all_examples) for all_examples in [_examples()] for example in all_examples]
    for number, (rows, cols, doors, noise) in enumerate(
        ((4, 4, 1, 1.0), (5, 5, 1, 0.4), (5, 4, 2, 1.0), (6, 6, 2, 0.2), (7, 7, 2, 0.6), (8, 8, 3, 1.0))
    ):
        for row in generate(3, 1200 + number, rows=rows, cols=cols, B=doors, N=noise):
            found.append(_generated(row, whole=number % 2 == 0))
    return found + [_passed_twice(length) for length in (1, 2, 4, 7)]


def _examples() -> list[dict[str, Any]]:
    examples: list[dict[str, Any]] = json.loads(EXAMPLES.read_text("utf-8"))["examples"]
    return examples


def _example(example: dict[str, Any], examples: Sequence[dict[str, Any]]) -> Case:
    question = " ".join(example["facts"])
    other = next(one for one in examples if one["completion"] != example["completion"])
    record = {"task": "SeqBench", "question": question, "answer": {"actions": example["completion"]}}
    return _case(
        record, checker.from_context(question, "Bob", "Alice"), example["completion"], other["completion"]
    )


def _generated(row: dict[str, Any], whole: bool) -> Case:
    gold: list[str] = ast.literal_eval(row["completion"])
    answer = (
        {key: row[key] for key in row if key not in ("instance_id", "context")}
        if whole
        else {"actions": gold}
    )
    record = {"task": "SeqBench", "question": row["context"], "answer": answer}
    people = row["instance_metadata"]["agent_name"], row["instance_metadata"]["target_name"]
    world = checker.from_details(row) if whole else checker.from_context(row["context"], *people)
    return _case(record, world, gold, _examples()[0]["completion"])


def _passed_twice(length: int) -> Case:
    """A key that lies on the way to another one and on the way back: two plans are the shortest."""
    rooms = [f"C{n}" for n in range(1, length + 2)]
    facts = [f"Room {one} and {other} are connected by an open door." for one, other in pairwise(rooms)]
    facts += [
        f"Room A1 and {rooms[0]} are connected by an open door.",
        "Room A1 and B1 are connected by a closed and locked door.",
        "Room B1 and B2 are connected by a closed and locked door.",
        "The locked door between A1 and B1 requires key 5.",
        "The locked door between B1 and B2 requires key 8.",
        f"Key 5 is in room {rooms[-1]}.",
        f"Key 8 is in room {rooms[0]}.",
        "Bob is in room A1.",
        "Alice is in room B2.",
    ]
    context = " ".join(facts)
    gold = shortest_plan(Maze.from_row({"context": context}))
    assert gold is not None
    record = {"task": "SeqBench", "question": context, "answer": {"actions": gold}}
    return _case(record, checker.from_context(context, "Bob", "Alice"), gold, _examples()[0]["completion"])


def _case(record: dict[str, Any], world: checker.World, gold: list[str], shot: list[str]) -> Case:
    wrong = _broken(world, gold)
    words = {name: form(gold) for name, form in FORMS.items()}
    words |= {f"not {name}": form(wrong) for name, form in FORMS.items()}
    moves = [f"move_to: {room}" for room in _back_and_forth(world, gold)]
    words |= {
        "right": words["list"],
        "body": words["list"][1:-1],
        "start": gold[0],
        "startroom": gold[0].partition(": ")[2],
        "goal": world.goal,
        "target": world.target,
        "last": gold[-1],
        "first": str(gold[:4]),
        "keys": str([action for action in gold if "key" in action] or gold[1:3]),
        "junk": ", ".join(["'move_to: Z99'"] * 1000),
        "legal junk": ", ".join(f"'{move}'" for move in moves),
        "cycles": str([gold[0], *moves, *moves, *moves, *gold[1:]]),
        "only cycles": str([gold[0], *moves, *moves]),
        "teleport": str([gold[0], f"move_to: {world.goal}", gold[-1]]),
        "rescue first": str([gold[0], gold[-1], *gold[1:]]),
        "no start": str(gold[1:]),
        "reversed": str([gold[0], *gold[-2:0:-1], gold[-1]]),
        "shot": str(shot),
        "numbered junk": "\n".join(f"{n}. wait" for n in range(len(gold) + 1, len(gold) + 1000)),
        "quoted junk": ", ".join(["'wait'"] * 1000),
        **{f"blind: {name}": strategy(record, random.Random(4)) for name, strategy in STRATEGIES.items()},
    }
    tags = set()
    if any("key" in action for action in gold):
        tags.add("keys")
        words["unlock without key"] = str([a for a in gold if not a.startswith(("pick_up", "use_key"))])
        words["key unused"] = str([a for a in gold if not a.startswith("use_key")])
    if len(gold) > 20:
        tags.add("large")
    others = [plan for plan in checker.all_shortest_plans(world) if plan != gold]
    if others:
        tags.add("another")
        words |= {f"other {name}": form(others[0]) for name, form in FORMS.items()}
    return Case(record, words, 0.0, frozenset(tags))


def _back_and_forth(world: checker.World, gold: Plan) -> list[str]:
    """A legal walk out of the start and back, as often as it takes to make a long plan."""
    for room in world.graph[world.start]:
        if not world.graph[world.start][room]["locked"]:
            return [room, world.start] * 10 * len(gold)
    return [world.start] * 20 * len(gold)


def _broken(world: checker.World, gold: Plan) -> list[str]:
    """A plan that goes wrong at once, and looks like one to the end."""
    far = next(
        room for room in sorted(world.graph) if room != world.start and room not in world.graph[world.start]
    )
    return [gold[0], f"move_to: {far}", *gold[1:]]
