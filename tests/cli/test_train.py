import gzip
import json

import pytest
import safetensors.torch
import torch

from regard.config import read_toml, write_toml
from regard.evaluation.metrics import format_score
from regard.tasks import TASKS
from regard.text import Tokenizer
from regard.training.configure import PRESETS, configure


@pytest.fixture
def corpus(tmp_path, data, tiny):
    """Files to learn from, and a configuration that makes it quick, in the folder the command is given in."""
    for side in ("src", "tgt"):
        text = (data / f"test.{side}").read_text() * 5
        (data / f"train.{side}").write_text(text)
    (data / "tiny.toml").write_text(write_toml(tiny))
    return data


@pytest.fixture
def train(regard, corpus):
    """Train with the tiny configuration and whatever else."""

    def run(*arguments, folder="model", data=True):
        files = ["--train", corpus / "train.src", "--train", corpus / "train.tgt"] if data else []
        return regard("train", corpus / folder, "--config", corpus / "tiny.toml", *files, *arguments)

    return run


def settings(folder):
    return read_toml(folder / "train.toml")


def weights(folder):
    return safetensors.torch.load_file(folder / "last.safetensors")


def test_results_on_one_stream_and_the_rest_on_the_other(train, corpus):
    ended = train("--valid", corpus / "test.src", "--valid", corpus / "test.tgt")
    assert ended.status == 0
    report = json.loads((corpus / "model" / "report.json").read_text())
    facts, scores = ended.out.split("\n\n")
    for table, title, expected in (
        (facts, "trained", {k: v for k, v in report.items() if k != "validation"}),
        (scores, f"update {report['best_update']} on 12 validation pairs", report["validation"]),
    ):
        first, *lines = table.splitlines()
        assert first.strip() == title
        rows = dict(line.split("  ", 1) for line in lines)
        assert {name: value.strip() for name, value in rows.items()} == {
            name: format_score(name, value) for name, value in expected.items()
        }
    assert scores.splitlines()[1].startswith("bleu "), "the score that selects leads"
    assert "60 training pairs, 12 for validation; vocabularies of 9 and 9" in ended.err
    assert "validation after update 20: BLEU" in ended.err
    assert "tokens/s" in ended.err
    assert (
        f"the model is in {corpus}/model; report: {corpus}/model/report.html; "
        f"try: echo … | regard translate {corpus}/model\n"
    ) in ended.err
    assert "regard train" in (corpus / "model" / "report.html").read_text()
    # plain lines, none broken at a terminal's width
    assert all(
        line.startswith(("60 training", "training  ", "training with", "validation", "the model"))
        for line in ended.err.splitlines()
    )


def test_json_is_the_report(train, corpus):
    ended = train("--json")
    assert json.loads(ended.out) == json.loads((corpus / "model" / "report.json").read_text())


def test_the_folder_can_be_trained_again_from_its_own_configuration(regard, train, corpus):
    """train.toml says all: the same weights, to the last bit."""
    train("--seed", 7, "--set", "model.encoder.dropout=0.2", "--set", "training.label_smoothing=0.1")
    again = regard("train", corpus / "again", "--config", corpus / "model" / "train.toml")
    assert again.status == 0
    one, other = weights(corpus / "model"), weights(corpus / "again")
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert (corpus / "model" / "train.toml").read_text() == (corpus / "again" / "train.toml").read_text()


