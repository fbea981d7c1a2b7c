"""The metrics page, read by Prometheus' own parser, and counted by many threads."""

from __future__ import annotations

import threading

import pytest

from relfast.records import STATUSES
from relfast.serve.metrics import BUCKETS, Metrics

STATS = {**{status: n for n, status in enumerate(STATUSES)}, "scored_before": 7, "shared": 8, "workers_replaced": 9, "workers": 2}  # fmt: skip


def test_prometheus_reads_the_page() -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    metrics = Metrics()
    for path, code, seconds in (("/score", 200, 0.003), ("/score", 413, 0.0001), ("other", 404, 99.0)):
        metrics.began()
        metrics.ended(path, code, seconds)
    metrics.began()
    families = {
        family.name: family for family in parser.text_string_to_metric_families(metrics.text(STATS, STATUSES))
    }
    assert {name: family.type for name, family in families.items()} == {
        "relfast_responses": "counter",
        "relfast_http_requests": "counter",
        "relfast_http_request_seconds": "histogram",
        "relfast_http_requests_in_flight": "gauge",
        "relfast_scored_before": "counter",
        "relfast_shared": "counter",
        "relfast_workers_replaced": "counter",
        "relfast_workers": "gauge",
    }
    assert all(family.documentation for family in families.values())
    values = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert [values["relfast_responses_total", ("status", status)] for status in STATUSES] == [0, 1, 2, 3, 4]
    assert values["relfast_http_requests_total", ("code", "413"), ("path", "/score")] == 1
    reached = [
        [
            values["relfast_http_request_seconds_bucket", ("le", bound), ("path", path)]
            for bound in (*map(str, BUCKETS), "+Inf")
        ]
        for path in ("/score", "other")
    ]
    assert reached == [[1, 1, *[2] * (len(BUCKETS) - 1)], [*[0] * len(BUCKETS), 1]]
    assert values["relfast_http_request_seconds_sum", ("path", "/score")] == pytest.approx(0.0031)
    assert values["relfast_http_request_seconds_count", ("path", "other")] == 1
    assert values["relfast_http_requests_in_flight",] == 1
    assert (values["relfast_shared_total",], values["relfast_workers",]) == (8, 2)


def test_requests_of_many_threads_are_all_counted() -> None:
    metrics = Metrics()
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        for _ in range(2_000):
            metrics.began()
            metrics.ended("/score", 200, 0.5)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    page = metrics.text(STATS, STATUSES).splitlines()
    assert 'relfast_http_requests_total{path="/score",code="200"} 16000' in page
    assert 'relfast_http_request_seconds_count{path="/score"} 16000' in page
    assert "relfast_http_requests_in_flight 0.0" in page
