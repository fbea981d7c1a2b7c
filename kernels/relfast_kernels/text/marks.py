"""How families of models mark their reasoning and the ends of their turns: the one table, and its packed form
for the cutter (`relfast_kernels.text.reasoning`)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

from relfast_kernels.entry import Byte, Bytes, Const, Int, Ints, Struct


class Mark(NamedTuple):
    """How reasoning opens and closes, in lower case; a response may have it in any case."""

    open: str
    close: str


ANY: Final = "\x01"
"""Stands in a mark for a name that differs from model to model: letters, digits and marks of words."""

MARKS: Final = (
    Mark("<think>", "</think>"),  # DeepSeek-R1, Qwen3, QwQ, Nemotron, Hunyuan, GLM, MiniMax, Phi-4-reasoning
    Mark("<thinking>", "</thinking>"),  # Claude's prompts, Reflection
    Mark("<thought>", "</thought>"),  # EXAONE Deep, Gemini's exports
    Mark("<reasoning>", "</reasoning>"),  # GRPO's tutorials
    Mark("<reflection>", "</reflection>"),
    Mark("[think]", "[/think]"),  # Magistral
    Mark("◁think▷", "◁/think▷"),  # Kimi
    Mark("<seed:think>", "</seed:think>"),  # Seed-OSS
    Mark("<longcat_think>", "</longcat_think>"),  # LongCat
    Mark("<|start_thinking|>", "<|end_thinking|>"),  # Command A
    Mark("<|begin_of_thought|>", "<|end_of_thought|>"),  # Sky-T1, OpenThinker
    Mark("<unused94>", "<unused95>"),  # MedGemma
    Mark("<|channel>thought", "<channel|>"),  # Gemma 4
    Mark("<|open|>think<|sep|>", "<|close|>think<|sep|>"),  # Kimi K3
    Mark("<mm:think>", "</mm:think>"),  # MiniMax M3
    Mark(f"<think:{ANY}>", f"</think:{ANY}>"),  # Hunyuan: <think:opensource>
    Mark("<|think:start|>", "<|think:end|>"),  # Solar Open 2
    Mark("<|think|>", "<|content|>"),  # Solar Open
    Mark("<ifm|think>", "</ifm|think>"),  # K2 Horizon, with more and with less effort
    Mark("<ifm|think_fast>", "</ifm|think_fast>"),
    Mark("<ifm|think_faster>", "</ifm|think_faster>"),
    Mark("[unused16]", "[unused17]"),  # openPangu
    Mark("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    Mark("<|content_thinking|>", "<|end_message|>"),  # Inkling
    Mark("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),  # PLaMo 3
)

TURN_ENDS: Final = (
    "<|im_end|>",  # Qwen, ChatML
    "<|eot_id|>",  # Llama 3
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|return|>",  # gpt-oss
    "<|end|>",  # Phi, gpt-oss
    "<end_of_turn>",  # Gemma
    "<｜end▁of▁sentence｜>",  # DeepSeek
    "<|end_response|>",  # Command A
    "<|end_of_turn_token|>",
    "<seed:eos>",
    "<eos>",
    "</s>",  # Mistral, Llama 2
    "[eos]",
    "[|endofturn|]",  # EXAONE
    "<|user|>",  # GLM
    "<turn|>",  # Gemma 4
    "<|end_text|>",  # Command A+
    "<|close|>response<|sep|>",  # Kimi K3
    "<|close|>message<|sep|>",
    "<|end_of_msg|>",
    "<|im:end|>",  # Solar Open 2
    "<|ifm|im_end|>",  # K2 Horizon
    "<|ifm|endoftext|>",
    "[unused10]",  # openPangu
    "<|assistant_end|>",  # Apertus
    "<|content_model_end_sampling|>",  # Inkling
    "<|eot|>",  # Muse
    "<|plamo:tag|>",  # PLaMo 3
)
"""What remains at the end of a turn if special tokens were kept."""

CHANNEL: Final = "<|channel|>"
FINAL_CHANNELS: Final = ("<|channel|>final<|message|>", "<|channel|>final <|constrain|>")
MESSAGE: Final = "<|message|>"
BARE_ANALYSIS, BARE_FINAL = "analysis", "assistantfinal"
"""gpt-oss's channels, with special tokens and without."""
TO_ITSELF, TO_USER = "to=self", "to=user"
"""Before `MESSAGE`, to whom Muse writes: itself, or us."""
RESPONSE_OPENS: Final = (
    "<|start_response|>",  # Command A
    "<|start_text|>",  # Command A+
    "<|open|>response<|sep|>",  # Kimi K3
    "<|content_text|>",  # Inkling
)
"""What opens the answer, after reasoning; all before it is dropped."""


LOOKED_AT: Final = 4
LAST_BIT: Final = 62


class Names(Struct):
    """Marks to search for, packed for the cutter.

    ``pool`` holds their bytes. Each mark has four ``places``: where it begins and ends in lower case, and
    with its letters beyond ASCII in upper case (0, 0: there is no such form). Two marks are a pair: one
    opens, the next closes. ``beginnings`` (256 for each of `LOOKED_AT`) tells which marks may have a byte at
    each of their first places: a bit for each mark, the last one for all from `LAST_BIT` on.
    """

    n_pool: int = Int
    n_places: int = Int
    pool: Bytes = Const(Byte, "n_pool")
    places: Ints = Const(Int, "n_places")
    beginnings: Ints = Const(Int, LOOKED_AT * 256)


def names_of(marks: Sequence[tuple[str, str]]) -> Names:
    """Pack pairs of marks in lower case. Letters beyond ASCII are recognised all in lower or upper case."""
    pool, places, beginnings = bytearray(), array("q"), array("q", bytes(8 * LOOKED_AT * 256))
    for number, name in enumerate(name for pair in marks for name in pair):
        bit = 1 << min(number, LAST_BIT)
        other = "".join(letter if letter.isascii() else letter.upper() for letter in name)
        row = []
        for each in (name, other) if other != name else (name,):
            data = each.encode()
            row += [len(pool), len(pool) + len(data)]
            pool += data
            known = True
            for n in range(LOOKED_AT):
                known = known and n < len(data)
                for byte in _spellings(data[n]) if known else range(256):
                    beginnings[256 * n + byte] |= bit
                known = known and chr(data[n]) not in "ik" + ANY  # one byte, or more
        places.extend([*row, 0, 0][:4])
    return Names(pool=bytes(pool), places=places, beginnings=beginnings)


def _spellings(byte: int) -> list[int]:
    """The bytes that a letter, in any case, may begin with; see `reasoning._behind`."""
    letter = chr(byte)
    if letter == ANY:
        return [*range(256)]
    return [byte, *([byte - 32] if "a" <= letter <= "z" else []), *{"i": [0xC4], "k": [0xE2]}.get(letter, [])]
