"""The clients give what a local model gives, wait for an overloaded service, and say what went wrong."""

import asyncio
import inspect
import json

import httpx
import numpy as np
import pytest

import regard
from regard import AsyncClient, Client, Constraints, SamplingOptions, SearchOptions, ServiceError

TEXTS = ["der hund schläft .", "", "ein kind"]


@pytest.fixture
def with_client(make_service):
    """Run a scenario with an `AsyncClient` of a service in this process."""

    def run_scenario(scenario, **config):
        from regard.server.app import create_app

        app = create_app(make_service(**config))

        async def body():
            async with app.router.lifespan_context(app):
                transport = httpx.ASGITransport(app)
                async with AsyncClient("http://localhost", transport=transport) as client:
                    return await scenario(client)

        return asyncio.run(asyncio.wait_for(body(), 60))

    return run_scenario


def test_translations_are_those_of_a_local_model(with_client, predictor):
    options = SearchOptions(beam=3, n_best=2)

    async def scenario(client):
        return await client.translate(TEXTS, options)

    for given, expected in zip(
        with_client(scenario), predictor("translate").translate(TEXTS, options), strict=True
    ):
        assert (given.text, given.links, len(given.alternatives)) == (
            expected.text,
            expected.links,
            len(expected.alternatives),
        )
        if expected.alpha is not None:
            np.testing.assert_allclose(given.alpha, expected.alpha, atol=1e-4)
            assert given.word_alpha.source_labels == expected.word_alpha.source_labels


def test_every_method_gives_the_result_of_its_predictor(with_client, predictor):
    async def scenario(client):
        return (
            await client.align(TEXTS, ["the dog", "", "a"]),
            await client.sample(prompt="the", count=2, seed=3, max_length=5),
            await client.score(["the dog", ""]),
            await client.classify(["fine", ""]),
            await client.tag(["the dog", ""]),
            await client.models(),
        )

    aligned, samples, scores, classes, tags, models = with_client(scenario)
    expected = predictor("translate").align(TEXTS, ["the dog", "", "a"])
    assert [each.links for each in aligned] == [each.links for each in expected]
    assert [each.text for each in samples] == [
        each.text for each in predictor("lm").sample(prompt="the", count=2, seed=3, max_length=5)
    ]
    assert [each.perplexity for each in scores] == [
        pytest.approx(each.perplexity) for each in predictor("lm").score(["the dog", ""])
    ]
    assert [each.label for each in classes] == [
        each.label for each in predictor("classify").classify(["fine", ""])
    ]
    assert [each.tags for each in tags] == [each.tags for each in predictor("tag").tag(["the dog", ""])]
    assert {model["task"] for model in models} == {"translate", "language_model", "classify", "tag"}


def test_what_is_inside_is_what_a_local_model_shows(with_client, predictor):
    options = SearchOptions(beam=3)

    async def scenario(client):
        return (
            await client.trace(TEXTS[0], target="the dog", letters="slides", model="translate"),
            await client.trace("the dog", model="lm"),
            await client.tree(TEXTS[0], options),
            await client.what_if(TEXTS[0], options, attend={0: 1}, swap={1: "kind"}, exclude=["dog"]),
            await client.nearest_words("hund", 2),
        )

    trace, other, tree, what_if, nearest = with_client(scenario)
    local = predictor("translate")
    for given, expected in (
        (trace, local.trace(TEXTS[0], "the dog")),
        (other, predictor("lm").trace("the dog")),
    ):
        assert given.output_tokens == expected.output_tokens
        for section in expected.sections:
            assert given[section.key].parts == section.parts
            for step, own in zip(section.steps, given[section.key].steps, strict=True):
                assert (own.token, own.past, own.output) == (step.token, step.past, step.output)
                for key, values in own.values.items():
                    np.testing.assert_allclose(values, step.values[key], atol=1e-6)
    assert trace.letters == "slides"
    np.testing.assert_allclose(trace.alpha, local.trace(TEXTS[0], "the dog").alpha, atol=1e-6)
    wanted = local.tree(TEXTS[0], options)
    assert tree.to_json() == json.loads(json.dumps(wanted.to_json()))
    assert [node.token for node in tree.best] == [node.token for node in wanted.best]
    expected = local.what_if(TEXTS[0], options, attend={0: 1}, swap={1: "kind"}, exclude=["dog"])
    assert (what_if.before.text, what_if.after.text) == (expected.before.text, expected.after.text)
    assert (what_if.attend, what_if.swap, what_if.exclude) == (
        expected.attend,
        expected.swap,
        expected.exclude,
    )
    np.testing.assert_allclose(what_if.alpha_difference, expected.alpha_difference, atol=2e-4)
    assert nearest == [
        (word, pytest.approx(cosine, abs=1e-4)) for word, cosine in local.nearest_words("hund", 2)
    ]


