"""A network of each shape: trained on its world, scored beside a baseline without a state, and one example worked.

In: a bench and how much to learn. Out: plain data, the same for each: what is read and given step by step, what was
meant, the scores. The example is the first of the test set that is short enough to be drawn (and, for tags, holds a
word that was seen with several); how well the network does on it is not asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.captioner import Captioner
from regard.lab.bench import Bench
from regard.lab.measures.bag_of_words import BagOfWords
from regard.lab.measures.naive import (
    most_frequent,
    most_frequent_of_each,
    nearest,
    several_tags,
    word_for_word,
    words_of,
)
from regard.output.quality import measure
from regard.text_classifier import TextClassifier
from regard.text_tagger import TextTagger
from regard.translator import Translator
from regard.worlds import Example, Microworld, Scenes, Sentiment, Splits, Tagging, World

_WORDS = range(4, 9)
"""Lengths of an example that can be drawn."""
_NOTHING = "–"
"""Stands for a text without a word."""


@dataclass(frozen=True)
class Amount:
    """How much a network learns.

    Attributes:
        examples: to learn from.
        updates: how many steps the optimiser takes, of 64 examples each.
        units: of a state; a word's vector has half as many.
        test: examples to score.
    """

    examples: int
    updates: int
    units: int = 128
    test: int = 500


def one_to_one(bench: Bench, amount: Amount) -> dict[str, Any]:
    """A word → its part of speech: the tagged sentences, word by word."""
    splits = _splits(Tagging(), bench, amount)
    train, valid, test = (words_of(part) for part in (splits.train, splits.valid, splits.test))
    tagger = TextTagger.load(bench.train("one-to-one", _tagger(amount), train, valid))
    said = [tagging.tags[0] for tagging in tagger.tag([word.source for word in test])]
    gold = [word.target for word in test]
    doubtful = several_tags(train)
    shown = next(k for k, word in enumerate(test) if word.source in doubtful)
    return {
        "subtitle": "a word → its part of speech",
        "inputs": [test[shown].source],
        "outputs": [said[shown]],
        "meant": gold[shown],
        **_accuracy(said, _usual_tags(train, test), gold),
        "against": "each word's most frequent tag",
    }


def one_to_many(bench: Bench, amount: Amount) -> dict[str, Any]:
    """A vector → a description: every state sees the vector, and each word goes into the next state."""
    splits = _splits(Scenes(), bench, amount)
    config = {
        "preset": "describer",
        "model": {"summary_size": amount.units, "decoder": _writer(amount)},
        "training": {**_training(amount.updates), "label_smoothing": 0.0},
    }
    captioner = Captioner.load(bench.train("one-to-many", config, splits.train, splits.valid))
    features, gold = [e.features for e in splits.test], [e.target for e in splits.test]
    said = [each.text for each in captioner.describe(np.array(features, dtype=np.float32), beam=1)]
    shown = next(k for k, text in enumerate(gold) if len(text.split()) in _WORDS)
    words = said[shown].split() or [_NOTHING]
    return {
        "subtitle": "numbers that describe a scene → a sentence",
        "inputs": [f"{len(features[shown])} numbers", *[None] * (len(words) - 1)],
        "outputs": words,
        "meant": gold[shown],
        **_bleu(said, nearest(splits.train, features), gold),
        "against": "what was said of the nearest scene known",
    }


def many_to_one(bench: Bench, amount: Amount) -> dict[str, Any]:
    """A sentence → its mood, from the last state alone."""
    splits = _splits(Sentiment(), bench, amount)
    config = {
        "preset": "classifier",
        "model": {"encoder": {**_stack(amount), "bidirectional": False}, "pooling": "last"},
        "training": _training(amount.updates),
    }
    classifier = TextClassifier.load(bench.train("many-to-one", config, splits.train, splits.valid))
    sources, gold = [e.source for e in splits.test], [e.target for e in splits.test]
    said = [each.label for each in classifier.classify(sources)]
    bag = BagOfWords.learn(splits.train)
    shown = next(k for k, source in enumerate(sources) if len(source.split()) in _WORDS)
    words = sources[shown].split()
    return {
        "subtitle": "a sentence → its mood",
        "inputs": words,
        "outputs": [*[None] * (len(words) - 1), said[shown]],
        "meant": gold[shown],
        **_accuracy(said, [bag.label(source) for source in sources], gold),
        "against": "the words' votes, whatever their order",
    }


def in_step(bench: Bench, amount: Amount) -> dict[str, Any]:
    """Words → their parts of speech, one for each, reading from left to right."""
    splits = _splits(Tagging(), bench, amount)
    tagger = TextTagger.load(bench.train("in-step", _tagger(amount), splits.train, splits.valid))
    sources = [e.source for e in splits.test]
    said = [each.tags for each in tagger.tag(sources)]
    train, test = words_of(splits.train), words_of(splits.test)
    doubtful = several_tags(train)
    lengths = [len(source.split()) for source in sources]
    shown = next(
        k for k, source in enumerate(sources) if lengths[k] in _WORDS and doubtful & {*source.split()}
    )
    return {
        "subtitle": "words → their parts of speech",
        "inputs": sources[shown].split(),
        "outputs": list(said[shown]),
        "meant": splits.test[shown].target,
        **_accuracy(
            [tag for tags in said for tag in tags], _usual_tags(train, test), [word.target for word in test]
        ),
        "against": "each word's most frequent tag",
    }


def many_to_many(bench: Bench, amount: Amount) -> dict[str, Any]:
    """English → French: what one network ended in is all that another knows, s_t = g(y_{t−1}, s_{t−1}, c)."""
    splits = Microworld().splits(
        train=amount.examples, valid=100, test=amount.test, seed=bench.seed, shortest=3, longest=_WORDS[-1]
    )
    config = {
        "preset": "rnnencdec-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "encoder": {**_stack(amount), "bidirectional": False},
            "decoder": _writer(amount),
        },
        "training": {**_training(amount.updates), "label_smoothing": 0.0},
    }
    translator = Translator.load(bench.train("many-to-many", config, splits.train, splits.valid))
    sources, gold = [e.source for e in splits.test], [e.target for e in splits.test]
    said = [each.text for each in translator.translate(sources, beam=1)]
    shown = next(k for k, source in enumerate(sources) if len(source.split()) in range(4, 7))
    words, given = sources[shown].split(), said[shown].split() or [_NOTHING]
    return {
        "subtitle": "English → French",
        "inputs": [*words, *[None] * len(given)],
        "outputs": [*[None] * len(words), *given],
        "meant": gold[shown],
        **_bleu(said, word_for_word(splits.train, sources), gold),
        "against": "word for word",
    }


NETWORKS: dict[str, Callable[[Bench, Amount], dict[str, Any]]] = {
    "one to one": one_to_one,
    "one to many": one_to_many,
    "many to one": many_to_one,
    "many to many, in step": in_step,
    "many to many": many_to_many,
}
"""By the lecture's names; "in step" is its per-frame classification."""


