"""Frames: the kinds of predicate, from a verb to its complements.

Every frame is a function of the discourse so far, the subject, the budget in English words and the setting; it
returns a `Predicate`. First those with be, seem and become (is hungry, is very tired, is taller than Paul, is in the
garden), then verbs with no object or one (sleeps, eats the apple, sees him, eats nothing), then those with a
recipient, a goal or a place (gives him the book, goes to the market, lives in Rome), then the one that embeds another
(wants to see him). `FRAMES` lists for each kind of subject its frames, each with the fewest English words it needs
and its weight; `choose_frame` chooses among those that fit the budget.
"""

from collections.abc import Callable

from regard.datasets.microworld.grammar.adjuncts import (
    country,
    locative,
    other_person,
    prepositional,
    resting_place,
    town,
)
from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.noun_phrase import NounPhrase, name
from regard.datasets.microworld.grammar.predicates import (
    Predicate,
    Setting,
    choose_features,
    left_over,
    predicate,
    spell_expression,
)
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.entries import AdjectiveEntry
from regard.datasets.microworld.lexicon.function_words import GAMES, MANNER, PROFESSIONS, Person
from regard.datasets.microworld.lexicon.nouns import COMPARED, NOUNS, PREDICATES, nouns_in
from regard.datasets.microworld.tokens import Mot, Phrase, Word


