"""Ensembles of models, and the average of models and of model folders."""

import json

import pytest
import torch

from regard.batches import pad_pairs, pad_sources
from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, DataError, FolderError
from regard.inference.ensemble import Ensemble, average_folders, average_models
from regard.models import ModelConfig, Seq2Seq
from regard.search.beam import search
from regard.search.forced import decode_forced
from regard.search.options import SearchOptions
from regard.tasks.translate.predictor import Translator
from regard.text import EncodedPair, train_tokenizer

SOURCES = [[4, 5, 6], [7], [8, 8, 5, 4, 6]]
CLOSE = {"rtol": 0, "atol": 1e-12}  # float64, a few thousand roundings


def members(tiny_model, *kinds):
    """Models that think differently, though `tiny_model` draws all alike."""
    made = [tiny_model(kind) for kind in kinds]
    with torch.no_grad():
        for factor, model in zip((1.0, 0.6, -0.8), made, strict=False):
            for parameter in model.parameters():
                parameter.mul_(factor)
    return made


def read(model, source=SOURCES):
    batch = pad_sources(source)
    return model.encode(batch.source_ids, batch.source_mask)


@torch.no_grad()
def stepped(model, words=(4, 6)):
    """What a model says after some words, and where it looks."""
    encoded = read(model)
    state, output = model.decoder.initial_state(encoded), None
    for word in (2, *words):
        output = model.decoder.step(torch.full((len(SOURCES),), word), state, encoded)
        state = output.state
    return output


class TestAStep:
    def test_is_the_mean_of_the_probabilities(self, tiny_model):
        models = members(tiny_model, "bahdanau", "luong", "cho")
        wanted = torch.stack([stepped(model).logits.softmax(-1) for model in models]).mean(0)
        said = stepped(Ensemble(models)).logits
        torch.testing.assert_close(said.exp(), wanted, **CLOSE)
        torch.testing.assert_close(said.exp().sum(-1), torch.ones(3, dtype=torch.double), **CLOSE)

    def test_log_linear_is_their_geometric_mean(self, tiny_model):
        models = members(tiny_model, "bahdanau", "luong")
        geometric = torch.stack([stepped(model).logits.softmax(-1) for model in models]).prod(0).sqrt()
        said = stepped(Ensemble(models, "log-linear")).logits
        torch.testing.assert_close(said.exp(), geometric / geometric.sum(-1, keepdim=True), **CLOSE)

    def test_alpha_is_the_mean_over_those_that_attend(self, tiny_model):
        models = members(tiny_model, "bahdanau", "cho", "luong")
        wanted = (stepped(models[0]).alpha + stepped(models[2]).alpha) / 2
        torch.testing.assert_close(stepped(Ensemble(models)).alpha, wanted, **CLOSE)

    def test_no_alpha_where_none_attends(self, tiny_model):
        assert stepped(Ensemble(members(tiny_model, "cho", "sutskever"))).alpha is None


class TestSearch:
    @pytest.mark.parametrize("combination", ["mean", "log-linear"])
    @pytest.mark.parametrize("beam", [1, 4])
    def test_one_model_three_times_is_that_model(self, tiny_model, combination, beam):
        model = tiny_model("bahdanau")
        options = SearchOptions(beam=beam, n_best=beam)
        alone = search(model.decoder, read(model), options)
        together = Ensemble([model] * 3, combination)
        for one, other in zip(alone, search(together.decoder, read(together), options), strict=True):
            for mine, theirs in zip(one.hypotheses, other.hypotheses, strict=True):
                assert mine.ids == theirs.ids
                assert mine.score == pytest.approx(theirs.score, abs=1e-12)

    def test_company_changes_nothing(self, tiny_model):
        together = Ensemble(members(tiny_model, "bahdanau", "luong", "cho"))
        options = SearchOptions(beam=3, n_best=3)
        for source, found in zip(SOURCES, search(together.decoder, read(together), options), strict=True):
            (alone,) = search(together.decoder, read(together, [source]), options)
            assert [h.ids for h in alone.hypotheses] == [h.ids for h in found.hypotheses]
            for one, other in zip(alone.hypotheses, found.hypotheses, strict=True):
                assert one.score == pytest.approx(other.score, abs=1e-10)

    def test_what_is_found_has_the_score_that_forced_decoding_gives(self, tiny_model):
        together = Ensemble(members(tiny_model, "bahdanau", "luong"))
        for source, found in zip(SOURCES, search(together.decoder, read(together)), strict=True):
            (again,) = decode_forced(together, pad_pairs([EncodedPair(source, list(found.best.ids[:-1]))]))
            assert again.log_prob == pytest.approx(found.best.log_prob, abs=1e-10)
            torch.testing.assert_close(
                torch.tensor(again.alpha), torch.tensor(found.best.alpha), rtol=0, atol=1e-6
            )