def _splits(world: World, bench: Bench, amount: Amount) -> Splits:
    return world.splits(train=amount.examples, valid=100, test=amount.test, seed=bench.seed)


def _stack(amount: Amount) -> dict[str, Any]:
    """One layer of the paper's GRU, in every shape the same."""
    return {
        "cell": "gru",
        "num_layers": 1,
        "embedding_size": amount.units // 2,
        "state_size": amount.units,
        "dropout": 0.0,
    }


def _writer(amount: Amount) -> dict[str, Any]:
    """The lecture's decoder: each state from the word before, the state before, and one fixed vector."""
    return {"kind": "cho", **_stack(amount), "readout_size": amount.units // 2}


def _training(updates: int) -> dict[str, Any]:
    return {
        "rate": 0.005,
        "warmup": 50,
        "batch_sentences": 64,
        "max_epochs": 0,
        "max_updates": updates,
        "validate_every": updates,
    }


def _tagger(amount: Amount) -> dict[str, Any]:
    model = {"encoder": {**_stack(amount), "bidirectional": False}}
    return {"preset": "tagger", "model": model, "training": _training(amount.updates)}


def _usual_tags(train: Sequence[Example], test: Sequence[Example]) -> list[str]:
    """The most frequent tag of each word tested; of a word never seen, that of all words."""
    usual = most_frequent_of_each((word.source, word.target) for word in train)
    other = most_frequent(word.target for word in train)
    return [usual.get(word.source, other) for word in test]


def _accuracy(said: Sequence[str], guessed: Sequence[str], gold: Sequence[str]) -> dict[str, Any]:
    score, baseline = (100 * sum(map(str.__eq__, each, gold)) / len(gold) for each in (said, guessed))
    return {"measure": "accuracy", "score": score, "baseline": baseline}


def _bleu(said: Sequence[str], guessed: Sequence[str], gold: Sequence[str]) -> dict[str, Any]:
    score, baseline = (measure(each, gold, tokenize="none", with_ter=False).bleu for each in (said, guessed))
    return {"measure": "BLEU", "score": score, "baseline": baseline}
