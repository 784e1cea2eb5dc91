"""Bodies of any form: an answer in time, never a 500; and what the OpenAPI document describes is what is answered."""

import json
import socket
import threading

import httpx
import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.server.app import create_app
from regard.server.operations import operations

TEXT = st.text(max_size=30) | st.sampled_from(["", " ", "der hund .", "a\tb", "\ud800", "\x00", "x" * 300])
NUMBER = st.integers(-3, 400) | st.floats() | st.sampled_from([2**31, 10**30, 1e308, -0.0])
PLAIN = st.none() | st.booleans() | NUMBER | TEXT
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)


def bodies(name):
    """Bodies with the right keys, and mostly values of the right type; some other keys."""
    properties = operations()[name].body.model_json_schema()["properties"]
    likely = {
        "texts": TEXT | st.lists(TEXT, max_size=4),
        "sources": TEXT | st.lists(TEXT, max_size=4),
        "targets": TEXT | st.lists(TEXT, max_size=4),
        "text": TEXT,
        "model": st.sampled_from(["translate", "lm", "classify", "tag"]),
        "word": TEXT,
        "attend": st.dictionaries(st.sampled_from(["0", "1", "-1", "x"]), st.integers(-2, 9), max_size=2),
        "swap": st.dictionaries(st.sampled_from(["0", "1", "-1", "x"]), TEXT, max_size=2),
        "prompt": TEXT,
        "options": st.dictionaries(
            st.sampled_from(["beam", "n_best", "max_extra", "length_power", "coverage", "block_ngrams", "top_k",
                             "top_p", "temperature", "min_length", "unknowns", "length_penalty"]),
            NUMBER | st.booleans() | st.sampled_from(["wu", "none"]),
            max_size=3,
        ),
        "sampling": st.none() | st.dictionaries(st.sampled_from(["top_k", "top_p", "temperature"]), NUMBER, max_size=2),
        "constraints": st.fixed_dictionaries(
            {}, optional={"prefix": TEXT, "include": st.lists(TEXT, max_size=2), "exclude": st.lists(TEXT, max_size=2)}
        ),
        "max_length": st.integers(0, 30),
        "count": st.integers(0, 5),
    }  # fmt: skip
    values = {key: likely.get(key, ANY) | ANY for key in properties if key != "model"}
    needed = ("texts", "sources", "targets", "text", "word", *(("model",) if name == "trace" else ()))
    fixed = {key: likely[key] for key in needed if key in properties}
    optional = {key: value for key, value in values.items() if key not in fixed}
    return st.fixed_dictionaries(fixed, optional=optional) | st.dictionaries(TEXT, ANY, max_size=3)


@pytest.fixture
def url(make_service):
    """A service that listens, in a thread of this process."""
    limits = {"length": 40, "texts": 5, "queue": 100, "body_bytes": 10_000}
    app = create_app(make_service(limits=limits))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("name", operations())
def test_no_body_is_a_500_and_none_hangs(name, url):
    with httpx.Client(base_url=url, timeout=30) as client:

        @settings(max_examples=60, suppress_health_check=list(HealthCheck), database=None)
        @given(st.data())
        def fuzz(data):
            body = data.draw(bodies(name))
            content = json.dumps(body).encode()
            if data.draw(st.integers(0, 9)) == 0:  # some bytes of it lost
                content = content[: data.draw(st.integers(0, len(content)))]
            result = client.post(f"/v1/{name}", content=content, headers={"Content-Type": "application/json"})
            assert result.status_code in (200, 400, 413, 415, 422), (body, result.text)
            if result.headers["content-type"].startswith("text/event-stream"):
                assert '"internal"' not in result.text, (body, result.text)
            else:
                result.json()

        fuzz()


def test_the_service_is_what_its_document_says(url):
    schemathesis = pytest.importorskip("schemathesis", reason="it is in the extra dev")
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    tested = set()
    for result in schemathesis.openapi.from_url(f"{url}/openapi.json").get_all_operations():
        operation = result.ok()

        @settings(max_examples=15, suppress_health_check=list(HealthCheck), database=None)
        @given(operation.as_strategy())
        def conforms(case):
            case.call_and_validate(checks=checks, timeout=30)

        conforms()
        tested.add(operation.path)
    assert tested == {f"/v1/{name}" for name in operations()} | {
        *("/v1/models", "/healthz", "/readyz", "/metrics"),
    }
