import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation import measure_quality
from regard.evaluation.alignment import score_alignments
from regard.search.options import DEFAULT_SEARCH
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation
from regard.text import GoldLinks, train_tokenizer


def translation(source, text, log_prob, looks=None):
    """A word-level translation: every token as likely, and target word i looks at source word looks[i]."""
    source_tokens, tokens = [*source.split(), "</s>"], [*text.split(), "</s>"]
    if not (source.split() and text.split()):
        return Translation.blank(source)
    alpha = np.zeros((len(tokens), len(source_tokens)))
    for i in range(len(tokens)):
        alpha[i, looks[i] if looks and i < len(looks) else -1] = 1.0
    return Translation(
        source,
        text,
        tuple(source_tokens),
        tuple(tokens),
        log_prob,
        log_prob * len(tokens),
        (log_prob,) * len(tokens),
        alpha,
        (*range(len(source_tokens) - 1), None),
        (*range(len(tokens) - 1), None),
    )


class Scripted:
    """What `evaluate` needs of a translator, with all answers written beforehand."""

    attends = True
    max_length = 1000
    source_tokenizer = target_tokenizer = train_tokenizer("word", ["words are longer than phones"], size=30)

    def __init__(self, translations, read):
        self.translations, self.read, self.arguments = translations, read, {}

    def translate_stream(self, lines, *, chunk, **options):
        self.arguments = options
        assert [each.source for each in self.translations] == list(lines)
        yield from self.translations

    def align(self, sources, targets):
        assert [(each.source, each.text) for each in self.read if each.tokens] == [
            pair for pair in zip(sources, targets, strict=True) if all(map(str.split, pair))
        ]
        return self.read


SOURCES = ["a b", "c", "a b c d"]
REFERENCES = ["A B", "C", "A B C"]
READ = [
    translation("a b", "A B", -1.0, [0, 0]),  # links 0-0 0-1
    translation("c", "C", -2.0),  # looks at EOS: no link
    translation("a b c d", "A B C", -0.5, [3, 1, 2]),  # links 3-0 1-1 2-2
]
GOLD = [
    GoldLinks(frozenset({(0, 0), (1, 1)})),
    GoldLinks(frozenset({(0, 0)})),
    GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(3, 0)})),
]


def scripted(wrong=0):
    """The references themselves as output, the first so many with a wrong word."""
    output = [
        translation(source, text if k >= wrong else "X " + text, -1.0)
        for k, (source, text) in enumerate(zip(SOURCES, REFERENCES, strict=True))
    ]
    return Scripted(output, READ)


def test_perplexity_is_of_the_references_tokens_and_their_ends():
    # three tokens at −1, two at −2, four at −0.5
    assert evaluate(scripted(), SOURCES, REFERENCES).perplexity == pytest.approx(math.exp((3 + 4 + 2) / 9))


def test_alignment_error_rate_by_hand():
    """A = {0-0, 0-1 | | 3-0, 1-1, 2-2}; |A∩S| = 1 + 0 + 1, |A∩P| = 1 + 0 + 2, |A| = 5, |S| = 5."""
    evaluation = evaluate(scripted(), SOURCES, REFERENCES, GOLD)
    assert evaluation.alignment.aer == pytest.approx(1 - (2 + 3) / (5 + 5))
    assert evaluation.alignment.precision == pytest.approx(3 / 5)
    assert evaluation.alignment.recall == pytest.approx(2 / 5)


def test_the_output_is_scored_and_not_the_reading():
    evaluation = evaluate(scripted(wrong=1), SOURCES, REFERENCES, tokenize="none", lowercase=True)
    expected = measure_quality(["X A B", "C", "A B C"], REFERENCES, tokenize="none", lowercase=True)
    assert evaluation.quality == expected
    assert evaluation.quality["exact_match"] == pytest.approx(2 / 3)
    assert [each.text for each in evaluation.translations] == ["X A B", "C", "A B C"]
    assert [each.text for each in evaluation.references_aligned] == REFERENCES


def test_of_several_references_the_nearest_counts():
    """An output is right if it is any reference; a wrong one is compared with the reference of the fewest edits."""
    several = [["A", "A B"], ["C"], ["X Y Z", "A B C"]]
    evaluation = evaluate(scripted(wrong=1), SOURCES, several)
    assert evaluation.references == ("A B", "C", "A B C")
    assert evaluation.quality == measure_quality(["X A B", "C", "A B C"], REFERENCES)
    assert evaluate(scripted(), SOURCES, several).quality["exact_match"] == 1


def test_unknown_words_are_replaced_where_that_is_chosen():
    translator = scripted()
    evaluate(translator, SOURCES, REFERENCES)
    assert "unknowns_from" not in translator.arguments
    evaluate(translator, SOURCES, REFERENCES, replace_unknowns=True)
    assert translator.arguments["unknowns_from"] == {}


def test_options_reach_the_search():
    translator = scripted()
    evaluate(translator, SOURCES, REFERENCES, beam=7, length_power=0.5)
    assert translator.arguments == {"options": DEFAULT_SEARCH, "beam": 7, "length_power": 0.5}


def test_the_listener_hears_each_translation():
    heard = []
    evaluate(scripted(), SOURCES, REFERENCES, listener=heard.append)
    assert [each.source for each in heard] == SOURCES