def test_every_member_can_be_told_where_to_look(tiny_model):
    together = Ensemble(members(tiny_model, "bahdanau", "luong"))
    encoded = read(together).with_forced_attention(torch.tensor([1, 0, -1]))
    state = together.decoder.initial_state(encoded)
    alpha = together.decoder.step(torch.full((3,), 2), state, encoded).alpha
    assert alpha[0].tolist() == [0, 1, 0, 0, 0, 0]
    assert alpha[1].tolist() == [1, 0, 0, 0, 0, 0]
    assert 0 < alpha[2, 0] < 1


def test_none_and_misnamed(tiny_model):
    with pytest.raises(ConfigError, match="an ensemble without models"):
        Ensemble([])
    with pytest.raises(ConfigError, match="combination: no 'maen'; did you mean 'mean'"):
        Ensemble([tiny_model()], "maen")


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
        with pytest.raises(DataError, match="a: there is a model already"):
            average_folders(tmp_path / "a", [tmp_path / "a"], weights=["best", "last"])

    def test_weights_that_are_not_there(self, tmp_path):
        make(tmp_path / "a", weights=["best"])
        with pytest.raises(FolderError, match="no such weights; there are weights named 'best'"):
            average_folders(tmp_path / "mean", [tmp_path / "a"], weights=["best", "last"])


def test_every_parameter_is_the_mean(tiny_model):
    kinds = [tiny_model("bahdanau") for _ in range(3)]
    with torch.no_grad():
        for factor, each in enumerate(kinds, start=1):
            for value in each.parameters():
                value.mul_(factor**2)
    before = [{name: value.clone() for name, value in each.named_parameters()} for each in kinds]
    made = average_models(iter(kinds))
    assert made is kinds[0]
    for name, value in made.named_parameters():
        wanted = torch.stack([each[name].double() for each in before]).sum(0) / 3
        torch.testing.assert_close(value.double(), wanted, rtol=0, atol=1e-15)  # one rounding
    assert any(not torch.equal(value, before[0][name]) for name, value in made.named_parameters())
    for name, value in kinds[1].named_parameters():
        assert torch.equal(value, before[1][name]), "the others stay as they are"


def test_the_sums_are_float64():
    """In float32 the small one would be lost beside the great ones, and with it the whole mean."""
    models = [torch.nn.Linear(1, 1, bias=False) for _ in range(3)]
    with torch.no_grad():
        for model, value in zip(models, (2.0**30, 3.0, -(2.0**30)), strict=True):
            model.weight.fill_(value)
    assert average_models(models).weight.item() == 1.0


def test_a_model_is_its_own_mean(tiny_model):
    models = [tiny_model("luong").float() for _ in range(7)]
    wanted = {name: value.clone() for name, value in models[0].named_parameters()}
    for name, value in average_models(models).named_parameters():
        assert torch.equal(value, wanted[name])


def test_what_is_measured_is_averaged_too():
    models = [torch.nn.BatchNorm1d(2) for _ in range(2)]
    models[1].running_mean.fill_(4.0)
    assert average_models(models).running_mean.tolist() == [2.0, 2.0]


def test_another_shape(tiny_model):
    with pytest.raises(
        ConfigError, match=r"weight: \(2, 3\) in the first model and \(2, 4\) in number 2; only"
    ):
        average_models([torch.nn.Linear(3, 2), torch.nn.Linear(4, 2)])
    with pytest.raises(ConfigError, match=r"bias: \(2,\) in the first model and missing in number 2"):
        average_models([torch.nn.Linear(3, 2), torch.nn.Linear(3, 2, bias=False)])


def test_none():
    with pytest.raises(ConfigError, match="no models to average"):
        average_models([])
