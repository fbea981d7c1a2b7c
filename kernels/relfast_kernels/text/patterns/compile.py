"""Patterns as programs for `relfast_kernels.text.patterns.machine`, from Python's own parse of them.

Everything that is ordered stays in its order, so that the machine finds what `re` finds, groups included.
What it does not know (backreferences, conditions) raises `ValueError` here.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any, Final

from relfast_kernels.text.patterns.classes import (
    ANYTHING,
    AT_BEGIN,
    EVERY,
    LINE,
    WORDS,
    class_of_item,
    kinds_behind,
)
from relfast_kernels.text.patterns.symbols import IS_WORD, KIND, N_SYMBOLS, SYMBOL_OF

_parser: Final = importlib.import_module("re._parser")

(
    MATCH, CHAR, CLASS, JUMP, BRANCH, SPLIT, SAVE, AT, LOOK, LOOKED, ATOMIC, COMMIT, GREEDY, POSSESSIVE, LAZY,
) = range(15)  # fmt: skip
"""Operations; an instruction is one of them and three numbers."""

AT_START, AT_LINE, AT_END, AT_LINE_END, AT_BOUNDARY, AT_NO_BOUNDARY, AT_VERY_END = range(7)
WIDTH: Final = 4
MOST: Final = (1 << 15) - 1
"""Greatest number of a program: of its instructions, sets, branches and ways."""
IN_A_CHAR: Final = 3
"""Symbols that a `CHAR` has at most, one after the other."""
NO_LIMIT: Final = -1
END: Final = N_SYMBOLS
"""Beside the symbols, in a branch's table and in `Programs.begins`: the end of the text."""

_EVERY_BIT: Final = (1 << 64) - 1
_Left = tuple[int, int]
_CHARACTER: Final = {symbol: character for character, symbol in SYMBOL_OF.items()}
_POSITIONS: Final = {
    "AT_BEGINNING": (AT_START, AT_LINE),
    "AT_BEGINNING_STRING": (AT_START, AT_START),
    "AT_END": (AT_END, AT_LINE_END),
    "AT_END_STRING": (AT_VERY_END, AT_VERY_END),
    "AT_BOUNDARY": (AT_BOUNDARY, AT_BOUNDARY),
    "AT_NON_BOUNDARY": (AT_NO_BOUNDARY, AT_NO_BOUNDARY),
}


