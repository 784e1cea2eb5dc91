"""Registered settings: read strictly, listed by their hashes, and a result that was made otherwise says so."""

import json
import subprocess
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pytest

from regard import lab
from regard.config import Config
from regard.errors import ConfigError
from regard.lab import EXPERIMENTS, find_experiment
from regard.lab.runner import Bench, read_registration
from regard.lab.runner.experiment import read_result
from regard.lab.runner.registration import registered_hashes, write_hashes
from regard.lab.runner.run import run_experiment

LAB = Path(lab.__file__).parent


@dataclass(frozen=True)
class Sizes(Config):
    """Two numbers."""

    seeds: int
    updates: int


TEXT = "seed = 2001\n[bounds]\nlead = 10\n[usual]\nseeds = 3\nupdates = 5\n[full]\nupdates = 9\n"


@pytest.fixture
def module(tmp_path):
    (tmp_path / "tried.toml").write_text(TEXT)
    return str(tmp_path / "tried.py")


def test_the_longer_run_differs_in_what_it_names(module):
    registered = read_registration(module, Sizes.from_mapping)
    assert (registered.usual, registered.full) == (Sizes(3, 5), Sizes(3, 9))
    assert (registered.seed, registered.bounds) == (2001, {"lead": 10})
    assert registered.sha256 == sha256(TEXT.encode()).hexdigest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[bounds]", "[bound]"), "has seed, bound, usual, full; give seed, bounds, usual and full"),
        (("updates = 5", "update = 5"), "usual: no option 'update'; did you mean 'updates'"),
        (("updates = 9", "updates = true"), "full.updates: expected a whole number"),
        (("[full]", "[more]\n[full]"), "no more"),
    ],
)
def test_what_is_not_a_setting_is_refused(module, change, message):
    path = Path(module).with_suffix(".toml")
    path.write_text(TEXT.replace(*change))
    with pytest.raises(ConfigError, match=message):
        read_registration(module, Sizes.from_mapping)


def test_the_list_is_what_sha256sum_checks(module, tmp_path):
    write_hashes(tmp_path)
    assert registered_hashes(tmp_path) == {"tried": sha256(TEXT.encode()).hexdigest()}
    assert subprocess.run(["sha256sum", "--check", "--quiet", "REGISTERED"], cwd=tmp_path).returncode == 0


def test_what_is_listed_is_what_the_lab_has():
    assert registered_hashes() == {
        path.stem: sha256(path.read_bytes()).hexdigest() for path in LAB.glob("*.toml")
    }, "python tools/register.py registers settings that were changed"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_registered_with_fresh_seeds_of_which_there_are_three(name):
    experiment = find_experiment(name)
    registered = experiment.registration
    assert registered is not None
    assert registered.sha256 == registered_hashes()[name]
    assert (experiment.usual, experiment.full) == (registered.usual, registered.full)
    assert experiment.seed == registered.seed >= 1000, "trials use small seeds"
    counts = [value for key, value in vars(registered.usual).items() if "seeds" in key]
    assert all(count >= 3 for count in counts)
    assert counts or name in ("cost", "shapes")  # counts of operations have no seeds


@pytest.fixture
def registered(made, module, monkeypatch):
    """An experiment with settings, which are listed."""
    registration = read_registration(module, Sizes.from_mapping)
    settings = {"usual": registration.usual, "full": registration.full}
    monkeypatch.setattr(
        "regard.lab.runner.experiment.registered_hashes", lambda: {"tried": registration.sha256}
    )
    return replace(made.experiment("tried"), registration=registration, **settings)


def test_a_run_as_registered_is_registered(registered, tmp_path):
    result = run_experiment(registered, Bench(tmp_path / "it", seed=registered.seed), "regard lab tried")
    assert registered.seed == 2001
    assert (result.settings, result.unregistered) == (registered.registration.sha256, "")
    assert "not registered" not in (tmp_path / "it" / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("seed", "change", "why"),
    [
        (1, {}, "its seed or its size is not the registered one"),
        (2001, {"usual": Sizes(3, 4)}, "its seed or its size is not the registered one"),
        (2001, {"registration": None}, "no settings are registered"),
    ],
)
def test_another_seed_another_size_or_no_settings_are_not(registered, tmp_path, seed, change, why):
    result = run_experiment(
        replace(registered, **change), Bench(tmp_path / "it", seed=seed), "regard lab tried"
    )
    assert result.unregistered == why
    page = (tmp_path / "it" / "page.html").read_text(encoding="utf-8")
    assert "not registered (held)" in page
    assert f"Not registered: {why}" in page


def test_a_result_with_another_hash_is_shown_as_not_registered(registered, tmp_path):
    run_experiment(registered, Bench(tmp_path / "it", seed=2001), "regard lab tried")
    path = tmp_path / "it" / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "settings": "0" * 64}))
    assert read_result(tmp_path / "it").unregistered.startswith(
        "the settings 000000000000 are not the registered"
    )
