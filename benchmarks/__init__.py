"""Benchmarks: pytest-benchmark suites; see `measure` for how ratios are taken."""
