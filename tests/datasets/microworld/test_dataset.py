import random
import subprocess
import sys
from itertools import pairwise

import pytest

from regard.datasets import Language, Microworld
from regard.datasets.dataset import Example
from regard.datasets.microworld.dataset import spell
from regard.datasets.microworld.grammar.discourse import is_held_out
from regard.datasets.microworld.lexicon.nouns import ADJECTIVES, NAMES, NOUNS
from regard.datasets.microworld.lexicon.verbs import (
    COME,
    COME_BACK,
    GIVING,
    GO,
    INDIRECT,
    INTRANSITIVE,
    LIVE,
    PLAY,
    PUT,
    TRANSITIVE,
    WITH_CLAUSE,
)
from regard.datasets.microworld.tokens import Mot, Word
from regard.errors import ConfigError
from regard.text.links import GoldLinks

NOUN_OF = {form: noun.en[0] for nouns in (*NOUNS.values(), NAMES) for noun in nouns for form in noun.en}
ADJECTIVE_OF = {a.en: a.en for a in ADJECTIVES} | {a.comparative: a.en for a in ADJECTIVES}
VERBS = (*TRANSITIVE["person"], *INTRANSITIVE["person"], *INDIRECT["person"], *GIVING, *WITH_CLAUSE)
VERBS += (GO, COME, COME_BACK, LIVE, PUT, PLAY)
VERB_OF = {form: verb.en.base for verb in VERBS for form in verb.en if not verb.auxiliary}


@pytest.fixture(scope="module")
def splits():
    return Microworld().splits(train=6000, valid=300, test=300, seed=1)


def test_splits_have_their_sizes(splits):
    sizes = [len(part) for part in (splits.train, splits.valid, splits.test)]
    assert sizes == [6000, 300, 300]
    assert {name: len(part) for name, part in splits.extra.items()} == {"long": 300, "unseen": 300}


def test_no_sentence_occurs_twice(splits):
    parts = (splits.train, splits.valid, splits.test, *splits.extra.values())
    sources = [example.source for part in parts for example in part]
    assert len(set(sources)) == len(sources)


def test_another_seed_trains_on_none_of_the_test_sentences(splits):
    other = Microworld().splits(train=6000, valid=10, test=10, seed=2, longest=6)
    short = Microworld().splits(train=10, valid=10, test=300, seed=1, longest=6)
    train = {example.source for example in other.train}
    assert not train & {example.source for example in short.test}
    assert not train & {example.source for example in splits.test}


def test_lengths(splits):
    usual = [
        len(example.source.split()) for example in (*splits.train, *splits.test, *splits.extra["unseen"])
    ]
    long = [len(example.source.split()) for example in splits.extra["long"]]
    assert (min(usual), max(usual)) == (3, 15)
    assert min(long) >= 16
    assert max(long) <= 30
    assert len(set(long)) > 10


def joined(words):
    """Pairs of an adjective right before a noun."""
    for first, second in pairwise(words):
        if first in ADJECTIVE_OF and second in NOUN_OF:
            yield first, NOUN_OF[second]


def present_together(words):
    """All pairs of an adjective and a noun, or a noun and a verb, anywhere in the sentence."""
    nouns = [NOUN_OF[word] for word in words if word in NOUN_OF]
    for noun in nouns:
        yield from ((ADJECTIVE_OF[word], noun) for word in words if word in ADJECTIVE_OF)
        yield from ((noun, VERB_OF[word]) for word in words if word in VERB_OF)


def test_ordinary_splits_join_no_held_out_pair(splits):
    pairs = 0
    for example in (*splits.train, *splits.valid, *splits.test, *splits.extra["long"]):
        for pair in joined(example.source.split()):
            pairs += 1
            assert not is_held_out(*pair), example.source
    assert pairs > 500


def test_every_unseen_sentence_holds_a_held_out_pair_of_words_that_training_knows(splits):
    seen = {word for example in splits.train for word in example.source.split()}
    lexemes = {table[word] for word in seen for table in (NOUN_OF, ADJECTIVE_OF, VERB_OF) if word in table}
    adjacent = 0
    for example in splits.extra["unseen"]:
        words = example.source.split()
        held = [pair for pair in present_together(words) if is_held_out(*pair)]
        assert held, example.source
        assert any(first in lexemes and second in lexemes for first, second in held), example.source
        adjacent += any(is_held_out(*pair) for pair in joined(words))
    assert adjacent > 30


