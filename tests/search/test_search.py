"""What each option and each constraints does, by hand and as laws; the reference beam is in `test_reference.py`."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regard.batches import pad_pairs, pad_sources
from regard.errors import ConfigError, DataError
from regard.models import DecoderState, EncodedSource, StepOutput
from regard.search.beam import search
from regard.search.constraints import TokenConstraints
from regard.search.forced import decode_forced
from regard.search.options import SearchOptions
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS, UNK

A, B, C = 4, 5, 6


def best(decoder, lengths, options=None, constraints=None):
    return [each.best.ids for each in search(decoder, decoder.encode(lengths), options, constraints)]


class Looks:
    """Two outputs alike in length and probability, of which one looks at every word of the source."""

    def encode(self, lengths):
        mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
        return EncodedSource(torch.zeros(len(lengths), max(lengths), 1), mask, None, (), ())

    def initial_state(self, encoded):
        return DecoderState(((torch.zeros(len(encoded.mask), 1),),))

    def step(self, previous_ids, state, encoded):
        rows = len(previous_ids)
        steps = state.cells[0][0]  # (R, 1)
        logits = torch.full((rows, 7), -40.0)
        first, second = previous_ids == BOS, (previous_ids == A) | (previous_ids == B)
        logits[first, A], logits[first, B] = math.log(0.52), math.log(0.48)
        logits[second, C] = 0.0
        logits[~first & ~second, EOS] = 0.0
        alpha = torch.full((rows, encoded.mask.shape[1]), 0.05)
        wandering = previous_ids != A
        alpha[wandering, steps[wandering, 0].long()] = 0.9
        alpha[~wandering, 0] = 0.9
        return StepOutput(logits, DecoderState(((steps + 1,),)), alpha)


class TestRanking:
    def test_wu_divides_by_less_than_the_average(self, scripted):
        decoder = scripted(
            [{(): {A: 0.6, EOS: 0.4}, (A,): {A: 1.0}, (A, A): {A: 1.0}, (A, A, A): {EOS: 0.5, A: 0.5}}]
        )
        # log 0.4 against log 0.3: with ((5 + 4)/6)^p the longer one wins from p = 0.68 up
        for power, ids in ((0.6, (EOS,)), (0.8, (A, A, A, EOS))):
            options = SearchOptions(4, length_penalty="wu", length_power=power)
            (found,) = search(decoder, decoder.encode([4]), options)
            assert found.best.ids == ids
            assert found.best.score == pytest.approx(found.best.log_prob / ((5 + len(ids)) / 6) ** power)

    def test_no_penalty(self, scripted):
        decoder = scripted([{(): {A: 0.6, EOS: 0.4}, (A,): {EOS: 0.5, B: 0.5}}])
        (found,) = search(decoder, decoder.encode([4]), SearchOptions(3, length_penalty="none"))
        assert found.best.ids == (EOS,)
        assert found.best.score == found.best.log_prob

    def test_coverage_prefers_the_output_that_looks_everywhere(self):
        decoder = Looks()
        for coverage, word in ((0.0, A), (0.5, B)):
            options = SearchOptions(2, 2, coverage=coverage, length_penalty="none")
            (found,) = search(decoder, decoder.encode([3]), options)
            assert found.best.ids[0] == word
        # 0.9 + 0.05 + 0.05 at each of three words, against 2 × 0.9 + …, of which at most 1 counts
        by_first = {one.ids[0]: one for one in found.hypotheses}
        for one in found.hypotheses:
            uncovered = np.log(np.minimum(one.alpha.sum(axis=0), 1)).sum()
            assert one.score == pytest.approx(one.log_prob + 0.5 * uncovered, abs=1e-5)
        assert by_first[B].score > by_first[A].score

    def test_coverage_counts_real_words_only(self):
        decoder = Looks()
        options = SearchOptions(2, 2, coverage=0.5, length_penalty="none")
        together = search(decoder, decoder.encode([3, 5]), options)
        for length, found in zip([3, 5], together, strict=True):
            (alone,) = search(decoder, decoder.encode([length]), options)
            assert [one.score for one in found.hypotheses] == [one.score for one in alone.hypotheses]


ENDS = {tuple([A] * k): {EOS: 0.9, A: 0.1} for k in range(30)}


class TestLengths:
    @pytest.mark.parametrize(
        ("options", "tokens"),
        [
            ({"min_length": 3}, [4, 4]),
            ({"min_ratio": 0.5}, [2, 4]),  # of 1 and 5 words: 0.5 and 2.5, upwards
            ({"min_ratio": 0.6, "min_length": 2}, [3, 4]),
            ({"min_length": 9, "max_ratio": 1, "max_extra": 2}, [3, 7]),  # the limit wins
        ],
    )
    def test_minima(self, options, tokens, scripted):
        for beam in (1, 3):
            decoder = scripted([ENDS, ENDS])
            found = best(decoder, [2, 6], SearchOptions(beam, length_penalty="none", **options))
            assert [len(ids) for ids in found] == tokens

    def test_a_minimum_gives_way_where_no_word_is_left(self, scripted):
        decoder = scripted([{(): {A: 0.6, B: 0.4}, (A,): {B: 0.9, EOS: 0.1}}], vocabulary_size=6)
        options = SearchOptions(2, min_length=7, block_ngrams=1, unknowns=False)
        (found,) = search(decoder, decoder.encode([6]), options)
        assert found.best.ids == (A, B, EOS)

    def test_nor_does_it_hold_where_all_that_could_follow_is_excluded(self, network):
        decoder = network(0)
        constraints = TokenConstraints(
            prefix=(B,), include=((A,),), exclude=tuple((A, word) for word in (UNK, 4, 5, 6, 7))
        )
        options = SearchOptions(2, min_length=9, max_ratio=0, max_extra=12)
        (found,) = search(decoder, decoder.encode([3]), options, [constraints])
        assert found.best.ids[-2:] == (A, EOS)


class TestWhatMayBeChosen:
    def test_the_unknown_word(self, scripted):
        script = {(): {UNK: 0.9, A: 0.1}}
        assert best(scripted([script]), [3], SearchOptions(2)) == [(UNK, EOS)]
        (found,) = search(
            scripted([script]), scripted([script]).encode([3]), SearchOptions(2, unknowns=False)
        )
        assert found.best.ids == (A, EOS)
        assert found.best.log_prob == pytest.approx(math.log(0.1)), (
            "what may not be chosen keeps its probability"
        )

    def test_repeated_groups(self, scripted):
        endless = {}
        for k in range(12):
            endless[tuple(([A, B] * 6)[:k])] = {(A, B)[k % 2]: 0.9, C: 0.1}
        assert best(scripted([endless]), [9], SearchOptions(1, max_ratio=0, max_extra=6))[0][:5] == (
            A,
            B,
            A,
            B,
            A,
        )
        blocked = SearchOptions(1, max_ratio=0, max_extra=6, block_ngrams=2)
        # A, B, A may not be scores by B once more
        assert best(scripted([endless]), [9], blocked)[0][:4] == (A, B, A, C)

    def test_excluded_phrases(self, scripted):
        script = {(): {A: 0.9, B: 0.1}, (A,): {B: 0.8, C: 0.2}, (B,): {B: 1.0}}
        constraints = [
            TokenConstraints(exclude=((A, B),)),
            TokenConstraints(exclude=((A,), (B, B))),
            TokenConstraints(),
        ]
        found = best(scripted([script] * 3), [3, 3, 3], SearchOptions(1), constraints)
        assert found[0] == (A, C, EOS)
        assert found[1][:1] == (B,)
        assert found[1][1] != B
        assert found[2] == (A, B, EOS)

    def test_a_prefix_is_scored_as_the_model_scores_it(self, scripted):
        script = {(): {A: 0.9, B: 0.1}, (B,): {C: 0.3, A: 0.7}, (B, C): {A: 1.0}, (B, C, A): {EOS: 1.0}}
        decoder = scripted([script, script])
        constraints = [TokenConstraints(prefix=(B, C)), TokenConstraints()]
        first, second = search(decoder, decoder.encode([3, 3]), SearchOptions(3), constraints)
        assert first.best.ids == (B, C, A, EOS)
        assert first.best.token_log_probs == pytest.approx([math.log(0.1), math.log(0.3), 0, 0], abs=1e-6)
        assert second.best.ids == (A, EOS)

    def test_phrases_that_must_appear(self, scripted):
        script = {(): {A: 0.6, B: 0.4}, (A,): {EOS: 0.9, C: 0.1}, (B,): {C: 0.5, EOS: 0.5}}
        decoder = scripted([script])
        (found,) = search(
            decoder, decoder.encode([3]), SearchOptions(4, 4), [TokenConstraints(include=((B, C),))]
        )
        assert found.best.ids == (B, C, EOS)
        assert found.best.log_prob == pytest.approx(math.log(0.2))

    def test_overlapping_phrases_share_words_where_there_is_no_room_for_both(self, network):
        decoder = network(0)
        constraints = TokenConstraints(include=((A, B), (B, C)))
        options = SearchOptions(3, max_ratio=0, max_extra=4)
        (found,) = search(decoder, decoder.encode([3]), options, [constraints])
        assert found.best.ids == (A, B, C, EOS)

    def test_a_phrase_goes_on_only_where_nothing_excluded_arises(self, network):
        constraints = TokenConstraints(include=((A,), (B,)), exclude=((A, B), (B, A)))
        for seed in range(20):
            decoder = network(seed)
            (found,) = search(
                decoder, decoder.encode([3]), SearchOptions(4, 4, max_ratio=0, max_extra=7), [constraints]
            )
            for one in found.hypotheses:
                assert holds(one.ids, (A,))
                assert holds(one.ids, (B,))
                assert not holds(one.ids, (A, B))
                assert not holds(one.ids, (B, A))

    def test_attention_is_told_where_to_look(self, network):
        decoder = network(1)
        constraints = [
            TokenConstraints(attend={0: 2, 2: 1}),
            TokenConstraints(),
            TokenConstraints(attend={1: 0}),
        ]
        found = search(decoder, decoder.encode([4, 3, 5]), SearchOptions(3, min_length=4), constraints)
        assert found[0].best.alpha[[0, 2]].tolist() == [[0, 0, 1, 0], [0, 1, 0, 0]]
        assert found[2].best.alpha[1].tolist() == [1, 0, 0, 0, 0]
        free = found[1].best
        assert free.alpha.max() < 1
        (alone,) = search(
            decoder, decoder.encode([4, 3]).select(torch.tensor([1])), SearchOptions(3, min_length=4)
        )
        assert alone.best.ids == free.ids


def holds(ids, phrase):
    return any(ids[k : k + len(phrase)] == phrase for k in range(len(ids)))


words = st.sampled_from([UNK, 4, 5, 6, 7])
phrases = st.lists(words, min_size=1, max_size=3).map(tuple)
widths = st.integers(1, 7)
LIMIT = {"max_ratio": 1.0, "max_extra": 12}


@settings(max_examples=40)
@given(st.integers(0, 10**6), widths, st.lists(phrases, min_size=1, max_size=4))
def test_every_output_holds_what_it_must(network, seed, width, include):
    decoder = network(seed)
    constraints = [TokenConstraints(include=tuple(include)), TokenConstraints()]
    found, free = search(decoder, decoder.encode([3, 5]), SearchOptions(width, width, **LIMIT), constraints)
    assert found.hypotheses
    for one in found.hypotheses:
        assert all(holds(one.ids, phrase) for phrase in include)
        assert one.ids[-1] == EOS
        assert one.ids.count(EOS) == 1
        assert len(one.ids) <= 14
    (alone,) = search(
        decoder, decoder.encode([3, 5]).select(torch.tensor([1])), SearchOptions(width, width, **LIMIT)
    )
    assert [one.ids for one in free.hypotheses] == [one.ids for one in alone.hypotheses]


@settings(max_examples=40)
@given(st.integers(0, 10**6), widths, st.lists(phrases, max_size=4), st.lists(words, max_size=4))
def test_no_output_holds_what_it_may_not_and_each_begins_as_it_must(network, seed, width, exclude, prefix):
    exclude = tuple(phrase for phrase in exclude if not holds(tuple(prefix), phrase))
    decoder = network(seed)
    constraints = [TokenConstraints(prefix=tuple(prefix), exclude=exclude)] * 2
    for found in search(decoder, decoder.encode([3, 5]), SearchOptions(width, width, **LIMIT), constraints):
        assert found.hypotheses
        for one in found.hypotheses:
            assert not any(holds(one.ids, phrase) for phrase in exclude)
            assert list(one.ids[: len(prefix)]) == prefix


@settings(max_examples=40)
@given(st.integers(0, 10**6), widths, st.integers(1, 4), st.integers(0, 9), st.booleans())
@example(161, 1, 2, 9, False)  # after eight words, each of the four would repeat a pair
def test_blocking_and_minima(network, seed, width, n, least, unknowns):
    decoder = network(seed)
    options = SearchOptions(width, width, min_length=least, block_ngrams=n, unknowns=unknowns, **LIMIT)
    for found in search(decoder, decoder.encode([3, 5]), options):
        for one in found.hypotheses:
            groups = [one.ids[k : k + n] for k in range(len(one.ids) - n + 1)]
            assert len(set(groups)) == len(groups)
            assert unknowns or UNK not in one.ids
            if len(one.ids) <= least:  # only where every word would repeat an n-gram
                last = one.ids[len(one.ids) - n : -1]
                choices = {A, B, C, 7} | ({UNK} if unknowns else set())
                assert {(*last, word) for word in choices} <= set(groups)


CONSTRAINED = [
    TokenConstraints(),
    TokenConstraints(prefix=(A, A)),
    TokenConstraints(include=((B, C), (7,)), exclude=((A,),)),
    TokenConstraints(exclude=((C, C), (B,)), attend={1: 0}),
]
EVERYTHING = {
    "plain": SearchOptions(4, 3),
    "greedy": SearchOptions(1),
    "wu": SearchOptions(4, 3, "wu", 0.8, coverage=0.3),
    "coverage": SearchOptions(6, 4, coverage=1.0, min_ratio=1.2),
    "blocking": SearchOptions(3, 2, block_ngrams=2, unknowns=False, min_length=3),
}
every_option = pytest.mark.parametrize("options", EVERYTHING.values(), ids=EVERYTHING.keys())


@every_option
@pytest.mark.parametrize("constraints", [None, CONSTRAINED], ids=["freely", "constrained"])
def test_neither_company_nor_order_changes_what_is_found(options, constraints, network):
    for seed in range(6):
        decoder = network(seed)
        encoded = decoder.encode([5, 7, 2, 4])
        together = search(decoder, encoded, options, constraints)
        for order in ([3, 2, 1, 0], [2], [1, 3], [0, 0, 0]):
            some = None if constraints is None else [constraints[b] for b in order]
            found = search(decoder, encoded.select(torch.tensor(order)), options, some)
            for b, each in zip(order, found, strict=True):
                same(each.hypotheses, together[b].hypotheses)


def same(ours, theirs):
    assert [one.ids for one in ours] == [one.ids for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-9)
        assert one.score == pytest.approx(other.score, abs=1e-9)
        np.testing.assert_allclose(one.alpha, other.alpha, atol=1e-6)


@every_option
def test_a_history_changes_nothing(options, network):
    decoder = network(3)
    encoded = decoder.encode([5, 7, 2, 4])
    for constraints in (None, CONSTRAINED):
        with_it = search(decoder, encoded, options, constraints, history=True)
        for one, other in zip(with_it, search(decoder, encoded, options, constraints), strict=True):
            same(one.hypotheses, other.hypotheses)


@every_option
def test_scores_are_those_of_forced_decoding(options, tiny_model):
    """Words, probabilities, alpha and coverage are the model's for exactly these words."""
    model = tiny_model("luong", num_layers=2, cell="lstm")
    sources = [[4, 5, 6, 7], [8], [], [5, 5, 7]]
    batch = pad_sources(sources)
    constrained = [replace(constraints, attend={}) for constraints in CONSTRAINED]
    found = search(model.decoder, model.encode(batch.source_ids, batch.source_mask), options, constrained)
    pairs = [
        EncodedPair(source, list(one.ids[:-1]))
        for source, each in zip(sources, found, strict=True)
        for one in each.hypotheses
    ]
    given = decode_forced(model, pad_pairs(pairs))
    ours = [one for each in found for one in each.hypotheses]
    for one, other in zip(ours, given, strict=True):
        assert one.ids == other.ids
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-9)
        np.testing.assert_allclose(one.alpha, other.alpha, atol=1e-6)
        length = len(one.ids)
        divisor = ((5 + length) / 6) ** 0.8 if options.length_penalty == "wu" else length
        covered = np.log(np.minimum(other.alpha.sum(axis=0), 1)).sum()
        assert one.score == pytest.approx(other.log_prob / divisor + options.coverage * covered, abs=1e-5)


