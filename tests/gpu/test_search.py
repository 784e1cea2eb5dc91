"""Search on a GPU finds what it finds on a CPU: by captured steps, without them, and with the choice on the host.

Run them on a machine with a GPU: ``python -m pytest tests/gpu``; elsewhere they are skipped.
"""

import copy

import numpy as np
import pytest
import torch

from regard.batches import pad_sources
from regard.inference.shortlist import with_shortlists
from regard.ops import explain
from regard.ops.best_words import Allowed, fused, naive, persistent
from regard.search.beam import search, search_on_host
from regard.search.graphs import Graphs
from regard.search.on_device import DeviceSearch
from regard.search.options import SearchOptions
from regard.text.specials import EOS, UNK

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

SOURCES = [[4, 5, 6, 7], [8], [], [5, 5, 7], [4, 4], [6] * 11, [7, 8, 4]]
OPTIONS = [
    SearchOptions(1),
    SearchOptions(5, 5),
    SearchOptions(4, 2, length_power=0.6, length_penalty="wu", max_extra=40),
    SearchOptions(3, length_penalty="none", min_length=3, unknowns=False),
    SearchOptions(4, 3, coverage=0.3),
]


def encode(model, device="cuda"):
    batch = pad_sources(SOURCES).to(device)
    with torch.inference_mode():
        return model.encode(batch.source_ids, batch.source_mask)


def same(ours, theirs, tolerance):
    for one, other in zip(ours, theirs, strict=True):
        assert [h.ids for h in one.hypotheses] == [h.ids for h in other.hypotheses]
        for h, expected in zip(one.hypotheses, other.hypotheses, strict=True):
            assert h.score == pytest.approx(expected.score, rel=tolerance, abs=tolerance)
            if expected.alpha is not None:
                np.testing.assert_allclose(h.alpha, expected.alpha, atol=tolerance)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "hard-monotonic"])
def test_a_search_is_that_of_the_cpu(kind, options, tiny_model):
    if kind == "cho" and options.coverage:
        pytest.skip("it does not attend")
    model = tiny_model(kind=kind)  # float64, so that a GPU's other order of sums does not show
    expected = search_on_host(model.decoder, encode(model, "cpu"), options)
    model = copy.deepcopy(model).cuda()
    for _ in range(3):  # captured, then replayed from its first step on
        with explain() as choices:
            found = search(model.decoder, encode(model), options)
        assert [str(each) for each in choices if each.op == "beam search"] == ["beam search: CUDA graph"]
        same(found, expected, 1e-6)
    same(search_on_host(model.decoder, encode(model), options), expected, 1e-6)
    with torch.inference_mode():
        same(DeviceSearch(model.decoder, encode(model), options).run(), expected, 1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_captured_steps_compute_what_eager_ones_do(dtype, tiny_model):
    model = tiny_model(target_size=5000).to("cuda", dtype)
    options = SearchOptions(5, 3, max_extra=20)
    encoded = encode(model)
    with torch.inference_mode(), Graphs(model.decoder) as graphs:
        encoded = graphs.fit(encoded)  # the same shapes for both, and thus the same products
        eager = DeviceSearch(model.decoder, encoded, options).run()
        captured = DeviceSearch(model.decoder, encoded, options, graphs).run()
        replayed = DeviceSearch(model.decoder, encoded, options, graphs).run()
    same(captured, eager, 1e-5)
    same(replayed, eager, 1e-5)


def test_weights_that_changed_are_the_ones_used(tiny_model):
    model = copy.deepcopy(tiny_model()).cuda()
    options = SearchOptions(3, 2)
    search(model.decoder, encode(model), options)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-0.7)
    same(
        search(model.decoder, encode(model), options),
        search_on_host(model.decoder, encode(model), options),
        1e-6,
    )
    model.decoder.output.W_o = torch.nn.Parameter(model.decoder.output.W_o.detach() * -1)
    same(
        search(model.decoder, encode(model), options),
        search_on_host(model.decoder, encode(model), options),
        1e-6,
    )


def test_a_shortlist_is_captured_for_its_batch(tiny_model):
    model = copy.deepcopy(tiny_model()).cuda()
    batch = pad_sources(SOURCES).to("cuda")
    for shift in range(2):
        lists = [np.unique([UNK, EOS, 4, 5, 6 + (k + shift) % 3]) for k in range(len(SOURCES))]
        short = with_shortlists(model, lists, "cuda")
        with torch.inference_mode():
            encoded = short.encode(batch.source_ids, batch.source_mask)
        with explain() as choices:
            found = search(short.decoder, encoded, SearchOptions(4, 3))
        assert choices[-1].backend == "CUDA graph"
        same(found, search_on_host(short.decoder, encoded, SearchOptions(4, 3)), 1e-6)


def test_a_state_that_grows_is_searched_without_a_graph(tiny_model):
    model = copy.deepcopy(tiny_model(cell="lstmn")).cuda()
    with explain() as choices:
        found = search(model.decoder, encode(model), SearchOptions(3))
    (choice,) = (each for each in choices if each.op == "beam search")
    assert choice.backend == "device"
    assert choice.reasons == {"CUDA graph": "the decoder's state grows from step to step"}
    same(found, search_on_host(model.decoder, encode(model), SearchOptions(3)), 1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("k", [1, 5, 12])
def test_the_best_words_with_their_ties(k, dtype):
    torch.manual_seed(k)
    logits = (2 * torch.randn(37, 30_001, device="cuda")).round().to(dtype)  # many ties
    may_end, must_end = (torch.rand(37, device="cuda") < 0.3 for _ in range(2))
    allowed = Allowed(torch.tensor([0, 2], device="cuda"), 3, may_end, must_end)
    expected, columns = naive.best_allowed(logits.clone(), k, allowed)
    there = expected > float("-inf")
    for path in (fused, persistent):
        log_probs, found = path.best_allowed(logits.clone(), k, allowed)
        torch.testing.assert_close(log_probs, expected, atol=1e-5, rtol=0)
        assert torch.equal(found[there], columns[there])
