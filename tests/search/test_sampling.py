"""Sampling along probabilities written by hand, and of whole outputs."""

import math
from collections import Counter
from itertools import islice

import pytest
import torch

from regard.batches import pad_pairs, pad_sources
from regard.errors import ConfigError, DataError
from regard.search.beam import search
from regard.search.constraints import TokenConstraints
from regard.search.forced import decode_forced
from regard.search.options import SamplingOptions, SearchOptions
from regard.search.sampling import sample, sample_outputs, sampled_rows, sampling_distribution
from regard.text import BOS, EOS, PAD, UNK, EncodedPair

SOURCES = [[4, 5, 6], [7], [8, 8, 5, 4, 6]]
LIMIT = {"max_ratio": 1.0, "max_extra": 4}


def seeds(number, sources=SOURCES):
    return [[f"{b} {k}" for k in range(number)] for b in range(len(sources))]


def read(model, sources=SOURCES):
    batch = pad_sources(sources)
    return model.encode(batch.source_ids, batch.source_mask)


def drawn(model, number=6, sources=SOURCES, sampling=None, constraints=None, all_seeds=None, **options):
    options = SearchOptions(**{**LIMIT, **options})
    given = all_seeds or seeds(number, sources)
    return sample_outputs(
        model.decoder, read(model, sources), sampling or SamplingOptions(), given, options, constraints
    )


class TestWhatIsDrawn:
    def test_is_drawn_from_the_model(self, scripted):
        """Half, three tenths, two tenths: of 4000 draws each share is within four standard deviations of 0.8 %."""
        script = {(): {4: 0.5, 5: 0.3, 6: 0.2}}
        decoder = scripted([script])
        (found,) = sample_outputs(decoder, decoder.encode([3]), SamplingOptions(), [list(range(4000))])
        shares = Counter(h.ids[0] for h in found.hypotheses)
        for word, share in script[()].items():
            assert shares[word] / 4000 == pytest.approx(share, abs=0.032)

    def test_temperature_nought_is_greedy_search(self, tiny_model):
        model = tiny_model()
        greedy = search(model.decoder, read(model), SearchOptions(beam=1, **LIMIT))
        for one, other in zip(
            drawn(model, 2, sampling=SamplingOptions(temperature=0.0)), greedy, strict=True
        ):
            assert {h.ids for h in one.hypotheses} == {other.best.ids}
            assert one.best.log_prob == pytest.approx(other.best.log_prob, abs=1e-10)

    def test_top_k(self, scripted):
        decoder = scripted([{(): {4: 0.5, 5: 0.3, 6: 0.2}}])
        (found,) = sample_outputs(decoder, decoder.encode([3]), SamplingOptions(top_k=2), [list(range(200))])
        assert {h.ids[0] for h in found.hypotheses} == {4, 5}

    def test_scores_are_those_of_forced_decoding(self, tiny_model):
        """Whatever the temperature: the words were drawn otherwise, and are as likely as ever."""
        model = tiny_model()
        for source, found in zip(
            SOURCES, drawn(model, sampling=SamplingOptions(temperature=2.0)), strict=True
        ):
            for h in found.hypotheses:
                (again,) = decode_forced(model, pad_pairs([EncodedPair(source, list(h.ids[:-1]))]))
                assert h.log_prob == pytest.approx(again.log_prob, abs=1e-10)
                assert h.score == pytest.approx(h.log_prob / len(h.ids), abs=1e-12)
                torch.testing.assert_close(
                    torch.tensor(h.alpha), torch.tensor(again.alpha), rtol=0, atol=1e-6
                )

    def test_draws_differ(self, tiny_model):
        assert all(len({h.ids for h in found.hypotheses}) > 1 for found in drawn(tiny_model()))


class TestSeeds:
    def test_company_changes_nothing(self, tiny_model):
        model = tiny_model()
        together = drawn(model, 4)
        for b, source in enumerate(SOURCES):
            for k, seed in enumerate(seeds(4)[b]):
                (alone,) = drawn(model, sources=[source], all_seeds=[[seed]])
                assert alone.best.ids == together[b].hypotheses[k].ids

    def test_sentences_that_have_ended_leave(self, scripted):
        decoder = scripted([{(): {EOS: 1.0}}, {(): {4: 1.0}, (4,): {5: 1.0}}])
        sample_outputs(decoder, decoder.encode([3, 3]), SamplingOptions(), [[1, 2], [3, 4]])
        assert decoder.steps == [4, 2, 2]


