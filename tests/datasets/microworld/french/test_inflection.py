import pytest

from regard.datasets.microworld.french import adjective_forms, opens_with_vowel, plural


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("chien", "chiens"),
        ("cheval", "chevaux"),
        ("oiseau", "oiseaux"),
        ("souris", "souris"),
        ("hibou", "hiboux"),
        ("bleu", "bleus"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many


@pytest.mark.parametrize(
    ("entry", "forms"),
    [
        ("petit", "petit petite petits petites"),
        ("rouge", "rouge rouge rouges rouges"),
        ("heureux", "heureux heureuse heureux heureuses"),
        ("léger", "léger légère légers légères"),
        ("italien", "italien italienne italiens italiennes"),
        ("blanc", "blanc blanche blancs blanches"),
        ("beau/belle", "beau belle beaux belles"),
        ("gris", "gris grise gris grises"),
    ],
)
def test_adjectives_in_both_genders_and_numbers(entry, forms):
    assert adjective_forms(entry) == tuple(forms.split())


def test_a_mute_h_is_a_vowel_and_an_aspirated_one_is_not():
    assert [
        word for word in ("homme", "héros", "école", "œuf", "onze", "chat", "y") if opens_with_vowel(word)
    ] == [
        "homme",
        "école",
        "œuf",
        "y",
    ]
