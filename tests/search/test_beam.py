"""Beam search: by hand, against greedy, against forced decoding, and against every output there is."""

import math
import random
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.batches import pad_pairs, pad_sources
from regard.errors import ConfigError
from regard.search.beam import search
from regard.search.forced import decode_forced
from regard.search.options import SearchOptions
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS, PAD, UNK

A, B, C = 4, 5, 6
SOURCES = [[4, 5, 6, 7], [8], [], [5, 5, 7]]
KINDS = {
    "bahdanau": {"kind": "bahdanau"},
    "bahdanau-deep": {
        "kind": "bahdanau",
        "cell": "lstm",
        "attention": {"energy": "bilinear"},
        "num_layers": 2,
    },
    "luong": {"kind": "luong", "input_feeding": False},
    "luong-feeding": {"kind": "luong", "cell": "lstm", "num_layers": 2},
    "cho": {"kind": "cho", "cell": "gru-torch"},
    "sutskever": {"kind": "sutskever", "cell": "rnn"},
    "bahdanau-lstmn": {"kind": "bahdanau", "cell": "lstmn"},
    "luong-rnn-read": {
        "kind": "luong",
        "cell": "rnn-read",
        "num_layers": 2,
        "memory": {"size": 3, "span": 2},
    },
    "cho-rnn-sum": {"kind": "cho", "cell": "rnn-sum"},
    "sutskever-rnn-sum-keep": {"kind": "sutskever", "cell": "rnn-sum-keep"},
    "deep-fusion": {
        "kind": "deep-fusion",
        "cell": "lstmn",
        "encoder": {"bidirectional": False, "state_size": 4},
    },
}
every_kind = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS.keys())
every_power = pytest.mark.parametrize("length_power", [0.0, 0.6, 1.0])
TIGHT = {"max_ratio": 1.0, "max_extra": 3}


def beam(decoder, encoded, *, width, **options):
    found = search(decoder, encoded, SearchOptions(width, **options))
    return [list(each.hypotheses) for each in found]


def encode(model, sources):
    batch = pad_sources(sources)
    return model.encode(batch.source_ids, batch.source_mask)


def same(one, other):
    """Equal hypotheses, up to the rounding of float32 sums."""
    assert [h.ids for h in one] == [h.ids for h in other]
    for ours, theirs in zip(one, other, strict=True):
        assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-5)
        assert ours.score == pytest.approx(theirs.score, abs=1e-5)
        assert ours.token_log_probs == pytest.approx(theirs.token_log_probs, abs=1e-5)
        if ours.alpha is None:
            assert theirs.alpha is None
        else:
            np.testing.assert_allclose(ours.alpha, theirs.alpha, atol=1e-6)


SCRIPT = {
    (): {A: 0.6, B: 0.4},
    (A,): {A: 0.5, EOS: 0.3, C: 0.2},
    (A, A): {EOS: 0.9, A: 0.1},
    (B,): {EOS: 1.0},
}


