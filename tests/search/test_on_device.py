"""A search that stays on its device finds what the one on the host does, eagerly and with its steps captured."""

import gc
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.batches import pad_sources
from regard.errors import ConfigError, DataError
from regard.inference.ensemble import Ensemble
from regard.inference.shortlist import with_shortlists
from regard.ops import explain
from regard.ops.paths import naive_only
from regard.search import graphs as module
from regard.search.beam import search, search_on_host
from regard.search.constraints import TokenConstraints
from regard.search.frame import STEPS
from regard.search.graphs import Graphs, no_garbage_collection
from regard.search.on_device import ASK_EVERY, MOST_BEAM, DeviceSearch, refuses
from regard.search.options import SearchOptions
from regard.text.specials import BOS, EOS, PAD, UNK

SOURCES = [[4, 5, 6, 7], [8], [], [5, 5, 7], [4, 4]]
KINDS = {
    "bahdanau": {"kind": "bahdanau"},
    "bahdanau-covering": {"kind": "bahdanau", "attention": {"coverage": True}},
    "luong": {"kind": "luong", "cell": "lstm", "num_layers": 2},
    "luong-local": {"kind": "luong", "attention": {"window": "local-m", "window_size": 1}},
    "cho": {"kind": "cho", "cell": "gru-torch"},
    "sutskever": {"kind": "sutskever", "cell": "rnn"},
    "bahdanau-lstmn": {"kind": "bahdanau", "cell": "lstmn"},
    "hard-monotonic": {"kind": "hard-monotonic"},
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


class Captures:
    """Stands for CUDA's capture: a step is called again, over the tensors it was captured with."""

    def __init__(self):
        self.count = 0

    def __call__(self, step):
        self.count += 1
        return step


@torch.inference_mode()
def on_device(decoder, encoded, options, capture=None):
    """Eagerly, or by captured steps."""
    if capture is None:
        return DeviceSearch(decoder, encoded, options).run()
    with Graphs(decoder, capture) as mine:
        return DeviceSearch(decoder, encoded, options, mine).run()


def encode(model, sources):
    batch = pad_sources(sources)
    return model.encode(batch.source_ids, batch.source_mask)


def same(ours, theirs):
    """Equal hypotheses; products of other numbers of rows may round differently."""
    for one, other in zip(ours, theirs, strict=True):
        assert [h.ids for h in one.hypotheses] == [h.ids for h in other.hypotheses]
        for h, expected in zip(one.hypotheses, other.hypotheses, strict=True):
            assert h.log_prob == pytest.approx(expected.log_prob, rel=1e-11, abs=1e-11)
            assert h.score == pytest.approx(expected.score, rel=1e-11, abs=1e-11)
            assert h.token_log_probs == pytest.approx(expected.token_log_probs, rel=1e-11, abs=1e-11)
            assert (h.alpha is None) == (expected.alpha is None)
            if h.alpha is not None:
                assert h.alpha.dtype == expected.alpha.dtype
                np.testing.assert_allclose(h.alpha, expected.alpha, atol=1e-6)


def check(decoder, encoded, options):
    expected = search_on_host(decoder, encoded, options)
    same(on_device(decoder, encoded, options), expected)
    same(on_device(decoder, encoded, options, Captures()), expected)


OPTIONS = {
    "greedy": SearchOptions(1),
    "n best": SearchOptions(5, 5),
    "wu": SearchOptions(4, 2, length_power=0.6, length_penalty="wu", max_extra=40),
    "at least 3": SearchOptions(3, 1, length_penalty="none", min_length=3, unknowns=False),
    "wider than the vocabulary": SearchOptions(12, 12, max_ratio=0, max_extra=4),
}


@every_kind
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_models_of_every_kind(kind, options, tiny_model):
    model = tiny_model(**kind)
    check(model.decoder, encode(model, SOURCES), options)


def test_coverage_and_the_shares_of_the_source(network):
    decoder = network(5)
    for options in (SearchOptions(4, 3, coverage=0.3), SearchOptions(3, min_ratio=0.7, max_ratio=0.9)):
        check(decoder, decoder.encode([7, 1, 3, 5]), options)


@settings(max_examples=60)
@given(st.data())
def test_any_options(network, data):
    decoder = network(data.draw(st.integers(0, 10**6)))
    beam = data.draw(st.integers(1, 7))
    options = SearchOptions(
        beam,
        data.draw(st.integers(1, beam)),
        data.draw(st.sampled_from(["average", "wu", "none"])),
        data.draw(st.sampled_from([0.0, 0.6, 1.0, 2.0])),
        data.draw(st.sampled_from([0.0, 0.4])),
        min_length=data.draw(st.integers(0, 5)),
        max_ratio=data.draw(st.sampled_from([0, 1.3])),
        max_extra=data.draw(st.integers(1, 9)),
        unknowns=data.draw(st.booleans()),
    )
    check(decoder, decoder.encode(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=9))), options)