def test_constraints_and_samples(with_client, predictor):
    async def scenario(client):
        forced = await client.translate(TEXTS[:1], constraints=Constraints("the"), alpha=False)
        each = await client.translate(TEXTS[:1], constraints=[Constraints("the")])
        sampled = await client.translate(TEXTS[:1], sampling=SamplingOptions(2.0), num_samples=2, seed=4)
        return forced[0], each[0], sampled[0]

    forced, each, sampled = with_client(scenario)
    assert forced.text == each.text
    assert forced.text.startswith("the")
    assert forced.alpha is None
    assert forced.links == each.links
    local = predictor("translate").translate(TEXTS[:1], sampling=SamplingOptions(2.0), num_samples=2, seed=4)
    assert (sampled.text, len(sampled.alternatives)) == (local[0].text, 1)


def test_streams(with_client, predictor):
    async def scenario(client):
        translations = [event async for event in client.stream_translations(TEXTS, SearchOptions(1))]
        samples = [event async for event in client.stream_samples(prompt="the", max_length=4)]
        return translations, samples

    translations, samples = with_client(scenario)
    results = {k: value.text for k, value in translations if not isinstance(value, str)}
    assert results == {k: each.text for k, each in enumerate(predictor("translate").translate(TEXTS, beam=1))}
    assert [value for k, value in translations if isinstance(value, str) and k == 0][-1] == results[0]
    *parts, (_, whole) = samples
    assert [len(text.split()) for _, text in parts] == sorted(len(text.split()) for _, text in parts)
    assert whole.text == predictor("lm").sample(prompt="the", max_length=4)[0].text


class Answers(httpx.MockTransport):
    """A service that answers with these, one after another; records what it was sent."""

    def __init__(self, *answers):
        self.sent, self.answers = [], list(answers)
        super().__init__(self._answer)

    def _answer(self, sent):
        self.sent.append(sent)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def busy(seconds="0", status=429):
    return httpx.Response(
        status, headers={"Retry-After": seconds}, json={"error": {"code": "overloaded", "message": "busy"}}
    )


def tagged():
    return httpx.Response(
        200,
        json={
            "model": "m",
            "version": 1,
            "taggings": [{"words": ["a"], "tags": ["DET"], "probabilities": [0.5]}],
        },
    )


class TestConnection:
    def test_it_waits_for_an_overloaded_service(self):
        answers = Answers(busy(), busy(status=503), busy("soon"), tagged())
        with Client("http://x", transport=answers) as client:
            assert client.tag(["a"])[0].tags == ("DET",)
        assert len(answers.sent) == 4

    def test_not_for_ever(self):
        answers = Answers(*[busy()] * 3)
        with (
            Client("http://x", transport=answers, retries=2) as client,
            pytest.raises(ServiceError, match="busy") as caught,
        ):
            client.tag(["a"])
        assert (caught.value.status, caught.value.code, len(answers.sent)) == (429, "overloaded", 3)

    def test_streams_wait_too(self):
        event = json.dumps({"index": 0, "text": "a"})
        stream = httpx.Response(
            200, text=f"event: partial\ndata: {event}\n\n: waiting\n\nevent: end\ndata: {{}}\n\n"
        )
        with Client("http://x", transport=Answers(busy(), stream)) as client:
            assert list(client.stream_samples()) == [(0, "a")]
        failing = httpx.Response(
            200, text='event: error\ndata: {"error": {"code": "timeout", "message": "late"}}\n\n'
        )
        with (
            Client("http://x", transport=Answers(failing)) as client,
            pytest.raises(ServiceError, match="late") as caught,
        ):
            list(client.stream_samples())
        assert caught.value.code == "timeout"

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (
                httpx.Response(422, json={"error": {"code": "limit", "message": "beam: too wide"}}),
                "beam: too",
            ),
            (httpx.Response(502, text="<html>"), "status 502"),
            (httpx.ConnectError("refused"), r"no answer \(refused\); is the service running"),
            (httpx.ReadTimeout(""), r"no answer \(ReadTimeout\)"),
        ],
    )
    def test_errors_say_what_went_wrong(self, answer, message):
        with (
            Client("http://x", transport=Answers(answer)) as client,
            pytest.raises(ServiceError, match=message),
        ):
            client.score(["a"])

    def test_the_key_is_given_or_of_the_environment(self, monkeypatch):
        monkeypatch.setenv("REGARD_API_KEY", "of-the-environment")
        for options, expected in (({}, "Bearer of-the-environment"), ({"key": "given"}, "Bearer given")):
            answers = Answers(tagged())
            with Client("http://x", transport=answers, **options) as client:
                client.tag(["a"])
                assert "given" not in repr(client)
            assert answers.sent[0].headers["authorization"] == expected

    def test_both_clients_have_the_same_methods(self):
        for name, method in vars(Client).items():
            if not name.startswith("_"):
                other = getattr(AsyncClient, name)
                assert inspect.signature(method).parameters == inspect.signature(other).parameters, name

    def test_a_missing_extra_says_so(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "httpx", None)
        with pytest.raises(regard.RegardError, match="pip install httpx"):
            Client()
