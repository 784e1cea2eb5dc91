"""Several seeds as one ensemble: what is trained, what is not trained again, and what opens the folder."""

import json

import pytest

from regard.checkpoint import FORMAT, ModelFolder
from regard.errors import ConfigError, DataError, FolderError
from regard.inference.ensemble import Ensemble, LabelEnsemble
from regard.tasks.classify.predictor import Classifier
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure
from regard.training.progress import Note
from regard.training.seeds import run_seeds, sample_deviation

TINY = {
    "tokenizer": {"source": "bpe", "target": "bpe", "source_size": 60, "target_size": 60},
    "model": {
        "encoder": {"embedding_size": 4, "state_size": 4},
        "decoder": {"embedding_size": 4, "state_size": 8, "attention": {"size": 4}, "readout_size": 4},
    },
    "training": {"max_epochs": 0.0, "max_updates": 2, "device": "cpu"},
}
CLASSIFIER = {
    "task": "classify",
    "model": {"encoder": {"embedding_size": 4, "state_size": 4}},
    "training": {"max_epochs": 0.0, "max_updates": 2, "device": "cpu"},
}


@pytest.fixture
def words(pairs):
    return [(pair.source, pair.target) for pair in pairs(60)]


@pytest.fixture
def texts():
    return [("good" if k % 2 else "bad", f"w{k} is {k % 2}") for k in range(60)]


def notes(events):
    return [event.text for event in events if isinstance(event, Note)]


def test_the_folder_is_one_model(tmp_path, words):
    """The split has one seed, so the tokenizers are the same and the members go together."""
    trained = run_seeds(tmp_path / "model", configure(TINY), 3, train=words)
    members = ModelFolder(tmp_path / "model").members
    assert [member.path.name for member in members] == ["seed-1", "seed-2", "seed-3"]
    translator = Translator.load(tmp_path / "model")
    assert isinstance(translator.model, Ensemble)
    by_hand = Translator.load([member.path for member in members])
    lines = [source for source, _ in words[:5]]
    together, separately = translator.translate(lines), by_hand.translate(lines)
    assert [each.text for each in together] == [each.text for each in separately]
    assert [each.score for each in together] == [each.score for each in separately]
    assert len({member.load().facts["loss"] for member in members}) == 3, "three different models"
    assert trained.report == json.loads((tmp_path / "model" / "report.json").read_text())


def test_the_report_has_each_seed_and_mean_and_deviation(tmp_path, words):
    report = run_seeds(tmp_path / "model", configure(TINY, {"training": {"seed": 7}}), 2, train=words).report
    assert [member["seed"] for member in report["members"]] == [7, 8]
    losses = [member["validation"]["loss"] for member in report["members"]]
    assert report["validation"]["loss"]["mean"] == pytest.approx(sum(losses) / 2)
    # two values differ from their mean by half their difference; squared, summed, over n − 1 = 1
    assert report["validation"]["loss"]["deviation"] == pytest.approx(abs(losses[0] - losses[1]) / 2**0.5)
    assert report["train_seconds"] == pytest.approx(sum(each["train_seconds"] for each in report["members"]))


def test_a_single_value_has_no_deviation():
    assert sample_deviation([0.5]) is None
    assert sample_deviation([1.0, 2.0, 3.0]) == pytest.approx(1.0)


def test_a_finished_seed_is_not_trained_again_and_an_unfinished_one_is(tmp_path, words):
    folder = tmp_path / "model"
    run_seeds(folder, configure(TINY), 2, train=words)
    weights = (folder / "seed-1" / "last.safetensors").stat()
    (folder / "seed-2" / "report.json").unlink()
    (folder / "seed-2" / "last.safetensors").write_bytes(b"half a file")
    events = []
    run_seeds(folder, configure(TINY), 3, train=words, listener=events.append)
    assert (folder / "seed-1" / "last.safetensors").stat().st_mtime_ns == weights.st_mtime_ns
    assert [text for text in notes(events) if text.startswith("seed-")] == [
        "seed-1: trained before, not trained again",
        "seed-2: model 2 of 3",
        "seed-3: model 3 of 3",
    ]
    assert len(Translator.load(folder, weights="last").models) == 3


