import pytest

from regard.datasets.microworld.dataset import spell
from regard.datasets.microworld.grammar.predicates import spell_expression
from regard.datasets.microworld.grammar.verb_group import VerbFeatures, agree, verb_group
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.function_words import HE, NEVER, NOT, SHE, THEY, VOCATIVES, WE, I
from regard.datasets.microworld.tokens import Mot, Word

ALL = {verb.en.base: verb for verb in (*verbs.TRANSITIVE["person"], *verbs.INTRANSITIVE["person"])}
ALL |= {"be": verbs.BE, "can": verbs.WITH_INFINITIVE["person"][0], "like": verbs.TRANSITIVE["person"][10]}


def say(base, tense, person, negation=None, clitic=None, inverted=False):
    features = VerbFeatures(tense, inverted)
    if negation is not None:
        phrase = spell_expression(negation)
        features.en, features.ne, features.closing = phrase.en, phrase.en[0], phrase.fr
        features.do = negation is NOT
    clitics = () if clitic is None else (Mot(clitic.direct),)
    preceding = None if clitic is None else clitic.agreement
    group = verb_group(ALL[base], features, person.agreement, clitics, preceding)
    subject = Word(person.subject, "PRON")
    aux = [] if group.aux is None else [group.aux]
    example = spell([subject, *aux, *group.en], [Mot(person.sujet, subject), *group.fr])
    return f"{example.source} = {example.target}"


@pytest.mark.parametrize(
    ("arguments", "both"),
    [
        (("see", "present", SHE), "she sees = elle voit"),
        (("see", "progressive", I), "I am seeing = je vois"),
        (("see", "past", WE), "we saw = nous avons vu"),
        (("see", "was", HE), "he was seeing = il voyait"),
        (("see", "used", HE), "he used to see = il voyait"),
        (("see", "perfect", THEY[True]), "they have seen = elles ont vu"),
        (("see", "pluperfect", I), "I had seen = j' avais vu"),
        (("see", "future", HE), "he will see = il verra"),
        (("see", "later", HE), "he sees = il verra"),
        (("see", "going", WE), "we are going to see = nous allons voir"),
        (("see", "would", HE), "he would see = il verrait"),
        (("see", "unreal", HE), "he saw = il voyait"),
        (("like", "past", HE), "he liked = il aimait"),
        (("leave", "past", SHE), "she left = elle est partie"),
        (("leave", "past", THEY[True]), "they left = elles sont parties"),
        (("leave", "past", VOCATIVES[1].you), "you left = vous êtes partie"),
        (("leave", "past", VOCATIVES[2].you), "you left = vous êtes partis"),
        (("enjoy", "past", SHE), "she enjoyed herself = elle s' est amusée"),
        (("enjoy", "going", I), "I am going to enjoy myself = je vais m' amuser"),
        (("be", "unreal", I), "I were = j' étais"),
        (("see", "past", HE, NOT), "he did not see = il n' a pas vu"),
        (("see", "present", HE, NEVER), "he never sees = il ne voit jamais"),
        (("see", "perfect", HE, NEVER), "he has never seen = il n' a jamais vu"),
        (("be", "present", SHE, NOT), "she is not = elle n' est pas"),
        (("can", "present", HE, NOT), "he cannot = il ne peut pas"),
        (("see", "past", HE, NOT, SHE), "he did not see = il ne l' a pas vue"),
        (("see", "perfect", I, None, THEY[True]), "I have seen = je les ai vues"),
        (("see", "going", I, None, HE), "I am going to see = je vais le voir"),
        (("see", "infinitive", I, None, HE), "I see = je le voir"),
    ],
)
def test_tenses_negation_and_agreement(arguments, both):
    assert say(*arguments) == both


def test_a_question_gets_do_unless_the_verb_is_an_auxiliary():
    assert say("see", "present", HE, inverted=True) == "he does see = il voit"
    assert say("be", "present", HE, inverted=True) == "he is = il est"


def test_negation_and_auxiliary_are_linked_to_their_own_words():
    features = VerbFeatures("past")
    phrase = spell_expression(NOT)
    features.en, features.ne, features.closing, features.do = phrase.en, phrase.en[0], phrase.fr, True
    group = verb_group(ALL["see"], features, HE.agreement)
    assert [(mot.text, mot.sure.text) for mot in group.fr] == [
        ("ne", "not"),
        ("a", "did"),
        ("pas", "not"),
        ("vu", "see"),
    ]


@pytest.mark.parametrize(
    ("french", "tense", "links"),
    [
        ("habiller", "present", [("se", None), ("habille", "dressed")]),
        ("coucher", "used", [("se", None), ("couchait", "bed")]),
        ("endormir", "past", [("se", None), ("est", "fell"), ("endormi", "asleep")]),
        ("endormir", "perfect", [("se", None), ("est", "has"), ("endormi", "asleep")]),
        ("coucher", "going", [("va", "going"), ("se", None), ("coucher", "bed")]),
        ("ennuyer", "infinitive", [("se", None), ("ennuyer", "bored")]),
        ("lever", "past", [("se", None), ("est", "got"), ("levé", "got")]),
    ],
)
def test_the_word_with_the_meaning_is_rendered_and_not_the_light_verb(french, tense, links):
    verb = next(verb for verb in verbs.INTRANSITIVE["person"] if verb.fr.infinitive == french)
    group = verb_group(verb, VerbFeatures(tense), HE.agreement)
    assert [(mot.text, mot.sure and mot.sure.text) for mot in group.fr] == links
    if verb.light:
        assert group.head in group.fr[-1].possible
        assert group.fr[-1].sure not in group.fr[-1].possible


def test_participles_agree():
    assert agree("pris", THEY[False].agreement) == "pris"
    assert agree("pris", THEY[True].agreement) == "prises"
    assert agree("vu", WE.agreement) == "vus"
    assert agree("vu", None) == "vu"
