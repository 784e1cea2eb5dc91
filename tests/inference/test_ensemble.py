import pytest
import torch

from regard.batches import pad_pairs, pad_sources
from regard.errors import ConfigError
from regard.inference.ensemble import Ensemble
from regard.search.beam import search
from regard.search.forced import decode_forced
from regard.search.options import SearchOptions
from regard.text import EncodedPair

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