def feeling(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Is hungry → a faim."""
    verb = discourse.pick(verbs.FEELING[subject.kind])
    return predicate(
        verb, choose_features(discourse, verb, subject, setting, budget - 2), subject, lively=False
    )


def _adjective(
    discourse: Discourse, subject: NounPhrase, choices: dict[str, tuple[AdjectiveEntry, ...]]
) -> AdjectiveEntry:
    """Choose an adjective not used of the subject yet; it is hot is kept for the weather."""
    adjective = discourse.pick_new(choices[subject.kind])
    said = [word.text for word in subject.en]
    while (subject.person is not None and adjective.en in ("hot", "cold")) or adjective.en in said:
        adjective = discourse.pick_new(choices[subject.kind])
    if subject.noun is not None:
        discourse.note_modifier(adjective, subject.noun)
    return adjective


def _agreeing(adjective: AdjectiveEntry, subject: NounPhrase) -> str:
    return adjective.fr[subject.agreement.feminine + 2 * subject.agreement.plural]


def adjectival(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Is tired, is very tired, seems tired."""
    verb = verbs.BE if discourse.random() < 0.85 or subject.kind != "person" else verbs.SEEM
    if discourse.random() < 0.06 and subject.kind == "person":
        verb = verbs.BECOME
    adjective = _adjective(discourse, subject, PREDICATES)
    features = choose_features(discourse, verb, subject, setting, budget - 2)
    complement = Phrase([], [])
    if budget - 2 >= 1 and features.ne is None and adjective.comparative and discourse.random() < 0.2:
        very = Word(*discourse.pick((("very", "ADV"), ("too", "ADV"))))
        complement.en.append(very)
        complement.fr.append(Mot("très" if very.text == "very" else "trop", very))
    word = Word(adjective.en, "ADJ")
    complement.en.append(word)
    complement.fr.append(Mot(_agreeing(adjective, subject), word))
    return predicate(verb, features, subject, complement, lively=False)


def comparison(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Is taller than Paul, is more famous than the king, is as old as him."""
    adjective = _adjective(discourse, subject, COMPARED)
    choice = discourse.random()
    form = _agreeing(adjective, subject)
    if choice < 0.25:
        first, word, than = Word("as", "ADV"), Word(adjective.en, "ADJ"), Word("as", "ADP")
        en, fr = [first, word, than], [Mot("aussi", first), Mot(form, word), Mot("que", than)]
    elif adjective.comparative == "more":
        less = choice < 0.45
        first, word, than = (
            Word("less" if less else "more", "ADV"),
            Word(adjective.en, "ADJ"),
            Word("than", "ADP"),
        )
        en, fr = (
            [first, word, than],
            [Mot("moins" if less else "plus", first), Mot(form, word), Mot("que", than)],
        )
    else:
        word, than = Word(adjective.comparative, "ADJ"), Word("than", "ADP")
        better = ("meilleur", "meilleure", "meilleurs", "meilleures")
        agreement = subject.agreement
        marks = [Mot("plus", word), Mot(form, word)]
        if adjective.fr[0] == "bon":
            marks = [Mot(better[agreement.feminine + 2 * agreement.plural], word)]
        en, fr = [word, than], [*marks, Mot("que", than)]
    features = choose_features(discourse, verbs.BE, subject, setting, min(budget - 1 - len(en) - 2, 0))
    other = _standard(discourse, subject, budget - 1 - len(en), setting)
    return predicate(verbs.BE, features, subject, Phrase(en, fr) + other, lively=False)


def _standard(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Phrase:
    """The standard of comparison."""
    if subject.kind == "person":
        if discourse.random() < 0.3 and (person := other_person(discourse, subject.agreement)):
            word = Word(person.object, "PRON")
            return Phrase([word], [Mot(person.stressed, word)])
        if budget < 2 or discourse.random() < 0.3:
            return name(discourse)
    return setting.make(discourse, NOUNS[subject.kind], max(budget, 2), "known")


def profession(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Is a teacher → est professeur; are teachers → sont professeurs."""
    one, many, masculine, feminine = discourse.pick(PROFESSIONS)
    features = choose_features(discourse, verbs.BE, subject, setting, budget - 3)
    agreement = subject.agreement
    word = Word(many if agreement.plural else one, "NOUN")
    article = [] if agreement.plural else [Word("a", "DET")]
    form = (feminine if agreement.feminine else masculine) + ("s" if agreement.plural else "")
    complement = Phrase([*article, word], [Mot(form, word, tuple(article))])
    return predicate(verbs.BE, features, subject, complement, lively=False)


def located(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Is in the garden; the key is on the table."""
    features = choose_features(discourse, verbs.BE, subject, setting, budget - 4)
    left = left_over(budget, verbs.BE, features)
    if subject.kind in ("person", "animal", "vehicle"):
        where = locative(discourse, max(left, 3), setting.make)
    else:
        where = resting_place(discourse, max(left, 3), setting.make)
    return predicate(verbs.BE, features, subject, where, placed=True, lively=False)


_WELL = frozenset(("chanter", "danser", "dormir", "travailler", "nager", "manger"))
"""French verbs that well and badly go with."""

_PERSON_VERBS = verbs.verbs_by_infinitive(
    "voir chercher regarder écouter attendre aider suivre rencontrer inviter remercier comprendre connaître "
    "entendre admirer aimer parler téléphoner répondre obéir"
)
_NOTHING_VERBS = verbs.verbs_by_infinitive(
    "voir manger boire lire acheter trouver vouloir comprendre entendre perdre"
)
_NOBODY_VERBS = verbs.verbs_by_infinitive("voir connaître aider inviter comprendre rencontrer entendre aimer")


def intransitive(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Sleeps, wakes up, washes himself; sometimes slowly or well."""
    verb = discourse.pick_new(verbs.INTRANSITIVE[subject.kind])
    own = 1 + len(verb.particles) + verb.oneself
    features = choose_features(discourse, verb, subject, setting, budget - own)
    discourse.note_subject(subject.noun, verb)
    manner: Phrase | None = None
    if (
        budget - own >= 2
        and not verb.etre
        and features.ne is None
        and subject.kind != "thing"
        and discourse.random() < 0.2
    ):
        well = verb.fr.infinitive in _WELL
        expression = discourse.pick(MANNER if well else MANNER[:6])
        manner = spell_expression(expression)
        if expression.fr[0] in ("bien", "mal") and setting.time != "infinitive":
            features.closing = features.closing + manner.fr
            manner.fr = []
    return predicate(verb, features, subject, manner, placed=verb.fr.infinitive in verbs.LEADING_AWAY)


def transitive(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Eats the apple, looks for her brother."""
    verb = discourse.pick_new(verbs.TRANSITIVE[subject.kind])
    own = 1 + len(verb.particles)
    features = choose_features(discourse, verb, subject, setting, budget - own - 2)
    discourse.note_subject(subject.noun, verb)
    generic = verb.fr.infinitive in verbs.GENERIC
    style = "generic" if generic else "negated" if features.ne is not None else "free"
    if verb.fr.infinitive in verbs.KNOWN:
        style = "known"
    left = left_over(budget, verb, features)
    return predicate(verb, features, subject, setting.make(discourse, verb.objects, max(left, 1), style))


def pronominal_object(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Sees him → le voit; has seen her → l' a vue."""
    person: Person | None
    thing = discourse.thing_pronoun()
    if thing is not None and (taking := verbs.taking(thing[1])) and discourse.random() < 0.6:
        verb = discourse.pick(taking)
        person = thing[0] if subject.person is not thing[0] else None
    else:
        verb = discourse.pick(_PERSON_VERBS)
        person = other_person(discourse, subject.agreement)
    if person is None or subject.kind != "person":
        return transitive(discourse, subject, budget, setting)
    own = 2 + len(verb.particles)
    features = choose_features(discourse, verb, subject, setting, budget - own)
    discourse.note_subject(subject.noun, verb)
    word = Word(person.object, "PRON")
    if verb.link:
        return predicate(verb, features, subject, Phrase([word], []), (Mot(person.indirect, word),))
    clitic = Mot(person.direct, word)
    return predicate(verb, features, subject, Phrase([word], []), (clitic,), person.agreement)


def negative_object(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Eats nothing → ne mange rien; has seen nobody → n' a vu personne."""
    if setting.time == "infinitive" or setting.inverted or subject.negative:
        return transitive(discourse, subject, budget, setting)
    thing = discourse.random() < 0.6
    verb = discourse.pick(_NOTHING_VERBS if thing else _NOBODY_VERBS)
    features = choose_features(discourse, verb, subject, setting, min(budget - 2 - len(verb.particles), 1))
    discourse.note_subject(subject.noun, verb)
    word = Word("nothing" if thing else "nobody", "PRON")
    features.ne = word
    if thing:
        features.closing = [Mot("rien", word)]
        return predicate(verb, features, subject, Phrase([word], []))
    return predicate(verb, features, subject, Phrase([word], [Mot("personne", word)]))


def indirect(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Answers the question → répond à la question; needs a map → a besoin d' une carte."""
    verb = discourse.pick(verbs.INDIRECT[subject.kind])
    own = 1 + len(verb.particles)
    features = choose_features(discourse, verb, subject, setting, budget - own - 2)
    discourse.note_subject(subject.noun, verb)
    left = left_over(budget, verb, features)
    return predicate(
        verb, features, subject, setting.make(discourse, verb.objects, max(left, 2), "bound"), lively=False
    )


def playing(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Plays chess → joue aux échecs; plays the piano → joue du piano."""
    verb = verbs.PLAY
    features = choose_features(discourse, verb, subject, setting, budget - 3)
    discourse.note_subject(subject.noun, verb)
    if budget < 3 or discourse.random() < 0.5:
        english, article, french = discourse.pick_new(GAMES)
        word = Word(english, "NOUN")
        en = [word]
        fr = [Mot("à", None, (word,)), Mot(article, None, (word,), article=True), Mot(french, word)]
    else:
        noun = discourse.pick(verb.objects)
        the, word = Word("the", "DET"), Word(noun.en[0], "NOUN")
        en = [the, word]
        article = "la" if noun.feminine else "le"
        fr = [Mot("de", None, (the,)), Mot(article, the, article=True), Mot(noun.fr[0], word)]
    return predicate(verb, features, subject, Phrase(en, fr))


_MOTION_VERBS = (verbs.GO, verbs.GO, verbs.COME, verbs.COME_BACK)
_HOMES = nouns_in("house village city castle farm forest")


def ditransitive(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Gives him the book, or the book to him → lui donne le livre; to Marie → donne le livre à Marie."""
    verb = discourse.pick(verbs.GIVING)
    features = choose_features(discourse, verb, subject, setting, budget - 5)
    discourse.note_subject(subject.noun, verb)
    style = "negated" if features.ne is not None else "free"
    left = left_over(budget, verb, features)
    person = other_person(discourse, subject.agreement) if left < 5 or discourse.random() < 0.6 else None
    if person is not None:
        word = Word(person.object, "PRON")
        if verb.fr.infinitive == "expliquer" or discourse.random() < 0.15:
            to = Word("to", "ADP")
            gift = setting.make(discourse, verb.objects, max(min(left - 2, 4), 2), style)
            complement = Phrase([*gift.en, to, word], gift.fr)
            return predicate(
                verb, features, subject, complement, (Mot(person.indirect, word, (to,)),), lively=False
            )
        gift = setting.make(discourse, verb.objects, max(left - 1, 2), style)
        complement = Phrase([word, *gift.en], gift.fr)
        return predicate(verb, features, subject, complement, (Mot(person.indirect, word),), lively=False)
    gift = setting.make(discourse, verb.objects, 2 if left < 6 else 3, style)
    someone = setting.make(discourse, NOUNS["person"], max(left - 1 - len(gift.en), 1), "bound")
    receiver = prepositional("to", someone)
    return predicate(verb, features, subject, gift + receiver, lively=False)


def going(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Goes to the market → va au marché; comes from Italy → vient d' Italie."""
    verb = discourse.pick(_MOTION_VERBS if budget > 3 else _MOTION_VERBS[:3])
    key = "to" if verb is verbs.GO else "from"
    features = choose_features(discourse, verb, subject, setting, budget - 4)
    discourse.note_subject(subject.noun, verb)
    left = left_over(budget, verb, features)
    choice = discourse.random()
    if left < 3 or choice < 0.25:
        goal = town(discourse, key) if choice < 0.15 else country(discourse, key)
    else:
        goal = prepositional(key, setting.make(discourse, verb.objects, left - 1, "known"))
    return predicate(verb, features, subject, goal, placed=True)


def living(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Lives in London, lives near the church."""
    features = choose_features(discourse, verbs.LIVE, subject, setting, budget - 4)
    discourse.note_subject(subject.noun, verbs.LIVE)
    left = left_over(budget, verbs.LIVE, features)
    if left < 3 or discourse.random() < 0.5:
        where = town(discourse, "in") if discourse.random() < 0.6 else country(discourse, "in")
    else:
        key = discourse.pick(("in", "near"))
        homes = _HOMES if key == "in" else NOUNS["site"]
        where = prepositional(key, setting.make(discourse, homes, left - 1, "bound"))
    return predicate(verbs.LIVE, features, subject, where, placed=True, lively=False)


def putting(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Puts the key on the table."""
    features = choose_features(discourse, verbs.PUT, subject, setting, budget - 6)
    discourse.note_subject(subject.noun, verbs.PUT)
    thing = setting.make(discourse, verbs.PUT.objects, 2, "negated" if features.ne is not None else "known")
    left = left_over(budget, verbs.PUT, features) - len(thing.en)
    where = resting_place(discourse, max(left, 3), setting.make)
    return predicate(verbs.PUT, features, subject, thing + where, placed=True, lively=False)


Frame = Callable[[Discourse, NounPhrase, int, Setting], Predicate]


def modal(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Can swim, wants to see him → veut le voir, tries to open the door → essaie d' ouvrir la porte."""
    verb = discourse.pick(verbs.WITH_INFINITIVE[subject.kind])
    if setting.time == "infinitive" or (verb.auxiliary and setting.time not in ("present", "past")):
        return intransitive(discourse, subject, budget, setting)
    if verb.en.base == "must" and setting.time == "past":
        return intransitive(discourse, subject, budget, setting)
    own = 1 + len(verb.particles)
    features = choose_features(discourse, verb, subject, setting, min(budget - own - 2, 4))
    left = left_over(budget, verb, features)
    inner = choose_action(discourse, subject, max(left, 1), Setting("infinitive", setting.make))
    made = predicate(verb, features, subject, Phrase(inner.en, inner.fr), placed=inner.placed)
    made.lively = inner.lively
    return made


def choose_frame(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Build a predicate for this subject in about `budget` words, by any frame that fits."""
    tables = FRAMES.get(subject.kind, FRAMES["other"])
    frames = tables[min(budget, len(tables) - 1)]
    return discourse.pick(frames)(discourse, subject, budget, setting)


def choose_action(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Predicate:
    """Build a predicate of an action rather than a state."""
    tables = FRAMES["action"] if subject.kind == "person" else FRAMES["animal_action"]
    return discourse.pick(tables[min(budget, _MOST_WORDS)])(discourse, subject, budget, setting)


_MOST_WORDS = 16
_TABLE: dict[str, tuple[tuple[Frame, int, int], ...]] = {
    "person": (
        (intransitive, 1, 5),
        (feeling, 2, 1),
        (adjectival, 2, 4),
        (pronominal_object, 2, 4),
        (playing, 2, 1),
        (transitive, 3, 11),
        (negative_object, 2, 1),
        (profession, 3, 1),
        (living, 3, 1),
        (going, 3, 2),
        (modal, 3, 4),
        (indirect, 3, 3),
        (comparison, 4, 2),
        (located, 4, 1),
        (ditransitive, 4, 3),
        (putting, 6, 1),
    ),
    "animal": (
        (intransitive, 1, 4),
        (feeling, 2, 1),
        (adjectival, 2, 4),
        (transitive, 3, 4),
        (modal, 3, 1),
        (comparison, 4, 1),
        (located, 4, 1),
    ),
    "action": (
        (intransitive, 1, 3),
        (pronominal_object, 2, 3),
        (playing, 2, 1),
        (transitive, 3, 6),
        (indirect, 3, 1),
        (ditransitive, 4, 1),
    ),
    "animal_action": ((intransitive, 1, 1), (transitive, 3, 1)),
    "vehicle": ((intransitive, 1, 1), (adjectival, 2, 2), (comparison, 4, 1), (located, 4, 1)),
    "thing": ((intransitive, 1, 1), (adjectival, 2, 3), (comparison, 4, 1), (located, 4, 2)),
    "object": ((adjectival, 1, 3), (comparison, 4, 1), (located, 4, 1)),
    "other": ((adjectival, 1, 3), (comparison, 4, 1)),
}
"""Frame, fewest English words, weight, by the kind of subject."""


def _by_budget(rows: tuple[tuple[Frame, int, int], ...]) -> tuple[tuple[Frame, ...], ...]:
    """For every budget, the frames that fit, each as often as its weight."""
    tables = []
    for budget in range(_MOST_WORDS + 1):
        fits = [(frame, weight) for frame, fewest, weight in rows if fewest <= budget] or [(rows[0][0], 1)]
        tables.append(tuple(frame for frame, weight in fits for _ in range(weight)))
    return tuple(tables)


_PLACED = ("text", "clothes", "furniture", "food", "stuff", "drink")
FRAMES = {kind: _by_budget(rows) for kind, rows in _TABLE.items()}
FRAMES |= dict.fromkeys(_PLACED, FRAMES["object"])