class TestResume:
    def test_a_finished_run_gets_more_updates_with_the_same_command_or_without(self, regard, train, corpus):
        constant = ("--set", "training.schedule=constant", "--set", "training.warmup=0")
        train("--updates", 6, *constant, "--resume")  # begins
        ended = train("--updates", 9, "--resume")
        assert ended.status == 0
        assert "resumed after update 6\n" in ended.err
        ended = regard("train", corpus / "model", "--resume", "--updates", 12)
        assert "resumed after update 9\n" in ended.err
        train("--updates", 12, *constant, folder="whole")
        one, other = weights(corpus / "model"), weights(corpus / "whole")
        assert all(torch.equal(one[name], other[name]) for name in one)
        commands = [
            session["command"]
            for session in json.loads((corpus / "model" / "run.json").read_text())["sessions"]
        ]
        assert commands[2] == f"regard train {corpus}/model --resume --updates 12"

    def test_nothing_to_resume(self, regard, corpus):
        ended = regard("train", corpus / "none", "--resume")
        assert ended.status == 2
        assert "data.train: no training pairs; name them with --train" in ended.err

    def test_an_ensemble_is_resumed_by_its_own_command(self, regard, train, corpus):
        train("--updates", 2, "--seeds", 2)
        ended = regard("train", corpus / "model", "--resume")
        assert ended.status == 2
        assert "holds an ensemble; repeat its command, with its --seeds, to go on" in ended.err


