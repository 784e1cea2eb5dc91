import pytest

from regard.datasets.microworld.english import noun_plural, takes_an, verb_forms


@pytest.mark.parametrize(
    ("one", "many"),
    [("dog", "dogs"), ("box", "boxes"), ("story", "stories"), ("toy", "toys"), ("tomato", "tomatoes"),
     ("photo", "photos"), ("church", "churches")],
)  # fmt: skip
def test_plurals(one, many):
    assert noun_plural(one) == many


@pytest.mark.parametrize(
    ("entry", "forms"),
    [
        ("work", "work works worked worked working"),
        ("dance", "dance dances danced danced dancing"),
        ("cry", "cry cries cried cried crying"),
        ("stay", "stay stays stayed stayed staying"),
        ("stop", "stop stops stopped stopped stopping"),
        ("watch", "watch watches watched watched watching"),
        ("eat/ate/eaten", "eat eats ate eaten eating"),
        ("have/had", "have has had had having"),
        ("go/went/gone", "go goes went gone going"),
        ("see/saw/seen", "see sees saw seen seeing"),
    ],
)
def test_verbs(entry, forms):
    assert verb_forms(entry) == tuple(forms.split())


def test_an_is_before_a_vowel_sound():
    assert [word for word in ("apple", "honest", "useful", "hero", "Italian") if takes_an(word)] == [
        "apple",
        "honest",
        "Italian",
    ]
