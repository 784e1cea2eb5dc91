"""Every route: what it answers, what it refuses, what it streams; and that requests share batches."""

import asyncio
import json
import threading

import httpx
import numpy as np
import pytest
from pydantic import TypeAdapter

from regard import SamplingOptions
from regard.errors import DataError
from regard.server.app import create_app
from regard.server.operations import operations
from regard.tasks import TASKS

TEXTS = ["der hund schläft .", "ein kind singt", "", "der kleine hund"]


def check_schema(answer, name):
    """An answer is of the form that the OpenAPI document describes."""
    operation = operations()[name]
    values = answer.json()
    assert set(values) == {"model", "version", operation.results}
    for each in values[operation.results]:
        TypeAdapter(operation.result).validate_python(json.loads(json.dumps(each)), strict=False)
    return values[operation.results]


class TestOperations:
    """The answers are those of the predictors."""

    def same(self, given, expected):
        """Equal but for what another batch's order of summation leaves of float32."""
        if isinstance(expected, float):
            assert given == pytest.approx(expected, rel=1e-4, abs=1e-4)
        elif isinstance(expected, dict):
            assert given.keys() == expected.keys()
            for key in expected:
                self.same(given[key], expected[key])
        elif isinstance(expected, list | tuple):
            assert len(given) == len(expected)
            for one, other in zip(given, expected, strict=True):
                self.same(one, other)
        else:
            assert given == expected

    @pytest.mark.parametrize("alpha", [True, False])
    def test_translate(self, post, predictor, alpha):
        body = {"texts": TEXTS, "options": {"beam": 3, "n_best": 2}, "alpha": alpha, "model": "translate"}
        answer = post("/v1/translate", body)
        assert answer.status_code == 200
        expected = predictor("translate").translate(TEXTS, beam=3, n_best=2)
        self.same(check_schema(answer, "translate"), [each.to_json(alpha=alpha) for each in expected])

    def test_one_text_is_a_list_of_one(self, post, predictor):
        (given,) = check_schema(post("/v1/translate", {"texts": TEXTS[0]}), "translate")
        assert given["text"] == predictor("translate").translate(TEXTS[:1])[0].text

    def test_constraints_of_all_and_of_each(self, post, predictor):
        word = predictor("translate").translate(TEXTS[:1])[0].text.split()[-1]
        for constraints in ({"prefix": word}, [{"prefix": word}, {"exclude": [word]}]):
            body = {"texts": TEXTS[:2], "constraints": constraints}
            first, second = check_schema(post("/v1/translate", body), "translate")
            assert first["text"].split()[0] == word
            assert (second["text"].split()[0] == word) == isinstance(constraints, dict)

    @pytest.mark.parametrize("texts", [2, 20])
    def test_samples_are_those_of_a_local_model_whatever_else_is_sampled(self, texts, run, predictor):
        body = {"texts": TEXTS, "sampling": {"temperature": 2.0}, "num_samples": 3, "seed": 5}

        async def scenario(client, _):
            return await asyncio.gather(*(client.post("/v1/translate", json=body) for _ in range(3)))

        answers = run(scenario, batching={"texts": texts, "milliseconds": 50.0})
        first, *others = [check_schema(answer, "translate") for answer in answers]
        for given in (first, *others):
            assert [each["text"] for each in given] == [each["text"] for each in first]
        given = first
        expected = predictor("translate").translate(
            TEXTS, sampling=SamplingOptions(2.0), num_samples=3, seed=5
        )
        assert [each["text"] for each in given] == [each.text for each in expected]
        assert [len(each["alternatives"]) for each in given] == [2, 2, 0, 2]

    def test_align(self, post, predictor):
        targets = ["the dog sleeps .", "a child", "x", "the dog"]
        answer = post("/v1/align", {"sources": TEXTS, "targets": targets, "alpha": True})
        expected = predictor("translate").align(TEXTS, targets)
        self.same(check_schema(answer, "align"), [each.to_json() for each in expected])

    def test_sample(self, post, predictor):
        body = {"prompt": "the", "count": 3, "seed": 2, "max_length": 7, "options": {"top_k": 5}}
        answer = post("/v1/sample", {**body, "alternatives": 2})
        expected = predictor("lm").sample(
            prompt="the", count=3, seed=2, max_length=7, top_k=5, alternatives=2
        )
        self.same(check_schema(answer, "sample"), [each.to_json() for each in expected])

    def test_score(self, post, predictor):
        lines = ["the dog sleeps .", "", "dog"]
        expected = [each.to_json() for each in predictor("lm").score(lines)]
        self.same(check_schema(post("/v1/score", {"texts": lines}), "score"), expected)

    def test_classify(self, post, predictor):
        lines = ["a fine film", "", "dull"]
        expected = [each.to_json() for each in predictor("classify").classify(lines)]
        self.same(check_schema(post("/v1/classify", {"texts": lines}), "classify"), expected)

    def test_tag(self, post, predictor):
        lines = ["the dog sleeps", "", "a"]
        expected = [each.to_json() for each in predictor("tag").tag(lines)]
        self.same(check_schema(post("/v1/tag", {"texts": lines}), "tag"), expected)

    @pytest.mark.parametrize("model", ["translate", "lm", "classify", "tag"])
    def test_trace(self, post, predictor, model):
        body = {"model": model, "text": TEXTS[0], "letters": "slides"}
        (given,) = check_schema(post("/v1/trace", body), "trace")
        expected = predictor(model).trace(TEXTS[0], letters="slides").to_json()
        for section, other in zip(given["sections"], expected["sections"], strict=True):
            for part, plain in zip(section["parts"], other["parts"], strict=True):
                text = "".join(text for text, _, _ in part.pop("runs"))
                scripts = str.maketrans("", "", "_^{}")
                assert text.translate(scripts) == plain["equation"]["slides"].translate(scripts)
        self.same(given, expected)

    def test_a_trace_reads_a_given_target(self, post):
        body = {"model": "translate", "text": TEXTS[0], "target": "child child"}
        (given,) = check_schema(post("/v1/trace", body), "trace")
        assert given["output"] == "child child"

    def test_tree(self, post, predictor):
        body = {"text": TEXTS[0], "options": {"beam": 3}}
        (given,) = check_schema(post("/v1/tree", body), "tree")
        self.same(given, json.loads(json.dumps(predictor("translate").tree(TEXTS[0], beam=3).to_json())))

    def test_what_if(self, post, predictor):
        body = {"text": TEXTS[0], "swap": {"1": "kind"}, "attend": {"0": 1}}
        (given,) = check_schema(post("/v1/what-if", body), "what-if")
        expected = predictor("translate").what_if(TEXTS[0], swap={1: "kind"}, attend={0: 1}).to_json()
        self.same(given, json.loads(json.dumps(expected)))
        assert given["after"]["source"] == "der kind schläft ."

    @pytest.mark.parametrize(
        "intervention", [{}, {"attend": {"x": 0}}, {"attend": {"0": 99}}, {"swap": {"9": "hund"}}]
    )
    def test_an_intervention_that_cannot_be(self, post, intervention):
        answer = post("/v1/what-if", {"text": TEXTS[0], **intervention})
        assert (answer.status_code, list(answer.json())) == (422, ["error"])

    def test_nearest(self, post, predictor):
        (given,) = check_schema(post("/v1/nearest", {"word": "Hund", "count": 3}), "nearest")
        expected = predictor("translate").nearest_words("Hund", 3)
        assert len(expected) == 3
        self.same(given, {"word": "Hund", "words": [list(each) for each in expected]})

    @pytest.mark.parametrize("name", sorted(operations().keys() - {"trace", "tree", "what-if", "nearest"}))
    def test_nothing_in_nothing_out(self, name, post):
        if name == "sample":
            assert post("/v1/sample", {"count": 0}).status_code == 422
            return
        body = {"sources": [], "targets": []} if name == "align" else {"texts": []}
        assert check_schema(post(f"/v1/{name}", body), name) == []

    def test_every_operation_is_of_a_task_and_named_as_its_route(self):
        assert set(operations()) == {
            *("translate", "align", "sample", "score", "classify", "tag"),
            *("trace", "tree", "what-if", "nearest"),
        }
        assert all(name == operation.name for name, operation in operations().items())
        assert {task for task, spec in TASKS.items() if spec.operations} == set(TASKS) - {"caption"}


