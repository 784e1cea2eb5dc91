from collections import Counter

import pytest
import torch

from regard.batches import pad_pairs, pad_sources
from regard.errors import ConfigError, DataError
from regard.search.beam import search
from regard.search.constraints import TokenConstraints
from regard.search.forced import decode_forced
from regard.search.options import SamplingOptions, SearchOptions
from regard.search.sampling import sample_outputs
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
        """At the limit the prefix would take the end mark's place, and nothing would end the output any more."""
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
