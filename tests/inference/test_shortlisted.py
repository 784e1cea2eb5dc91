import numpy as np
import pytest
import torch

from regard.batches import pad_sources
from regard.inference.ensemble import Ensemble
from regard.inference.packing import pack_model
from regard.inference.shortlist import with_shortlists
from regard.search.beam import search
from regard.search.options import SearchOptions
from regard.text import EOS

SOURCES = [[4, 5, 6], [7], [8, 8, 5, 4, 6]]
LISTS = [np.array(ids) for ids in ([1, EOS, 4, 7], [1, EOS, 5, 8], [EOS, 4, 5, 6, 7, 8])]
KINDS = ["bahdanau", "luong", "cho", "sutskever"]


def searched(model, sources=SOURCES, **options):
    batch = pad_sources(sources)
    encoded = model.encode(batch.source_ids, batch.source_mask)
    return search(model.decoder, encoded, SearchOptions(**options))


def found(model, lists, sources=SOURCES, **options):
    return searched(with_shortlists(model, lists, "cpu"), sources, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_all_words_changes_nothing(tiny_model, kind):
    model = pack_model(tiny_model(kind))
    for one, other in zip(found(model, [np.arange(9)] * 3), searched(model), strict=True):
        assert one.best.ids == other.best.ids
        assert one.best.log_prob == pytest.approx(other.best.log_prob, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_word_that_is_not_on_the_sentence_s_own_list(tiny_model, kind):
    for own, each in zip(LISTS, found(pack_model(tiny_model(kind)), LISTS, beam=4, n_best=4), strict=True):
        for hypothesis in each.hypotheses:
            assert set(hypothesis.ids) <= set(own.tolist())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_company_changes_nothing(tiny_model, kind, dtype):
    """Though the batch's output layer has the words of every list; in float32 by the kernels."""
    model = pack_model(tiny_model(kind).to(dtype))
    for source, own, each in zip(SOURCES, LISTS, found(model, LISTS, beam=3), strict=True):
        (alone,) = found(model, [own], [source], beam=3)
        assert alone.best.ids == each.best.ids
        assert alone.best.log_prob == pytest.approx(each.best.log_prob, abs=1e-5)


def test_probabilities_are_among_the_list_s_words(tiny_model):
    model = tiny_model()
    batch = pad_sources(SOURCES)
    short = with_shortlists(model, LISTS, "cpu")
    words = short.decoder.words.tolist()
    with torch.no_grad():
        steps = []
        for each in (short, model):
            encoded = each.encode(batch.source_ids, batch.source_mask)
            state = each.decoder.initial_state(encoded)
            steps.append(each.decoder.step(torch.full((3,), 2), state, encoded).logits)
    for b, own in enumerate(LISTS):
        columns = [words.index(word) for word in own.tolist()]
        got = steps[0][b].softmax(-1)[columns]
        wanted = steps[1][b, own.tolist()].softmax(-1)
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-12)
        assert got.sum().item() == pytest.approx(1, abs=1e-12)


def test_an_ensemble(tiny_model):
    models = [pack_model(tiny_model(kind)) for kind in ("bahdanau", "luong")]
    together = found(Ensemble(models), LISTS, beam=3, n_best=3)
    for own, each in zip(LISTS, together, strict=True):
        assert all(set(hypothesis.ids) <= set(own.tolist()) for hypothesis in each.hypotheses)
    for one, other in zip(
        found(Ensemble(models), [np.arange(9)] * 3), searched(Ensemble(models)), strict=True
    ):
        assert one.best.ids == other.best.ids