class TestErrors:
    """One kind of object, which names the place and the remedy and shows nothing of the inside."""

    @pytest.mark.parametrize(
        ("path", "body", "status", "code", "message"),
        [
            ("translate", {"texts": 5}, 422, "invalid", "texts: Input should be a valid string"),
            ("translate", {}, 422, "invalid", "texts: Field required"),
            ("translate", {"texts": "a", "beam": 3}, 422, "invalid", "beam: Extra inputs"),
            ("translate", {"texts": "a", "options": {"beem": 3}}, 422, "invalid", "options.beem: Extra"),
            ("translate", {"texts": "a", "options": {"beam": 0}}, 422, "invalid", "options.beam"),
            ("translate", {"texts": "a", "options": {"beam": "3"}}, 422, "invalid", "options.beam"),
            ("translate", {"texts": "a", "options": {"n_best": 9}}, 422, "invalid", "more than the beam"),
            ("translate", {"texts": "a", "model": "lm"}, 404, "no_model", "name one of: translate"),
            ("translate", {"texts": "a", "model": "../x"}, 404, "no_model", "no model '../x'"),
            ("translate", {"texts": "a", "constraints": [{}, {}]}, 422, "invalid", "2 constraints for 1"),
            ("translate", {"texts": "a", "constraints": {"prefix": "zebra"}}, 422, "invalid", "cannot spell"),
            ("align", {"sources": ["a"], "targets": []}, 422, "invalid", "1 sources and 0 targets"),
            (
                "classify",
                {"texts": [["a", "b"]]},
                422,
                "invalid",
                "has 2 texts, and this model classifies one",
            ),
            ("sample", {"options": {"temperature": -1}}, 422, "invalid", "options.temperature"),
            ("sample", {"seed": 2**40}, 422, "invalid", "seed"),
            ("describe", {}, 404, "not_found", "no such route; see /openapi.json"),
        ],
    )
    def test_bad_bodies(self, path, body, status, code, message, post):
        answer = post(f"/v1/{path}", body)
        assert answer.status_code == status, answer.text
        error = answer.json()["error"]
        assert set(answer.json()) == {"error"}
        assert (error["code"], message in error["message"]) == (code, True), error

    @pytest.mark.parametrize(
        ("name", "body", "limits", "message"),
        [
            ("translate", {"texts": ["a"] * 4}, {"texts": 3}, "number of texts: 4 is above"),
            ("translate", {"texts": "a" * 11}, {"characters": 10}, "characters of texts[0]: 11 is above"),
            ("translate", {"texts": ["a", "a " * 9]}, {"length": 8}, "text 2 ('a a a"),
            ("translate", {"texts": "a", "options": {"beam": 9}}, {"beam": 8}, "options.beam: 9 is above"),
            ("translate", {"texts": "a", "num_samples": 9}, {"beam": 8}, "num_samples: 9 is above"),
            ("translate", {"texts": "a", "options": {"max_ratio": 9}}, {}, "options.max_ratio: 9 is above"),
            ("translate", {"texts": "a", "options": {"min_ratio": 9}}, {}, "options.min_ratio: 9 is above"),
            ("translate", {"texts": "a", "options": {"max_extra": 300}}, {}, "options.max_extra: 300"),
            ("translate", {"texts": "a", "options": {"min_length": 300}}, {}, "options.min_length: 300"),
            (
                "translate",
                {"texts": "a", "constraints": {"exclude": ["b"] * 4}},
                {"texts": 3},
                "number of phrases: 5 is above",
            ),
            ("align", {"sources": ["a"] * 4, "targets": ["b"] * 4}, {"texts": 3}, "number of sources: 4"),
            ("align", {"sources": "a", "targets": "b " * 9}, {"length": 8}, "target 1"),
            ("sample", {"count": 4}, {"texts": 3}, "count: 4 is above"),
            ("sample", {"max_length": 9}, {"length": 8}, "max_length: 9 is above"),
            ("sample", {"prompt": "the " * 9, "max_length": 2}, {"length": 8}, "prompt of line 1"),
            ("score", {"texts": ["the", "the " * 9]}, {"length": 8}, "text 2"),
            ("classify", {"texts": ["a"] * 4}, {"texts": 3}, "number of texts: 4"),
            ("tag", {"texts": "a " * 9}, {"length": 8}, "text 1"),
        ],
    )
    def test_limits(self, name, body, limits, message, run, models):
        async def scenario(client, service):
            for task in ("translate", "lm", "classify", "tag"):
                service.load({task: entry(models / task)})
            return await client.post(f"/v1/{name}", json=body)

        from regard.server.config import ModelEntry

        def entry(folder):
            return ModelEntry(str(folder))

        answer = run(scenario, models=(), limits=limits)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) in ((422, "limit"), (422, "too_long")), error
        assert message in error["message"]
        assert "--" not in error["message"]

    def test_one_bad_text_among_many_requests_fails_alone(self, run):
        async def scenario(client, service):
            bodies = [{"texts": text, "constraints": {"prefix": prefix}} for text, prefix in
                      (("der hund", "the"), ("ein kind", "zebra"), ("der hund", ""))]  # fmt: skip
            return await asyncio.gather(*(client.post("/v1/translate", json=body) for body in bodies))

        answers = run(scenario, batching={"milliseconds": 100.0})
        assert [answer.status_code for answer in answers] == [200, 422, 200]
        assert "text 1" in answers[1].json()["error"]["message"]

    def test_bugs_show_nothing_of_the_inside(self, run, monkeypatch, caplog):
        def compute(*_):
            raise RuntimeError("/home/someone/secret.py")

        monkeypatch.setattr(operations()["tag"], "compute", compute)

        async def scenario(client, _):
            return await client.post("/v1/tag", json={"texts": "a private text"})

        answer = run(scenario)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "internal"
        assert "secret" not in answer.text
        number = answer.json()["error"]["message"].split()[2].rstrip(";")
        assert number in caplog.text
        assert "secret.py" in caplog.text
        assert "a private text" not in caplog.text

    def test_numbers_that_are_not_finite_are_null(self, run, monkeypatch, predictor):
        tagging = predictor("tag").tag(["a b"])[0]
        object.__setattr__(tagging, "probabilities", (float("nan"), -np.inf))
        monkeypatch.setattr(operations()["tag"], "compute", lambda *_: [tagging])

        async def scenario(client, _):
            return await client.post("/v1/tag", json={"texts": "a b"})

        assert run(scenario).json()["taggings"][0]["probabilities"] == [None, None]


