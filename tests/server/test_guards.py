"""Keys, headers, hosts, origins, and bodies that are too large, too slow or not JSON."""

import asyncio
import gc

import pytest

from regard.server.app import create_app

KEY, ADMIN = "client-key-0123456789", "admin-key-0123456789a"
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/healthz", None),
        ("GET", "/v1/models", None),
        ("GET", "/none", None),
        ("PUT", "/v1/tag", {"texts": "a"}),
        ("POST", "/v1/tag", {"texts": "a"}),
        ("POST", "/v1/tag", {"texts": 3}),
        ("POST", "/v1/tag", "x" * 2_000_000),
        ("OPTIONS", "/v1/tag", None),
    ],
)
def test_every_answer_has_the_security_headers(method, path, body, run):
    async def scenario(client, _):
        return await client.request(method, path, json=body)

    answer = run(scenario)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "server" not in answer.headers
    if path.startswith("/v1"):
        assert answer.headers["cache-control"] == "no-store"


class TestKeys:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            (bearer(KEY), 200),
            ({"Authorization": f"bearer {KEY}"}, 200),
            (bearer(ADMIN), 200),
            ({}, 401),
            (bearer(""), 401),
            (bearer(KEY[:-1]), 401),
            (bearer(KEY + "x"), 401),
            (bearer(KEY.upper()), 401),
            ({"Authorization": KEY}, 401),
            ({"Authorization": f"Basic {KEY}"}, 401),
            ({"Authorization": b"Bearer \xff\xfe"}, 401),
            ({"X-API-Key": KEY}, 401),
        ],
    )
    def test_a_route_needs_one(self, headers, status, post):
        answer = post("/v1/tag", {"texts": "a"}, headers, keys=[KEY], admin_keys=[ADMIN])
        assert answer.status_code == status
        if status == 401:
            assert answer.json()["error"]["code"] == "unauthorized"
            assert answer.headers["www-authenticate"] == "Bearer"

    def test_what_needs_one_and_what_does_not(self, run):
        async def scenario(client, _):
            paths = ("/healthz", "/readyz", "/openapi.json", "/metrics", "/v1/models")
            return {path: (await client.get(path)).status_code for path in paths}

        assert run(scenario, keys=[KEY]) == {
            "/healthz": 200,
            "/readyz": 200,
            "/openapi.json": 200,
            "/metrics": 401,
            "/v1/models": 401,
        }

    def test_the_document_says_so(self, run):
        async def scenario(client, _):
            return (await client.get("/openapi.json")).json()

        assert run(scenario, keys=[KEY])["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
        assert "security" not in run(scenario)

    def test_a_body_without_a_key_is_not_read(self, run):
        async def body():
            raise AssertionError("the body was read")
            yield b""

        async def scenario(client, _):
            return await client.post("/v1/tag", content=body())

        assert run(scenario, keys=[KEY]).status_code == 401


class TestBodies:
    def post(self, run, content, headers=None, **config):
        async def scenario(client, service):
            answer = await client.post(
                "/v1/tag", content=content, headers={"Content-Type": "application/json", **(headers or {})}
            )
            return answer, service.metrics.render()

        return run(scenario, **config)

    @pytest.mark.parametrize("declared", [True, False])
    def test_too_large(self, declared, run):
        async def pieces():
            for _ in range(1000):
                yield b" " * 1000

        content = b" " * 2000 if declared else pieces()
        answer, metrics = self.post(run, content, limits={"body_bytes": 1000})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
        assert 'regard_rejected_total{reason="body"} 1' in metrics

    def test_a_false_length(self, run):
        answer, _ = self.post(run, b"{}", {"Content-Length": "99999999999999999999999"})
        assert answer.status_code == 413
        answer, _ = self.post(run, b"{}", {"Content-Length": "-1"})
        assert answer.status_code == 413

    def test_too_slow(self, run):
        async def pieces():
            yield b"{"
            await asyncio.sleep(30)
            yield b"}"

        answer, _ = self.post(run, pieces(), limits={"read_seconds": 0.2})
        assert (answer.status_code, answer.json()["error"]["code"]) == (408, "timeout")
        gc.collect()  # the generator was left in the middle

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
    def test_not_json_by_its_header(self, kind, run):
        # the kinds that a page of another origin can send without asking first
        answer, _ = self.post(run, b'{"texts": "a"}', {"Content-Type": kind})
        assert (answer.status_code, answer.json()["error"]["code"]) == (415, "not_json")

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"null",
            b"[]",
            b'{"texts": NaN}',
            b'{"texts": "\xff"}',
            b'{"texts": "\\ud800"}',
            b"[" * 100_000,
            b'{"texts":' * 50_000,
            b"1" * 100_000,
            b'{"texts": [' + b'"a",' * 100_000 + b'"a"]}',
            b'{"texts": 1e999}',
            b'{"\\ud800": 1, "model": "\\ud800"}',
        ],
        ids=lambda content: content[:12].decode("latin-1"),
    )
    def test_what_cannot_be_parsed(self, content, run):
        answer, _ = self.post(run, content)
        assert answer.status_code in (400, 422)
        assert answer.json()["error"]["message"]

    def test_where_it_stops_being_json(self, run):
        answer, _ = self.post(run, b'{"texts": "a",}')
        assert answer.json()["error"]["message"] == "the body is not JSON: an error at character 14"

    @pytest.mark.parametrize(
        "text", ["\x00", "\u2028\u2029", "\U0010ffff", "a\tb", "\n\n", "́" * 500, "x" * 5000, "👩‍👩‍👧‍👦 " * 20]
    )
    def test_odd_texts_are_answered(self, text, post):
        for name in ("translate", "score", "classify", "tag"):
            answer = post(f"/v1/{name}", {"texts": text})
            assert answer.status_code in (200, 422), answer.text
            assert answer.status_code == 200 or answer.json()["error"]["code"] == "too_long"


