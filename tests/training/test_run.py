import importlib
import json
import sys

import pytest
import torch

import regard
from regard.checkpoint import ModelFolder
from regard.config import read_toml
from regard.errors import ConfigError, DataError, MissingExtraError
from regard.evaluation.metrics import display_name
from regard.layers import CELLS
from regard.models.decoders.config import DecoderConfig
from regard.tasks.config import RunConfig
from regard.training.fabric import build_fabric
from regard.training.progress import Note
from regard.training.run import run_training

TINY = {
    "tokenizer": {"source": "word", "target": "word"},
    "model": {
        "encoder": {"embedding_size": 4, "state_size": 4},
        "decoder": {"embedding_size": 4, "state_size": 8, "attention": {"size": 4}, "readout_size": 4},
    },
}
OPTIONS = ["training.max_updates=2", "training.device=cpu"]


def weights(folder):
    model = ModelFolder(folder).load("last").model
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


class TestFromANotebook:
    """`regard.train`: the same run, however its pairs are given."""

    @pytest.fixture
    def files(self, tmp_path, pairs):
        for name, given in (("train", pairs(30)), ("valid", pairs(5, seed=1))):
            (tmp_path / f"{name}.s").write_text("".join(f"{pair.source}\n" for pair in given))
            (tmp_path / f"{name}.t").write_text("".join(f"{pair.target}\n" for pair in given))
            (tmp_path / f"{name}.tsv").write_text(
                "".join(f"{pair.source}\t{pair.target}\n" for pair in given)
            )
        return tmp_path

    @pytest.fixture
    def expected(self, tmp_path, pairs):
        given = {
            name: [(p.source, p.target) for p in some]
            for name, some in (("train", pairs(30)), ("valid", pairs(5, seed=1)))
        }
        return weights(regard.train(tmp_path / "expected", **given, config=TINY, options=OPTIONS).folder)

    @pytest.mark.parametrize(
        "form",
        [
            "files",
            "list of files",
            "tsv",
            "path",
            "tuple of pairs",
            "lists",
            "iterator",
            "sentence pairs",
            "config",
        ],
    )
    def test_every_form_of_pairs(self, files, expected, pairs, form):
        def given(name, count, seed):
            two = (str(files / f"{name}.s"), files / f"{name}.t")
            texts = [(pair.source, pair.target) for pair in pairs(count, seed=seed)]
            return {
                "files": two,
                "list of files": list(two),
                "tsv": str(files / f"{name}.tsv"),
                "path": files / f"{name}.tsv",
                "tuple of pairs": tuple(texts),
                "lists": [list(pair) for pair in texts],
                "iterator": iter(texts),
                "sentence pairs": list(pairs(count, seed=seed)),
                "config": None,
            }[form]

        config = dict(TINY)
        if form == "config":
            config["data"] = {
                name: [str(files / f"{name}.s"), str(files / f"{name}.t")] for name in ("train", "valid")
            }
        trained = regard.train(
            files / "model", given("train", 30, 0), given("valid", 5, 1), config=config, options=OPTIONS
        )
        assert torch.equal(weights(trained.folder), expected)

    def test_options_and_preset(self, tmp_path, pairs):
        texts = [(pair.source, pair.target) for pair in pairs(10)]
        trained = regard.train(
            tmp_path / "model",
            texts,
            preset="characters",
            config={"training": {"max_updates": 9}},
            options=OPTIONS,
        )
        run = RunConfig.from_mapping(read_toml(trained.folder / "train.toml"), "run")
        assert (run.tokenizer.source, run.training.max_updates) == ("char", 2)
        assert regard.Translator.load(trained.folder).translate(["a b"])[0].tokens

    def test_lines_of_a_language_model(self, tmp_path):
        """A string is a file's name, so a line alone would be taken for one; a tuple of it is a line."""
        tiny = ["model.embedding_size=4", "model.state_size=4"]
        options = {"task": "language_model", "options": [*OPTIONS, *tiny, "training.batch_sentences=4"]}
        for lines in (["a b", "b a"], ["long " * 1000]):
            with pytest.raises(
                DataError, match=r"no such file; strings are names of files, and examples are tuples"
            ):
                regard.train(tmp_path / "model", lines, **options)
            with pytest.raises(DataError, match="examples are tuples"):
                regard.train(tmp_path / "model", [("a b",)], lines, **options)
        (tmp_path / "text").write_text("a b\nb a\n" * 2)
        for name, given in (("a", tmp_path / "text"), ("b", [("a b",), ("b a",)] * 2)):
            report = regard.train(tmp_path / name, given, [("b a",)], **options).report
            assert report["num_train_lines"] == 4
        assert torch.equal(weights(tmp_path / "a"), weights(tmp_path / "b"))

    def test_no_pairs(self, tmp_path):
        with pytest.raises(ConfigError, match=r"data\.train: no training pairs; name them with --train"):
            regard.train(tmp_path / "model", config=TINY)
        with pytest.raises(DataError, match="an empty corpus: 0 examples"):
            regard.train(tmp_path / "model", [], config=TINY)