class Short:
    """A decoder whose logits are over some of the words, in an order of their own."""

    def __init__(self, decoder, words):
        self.decoder, self.words = decoder, torch.tensor(words)
        self.initial_state, self.encode = decoder.initial_state, decoder.encode

    def step(self, previous_ids, state, encoded):
        output = self.decoder.step(previous_ids, state, encoded)
        return replace(output, logits=output.logits[:, self.words])


class Narrowed(Short):
    """The same over all words, those left out without any probability."""

    words = None

    def __init__(self, decoder, words):
        super().__init__(decoder, words)
        self.kept, self.words = self.words, None

    def step(self, previous_ids, state, encoded):
        output = self.decoder.step(previous_ids, state, encoded)
        logits = torch.full_like(output.logits, float("-inf"))
        logits[:, self.kept] = output.logits[:, self.kept]
        return replace(output, logits=logits)


KEPT = [7, EOS, B, UNK, C]


@every_option
def test_a_shortlist_is_a_model_without_the_other_words(options, network):
    constraints = [
        TokenConstraints(),
        TokenConstraints(prefix=(7,)),
        TokenConstraints(include=((B, 7),)),
        TokenConstraints(exclude=((7,), (A, B))),
    ]
    for seed in range(6):
        short, whole = Short(network(seed), KEPT), Narrowed(network(seed), KEPT)
        for constrained in (None, constraints):
            found = search(short, short.encode([5, 7, 2, 4]), options, constrained)
            for one, other in zip(
                found, search(whole, whole.encode([5, 7, 2, 4]), options, constrained), strict=True
            ):
                same(one.hypotheses, other.hypotheses)


