"""Shortlists: their words and files, their training, and models that choose among them."""

import os
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.batches import pad_pairs, pad_sources
from regard.errors import ConfigError, DataError, FolderError
from regard.inference.ensemble import Ensemble
from regard.inference.packing import pack_model
from regard.inference.shortlist import Shortlist, measure_coverage, train_shortlist, with_shortlists
from regard.search.beam import search
from regard.search.forced import decode_forced
from regard.search.options import SearchOptions
from regard.text import EOS, UNK, EncodedPair


def make(target_size=20):
    """Source word 4 becomes 7 or 8, 5 becomes 9, EOS 10; 11 and 12 are frequent."""
    words = {4: [8, 7], 5: [9], EOS: [10]}
    lists = [words.get(source, []) for source in range(7)]
    offsets = np.cumsum([0, *map(len, lists)])
    return Shortlist(
        offsets, np.concatenate(lists).astype(int), np.array([11, 12]), target_size, {"pairs": 3}
    )


def test_the_union_of_its_words():
    assert make().words_for([4, 6, 4]).tolist() == [UNK, EOS, 7, 8, 10, 11, 12]
    assert make().words_for([5]).tolist() == [UNK, EOS, 9, 10, 11, 12]


def test_words_that_are_asked_for_are_on_it():
    assert make().words_for([5], [(15, 9), (16,)]).tolist() == [UNK, EOS, 9, 10, 11, 12, 15, 16]


def test_saved_and_loaded_is_equal(tmp_path):
    path = make().save(tmp_path)
    assert path == tmp_path / "shortlist.safetensors"
    again = Shortlist.load(tmp_path, 7, 20)
    assert again.facts == {"pairs": 3}
    for source in range(7):
        assert again.words_for([source]).tolist() == make().words_for([source]).tolist()


class TestBadFiles:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"words": [8, 7, 9, 20]}, "word 20 is not one of 20"),
            ({"frequent": [-1]}, "word -1 is not one of 20"),
            ({"frequent": [2**62]}, "word 4611686018427387904 is not one of 20"),
            ({"offsets": [0, 0, 0, 5, 1, 2, 3, 4]}, "the lists do not divide 4 words"),
            ({"offsets": [0, 0, 0, 0, 1, 2, 3, 99]}, "the lists do not divide 4 words"),
            ({"offsets": [-4, 0, 0, 0, 1, 2, 3, 4]}, "the lists do not divide 4 words"),
        ],
    )
    def test_ids_out_of_range(self, tmp_path, changes, message):
        arrays = {name: np.array(values, dtype=np.int64) for name, values in changes.items()}
        replace(make(), **arrays).save(tmp_path)
        with pytest.raises(FolderError, match=f"shortlist.safetensors: damaged: {message}; make it again"):
            Shortlist.load(tmp_path, 7, 20)

    @pytest.mark.parametrize("array", [np.zeros((8, 1), dtype=np.int64), np.zeros(8, dtype=np.float32)])
    def test_arrays_of_another_kind(self, tmp_path, array):
        replace(make(), offsets=array).save(tmp_path)
        with pytest.raises(FolderError, match="offsets is an array of"):
            Shortlist.load(tmp_path, 7, 20)

    def test_a_fifo(self, tmp_path):
        os.mkfifo(tmp_path / "shortlist.safetensors")
        with pytest.raises(FolderError, match="not an ordinary file"):
            Shortlist.load(tmp_path, 7, 20)

    def test_none(self, tmp_path):
        with pytest.raises(
            FolderError, match="this model has no shortlist yet; make one with `regard shortlist`"
        ):
            Shortlist.load(tmp_path, 7, 20)

    def test_damaged(self, tmp_path):
        path = make().save(tmp_path)
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(FolderError, match=r"damaged: .*make it again"):
            Shortlist.load(tmp_path, 7, 20)

    def test_of_another_model(self, tmp_path):
        make().save(tmp_path)
        with pytest.raises(
            FolderError, match="made for vocabularies of 7 and 20 words, and the model has 7 and 21"
        ):
            Shortlist.load(tmp_path, 7, 21)