class TestFlags:
    def test_each_arrives(self, train, corpus):
        train(
            *("--tokenizer", "char,word", "--vocabulary", 8, "--updates", 3, "--minutes", 5),
            *("--seed", 3, "--device", "cpu", "--set", "model.decoder.attention.energy=dot"),
            *("--threads", 1),
        )
        run = settings(corpus / "model")
        assert (run["tokenizer"]["source"], run["tokenizer"]["target"]) == ("char", "word")
        assert (run["tokenizer"]["source_size"], run["tokenizer"]["target_size"]) == (8, 8)
        limits = {name: run["training"][f"max_{name}"] for name in ("updates", "epochs", "minutes")}
        assert limits == {"updates": 3, "epochs": 0, "minutes": 5}
        assert (run["training"]["seed"], run["training"]["device"]) == (3, "cpu")
        assert run["training"]["threads"] == 1
        assert run["model"]["decoder"]["attention"]["energy"] == "dot"
        assert run["training"]["learning_rate"] == 0.02  # of the file

    def test_epochs_in_place_of_updates(self, train, corpus):
        train("--epochs", 1)
        assert settings(corpus / "model")["training"]["max_updates"] == 0
        assert json.loads((corpus / "model" / "report.json").read_text())["stopped"] == "1 epochs are done"

    def test_later_ones_win(self, train, corpus):
        """Preset, file, flags, --set."""
        train("--preset", "characters", "--updates", 4, "--set", "training.max_updates=2")
        run = settings(corpus / "model")
        assert run["training"]["max_updates"] == 2
        assert run["tokenizer"]["source"] == "word"  # the file's, over the preset's
        assert run["training"]["select"] == "exact_match"  # the preset's

    def test_minutes_go_with_any_preset(self, regard, corpus, monkeypatch):
        """As the help shows it: a falling rate falls over the preset's epochs, the clock may end it sooner."""
        message = {}

        def run_training(folder, config, **options):
            message["config"] = config
            raise KeyboardInterrupt

        monkeypatch.setattr("regard.training.run.run_training", run_training)
        for name in PRESETS:
            # one that begins as a language model must be message which
            begun = name == "classifier-pretrained"
            extra = ["--set", "pretrained.encoder=lm"] if begun else []
            assert regard("train", corpus / "m", "--preset", name, "--minutes", 30, *extra).status == 130
            own = configure(
                {"pretrained": {"encoder": "language_model"}} if begun else {}, preset=name
            ).training
            assert message["config"].training.max_minutes == 30
            assert message["config"].training.max_epochs == own.max_epochs

    @pytest.mark.parametrize(
        "arguments",
        [["--train", "pairs.tsv"], ["--train", "pairs.tsv.gz"], ["--train", "s.tsv", "--columns", 2, 1]],
    )
    def test_tab_separated(self, train, corpus, monkeypatch, arguments):
        monkeypatch.chdir(corpus)
        pairs = [line.split("\t") for line in (corpus / "test.tsv").read_text().splitlines()] * 5
        text = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (corpus / "pairs.tsv").write_text(text)
        (corpus / "pairs.tsv.gz").write_bytes(gzip.compress(text.encode()))
        (corpus / "s.tsv").write_text("".join(f"{target}\t{source}\n" for source, target in pairs))
        train(folder="parallel")
        assert train(*arguments, data=False).status == 0
        one, other = weights(corpus / "model"), weights(corpus / "parallel")
        assert all(torch.equal(one[name], other[name]) for name in one)

    def test_presets_are_listed(self, regard):
        ended = regard("train", "--list-presets")
        lines = ended.out.splitlines()
        assert [line.split(":")[0].split(" ")[0] for line in lines] == list(PRESETS)
        for line, preset in zip(lines, PRESETS.values(), strict=True):
            assert line.endswith(preset.__doc__.splitlines()[0])  # equations have brackets
        assert any(
            line.startswith(f"{TASKS['translate'].default_preset} [translate] (the default): ")
            for line in lines
        )

    def test_presets_of_a_task_are_listed(self, regard):
        names = [
            line.split(" ")[0]
            for line in regard("train", "--task", "language_model", "--list-presets").out.splitlines()
        ]
        assert names
        assert names == [name for name, preset in PRESETS.items() if preset().get("task") == "language_model"]
        assert "no 'lmm'" in regard("train", "--task", "lmm", "--list-presets").err

    def test_options_are_listed_with_their_sentences(self, regard):
        lines = regard("train", "--list-options").out.splitlines()
        message = dict(zip(lines[::2], lines[1::2], strict=True))
        assert message["training.learning_rate = 0.001"] == "    The peak learning rate."
        assert message['model.decoder[luong].attention.energy = "additive"'].startswith(
            "    The energy: additive, concat, dot"
        )
        assert all(sentence.startswith("    ") and sentence.strip() for sentence in message.values())

    def test_options_have_the_values_of_the_preset_that_is_named(self, regard):
        lines = regard("train", "--preset", "characters", "--list-options").out.splitlines()
        values = configure(preset="characters")
        listed = dict(line.split(" = ", 1) for line in lines[::2])
        dropout = values.model.encoder.dropout
        assert listed["model.encoder.dropout"].split("    ")[0] == str(dropout)
        assert listed["tokenizer.source"].split("    ") == ['"char"', '(default "bpe")']
        assert listed["training.seed"] == "1", "a default is not repeated"
        kinds = {path.split("[")[1].split("]")[0] for path in listed if path.startswith("model.decoder[")}
        assert kinds == {values.model.decoder.kind}, "options of other decoders are not the preset's"
        assert not any("None" in value for value in listed.values())

    def test_options_of_a_preset_of_another_task(self, regard):
        lines = regard("train", "--preset", "classifier", "--list-options").out
        assert "tokenizer.text = " in lines
        assert "tokenizer.source" not in lines
        ended = regard("train", "--task", "tag", "--preset", "classifier", "--list-options")
        assert ended.status == 2
        assert "preset 'classifier' is for the task 'classify'" in ended.err
        assert "no 'charactres'" in regard("train", "--preset", "charactres", "--list-options").err

    def test_options_that_are_illegal_for_the_task_are_not_listed(self, regard):
        lines = regard("train", "--task", "caption", "--list-options").out.splitlines()
        listed = {line.split("[")[1].split("]")[0] for line in lines if line.startswith("model.decoder[")}
        assert listed == {"cho", "sutskever"}

    def test_one_text_has_one_tokenizer(self, regard, corpus):
        ended = regard(
            "train",
            corpus / "language_model",
            "--task",
            "language_model",
            "--train",
            corpus / "train.src",
            "--tokenizer",
            "char,word",
        )
        assert (ended.status, ended.out) == (2, "")
        assert "--tokenizer char,word: the task 'language_model' has one tokenizer" in ended.err
        assert "give char or word" in ended.err
        assert not (corpus / "language_model").exists()