class TestRules:
    def test_limits_and_the_words_of_no_text(self, tiny_model):
        for b, found in enumerate(drawn(tiny_model(), 20, min_length=2, unknowns=False)):
            for h in found.hypotheses:
                assert 3 <= len(h.ids) <= len(SOURCES[b]) + 4
                assert h.ids[-1] == EOS
                assert not {PAD, BOS, UNK, EOS} & set(h.ids[:-1])

    def test_blocking(self, tiny_model):
        for found in drawn(tiny_model(), 20, block_ngrams=1, max_ratio=1.0, max_extra=5):
            for h in found.hypotheses:
                assert len(set(h.ids)) == len(h.ids)

    def test_prefixes_and_excluded_phrases(self, tiny_model):
        constraints = [
            TokenConstraints(prefix=(4, 5)),
            TokenConstraints(exclude=((6,), (7, 8))),
            TokenConstraints(),
        ]
        first, second, _ = drawn(tiny_model(), 20, constraints=constraints)
        assert all(h.ids[:2] == (4, 5) for h in first.hypotheses)
        for h in second.hypotheses:
            assert 6 not in h.ids
            assert (7, 8) not in zip(h.ids, h.ids[1:], strict=False)

    def test_attention_is_told_where_to_look(self, tiny_model):
        constraints = [TokenConstraints(attend={0: 2}), TokenConstraints(), TokenConstraints()]
        for h in drawn(tiny_model(), 3, constraints=constraints)[0].hypotheses:
            assert h.alpha[0].tolist() == [0, 0, 1, 0]

    @pytest.mark.parametrize(
        ("options", "request_", "named"),
        [
            ({"coverage": 0.2}, TokenConstraints(), "coverage"),
            ({}, TokenConstraints(include=((4,),)), "include"),
        ],
    )
    def test_what_only_a_beam_can_weigh(self, tiny_model, options, request_, named):
        with pytest.raises(
            ConfigError, match=f"{named}: sampling word by word cannot guarantee it; search with a beam"
        ):
            drawn(tiny_model(), constraints=[request_] * 3, **options)

    def test_attention_that_is_not_there(self, tiny_model):
        with pytest.raises(ConfigError, match="attend: this model does not attend"):
            drawn(tiny_model("cho"), constraints=[TokenConstraints(attend={0: 0})] * 3)

    def test_a_prefix_longer_than_the_limit(self, tiny_model):
        """At the limit the prefix would take EOS's place, and nothing would end the output any more."""
        with pytest.raises(
            ConfigError, match=r"sentence 2: its prefix and phrases need 6 tokens .* limit is 5"
        ):
            drawn(
                tiny_model(),
                constraints=[TokenConstraints(), TokenConstraints(prefix=(4,) * 5), TokenConstraints()],
            )

    def test_a_model_that_has_diverged(self, network):
        decoder = network(0)
        decoder.O = decoder.O * float("nan")
        with pytest.raises(DataError, match="sentence 1: no output has a probability"):
            sample_outputs(decoder, decoder.encode([3, 2]), SamplingOptions(), [["a"], ["b"]])


A, B, C, D = 4, 5, 6, 7
SIZE = 8


def logs(probs):
    """Log-probabilities of a vocabulary of 8, −∞ where nothing is written."""
    row = torch.full((SIZE,), float("-inf"), dtype=torch.float64)
    for token, p in probs.items():
        row[token] = math.log(p)
    return row


class Script:
    """Steps by prefixes written by hand, each row by a script of its own; the state is the prefixes so far."""

    def __init__(self, *scripts):
        self.scripts = scripts

    def __call__(self, previous, state):
        assert len(previous) == len(state) == len(self.scripts)
        prefixes = [(*prefix, token) for prefix, token in zip(state, previous.tolist(), strict=True)]
        rows = zip(self.scripts, prefixes, strict=True)
        return torch.stack([logs(script.get(p[1:], {EOS: 1.0})) for script, p in rows]), prefixes


def run(*scripts, seeds=None, **options):
    rows = len(scripts)
    start = torch.full((rows,), BOS)
    return sample(Script(*scripts), [()] * rows, start, seeds=seeds or range(rows), **options)


