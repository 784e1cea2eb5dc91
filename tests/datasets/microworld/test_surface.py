import pytest

from regard.datasets.microworld.dataset import spell
from regard.datasets.microworld.tokens import Mot, Word
from regard.text.links import GoldLinks

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
