"""The studio's own routes: searches that grow, newest weights tried out, and nothing of it in the service."""

import os
import shutil

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
from starlette.testclient import TestClient

from regard import Translator
from regard.server.app import Service, create_app
from regard.server.config import ModelEntry, ServeConfig
from regard.studio import operations as module
from regard.studio.app import create_studio
from regard.studio.corpus import Corpus
from regard.studio.operations import STUDIO

from .conftest import DATA, PAIRS, listening, make_run

STATE = {"section": "decoder", "part": "state"}


@pytest.fixture
def folder(tmp_path):
    return make_run(tmp_path / "model", "translate")


def serve(folder):
    """A service of one model, beside its data."""
    service = Service(ServeConfig.from_mapping({"threads": 1, "batching": {"milliseconds": 0.0}}, ""))
    service.registry.load("model", ModelEntry(str(folder)))
    return service


@pytest.fixture
def served(folder):
    return serve(folder)


@pytest.fixture
def client(served):
    with TestClient(create_studio(served), base_url="http://localhost") as client:
        yield client


def ask(client, operation, **body):
    answer = client.post(f"/v1/{operation}", json=body)
    assert answer.status_code == 200, answer.text
    results = next(each for each in STUDIO if each.name == operation).results
    return answer.json()[results][0]


def ask_to_the_end(client, operation, **body):
    while True:
        answer = ask(client, operation, **body)
        if answer["read"] == answer["total"]:
            return answer


def test_a_search_reads_on_at_every_request_until_all_is_read(client, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    read = [ask(client, "match", **STATE, units=[0], threshold=0.1)["read"] for _ in range(3)]
    assert read == [1, 2, 3]
    monkeypatch.setattr(module, "_SECONDS", 1e9)
    assert ask(client, "project", **STATE)["read"] == len(PAIRS)


def test_what_is_found_is_what_the_corpus_finds(client, served, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 1e9)
    corpus = Corpus(served.registry["model"].predictor)
    corpus.read_on(1e9)
    options = {"threshold": 0.2, "below": True, "length": 2, "edges": True}
    answer = ask(client, "match", **STATE, units=[1, 4], text=PAIRS[3][0], count=4, **options)
    wanted = corpus.match("decoder", "state", [1, 4], text=PAIRS[3][0], count=4, **options)
    assert (answer["label"], answer["problem"]) == ("training", "")
    for each, (place, active) in zip(answer["found"], wanted, strict=True):
        assert each["text"] == PAIRS[place.sentence][0]
        assert each["words"] == [*PAIRS[place.sentence][1].split(), "</s>"]
        assert (each["first"], each["last"], each["active"]) == (place.first, place.last, active)
        assert each["value"] == pytest.approx(place.value, abs=1e-4)
    assert [unit for unit, _ in answer["alike"]] == [
        unit for unit, _ in corpus.alike("decoder", "state", [1, 4])
    ]
    vector = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8]
    for whole in (False, True):
        near = ask(client, "similar", **STATE, vector=vector, whole=whole, count=3)
        places = corpus.nearest("decoder", "state", vector, whole=whole, count=3)
        assert [each["text"] for each in near["found"]] == [PAIRS[place.sentence][0] for place in places]
    projected = ask(client, "project", **STATE)
    components = corpus.components("decoder", "state")
    assert projected["shares"] == pytest.approx(components.shares, abs=1e-3)
    x, y, word, text = projected["points"][0]
    assert [x, y] == pytest.approx(corpus.points("decoder", "state", components, 500)[0][1], abs=1e-3)
    assert (word, text) == ("the", PAIRS[0][0])


def test_what_was_read_is_kept_as_long_as_the_model(client, served, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 1e9)
    ask(client, "project", **STATE)
    predictor = served.registry["model"].predictor
    known = module._corpora[predictor][None]
    ask(client, "match", **STATE, units=[0], threshold=0.1)
    assert module._corpora[predictor][None] is known
    served.registry.add("model", Translator.load(predictor.folder))
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    assert ask(client, "project", **STATE)["read"] == 1


