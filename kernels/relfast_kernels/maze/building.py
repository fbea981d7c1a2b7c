"""Builds a problem (`relfast_kernels.maze.layouts`) from a record's maze and gold.

The maze comes as the dataset's ``structural_details`` (JSON), gold as the text of a plan. If a passage is
described several times, it is locked if any description says so, and its key is the last one named.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints, Ints32
from relfast_kernels.layouts import (
    BAD,
    ESCAPED,
    ITEM_END,
    ITEM_HASH,
    ITEM_KIND,
    ITEM_PARAM,
    LIST,
    NO_DOOR,
    NO_KEY,
    OBJECT,
    PICK_UP,
    RESCUE,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    UNLOCK,
    USE,
)
from relfast_kernels.maze.judge import settle
from relfast_kernels.maze.layouts import FACT, FLAW, HEADER, NO_ROOM, Building, Desk
from relfast_kernels.maze.search import MazeTables, Work, unpack
from relfast_kernels.text.find import copy, find_byte, find_outside, same_as, same_bytes
from relfast_kernels.text.json_scan import BACKSLASH, is_null, member, put_text, tokenise
from relfast_kernels.text.plans import hash_bytes, scan

(
    _STRUCTURE, _MAPPINGS, _NAMES, _DOORS, _STATUS, _OPEN, _KEY, _AROUND, _KEYS, _START, _GOAL
) = (
    np.frombuffer(name, np.uint8)
    for name in (
        b"structure", b"mappings", b"coordinate_to_name", b"door_details", b"status", b"open", b"key_id",
        b"adjacency_list", b"key_locations", b"start_room_coord", b"end_room_coord",
    )
)  # fmt: skip

_UNDERSCORE: Final = ord("_")
_NUMBERS_A_THING: Final = 40
"""Work space in int32 per possible name: for entries and slots of four tables, and for a passage."""


class Names(NamedTuple):
    """A table of names that are numbered in the order in which they come: thing t is named
    text[begins[t]:ends[t]].

    ``size[0]`` is the number of things so far; ``slots`` are as in `relfast_kernels.maze.search.NameTables`.
    """

    text: Bytes
    begins: Ints32
    ends: Ints32
    slots: Ints32
    size: Ints32


class Passages(NamedTuple):
    """Passages in the order in which they come: their two rooms, whether the door is locked, and its key or
    NO_KEY. ``slots`` is a hash table by the two rooms; ``size[0]`` is the number of passages so far."""

    ones: Ints32
    others: Ints32
    locked: Ints32
    keys: Ints32
    slots: Ints32
    size: Ints32


class Reading(NamedTuple):
    """A maze while it is read: coordinates, with begin and end of the room name of each (``called``); rooms;
    keys and their rooms; passages. Strings with escapes are decoded into the text from ``tail[0]`` on.
    ``members`` are the names of an object's members, to find repeated ones."""

    coordinates: Names
    called: Ints32
    called_end: Ints32
    rooms: Names
    keys: Names
    key_rooms: Ints32
    passages: Passages
    tail: Ints32
    members: Names


@kernel
def _number(names: Names, begin: int, end: int, adds: bool) -> int:
    """The number of the thing named text[begin:end]. A new name gets -1, or the next number with ``adds``."""
    mask = len(names.slots) - 1
    slot = hash_bytes(names.text, begin, end) & mask
    while names.slots[slot] >= 0:
        thing = int(names.slots[slot])
        if same_bytes(names.text, names.begins[thing], names.ends[thing], names.text, begin, end):
            return thing
        slot = (slot + 1) & mask
    if not adds:
        return -1
    thing = int(names.size[0])
    names.slots[slot] = thing
    names.begins[thing], names.ends[thing] = begin, end
    names.size[0] = thing + 1
    return thing


@kernel
def _room(reading: Reading, begin: int, end: int) -> int:
    """The number of the room at the coordinate text[begin:end]; without a mapping that is the room's name."""
    at = _number(reading.coordinates, begin, end, False)
    if at >= 0:
        begin, end = int(reading.called[at]), int(reading.called_end[at])
    return _number(reading.rooms, begin, end, True)


