import pytest

from regard.datasets.microworld.french import adjective_forms, conjugate, opens_with_vowel, plural


@pytest.mark.parametrize(
    ("infinitive", "tense", "forms"),
    [
        ("parler", "present", "parle parles parle parlons parlez parlent"),
        ("manger", "present", "mange manges mange mangeons mangez mangent"),
        ("manger", "imperfect", "mangeais mangeais mangeait mangions mangiez mangeaient"),
        ("commencer", "imperfect", "commençais commençais commençait commencions commenciez commençaient"),
        ("acheter", "present", "achète achètes achète achetons achetez achètent"),
        ("acheter", "future", "achèterai achèteras achètera achèterons achèterez achèteront"),
        ("préférer", "present", "préfère préfères préfère préférons préférez préfèrent"),
        ("préférer", "future", "préférerai préféreras préférera préférerons préférerez préféreront"),
        ("essayer", "present", "essaie essaies essaie essayons essayez essaient"),
        (
            "nettoyer",
            "conditional",
            "nettoierais nettoierais nettoierait nettoierions nettoieriez nettoieraient",
        ),
        ("finir", "present", "finis finis finit finissons finissez finissent"),
        ("finir", "imperfect", "finissais finissais finissait finissions finissiez finissaient"),
        ("attendre", "present", "attends attends attend attendons attendez attendent"),
        ("attendre", "future", "attendrai attendras attendra attendrons attendrez attendront"),
        ("être", "imperfect", "étais étais était étions étiez étaient"),
        ("aller", "future", "irai iras ira irons irez iront"),
        ("voir", "conditional", "verrais verrais verrait verrions verriez verraient"),
        ("regarder", "present", "regarde regardes regarde regardons regardez regardent"),
    ],
)
def test_forms_are_those_of_a_grammar_book(infinitive, tense, forms):
    assert getattr(conjugate(infinitive), tense) == tuple(forms.split())


@pytest.mark.parametrize(
    ("infinitive", "participle"),
    [("aller", "allé"), ("choisir", "choisi"), ("perdre", "perdu"), ("ouvrir", "ouvert"), ("boire", "bu")],
)
def test_participles(infinitive, participle):
    assert conjugate(infinitive).participle == participle


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
