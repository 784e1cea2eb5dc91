import json

import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, DataError, FolderError
from regard.inference.averaging import average_folders
from regard.models import ModelConfig, Seq2Seq
from regard.tasks.translate.predictor import Translator
from regard.text import train_tokenizer

STACK = {"embedding_size": 4, "state_size": 2, "num_layers": 1}


def make(path, seed=1, source="a b c d e", kind="word", weights=("best", "last"), **decoder):
    """A folder with random models in it."""
    tokenizers = {
        "source": train_tokenizer(kind, [source], size=30),
        "target": train_tokenizer("word", ["A B C D"], size=30),
    }
    sizes = {name: tokenizer.size for name, tokenizer in tokenizers.items()}
    plain = {"encoder": STACK, "decoder": {**STACK, "kind": "bahdanau", "readout_size": 4, **decoder}}
    config = ModelConfig.from_mapping(plain, "model")
    folder = ModelFolder(path)
    folder.create("translate", config, tokenizers, sizes=sizes)
    for place, name in enumerate(weights):
        torch.manual_seed(100 * seed + place)
        folder.write_weights(
            name, Seq2Seq(config, **{f"{k}_size": v for k, v in sizes.items()}), {"update": place}
        )
    return folder


def parameters(folder, weights="best"):
    return dict(ModelFolder(folder).load(weights).model.named_parameters())


def mean(*each):
    return {name: sum(one[name].double() for one in each) / len(each) for name in each[0]}


def agree(one, other):
    for name, value in one.items():
        assert torch.equal(value, other[name].to(value.dtype)), name


def test_several_folders(tmp_path):
    parts = [make(tmp_path / str(seed), seed).path for seed in (1, 2, 3)]
    made = average_folders(tmp_path / "mean", parts)
    agree(parameters(tmp_path / "mean"), mean(*map(parameters, parts)))
    assert made.folder == tmp_path / "mean"
    assert made.num_parameters == ModelFolder(parts[0]).load().model.num_parameters


def test_best_and_last_of_one(tmp_path):
    make(tmp_path / "run")
    average_folders(tmp_path / "mean", [tmp_path / "run"], weights=["best", "last", "best"])
    wanted = mean(parameters(tmp_path / "run"), parameters(tmp_path / "run", "last"))
    agree(parameters(tmp_path / "mean"), wanted)


def test_it_is_an_ordinary_folder_that_says_what_it_was_made_of(tmp_path):
    make(tmp_path / "run")
    average_folders(tmp_path / "mean", [tmp_path / "run"], weights=["best", "last"])
    translator = Translator.load(tmp_path / "mean")
    assert translator.translate(["a b"])[0].tokens
    parts = [
        {"folder": str(tmp_path / "run"), "weights": name, "update": k}
        for k, name in enumerate(["best", "last"])
    ]
    assert translator.facts == {"averaged": parts}
    assert json.loads((tmp_path / "mean" / "regard.json").read_text()) == json.loads(
        (tmp_path / "run" / "regard.json").read_text()
    )


def test_what_matters_only_while_training_may_differ(tmp_path):
    make(tmp_path / "a")
    make(tmp_path / "b", 2, dropout=0.4)
    assert average_folders(tmp_path / "mean", [tmp_path / "a", tmp_path / "b"])


class TestRefused:
    def pair(self, tmp_path, **other):
        make(tmp_path / "a")
        make(tmp_path / "b", 2, **other)
        return average_folders(tmp_path / "mean", [tmp_path / "a", tmp_path / "b"])

    def test_another_architecture(self, tmp_path):
        with pytest.raises(
            ConfigError, match=r"model.decoder.readout_size: 4 in .*/a and 6 in .*/b; only models of"
        ):
            self.pair(tmp_path, readout_size=6)

    def test_another_function_of_the_same_shapes(self, tmp_path):
        with pytest.raises(
            ConfigError, match=r"model.decoder.attention.normalizer: softmax in .* and sparsemax in"
        ):
            self.pair(tmp_path, attention={"normalizer": "sparsemax"})

    @pytest.mark.parametrize(
        ("other", "difference"),
        [
            ({"source": "a b c d f"}, "token 8 is 'e' and 'f'"),
            ({"source": "a b c"}, "9 and 7 tokens"),
            ({"source": "abcd", "kind": "char"}, "word and char"),
        ],
    )
    def test_other_vocabularies(self, tmp_path, other, difference):
        with pytest.raises(ConfigError) as caught:
            self.pair(tmp_path, **other)
        assert (
            f"/a and {tmp_path}/b: their source tokenizers differ ({difference}); only models that share"
            in str(caught.value)
        )
        assert not (tmp_path / "mean").exists()

    def test_one_checkpoint(self, tmp_path):
        make(tmp_path / "a")
        with pytest.raises(
            ConfigError, match="1 checkpoint to average; name several folders, or both weights"
        ):
            average_folders(tmp_path / "mean", [tmp_path / "a"])

    def test_a_folder_that_holds_a_model(self, tmp_path):
        make(tmp_path / "a")
        with pytest.raises(DataError, match="a: holds a model already"):
            average_folders(tmp_path / "a", [tmp_path / "a"], weights=["best", "last"])

    def test_weights_that_are_not_there(self, tmp_path):
        make(tmp_path / "a", weights=["best"])
        with pytest.raises(FolderError, match="no such weights; there are weights named 'best'"):
            average_folders(tmp_path / "mean", [tmp_path / "a"], weights=["best", "last"])
