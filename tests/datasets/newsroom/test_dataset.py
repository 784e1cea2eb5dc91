"""The grammar, checked by rules independent of it: number, gender and tense agree."""

import random
import re

import pytest

from regard.datasets import Newsroom
from regard.datasets.newsroom import FBI, write_news
from regard.datasets.newsroom.dataset import FAR, LONGEST, SHORTEST, DependencyNode, linearize
from regard.datasets.newsroom.lexicon import NOUNS, POSSESSIVES, PRONOUNS, REFLEXIVES, VERBS


@pytest.fixture(scope="module")
def splits():
    return Newsroom().splits(train=400, valid=20, test=60, seed=2)


def test_every_line_knows_its_links(splits):
    for example in (*splits.train, *splits.test, *splits.extra["far"]):
        assert example.gold is not None
        last = len(example.source.split()) - 1
        # every word but the full stop belongs to another
        assert {place for link in example.gold.sure for place in link} == set(range(last)), example.source


def test_far_lines_reach_far(splits):
    assert set(splits.extra) == {"far"}
    for example in splits.extra["far"]:
        words = example.source.split()
        assert any(
            later - earlier >= FAR
            for earlier, later in example.gold.sure
            if words[later]
            in ("is", "are", "was", "were", "has", "have", "says", "say", "believes", "believe")
        ), example.source


SINGULARS = {noun.singular for nouns in NOUNS.values() for noun in nouns} - {""}
PLURALS = {noun.plural for nouns in NOUNS.values() for noun in nouns} - {""}
GENDER = {noun.singular: noun.gender for nouns in NOUNS.values() for noun in nouns}
SORTS = {}
for sort, nouns in NOUNS.items():
    for noun in nouns:
        for form in (noun.singular, noun.plural):
            SORTS.setdefault(form, set()).add(sort)
FINITE = {
    "is": 1,
    "was": 1,
    "has": 1,
    "says": 1,
    "believes": 1,
    "are": 2,
    "were": 2,
    "have": 2,
    "say": 2,
    "believe": 2,
}


@pytest.fixture(scope="module")
def news():
    rng = random.Random("news")
    return [write_news(rng) for _ in range(8000)]


def linked(sentence, place):
    """Earlier words that a word belongs to, nearest last."""
    return [sentence.words[earlier] for earlier, later in sorted(sentence.links) if later == place]


def number(word):
    return 1 if word in SINGULARS | {"he", "she", "it"} else 2 if word in PLURALS | {"they"} else 0


def test_the_vocabulary_is_small_and_holds_the_figure_s_words(news):
    words = {word for sentence in news for word in sentence.words}
    assert 200 <= len(words) <= 260
    assert set(FBI.split()) <= words


def test_the_sentence_of_the_figure_is_generated():
    rng = random.Random(10)
    drawn = (write_news(rng) for _ in range(3000))
    sentence = next(one for one in drawn if one.text == FBI)
    assert linked(sentence, 2) == ["FBI"]
    assert linked(sentence, 3) == ["FBI", "is"]
    assert linked(sentence, 5) == ["chasing", "a"]
    assert linked(sentence, 8) == ["on", "the"]


def test_every_sentence_is_tidy(news):
    for sentence in news:
        assert SHORTEST <= len(sentence.words) <= LONGEST
        assert sentence.words[-1] == "."
        assert sentence.words[0][0].isupper()
        assert "." not in sentence.words[:-1]
        assert not re.search(r"\b(a [aeiou]|an [^aeiou])", sentence.text), sentence.text
        assert all(0 <= earlier < later < len(sentence.words) - 1 for earlier, later in sentence.links)


def test_a_line_has_one_reading(news):
    rng, repeated = random.Random("again"), 0
    known = {sentence.text: sentence for sentence in news}
    for _ in range(8000):
        sentence = write_news(rng)
        repeated += sentence.text in known
        assert known.setdefault(sentence.text, sentence) == sentence, sentence.text
    assert repeated > 50


def test_finite_verbs_agree_with_a_linked_noun_at_any_distance(news):
    far = 0
    for sentence in news:
        for place, word in enumerate(sentence.words):
            if word in FINITE:
                *_, subject = (one for one in linked(sentence, place) if number(one))
                assert number(subject) == FINITE[word], (sentence.text, word)
                far += number(sentence.words[place - 1]) not in (0, FINITE[word])
    assert far > 50  # attracted by a nearer noun of the other number