class Programs:
    """All programs in one table, with the sets of symbols and the tables of branches they share."""

    def __init__(self) -> None:
        self.code: list[int] = []
        self.sets: dict[frozenset[int], int] = {}
        self.tables: list[int] = []
        """``N_SYMBOLS + 1`` numbers a branch: where in `lists` its ways for that symbol begin."""
        self.lists: list[int] = [0]
        """How many ways, then where each begins."""
        self.starts: dict[str, int] = {}
        """Pattern → where its program begins."""
        self.seconds: list[int] = []
        """``N_SYMBOLS`` numbers a pattern: which symbols, by their last six bits, may follow the one that a
        match begins with, as bits; all where the match may end there."""
        self.begins: list[int] = []
        """``N_SYMBOLS + 1`` numbers a pattern: what may stand left of a match that begins with that symbol,
        or at the end of the text, as bits of `LEFT` and `AT_BEGIN`."""
        self._multiline = False
        self._ways: dict[int, list[int]] = {}
        """Where the ways of each branch begin."""

    def add(self, name: str, source: str, flags: int) -> None:
        parsed = _parser.parse(source, flags)
        self._multiline = bool(parsed.state.flags & re.MULTILINE)
        self.starts[name] = self._here()
        self._sequence(list(parsed))
        self._emit(MATCH)
        table = [0] * (N_SYMBOLS + 1)
        # a match may be empty where nothing was asked for
        for symbol, left in enumerate(self._begin(list(parsed), (ANYTHING, ANYTHING), table)):
            table[symbol] |= left
        self.begins += table
        self.seconds += self._seconds(self.starts[name])
        sizes = {
            "instructions": self._here(),
            "sets": len(self.sets),
            "branches": len(self.tables) // (N_SYMBOLS + 1),
            "ways": len(self.lists),
        }
        for of, size in sizes.items():
            if size > MOST:
                raise ValueError(f"with {name} the patterns have {size:,} {of}, {MOST:,} is the most")

    def _seconds(self, start: int) -> list[int]:
        """What may stand second in a match, for each symbol that it may begin with; what is asked beside a
        character is taken for true."""
        masks = [0] * N_SYMBOLS
        for symbols, after in self._steps(start):
            mask = 0
            for following, _ in self._steps(after):
                if following is None:
                    mask = _EVERY_BIT
                    break
                for symbol in following:
                    mask |= 1 << (symbol & 63)
            for symbol in range(N_SYMBOLS) if symbols is None else symbols:
                masks[symbol] |= mask if symbols is not None else _EVERY_BIT
        return masks

    def _steps(self, start: int) -> list[tuple[frozenset[int] | None, int]]:
        """The symbols that a program may take from one of its places, and where it stands then; None: it may
        be at its end. ``~pc`` is a place within a `CHAR`, before its second symbol."""
        sets = list(self.sets)
        steps: list[tuple[frozenset[int] | None, int]] = []
        seen, left = {start}, [start]
        while left:
            pc = left.pop()
            if pc < 0:
                steps.append((frozenset([self.code[~pc * WIDTH + 2]]), pc))
                continue
            op, a, b, _ = self.code[pc * WIDTH : (pc + 1) * WIDTH]
            following: list[int] = []
            if op == MATCH:
                steps.append((None, pc))
            elif op == CHAR:
                steps.append((frozenset([a]), pc + 1 if b < 0 else ~pc))
            elif op == CLASS:
                steps.append((sets[a], pc + 1))
            elif op in (GREEDY, POSSESSIVE, LAZY):
                # it may take more, or go on
                steps.append((sets[a], pc))
                following = [pc + 1]
            elif op == BRANCH:
                following = self._ways[pc]
            elif op == SPLIT:
                following = [a, b]
            elif op in (JUMP, LOOK):
                following = [a]
            else:
                following = [pc + 1]
            left += [place for place in following if place not in seen]
            seen.update(following)
        return steps

    def _here(self) -> int:
        return len(self.code) // WIDTH

    def _emit(self, op: int, a: int = 0, b: int = 0, c: int = 0) -> int:
        self.code += (op, a, b, c)
        return self._here() - 1

    def _patch(self, at: int, which: int, value: int) -> None:
        self.code[at * WIDTH + which] = value

    def _set(self, symbols: frozenset[int]) -> int:
        return self.sets.setdefault(symbols, len(self.sets))

    def _sequence(self, items: Sequence[tuple[Any, Any]]) -> None:
        word: list[int] = []
        for op, value in items:
            one = class_of_item(str(op), value)
            if one is not None and len(one) == 1:
                word += one
                continue
            self._word(word)
            word = []
            if one is None:
                self._item(str(op), value)
            else:
                self._emit(CLASS, self._set(one))
        self._word(word)

    def _word(self, symbols: list[int]) -> None:
        """Symbols one after the other; fewer than an instruction has room for end with numbers below 0."""
        for at in range(0, len(symbols), IN_A_CHAR):
            self._emit(CHAR, *(*symbols[at : at + IN_A_CHAR], -1, -1)[:IN_A_CHAR])

    def _item(self, op: str, value: Any) -> None:
        if op == "SUBPATTERN":
            group, on, off, inner = value
            if on or off:
                raise ValueError("flags within a pattern")
            if group is not None:
                self._emit(SAVE, 2 * group)
            self._sequence(list(inner))
            if group is not None:
                self._emit(SAVE, 2 * group + 1)
        elif op == "BRANCH":
            self._branch([list(way) for way in value[1]])
        elif op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            self._repeat(op, int(value[0]), value[1], list(value[2]))
        elif op == "ATOMIC_GROUP":
            self._emit(ATOMIC)
            self._sequence(list(value))
            self._emit(COMMIT)
        elif op in ("ASSERT", "ASSERT_NOT"):
            direction, inner = value
            low, high = inner.getwidth()
            if direction < 0 and low != high:
                raise ValueError("look-behind of more than one width")
            refuses = int(op == "ASSERT_NOT")
            look = self._emit(LOOK, 0, refuses, int(low) if direction < 0 else 0)
            self._sequence(list(inner))
            self._emit(LOOKED, refuses)
            self._patch(look, 1, self._here())
        elif op == "AT":
            self._emit(AT, _POSITIONS[str(value)][self._multiline])
        else:
            raise ValueError(f"{op} is not known here")

    def _branch(self, ways: list[list[tuple[Any, Any]]]) -> None:
        branch = self._emit(BRANCH, len(self.tables) // (N_SYMBOLS + 1))
        table = len(self.tables)
        self.tables += [0] * (N_SYMBOLS + 1)
        begins, jumps = [], []
        for way in ways:
            begins.append(self._here())
            self._sequence(way)
            jumps.append(self._emit(JUMP))
        for jump in jumps:
            self._patch(jump, 1, self._here())
        self._ways[branch] = begins
        firsts = [self._first(way) for way in ways]
        known: dict[tuple[int, ...], int] = {(): 0}
        for symbol in range(N_SYMBOLS + 1):
            taken = tuple(
                begin
                for begin, (first, empty) in zip(begins, firsts, strict=True)
                if empty or symbol in first
            )
            if taken not in known:
                known[taken] = len(self.lists)
                self.lists += (len(taken), *taken)
            self.tables[table + symbol] = known[taken]

    def _repeat(self, op: str, low: int, high: Any, inner: list[tuple[Any, Any]]) -> None:
        limit = NO_LIMIT if high is _parser.MAXREPEAT else int(high)
        one = class_of_item(str(inner[0][0]), inner[0][1]) if len(inner) == 1 else None
        if one is not None:
            kind = {"MAX_REPEAT": GREEDY, "MIN_REPEAT": LAZY, "POSSESSIVE_REPEAT": POSSESSIVE}[op]
            self._emit(kind, self._set(one), low, limit)
            return
        if op == "POSSESSIVE_REPEAT":
            self._emit(ATOMIC)
        for _ in range(low):
            self._sequence(inner)
        lazy = op == "MIN_REPEAT"
        if limit == NO_LIMIT:
            if self._first(inner)[1]:
                raise ValueError("a repeated part that may be empty")
            loop = self._emit(SPLIT, 0, 0, lazy)
            self._patch(loop, 1, self._here())
            self._sequence(inner)
            self._emit(JUMP, loop)
            self._patch(loop, 2, self._here())
        else:
            splits = []
            for _ in range(limit - low):
                split = self._emit(SPLIT, 0, 0, lazy)
                self._patch(split, 1, self._here())
                splits.append(split)
                self._sequence(inner)
            for split in splits:
                self._patch(split, 2, self._here())
        if op == "POSSESSIVE_REPEAT":
            self._emit(COMMIT)

    def _begin(self, items: Sequence[tuple[Any, Any]], left: _Left, table: list[int]) -> list[int]:
        """Note in ``table`` what may stand left of a match of some items, by its first symbol; the same for a
        match of nothing is returned."""
        for op, value in items:
            left = self._begin_of(str(op), value, left, table)
        word, other = left
        return [word if symbol < END and KIND[symbol] & IS_WORD else other for symbol in range(END + 1)]

    def _begin_of(self, op: str, value: Any, left: _Left, table: list[int]) -> _Left:
        """The same of one item. ``left``: what may stand there before characters of words, and others."""
        word, other = left
        one = class_of_item(op, value)
        if one is not None:
            for symbol in one:
                table[symbol] |= word if KIND[symbol] & IS_WORD else other
            return 0, 0
        if op in ("SUBPATTERN", "ATOMIC_GROUP"):
            for item in value[3] if op == "SUBPATTERN" else value:
                left = self._begin_of(str(item[0]), item[1], left, table)
            return left
        if op == "BRANCH":
            word = other = 0
            for way in value[1]:
                after = left
                for item in way:
                    after = self._begin_of(str(item[0]), item[1], after, table)
                word, other = word | after[0], other | after[1]
            return word, other
        if op.endswith("_REPEAT"):
            after = left
            for item in value[2]:
                after = self._begin_of(str(item[0]), item[1], after, table)
            return left if value[0] == 0 else after
        if op == "AT":
            where = _POSITIONS[str(value)][self._multiline]
            if where == AT_BOUNDARY:
                return word & ~WORDS, other & WORDS
            if where == AT_NO_BOUNDARY:
                return word & WORDS, other & ~WORDS
            here = {AT_START: AT_BEGIN, AT_LINE: LINE}.get(where, ANYTHING)
            return word & here, other & here
        if op in ("ASSERT", "ASSERT_NOT") and value[0] < 0 and len(value[1]) == 1:
            behind = class_of_item(str(value[1][0][0]), value[1][0][1])
            if behind is not None:
                here = (
                    kinds_behind(behind) if op == "ASSERT" else ANYTHING & ~kinds_behind(EVERY, all_of=behind)
                )
                return word & here, other & here
        return left

    def _first(self, items: Sequence[tuple[Any, Any]]) -> tuple[frozenset[int], bool]:
        """What a match of some items can begin with, and whether it can be empty: at least that much."""
        first: frozenset[int] = frozenset()
        for op, value in items:
            more, empty = self._first_of(str(op), value)
            first |= more
            if not empty:
                return first, False
        return first, True

    def _first_of(self, op: str, value: Any) -> tuple[frozenset[int], bool]:
        one = class_of_item(op, value)
        if one is not None:
            return one, False
        if op == "SUBPATTERN":
            return self._first(list(value[3]))
        if op == "ATOMIC_GROUP":
            return self._first(list(value))
        if op == "BRANCH":
            ways = [self._first(list(way)) for way in value[1]]
            return frozenset().union(*(first for first, _ in ways)), any(empty for _, empty in ways)
        if op.endswith("_REPEAT"):
            first, empty = self._first(list(value[2]))
            return first, empty or value[0] == 0
        return frozenset(), True