class Watched(DecoderState):
    """Counts how often rows are gathered."""

    gathered = 0

    def select(self, rows):
        Watched.gathered += 1
        return Watched(super().select(rows).cells)


def test_nothing_is_gathered_where_every_hypothesis_goes_on_from_its_own(network, monkeypatch):
    decoder = network(0)
    step = decoder.step

    def watched(previous_ids, state, encoded):
        output = step(previous_ids, state, encoded)
        return replace(output, state=Watched(output.state.cells))

    monkeypatch.setattr(decoder, "step", watched)
    monkeypatch.setattr(Watched, "gathered", 0)
    search(decoder, decoder.encode([4]), SearchOptions(1, min_length=6))
    assert len(decoder.steps) >= 7
    assert Watched.gathered == 0
    search(decoder, decoder.encode([4]), SearchOptions(3, min_length=6))
    assert 0 < Watched.gathered < len(decoder.steps)


def test_slots_that_no_sentence_fills_are_not_stepped(scripted):
    script = {
        (): {EOS: 0.5, A: 0.3, B: 0.2},
        (A,): {A: 0.6, EOS: 0.4},
        (A, A): {A: 1.0},
        (A, A, A): {EOS: 1.0},
    }
    other = {(): {EOS: 0.4, A: 0.35, B: 0.25}, (A,): {EOS: 0.9, A: 0.1}, (B,): {EOS: 0.8, B: 0.2}}
    decoder = scripted([script, other])
    search(decoder, decoder.encode([4, 4]), SearchOptions(3, 3))
    # one slot each; after one end each, two; after all of the other's, one of the first
    assert decoder.steps[:3] == [2, 4, 1]


