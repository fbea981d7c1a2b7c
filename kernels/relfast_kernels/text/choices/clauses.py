"""What a clause says of a number in it: `relfast.tasks.rel_a.verdict`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.choices.data import (
    SET_ANSWERS,
    SET_AS,
    SET_BEGINS,
    SET_BEST,
    SET_BOXED,
    SET_FOR_BY,
    SET_INDEX,
    SET_IT,
    SET_LISTS,
    SET_NUMBER_OF,
    SET_PREPOSITION,
    SET_RIGHT,
    SET_VERSUS,
    SET_WITHIN,
)
from relfast_kernels.text.choices.numbering import A, B, C, F, G, I, L, N, P, X, Y, kinds
from relfast_kernels.text.choices.tokens import (
    COLUMNS,
    KIND_OF,
    OTHER_TOKENS,
    SET_COLON,
    SET_TWO_DOTS,
    SETS,
    VALUE,
)
from relfast_kernels.text.patterns.symbols import constant

STATED, FITS, SHORT, PLACE, MENTIONED, SUPPOSED, DENIED = map(constant, (5, 4, 3, 2, 1, 0, -1))
NOTHING: Final = constant(-9)
"""In place of a force: nothing is said."""

D, E, J, M, O, Q, ONLY, NEAR, n_ = (constant(ord(kind)) for kind in "DEJMOQ1mn")  # noqa: E741
R, S, T, U = (constant(ord(kind)) for kind in "RSTU")
RIGHT, FITTING, BAD, NOT, NO_VERDICT = map(constant, (1, 2, 3, 4, 0))

_MISSING: Final = kinds("FP")
_DENIED_ALONE: Final = kinds("NBFQI1AC")
_OPPOSED: Final = kinds("NE")
_LEADING: Final = kinds("FSIQLUYCK1")
_IFA: Final = kinds("IFA")
_IFACQY: Final = kinds("IFACQY")
_CAIFS: Final = kinds("CAIFS")
_STANDING: Final = kinds("FQYI")
_BARE: Final = kinds("FQ1YSI")
_CBN: Final = kinds("CBN")
_YC1: Final = kinds("YC1")
_SKIPPED: Final = kinds("FQ1Y")
_STARTS_RIGHT: Final = kinds("CYIF1m")
_C1N: Final = kinds("C1N")
_ONLY_NAMES: Final = kinds("PF")
_MAX_OPENER: Final = 48


@kernel
def kind_in(at: Any, work: Any) -> Any:
    return work[OTHER_TOKENS + at * COLUMNS + KIND_OF]


@kernel
def sets_in(at: Any, work: Any) -> Any:
    return work[OTHER_TOKENS + at * COLUMNS + SETS]


@kernel
def opens(opener: Any, kind: Any) -> bool:
    """Whether a kind is among those that open a clause."""
    while opener != 0:
        if opener & 255 == kind:
            return True
        opener >>= 8
    return False


@kernel
def has_kind(start: Any, stop: Any, kind: Any, work: Any) -> bool:
    for at in range(start, stop):
        if kind_in(at, work) == kind:
            return True
    return False


@kernel
def all_are(start: Any, stop: Any, table: Any, work: Any) -> bool:
    for at in range(start, stop):
        if table[kind_in(at, work)] == 0:
            return False
    return True


@kernel
def any_is(start: Any, stop: Any, table: Any, work: Any) -> bool:
    for at in range(start, stop):
        if table[kind_in(at, work)] != 0:
            return True
    return False


@kernel
def any_in(start: Any, stop: Any, sets: Any, work: Any) -> bool:
    for at in range(start, stop):
        if sets_in(at, work) & sets:
            return True
    return False


@kernel
def subject_of(start: Any, stop: Any, work: Any) -> Any:
    """What a clause is about, by its last noun; 0 for ""."""
    found: Any = np.int64(0)
    within = False
    for at in range(start, stop):
        kind, sets = kind_in(at, work), sets_in(at, work)
        if sets & SET_PREPOSITION:
            within = found == A
            continue
        if kind == X and within:
            continue
        if kind == A:
            found = A
        elif kind == P:
            found = M if found == Q or found == M or sets & SET_INDEX else P
        elif kind == Q:
            if found != A:
                found = M if found == P or found == M else Q
        elif kind == X:
            found = X
        elif kind == Y and found == P:
            found = M
        elif kind == I:
            if found == 0:
                found = I
        elif kind == G:
            found = np.int64(0)
    return found


@kernel
def _tie(start: Any, stop: Any, work: Any) -> Any:
    """The noun right before a number, the verb before that, and where what else stands before them ends."""
    direct: Any = np.int64(0)
    link: Any = np.int64(0)
    at = stop
    while at > start:
        kind = kind_in(at - 1, work)
        if (kind == A or kind == P) and link == 0:
            if direct == 0:
                direct = kind
        elif kind == C or kind == L or kind == NEAR:
            if link != 0 and kind != link:
                break
            link = kind
            if kind == C and at - 1 > start and kind_in(at - 2, work) == L:
                at -= 1
                link = L
        elif (kind == F or kind == Q or kind == ONLY or kind == Y) and not (kind == Q and link != 0):
            if kind == ONLY or kind == Y:
                break
        else:
            break
        at -= 1
    return direct, link, at


@kernel
def _begins_anew(start: Any, stop: Any, work: Any) -> bool:
    """Whether a colon and a new subject stand among the words."""
    colon = False
    for at in range(start, stop):
        if sets_in(at, work) & SET_TWO_DOTS:
            colon = True
        elif colon and kind_in(at, work) == I:
            return True
    return False


@kernel
def _on(start: Any, stop: Any, work: Any) -> Any:
    """The verdict of what follows a number."""
    right = good = bad = denied = only_before = False
    exception = missing_after = False
    first, before, before_sets = np.int64(0), np.int64(0), np.int64(0)
    for at in range(start, stop):
        kind, sets = kind_in(at, work), sets_in(at, work)
        if kind == O or kind == D or kind == M:
            break
        if at == start:
            first = kind
        right = (
            right
            or kind == Q
            or sets & SET_RIGHT != 0
            or kind == A
            or (sets & SET_IT != 0 and _C1N[before] != 0 and not before_sets & SET_TWO_DOTS)
        )
        good = good or kind == Y or kind == ONLY or kind == NEAR
        bad = bad or kind == B or kind == E
        if kind == N and not denied:
            denied = True
            only_before = has_kind(start, at, ONLY, work)
        if kind == n_:
            exception = True
        if exception and kind == Q:
            missing_after = True
        before, before_sets = kind, sets
    has_q = False
    for at in range(start, stop):
        kind = kind_in(at, work)
        if kind == O or kind == D or kind == M:
            break
        has_q = has_q or kind == Q
    good = good or right
    if bad and denied:
        return FITTING
    if bad or missing_after:
        return BAD
    if denied and not exception:
        if only_before:
            return FITTING
        return BAD if good or has_q else NOT
    if right and first != 0 and _STARTS_RIGHT[first] != 0:
        return RIGHT
    if good and first != 0 and _STARTS_RIGHT[first] != 0:
        return FITTING
    return NO_VERDICT


@kernel
def _stands(start: Any, at: Any, stop: Any, opener: Any, nth: Any, work: Any) -> bool:
    """Whether a number stands alone in its clause, in a place where an answer does."""
    for k in range(at + 1, stop):
        if kind_in(k, work) != F:
            return False
    if not all_are(start, at, _STANDING, work):
        return False
    if nth == 0 and not opens(opener, J):
        return True
    return opens(opener, R) or opens(opener, S) or opens(opener, T) or opens(opener, U)


@kernel
def _on_bare(start: Any, at: Any, stop: Any, work: Any) -> Any:
    """Of a number without a word for a choice."""
    if at + 1 >= stop or not all_are(start, at, _BARE, work):
        return NOTHING
    verdict = _on(at + 1, stop, work)
    first, sets = kind_in(at + 1, work), sets_in(at + 1, work)
    if verdict == BAD and _CBN[first] != 0:
        return DENIED
    if verdict == RIGHT and (first == C or first == Y or sets & SET_AS != 0):
        return STATED
    if verdict == FITTING and (_YC1[first] != 0 or (first == NEAR and has_kind(start, at, ONLY, work))):
        return STATED if any_in(at + 1, stop, SET_BEST, work) else FITS
    return NOTHING


@kernel
def _force(
    direct: Any, link: Any, about: Any, start: Any, rest: Any, at: Any, stop: Any, another: bool, ends: bool,
    opener: Any, nth: Any, first: bool, work: Any,
) -> Any:  # fmt: skip
    """How much is said of a number by what ties it, if nothing speaks for or against it."""
    only = has_kind(start, rest, ONLY, work)
    leading = True
    for k in range(start, rest):
        leading = leading and (_LEADING[kind_in(k, work)] != 0 or sets_in(k, work) & SET_ANSWERS != 0)
    reason = opens(opener, J) or opens(opener, M)
    no_rest = rest == start
    has_after = at + 1 < stop
    after = kind_in(at + 1, work) if has_after else np.int64(0)
    if direct == A:
        if only and not reason:
            return STATED
        if link != 0 and (ends or not has_after or _CAIFS[after] != 0):
            return MENTIONED if reason and link != C else STATED
        if link != 0:
            return FITS
        if leading and not reason:
            if ends or (has_after and after == C and (another or sets_in(at + 1, work) & SET_COLON != 0)):
                return STATED
            if has_after and _IFA[after] != 0 and not another:
                return STATED if all_are(at + 1, stop, _IFACQY, work) else MENTIONED
        if leading or only or sets_in(rest - 1, work) & SET_WITHIN != 0:
            return MENTIONED
        return SUPPOSED
    if direct == P:
        missing = about == M or about == Q or about == A or any_in(start, rest, SET_INDEX, work)
        if link != 0 and (missing or link == L or (link == C and no_rest)):
            return STATED if ends else SUPPOSED
        if (leading and ends and not another and nth == 0 and no_rest) or link == L:
            return STATED
        return SUPPOSED
    if link == 0:
        return STATED
    if reason and about != A:
        return SUPPOSED
    if about == A or about == M or about == Q or link == L:
        return STATED
    if about == I:
        return STATED if opens(opener, R) or opens(opener, T) else SHORT
    replaces = opens(opener, R) or opens(opener, S)
    if first and about == 0 and no_rest and (link == C or replaces):
        return STATED if nth == 0 or replaces or opens(opener, T) else SUPPOSED
    return STATED if about == P and all_are(start, rest, _ONLY_NAMES, work) else SUPPOSED


@kernel
def verdict_on(
    start: Any, at: Any, stop: Any, another: bool, opener: Any, nth: Any, subject: Any, first: bool, work: Any
) -> Any:
    """How much a clause says of the number at ``at``, whether it is described, and whether it is boxed.

    The words before it begin at ``start``, those after it end at ``stop``. A force of `NOTHING`: it says
    nothing of it.
    """
    direct, link, rest = _tie(start, at, work)
    about = subject_of(start, rest, work)
    if about == 0 and rest == start:
        about = subject
    has_after = at + 1 < stop
    after = kind_in(at + 1, work) if has_after else np.int64(0)
    after_sets = sets_in(at + 1, work) if has_after else np.int64(0)
    ends = not has_after or after == D or after == n_ or after_sets & SET_FOR_BY != 0
    ends = ends or (after_sets & SET_AS != 0 and not another)
    if not ends:
        ends = True
        for k in range(at + 1, stop):
            ends = ends and kind_in(k, work) == F
    boxed = False
    opposed = any_is(start, at, _OPPOSED, work)
    bad: Any = np.int64(-1)
    for k in range(start, at):
        kind = kind_in(k, work)
        boxed = boxed or (kind == A and sets_in(k, work) & SET_BOXED != 0)
        if kind == B:
            bad = k
    if bad >= 0 and not _begins_anew(bad + 1, at, work):
        opposed = True
    is_place = direct == P or (direct == 0 and (about == P or about == M))
    value = work[OTHER_TOKENS + at * COLUMNS + VALUE]
    if is_place and (value == 8 or value == 9) and not boxed:
        if opposed:
            return DENIED, False, False
        missing = (
            about == M
            or about == Q
            or has_kind(start, at, Q, work)
            or (all_are(start, at, _MISSING, work) and ends)
        )
        if direct != 0 and not missing and link == 0:
            return SUPPOSED, False, False
        if direct != 0 or (link != 0 and ends):
            return (PLACE if value == 8 else SUPPOSED), False, False
        return NOTHING, False, False
    if direct == 0 and link == 0 and not _stands(start, at, stop, opener, nth, work):
        if opposed and ends and all_are(start, at, _DENIED_ALONE, work):
            return DENIED, False, False
        return _on_bare(start, at, stop, work), False, False
    verdict = _on(at + 1, stop, work)
    lists = another or any_in(start, rest, SET_LISTS, work)
    is_shown = about == A and after_sets & SET_TWO_DOTS != 0 and not lists
    if direct == 0 and link != 0 and not ends and not is_shown and verdict == NO_VERDICT:
        return NOTHING, False, False
    if has_kind(start, at, n_, work) or any_in(start, at, SET_NUMBER_OF, work):
        return SUPPOSED, False, False
    if has_after and (after == X or after_sets & SET_VERSUS != 0):
        return SUPPOSED, False, False
    if (direct == P and another) or (direct == P and verdict == FITTING):
        verdict = NO_VERDICT
    if opposed:
        return (DENIED if direct != 0 or ends else NOTHING), False, False
    if verdict == BAD:
        return DENIED, False, False
    if has_kind(start, rest, D, work):
        return SUPPOSED, False, False
    described = has_after and after == C and after_sets & SET_COLON != 0 and direct == A
    if verdict == RIGHT:
        return (FITS if opens(opener, J) else STATED), described, False
    if verdict == FITTING:
        return FITS, described, False
    if has_kind(start, rest, M, work) and link != L:
        return SUPPOSED, False, False
    if any_in(start, rest, SET_BEGINS, work):
        return SUPPOSED, False, False
    if verdict == NOT:
        return MENTIONED, False, False
    force = _force(direct, link, about, start, rest, at, stop, another, ends, opener, nth, first, work)
    return force, described, boxed