class SlowTagging:
    """Waits for a gate before it tags."""

    def __init__(self, monkeypatch):
        self.gate, self.calls = threading.Event(), []
        self._compute = operations()["tag"].compute
        monkeypatch.setattr(operations()["tag"], "compute", self)

    def __call__(self, predictor, options, items, numbers, watch):
        assert self.gate.wait(30)
        self.calls.append(list(items))
        return self._compute(predictor, options, items, numbers, watch)


class TestLoad:
    def test_requests_share_batches_and_get_what_they_would_alone(self, run, predictor):
        texts = [f"{'der hund schläft ' * (n % 4)}ein kind" for n in range(32)]

        async def scenario(client, service):
            together = await asyncio.gather(
                *(client.post("/v1/translate", json={"texts": text}) for text in texts)
            )
            calls = service.metrics.total("regard_batches_total", model="translate")
            assert service.metrics.total("regard_texts_total", model="translate") == 32
            alone = [await client.post("/v1/translate", json={"texts": text}) for text in texts]
            assert service.metrics.total("regard_batches_total", model="translate") == calls + 32
            return calls, together, alone

        calls, together, alone = run(scenario, batching={"milliseconds": 50.0})
        assert calls <= 4
        for one, other in zip(together, alone, strict=True):
            (first,), (second,) = one.json()["translations"], other.json()["translations"]
            assert first["text"] == second["text"]
            assert first["log_prob"] == pytest.approx(second["log_prob"], abs=1e-4)
        expected = predictor("translate").translate(texts)
        assert [one.json()["translations"][0]["text"] for one in together] == [each.text for each in expected]

    def test_other_options_do_not_share_a_batch(self, run):
        async def scenario(client, service):
            bodies = [{"texts": "der hund", "options": {"beam": 1 + n % 2}} for n in range(8)]
            await asyncio.gather(*(client.post("/v1/translate", json=body) for body in bodies))
            return service.metrics.total("regard_batches_total")

        assert 2 <= run(scenario, batching={"milliseconds": 100.0}) <= 4

    def test_a_full_queue_is_429_with_retry_after_and_recovers(self, run, monkeypatch):
        slow = SlowTagging(monkeypatch)

        async def scenario(client, service):
            first = asyncio.create_task(client.post("/v1/tag", json={"texts": ["a"]}))
            await asyncio.sleep(0.1)
            waiting = [asyncio.create_task(client.post("/v1/tag", json={"texts": ["b"]})) for _ in range(4)]
            await asyncio.sleep(0.1)
            refused = [await client.post("/v1/tag", json={"texts": ["c"]}) for _ in range(20)]
            probe = await client.get("/readyz")
            slow.gate.set()
            answered = await asyncio.gather(first, *waiting)
            after = await client.post("/v1/tag", json={"texts": ["d"]})
            return refused, probe, answered, after, service.metrics.total("regard_rejected_total")

        refused, probe, answered, after, rejected = run(scenario, limits={"queue": 4, "texts": 4})
        assert {answer.status_code for answer in refused} == {429}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        assert rejected == 20
        assert {answer.status_code for answer in (probe, *answered, after)} == {200}
        assert ["c"] not in slow.calls

    def test_a_slow_answer_is_504_and_leaves_the_queue(self, run, monkeypatch):
        slow = SlowTagging(monkeypatch)

        async def scenario(client, service):
            first = asyncio.create_task(client.post("/v1/tag", json={"texts": ["a"]}))
            await asyncio.sleep(0.1)
            second = await client.post("/v1/tag", json={"texts": ["b"]})
            waiting = service.batcher.waiting
            slow.gate.set()
            return (await first).status_code, second, waiting

        first, second, waiting = run(scenario, limits={"seconds": 0.5})
        assert first == 504
        assert (second.status_code, second.json()["error"]["code"]) == (504, "timeout")
        assert waiting == 0

    def test_a_client_that_goes_away_leaves_the_queue(self, make_service, monkeypatch):
        slow = SlowTagging(monkeypatch)
        service = make_service()
        app = create_app(service)
        body = json.dumps({"texts": ["gone"]}).encode()
        scope = {
            "type": "http", "method": "POST", "path": "/v1/tag", "raw_path": b"/v1/tag", "query_string": b"",
            "root_path": "", "scheme": "http", "http_version": "1.1", "server": ("localhost", 80),
            "client": ("127.0.0.1", 1), "asgi": {"version": "3.0"},
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        }  # fmt: skip

        async def scenario():
            async with app.router.lifespan_context(app):
                blocked = asyncio.create_task(call([{"type": "http.request", "body": body}]))
                await asyncio.sleep(0.1)
                await call([{"type": "http.request", "body": body}, {"type": "http.disconnect"}])
                assert service.batcher.waiting == 0
                slow.gate.set()
                await blocked

        async def call(messages):
            async def receive():
                if messages:
                    return messages.pop(0)
                return await asyncio.Event().wait()

            async def send(message):
                pass

            await app(dict(scope), receive, send)

        asyncio.run(asyncio.wait_for(scenario(), 60))
        assert len(slow.calls) == 1

    def test_while_draining_nothing_new_is_begun(self, run):
        async def scenario(client, service):
            service.draining = True
            return await client.post("/v1/tag", json={"texts": "a"}), await client.get("/readyz")

        for answer in run(scenario):
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "1"


