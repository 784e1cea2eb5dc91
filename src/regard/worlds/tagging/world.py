"""The world of tagging: English words to their parts of speech, named as in Universal Dependencies.

In: sizes and a seed. Out: splits of sentences and tags, one tag per word. Half of the sentences are the
microworld's, which has few words of two kinds; the other half come from a grammar made of nothing else, so that
a word's neighbours decide and its most frequent tag does not.
"""

import random

from regard.worlds.filling import EXTRA, fill, split_of
from regard.worlds.microworld import Microworld
from regard.worlds.microworld.lexicon.verbs import WITH_INFINITIVE
from regard.worlds.tagging.sentences import write_tagged
from regard.worlds.world import Example, Splits

_BEFORE_INFINITIVE = {form for verbs in WITH_INFINITIVE.values() for verb in verbs for form in verb.en} | {
    "how"
}
"""Words after which to is a particle, as in want to go; the microworld tags every such to as a preposition."""


class Tagging:
    """English sentences with a part of speech for every word."""

    name = "tagging"
    task = "tag"
    describes = (
        "English words to their parts of speech, where neighbours decide what watch, light or that is."
    )

    def splits(
        self, *, train: int, valid: int, test: int, seed: int, shortest: int = 3, longest: int = 15
    ) -> Splits:
        """Generate the corpus; no sentence occurs twice in it.

        Args:
            train: number of training sentences.
            valid: number of validation sentences.
            test: number of test sentences, and of those in the extra split ``ambiguous`` (all from the grammar
                of words that are two things).
            seed: equal seeds give equal corpora.
            shortest: fewest words of the microworld's sentences.
            longest: most words of the microworld's sentences.

        Raises:
            ConfigError: the lengths cannot be had, or there are not so many different sentences.
        """
        rng = random.Random(f"tagging {seed}")
        microworld = Microworld()

        def draw() -> tuple[str, Example]:
            twofold = rng.random() < 0.5
            if twofold:
                words, tags = write_tagged(rng)
            else:
                spelt = microworld.tagged(rng, shortest=shortest, longest=longest)
                words, tags = list(spelt[0]), _mend_infinitives(*spelt)
            example = Example(" ".join(words), " ".join(tags))
            split = split_of(example.source)
            if split == EXTRA:
                return "ambiguous" if twofold else "train", example
            return split, example

        parts = fill(self.name, draw, {"train": train, "valid": valid, "test": test, "ambiguous": test})
        ambiguous = parts.pop("ambiguous")
        return Splits(parts["train"], parts["valid"], parts["test"], {"ambiguous": ambiguous})


def _mend_infinitives(words: tuple[str, ...], tags: tuple[str, ...]) -> list[str]:
    mended = list(tags)
    for i in range(1, len(words)):
        if words[i] == "to" and words[i - 1] in _BEFORE_INFINITIVE:
            mended[i] = "PART"
    return mended