@kernel
def _connect(passages: Passages, one: int, other: int, locked: int, key: int) -> None:
    """Add a passage; if it is known already, add the lock and the key to it."""
    if one == other:
        return
    ones, others, slots = passages.ones, passages.others, passages.slots
    slot = (min(one, other) * 0x3779B1 + max(one, other)) & (len(slots) - 1)
    while slots[slot] >= 0:
        known = int(slots[slot])
        if (ones[known] == one and others[known] == other) or (ones[known] == other and others[known] == one):
            passages.locked[known] |= locked
            if key != NO_KEY:
                passages.keys[known] = key
            return
        slot = (slot + 1) & (len(slots) - 1)
    n = int(passages.size[0])
    slots[slot] = n
    ones[n], others[n], passages.locked[n], passages.keys[n] = one, other, locked, key
    passages.size[0] = n + 1


@kernel
def _string(text: Bytes, tape: Ints, token: int, tail: Ints32) -> tuple[int, int]:
    """Begin and end of a string, decoded if it has escapes; of any other value, as it is written."""
    begin, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    if find_byte(text, begin, end, BACKSLASH) == end:
        return begin, end
    begin = int(tail[0])
    tail[0] = put_text(text, tape[token, TOKEN_START], end, text, begin)
    return begin, int(tail[0])


@kernel
def _is_string(tape: Ints, token: int) -> bool:
    return token > 0 and tape[token, TOKEN_KIND] <= ESCAPED


@kernel
def _place(text: Bytes, tape: Ints, token: int, reading: Reading) -> int:
    """The number of the room at the coordinate that a token holds; -1 if the token is no string."""
    if not _is_string(tape, token):
        return -1
    begin, end = _string(text, tape, token, reading.tail)
    return _room(reading, begin, end)


@kernel
def _read(text: Bytes, tape: Ints, reading: Reading) -> tuple[int, int, int]:
    """Read the maze from the tokens of its JSON into ``reading``; return start, goal and a `FLAW` (0:
    none)."""
    structure = member(text, tape, 0, _STRUCTURE)
    if structure == 0 or tape[structure, TOKEN_KIND] != OBJECT:
        return 0, 0, FLAW.structure
    mappings = member(text, tape, 0, _MAPPINGS)
    if not is_null(text, tape, mappings):
        names = member(text, tape, mappings, _NAMES)
        if names == 0 or tape[names, TOKEN_KIND] != OBJECT:
            if tape[mappings, TOKEN_NEXT] > mappings + 1 or tape[mappings, TOKEN_KIND] != OBJECT:
                return 0, 0, FLAW.names
        else:
            at = names + 1
            while at < tape[names, TOKEN_NEXT]:
                if not _is_string(tape, at + 1):
                    return 0, 0, FLAW.name
                begin, end = _string(text, tape, at, reading.tail)
                thing = _number(reading.coordinates, begin, end, True)
                reading.called[thing], reading.called_end[thing] = _string(text, tape, at + 1, reading.tail)
                at = tape[at + 1, TOKEN_NEXT]
    keys, doors = member(text, tape, structure, _KEYS), member(text, tape, structure, _DOORS)
    around = member(text, tape, structure, _AROUND)
    if not is_null(text, tape, keys):
        if tape[keys, TOKEN_KIND] != OBJECT:
            return 0, 0, FLAW.keys
        at = keys + 1
        _empty(reading.members)
        while at < tape[keys, TOKEN_NEXT]:
            begin, end = _string(text, tape, at, reading.tail)
            if _is_repeated(reading.members, begin, end):
                return 0, 0, FLAW.json
            room = _place(text, tape, at + 1, reading)
            if room < 0:
                return 0, 0, FLAW.key
            reading.key_rooms[_number(reading.keys, begin, end, True)] = room
            at = tape[at + 1, TOKEN_NEXT]
    if not is_null(text, tape, doors):
        if tape[doors, TOKEN_KIND] != OBJECT:
            return 0, 0, FLAW.doors
        at = doors + 1
        _empty(reading.members)
        while at < tape[doors, TOKEN_NEXT]:
            begin, end = _string(text, tape, at, reading.tail)
            if _is_repeated(reading.members, begin, end):
                return 0, 0, FLAW.json
            middle = find_byte(text, begin, end, _UNDERSCORE)
            if (
                middle == end
                or find_byte(text, middle + 1, end, _UNDERSCORE) < end
                or tape[at + 1, TOKEN_KIND] != OBJECT
            ):
                return begin, end, FLAW.door
            one, other = _room(reading, begin, middle), _room(reading, middle + 1, end)
            status, key = member(text, tape, at + 1, _STATUS), NO_KEY
            locked = 1
            if _is_string(tape, status):
                begin, end = _string(text, tape, status, reading.tail)
                locked = 0 if end - begin == len(_OPEN) and same_as(text, begin, end, _OPEN) else 1
            token = member(text, tape, at + 1, _KEY)
            if locked and not is_null(text, tape, token):
                begin, end = _string(text, tape, token, reading.tail)
                if begin < end:
                    key = _number(reading.keys, begin, end, True)
            _connect(reading.passages, one, other, locked, key)
            at = tape[at + 1, TOKEN_NEXT]
    if around == 0 or tape[around, TOKEN_KIND] != OBJECT:
        return 0, 0, FLAW.around
    at = around + 1
    _empty(reading.members)
    while at < tape[around, TOKEN_NEXT]:
        begin, end = _string(text, tape, at, reading.tail)
        if _is_repeated(reading.members, begin, end):
            return 0, 0, FLAW.json
        here = _room(reading, begin, end)
        if tape[at + 1, TOKEN_KIND] != LIST:
            return 0, 0, FLAW.behind
        token = at + 2
        at = tape[at + 1, TOKEN_NEXT]
        while token < at:
            there = _place(text, tape, token, reading)
            if there < 0:
                return 0, 0, FLAW.neighbor
            _connect(reading.passages, here, there, 0, NO_KEY)
            token = tape[token, TOKEN_NEXT]
    start = _place(text, tape, member(text, tape, structure, _START), reading)
    goal = _place(text, tape, member(text, tape, structure, _GOAL), reading)
    if start < 0 or goal < 0:
        return 0, 0, FLAW.start if start < 0 else FLAW.goal
    return start, goal, 0


