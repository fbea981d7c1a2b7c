"""Ids of prompts: `relfast.formats.reading.prompt_id`, hashed once for rollouts of one prompt."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    BLAKE_WORDS,
    OBJECT,
    PROMPT_SLOTS,
    PROMPT_WORDS,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_START,
)
from relfast_kernels.text.blake2b import digest
from relfast_kernels.text.canonical import put_json
from relfast_kernels.text.find import copy, load8
from relfast_kernels.text.json_strings import QUOTE
from relfast_kernels.text.values import put_value

_PROMPT = np.frombuffer(b'"prompt-', np.uint8)
_HEXADECIMAL = np.frombuffer(b"0123456789abcdef", np.uint8)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

_SAMPLED = 16
"""Places of a text that decide where it is kept; prompts of a benchmark begin alike."""

_DIGEST_AT, _TEXT_AT = 2, 3
"""Words of a slot: the lengths of prompt and gold (and what gold is), their digest, and from here on their
texts."""


@kernel
def _word(data: Any, at: int, end: int) -> Any:
    """Eight bytes as a number, zeros after the end."""
    if at + 8 <= end:
        return load8(data, at)
    word = np.uint64(0)
    for k in range(end - at):
        word |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return word


@kernel
def _sampled(data: Any, start: int, end: int, value: Any) -> Any:
    step = max((end - start) // _SAMPLED, 8)
    for at in range(start, end, step):
        value = (value ^ _word(data, at, end)) * _FACTOR
        value ^= value >> np.uint64(29)
    return value


@kernel
def _same(data: Any, start: int, end: int, words: Any, at: Any) -> bool:
    for place in range(start, end, 8):
        if words[at] != _word(data, place, end):
            return False
        at += 1
    return True


@kernel
def _keep(data: Any, start: int, end: int, words: Any, at: Any) -> Any:
    for place in range(start, end, 8):
        words[at] = _word(data, place, end)
        at += 1
    return at


@kernel
def _put_list(data: Any, tape: Any, prompt: int, gold: int, out: Any, to: int) -> int:
    """Write the JSON list of a string and of gold, a string or an object; where it ends, or -1: only its
    parser would write the object."""
    out[to] = 91
    at = put_json(data, tape[prompt, TOKEN_START], tape[prompt, TOKEN_END], out, to + 1)
    out[at] = 44
    if tape[gold, TOKEN_KIND] == OBJECT:
        at = put_value(data, tape, gold, out, at + 1)
        if at < 0:
            return -1
    else:
        at = put_json(data, tape[gold, TOKEN_START], tape[gold, TOKEN_END], out, at + 1)
    out[at] = 93
    return at + 1


@kernel
def put_prompt_id(data: Any, tape: Any, prompt: int, gold: int, words: Any, out: Any, to: int) -> int:
    """Write the id of a prompt and its gold as JSON; where it ends, or -1.

    Parameters
    ----------
    words : uint64, shape (PROMPTS_SIZE,)
        Work space of the digest, and what is known of prompts; zeros at first.
    """
    start, end = tape[prompt, TOKEN_START], tape[prompt, TOKEN_END]
    first, last = tape[gold, TOKEN_START], tape[gold, TOKEN_END]
    n_words = (end - start + 7) // 8
    keeps = n_words + (last - first + 7) // 8 + _TEXT_AT <= PROMPT_WORDS
    place = _sampled(data, first, last, _sampled(data, start, end, np.uint64(end - start)))
    slot = BLAKE_WORDS + (np.int64(place) & (PROMPT_SLOTS - 1)) * PROMPT_WORDS
    text = slot + _TEXT_AT
    is_object = tape[gold, TOKEN_KIND] == OBJECT
    lengths = np.uint64(end - start) + np.uint64(1), np.uint64(2 * (last - first) + is_object)
    if (
        keeps
        and words[slot] == lengths[0]
        and words[slot + 1] == lengths[1]
        and _same(data, start, end, words, text)
        and _same(data, first, last, words, text + n_words)
    ):
        value = words[slot + _DIGEST_AT]
    else:
        stop = _put_list(data, tape, prompt, gold, out, to)
        if stop < 0:
            return -1
        value = digest(out, to, stop, words)
        if keeps:
            words[slot], words[slot + 1], words[slot + _DIGEST_AT] = lengths[0], lengths[1], value
            _keep(data, first, last, words, _keep(data, start, end, words, text))
    to = copy(_PROMPT, 0, len(_PROMPT), out, to)
    for _ in range(8):
        byte = np.int64(value & np.uint64(255))
        out[to] = _HEXADECIMAL[byte >> 4]
        out[to + 1] = _HEXADECIMAL[byte & 15]
        to += 2
        value >>= np.uint64(8)
    out[to] = QUOTE
    return to + 1
