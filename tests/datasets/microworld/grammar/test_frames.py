import random

from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.frames import adjectival, profession
from regard.datasets.microworld.grammar.noun_phrase import pronoun, simple_noun_phrase
from regard.datasets.microworld.grammar.predicates import Setting
from regard.datasets.microworld.lexicon.function_words import HE, IT, SHE
from regard.datasets.microworld.lexicon.nouns import BY_NAME

PRESENT = Setting("present", simple_noun_phrase)


def test_it_is_cold_is_left_to_the_weather():
    rng = random.Random(2)
    said = set()
    for _ in range(400):
        water = pronoun(IT[True])
        water.noun = BY_NAME["water"]
        said.update(word.text for word in adjectival(Discourse(rng.random), water, 2, PRESENT).en)
    assert "delicious" in said
    assert not {"hot", "cold"} & said


def test_a_profession_agrees_and_takes_no_french_article():
    rng = random.Random(3)
    for person, form in ((HE, "étudiant"), (SHE, "étudiante")):
        pairs = set()
        for _ in range(200):
            made = profession(Discourse(rng.random), pronoun(person), 3, PRESENT)
            pairs.add((" ".join(w.text for w in made.words), " ".join(m.text for m in made.fr)))
        assert ("is a student", f"est {form}") in pairs