def events_of(text):
    blocks = [block.split("\n") for block in text.strip().split("\n\n") if not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


class TestStreams:
    def test_a_translation_grows_and_ends_with_the_result(self, post, predictor):
        answer = post("/v1/translate", {"texts": TEXTS, "stream": True, "options": {"beam": 1}})
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = events_of(answer.text)
        assert events[-1] == ("end", {})
        expected = predictor("translate").translate(TEXTS, beam=1)
        results = {data["index"]: data["text"] for name, data in events if name == "result"}
        assert results == {k: each.text for k, each in enumerate(expected)}
        parts = [data["text"] for name, data in events if name == "partial" and data["index"] == 0]
        assert parts[-1] == expected[0].text
        assert [len(part.split()) for part in parts] == list(range(1, len(parts) + 1))

    def test_a_sample_comes_word_by_word(self, post, predictor):
        body = {"prompt": "the", "count": 2, "max_length": 6, "alternatives": 1, "stream": True}
        events = events_of(post("/v1/sample", body).text)
        expected = predictor("lm").sample(prompt="the", count=2, max_length=6, alternatives=1)
        for k, sample in enumerate(expected):
            parts = [data for name, data in events if name == "partial" and data["index"] == k]
            assert [part["step"]["token"] for part in parts] == list(sample.tokens)
            assert len(parts[0]["step"]["alternatives"]) <= 1
        assert [data["text"] for name, data in events if name == "result"] == [each.text for each in expected]

    def test_an_error_after_the_start_is_an_event(self, post):
        body = {"texts": ["a", "a " * 300], "stream": True}
        events = events_of(post("/v1/translate", body).text)
        name, data = events[-1]
        assert name == "error"
        assert data["error"]["code"] == "too_long"
        assert "text 2" in data["error"]["message"]

    def test_a_bug_after_the_start_shows_nothing(self, post, monkeypatch, caplog):
        def compute(*_):
            raise RuntimeError("secret")

        monkeypatch.setattr(operations()["sample"], "compute", compute)
        answer = post("/v1/sample", {"stream": True})
        assert events_of(answer.text)[-1][1]["error"]["code"] == "internal"
        assert "secret" not in answer.text
        assert "secret" in caplog.text

    def test_an_error_before_the_start_is_an_answer(self, post):
        answer = post("/v1/translate", {"texts": ["a"] * 999, "stream": True})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "limit")

    def test_too_slow_is_an_event(self, post, monkeypatch):
        gate = threading.Event()

        def compute(*_):
            gate.wait(1.0)
            raise DataError("late")

        monkeypatch.setattr(operations()["sample"], "compute", compute)
        events = events_of(post("/v1/sample", {"stream": True}, limits={"seconds": 0.2}).text)
        assert events[-1][1]["error"]["code"] == "timeout"