class Coarse:
    """A network whose logits are 0 or 1, so that words tie, and hypotheses too."""

    def __init__(self, network, dtype):
        self._network, self._dtype = network, dtype
        self.initial_state = network.initial_state

    def step(self, previous_ids, state, encoded):
        output = self._network.step(previous_ids, state, encoded)
        return replace(output, logits=(output.logits > 0).to(self._dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_ties_go_to_the_same_words(network, dtype):
    tied = 0
    for seed in range(40):
        decoder = Coarse(network(seed), dtype)
        encoded = decoder._network.encode([4, 7, 2, 5])
        options = SearchOptions(4, 4, length_power=0.0, max_extra=5)
        expected = search_on_host(decoder, encoded, options)
        for capture in (None, Captures()):
            found = on_device(decoder, encoded, options, capture)
            assert [[h.ids for h in each.hypotheses] for each in found] == [
                [h.ids for h in each.hypotheses] for each in expected
            ]
        scores = [[h.score for h in each.hypotheses] for each in expected]
        tied += sum(len(set(each)) < len(each) for each in scores)
    assert tied > 10, "of 160 sentences, as many have tied hypotheses"


def test_long_outputs_are_laid_aside_in_parts(scripted):
    word = 4
    script = {tuple([word] * k): {word: 0.9, EOS: 0.1} for k in range(3 * STEPS)}
    decoder, options = scripted([script, script]), SearchOptions(1, max_ratio=0, max_extra=2 * STEPS + 3)
    encoded = decoder.encode([72, 2])
    check(decoder, encoded, options)
    assert [len(each.best.ids) for each in on_device(decoder, encoded, options)] == [2 * STEPS + 3] * 2


def test_sentences_that_have_ended_leave_the_frame(scripted):
    word = 4
    endless = {tuple([word] * k): {word: 1.0} for k in range(30)}
    decoder = scripted([{}] * 6 + [endless])
    encoded = decoder.encode([2] * 6 + [16])
    options = SearchOptions(2, length_power=0, max_extra=1)
    found = on_device(decoder, encoded, options)
    eager = decoder.steps.copy()
    decoder.steps.clear()
    same(on_device(decoder, encoded, options, Captures()), found)
    same(found, search_on_host(decoder, encoded, options))
    assert len(found[-1].best.ids) == 31
    # asked after the fourth step, answered after the fifth
    assert eager == [14] * (ASK_EVERY + 1) + [2] * (len(eager) - ASK_EVERY - 1)
    assert decoder.steps[: len(eager)] == [16] * (ASK_EVERY + 1) + [2] * (len(eager) - ASK_EVERY - 1)


def test_no_step_is_made_after_all_have_ended(scripted):
    decoder = scripted([{}, {}])
    on_device(decoder, decoder.encode([20, 20]), SearchOptions(2, length_power=0))
    assert len(decoder.steps) == ASK_EVERY + 1


def test_a_step_is_captured_once_for_its_shapes_and_weights(tiny_model):
    model, captures = tiny_model(), Captures()
    options = SearchOptions(3, max_ratio=0, max_extra=5, min_length=4)
    for sources, count in ((SOURCES, 1), (SOURCES[::-1], 1), ([[4] * 6] * 6, 1), ([[4] * 9], 2)):
        expected = search_on_host(model.decoder, encode(model, sources), options)
        same(on_device(model.decoder, encode(model, sources), options, captures), expected)
        assert captures.count == count
    model.decoder.output.W_o = torch.nn.Parameter(model.decoder.output.W_o.detach() * -1)
    expected = search_on_host(model.decoder, encode(model, SOURCES), options)
    same(on_device(model.decoder, encode(model, SOURCES), options, captures), expected)
    assert captures.count == 3


def test_the_least_recently_used_graphs_go_first_and_all_with_the_decoder(tiny_model, monkeypatch):
    monkeypatch.setattr(module, "MOST_GRAPHS", 2)
    model = tiny_model()
    options = SearchOptions(1, max_ratio=0, max_extra=4, min_length=3)
    number = len(module._kept)
    for length in (1, 9, 17, 25):
        # what stands for a graph does nothing, and holds no reference to the decoder
        on_device(model.decoder, encode(model, [[4] * length]), options, lambda step: lambda: None)
    kept = module._kept[model.decoder]
    assert [step.frame.encoded.mask.shape[1] for step in kept.steps.values()] == [24, 32]
    del model, kept
    gc.collect()
    assert len(module._kept) == number


def test_one_search_at_a_time_uses_the_graphs(tiny_model):
    model = tiny_model()
    with Graphs(model.decoder, Captures()) as first:
        second = Graphs(model.decoder, Captures())
        with second as mine:
            assert first is not None
            assert mine is None
        assert second.reason == "another search uses the decoder's graphs"
    with Graphs(model.decoder, Captures()) as again:
        assert again is not None


def test_nothing_is_collected_during_a_capture():
    """An old graph that is freed then makes the capture fail."""
    assert gc.isenabled()
    with no_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with no_garbage_collection():
            assert not gc.isenabled()
        assert not gc.isenabled(), "as it was before"
    finally:
        gc.enable()


def test_a_state_that_grows_and_a_step_that_cannot_be_captured_are_run_without(tiny_model):
    def refuse(step):
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    for kind, capture, reason in (
        (KINDS["bahdanau-lstmn"], Captures(), "the decoder's state grows from step to step"),
        (
            KINDS["bahdanau"],
            refuse,
            "its step could not be captured: operation not permitted when stream is capturing",
        ),
    ):
        model = tiny_model(**kind)
        encoded, options = encode(model, SOURCES), SearchOptions(3)
        with torch.inference_mode(), (graphs := Graphs(model.decoder, capture)) as mine:
            found = DeviceSearch(model.decoder, encoded, options, mine).run()
        assert graphs.reason == reason
        same(found, search_on_host(model.decoder, encoded, options))


def test_shortlists_copies_and_ensembles(tiny_model):
    models = [tiny_model(), tiny_model(kind="luong")]
    ids, mask = pad_sources(SOURCES).source_ids, pad_sources(SOURCES).source_mask
    lists = [np.array([UNK, EOS, 4, 5, 6 + k % 3]) for k in range(len(SOURCES))]
    for model in (
        Ensemble(models),
        with_shortlists(models[0], lists, "cpu"),
        with_shortlists(Ensemble(models), lists, "cpu"),
    ):
        check(model.decoder, model.encode(ids, mask), SearchOptions(4, 3))
    copying = tiny_model(copy=True)
    source_ids = torch.tensor([[4, 9, 5, EOS], [10, 4, EOS, PAD]])
    encoded = copying.encode(source_ids, source_ids != PAD)
    check(copying.decoder, encoded, SearchOptions(4, 3))


def test_a_model_whose_numbers_are_not_finite_is_refused(network):
    decoder = network(1)
    decoder.O[:] = math.nan
    for capture in (None, Captures()):
        with pytest.raises(DataError, match="sentence 1: no output has a probability"):
            on_device(decoder, decoder.encode([3, 4]), SearchOptions(2), capture)


def test_a_vocabulary_of_nothing_but_the_end(network):
    decoder = network(1)

    class Short(torch.nn.Module):  # whose graph the second search finds
        words = torch.tensor([PAD, BOS, EOS])
        initial_state = decoder.initial_state

        def step(self, *given):
            return replace(decoder.step(*given), logits=torch.zeros(len(given[0]), 3))

    short, options = Short(), SearchOptions(2, min_length=2, max_ratio=0, max_extra=6)
    expected = search_on_host(short, decoder.encode([3, 4]), options)
    captures = Captures()
    for _ in range(2):
        same(on_device(short, decoder.encode([3, 4]), options, captures), expected)


def test_what_needs_the_host_says_so():
    assert refuses(SearchOptions()) == ""
    assert refuses(SearchOptions(), [TokenConstraints(name="line 1")]) == ""
    for constraint in ({"prefix": (4,)}, {"include": ((4,),)}, {"exclude": ((4,),)}, {"attend": {0: 0}}):
        assert refuses(SearchOptions(), [TokenConstraints(**constraint)]) == "a sentence has constraints"
    assert refuses(SearchOptions(), history=True) == "its history is recorded"
    assert refuses(SearchOptions(), watched=True) == "each step is watched"
    assert refuses(SearchOptions(block_ngrams=2)) == "repeated n-grams are blocked"
    assert refuses(SearchOptions(MOST_BEAM + 1)) == f"a beam of {MOST_BEAM + 1} is wider than {MOST_BEAM}"


def test_which_path_was_taken_and_why_can_be_asked(network):
    decoder = network(1)
    with explain() as choices:
        search(decoder, decoder.encode([3]))
    assert [str(each) for each in choices] == [
        "beam search: host (not CUDA graph: tensors are on cpu; not device: tensors are on cpu)"
    ]


def test_coverage_needs_attention(tiny_model):
    model = tiny_model(**KINDS["cho"])
    with pytest.raises(ConfigError, match="coverage: this model does not attend"):
        on_device(model.decoder, encode(model, SOURCES), SearchOptions(2, coverage=0.2))


def test_the_naive_path_finds_the_same(network):
    decoder = network(3)
    encoded, options = decoder.encode([4, 2]), SearchOptions(3, 2)
    with naive_only():
        found = on_device(decoder, encoded, options)
    same(found, search_on_host(decoder, encoded, options))