@kernel
def _empty(names: Names) -> None:
    names.slots[:] = -1
    names.size[0] = 0


@kernel
def _is_repeated(names: Names, begin: int, end: int) -> bool:
    """Whether the name text[begin:end] was there before: of repeated members JSON keeps the last, as orjson
    does for the caller."""
    known = int(names.size[0])
    return _number(names, begin, end, True) < known


@kernel
def _table(text: Bytes, numbers: Ints32, at: int, most: int, n_slots: int) -> Names:
    """An empty table for up to ``most`` names, placed in ``numbers`` from ``at`` on."""
    slots, size = numbers[at : at + n_slots], numbers[at + n_slots : at + n_slots + 1]
    slots[:] = -1
    size[0] = 0
    at += n_slots + 1
    return Names(text, numbers[at : at + most], numbers[at + most : at + 2 * most], slots, size)


@kernel
def _size(names: Names) -> int:
    """Number of bytes of all names together."""
    size = 0
    for thing in range(names.size[0]):
        size += int(names.ends[thing] - names.begins[thing])
    return size


@kernel
def _copied(names: Names, text: Bytes, at: int, ends: Ints32) -> int:
    """Copy names into ``text`` from ``at`` on, one after the other, and their ends into ``ends``; return
    the end of the last."""
    for thing in range(names.size[0]):
        at = copy(names.text, names.begins[thing], names.ends[thing], text, at)
        ends[thing] = at
    return at