def test_coverage():
    pairs = [EncodedPair([4], [7, 11]), EncodedPair([5], [9, 13, 14, 12]), EncodedPair([], [7])]
    coverage = measure_coverage(make(), pairs)
    assert (coverage.tokens, coverage.sentences, coverage.num_pairs) == (4 / 6, 1 / 2, 2)
    assert coverage.mean_size == (7 + 6) / 2
    assert coverage.to_json()["covered_tokens"] == 4 / 6


PAIRS = [
    EncodedPair([4, 5, 6], [8, 7]),
    EncodedPair([], [4]),
    EncodedPair([5], [6, 6, 4]),
    EncodedPair([7, 8], [5]),
    EncodedPair([4], []),
    EncodedPair([6, 6, 8, 4], [4, 8, 8]),
]


@pytest.fixture
def model(tiny_model):
    return tiny_model("bahdanau")


def plainly(model, least=0.1):
    """Σ alpha between words, pair by pair and cell by cell."""
    mass = {}
    for pair in PAIRS:
        if not (pair.source_ids and pair.target_ids):
            continue
        (read,) = decode_forced(model, pad_pairs([pair]))
        for i, target in enumerate(pair.target_ids):
            for j, source in enumerate([*pair.source_ids, EOS]):
                if read.alpha[i, j] >= least:
                    mass[source, target] = mass.get((source, target), 0.0) + float(read.alpha[i, j])
    return mass


def own(shortlist, source):
    return shortlist.words[shortlist.offsets[source] : shortlist.offsets[source + 1]].tolist()


@pytest.mark.parametrize("per_word", [1, 2, 50])
def test_each_source_word_has_the_words_that_looked_at_it_most(model, per_word):
    mass = plainly(model)
    made = train_shortlist(model, PAIRS, 9, 9, per_word=per_word, frequent=0, batch_sentences=2)
    assert made.source_size == 9
    for source in range(9):
        ranked = sorted((-weight, target) for (s, target), weight in mass.items() if s == source)
        assert own(made, source) == [target for _, target in ranked[:per_word]]
    assert made.facts == {"pairs": 4, "per_word": per_word, "frequent": 0}


def test_the_most_frequent_words_are_everyone_s(model):
    counts = np.bincount([w for p in PAIRS if p.source_ids for w in p.target_ids], minlength=9)
    wanted = sorted(sorted(range(9), key=lambda w: (-counts[w], w))[:2])
    assert train_shortlist(model, PAIRS, 9, 9, frequent=2).frequent.tolist() == wanted
    everyone = train_shortlist(model, PAIRS, 9, 9, frequent=99).frequent.tolist()
    assert everyone == np.flatnonzero(counts).tolist(), "words that were never met are nobody's"


def test_batches_change_nothing(model):
    one, other = (train_shortlist(model, PAIRS, 9, 9, batch_sentences=size) for size in (1, 64))
    assert one.words.tolist() == other.words.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()


def test_weights_that_are_added_up_on_the_way(model, monkeypatch):
    whole = train_shortlist(model, PAIRS, 9, 9)
    monkeypatch.setattr("regard.inference.shortlist._MOST_PENDING", 3)
    parts = train_shortlist(model, PAIRS, 9, 9)
    assert parts.words.tolist() == whole.words.tolist()


def test_the_listener_hears_of_each_pair(model):
    heard = []
    train_shortlist(model, PAIRS, 9, 9, listener=heard.append)
    assert sorted(heard) == [1, 2, 3, 3]


def test_refusals(model):
    with pytest.raises(DataError, match="no pairs to make a shortlist from"):
        train_shortlist(model, [], 9, 9)
    with pytest.raises(ConfigError, match="per_word: 0 is out of range"):
        train_shortlist(model, PAIRS, 9, 9, per_word=0)


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
