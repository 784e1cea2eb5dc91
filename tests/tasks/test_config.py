import pytest

from regard.config import list_options
from regard.errors import ConfigError
from regard.tasks import TASKS
from regard.tasks.config import RunConfig, TrainingConfig
from regard.tasks.translate.config import DataConfig, TokenizerConfig
from regard.training.configure import configure


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "adm"}, "training.optimizer: no 'adm'; did you mean 'adam'?"),
        ({"schedule": "cosin"}, "training.schedule: no 'cosin'; did you mean 'cosine'?"),
        ({"precision": "64"}, "training.precision: no '64'"),
        ({"device": "tpu"}, "training.device: no 'tpu'"),
        ({"learning_rate": -1}, "training.learning_rate: -1 is out of range; it must be at least 0"),
        ({"learning_rate": float("nan")}, "training.learning_rate: nan is out of range"),
        ({"batch_sentences": 0}, "training.batch_sentences: 0 is out of range"),
        ({"accumulate": 0}, "training.accumulate: 0 is out of range"),
        ({"label_smoothing": 1}, "training.label_smoothing: 1 is out of range; it must be from 0 to below 1"),
        ({"momentum": 1}, "training.momentum: 1 is out of range"),
        ({"momentum": 0.9}, "training.momentum is for sgd, and training.optimizer is adam; leave it out"),
        ({"weight_decay": 0.1}, "training.weight_decay is for adamw and sgd, and training.optimizer is adam"),
        ({"seed": -1}, "training.seed: -1 is out of range; it must be from 0 to 4294967295"),
        ({"split_seed": 2**32}, "training.split_seed: 4294967296 is out of range"),
        ({"max_epochs": float("inf")}, "training.max_epochs: inf is out of range; it must be at most"),
        ({"learning_rate": 1e300}, "training.learning_rate: 1e+300 is out of range; it must be at most"),
        ({"plateau_decay": 2}, "training.plateau_decay: 2 is out of range"),
        ({"max_updates": 0}, "nothing ends the run; set max_updates, max_epochs, max_minutes or patience"),
        ({"max_updates": 0, "patience": 3, "schedule": "linear"}, 'schedule = "linear" falls to zero'),
        (
            {"max_updates": 0, "patience": 3, "schedule": "cosine"},
            "set max_updates, max_epochs or max_minutes",
        ),
    ],
)
def test_what_training_refuses(options, message):
    with pytest.raises(ConfigError) as caught:
        TrainingConfig(**{"max_updates": 5, **options})
    assert message in str(caught.value)


@pytest.mark.parametrize("limit", ["max_updates", "max_epochs", "max_minutes", "patience"])
def test_any_limit_will_do(limit):
    TrainingConfig(**{limit: 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": ("a", "b", "c")}, "data.train: 3 files; give two parallel ones, or one TSV"),
        ({"valid": ("a", "b", "c")}, "data.valid: 3 files"),
        ({"columns": (1,)}, "data.columns: [1]; give two columns"),
        ({"max_length": 0}, "data.max_length: 0 is out of range"),
        ({"max_ratio": 0.5}, "data.max_ratio: 0.5 is out of range; it must be at least 1"),
    ],
)
def test_what_data_refuses(options, message):
    with pytest.raises(ConfigError) as caught:
        DataConfig(**options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "wrod"}, "tokenizer.source: no 'wrod'; did you mean 'word'?"),
        ({"target_size": 4}, "tokenizer.target_size: 4 is out of range; it must be from 5 to"),
        ({"source_size": 10**9}, "tokenizer.source_size: 1000000000 is out of range"),
        ({"min_frequency": 0}, "tokenizer.min_frequency: 0 is out of range"),
        (
            {"shared": True, "source": "word"},
            "tokenizer.shared: one vocabulary for both sides needs equal kinds",
        ),
    ],
)
def test_what_tokenizers_refuse(options, message):
    with pytest.raises(ConfigError) as caught:
        TokenizerConfig(**options)
    assert message in str(caught.value)