class TestBadInput:
    """One message, status 2, and no folder that looks like a model."""

    def fails(self, ended, corpus, *parts):
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.splitlines()[-1].startswith("error: ")
        for part in parts:
            assert part in ended.err.splitlines()[-1]
        assert not (corpus / "model" / "regard.json").exists()

    def test_a_missing_file(self, train, corpus):
        (corpus / "train.src").rename(corpus / "train.source")
        self.fails(train(), corpus, "train.src: no such file; did you mean", "train.source?")

    def test_unequal_sides(self, train, corpus):
        (corpus / "train.tgt").write_text("A\n")
        self.fails(train(), corpus, "train.src has 60 lines and", "train.tgt has 1")

    def test_bytes_that_are_no_text(self, train, corpus):
        (corpus / "train.tgt").write_bytes(b"A\n" * 10 + b"caf\xe9\n" + b"A\n" * 49)
        self.fails(train(), corpus, "train.tgt:11: byte 0xe9", "not UTF-8", "iconv")

    def test_an_empty_corpus(self, train, corpus):
        for side in ("src", "tgt"):
            (corpus / f"train.{side}").write_text("")
        self.fails(train(), corpus, "train.src", "train.tgt: an empty corpus")

    def test_a_corpus_of_blank_lines(self, train, corpus):
        for side in ("src", "tgt"):
            (corpus / f"train.{side}").write_text("\n" * 60)
        self.fails(train(), corpus, "an empty corpus")

    def test_no_sentence_short_enough(self, train, corpus):
        (corpus / "train.src").write_text("".join(f"a b c{k}\n" for k in range(60)))
        self.fails(
            train("--set", "data.max_length=2"), corpus, "an empty corpus", "raise data.max_length (now 2)"
        )

    def test_no_data_at_all(self, train, corpus):
        self.fails(
            train(data=False), corpus, "data.train: no training pairs; name them with --train pairs.tsv"
        )

    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            (["--set", "training.max_update=3"], ["no option 'max_update'; did you mean 'max_updates'?"]),
            (["--set", "trainig.rate=3"], ["no option 'trainig'; did you mean 'training'?"]),
            (
                ["--set", "training.learning_rate"],
                ["--set training.learning_rate: write it as section.option=value"],
            ),
            (
                ["--set", "training.learning_rate=fast"],
                ["training.learning_rate: expected a number, got 'fast'"],
            ),
            (["--preset", "rnnsearch-smal"], ["did you mean 'rnnsearch-small'?"]),
            (["--tokenizer", "wrod"], ["did you mean 'word'?"]),
            (["--vocabulary", "0"], ["tokenizer.source_size: 0 is out of range"]),
            (["--updates", "0"], ["training: nothing ends the run"]),
            (["--device", "cdua"], ["did you mean 'cuda'?"]),
            (["--train", "third"], ["data.train: 3 files; give two parallel ones, or one TSV"]),
            (["--set", "model.decoder.copy=true"], ["model.decoder.copy: no token of the source", "= false"]),
            (["--columns", "0", "1", "--valid", "x"], ["--columns 0 1", "belongs to one tab-separated file"]),
        ],
    )
    def test_options(self, train, corpus, arguments, parts):
        self.fails(train(*arguments), corpus, *parts)

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("[training]\nmax_epoch = 3\n", ["no option 'max_epoch'; did you mean 'max_epochs'?"]),
            ("[modle]\n", ["no option 'modle'; did you mean 'model'?"]),
            ("[training\n", ["tiny.toml: not valid TOML"]),
            ("training = 3\n", ["training: expected a table of options, got 3"]),
            ('preset = "luong"\n', ["did you mean 'luong-small'?"]),
        ],
    )
    def test_configuration_files(self, train, corpus, text, parts):
        (corpus / "tiny.toml").write_text(text)
        self.fails(train(), corpus, *parts)

    def test_no_such_configuration_file(self, train, corpus):
        (corpus / "tiny.toml").unlink()
        self.fails(train(), corpus, "tiny.toml: no such configuration file")

    def test_a_folder_that_holds_a_model(self, train, corpus, model):
        before = {path: path.read_bytes() for path in model.rglob("*.*") if path.is_file()}
        ended = train(folder=model)
        self.fails(ended, corpus, f"{model}: holds a model already; choose another folder")
        assert {path: path.read_bytes() for path in model.rglob("*.*") if path.is_file()} == before

    def test_a_full_disk_while_a_checkpoint_is_saved(self, train, corpus, largest_file):
        """Room for all small files and not for the weights; nothing half-written stays behind."""
        with largest_file(8000):
            ended = train()
        assert (ended.status, ended.out) == (2, "")
        last = ended.err.splitlines()[-1]
        assert last.startswith(
            f"error: checkpoint not saved: {corpus}/model/checkpoints/00000010.safetensors: cannot be written ("
        )
        assert "free some space" in last
        assert last.endswith("an earlier one, if there is one, is untouched")
        assert not list((corpus / "model").glob("*.safetensors"))
        assert not list((corpus / "model").glob(".*"))