def test_determiners_agree_with_their_noun(news):
    wanted = {
        "this": 1,
        "every": 1,
        "a": 1,
        "an": 1,
        "two": 2,
        "three": 2,
        "these": 2,
        "those": 2,
        "several": 2,
    }
    for sentence in news:
        for earlier, later in sentence.links:
            word = sentence.words[earlier].lower()
            if word in wanted and number(sentence.words[later]):
                assert number(sentence.words[later]) == wanted[word], sentence.text


def test_pronouns_agree_with_an_earlier_noun(news):
    kinds = {form: kind for table in (PRONOUNS, REFLEXIVES, POSSESSIVES) for kind, form in table.items()}
    seen = set()
    for sentence in news:
        for place, word in enumerate(sentence.words):
            if word in kinds:
                seen.add(word)
                [of] = [one for one in linked(sentence, place) if number(one)]
                gender = GENDER.get(of) or {"he": "m", "she": "f", "it": "n"}.get(of)
                assert ("plural" if number(of) == 2 else gender) == kinds[word], sentence.text
    assert seen == set(kinds)


def test_verbs_choose_their_subjects_and_objects(news):
    forms = {}
    for verb in dict.fromkeys(VERBS):
        for form in {verb.gerund, verb.past, verb.participle}:
            forms.setdefault(form, []).append(verb)
    checked = 0
    for sentence in news:
        for place, word in enumerate(sentence.words):
            if len(forms.get(word, ())) != 1:
                continue
            [verb] = forms[word]
            later = [sentence.words[other] for one, other in sentence.links if one == place]
            objects = [one for one in later if one in SORTS]
            subjects = [one for one in linked(sentence, place) if one in SORTS]
            assert all(SORTS[one] & set(verb.objects) for one in objects), (sentence.text, word)
            assert not subjects or any(verb.subject in SORTS[one] for one in subjects), (sentence.text, word)
            assert not verb.particle or verb.particle in later, sentence.text
            checked += len(objects)
    assert checked > 1000


def test_time_goes_with_tense(news):
    for sentence in news:
        for place, word in enumerate(sentence.words):
            if word in ("yesterday", "tomorrow", "today"):
                [verb] = linked(sentence, place)
                tense = {"today": verb.endswith("ing"), "tomorrow": "will" in sentence.words}.get(
                    word, not verb.endswith("ing")
                )
                assert tense, sentence.text


@pytest.fixture
def figure():
    """The FBI is chasing an old criminal on the run."""
    criminal = DependencyNode("criminal", before=[DependencyNode("a"), DependencyNode("old")])
    criminal.after.append(DependencyNode("on", after=[DependencyNode("run", before=[DependencyNode("the")])]))
    agency = DependencyNode("FBI", before=[DependencyNode("the")])
    chasing = DependencyNode("chasing", after=[criminal], also=[agency])
    return DependencyNode("is", before=[agency], after=[chasing], agrees=agency)


def test_words_are_in_order_with_a_capital_an_article_and_a_full_stop(figure):
    assert linearize(figure).text == "The FBI is chasing an old criminal on the run ."


def test_links_are_dependencies_and_references(figure):
    sentence = linearize(figure)
    named = {(sentence.words[earlier], sentence.words[later]) for earlier, later in sentence.links}
    assert named == {
        ("The", "FBI"),
        ("FBI", "is"),
        ("FBI", "chasing"),
        ("is", "chasing"),
        ("chasing", "criminal"),
        ("an", "criminal"),
        ("old", "criminal"),
        ("criminal", "on"),
        ("on", "run"),
        ("the", "run"),
    }
    assert all(earlier < later < len(sentence.words) - 1 for earlier, later in sentence.links)


def test_the_reach_is_from_the_noun_to_its_finite_verb(figure):
    assert linearize(figure).agreement_distance == 1
    figure.before[0].after.append(DependencyNode("near", after=[DependencyNode("banks")]))
    assert linearize(figure).agreement_distance == 3
    figure.agrees = None
    assert linearize(figure).agreement_distance == 0