def test_tying_all_needs_one_vocabulary():
    model = {"tie": "all", "encoder": {"embedding_size": 256}}
    with pytest.raises(ConfigError, match=r'tie = "all" .*set tokenizer.shared = true'):
        configure({"model": model})
    assert configure({"model": model, "tokenizer": {"shared": True}}).model.tie == "all"


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"trainig": {}}, "no option 'trainig'; did you mean 'training'?"),
        ({"training": {"max_update": 3}}, "no option 'max_update'; did you mean 'max_updates'?"),
        (
            {"model": {"decoder": {"attention": {"energ": "dot"}}}},
            "no option 'energ'; did you mean 'energy'?",
        ),
        ({"model": {"decoder": {"kind": "bahdanao"}}}, "no 'bahdanao'; did you mean 'bahdanau'?"),
        ({"training": {"learning_rate": "fast"}}, "training.learning_rate: expected a number, got 'fast'"),
        ({"preset": "rnnsearch"}, "preset: no 'rnnsearch'; did you mean 'rnnsearch-50'?"),
        ({"training": {"select": "blue"}}, "training.select: no 'blue'; did you mean 'bleu'?"),
        ({"task": "translat"}, "task: no 'translat'; did you mean 'translate'?"),
        ({"auxiliary_losses": {"guided": 1}}, "auxiliary_losses: no option 'guided'"),
        (
            {"auxiliary_losses": {"scheduled_sampling": 2}},
            "auxiliary_losses.scheduled_sampling: 2 is out of range",
        ),
        (
            {"preset": "rnnencdec-small", "auxiliary_losses": {"guided_alignment": 0.5}},
            "auxiliary_losses.guided_alignment is of attention, and a cho decoder has none; drop it",
        ),
    ],
)
def test_a_misspelt_option_is_told_with_the_nearest_right_name(mapping, message):
    with pytest.raises(ConfigError) as caught:
        configure(mapping)
    assert message in str(caught.value)


@pytest.mark.parametrize("limit", ["max_updates", "max_epochs", "max_minutes"])
def test_scheduled_sampling_needs_an_end_to_grow_to(limit):
    patient = {"training": {"max_epochs": 0, "patience": 2, "schedule": "constant"}}
    sampled = {"auxiliary_losses": {"scheduled_sampling": 0.2}}
    assert configure(patient).training.open_ended
    with pytest.raises(
        ConfigError, match=r"scheduled_sampling grows to the end.*set training.max_updates, max_ep"
    ):
        configure(patient, sampled)
    assert not configure(patient, sampled, {"training": {limit: 3}}).training.open_ended


def test_links_that_no_one_would_learn_from():
    links = {"data": {"train_links": "links"}}
    with pytest.raises(
        ConfigError, match=r"data.train_links: .*auxiliary_losses.guided_alignment only.*or drop the links"
    ):
        configure(links)
    assert configure(links, {"auxiliary_losses": {"guided_alignment": 0.5}}).data.train_links == "links"


@pytest.mark.parametrize("task", TASKS)
def test_every_option_of_every_task_has_a_sentence(task):
    options = list_options(TASKS[task].run_config())
    assert [option.path for option in options if not option.sentence.strip().endswith(".")] == []
    assert len({option.path for option in options}) == len(options) > 40


def test_a_run_is_its_mapping():
    run = configure({"training": {"max_epochs": 3}, "tokenizer": {"lowercase": True}})
    assert RunConfig.from_mapping(run.to_mapping(), "run") == run


def test_a_preset_of_another_task_is_told_with_those_that_fit():
    with pytest.raises(ConfigError) as caught:
        configure({"task": "tag"}, preset="lstm-lm")
    assert "preset 'lstm-lm' is for the task 'language_model', and the task is 'tag'; choose tagger" in str(
        caught.value
    )
    assert configure({"task": "language_model"}, preset="lstm-lm").task == "language_model"