@pytest.mark.parametrize(
    ("operation", "body", "message"),
    [
        ("match", {"section": "decoder", "part": "none", "units": [0], "threshold": 0.1}, "no part 'none'"),
        ("match", {**STATE, "units": [99], "threshold": 0.1}, "unit 99"),
        ("match", {**STATE, "units": [-1], "threshold": 0.1}, "greater than or equal to 0"),
        ("match", {**STATE, "units": [], "threshold": 0.1}, "at least 1 item"),
        ("match", {**STATE, "units": [0], "threshold": 0.1, "length": 0}, "length"),
        ("match", {**STATE, "units": [0] * 16_385, "threshold": 0.1}, "number of units"),
        ("similar", {**STATE, "vector": [0.1]}, "1 numbers for state"),
        (
            "project",
            {"section": "../../etc/passwd", "part": "state"},
            "no part 'state' of '../../etc/passwd'",
        ),
        ("project", {**STATE, "member": 3}, "member: 3"),
        ("progress", {"folder": "/etc"}, "folder: Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_searched(client, operation, body, message):
    answer = client.post(f"/v1/{operation}", json=body)
    assert answer.status_code == 422
    assert message in answer.json()["error"]["message"]


def test_no_other_model(client):
    answer = client.post("/v1/match", json={**STATE, "model": "/etc", "units": [0], "threshold": 0.1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_model")


def test_without_its_data_the_answer_says_so(client, folder):
    (folder / "pairs.tsv").unlink()
    answer = ask(client, "match", **STATE, units=[0], threshold=0.1)
    assert (answer["read"], answer["total"], answer["found"]) == (0, 0, [])
    assert "not here" in answer["problem"]
    answer = ask(client, "progress")
    assert answer["update"] == Translator.load(folder, weights="last").facts["update"]
    assert "not here" in answer["problem"]


def test_the_service_has_none_of_them(served):
    with TestClient(create_app(served), base_url="http://localhost") as client:
        for operation in STUDIO:
            assert client.post(f"/v1/{operation.name}", json={}).status_code == 404, operation.name


class TestProgress:
    def test_the_newest_weights_are_tried_out_on_validation_examples(self, client, folder):
        answer = ask(client, "progress")
        assert (answer["label"], answer["problem"], len(answer["outputs"])) == ("validation", "", 6)
        references = dict(PAIRS)
        newest = Translator.load(folder, weights="last")
        for each in answer["outputs"]:
            assert each["reference"] == references[each["text"]]
            (translation,) = newest.translate([each["text"]])
            assert each["result"]["text"] == translation.text
            assert each["result"]["alpha"] is not None

    def test_they_are_loaded_again_only_when_they_changed(self, client, folder, monkeypatch):
        loaded = []
        load = Translator.load.__func__
        monkeypatch.setattr(
            Translator,
            "load",
            classmethod(lambda cls, *given, **options: loaded.append(given) or load(cls, *given, **options)),
        )
        before = ask(client, "progress")
        assert ask(client, "progress") == before
        assert len(loaded) == 1
        os.utime(folder / "last.safetensors", ns=(1, 1))
        assert ask(client, "progress") == before
        assert len(loaded) == 2

    def test_before_the_first_checkpoint(self, client, folder):
        (folder / "last.safetensors").unlink()
        assert "not yet written any weights" in ask(client, "progress")["problem"]

    def test_a_damaged_checkpoint_is_said(self, client, folder):
        (folder / "last.safetensors").write_bytes(b"half")
        answer = ask(client, "progress")
        assert "last.safetensors" in answer["problem"]
        shutil.copy(folder / "best.safetensors", folder / "last.safetensors")
        assert ask(client, "progress")["problem"] == ""

    @pytest.mark.parametrize(("name", "key"), [("lm", "tokens"), ("classify", "label"), ("tag", "tags")])
    def test_every_task(self, tmp_path, name, key):
        studio = create_studio(serve(make_run(tmp_path / name, name)))
        with TestClient(studio, base_url="http://localhost") as client:
            answer = ask(client, "progress")
        assert len(answer["outputs"]) == 6
        assert all(each["result"][key] for each in answer["outputs"])
        if name != "lm":
            lines = [line for lines in DATA[name].values() for line in lines]
            assert all(any(each["text"] in line for line in lines) for each in answer["outputs"])
            assert all(each["reference"] for each in answer["outputs"])


def test_the_document_has_them_with_examples_that_are_bodies(client):
    paths = client.get("/openapi.json").json()["paths"]
    for operation in STUDIO:
        examples = paths[f"/v1/{operation.name}"]["post"]["requestBody"]["content"]["application/json"][
            "examples"
        ]
        for example in examples.values():
            operation.body.model_validate(example["value"])


def test_no_body_is_a_500_and_answers_are_what_the_document_says(served):
    schemathesis = pytest.importorskip("schemathesis", reason="it is in the extra dev")
    from hypothesis import HealthCheck, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

    checks = [not_a_server_error, status_code_conformance, response_schema_conformance]
    tested = set()
    with listening(create_studio(served)) as url:
        for found in schemathesis.openapi.from_url(f"{url}openapi.json").get_all_operations():
            operation = found.ok()
            if operation.path.removeprefix("/v1/") not in [each.name for each in STUDIO]:
                continue

            @settings(max_examples=25, suppress_health_check=list(HealthCheck), database=None)
            @given(operation.as_strategy())
            def conforms(case):
                case.call_and_validate(checks=checks, timeout=30)

            conforms()
            tested.add(operation.path)
    assert len(tested) == len(STUDIO)
