"""The scores of captions: of the output, and of the references by forced decoding."""

import math

import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation import measure
from regard.tasks.caption import evaluation as caption_evaluation
from regard.tasks.caption.evaluation import evaluate_captions
from regard.tasks.caption.result import Caption
from regard.text import train_tokenizer

REFERENCES = ["a red cat", "a dog", "two cats"]
WRITTEN = ["a red cat", "a dig", "two cats"]
FEATURES = np.arange(6.0).reshape(3, 2)


class Scripted:
    """What the evaluation needs of a captioner: a row's first feature says which line it is, a token costs 2 nats."""

    tokenizer = train_tokenizer("word", [*REFERENCES, "three cats"], size=30)

    def caption(self, features, *, beam, length_power):
        assert (beam, length_power) == (2, 0.5)
        return [said(WRITTEN[int(row[0]) // 2]) for row in features]

    def score(self, features, texts):
        return [said(text) for text in texts]


def said(text):
    tokens = (*text.split(), "</s>")
    return Caption(text, tokens, -1.0, -2.0 * len(tokens), (-2.0,) * len(tokens))


@pytest.fixture
def evaluation(monkeypatch):
    monkeypatch.setattr(caption_evaluation, "_CHUNK", 2)
    heard = []
    found = evaluate_captions(
        Scripted(), FEATURES, REFERENCES, beam=2, length_power=0.5, listener=heard.append
    )
    assert heard == list(found.captions)
    return found


def test_every_score_of_the_corpus_is_there(evaluation):
    scores = evaluation.scores()
    quality = measure(WRITTEN, REFERENCES)
    names = ["bleu", "chrf", "ter", "exact_match", "token_error_rate", "character_error_rate"]
    assert list(scores) == [*names, "perplexity", "num_sentences", "sentences_per_second"]
    assert {name: scores[name] for name in names} == quality.scores
    assert scores["character_error_rate"] == pytest.approx(1 / 22)
    assert scores["perplexity"] == pytest.approx(math.exp(2))
    assert [each.text for each in evaluation.captions] == WRITTEN


def test_one_reference_for_each_row():
    with pytest.raises(DataError, match="3 rows of features and 2 references: give one of each"):
        evaluate_captions(Scripted(), FEATURES, REFERENCES[:2])
    with pytest.raises(DataError, match="0 rows of features and 0 references"):
        evaluate_captions(Scripted(), FEATURES[:0], [])