class TestOtherRoutes:
    def test_models_say_what_they_are_for_and_not_where_they_are(self, run, models):
        async def scenario(client, _):
            return await client.get("/v1/models")

        answer = run(scenario)
        values = answer.json()
        assert {each["name"]: each["operations"] for each in values["models"]} == {
            "translate": ["translate", "align", "trace", "tree", "what-if", "nearest"],
            "lm": ["sample", "score", "trace"],
            "classify": ["classify", "trace"],
            "tag": ["tag", "trace"],
        }
        assert values["limits"]["beam"] == 20
        assert str(models) not in answer.text

    def test_two_models_of_a_task_must_be_named(self, run, predictor):
        async def scenario(client, service):
            service.registry.add("other", predictor("tag"))
            unnamed = await client.post("/v1/tag", json={"texts": "a"})
            named = await client.post("/v1/tag", json={"texts": "a", "model": "other"})
            return unnamed, named

        unnamed, named = run(scenario)
        assert unnamed.status_code == 404
        assert "name one of: tag, other" in unnamed.json()["error"]["message"]
        assert named.json()["model"] == "other"

    def test_probes(self, run):
        async def scenario(client, service):
            await client.post("/v1/tag", json={"texts": "a"})
            answers = [await client.get(path) for path in ("/healthz", "/readyz", "/metrics")]
            service.registry._models.clear()
            return answers, await client.get("/readyz")

        (health, ready, metrics), empty = run(scenario)
        assert (health.status_code, ready.status_code, empty.status_code) == (200, 200, 503)
        assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert 'regard_requests_total{route="/v1/tag",status="200"} 1' in metrics.text
        assert 'regard_batches_total{model="tag",operation="tag"} 1' in metrics.text
        assert 'regard_model_version{model="tag"} 1' in metrics.text

    def test_no_script_from_elsewhere(self, run):
        async def scenario(client, _):
            return [await client.get(path) for path in ("/docs", "/redoc", "/")]

        assert [answer.status_code for answer in run(scenario)] == [404, 404, 404]

    def test_the_openapi_document_has_every_route_with_examples_that_work(self, run):
        async def scenario(client, _):
            document = (await client.get("/openapi.json")).json()
            answers = []
            for name, operation in operations().items():
                content = document["paths"][f"/v1/{name}"]["post"]["requestBody"]["content"]
                examples = content["application/json"]["examples"]
                assert set(examples) == set(operation.examples)
                for example in examples.values():
                    named = {"model": "translate"} if name == "trace" else {}  # every model has one
                    answers.append((name, await client.post(f"/v1/{name}", json=example["value"] | named)))
            return document, answers

        document, answers = run(scenario)
        assert document["openapi"].startswith("3.")
        for name, answer in answers:
            # constraints are words of another model, and a pair needs a model of pairs
            assert answer.status_code in (200, 422), (name, answer.text)
        assert sum(answer.status_code == 200 for _, answer in answers) >= len(answers) - 2

    def test_pages_have_a_policy_of_their_own(self, run, tmp_path):
        (tmp_path / "index.html").write_text("<p>hello</p>")

        async def scenario(client, _):
            return await client.get("/"), await client.get("/v1/models"), await client.get("/../x")

        page, api, outside = run(scenario, pages=tmp_path)
        assert page.text == "<p>hello</p>"
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "script-src" not in api.headers["content-security-policy"]
        assert outside.status_code == 404


def test_httpx_is_the_one_with_streams():
    assert httpx.__version__ >= "0.28"
