"""What can be said without a network: baselines that only count, or only look for the nearest; see `bag_of_words` too.

In: a world's examples. Out: answers, one for each question. None of them knows of order or context; that is what they
are for.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from regard.worlds import Example

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