PROBS = {A: 0.5, B: 0.25, C: 0.15, EOS: 0.1}


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (SamplingOptions(), PROBS),
        (SamplingOptions(temperature=2.0), {k: p**0.5 for k, p in PROBS.items()}),
        (SamplingOptions(temperature=0.5), {k: p**2 for k, p in PROBS.items()}),
        (SamplingOptions(temperature=0), {A: 1.0}),
        (SamplingOptions(top_k=1), {A: 1.0}),
        (SamplingOptions(top_k=2), {A: 0.5, B: 0.25}),
        (SamplingOptions(top_k=9), PROBS),
        (SamplingOptions(top_p=0.0), {A: 1.0}),
        (SamplingOptions(top_p=0.5), {A: 1.0}),
        (SamplingOptions(top_p=0.51), {A: 0.5, B: 0.25}),
        (SamplingOptions(top_p=0.75), {A: 0.5, B: 0.25}),
        (SamplingOptions(top_p=0.8), {A: 0.5, B: 0.25, C: 0.15}),
        (SamplingOptions(top_p=1.0), PROBS),
        # of the two that top-k leaves, the first has two thirds of the mass
        (SamplingOptions(top_k=2, top_p=0.6), {A: 1.0}),
        # the temperature comes first: 0.25, 0.0625, 0.0225, 0.01 of 0.345
        (SamplingOptions(temperature=0.5, top_p=0.8), {A: 0.25, B: 0.0625}),
    ],
)
def test_what_is_drawn_from_is_exactly_this(sampling, expected):
    probs, words = sampling_distribution(sampling, logs(PROBS).unsqueeze(0))
    total = sum(expected.values())
    found = {w: p for w, p in zip(words[0].tolist(), probs[0].tolist(), strict=True) if p > 0}
    assert found == pytest.approx({k: p / total for k, p in expected.items()}, abs=1e-12)
    assert probs.sum().item() == pytest.approx(1, abs=1e-12)


def test_a_temperature_near_zero_takes_the_most_probable_and_a_high_one_anything_legal():
    row = logs(PROBS).unsqueeze(0)
    for temperature in (5e-324, 1e-300, 1e-9):
        probs, words = sampling_distribution(SamplingOptions(temperature=temperature), row)
        assert probs[0].tolist() == [1.0] + [0.0] * (SIZE - 1)
        assert words[0, 0].item() == A
    probs, words = sampling_distribution(SamplingOptions(temperature=1e300), row)
    legal = sorted(words[0, probs[0] > 0].tolist())
    assert legal == sorted(PROBS)
    assert probs[0, : len(PROBS)].tolist() == pytest.approx([1 / len(PROBS)] * len(PROBS))


@pytest.mark.parametrize("temperature", [float("inf"), float("nan"), -float("inf")])
def test_a_temperature_is_a_number(temperature):
    with pytest.raises(ConfigError, match=r"temperature: (-?inf|nan) is out of range"):
        SamplingOptions(temperature=temperature)


@pytest.mark.parametrize("options", [{"top_k": 2}, {"top_p": 0.5}, {"temperature": 0}])
def test_of_equally_likely_words_the_smaller_id_stands_first(options):
    """Exactly k, and exactly the smallest set, whatever is equal to the last of them."""
    probs, words = sampling_distribution(
        SamplingOptions(**options), logs(dict.fromkeys((D, A, C, B), 0.25)).unsqueeze(0)
    )
    kept = 1 if options == {"temperature": 0} else 2
    assert words[0, :kept].tolist() == [A, B][:kept]
    assert probs[0].tolist() == pytest.approx([1 / kept] * kept + [0] * (SIZE - kept))


def test_frequencies_are_the_probabilities():
    """4,000 rows: a share's deviation is below √(¼/4000) = 0.8 %, and 4 % is five of them."""
    script = {(): PROBS, (A,): {B: 0.3, EOS: 0.7}}
    rows = sampled_rows(run(*[script] * 4000))
    ends = [tuple(choice.id for choice in row) for row in rows]
    expected = {
        (A, B, EOS): 0.5 * 0.3,
        (A, EOS): 0.5 * 0.7,
        (B, EOS): 0.25,
        (C, EOS): 0.15,
        (EOS,): 0.1,
    }
    assert set(ends) == set(expected)
    for end, p in expected.items():
        assert ends.count(end) / 4000 == pytest.approx(p, abs=0.04)


def test_a_choice_says_what_the_model_thinks_and_how_it_was_drawn():
    [[first]] = islice(run({(): PROBS}, sampling=SamplingOptions(top_k=2), alternatives=3), 1)
    assert first.id in (A, B)
    assert first.log_prob == pytest.approx(math.log(PROBS[first.id]))
    assert first.probability == pytest.approx(PROBS[first.id] / 0.75)
    assert not first.given
    assert [other.id for other in first.alternatives] == [A, B, C]
    assert [math.exp(other.log_prob) for other in first.alternatives] == pytest.approx([0.5, 0.25, 0.15])
    # of the two that top-k left, each as it might have been drawn
    assert [other.probability for other in first.alternatives] == pytest.approx([2 / 3, 1 / 3, 0])
    # what can never be chosen is no alternative
    [[first]] = islice(run({(): {PAD: 0.5, BOS: 0.3, C: 0.2}}, alternatives=5), 1)
    assert first.alternatives == ((C, pytest.approx(math.log(0.2)), pytest.approx(1)),)


