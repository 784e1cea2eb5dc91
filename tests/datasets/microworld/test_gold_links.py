from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.function_words import COUNTRIES, GAMES, PROFESSIONS, TIMES, TOWNS
from regard.datasets.microworld.lexicon.nouns import ADJECTIVES, NAMES, NOUNS

FINITE = ("present", "imperfect", "future", "conditional")


def dictionary():
    """All pairs of a noun, adjective or verb with a French word that the lexicon lets it mean."""
    pairs = {(noun.en[i], noun.fr[i]) for nouns in NOUNS.values() for noun in nouns for i in (0, 1)}
    pairs |= {(name.en[0], name.fr[0]) for name in NAMES}
    pairs |= {tuple(place.split()[:2]) for place in (*TOWNS, *COUNTRIES)}
    pairs |= {(english, french) for english, _, french in GAMES}
    for one, many, masculine, feminine in PROFESSIONS:
        pairs |= {(one, masculine), (one, feminine), (many, masculine + "s"), (many, feminine + "s")}
    for expression in (expression for table in TIMES.values() for expression in table):
        pairs |= {
            (expression.en[link][0], text) for text, link in zip(expression.fr, expression.links, strict=True)
        }
    for adjective in ADJECTIVES:
        forms = {*adjective.fr, adjective.bridging, "plus"}
        pairs |= {(english, french) for english in (adjective.en, adjective.comparative) for french in forms}
    return pairs | {("better", form) for form in ("meilleur", "meilleure", "meilleurs", "meilleures")}


def french_forms(verb):
    finite = {form for tense in FINITE for form in getattr(verb.fr, tense)}
    return finite | {verb.fr.infinitive} | {verb.fr.participle + ending for ending in ("", "e", "s", "es")}


LIGHT = [verb for verb in verbs.INTRANSITIVE["person"] if verb.light]


def verb_dictionary():
    tables = (verbs.INTRANSITIVE, verbs.TRANSITIVE, verbs.INDIRECT, verbs.WITH_INFINITIVE)
    known = [verb for table in tables for found in table.values() for verb in found]
    known += [*verbs.GIVING, *verbs.WITH_CLAUSE, verbs.BECOME, verbs.SEEM, verbs.GO, verbs.LIVE, verbs.PUT]
    known += [verbs.PLAY, verbs.RAIN, verbs.SNOW, verbs.COME, verbs.COME_BACK]
    helpers = {form for verb in (verbs.BE, verbs.THERE_BE) for t in FINITE for form in getattr(verb.fr, t)}
    going = {("going", form) for form in verbs.GO.fr.present}
    pairs = set(going)
    for verb in known:
        forms = helpers if verb.light else french_forms(verb) | helpers | {verb.noun}
        pairs |= {(english, french) for english in verb.en for french in forms}
    return pairs


def test_links_are_inside_the_sentence_and_no_french_word_has_two_sure_ones(sample):
    for source, _, target, gold in sample:
        assert all(0 <= j < len(source) and 0 <= i < len(target) for j, i in gold.possible)
        assert len({i for _, i in gold.sure}) == len(gold.sure)
        assert {i for _, i in gold.possible} == set(range(len(target)))


def test_sure_links_of_content_words_are_in_the_lexicon(sample):
    known = dictionary()
    known_verbs = verb_dictionary()
    others = {
        ("many", "beaucoup"),
        ("many", "combien"),
        ("several", "plusieurs"),
        ("few", "quelques"),
    }
    feelings = {"hungry": "faim", "thirsty": "soif", "right": "raison", "wrong": "tort", "afraid": "peur"}
    others |= set(feelings.items()) | {("hot", "chaud"), ("cold", "froid")}
    others |= {
        ("sir", "monsieur"),
        ("madam", "madame"),
        ("daughter", "fille"),
        ("son", "fils"),
        ("friends", "amis"),
    }
    known |= others | {(verb.particles[-1], form) for verb in LIGHT for form in french_forms(verb)}
    for source, tags, target, gold in sample:
        for j, i in gold.sure:
            if tags[j] in ("NOUN", "PROPN", "ADJ"):
                assert (source[j], target[i]) in known, (source, target)
            if tags[j] == "VERB":
                pair = (source[j], target[i])
                assert pair in known_verbs or target[i] in ("ne", "n'"), (pair, source, target)


def test_every_content_word_is_rendered(sample):
    """Only many may share its word: trop is too for sure, and many possibly."""
    for source, tags, target, gold in sample:
        linked = {j for j, _ in gold.sure}
        for j, tag in enumerate(tags):
            if source[max(j - 1, 0) : j + 1] == ["too", "many"]:
                [trop] = [i for i in range(len(target)) if (j - 1, i) in gold.sure]
                assert target[trop] == "trop"
                assert (j, trop) in gold.possible - gold.sure
                assert (j, trop + 1) in gold.possible - gold.sure
            elif tag in ("NOUN", "PROPN", "ADJ", "NUM", "PUNCT", "CCONJ", "SCONJ"):
                assert j in linked, (source[j], source)


def test_no_longer_is_ne_and_plus(sample):
    found = 0
    for source, _, target, gold in sample:
        for j in range(len(source) - 1):
            if source[j : j + 2] == ["no", "longer"]:
                found += 1
                links = {(source[k], target[i]) for k, i in gold.sure if k in (j, j + 1)}
                assert links in ({("no", "ne"), ("longer", "plus")}, {("no", "n'"), ("longer", "plus")})
    assert found > 50


def test_one_link_for_each_french_word_is_enough(sample):
    """An oracle that links every French word to one English word, a sure one if it can, makes no error."""
    right = total = 0
    for _, _, target, gold in sample:
        chosen = set()
        for i in range(len(target)):
            links = sorted(link for link in gold.sure if link[1] == i)
            links += sorted(link for link in gold.possible if link[1] == i)
            chosen.update(links[:1])
        right += len(chosen & gold.sure) + len(chosen & gold.possible)
        total += len(chosen) + len(gold.sure)
    assert right == total > 0


SMALL_WORDS = {
    "why": {"pourquoi"},
    "when": {"quand"},
    "where": {"où"},
    "how": {"comment"},
    "who": {"qui"},
    "whose": {"dont"},
    "what": {"qu'"},
    "which": {"quel", "quelle", "quels", "quelles"},
    "because": {"parce", "que", "qu'"},
    "while": {"pendant", "que", "qu'"},
    "if": {"si", "s'"},
    "than": {"que", "qu'"},
    "with": {"avec"},
    "not": {"ne", "n'", "pas"},
    "never": {"ne", "n'", "jamais"},
    "no": {"ne", "n'"},
    "he": {"il"},
    "him": {"le", "l'", "lui"},
    "them": {"les", "leur", "eux", "elles"},
}


def test_sure_links_of_small_words_are_what_they_mean(sample):
    seen = set()
    for source, _, target, gold in sample:
        linked = {j for j, _ in gold.sure}
        for j, i in gold.sure:
            if source[j] in SMALL_WORDS:
                seen.add((source[j], target[i]))
                assert target[i] in SMALL_WORDS[source[j]], (source[j], source, target)
        assert all(j in linked for j, word in enumerate(source) if word in SMALL_WORDS and word != "how"), (
            source
        )
    assert {(english, french) for english, forms in SMALL_WORDS.items() for french in forms} - seen <= {
        ("them", "elles")
    }
