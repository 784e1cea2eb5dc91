"""Search against a plain beam, one sentence and one hypothesis at a time, and against every output there is.

Both walk the same slow truth: `Rules.legal` says word by word what may follow, by looking at all words so far.
"""

import math
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.models import DecoderState
from regard.search.beam import search
from regard.search.constraints import TokenConstraints
from regard.search.options import SearchOptions
from regard.text.specials import BOS, EOS, PAD, UNK

WORDS = range(4, 8)


def holds(ids, phrase):
    return any(ids[k : k + len(phrase)] == phrase for k in range(len(ids)))


def joined(ids, phrase):
    """The shortest `ids` + … that holds a phrase at its end, or holds it already."""
    if holds(ids, phrase):
        return ids
    sizes = [n for n in range(len(phrase) + 1) if n <= len(ids) and ids[len(ids) - n :] == phrase[:n]]
    return ids + phrase[max(sizes) :]


@dataclass(frozen=True)
class Rules:
    """One sentence's options and constraints."""

    options: SearchOptions
    constraints: TokenConstraints
    source_length: int

    @property
    def limit(self):
        return math.floor((self.source_length - 1) * self.options.max_ratio) + self.options.max_extra

    @property
    def fewest(self):
        least = max(
            self.options.min_length, math.ceil((self.source_length - 1) * self.options.min_ratio - 1e-9)
        )
        return min(least, self.limit - 1)

    @property
    def possible(self):
        return len(self.constraints.prefix) + self.lacking(self.constraints.prefix) < self.limit

    def lacking(self, ids):
        """The fewest words after which all phrases are there."""
        ways = []
        for order in permutations(dict.fromkeys(self.constraints.include)):
            whole = ids
            for phrase in order:
                whole = joined(whole, phrase)
            ways.append(len(whole) - len(ids))
        return min(ways)

    def going_on(self, ids):
        """The words that go on with a phrase that is not there yet."""
        whole = self.constraints.include
        watched = [p for p in whole if not any(p != q and holds(q, p) for q in whole)]
        return {joined(ids, phrase)[len(ids)] for phrase in watched if not holds(ids, phrase)}

    def legal(self, ids, wanted=None):
        """What may follow these words; `wanted` () where phrases are granted nothing that other words are not."""
        step, constraints = len(ids), self.constraints
        if step < len(constraints.prefix):
            return {constraints.prefix[step]}
        if step + 1 == self.limit:
            return {EOS}
        wanted = self.going_on(ids) if wanted is None else set(wanted)
        may = set(WORDS) | wanted | ({UNK} if self.options.unknowns else set())
        n = self.options.block_ngrams
        if n > 0:
            groups = {ids[k : k + n] for k in range(len(ids) - n + 1)}
            may -= {word for word in may - wanted if (*ids, word)[step + 1 - n :] in groups}
        may = {
            word
            for word in may
            if not any(
                (*ids, word)[step + 1 - len(out) :] == out
                for out in constraints.exclude
                if len(out) <= step + 1
            )
        }
        if self.lacking(ids) == 0 and (step >= self.fewest or not may):
            may.add(EOS)
        return may

    def fits(self, ids):
        """Whether the phrases that are lacking have room."""
        return ids[-1] == EOS or len(ids) + 1 + self.lacking(ids) <= self.limit

    def score(self, total, alphas):
        options, length = self.options, len(alphas)
        divisor = {
            "average": length**options.length_power,
            "wu": ((5 + length) / 6) ** options.length_power,
            "none": 1,
        }[options.length_penalty]
        covered = sum(math.log(max(min(c, 1), 1e-6)) for c in sum(alphas)[: self.source_length])
        return total / divisor + options.coverage * covered


@dataclass
class Slow:
    """A hypothesis of the reference."""

    ids: tuple = ()
    log_probs: tuple = ()
    alphas: list = field(default_factory=list)
    state: DecoderState | None = None

    @property
    def total(self):
        return sum(self.log_probs)


