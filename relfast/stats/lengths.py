"""How long responses are and why they ended: counts that add up over blocks, shards and runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from relfast.records import ResponseFacts, ending
from relfast.stats.intervals import wilson
from relfast.stats.sums import add_counts

_STEPS: Final = 8
"""Bins for each doubling of the length: a quantile is exact below 16, and within 6 % above."""


def _bin(value: int) -> int:
    """The number of a value's bin; each value below 16 has a bin of its own."""
    shift = max(0, value.bit_length() - 4)
    return shift * _STEPS + (value >> shift)


def _middle(number: int) -> float:
    """The middle of a bin's values."""
    shift = max(0, number // _STEPS - 1)
    low = (number - shift * _STEPS) << shift
    return low + ((1 << shift) - 1) / 2


@dataclass(slots=True)
class Spread:
    """The distribution of whole numbers: count, sum, largest, and counts in bins of equal ratio."""

    n: int = 0
    total: int = 0
    most: int = 0
    bins: dict[int, int] = field(default_factory=dict)

    def add(self, value: int) -> None:
        self.n += 1
        self.total += value
        self.most = max(self.most, value)
        number = _bin(value)
        self.bins[number] = self.bins.get(number, 0) + 1

    def merge(self, other: Spread) -> None:
        self.n += other.n
        self.total += other.total
        self.most = max(self.most, other.most)
        add_counts(self.bins, other.bins)

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None

    def quantile(self, share: float) -> float | None:
        """The value that a ``share`` of all does not exceed (middle of its bin); None without values."""
        left = share * self.n
        for number in sorted(self.bins):
            left -= self.bins[number]
            if left <= 0:
                return min(_middle(number), float(self.most))
        return float(self.most) if self.n else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "responses": self.n,
            "mean": self.mean,
            "median": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "max": self.most if self.n else None,
            "merge": [self.total, sorted(self.bins.items())],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Spread:
        total, bins = data["merge"]
        return cls(data["responses"], total, data["max"] or 0, dict(bins))


@dataclass(slots=True)
class Lengths:
    """Lengths of the responses to a task, and why they ended.

    Attributes
    ----------
    characters, reasoning_characters, tokens, reasoning_tokens
        Distribution over the responses for which it is known (`relfast.records.ResponseFacts`).
    finish_reasons
        Finish reason → number of responses.
    """

    characters: Spread = field(default_factory=Spread)
    reasoning_characters: Spread = field(default_factory=Spread)
    tokens: Spread = field(default_factory=Spread)
    reasoning_tokens: Spread = field(default_factory=Spread)
    finish_reasons: dict[str, int] = field(default_factory=dict)

    def add(self, facts: ResponseFacts) -> None:
        for name in SPREADS:
            value = getattr(facts, name)
            if value is not None:
                getattr(self, name).add(value)
        if facts.finish_reason is not None:
            add_counts(self.finish_reasons, {facts.finish_reason: 1})

    def merge(self, other: Lengths) -> None:
        for name in SPREADS:
            getattr(self, name).merge(getattr(other, name))
        add_counts(self.finish_reasons, other.finish_reasons)

    @property
    def truncated(self) -> tuple[int, int]:
        """Number of responses that were cut off, and of responses with a known finish reason."""
        cut = sum(n for reason, n in self.finish_reasons.items() if ending(reason) == "cut_off")
        return cut, sum(self.finish_reasons.values())

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without lengths that are known for no response."""
        result: dict[str, Any] = {
            name: spread.to_dict() for name in SPREADS if (spread := getattr(self, name)).n
        }
        cut, known = self.truncated
        if known:
            result["finish_reasons"] = dict(sorted(self.finish_reasons.items()))
            result["truncated"] = cut / known
            result["truncated_interval"] = list(wilson(cut, known))
        return result

    def flat(self) -> dict[str, float]:
        """The mean lengths and the share of truncated responses, by the names of a table's columns."""
        means: dict[str, float | None] = {f"mean_{name}": getattr(self, name).mean for name in SPREADS}
        cut, known = self.truncated
        return {name: mean for name, mean in means.items() if mean is not None} | (
            {"truncated": cut / known} if known else {}
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Lengths:
        spreads = {name: Spread.from_dict(data[name]) for name in SPREADS if name in data}
        return cls(**spreads, finish_reasons=dict(data.get("finish_reasons", {})))


SPREADS: Final = ("characters", "reasoning_characters", "tokens", "reasoning_tokens")
"""The fields of `Lengths` that are a `Spread`; `ResponseFacts` has the same names."""
