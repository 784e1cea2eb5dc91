"""The choice of a beam's step: by hand, and its kernels against the naive form, ties and ends included."""

import os
from importlib.util import find_spec

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from regard.ops.beam_choice import choose, persistent
from regard.ops.best_words import Allowed
from regard.ops.best_words.naive import best_allowed

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
_RUN = find_spec("triton") is not None and (DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
runs_kernels = pytest.mark.skipif(not _RUN, reason="kernels need a GPU, or Triton and TRITON_INTERPRET=1")
NEVER = float("-inf")
EOS, STEPS = 3, 4


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def test_finished_hypotheses_take_places_and_ties_go_to_the_first_row():
    totals, scores = double([[-1.0, -1.0, NEVER]]), double([[-0.5, NEVER, NEVER]])
    log_probs = torch.tensor([[-1.0, -2.0], [-1.0, -1.5], [0.0, 0.0]])
    words = torch.tensor([[5, 6], [EOS, 7], [8, 9]])
    choice = choose(totals, scores, log_probs, words, double([2.0]), double([4.0]), 2, EOS)
    # two of three places are free: 5 of row 0, then EOS of row 1; 7 is third
    assert choice.tokens[0, :2].tolist() == [5, EOS]
    assert choice.parents[0, :2].tolist() == [0, 1]
    assert choice.ended.tolist() == [[NEVER, -1.0, NEVER]]
    assert choice.scores.tolist() == [[-0.5, -1.0, NEVER]]
    assert choice.totals.tolist() == [[-2.0, NEVER, NEVER]], "−2 exceeds the second best score, −1, times 4"
    choice = choose(totals, scores, log_probs, words, double([2.0]), double([1.0]), 2, EOS)
    assert choice.totals.tolist() == [[NEVER] * 3], "it can no longer be among the two best"


@runs_kernels
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the interpreter, for what is not a number
# without shrinking, which takes minutes in the interpreter
@settings(max_examples=60 if DEVICE == "cuda" else 25, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.data())
def test_kernels_choose_as_the_naive_form_does(data):
    batch, beam = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    size = data.draw(st.sampled_from([5, 9, 4100]))
    k, n_best = min(beam, size), data.draw(st.integers(1, beam))
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 10**6)))

    def random(*shape):
        return torch.rand(shape, generator=generator)

    # few different values: many ties
    logits = (3 * torch.randn(batch * beam, size, generator=generator)).round()
    logits[:, EOS] += data.draw(st.sampled_from([0, 6]))
    if data.draw(st.booleans()):
        logits[0] = float("nan")
    totals = (-4 * random(batch, beam)).round().double().masked_fill(random(batch, beam) < 0.3, NEVER)
    scores = (-9 * random(batch, beam)).round().double().masked_fill(random(batch, beam) < 0.6, NEVER)
    scores = scores.sort(dim=1, descending=True).values
    step, place = data.draw(st.integers(0, 9)), data.draw(st.integers(0, STEPS - 1))
    limits = torch.randint(step + 1, step + 3, (batch, 1), generator=generator)
    minimum = torch.randint(0, step + 2, (batch, 1), generator=generator)
    divisors, largest = 1 + random(STEPS).double(), 1 + 3 * random(batch).double()
    words = torch.randperm(size + 5, generator=generator)[:size] if data.draw(st.booleans()) else None
    penalties = -random(batch, beam).double() if data.draw(st.booleans()) else None
    banned = torch.tensor([0, 2])
    ids = torch.arange(size) if words is None else words

    allowed = Allowed(
        banned,
        EOS,
        (minimum <= step).expand(batch, beam).reshape(-1),
        (limits <= step + 1).expand(batch, beam).reshape(-1),
    )
    log_probs, columns = best_allowed(logits.clone(), k, allowed)
    expected = choose(
        totals,
        scores,
        log_probs,
        ids[columns],
        divisors[place, None],
        largest,
        n_best,
        int(ids[EOS]),
        penalties,
    )

    def there(value):
        return None if value is None else value.clone().to(DEVICE)

    beams = persistent.Beams(
        *map(there, (totals, scores, torch.zeros(batch * beam, dtype=torch.long))),
        torch.zeros(STEPS, 4, batch, beam, dtype=torch.float64, device=DEVICE),
        torch.tensor([[step], [place]], device=DEVICE),
        *map(there, (limits, minimum, divisors, largest)),
    )
    rows = persistent.choose_(
        there(logits), beams, k, n_best, there(banned), EOS, there(words), there(penalties)
    ).cpu()
    # log p is that of float32, by sums in another order
    near = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(beams.totals.cpu(), expected.totals, **near)
    torch.testing.assert_close(beams.scores.cpu().sort().values, expected.scores.sort().values, **near)
    tokens, parents, values, ended = beams.chosen[place].cpu()
    torch.testing.assert_close(ended, expected.ended, **near)
    chosen = (expected.totals > NEVER) | (expected.ended > NEVER)
    assert torch.equal(tokens[chosen], expected.tokens[chosen].double())
    assert torch.equal(parents[chosen], expected.parents[chosen].double())
    torch.testing.assert_close(values[chosen], expected.log_probs[chosen], **near)
    assert torch.equal(beams.previous_ids.cpu(), tokens.flatten().long())
    firsts = torch.arange(0, batch * beam, beam).unsqueeze(1)
    assert torch.equal(rows, (parents.long() + firsts).flatten())
    assert set(tokens.flatten().long().tolist()) <= set(ids.tolist())