class TestByHand:
    def test_two_beginnings_find_what_greedy_misses(self, scripted):
        decoder = scripted([SCRIPT])
        ((best, second),) = beam(decoder, decoder.encode([4]), width=2, n_best=2, length_power=0)
        assert best.ids == (B, EOS)
        assert best.log_prob == pytest.approx(math.log(0.4))
        assert second.ids == (A, A, EOS)
        assert second.log_prob == pytest.approx(math.log(0.6 * 0.5 * 0.9))

    def test_the_length_penalty_turns_the_order_round(self, scripted):
        decoder = scripted([SCRIPT])
        # per token: log 0.27 / 3 > log 0.4 / 2
        ((best, second),) = beam(decoder, decoder.encode([4]), width=2, n_best=2, length_power=1)
        assert best.ids == (A, A, EOS)
        assert best.score == pytest.approx(math.log(0.27) / 3)
        assert second.ids == (B, EOS)
        assert second.score == pytest.approx(math.log(0.4) / 2)

    def test_a_finished_hypothesis_takes_its_place_in_the_beam(self, scripted):
        """K alive and finished together: after one end, a beam of two goes on with one."""
        script = {
            (): {EOS: 0.5, A: 0.3, B: 0.2},
            (A,): {A: 0.51, B: 0.49},
            (A, A): {EOS: 0.2, C: 0.8},
        }
        decoder = scripted([script])
        (found,) = beam(decoder, decoder.encode([4]), width=2, n_best=2, length_power=0)
        # (A, B, EOS) is likelier than (A, A, C, EOS), but its beginning found no place
        assert [h.ids for h in found] == [(EOS,), (A, A, C, EOS)]

    def test_each_hypothesis_has_its_own_attention(self, scripted):
        decoder = scripted([SCRIPT])
        ((best, second),) = beam(decoder, decoder.encode([4]), width=2, n_best=2, length_power=1)
        assert best.alpha.argmax(axis=1).tolist() == [0, 1, 2]
        assert second.alpha.argmax(axis=1).tolist() == [0, 1]

    def test_padding_and_the_begin_mark_are_never_chosen(self, scripted):
        decoder = scripted([{(): {PAD: 0.5, BOS: 0.3, B: 0.11, C: 0.09}}])
        (found,) = beam(decoder, decoder.encode([2]), width=2, n_best=2)
        assert [h.ids for h in found] == [(B, EOS), (C, EOS)]

    def test_each_sentence_keeps_its_own_limit(self, scripted):
        endless = {tuple([A] * k): {A: 0.9, EOS: 0.1} for k in range(30)}
        decoder = scripted([endless, endless])
        found = beam(decoder, decoder.encode([2, 5]), width=1, max_ratio=2, max_extra=1)
        assert [len(each[0].ids) for each in found] == [3, 9]
        (one,), (other,) = beam(decoder, decoder.encode([2, 5]), width=3, max_ratio=0, max_extra=1)
        assert one.ids == other.ids == (EOS,)
        assert one.log_prob == pytest.approx(math.log(0.1))

    def test_a_sentence_with_fewer_outputs_than_asked_for_gives_fewer(self, scripted):
        decoder = scripted([{}])
        (found,) = beam(decoder, decoder.encode([2]), width=5, n_best=5, max_ratio=0, max_extra=1)
        assert [h.ids for h in found] == [(EOS,)]

    def test_finished_sentences_leave_the_batch(self, scripted):
        scripts = [{(): {EOS: 1.0}}, {(): {A: 1.0}, (A,): {A: 1.0}, (A, A): {A: 1.0}}]
        decoder = scripted(scripts)
        found = beam(decoder, decoder.encode([2, 6]), width=2, length_power=0)
        assert [each[0].ids for each in found] == [(EOS,), (A, A, A, EOS)]
        assert decoder.steps == [2, 2, 2, 2], "two sentences of one slot, then one sentence of two"


def test_the_score_and_alpha_are_those_of_forced_decoding(grid_model):
    encoded = encode(grid_model, SOURCES)
    found = beam(grid_model.decoder, encoded, width=4, n_best=4, length_power=0.6, **TIGHT)
    narrow = beam(grid_model.decoder, encoded, width=1, length_power=0.6, **TIGHT)
    for each, one in zip(found, narrow, strict=True):
        assert len(each) == 4
        each += one
    pairs = [
        EncodedPair(source, list(one.ids[:-1]))
        for source, each in zip(SOURCES, found, strict=True)
        for one in each
    ]
    same(
        [one for each in found for one in each], decode_forced(grid_model, pad_pairs(pairs), length_power=0.6)
    )


@pytest.mark.parametrize(("length_power", "n_best"), [(0.0, 2), (0.6, 13)])
def test_a_beam_as_wide_as_the_space_is_exhaustive(
    length_power, n_best, grid_options, tiny_model, all_outputs
):
    """A vocabulary of six, at most three tokens: 13 outputs, each scored by forced decoding."""
    model = tiny_model(**grid_options, target_size=6)
    outputs = all_outputs([4, 5], 3)
    assert len(outputs) == len(set(outputs)) == 13
    sources = SOURCES[:2]
    pairs = [EncodedPair(source, list(ids[:-1])) for source in sources for ids in outputs]
    scored = decode_forced(model, pad_pairs(pairs), length_power=length_power)
    found = beam(
        model.decoder,
        encode(model, sources),
        width=13,
        n_best=n_best,
        max_ratio=0,
        max_extra=3,
        length_power=length_power,
    )
    for each, whole in zip(found, (scored[:13], scored[13:]), strict=True):
        same(each, sorted(whole, key=lambda h: -h.score)[:n_best])