def look(decoder, encoded, rules, hypothesis):
    """One step of one hypothesis: log p of every word, and itself with its new state and alpha."""
    step = len(hypothesis.ids)
    position = rules.constraints.attend.get(step, -1)
    previous = hypothesis.ids[-1] if hypothesis.ids else BOS
    output = decoder.step(
        torch.tensor([previous]), hypothesis.state, encoded.with_forced_attention(torch.tensor([position]))
    )
    log_probs = output.logits[0].log_softmax(dim=-1).tolist()
    alphas = [*hypothesis.alphas, output.alpha[0].numpy()]
    return log_probs, Slow(hypothesis.ids, hypothesis.log_probs, alphas, output.state)


def slow_beam(decoder, encoded, rules):
    """The n best of one sentence, without any early end."""
    options = rules.options
    if not rules.possible:
        return []
    alive, finished = [Slow(state=decoder.initial_state(encoded))], []
    while alive:
        candidates = []
        for hypothesis in alive:
            log_probs, looked = look(decoder, encoded, rules, hypothesis)
            legal = sorted(rules.legal(hypothesis.ids), key=lambda word: -log_probs[word])
            # of each hypothesis the 2 K best words that any may choose, and those that go on with a phrase
            wanted, free = rules.going_on(hypothesis.ids), rules.legal(hypothesis.ids, wanted=())
            for word in legal:
                ids = (*hypothesis.ids, word)
                rank = sum(word in free for word in legal[: legal.index(word)])
                if rules.fits(ids) and (rank < 2 * options.beam or word in wanted):
                    values = (*hypothesis.log_probs, log_probs[word])
                    candidates.append(Slow(ids, values, looked.alphas, looked.state))
        candidates.sort(key=lambda one: -one.total)
        if rules.constraints.include:
            banks = {}
            for one in candidates:
                banks.setdefault(0 if one.ids[-1] == EOS else rules.lacking(one.ids), []).append(one)
            turns = [(rank, lacking, one) for lacking, bank in banks.items() for rank, one in enumerate(bank)]
            candidates = [one for _, _, one in sorted(turns, key=lambda turn: turn[:2])]
        chosen = candidates[: options.beam - len(finished)]
        finished += [one for one in chosen if one.ids[-1] == EOS]
        alive = [one for one in chosen if one.ids[-1] != EOS]
    return sorted(finished, key=lambda one: -rules.score(one.total, one.alphas))[: options.n_best]


def every_output(decoder, encoded, rules):
    """All outputs that the rules allow."""
    if not rules.possible:
        return []
    waiting, finished = [Slow(state=decoder.initial_state(encoded))], []
    while waiting:
        hypothesis = waiting.pop()
        log_probs, looked = look(decoder, encoded, rules, hypothesis)
        for word in rules.legal(hypothesis.ids):
            values = (*hypothesis.log_probs, log_probs[word])
            longer = Slow((*hypothesis.ids, word), values, looked.alphas, looked.state)
            if rules.fits(longer.ids):
                (finished if word == EOS else waiting).append(longer)
    return sorted(finished, key=lambda one: -rules.score(one.total, one.alphas))


def same(found, slow, rules):
    assert [one.ids for one in found.hypotheses] == [one.ids for one in slow]
    for ours, theirs in zip(found.hypotheses, slow, strict=True):
        assert ours.token_log_probs == pytest.approx(theirs.log_probs, abs=1e-9)
        assert ours.log_prob == pytest.approx(theirs.total, abs=1e-9)
        assert ours.score == pytest.approx(rules.score(theirs.total, theirs.alphas), abs=1e-9)
        alpha = np.stack(theirs.alphas)[:, : rules.source_length]
        # kept in float32
        np.testing.assert_allclose(ours.alpha, alpha, atol=1e-6)


def alone(encoded, b):
    return encoded.select(torch.tensor([b]))


phrases = st.lists(st.sampled_from([*WORDS, UNK]), min_size=1, max_size=3).map(tuple)


@st.composite
def all_constraints(draw, number):
    made = []
    for _ in range(number):
        parts = {
            "prefix": tuple(draw(st.lists(st.sampled_from([*WORDS, UNK]), max_size=3))),
            "include": tuple(draw(st.lists(phrases, max_size=3))),
            "exclude": tuple(draw(st.lists(phrases, max_size=3))),
            "attend": draw(st.dictionaries(st.integers(0, 4), st.integers(0, 0), max_size=2)),
        }
        parts = {name: part for name, part in parts.items() if draw(st.booleans())}
        try:
            made.append(TokenConstraints(**parts))
        except ConfigError:  # it excludes what it asks for
            made.append(TokenConstraints(**parts | {"exclude": ()}))
    return made