def test_what_the_folder_says(tmp_path, run_config, pairs):
    heard = []
    config = run_config(data={"max_length": 5})
    trained = run_training(tmp_path / "model", config, train=pairs(40), listener=heard.append)
    report = json.loads((trained.folder / "report.json").read_text(encoding="utf-8"))
    assert report == trained.report
    assert report["validation"] == trained.result.best.to_json()
    model = ModelFolder(trained.folder).load().model
    assert report["num_parameters"] == model.num_parameters
    assert (report["updates"], report["best_update"]) == (5, trained.result.best_update)
    assert report["train_seconds"] > 0
    assert RunConfig.from_mapping(read_toml(trained.folder / "train.toml"), "run") == config
    notes = [event.text for event in heard if isinstance(event, Note)]
    assert notes[0].startswith("no validation pairs given: ")
    assert "removed" in notes[1]
    assert "above the length limit" in notes[1]
    assert notes[2].startswith(
        f"{report['num_train_pairs']} training pairs, {report['num_valid_pairs']} for validation; vocabul"
    )
    assert notes[3].startswith("training with 1 thread: ")  # what few parameters or one processor decide
    start = json.loads((trained.folder / "log.jsonl").read_text().splitlines()[0])
    assert start["notes"] == notes[:2]
    assert start["threads"] == report["threads"] == 1


def test_the_threads_given_by_hand(tmp_path, run_config, pairs, monkeypatch):
    """The loop runs with them, and they are said and recorded; afterwards the process has as many as before."""
    monkeypatch.setattr("regard.training.run.spins_long", lambda: True)
    heard, seen, before = [], [], torch.get_num_threads()

    def listen(event):
        heard.append(event)
        seen.append(torch.get_num_threads())

    config = run_config(training={"threads": 2})
    report = run_training(tmp_path / "model", config, train=pairs(40), listener=listen).report
    notes = [event.text for event in heard if isinstance(event, Note)]
    assert "training with 2 threads: training.threads" in notes
    assert any(note.endswith("to avoid this, import regard first") for note in notes)
    assert report["threads"] == seen[-1] == 2
    assert torch.get_num_threads() == seen[0] == before