@kernel
def _put_edges(reading: Reading, made: MazeTables, passages: Ints32) -> None:
    """Fill in a problem's edges, doors and list of passages. Of the edges of a room, those of passages that
    name this room first come first."""
    first_edge, known, n = made.first_edge, reading.passages, reading.passages.size[0]
    doors = 0
    for row in range(n):
        one, other = known.ones[row], known.others[row]
        first_edge[one + 1] += 1
        first_edge[other + 1] += 1
        passages[3 * row], passages[3 * row + 1], passages[3 * row + 2] = one, other, NO_DOOR
        if known.locked[row]:
            passages[3 * row + 2] = doors
            made.door_keys[doors] = known.keys[row]
            doors += 1
    n_rooms = len(first_edge) - 1
    places = known.slots[:n_rooms]
    for room in range(n_rooms):
        places[room] = first_edge[room]
        first_edge[room + 1] += first_edge[room]
    for side in range(2):
        for row in range(n):
            here = passages[3 * row + side]
            edge = places[here]
            made.neighbors[edge], made.doors[edge] = passages[3 * row + 1 - side], passages[3 * row + 2]
            places[here] = edge + 1


@kernel
def _read_gold(building: Building) -> tuple[int, int, int]:
    """Read the gold plan into the second table of items: the number of its actions, or a `FLAW`; and where
    the name of the person to rescue begins and ends (0 and 0: nowhere)."""
    desk, structure, gold, end = building.desk, building.structure, building.gold, building.end
    actions = desk.items[1]
    n_gold = 0
    target, target_end = (gold, end) if end > gold else (0, 0)
    if gold > structure:
        n_gold, _ = scan(desk.text[: 2 * end], structure, gold, desk.items[0], actions, desk.span)
        if n_gold == 0:
            return int(FLAW.gold), 0, 0
    for index in range(n_gold):
        if actions[index, ITEM_KIND] == BAD:
            building.told.index = index
            return int(FLAW.action), 0, 0
        if actions[index, ITEM_KIND] == RESCUE:
            target, target_end = int(actions[index, ITEM_PARAM]), int(actions[index, ITEM_END])
    return n_gold, target, target_end


@kernel
def _slots_for(n: int) -> int:
    """The number of slots of a hash table of up to ``n`` things."""
    n_slots = 8
    while n_slots < 2 * n:
        n_slots *= 2
    return n_slots


@kernel
def _n_tokens(tape: Ints, token: int) -> int:
    """The number of tokens within a value; 0 if it is missing."""
    return int(tape[token, TOKEN_NEXT]) - token if token > 0 else 0


@kernel
def _begin(text: Bytes, end: int, numbers: Ints32, most: int) -> Reading:
    """An empty reading of up to ``most`` names, placed in ``numbers``; the text is used up to ``end``."""
    n_slots = _slots_for(most)
    table = 2 * most + n_slots + 1
    rest = numbers[4 * table :]
    rest[:n_slots] = -1
    rest[n_slots + 2 * most : n_slots + 3 * most] = -1
    at = n_slots + 7 * most
    n_passages, tail = rest[at : at + 1], rest[at + 1 : at + 2]
    n_passages[0], tail[0] = 0, end
    begin = n_slots
    return Reading(
        _table(text, numbers, 0, most, n_slots),
        rest[begin : begin + most],
        rest[begin + most : begin + 2 * most],
        _table(text, numbers, table, most, n_slots),
        _table(text, numbers, 2 * table, most, n_slots),
        rest[begin + 2 * most : begin + 3 * most],
        Passages(
            rest[begin + 3 * most : begin + 4 * most],
            rest[begin + 4 * most : begin + 5 * most],
            rest[begin + 5 * most : begin + 6 * most],
            rest[begin + 6 * most : begin + 7 * most],
            rest[:n_slots],
            n_passages,
        ),
        tail,
        _table(text, numbers, 3 * table, most, n_slots),
    )


@kernel
def _number_gold(reading: Reading, actions: Ints32, n_gold: int, target: int, target_end: int) -> int:
    """Put the number of the thing that each action names in place of its hash; the number of doors that gold
    unlocks."""
    text, unlocks = reading.rooms.text, 0
    for index in range(n_gold):
        kind, begin, stop = actions[index, ITEM_KIND], actions[index, ITEM_PARAM], actions[index, ITEM_END]
        argument = 0
        if kind == PICK_UP or kind == USE:
            argument = _number(reading.keys, begin, stop, True)
        elif kind != RESCUE:
            argument = _number(reading.rooms, begin, stop, True)
        elif not same_bytes(text, begin, stop, text, target, target_end):
            argument = -1
        actions[index, ITEM_HASH] = argument
        unlocks += kind == UNLOCK
    return unlocks


