"""Characters as kernels have them, over all of Unicode, and the published rules that read them, against Python's `re`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from string import ascii_lowercase
from typing import Any

import naive_rel
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from relfast_kernels.text import characters
from seeds import fresh

from relfast import evaluate_response
from relfast.tasks import AllOptions, get_task
from relfast.tasks.rel_c.extract import extract_molecules
from relfast.tasks.text_scorer import TextScorer

EVERY = "".join(map(chr, range(0x110000)))
CLASSES = [*map(characters.classify, range(len(EVERY)))]


def test_every_character() -> None:
    r"""``\w``, ``\s``, the value of ``\d``; and ``[a-z]``, ignoring case, of letters beyond ASCII."""
    values = {found.start(): unicodedata.decimal(found[0]) for found in re.finditer(r"\d", EVERY)}
    assert {
        at: kind - characters.DIGIT for at, kind in enumerate(CLASSES) if kind >= characters.DIGIT
    } == values
    for pattern, kind in ((r"\w", characters.LETTER), (r"\s", characters.SPACE)):
        places = {found.start() for found in re.finditer(pattern, EVERY)}
        assert {at for at, own in enumerate(CLASSES) if own == kind} == places - values.keys()
    others = re.findall("(?i)[a-z]", EVERY[0x80:])
    for letter in ascii_lowercase:
        alike = [other for other in others if re.match(letter, other, re.IGNORECASE)]
        taken = [
            o for o in others if characters.behind_word(o.encode(), 0, len(o.encode()), letter.encode()) > 0
        ]
        assert taken == alike


def is_text(data: bytes) -> bool:
    try:
        return re.search(r"[\0-\x1f\x7f]", data.decode()) is None
    except UnicodeDecodeError:
        return False


def test_utf8() -> None:
    """At every place of a block, of whole characters and of parts, at an array's end and before it."""
    parts = [
        "a",
        "é",
        "你",
        "😀",
        "\x80",
        "\u07ff",
        "\u0800",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\U00010000",
        "\U0010ffff",
    ]
    pieces = [part.encode() for part in parts] * 8 + [
        b"\xc0\x80", b"\xc1", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5", b"\xff", b"\x80",
        b"\xe4\xbd", b"\xf0\x9f\x98", b"\xc3", b"\x7f", b"\x1f",
    ]  # fmt: skip
    rng, seen = fresh(7), Counter[bool]()
    for number in range(6_000):
        wanted = pieces[: 8 * len(parts)] if number % 3 else pieces
        data = b"a" * rng.randrange(130) + b"".join(rng.choices(wanted, k=rng.randrange(1, 60)))
        start = rng.randrange(3)
        end = len(data) - rng.choice((0, 0, 1, 2, 3, rng.randrange(len(data))))
        expected = is_text(data[start : max(start, end)])
        assert characters.is_utf8(data, start, max(start, end)) == expected, (data, start, end)
        seen[expected] += 1
    assert min(seen.values()) > 1_000


def test_digits_of_all_scripts_are_found() -> None:
    for character in filter(str.isdecimal, EVERY):
        data = f"aé{character}".encode()
        assert characters.find_number(data, 0, len(data)) == 3


def test_lower_case_matters_to_no_published_rule_but_for_one_letter() -> None:
    """What REL-B1's reading of a text that is not in lower case rests on."""
    for character in filter(lambda one: one.lower() != one, EVERY[0x80:]):
        lower = character.lower()
        assert set(lower).isdisjoint("yesnotax")
        kinds = {CLASSES[ord(one)] for one in lower}
        assert kinds == {CLASSES[ord(character)]} or character == "İ", hex(ord(character))
    assert [CLASSES[ord(one)] for one in "İ".lower()] == [characters.LETTER, characters.SYMBOL]


PIECES = [
    *"0123456789 _#.<>-/\n\r\t\x1c\x85\xa0\u2003\u3000", *"٣४９𝟙²½Ⅷ①é你ſıİK\u0307\ufeff\ud800\udfff", "Answer", "answer #", "AN\u017fWER",
    "wer", "yes", "YES", "no", "taxon", "Taxon_", "taxon ", "<smiles>", "<\u017fm\u0131le\u017f>", "<SM\u0130LES> ", "</smiles>", "<Yes>",
    "<ye\u017f>", "< NO\u2003>", "CCO", "Σ",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.characters()), max_size=24).map("".join)


def _expected(text: str) -> Any:
    verdict = naive_rel.score_c1({"label": "Yes"}, text)["pred"]
    return (
        naive_rel.score_a({"target": 0}, text)["pred"],
        naive_rel.claim(text),
        verdict,
        naive_rel.tags(text),
    )


@pytest.mark.fuzz
@example("Answer \u0663")
@example("taxon\u20037 taxon_\U0001d7d9")
@example("no \u01305 5\u0130 \u0130\u0307 6")
@example("<smiles> \n<smiles>\u2003CCO\u3000\n")
@example("Answer " + "0" * 4_300)
@given(TEXTS)
def test_published_rules(text: str) -> None:
    """Kernels, and their source as plain Python, read what the published patterns read."""
    verdict = naive_rel.score_c1({"label": "Yes"}, text)["pred"]
    golds = {"REL-A1": {"target": 0}, "REL-B1": {"label": "yes", "taxa": ["3"]}, "REL-C1": {"label": "Yes"}}
    said = {
        "REL-A1": {"pred": naive_rel.score_a({"target": 0}, text)["pred"]},
        "REL-B1": dict(zip(("pred_label", "pred_taxa"), naive_rel.claim(text), strict=True)),
        "REL-C1": {"pred": verdict},
    }
    for task, expected in said.items():
        assert evaluate_response("", golds[task], text, task).items() >= expected.items()
        kernels = TextScorer.open(get_task(task), AllOptions(), shows=True, longest=0)
        if kernels is not None and verdict != "Yeſ":
            [outcome] = kernels.score([kernels.prepare(golds[task], "")], [text])
            assert outcome is not None
            assert outcome.details.items() >= expected.items()
    assert extract_molecules(text, AllOptions()).value == naive_rel.tags(text)
