import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.batches import pad_pairs
from regard.errors import ConfigError, DataError
from regard.tasks.translate.predictor import Translator
from regard.text import EOS, EncodedPair, train_tokenizer

# each of nine tokens, as the tiny models have: four specials, and
TEXTS = {
    "word": ["a b c d e"],
    "char": ["abcd"],  # and the blank
    "bpe": ["ab ab ab a b"] * 3,  # a, b, ▁ and two pieces
}
LINES = ["a b c", "", "e", "d d d d a a", "   ", "b unknown a", "\u3000\u2028", "a b c", "c"]

# float64 leaves about 1e-16 an operation; a sentence has some thousands of them
CLOSE = {"rtol": 0, "atol": 1e-10}
ALPHA = {"rtol": 0, "atol": 1e-6}  # attention is handed out in float32


@pytest.fixture
def translator(tiny_model):
    """A translator of a given kind of model and of tokens."""

    def build(kind="bahdanau", tokens="word", **options):
        tokenizers = (train_tokenizer(tokens, TEXTS[tokens], size=9) for _ in range(2))
        made = Translator(tiny_model(kind), *tokenizers, **options)
        assert made.source_tokenizer.size == made.target_tokenizer.size == 9
        return made

    return build


def agree(one, other):
    assert (one.source, one.text, one.tokens, one.links) == (
        other.source,
        other.text,
        other.tokens,
        other.links,
    )
    np.testing.assert_allclose(one.token_log_probs, other.token_log_probs, **CLOSE)
    np.testing.assert_allclose([one.score, one.log_prob], [other.score, other.log_prob], **CLOSE)
    assert (one.alpha is None) == (other.alpha is None)
    if one.alpha is not None:
        np.testing.assert_allclose(one.alpha, other.alpha, **ALPHA)
    assert len(one.alternatives) == len(other.alternatives)
    for mine, theirs in zip(one.alternatives, other.alternatives, strict=True):
        agree(mine, theirs)


class TestOneLineOutForEachLineIn:
    @pytest.mark.parametrize("tokens", TEXTS)
    # the fixture only builds; nothing lives from one example to the next
    @settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_in_order_whatever_the_lengths(self, translator, tokens, data):
        """Each line's translation is the one it has alone, so length sorting puts none in another's place."""
        made = translator(tokens=tokens)
        lines = data.draw(st.lists(st.text("ab e\t\u3000", max_size=12), min_size=2, max_size=6))
        options = {"beam": 1, "max_ratio": 1.0, "max_extra": 3}
        found = made.translate(lines, batch_sentences=3, **options)
        assert [each.source for each in found] == lines
        for line, each in zip(lines, found, strict=True):
            agree(each, made.translate([line], **options)[0])

    @pytest.mark.parametrize("tokens", TEXTS)
    def test_blank_lines_stay_blank(self, translator, tokens):
        """Even to a character model, which has tokens for blanks."""
        found = translator(tokens=tokens).translate(LINES)
        assert [each.source for each in found] == LINES
        for line, each in zip(LINES, found, strict=True):
            assert bool(each.tokens) == bool(line.strip())
            if not line.strip():
                assert (each.text, each.score, each.alpha, each.links) == ("", 0.0, None, frozenset())

    def test_one_text_is_no_list_of_lines(self, translator):
        """Its characters would be translated one by one."""
        with pytest.raises(DataError, match=r"takes a list of lines, not one text: translate\(\['a b'\]\)"):
            translator().translate("a b")

    def test_no_lines(self, translator):
        assert translator().translate([]) == []
        assert list(translator().translate_stream([])) == []
        assert translator().align([], []) == []


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])
@pytest.mark.parametrize("beam", [1, 4])
def test_company_changes_nothing(translator, kind, beam):
    made = translator(kind)
    alone = made.translate(LINES, beam=beam, n_best=beam, batch_sentences=1)
    for options in ({"batch_sentences": 32}, {"batch_sentences": 32, "batch_tokens": 9}):
        for one, other in zip(alone, made.translate(LINES, beam=beam, n_best=beam, **options), strict=True):
            agree(one, other)


