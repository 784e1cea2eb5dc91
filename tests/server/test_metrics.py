import re

from regard.server.metrics import COUNTERS, GAUGES, HISTOGRAMS, Metrics, resident_bytes

LINE = re.compile(r'[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)*\})? [-+0-9.e]+')


def test_every_line_is_of_the_format():
    metrics = Metrics()
    metrics.count("regard_requests_total", route="/v1/translate", status="200")
    metrics.count("regard_requests_total", 2, route='odd "name"\\\n', status="500")
    metrics.gauge("regard_queue_texts", lambda: {(): 3})
    for value in (0.001, 0.01, 7, 100):
        metrics.observe("regard_request_seconds", value, route="/v1/tag")
    text = metrics.render()
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in samples), samples
    for names, kind in ((COUNTERS, "counter"), (GAUGES, "gauge"), (HISTOGRAMS, "histogram")):
        for name in names:
            assert f"# TYPE {name} {kind}\n" in text
            assert f"# HELP {name} " in text
    assert 'regard_requests_total{route="/v1/translate",status="200"} 1' in samples
    assert r'regard_requests_total{route="odd \"name\"\\\n",status="500"} 2' in samples
    assert "regard_queue_texts 3" in samples


def test_buckets_are_cumulative_and_include_their_bound():
    metrics = Metrics()
    for value in (0.001, 0.01, 7, 100):
        metrics.observe("regard_request_seconds", value, route="r")
    lines = dict(line.rsplit(" ", 1) for line in metrics.render().splitlines() if 'route="r"' in line)
    assert lines['regard_request_seconds_bucket{route="r",le="0.005"}'] == "1"
    assert lines['regard_request_seconds_bucket{route="r",le="0.01"}'] == "2"
    assert lines['regard_request_seconds_bucket{route="r",le="10.0"}'] == "3"
    assert lines['regard_request_seconds_bucket{route="r",le="+Inf"}'] == "4"
    assert lines['regard_request_seconds_count{route="r"}'] == "4"
    assert float(lines['regard_request_seconds_sum{route="r"}']) == 107.011


def test_totals_over_labels():
    metrics = Metrics()
    metrics.count("regard_texts_total", 3, model="a", operation="tag")
    metrics.count("regard_texts_total", 4, model="b", operation="tag")
    assert metrics.total("regard_texts_total") == 7
    assert metrics.total("regard_texts_total", model="b") == 4


def test_memory_is_that_of_this_process():
    assert 1 << 24 < resident_bytes() < 1 << 40