def test_padding_and_the_begin_mark_are_never_drawn_and_keep_their_probability():
    rows = sampled_rows(run(*[{(): {PAD: 0.5, BOS: 0.3, C: 0.1, A: 0.1}}] * 50))
    assert {row[0].id for row in rows} == {A, C}
    for row in rows:
        assert row[0].log_prob == pytest.approx(math.log(0.1))
        assert row[0].probability == pytest.approx(0.5)


LONG = {(A,) * k: {A: 0.8, B: 0.1, EOS: 0.1} for k in range(50)}
MIXED = {(): {A: 0.4, B: 0.6}, (A,): {C: 0.5, D: 0.5}, (B,): {C: 0.5, D: 0.3, EOS: 0.2}}


def test_company_changes_nothing_and_equal_seeds_give_equal_words():
    scripts = [LONG, {(): {EOS: 1.0}}, MIXED, LONG]
    seeds = ["run 0", 7, "run 2", "run 3"]
    together = sampled_rows(run(*scripts, seeds=seeds))
    assert len({len(row) for row in together}) > 1, "rows end at different times"
    for script, seed, row in zip(scripts, seeds, together, strict=True):
        [alone] = sampled_rows(run(script, seeds=[seed]))
        assert alone == row
    assert sampled_rows(run(*scripts, seeds=seeds)) == together
    assert sampled_rows(run(*reversed(scripts), seeds=seeds[::-1])) == together[::-1]
    others = sampled_rows(run(*[MIXED] * 40))
    assert len({tuple(choice.id for choice in row) for row in others}) > 3, "other seeds, other words"


def test_a_row_ends_with_the_end_mark_or_at_its_limit():
    always = {(A,) * k: {A: 1.0} for k in range(9)}
    steps = list(run(always, {(): {A: 1.0}}, {(): {EOS: 1.0}}, max_length=3))
    assert [[choice and choice.id for choice in step] for step in steps] == [
        [A, A, EOS],
        [A, EOS, None],
        [A, None, None],
    ]


def test_prompts_are_read_first_and_are_not_drawn():
    """Rows with prompts of different lengths: each goes on from its own, sampling as if it were alone."""
    scripts = [MIXED, MIXED, LONG]
    prompts = [(B,), (), (A, A)]
    rows = sampled_rows(run(*scripts, prompts=prompts, seeds=[1, 2, 3], max_length=4))
    for script, prompt, seed, row in zip(scripts, prompts, [1, 2, 3], rows, strict=True):
        assert tuple(choice.id for choice in row[: len(prompt)]) == prompt
        assert [choice.given for choice in row] == [k < len(prompt) for k in range(len(row))]
        assert all(choice.probability == 1 for choice in row[: len(prompt)])
        assert len(row) <= len(prompt) + 4
        # the same as a script that starts behind the prompt: no chance is spent on given words
        behind = {p[len(prompt) :]: q for p, q in script.items() if p[: len(prompt)] == prompt}
        [fresh] = sampled_rows(run(behind, seeds=[seed], max_length=4))
        assert row[len(prompt) :] == fresh
    assert rows[0][0].log_prob == pytest.approx(math.log(0.6))


def test_words_come_one_step_at_a_time():
    calls = []

    def step(previous, state):
        assert torch.is_inference_mode_enabled()
        calls.append(previous.tolist())
        return logs({A: 1.0}).unsqueeze(0), state

    growing = sample(step, None, torch.tensor([BOS]), seeds=[0], max_length=5)
    assert calls == []
    next(growing)
    assert calls == [[BOS]], "nothing is computed before it is asked for"
    assert not torch.is_inference_mode_enabled(), "between two words the caller is in no mode of ours"
    next(growing)
    assert calls == [[BOS], [A]]


def test_refusals():
    with pytest.raises(ConfigError, match="2 seeds for 1 rows; give one for each row"):
        run({}, seeds=[1, 2])
    with pytest.raises(ConfigError, match="0 prompts for 1 rows"):
        run({}, prompts=[])
    for name, value in {"temperature": -1, "top_k": -1, "top_p": 1.1}.items():
        with pytest.raises(ConfigError, match=f"{name}: {value} is out of range"):
            SamplingOptions(**{name: value})
    with pytest.raises(ConfigError, match="max_length: 0 is out of range"):
        run({}, max_length=0)