@pytest.mark.parametrize(
    ("training", "error", "message"),
    [
        ({"device": "cuda"}, ConfigError, "no GPU that torch can use is on this machine"),
        ({"precision": "16"}, ConfigError, 'training.precision = "16" needs a GPU; choose bf16 or 32'),
        ({"tensorboard": True}, MissingExtraError, "pip install tensorboard"),
    ],
)
def test_what_cannot_be_leaves_no_model_behind(
    tmp_path, run_config, pairs, monkeypatch, training, error, message
):
    """So that the same command can be given again when it is mended."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(error, match=message):
        run_training(tmp_path / "model", run_config(training=training), train=pairs(40))
    run_training(tmp_path / "model", run_config(), train=pairs(40))


def test_a_second_training_in_one_folder_is_refused_before_it_reads_anything(tmp_path, run_config, pairs):
    def second(event):
        with pytest.raises(DataError, match="another process is writing to this folder"):
            run_training(tmp_path / "model", run_config(), train=None)

    run_training(tmp_path / "model", run_config(), train=pairs(40), listener=second)
    assert not (tmp_path / "model" / ".lock").exists()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", [kind for kind in DecoderConfig.variants if kind != "deep-fusion"])
def test_mixed_precision_learns(tmp_path, run_config, pairs, kind, cell):
    """One update in bfloat16, with all the dropout there is, for every decoder that may have any cell."""
    model = {
        "encoder": {"cell": cell, "dropout": 0.1, "recurrent_dropout": 0.1},
        "decoder": {"kind": kind, "cell": cell, "dropout": 0.1, "recurrent_dropout": 0.1},
    }
    base = run_config(
        training={"precision": "bf16", "max_updates": 1, "validation_sentences": 1}
    ).to_mapping()
    own = DecoderConfig.variants[kind].__dataclass_fields__
    base["model"]["decoder"] = {
        name: value for name, value in base["model"]["decoder"].items() if name in own
    }
    for part, options in model.items():
        base["model"][part].update(options)
    config = RunConfig.from_mapping(base, "run")
    trained = run_training(tmp_path / "model", config, train=pairs(8), valid=pairs(2))
    after = weights(trained.folder)
    assert after.dtype == torch.float32
    assert after.isfinite().all()
    torch.manual_seed(config.training.seed)
    fresh = type(ModelFolder(trained.folder).load().model)(config.model, 9, 9)
    before = torch.cat([parameter.detach().flatten() for parameter in fresh.parameters()])
    assert not torch.equal(before, after)


def test_precisions_by_name(run_config):
    for name, precision in (("32", "32-true"), ("bf16", "bf16-mixed")):
        fabric = build_fabric(run_config(training={"precision": name}).training)
        assert fabric._precision.precision == precision
        assert fabric.device.type == "cpu"


def test_a_run_without_the_kernels_in_c_says_why(tmp_path, pairs, monkeypatch):
    from regard.ops.native.library import Loaded

    monkeypatch.setattr("regard.training.run.load", lambda: Loaded(None, "no C compiler was found"))
    heard = []
    given = [(pair.source, pair.target) for pair in pairs(30)]
    regard.train(tmp_path / "m", given, config=TINY, options=OPTIONS, listener=heard.append)
    notes = [event.text for event in heard if isinstance(event, Note)]
    assert any("without the kernels in C" in note and "no C compiler was found" in note for note in notes)
    start = json.loads((tmp_path / "m" / "log.jsonl").read_text().splitlines()[0])
    assert start["without_c"] == "no C compiler was found"


class TestWhatIsCounted:
    """Speed in tokens, and the number of examples behind a score."""

    def test_the_speed_of_a_classifier_counts_the_tokens_it_reads(self, tmp_path):
        texts = [("good" if k % 2 else "bad", " ".join(["word"] * 30) + f" {k}") for k in range(60)]
        config = {"task": "classify", "model": {"encoder": {"embedding_size": 4, "state_size": 4}}}
        options = [
            "training.max_epochs=0",
            "training.max_updates=4",
            "training.batch_sentences=10",
            "training.device=cpu",
        ]
        trained = regard.train(tmp_path / "model", texts, config=config, options=options, progress=False)
        report = trained.report
        # 4 updates of 10 texts of 31 tokens and EOS, in at most the whole time
        assert report["tokens_per_second"] * report["train_seconds"] > 0.9 * 4 * 10 * 32
        assert "num_decoded_texts" not in report

    def test_how_many_pairs_are_validated_and_decoded(self, tmp_path, pairs):
        notes = []
        given = [(pair.source, pair.target) for pair in pairs(60)]
        trained = regard.train(
            tmp_path / "model",
            given[:40],
            given[40:],
            config=TINY,
            options=[*OPTIONS, "training.validation_sentences=5"],
            listener=notes.append,
        )
        assert (trained.report["num_valid_pairs"], trained.report["num_decoded_pairs"]) == (20, 5)
        assert any(
            "20 for validation (5 of them decoded)" in note.text for note in notes if isinstance(note, Note)
        )


LABELS = {"model": {"encoder": {"embedding_size": 4, "state_size": 4}}}
CAPTIONER = {
    "model": {"summary_size": 4, "decoder": {"embedding_size": 4, "state_size": 4, "readout_size": 4}}
}
RUNS = {
    "translate": (
        TINY,
        [("a b" * (1 + k % 3), f"A {k % 7}") for k in range(40)],
        ["Translations", 'class="map"'],
    ),
    "classify": (
        LABELS,
        [("good" if k % 2 else "bad", f"word {k % 9}") for k in range(40)],
        ["accuracy", "right"],
    ),
    "tag": (LABELS, [("a dog", "DET NOUN"), ("dogs", "NOUN")] * 20, ["accuracy", "DET"]),
    "language_model": (
        {"model": {"embedding_size": 4, "state_size": 4}},
        [("a line of words",), ("another line",)] * 20,
        ["Bits per character", "sampled"],
    ),
    "caption": (
        CAPTIONER,
        [((k % 2, 1 - k % 2), f"a cat {k % 2}") for k in range(40)],
        ["caption", "reference"],
    ),
}


class TestThePageOfARun:
    """``report.html``: scores, curves and examples, for every task."""

    @pytest.fixture
    def train(self, tmp_path):
        def run(task="translate", **options):
            config, examples, _ = RUNS[task]
            limits = [
                *OPTIONS,
                "training.max_epochs=0",
                "training.batch_sentences=8",
                "training.validate_every=1",
            ]
            return regard.train(
                tmp_path / "model",
                examples,
                examples[:6],
                task=task,
                config=config,
                options=limits,
                **options,
            )

        return run

    @pytest.mark.parametrize("task", RUNS)
    def test_what_it_shows(self, train, task, monkeypatch):
        importlib.import_module("lightning.fabric")  # which looks for matplotlib itself
        monkeypatch.setitem(sys.modules, "matplotlib", None)  # a page needs none
        trained = train(task)
        assert trained.page == trained.folder / "report.html"
        page = trained.page.read_text(encoding="utf-8")
        update = trained.report["best_update"]
        select = display_name(trained.report["select"])
        assert f"The scores are of update {update}, the best by {select}, on 6 validation " in page
        assert page.index(f"<dt>{select}</dt>") < page.index("</dl>"), "the selecting score leads"
        assert "<b>Loss</b>" in page
        assert page.count("<article>") >= 4
        for part in RUNS[task][2]:
            assert part in page

    def test_a_page_that_fails_leaves_the_run_as_it_is(self, train, monkeypatch):
        def fail(task, predictor):
            raise ZeroDivisionError("no picture")

        monkeypatch.setattr("regard.tasks.translate.task.TranslateTask.show", fail)
        heard = []
        trained = train(listener=heard.append)
        assert trained.page is None
        assert (trained.folder / "report.json").exists()
        assert heard[-1] == Note(f"{trained.folder}/report.html was not written: no picture")

    def test_where_only_some_pairs_are_decoded(self, tmp_path):
        examples = RUNS["translate"][1]
        trained = regard.train(
            tmp_path / "model",
            examples,
            examples[:3],
            config=TINY,
            options=[*OPTIONS, "training.validation_sentences=1"],
        )
        assert trained.scored_on == "3 validation pairs (its output on the first 1)"
        assert trained.scored_on in trained.page.read_text(encoding="utf-8")