def test_equal_arguments_give_equal_corpora_whatever_the_hash_seed():
    code = (
        "from regard.datasets.microworld import Microworld as M;"
        "s = M().splits(train=200, valid=20, test=20, seed=3);"
        "p = [*s.train, *s.valid, *s.test, *s.extra['long'], *s.extra['unseen']];"
        "import zlib; print(zlib.crc32(repr([(e.source, e.target, sorted(e.gold.possible)) for e in p]).encode()))"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1]


def test_seeds_differ():
    one, two = (Microworld().splits(train=50, valid=0, test=0, seed=seed) for seed in (1, 2))
    assert one.train != two.train


def test_a_sentence_depends_on_the_random_generator_alone():
    dataset = Microworld()
    one, two = (dataset.sentence(random.Random(9), shortest=8, longest=20) for _ in range(2))
    assert one == two
    assert one.gold is not None


def test_tagged_gives_the_words_of_the_same_sentence():
    dataset = Microworld()
    words, tags = dataset.tagged(random.Random(9), shortest=8, longest=20)
    assert " ".join(words) == dataset.sentence(random.Random(9), shortest=8, longest=20).source
    assert len(words) == len(tags)
    assert tags[-1] == "PUNCT"


def test_asking_for_too_many_sentences_is_refused():
    with pytest.raises(
        ConfigError, match=r"of 9000 examples for 'train'.*ask for fewer, .* than 3 to 3 words"
    ):
        Microworld().splits(train=9000, valid=0, test=0, seed=1, shortest=3, longest=3)


ARTICLES = ("le", "la", "les")


def french(text, articles=True):
    mots = [Mot(word, article=articles and word in ARTICLES) for word in text.split()]
    return spell([], mots).target


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("le oiseau", "l' oiseau"),
        ("la école", "l' école"),
        ("le héros", "le héros"),
        ("je ne ai pas de idée", "je n' ai pas d' idée"),
        ("je aime ce que il aime", "j' aime ce qu' il aime"),
        ("si il neige si elle chante", "s' il neige si elle chante"),
        ("sa amie ma école ta histoire", "son amie mon école ton histoire"),
        ("ce homme ce héros", "cet homme ce héros"),
        ("de le roi à le roi", "du roi au roi"),
        ("de les rois à les rois", "des rois aux rois"),
        ("de la reine à la reine", "de la reine à la reine"),
        ("de le oiseau à la école", "de l' oiseau à l' école"),
        ("il ne y a pas", "il n' y a pas"),
        ("combien de héros que onze", "combien de héros que onze"),
    ],
)
def test_french_words_settle_beside_each_other(before, after):
    assert french(before) == after


def test_an_object_pronoun_does_not_contract():
    assert french("essaie de le voir", articles=False) == "essaie de le voir"


def test_english_chooses_between_a_and_an():
    words = [Word(text, "X") for text in ("a", "apple", "and", "a", "useful", "honest", "a")]
    assert spell(words, []).source == "an apple and a useful honest a"


def test_a_contraction_keeps_the_preposition_sure_and_makes_the_article_possible():
    of, the, king = Word("of", "ADP"), Word("the", "DET"), Word("king", "NOUN")
    example = spell([of, the, king], [Mot("de", of), Mot("le", the, article=True), Mot("roi", king)])
    assert example.target == "du roi"
    assert example.gold == GoldLinks(frozenset({(0, 0), (2, 1)}), frozenset({(1, 0)}))


def test_the_lines_are_the_english_sides_of_the_microworld():
    sizes = {"train": 200, "valid": 20, "test": 20, "seed": 4, "shortest": 4, "longest": 9}
    lines, pairs = Language().splits(**sizes), Microworld().splits(**sizes)
    assert lines.train == [Example(pair.source) for pair in pairs.train]
    assert lines.valid == [Example(pair.source) for pair in pairs.valid]
    assert lines.test == [Example(pair.source) for pair in pairs.test]
    assert set(lines.extra) == {"long", "unseen"}
    for name, part in lines.extra.items():
        assert part == [Example(pair.source) for pair in pairs.extra[name]]
    assert {len(line.source.split()) for line in lines.extra["long"]} <= set(range(10, 19))