class TestStream:
    @pytest.mark.parametrize("chunk", [1, 2, 100])
    def test_gives_what_translate_gives(self, translator, chunk):
        made = translator()
        stream = made.translate_stream(iter(LINES), chunk=chunk, beam=3, n_best=2)
        for one, other in zip(stream, made.translate(LINES, beam=3, n_best=2), strict=True):
            agree(one, other)

    def test_reads_no_further_ahead_than_a_chunk(self, translator):
        read = 0

        def endless():
            nonlocal read
            while True:
                read += 1
                yield "a b"

        stream = translator().translate_stream(endless(), chunk=4, beam=1)
        assert read == 0
        for number in range(1, 10):
            next(stream)
            assert read == -(-number // 4) * 4

    def test_a_misspelt_option(self, translator):
        with pytest.raises(ConfigError, match="no option 'baem'; did you mean 'beam'"):
            list(translator().translate_stream(["a"], baem=3))


class TestTooLong:
    def test_the_limit_is_of_tokens_and_legal(self, translator):
        made = translator(max_length=3)
        assert made.translate(["a b c"])[0].tokens
        with pytest.raises(DataError) as caught:
            made.translate(["a", "", "a b c d"])
        assert str(caught.value).startswith(
            "line 3 ('a b c d' …) has 4 tokens, above the limit of 3; split it"
        )
        assert "--max-length" in str(caught.value)

    def test_lines_are_counted_over_the_chunks_of_a_stream(self, translator):
        stream = translator(max_length=3).translate_stream(["a"] * 7 + ["a b c d"], chunk=3, beam=1)
        assert (
            len([next(stream) for _ in range(7)]) == 7
        )  # what came before is not lost, in its own chunk either
        with pytest.raises(DataError, match="line 8 "):
            next(stream)

    def test_pairs_are_counted_from_where_one_says(self, translator):
        with pytest.raises(DataError, match="line 102 "):
            translator(max_length=3).align(["a", "a b c d"], ["a", "a"], first_line=101)


class TestNBest:
    def test_best_first_and_all_different(self, translator):
        made = translator()
        for translation in made.translate(["a b c", "e"], beam=5, n_best=5):
            every = (translation, *translation.alternatives)
            assert len({each.tokens for each in every}) == len(every) == 5
            assert [each.score for each in every] == sorted((each.score for each in every), reverse=True)
            assert all(each.source == translation.source for each in every)
            assert all(not each.alternatives for each in translation.alternatives)
            assert all(each.alpha.shape == (len(each.tokens), len(each.source_tokens)) for each in every)

    def test_the_first_is_what_one_gets_without(self, translator):
        made = translator()
        for one, other in zip(
            made.translate(["a b c", "e"], beam=4, n_best=3),
            made.translate(["a b c", "e"], beam=4),
            strict=True,
        ):
            assert (one.text, one.score) == (other.text, other.score)
            assert other.alternatives == ()

    def test_more_than_the_beam(self, translator):
        with pytest.raises(
            ConfigError, match="n_best: 3 is more than the beam, 2; raise beam, or lower n_best"
        ):
            translator().translate(["a"], beam=2, n_best=3)


def test_options_of_the_search_arrive(translator):
    made = translator()
    short = made.translate(["a b c d e"], max_ratio=0.0, max_extra=2)[0]
    assert len(short.tokens) <= 2
    plain, normalised = (made.translate(["a b c"], beam=4, length_power=p)[0] for p in (0.0, 1.0))
    assert plain.score == plain.log_prob
    assert normalised.score == pytest.approx(normalised.log_prob / len(normalised.tokens))


class TestAlign:
    sources, targets = (
        ["a b c", "", "e", "d d d d a", "c", "a"],
        ["e", "a", "a b", "c c", "", "a b c d e a b"],
    )

    @pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])
    def test_is_the_model_s_word_on_these_very_words(self, translator, kind):
        """Against the model itself, one pair at a time."""
        made = translator(kind)
        read = made.align(self.sources, self.targets, batch_sentences=2)
        assert [each.source for each in read] == self.sources
        for source, target, each in zip(self.sources, self.targets, read, strict=True):
            if not (source and target):
                assert (each.tokens, each.alpha, each.text) == ((), None, "")
                continue
            ids = made.target_tokenizer.encode(target)
            batch = pad_pairs([EncodedPair(made.source_tokenizer.encode(source), ids)])
            with torch.no_grad():
                said = made.model(batch)
            log_probs = said.logits.log_softmax(-1)[torch.arange(len(ids) + 1), [*ids, EOS]]
            assert each.text == target
            np.testing.assert_allclose(each.token_log_probs, log_probs, **CLOSE)
            assert each.log_prob == pytest.approx(float(log_probs.sum()), abs=1e-10)
            assert each.score == pytest.approx(each.log_prob / (len(ids) + 1), abs=1e-12)
            if said.alpha is not None:
                np.testing.assert_allclose(each.alpha, said.alpha[0], **ALPHA)

    def test_gives_a_translation_s_own_score_back(self, translator):
        made = translator()
        for found in made.translate([line for line in LINES if line.strip()], beam=4):
            if "<unk>" not in found.tokens:
                agree(found, made.align([found.source], [found.text])[0])

    def test_unequal_sides(self, translator):
        with pytest.raises(DataError, match="2 source lines and 1 target lines: give one of each"):
            translator().align(["a", "b"], ["a"])

    def test_whether_there_is_anything_to_align(self, translator):
        assert translator("bahdanau").attends
        assert translator("luong").attends
        assert not translator("cho").attends
        assert not translator("sutskever").attends
        assert translator("cho").align(["a"], ["b"])[0].links == frozenset()