def test_scores_come_in_the_order_of_the_table():
    names = ["bleu", "chrf", "ter", "exact_match", "token_error_rate", "character_error_rate", "perplexity"]
    counts = ["num_sentences", "sentences_per_second"]
    aligned = ["aer", "alignment_precision", "alignment_recall", "alignment_f1"]
    attending = ["attention_entropy", "attention_coverage", "attention_monotonicity"]
    assert list(evaluate(scripted(), SOURCES, REFERENCES).scores()) == names + attending + counts
    evaluation = evaluate(scripted(), SOURCES, REFERENCES, GOLD)
    assert list(evaluation.scores()) == names + aligned + attending + counts
    assert list(evaluation.to_json()) == [
        *names,
        *aligned,
        *attending,
        *counts,
        "signatures",
        "length_unit",
        "by_length",
    ]
    assert json.loads(json.dumps(evaluation.to_json(), allow_nan=False)) == evaluation.to_json()


def test_attention_is_summed_up_over_the_references():
    """Hard looks: no entropy; 4 of 7 source tokens read; τ-b of (3, 1, 2) is −1/3, and the others have no order."""
    evaluation = evaluate(scripted(), SOURCES, REFERENCES)
    scores = evaluation.scores()
    assert scores["attention_entropy"] == 0
    assert scores["attention_coverage"] == pytest.approx((1 + 0 + 3) / (2 + 1 + 4))
    assert scores["attention_monotonicity"] == pytest.approx(-1 / 3)


def test_attention_without_order_has_no_monotonicity():
    read = [translation("c", "C", -2.0, [0])]
    scores = evaluate(Scripted(read, read), ["c"], ["C"]).scores()
    assert scores["attention_coverage"] == 1
    assert "attention_monotonicity" not in scores


def test_a_band_shows_what_is_known_of_it():
    names = ["num_sentences", "bleu", "chrf", "ter", "exact_match", "token_error_rate", "perplexity"]
    for gold, wanted in ((None, names), (GOLD, [*names, "aer"])):
        evaluation = evaluate(scripted(), SOURCES, REFERENCES, gold)
        assert [list(band.scores()) for band in evaluation.bands] == [wanted] * len(evaluation.bands)


def test_words_read_by_characters_are_measured_in_characters():
    """Spelling to sound: WER and PER first, lengths in characters."""
    sources, references = ["cat", "elephant"], ["k a t", "e l e f a n t"]
    read = [translation(*pair, -1.0) for pair in zip(sources, references, strict=True)]
    translator = Scripted([read[0], translation("elephant", "e l e", -1.0)], read)
    translator.source_tokenizer = train_tokenizer("char", sources, size=30)
    translator.target_tokenizer = train_tokenizer("word", references, size=30)
    evaluation = evaluate(translator, sources, references)
    assert list(evaluation.scores())[:3] == ["wer", "per", "exact_match"]
    assert evaluation.to_json()["length_unit"] == "characters"
    assert [(band.name, band.scores()["wer"]) for band in evaluation.bands] == [("3", 0.0), ("8", 1.0)]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=25), st.data())
def test_bands_share_out_the_corpus(lengths, data):
    """Every sentence is in one band, blank ones too: counts, tokens and nats add up to the whole's."""
    sources = [" ".join(["w"] * length) for length in lengths]
    values = data.draw(st.lists(st.floats(-9, -0.01), min_size=len(lengths), max_size=len(lengths)))
    looks = data.draw(st.lists(st.sampled_from([-1, 0]), min_size=len(lengths), max_size=len(lengths)))
    read = [
        translation(line, "W W", value, [look])
        for line, value, look in zip(sources, values, looks, strict=True)
    ]
    references = ["W W" if line else "" for line in sources]
    evaluation = evaluate(
        Scripted(read, read), sources, references, [GoldLinks(frozenset({(0, 0)}))] * len(lengths)
    )
    assert sum(each.band.num_sentences for each in evaluation.bands) == len(lengths)
    nats = tokens = 0.0
    for each in evaluation.bands:
        inside = [k for k, n in enumerate(lengths) if each.band.lower <= n <= each.band.upper]
        assert len(inside) == each.band.num_sentences == each.band.quality.num_sentences
        links = [read[k].links for k in inside]
        assert each.alignment == score_alignments(links, [GoldLinks(frozenset({(0, 0)}))] * len(inside))
        count = sum(len(read[k].tokens) for k in inside)
        nats += math.log(each.perplexity) * count
        tokens += count
    assert nats == pytest.approx(math.log(evaluation.perplexity) * tokens)
    for each in evaluation.bands:
        assert set(each.to_json()) >= {"lower", "upper", "bleu", "exact_match", "perplexity", "aer"}
        assert each.scores().items() <= each.to_json().items(), "the page and report.json agree"


@pytest.mark.parametrize(
    ("sources", "references", "gold", "message"),
    [
        (["a", "b"], ["A"], None, "cannot score 2 sources, 1 references"),
        ([], [], None, "cannot score an empty corpus"),
        (["a"], ["A"], GOLD, "1 sentences and 3 lines of gold links: give one line of links for each"),
    ],
)
def test_what_does_not_fit_is_told_before_the_work(sources, references, gold, message):
    with pytest.raises(DataError, match=message):
        evaluate(None, sources, references, gold)


def test_a_model_without_attention_has_no_links_to_score(tiny_model):
    tokenizers = [train_tokenizer("word", ["a b c d e"], size=9)] * 2
    gold = [GoldLinks(frozenset({(0, 0)}))]
    attending, fixed = (Translator(tiny_model(kind), *tokenizers) for kind in ("bahdanau", "cho"))
    assert evaluate(attending, ["a b"], ["b"], gold).alignment is not None
    evaluation = evaluate(fixed, ["a b"], ["b"], gold)
    assert evaluation.alignment is None
    assert evaluation.attention is None
    assert not [name for name in evaluation.scores() if name.startswith(("aer", "alignment", "attention"))]
    assert all(band.alignment is None for band in evaluation.bands)