def random_script(rng: random.Random, words: list[int], depth: int):
    """Probabilities for every prefix up to a depth."""
    script, level = {}, [()]
    for _ in range(depth):
        for prefix in level:
            weights = [rng.random() ** 3 for _ in [UNK, EOS, *words]]
            script[prefix] = dict(zip([UNK, EOS, *words], (w / sum(weights) for w in weights), strict=True))
        level = [(*prefix, word) for prefix in level for word in [UNK, *words]]
    return script


def log_prob(script, ids):
    return sum(math.log(script[ids[:k]][ids[k]]) for k in range(len(ids)))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.6, 1.0, 1.7]), st.integers(1, 40))
def test_full_width_over_random_scripts_is_enumeration(scripted, all_outputs, seed, length_power, n_best):
    rng = random.Random(seed)
    scripts = [random_script(rng, [A, B], 4) for _ in range(2)]
    decoder = scripted(scripts, vocabulary_size=6)
    found = beam(
        decoder,
        decoder.encode([2, 3]),
        width=40,
        n_best=n_best,
        max_ratio=0,
        max_extra=4,
        length_power=length_power,
    )
    for script, each in zip(scripts, found, strict=True):
        scores = {ids: log_prob(script, ids) / len(ids) ** length_power for ids in all_outputs([A, B], 4)}
        # in single precision near ties may change places; scores may not
        assert [h.score for h in each] == pytest.approx(sorted(scores.values())[::-1][:n_best], abs=1e-5)
        for h in each:
            assert h.score == pytest.approx(scores[h.ids], abs=1e-5)


@every_kind
def test_n_best_lists_are_sorted_and_distinct(options, tiny_model):
    model = tiny_model(**options)
    for each in beam(model.decoder, encode(model, SOURCES), width=5, n_best=5, **TIGHT):
        assert len(each) == 5
        assert len({h.ids for h in each}) == 5
        scores = [h.score for h in each]
        assert scores == sorted(scores, reverse=True)
        for h in each:
            assert h.ids[-1] == EOS
            assert not {PAD, BOS, EOS} & set(h.ids[:-1])


@every_kind
def test_neither_company_nor_order_changes_what_is_found(options, tiny_model):
    model = tiny_model(**options)
    together = beam(model.decoder, encode(model, SOURCES), width=3, n_best=2)
    for source, each in zip(SOURCES, together, strict=True):
        (alone,) = beam(model.decoder, encode(model, [source]), width=3, n_best=2)
        same(each, alone)
    backwards = beam(model.decoder, encode(model, SOURCES[::-1]), width=3, n_best=2)
    for each, other in zip(together, backwards[::-1], strict=True):
        same(each, other)


def without_the_bound(monkeypatch):
    """Search on until no hypothesis lives."""
    module = import_module("regard.search.beam")

    class Patient(module.FinishedHypotheses):
        def add(self, b, end):
            super().add(b, end)
            self.needed[b] = float("-inf")

    monkeypatch.setattr(module, "FinishedHypotheses", Patient)


@every_kind
@every_power
def test_stopping_early_never_changes_the_n_best(options, length_power, tiny_model, monkeypatch):
    model = tiny_model(**options)
    encoded = encode(model, SOURCES)
    arguments = [{"width": 4, "n_best": n, **TIGHT, "length_power": length_power} for n in (1, 2, 4)]
    early = [beam(model.decoder, encoded, **each) for each in arguments]
    without_the_bound(monkeypatch)
    late = [beam(model.decoder, encoded, **each) for each in arguments]
    for ours, theirs in zip(early, late, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)


def test_stopping_early_does_stop(scripted, monkeypatch):
    script = {tuple([A] * k): {A: 0.2, EOS: 0.8} for k in range(30)}
    decoder = scripted([script])
    beam(decoder, decoder.encode([6]), width=3, length_power=0)
    early = len(decoder.steps)
    decoder.steps.clear()
    without_the_bound(monkeypatch)
    beam(decoder, decoder.encode([6]), width=3, length_power=0)
    assert early == 1
    assert len(decoder.steps) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0}, "beam: 0 is out of range"),
        ({"width": 2, "n_best": 3}, "n_best: 3 is more than the beam, 2"),
        ({"width": 2, "n_best": 0}, "n_best: 0"),
        ({"width": 2, "length_power": -1}, "length_power: -1"),
    ],
)
def test_illegal_widths_are_refused(arguments, message, scripted):
    decoder = scripted([{}])
    with pytest.raises(ConfigError, match=message):
        beam(decoder, decoder.encode([1]), **arguments)