@kernel
def _pack(
    reading: Reading, desk: Desk, first: int, n_gold: int, start: int, goal: int, target: int, target_end: int
) -> int:
    """Write the problem from ``first`` on into the numbers of the desk; its size, or NO_ROOM."""
    n_rooms, n_keys = int(reading.rooms.size[0]), int(reading.keys.size[0])
    n, n_names, n_doors = int(reading.passages.size[0]), n_rooms + n_keys + 1, 0
    n_bytes = target_end - target + _size(reading.rooms) + _size(reading.keys)
    for row in range(n):
        n_doors += reading.passages.locked[row]
    n_slots = _slots_for(n_names)
    size = HEADER + n_rooms + 1 + 7 * n + n_doors + n_keys + 6 * n_gold + n_names + n_slots
    size += (n_bytes + 3) // 4
    if len(desk.numbers) < first + size:
        return NO_ROOM
    problem, actions = desk.numbers[first : first + size], desk.items[1]
    problem[:] = 0
    problem[FACT.n_rooms], problem[FACT.n_edges] = n_rooms, 2 * n
    problem[FACT.n_doors], problem[FACT.n_keys] = n_doors, n_keys
    problem[FACT.start_room], problem[FACT.goal_room] = start, goal
    problem[FACT.n_gold], problem[FACT.n_distinct] = n_gold, n_gold
    problem[FACT.n_names], problem[FACT.n_slots], problem[FACT.n_name_bytes] = n_names, n_slots, n_bytes
    problem[FACT.size] = size
    made = unpack(problem)
    _put_edges(reading, made.maze, problem[size - 3 * n :])
    for key in range(n_keys):
        made.maze.key_rooms[key] = reading.key_rooms[key]
    for index in range(n_gold):
        made.gold.kinds[index] = actions[index, ITEM_KIND]
        made.gold.arguments[index] = actions[index, ITEM_HASH]
    at = _copied(reading.rooms, made.names.text, 0, made.names.ends)
    at = _copied(reading.keys, made.names.text, at, made.names.ends[n_rooms:])
    made.names.ends[n_names - 1] = copy(reading.rooms.text, target, target_end, made.names.text, at)
    return size if settle(problem, Work(desk.numbers[first + size :], desk.pairs)) else NO_ROOM


@kernel
def build(building: Building) -> int:
    """Build a complete problem in the numbers of the desk; return its size in int32, NO_ROOM if the work
    space is too small, or a `FLAW`.

    ``told.offset`` says where it is; with `FLAW.action`, ``told.index`` which gold item is no action; with
    `FLAW.door`, ``text[told.begin:told.end]`` is the name of the door that cannot be read.
    """
    desk, told, text, structure = building.desk, building.told, building.desk.text, building.structure
    told.begin, told.end, told.index = 0, 0, 0
    n_tokens = tokenise(text, 0, structure, desk.tape, 0)
    if n_tokens < 0 or find_outside(text, 0, structure, 32, 255) < structure:
        return int(FLAW.json)
    n_gold, target, target_end = _read_gold(building)
    if n_gold < 0:
        return n_gold
    # the rest of the text is valid JSON, and names nothing
    mappings, maze = member(text, desk.tape, 0, _MAPPINGS), member(text, desk.tape, 0, _STRUCTURE)
    most = _n_tokens(desk.tape, mappings) + _n_tokens(desk.tape, maze) + n_gold + 2
    first = _NUMBERS_A_THING * most
    told.offset = first
    if len(desk.numbers) < first:
        return NO_ROOM
    reading = _begin(text, building.end, desk.numbers[:first], most)
    start, goal, flaw = _read(text, desk.tape, reading)
    if flaw:
        told.begin, told.end = start, goal
        return int(flaw)
    if target_end == target:
        return int(FLAW.target)
    unlocks = _number_gold(reading, desk.items[1], n_gold, target, target_end)
    size = _pack(reading, desk, first, n_gold, start, goal, target, target_end)
    if size > 0:
        desk.numbers[first + FACT.n_unlocks] = unlocks
    return size