BEAMS = st.integers(1, 6)
LIMITS = st.sampled_from([(1.0, 4), (0, 9), (2.0, 2)])  # max_ratio and max_extra


def all_options(beams=BEAMS, limits=LIMITS):
    return st.builds(
        lambda beam, n_best, limit, **rest: SearchOptions(
            beam, min(beam, n_best), max_ratio=limit[0], max_extra=limit[1], **rest
        ),
        beams,
        st.integers(1, 6),
        limits,
        length_penalty=st.sampled_from(["average", "wu", "none"]),
        length_power=st.sampled_from([0.0, 0.6, 1.0, 1.5]),
        coverage=st.sampled_from([0.0, 0.0, 0.2, 2.0]),
        min_length=st.sampled_from([0, 0, 2, 5]),
        min_ratio=st.sampled_from([0.0, 0.0, 0.7, 1.5]),
        block_ngrams=st.sampled_from([0, 0, 1, 2, 3]),
        unknowns=st.booleans(),
    )


LENGTHS = [3, 7, 1, 5]


def agree(decoder, options, constraints, slow, lengths=LENGTHS):
    """Search of all sentences at once is the slow search of each; where that finds nothing, it says so."""
    encoded = decoder.encode(lengths)
    rules = [Rules(options, constraints, n) for constraints, n in zip(constraints, lengths, strict=True)]
    expected = [slow(decoder, alone(encoded, b), one) for b, one in enumerate(rules)]
    hopeless = [b for b, each in enumerate(expected) if not each]
    if hopeless:
        with pytest.raises(ConfigError, match=f"sentence {hopeless[0] + 1}"):
            search(decoder, encoded, options, constraints)
        keep = [b for b in range(len(lengths)) if b not in hopeless]
        if not keep:
            return
        rules, constraints = [rules[b] for b in keep], [constraints[b] for b in keep]
        expected, encoded = [expected[b] for b in keep], encoded.select(torch.tensor(keep))
    for found, theirs, one in zip(
        search(decoder, encoded, options, constraints), expected, rules, strict=True
    ):
        same(found, theirs, one)


@settings(max_examples=60)
@given(st.integers(0, 10**6), all_options())
def test_every_option_against_a_plain_beam(network, seed, options):
    agree(network(seed), options, [TokenConstraints()] * len(LENGTHS), slow_beam)


@settings(max_examples=100)
@given(st.integers(0, 10**6), all_options(), all_constraints(len(LENGTHS)))
def test_every_request_against_a_plain_beam(network, seed, options, constraints):
    agree(network(seed), options, constraints, slow_beam)


FEW = st.sampled_from([(0, 4), (0.5, 3), (0, 1)])


@settings(max_examples=40)
@given(st.integers(0, 10**6), all_options(st.just(200), FEW), all_constraints(2))
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all_outputs(network, seed, options, constraints):
    """Five words, at most three and EOS: 156 outputs."""

    def all_of_them(decoder, encoded, rules):
        return every_output(decoder, encoded, rules)[: options.n_best]

    agree(network(seed), options, constraints, all_of_them, lengths=[3, 1])


def test_the_space_is_as_large_as_it_is_said_to_be(network):
    decoder = network(0)
    rules = Rules(SearchOptions(max_ratio=0, max_extra=4), TokenConstraints(), 3)
    outputs = every_output(decoder, decoder.encode([3]), rules)
    assert len({one.ids for one in outputs}) == len(outputs) == 156
    assert not any({PAD, BOS} & set(one.ids) for one in outputs)


def test_a_phrase_with_a_word_that_is_banned_elsewhere(network):
    """Found by chance: the unknown word is weighed for the phrase's sake, and takes no other word's place."""
    options = SearchOptions(2, 2, length_power=0.0, max_ratio=1.0, max_extra=4, unknowns=False)
    constraints = [
        TokenConstraints(),
        TokenConstraints(include=((4, UNK),)),
        TokenConstraints(),
        TokenConstraints(),
    ]
    agree(network(0), options, constraints, slow_beam)