def test_the_tokenizers_are_kept_in_the_folder(train, corpus):
    train("--tokenizer", "char,bpe", "--vocabulary", 20)
    for side, file, kind in (("source", "train.src", "char"), ("target", "train.tgt", "bpe")):
        tokenizer = Tokenizer.load(corpus / "model" / f"{side}.tokenizer.json")
        assert tokenizer.kind == kind
        for line in (corpus / file).read_text().splitlines():
            assert tokenizer.decode(tokenizer.encode(line)) == line


class TestPlan:
    """Without a preset, a run is planned from its data."""

    @pytest.fixture
    def words(self, tmp_path):
        """Spelling and sound: 60 words."""
        rows = [f"{'abc'[k % 3]}{'aeiou'[k % 5]}{'dfg'[k % 3] * (1 + k % 4)}{k}" for k in range(60)]
        path = tmp_path / "words.tsv"
        path.write_text("".join(f"{word}\t{' '.join(word)}\n" for word in rows))
        return path

    def test_one_word_per_line(self, regard, tmp_path):
        path = tmp_path / "three.conll"
        path.write_text("the DT B-NP\ncat NN I-NP\n\n" * 20)
        tagger = ("train", tmp_path / "model", "--train", path, "--vertical", "--plan")
        ended = regard(*tagger, "--columns", 1, 3, "--json")
        assert ended.status == 0, ended.err
        config = json.loads(ended.out)["config"]
        assert (config["task"], config["data"]["layout"]) == ("tag", "vertical")
        assert config["data"]["columns"] == ["1", "3"]
        assert "only a model for tagging reads one word" in regard(*tagger, "--task", "classify").err

    def test_printed_alone(self, regard, words, tmp_path):
        ended = regard("train", tmp_path / "model", "--train", words, "--plan")
        assert ended.status == 0
        lines = ended.out.splitlines()
        assert lines[0].startswith("plan: 57 pairs of strings, in the same order")
        assert lines[1] == "  task: translate (two columns)"
        assert any(line.startswith("  source: characters") for line in lines)
        assert any(line.startswith("  target: words (") and "symbols" in line for line in lines)
        assert all(line.endswith(")") for line in lines[1:])  # each with its reason
        assert not (tmp_path / "model").exists()

    def test_as_json(self, regard, words, tmp_path):
        ended = regard("train", tmp_path / "model", "--train", words, "--plan", "--json")
        plan = json.loads(ended.out)
        assert plan["task"] == "translate"
        assert plan["config"]["tokenizer"]["source"] == "char"
        assert all(decision["reason"] for decision in plan["decisions"])

    def test_told_followed_and_written_so_that_it_can_be_repeated(self, regard, words, tmp_path):
        tiny = ["--set", "model.encoder.state_size=4", "--updates", 2, "--device", "cpu"]
        ended = regard("train", tmp_path / "model", "--train", words, *tiny)
        assert ended.status == 0
        assert "by hand: model.encoder.state_size = 4" in ended.err
        assert ended.err.index("plan: 57 pairs") < ended.err.index("57 training pairs")
        text = (tmp_path / "model" / "train.toml").read_text()
        assert text.startswith("# plan: 57 pairs of strings")
        run = settings(tmp_path / "model")
        assert run["tokenizer"]["source"] == "char"
        assert run["model"]["encoder"]["state_size"] == 4
        assert run["training"]["max_updates"] == 2
        again = regard("train", tmp_path / "again", "--config", tmp_path / "model" / "train.toml")
        assert again.status == 0
        assert "plan:" not in again.err
        one, other = weights(tmp_path / "model"), weights(tmp_path / "again")
        assert all(torch.equal(one[name], other[name]) for name in one)
        assert settings(tmp_path / "again") == run

    @pytest.mark.parametrize(
        ("arguments", "path", "value"),
        [
            (["--tokenizer", "bpe"], "tokenizer.target", "bpe"),
            (["--set", "training.learning_rate=0.5"], "training.learning_rate", 0.5),
            (["--epochs", 3], "training.max_epochs", 3.0),
            (["--epochs", 3], "training.max_updates", 0),
            (["--set", "training.max_epochs=3"], "training.max_updates", 0),
            (["--set", "model.decoder.kind=luong"], "model.decoder.kind", "luong"),
            (["--budget", 2], "training.max_minutes", 2.0),
        ],
    )
    def test_what_is_given_by_hand_wins(self, regard, words, tmp_path, arguments, path, value):
        ended = regard("train", tmp_path / "m", "--train", words, *arguments, "--plan", "--json")
        assert ended.status == 0, ended.err
        found = json.loads(ended.out)["config"]
        for name in path.split("."):
            found = found[name]
        assert found == value

    def test_a_preset_is_used_as_it_is(self, regard, words, tmp_path):
        ended = regard("train", tmp_path / "m", "--train", words, "--preset", "characters", "--plan")
        assert ended.status == 2
        assert "nothing is planned" in ended.err
        assert "no --preset" in " ".join(ended.err.split())
        assert (
            regard("train", tmp_path / "m", "--train", words, "--preset", "characters", "--updates", 1).status
            == 0
        )
        assert settings(tmp_path / "m")["training"]["validate_every"] == 0
        assert not (tmp_path / "m" / "train.toml").read_text().startswith("#")

    @pytest.mark.parametrize(
        ("rows", "task"),
        [
            ([f"{['good', 'bad'][k % 2]}\ttext {k} of many" for k in range(60)], "classify"),
            (["the\tDET", "dog\tNOUN", ""] * 30, "tag"),
            ([f"a line of text {k}" for k in range(60)], "language_model"),
        ],
    )
    def test_the_task_is_recognized(self, regard, tmp_path, rows, task):
        (tmp_path / "file").write_text("\n".join(rows) + "\n")
        ended = regard("train", tmp_path / "m", "--train", tmp_path / "file", "--plan", "--json")
        assert ended.status == 0, ended.err
        assert json.loads(ended.out)["task"] == task

    @pytest.mark.parametrize(
        ("content", "arguments", "parts"),
        [
            ("a\tb\tc\n" * 9, [], ["3 columns", "--columns 1 2", "--task"]),
            ("a\tb\n" * 9, ["--budget", 0], ["--budget 0", "more than 0"]),
            (
                "a\tb\n" * 9,
                ["--budget", 3, "--preset", "characters"],
                ["--budget 3", "'characters'", "--minutes"],
            ),
            ("a\tb\nc\n", [], ["1 and 2 columns", "--task"]),
        ],
    )
    def test_bad_input(self, regard, tmp_path, content, arguments, parts):
        (tmp_path / "file").write_text(content)
        ended = regard("train", tmp_path / "m", "--train", tmp_path / "file", *arguments)
        assert ended.status == 2
        for part in parts:
            assert part in " ".join(ended.err.split())