class TestOtherSites:
    def test_a_page_of_another_site_may_not_call_it(self, run):
        async def scenario(client, _):
            return await client.options(
                "/v1/tag",
                headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
            )

        assert "access-control-allow-origin" not in run(scenario).headers
        assert "access-control-allow-origin" not in run(scenario, allow_origins=["https://a.example"]).headers

    def test_an_origin_of_the_list_may(self, run):
        async def scenario(client, _):
            origin = {"Origin": "https://a.example"}
            before = await client.options(
                "/v1/tag",
                headers={
                    **origin,
                    "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "authorization, content-type",
                },
            )
            refused = await client.post("/v1/tag", json={"texts": "a"}, headers=origin)
            return before, refused

        before, refused = run(scenario, allow_origins=["https://a.example"], keys=[KEY])
        assert before.status_code == 200  # browsers send no key with it
        assert before.headers["access-control-allow-origin"] == "https://a.example"
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == "https://a.example"

    @pytest.mark.parametrize(
        ("config", "host", "status"),
        [
            ({}, "localhost:8000", 200),
            ({}, "127.0.0.1:8000", 200),
            ({}, "evil.example", 400),  # whose name was made to mean this machine
            ({"host": "0.0.0.0"}, "service.example", 200),
            ({"host": "0.0.0.0", "allow_hosts": ["a.example"]}, "service.example", 400),
            ({"allow_hosts": ["a.example"]}, "a.example", 200),
        ],
    )
    def test_the_name_by_which_it_is_called(self, config, host, status, run):
        async def scenario(client, _):
            return await client.get("/healthz", headers={"Host": host})

        assert run(scenario, **config).status_code == status


def test_too_many_at_once_is_503_and_probes_still_answer(make_service, client_of):
    service = make_service(limits={"connections": 3, "texts": 1, "read_seconds": 20.0})
    app = create_app(service)
    assert app.state.service is service
    gate = asyncio.Event()

    async def pieces():
        yield b"{"
        await gate.wait()
        yield b"}"

    async def scenario():
        async with client_of(service) as client:
            headers = {"Content-Type": "application/json"}
            slow = [
                asyncio.create_task(client.post("/v1/tag", content=pieces(), headers=headers))
                for _ in range(3)
            ]
            await asyncio.sleep(0.1)
            refused = await client.post("/v1/tag", json={"texts": "a"})
            probe = await client.get("/healthz")
            gate.set()
            await asyncio.gather(*slow)
            return refused, probe, await client.post("/v1/tag", json={"texts": "a"})

    refused, probe, after = asyncio.run(asyncio.wait_for(scenario(), 60))
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
    assert refused.headers["retry-after"] == "1"
    assert (probe.status_code, after.status_code) == (200, 200)
