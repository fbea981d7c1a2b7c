"""Numbers as people read them."""

from __future__ import annotations


def signed(value: float) -> str:
    """A difference in three decimals, with its sign and a real minus."""
    text = f"{value:+.3f}".replace("-", "−")
    return text if float(f"{value:.3f}") else "0.000"


def percent_points(value: float) -> str:
    """A difference of shares in percentage points, as `signed`."""
    text = f"{100 * value:+.1f}".replace("-", "−")
    return text if float(f"{100 * value:.1f}") else "0.0"


def probability(p: float) -> str:
    """A p: three decimals, or that it is smaller."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def percent(value: float) -> str:
    """A share, in percent without the sign."""
    return f"{100 * value:.1f}"


def three_decimals(value: float) -> str:
    """A number of any kind."""
    return f"{value:.3f}"
