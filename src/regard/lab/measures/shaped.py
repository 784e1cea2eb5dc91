"""What can be said without a network: baselines that only count, or only look for the nearest; see `bag_of_words` too.

In: a world's examples. Out: answers, one for each question. None of them knows of order or context; that is what they
are for.

A bag of words: what a text's words say one by one, in whatever order they stand.

In: labelled texts. Out: a naive Bayes classifier, p(label) Π p(word ∣ label), each word's share of its label's words
with one added to every count. It is linear in the counts of the words, as any weighing of words one by one is.

How much of what a baseline gets wrong a network gets right.

In: two scores of at most 100. Out: per cent.

A network of each shape: trained on its world, scored beside a baseline without a state, and one example worked.

In: a bench and how much to learn. Out: plain data, the same for each: what is read and given step by step, what was
meant, the scores. The example is the first of the test set that is short enough to be drawn (and, for tags, holds a
word that was seen with several); how well the network does on it is not asked.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from regard.datasets import Dataset, Example, Microworld, PartsOfSpeech, Scenes, Sentiment, Splits
from regard.evaluation import measure
from regard.lab.runner import Bench
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.predictor import Classifier
from regard.tasks.tag.predictor import Tagger
from regard.tasks.translate.predictor import Translator

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer", bound=Hashable)


def most_frequent(answers: Iterable[Answer]) -> Answer:
    """The answer given most often; of several, the one that came first."""
    return Counter(answers).most_common(1)[0][0]


def most_frequent_of_each(pairs: Iterable[tuple[Question, Answer]]) -> dict[Question, Answer]:
    """For each question the answer it was given most often."""
    given: defaultdict[Question, list[Answer]] = defaultdict(list)
    for question, answer in pairs:
        given[question].append(answer)
    return {question: most_frequent(answers) for question, answers in given.items()}


def words_of(examples: Iterable[Example]) -> list[Example]:
    """Tagged sentences, cut into words that are sentences of their own."""
    pairs = (zip(each.source.split(), each.target.split(), strict=True) for each in examples)
    return [Example(word, tag) for sentence in pairs for word, tag in sentence]


def several_tags(words: Iterable[Example]) -> set[str]:
    """The words that are tagged in more than one way."""
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        tags[word.source].add(word.target)
    return {word for word, different in tags.items() if len(different) > 1}


def nearest(examples: Sequence[Example], features: Sequence[Sequence[float]]) -> list[str]:
    """For each vector the description of the nearest one (Euclid's distance) among the examples."""
    known = np.array([example.features for example in examples])  # (N, f)
    squares = (known**2).sum(axis=1)
    return [examples[int(np.argmin(squares - 2 * known @ np.array(row)))].target for row in features]


def word_for_word(examples: Sequence[Example], sources: Iterable[str]) -> list[str]:
    """Translate each word as it was most often, in the order of the source.

    Args:
        examples: pairs with gold links: a word's translation is what it is surely linked to, or nothing.
        sources: to be translated; a word that was not seen stays as it is.
    """
    pairs = []
    for example in examples:
        assert example.gold is not None, "a dictionary is read off gold links"
        target = example.target.split()
        for j, word in enumerate(example.source.split()):
            pairs.append((word, " ".join(target[i] for k, i in sorted(example.gold.sure) if k == j)))
    dictionary = most_frequent_of_each(pairs)
    return [" ".join(filter(None, (dictionary.get(w, w) for w in source.split()))) for source in sources]


@dataclass(frozen=True)
class BagOfWords:
    """What was counted.

    Attributes:
        texts: how many there were of each label.
        words: how often each word stood in texts of each label.
        known: how many different words there were in all.
    """

    texts: Counter[str]
    words: dict[str, Counter[str]]
    known: int

    @classmethod
    def learn(cls, examples: Sequence[Example]) -> "BagOfWords":
        """Count the words of some labelled texts, at least one."""
        words: dict[str, Counter[str]] = {}
        for example in examples:
            words.setdefault(example.target, Counter()).update(example.source.split())
        known = len(set().union(*words.values()))
        return cls(Counter(example.target for example in examples), words, known)

    def log_joint(self, label: str, text: str) -> float:
        """The logarithm of p(label, text), words no label has left out."""
        counts = self.words[label]
        whole = counts.total() + self.known
        seen = [word for word in text.split() if any(word in each for each in self.words.values())]
        prior = math.log(self.texts[label] / self.texts.total())
        return prior + math.fsum(math.log((counts[word] + 1) / whole) for word in seen)

    def label(self, text: str) -> str:
        """The likeliest label; of equals the first in the alphabet."""
        return max(sorted(self.words), key=lambda label: self.log_joint(label, text))

    def accuracy(self, examples: Sequence[Example]) -> float:
        """The share of texts whose label is the likeliest."""
        return sum(self.label(example.source) == example.target for example in examples) / len(examples)


def mended(score: float, baseline: float) -> float:
    """Per cent of what the baseline misses of 100 that is not missed any more; below 0 where more is missed.

    Not a number where the baseline misses nothing, so that there is nothing to be mended.
    """
    return 100 * (score - baseline) / (100 - baseline) if baseline < 100 else math.nan


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
    splits = _splits(PartsOfSpeech(), bench, amount)
    train, valid, test = (words_of(part) for part in (splits.train, splits.valid, splits.test))
    tagger = Tagger.load(bench.train("one-to-one", _tagger(amount), train, valid))
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
        "preset": "captioner",
        "model": {"summary_size": amount.units, "decoder": _writer(amount)},
        "training": {**_training(amount.updates), "label_smoothing": 0.0},
    }
    captioner = Captioner.load(bench.train("one-to-many", config, splits.train, splits.valid))
    features, gold = [e.features for e in splits.test], [e.target for e in splits.test]
    said = [each.text for each in captioner.caption(np.array(features, dtype=np.float32), beam=1)]
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
    classifier = Classifier.load(bench.train("many-to-one", config, splits.train, splits.valid))
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
    splits = _splits(PartsOfSpeech(), bench, amount)
    tagger = Tagger.load(bench.train("in-step", _tagger(amount), splits.train, splits.valid))
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


def _splits(dataset: Dataset, bench: Bench, amount: Amount) -> Splits:
    return dataset.splits(train=amount.examples, valid=100, test=amount.test, seed=bench.seed)


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
        "learning_rate": 0.005,
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
    score, baseline = (
        measure(each, gold, tokenize="none", metrics=("bleu",))["bleu"] for each in (said, guessed)
    )
    return {"measure": "BLEU", "score": score, "baseline": baseline}
