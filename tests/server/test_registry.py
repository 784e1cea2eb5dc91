"""Models in service: opened with the options of their entry, and replaced without a lost request."""

import asyncio
import shutil

import pytest

from regard.errors import ConfigError, FolderError
from regard.server.config import ModelEntry
from regard.server.registry import ModelNotFoundError

KEY, ADMIN = "client-key-0123456789", "admin-key-0123456789a"


@pytest.fixture
def folder(tmp_path, models):
    """A copy of a model that can be changed."""
    shutil.copytree(models / "tag", tmp_path / "tag")
    return tmp_path / "tag"


def test_int8_and_shortlist_are_options_of_an_entry(make_service, models):
    service = make_service(models=())
    entry = ModelEntry(str(models / "translate"), precision="int8", shortlist=True)
    served = service.registry.load("small", entry)
    assert served.predictor.shortlist is not None
    assert served.predictor.max_length == 250
    assert (served.to_json()["precision"], served.to_json()["shortlist"]) == ("int8", True)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("none", {}, FolderError, "none"),
        ("lm", {"precision": "int8"}, ConfigError, "precision is an option of translators"),
        ("tag", {"shortlist": True}, ConfigError, "shortlist is an option of translators"),
        ("describe", {}, ConfigError, "model x: a model for captioning .* has no route"),
        ("tag", {"weights": "worst"}, ConfigError, "worst"),
    ],
)
def test_what_cannot_be_served(name, options, error, message, make_service, models):
    with pytest.raises(error, match=message):
        make_service(models=()).load({"x": ModelEntry(str(models / name), **options)})


def test_a_model_is_replaced_under_load_and_no_request_fails(make_service, client_of, folder, models):
    service = make_service(models=())
    service.load({"tag": ModelEntry(str(folder))})
    statuses, versions = [], set()

    async def client_loop(client, until):
        while not until.is_set():
            answer = await client.post("/v1/tag", json={"texts": ["the dog sleeps", "a child"]})
            statuses.append(answer.status_code)
            versions.add(answer.json().get("version"))

    async def scenario():
        async with client_of(service) as client:
            until = asyncio.Event()
            loops = [asyncio.create_task(client_loop(client, until)) for _ in range(8)]
            for _ in range(3):
                await asyncio.sleep(0.1)
                await service.registry.reload("tag")
            await asyncio.sleep(0.1)
            until.set()
            await asyncio.gather(*loops)

    asyncio.run(asyncio.wait_for(scenario(), 100))
    assert set(statuses) == {200}
    assert len(statuses) >= 24
    assert versions >= {1, 4}
    assert service.metrics.total("regard_reloads_total", model="tag", result="replaced") == 3


def test_work_that_waits_is_computed_by_the_version_it_was_queued_for(make_service, client_of, folder):
    service = make_service(models=(), batching={"milliseconds": 300.0})
    service.load({"tag": ModelEntry(str(folder))})

    async def scenario():
        async with client_of(service) as client:
            queued = asyncio.create_task(client.post("/v1/tag", json={"texts": "a"}))
            await asyncio.sleep(0.05)
            service.registry.add("tag", service.registry["tag"].predictor)
            later = asyncio.create_task(client.post("/v1/tag", json={"texts": "a"}))
            answers = await asyncio.gather(queued, later)
            return [answer.json()["version"] for answer in answers], service.metrics.total(
                "regard_batches_total"
            )

    assert asyncio.run(asyncio.wait_for(scenario(), 60)) == ([1, 2], 2)


def test_a_folder_that_cannot_be_opened_leaves_the_old_model(make_service, client_of, folder, caplog):
    service = make_service(models=(), keys=[KEY], admin_keys=[ADMIN])
    service.load({"tag": ModelEntry(str(folder))})
    (folder / "best.safetensors").write_bytes(b"damaged")

    async def scenario():
        async with client_of(service) as client:
            operator = {"Authorization": f"Bearer {ADMIN}"}
            refused = await client.post("/v1/models/tag/reload", headers=operator)
            after = await client.post("/v1/tag", json={"texts": "a"}, headers=operator)
            return refused, after

    refused, after = asyncio.run(asyncio.wait_for(scenario(), 60))
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_replaced")
    assert str(folder) not in refused.text
    assert str(folder) in caplog.text
    assert (after.status_code, after.json()["version"]) == (200, 1)
    assert service.metrics.total("regard_reloads_total", result="failed") == 1


class TestReloadRoute:
    @pytest.mark.parametrize(
        ("key", "name", "status"),
        [
            (ADMIN, "tag", 200),
            (KEY, "tag", 403),
            (None, "tag", 401),
            (ADMIN, "none", 404),
            (ADMIN, "..%2Ftag", 404),
            (ADMIN, "a b", 422),
        ],
    )
    def test_it_needs_an_operators_key_and_a_name(self, key, name, status, make_service, client_of, folder):
        service = make_service(models=(), keys=[KEY], admin_keys=[ADMIN])
        service.load({"tag": ModelEntry(str(folder))})

        async def scenario():
            async with client_of(service) as client:
                headers = {} if key is None else {"Authorization": f"Bearer {key}"}
                return await client.post(f"/v1/models/{name}/reload", headers=headers)

        answer = asyncio.run(asyncio.wait_for(scenario(), 60))
        assert answer.status_code == status
        if status == 200:
            assert answer.json()["version"] == 2

    def test_without_operators_keys_there_is_no_such_route(self, run):
        async def scenario(client, _):
            return await client.post("/v1/models/tag/reload")

        assert run(scenario).status_code == 404


def test_models_without_a_folder_stay(make_service):
    service = make_service()
    with pytest.raises(ModelNotFoundError, match="was not read from a folder"):
        asyncio.run(service.registry.reload("tag"))
    with pytest.raises(ModelNotFoundError, match="no model 'tga'; did you mean 'tag'"):
        asyncio.run(service.registry.reload("tga"))