def test_an_interrupted_run_leaves_an_ensemble_of_what_is_finished(tmp_path, words):
    def interrupt(event):
        if isinstance(event, Note) and event.text.startswith("seed-3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_seeds(tmp_path / "model", configure(TINY), 3, train=words, listener=interrupt)
    assert len(Translator.load(tmp_path / "model").models) == 2


def test_a_member_is_trained_again_to_the_bit_from_its_own_configuration(tmp_path, words):
    from regard.checkpoint import read_options
    from regard.training.run import run_training

    run_seeds(tmp_path / "model", configure(TINY), 2, train=words)
    options = read_options(tmp_path / "model" / "seed-2" / "train.toml")
    run_training(tmp_path / "again", configure(options), train=words)
    assert (tmp_path / "again" / "last.safetensors").read_bytes() == (
        tmp_path / "model" / "seed-2" / "last.safetensors"
    ).read_bytes()


class TestRefused:
    def test_another_configuration(self, tmp_path, words):
        run_seeds(tmp_path / "model", configure(TINY), 1, train=words)
        changed = configure(TINY, {"training": {"learning_rate": 0.5}})
        with pytest.raises(
            DataError, match=r"seed-1: trained with training.learning_rate \S+, and it is 0.5 now"
        ):
            run_seeds(tmp_path / "model", changed, 2, train=words)

    def test_a_folder_with_a_single_model(self, tmp_path, words):
        from regard.training.run import run_training

        run_training(tmp_path / "model", configure(TINY), train=words)
        with pytest.raises(DataError, match="holds a single model; choose another folder for --seeds 2"):
            run_seeds(tmp_path / "model", configure(TINY), 2, train=words)

    def test_a_single_model_in_the_folder_of_an_ensemble(self, tmp_path, words):
        from regard.training.run import run_training

        run_seeds(tmp_path / "model", configure(TINY), 1, train=words)
        with pytest.raises(DataError, match="holds a model already"):
            run_training(tmp_path / "model", configure(TINY), train=words)

    @pytest.mark.parametrize("number", [0, 1001, 10**9])
    def test_a_number_of_models_out_of_range(self, tmp_path, words, number):
        with pytest.raises(
            ConfigError, match=rf"--seeds: {number} is out of range; it must be from 1 to 1000"
        ):
            run_seeds(tmp_path / "model", configure(TINY), number, train=words)
        assert not (tmp_path / "model").exists()

    def test_a_task_without_ensembles(self, tmp_path):
        with pytest.raises(
            ConfigError, match=r"--seeds 2: a model for .* cannot be an ensemble; one for translating"
        ):
            run_seeds(tmp_path / "model", configure({"task": "language_model"}), 2, train=[("a b",)] * 40)

    def test_an_ensemble_where_one_model_is_needed(self, tmp_path, words):
        run_seeds(tmp_path / "model", configure(TINY), 2, train=words)
        with pytest.raises(
            FolderError, match=r"an ensemble of 2 models, and one model is needed here; name one .*seed-1"
        ):
            ModelFolder(tmp_path / "model").load()

    def test_a_newer_format_and_damage(self, tmp_path, words):
        run_seeds(tmp_path / "model", configure(TINY), 1, train=words)
        path = tmp_path / "model" / "regard.json"
        description = json.loads(path.read_text())
        assert description["format"] == FORMAT
        path.write_text(json.dumps({**description, "format": FORMAT + 1}))
        with pytest.raises(FolderError, match=f"reads up to format {FORMAT}: upgrade it"):
            Translator.load(tmp_path / "model")
        path.write_text(json.dumps({**description, "ensemble": []}))
        with pytest.raises(FolderError, match="damaged: the ensemble's members are"):
            Translator.load(tmp_path / "model")


def test_classifiers_and_the_mean_of_their_probabilities(tmp_path, texts):
    run_seeds(tmp_path / "model", configure(CLASSIFIER), 2, train=texts)
    together = Classifier.load(tmp_path / "model")
    assert isinstance(together.model, LabelEnsemble)
    members = [Classifier.load(member.path) for member in ModelFolder(tmp_path / "model").members]
    (mean,) = together.classify(["w1 is 1"])
    separately = [member.classify(["w1 is 1"])[0] for member in members]
    for label, probability in mean.probabilities.items():
        assert probability == pytest.approx(
            sum(each.probabilities[label] for each in separately) / 2, abs=1e-6
        )
    assert together.num_parameters == sum(member.num_parameters for member in members)