class TestRefusals:
    def refuse(self, decoder, lengths, message, *arguments, error=ConfigError):
        with pytest.raises(error, match=message):
            search(decoder, decoder.encode(lengths), *arguments)

    def test_as_many_requests_as_sentences(self, network):
        self.refuse(
            network(0), [3, 3], "1 constraints for 2 sentences", SearchOptions(), [TokenConstraints()]
        )

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            (
                TokenConstraints(include=((A, B), (C, 7))),
                "sentence 2: its prefix and phrases need 5 tokens .* its limit is 4",
            ),
            (TokenConstraints(prefix=(A, A, A, A)), "sentence 2: its prefix and phrases need 5 tokens"),
            (TokenConstraints(prefix=(99,)), "the word with id 99 .* is not in the vocabulary"),
            (TokenConstraints(include=((99,),)), "the word with id 99 .* is not in the vocabulary"),
            (
                TokenConstraints(attend={0: 3}),
                "step 0 of sentence 2 at position 3, and its source has 3 tokens",
            ),
        ],
        ids=["phrases", "prefix", "no-such-prefix", "no-such-phrase", "past-the-end"],
    )
    def test_what_cannot_be(self, request_, message, network):
        options = SearchOptions(2, max_ratio=0, max_extra=4)
        self.refuse(network(0), [3, 3], message, options, [TokenConstraints(), request_])

    def test_contradictions_that_only_the_search_can_see(self, network):
        every = (UNK, 4, 5, 6, 7)
        constraints = TokenConstraints(
            include=((A,), (B,)), exclude=tuple((one, other) for one in every for other in every)
        )
        self.refuse(
            network(0), [3], "sentence 1: no output meets all constraints", SearchOptions(2), [constraints]
        )

    def test_a_word_outside_the_shortlist(self, network):
        self.refuse(
            Short(network(0), [EOS, 5]),
            [3],
            "id 4 .* not in the shortlist",
            SearchOptions(),
            [TokenConstraints(prefix=(A,))],
        )

    def test_a_shortlist_without_the_end_mark(self, network):
        self.refuse(Short(network(0), [4, 5]), [3], "no </s>")

    @pytest.mark.parametrize("what", ["coverage", "attend"])
    def test_attention_where_there_is_none(self, what, tiny_model):
        model = tiny_model("sutskever")
        batch = pad_sources([[4, 5]])
        encoded = model.encode(batch.source_ids, batch.source_mask)
        options = SearchOptions(coverage=0.2 if what == "coverage" else 0)
        constraints = [TokenConstraints(attend={0: 0})] if what == "attend" else None
        with pytest.raises(ConfigError, match=f"{what}: this model does not attend"):
            search(model.decoder, encoded, options, constraints)

    def test_a_model_that_has_diverged(self, network):
        decoder = network(0)
        decoder.O = decoder.O * float("nan")
        self.refuse(decoder, [3, 2], "sentence 1: no output has a probability", error=DataError)


class TestWatch:
    """Who watches a search sees the most probable partial hypothesis of each step, as the history has it."""

    @pytest.mark.parametrize("options", [SearchOptions(), SearchOptions(1), SearchOptions(3, n_best=3)])
    def test_the_leading_hypothesis_of_every_step(self, options, network):
        decoder, lengths, seen = network(0), [3, 1, 5], {}
        results = search(
            decoder,
            decoder.encode(lengths),
            options,
            history=True,
            watch=lambda b, ids: seen.setdefault(b, []).append(ids),
        )
        for b, result in enumerate(results):
            expected = []
            for step in result.history.steps:
                kept = [node for node in step if node.fate == "kept"]
                if kept:
                    leading = max(kept, key=lambda node: node.total)
                    expected.append(tuple(node.token for node in result.history.path_to(leading)))
            # a sentence that has left the batch may have had kept ones that could not reach its n best
            shown = seen.get(b, [])
            assert shown == expected[: len(shown)]
            assert len(shown) >= len(expected) - 1
            assert EOS not in {token for ids in shown for token in ids}
        plain = search(decoder, decoder.encode(lengths), options)
        assert [each.best.ids for each in plain] == [each.best.ids for each in results]