def test_links_are_between_words_where_tokens_are_pieces(translator):
    """Pieces of a source word are added up, those of a target word averaged, and the largest wins."""
    made = translator(tokens="bpe")
    source, target = "ba ab abba", "bb aab"
    read = made.align([source], [target])[0]
    assert len(read.source_tokens) > len(source.split()) + 1, "else the test says nothing"
    assert len(read.tokens) > len(target.split()) + 1
    words = [[k for k, word in enumerate(read.source_words) if word == j] for j in range(3)]
    ends = [k for k, word in enumerate(read.source_words) if word is None]
    links = set()
    for i in range(2):
        rows = [read.alpha[k] for k, word in enumerate(read.target_words) if word == i]
        mean = np.mean(rows, axis=0)
        weights = [mean[columns].sum() for columns in words] + [mean[ends].sum()]
        if int(np.argmax(weights)) < 3:
            links.add((int(np.argmax(weights)), i))
    assert read.links == links
    assert links


def test_a_device_that_is_not_there(translator, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="no GPU that torch can use is on this machine; choose cpu"):
        translator(device="cuda")
    with pytest.raises(ConfigError, match=r"no 'gpu'; did you mean 'cpu'\? \(known: auto, cpu, cuda\)"):
        translator(device="gpu")
    assert translator(device="auto").device == "cpu"


@pytest.mark.parametrize("tokens", ["word", "char"])
def test_who_watches_sees_each_line_grow_and_gets_the_same(translator, tokens):
    made, seen = translator(tokens=tokens), {}
    results = made.translate(
        LINES, beam=1, batch_sentences=3, watch=lambda k, text: seen.setdefault(k, []).append(text)
    )
    for one, other in zip(results, made.translate(LINES, beam=1), strict=True):
        agree(one, other)
    assert set(seen) == {k for k, line in enumerate(LINES) if line.strip() and len(results[k].tokens) > 1}
    for k, texts in seen.items():
        # greedy search never revises a word; the last step adds only the end
        assert texts[-1] == results[k].text
        assert all(results[k].text.startswith(text) for text in texts)
