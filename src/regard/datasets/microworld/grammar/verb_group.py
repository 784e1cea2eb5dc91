"""The verb group: tenses and auxiliaries, negation, clitics, adverbs.

In: a verb, its `VerbFeatures` (tense as in English, negation, adverbs), and its agreement. Out: a `VerbGroup` whose
English auxiliary can be moved before the subject. The French side has ne, clitics, finite verb, pas, adverb and
participle in their order.
"""

from regard.datasets.microworld.french import conjugate
from regard.datasets.microworld.lexicon.entries import VerbEntry
from regard.datasets.microworld.lexicon.function_words import Agreement
from regard.datasets.microworld.tokens import Mot, Word

_BE = {"present": ("am", "are", "is"), "past": ("was", "were", "was"), "unreal": ("were", "were", "were")}
_HAVE = ("have", "have", "has")
_DO = {"present": ("do", "do", "does"), "past": ("did", "did", "did"), "unreal": ("did", "did", "did")}
_SE = ("me", "te", "se", "nous", "vous", "se")
_PARTICLE_TAGS = {
    "hungry": "ADJ", "thirsty": "ADJ", "right": "ADJ", "wrong": "ADJ", "afraid": "ADJ", "hot": "ADJ",
    "cold": "ADJ", "asleep": "ADJ", "dressed": "ADJ", "bored": "ADJ", "bed": "NOUN",
    "back": "ADV", "how": "ADV",
}  # fmt: skip
_AVOIR, _ETRE, _ALLER = conjugate("avoir"), conjugate("être"), conjugate("aller")


class VerbFeatures:
    """Tense, negation and adverbs of a verb.

    Attributes:
        tense: infinitive, present, later (present in English, future in French), progressive, past, was (was
            singing), used (used to sing), perfect, pluperfect, future, going, would, unreal (past after if).
        en: English words between auxiliary and verb: not, never, often.
        ne: the English word that French ne renders, if any.
        do: whether the negation needs do-support.
        closing: French words after the finite verb: pas, jamais, souvent.
        inverted: whether the auxiliary comes before the subject, as in a question.
    """

    __slots__ = ("closing", "do", "en", "inverted", "ne", "tense")

    def __init__(self, tense: str, inverted: bool = False) -> None:
        self.tense = tense
        self.inverted = inverted
        self.do = False
        self.en: list[Word] = []
        self.ne: Word | None = None
        self.closing: list[Mot] = []


class VerbGroup:
    """A verb in both languages; the English auxiliary comes before `en`, or before the subject.

    Attributes:
        aux: the English auxiliary.
        en: the English words after it.
        head: the English verb.
        particles: the words that belong to it.
        meaning: the word the French verb renders: the head, or dressed for the light verb in get dressed.
        fr: the French words.
    """

    __slots__ = ("aux", "en", "fr", "head", "meaning", "particles")

    def __init__(
        self, aux: Word | None, en: list[Word], head: Word, particles: list[Word], light: bool = False
    ) -> None:
        self.aux = aux
        self.en = en
        self.head = head
        self.particles = particles
        self.meaning = particles[-1] if light else head
        self.fr: list[Mot] = []


def verb_group(
    verb: VerbEntry,
    features: VerbFeatures,
    agreement: Agreement,
    clitics: tuple[Mot, ...] = (),
    preceding: Agreement | None = None,
) -> VerbGroup:
    """Build a verb in both languages.

    Args:
        verb: the verb.
        features: its tense, negation and adverbs.
        agreement: of its subject.
        clitics: French object pronouns, in order.
        preceding: the direct object, where French has it before the verb and the participle agrees with it.
    """
    group = _english(verb, features, agreement)
    if verb.reflexive:
        oneself: Word | None = None
        if verb.oneself:
            oneself = Word(_oneself(agreement), "PRON")
            group.en.append(oneself)
        besides = () if oneself else (group.head, group.meaning)
        clitics = (Mot(_SE[agreement.person], oneself, besides), *clitics)
    _french(group, verb, features, agreement, clitics, agreement if verb.etre else preceding)
    return group


def agree(participle: str, agreement: Agreement | None) -> str:
    """Make a past participle agree with subject or object."""
    if agreement is None:
        return participle
    if agreement.feminine:
        return participle + ("es" if agreement.plural else "e")
    return participle + "s" if agreement.plural and participle[-1] != "s" else participle


def _oneself(agreement: Agreement) -> str:
    person = agreement.person
    if person == 2:
        return "herself" if agreement.feminine else "himself"
    if person in (1, 4):
        return "yourselves" if agreement.plural else "yourself"
    return ("myself", "", "", "ourselves", "", "themselves")[person]


def _english(verb: VerbEntry, features: VerbFeatures, agreement: Agreement) -> VerbGroup:
    tense, english, forms = features.tense, agreement.english, verb.en
    particles = [Word(text, _PARTICLE_TAGS.get(text, "ADP")) for text in verb.particles]
    shown = "present" if tense == "later" else tense
    aux = _auxiliary(verb, features, shown, english)
    if aux is not None and aux.tag == "MODAL":
        aux.tag = "AUX"
        if aux.text == "can" and features.do:
            _cannot(features, aux)
        return VerbGroup(aux, features.en + particles, aux, particles)
    lead: list[Word] = []
    if tense == "progressive" or tense == "was":
        text = forms.ing
    elif tense == "perfect" or tense == "pluperfect":
        text = forms.participle
    elif tense == "going" or tense == "used":
        lead = [Word("going" if tense == "going" else "used", "VERB"), Word("to", "PART")]
        text = forms.base
    elif aux is not None or tense == "infinitive":
        text = forms.base
    elif shown == "present":
        text = forms.third if english == 2 else forms.base
    else:
        text = forms.past
    head = Word(text, "AUX" if text in ("be", "been") else "VERB")
    return VerbGroup(aux, features.en + lead + [head] + particles, head, lead + particles, verb.light)


def _cannot(features: VerbFeatures, can: Word) -> None:
    """Write can and not as one word, which is then linked to pas and ne as well."""
    can.text = "cannot"
    features.en = features.en[1:]
    features.ne = can
    features.closing[0].sure = can


def _auxiliary(verb: VerbEntry, features: VerbFeatures, tense: str, english: int) -> Word | None:
    """The English auxiliary; one that is the verb itself (be, can) is tagged MODAL for the caller."""
    if tense == "infinitive" or tense == "used":
        return None
    if tense in _DO:
        if verb.auxiliary:
            if verb.en.base == "be":
                return Word(_BE[tense][english], "MODAL")
            text = verb.en.base if tense == "present" else verb.en.past
            return Word(text, "MODAL")
        return Word(_DO[tense][english], "AUX") if features.inverted or features.do else None
    if tense == "progressive" or tense == "going":
        return Word(_BE["present"][english], "AUX")
    if tense == "was":
        return Word(_BE["past"][english], "AUX")
    if tense == "perfect":
        return Word(_HAVE[english], "AUX")
    return Word({"pluperfect": "had", "future": "will", "would": "would"}[tense], "AUX")


_SIMPLE = {
    "present": "present",
    "progressive": "present",
    "was": "imperfect",
    "used": "imperfect",
    "unreal": "imperfect",
    "future": "future",
    "later": "future",
    "would": "conditional",
}


def _french(
    group: VerbGroup,
    verb: VerbEntry,
    features: VerbFeatures,
    agreement: Agreement,
    clitics: tuple[Mot, ...],
    agreed: Agreement | None,
) -> None:
    """Write the French side of the group."""
    fr, tense, head, aux, meaning = group.fr, features.tense, group.head, group.aux, group.meaning
    around = tuple(word for word in (head, *group.particles) if word is not meaning)
    besides = (*around, aux) if aux is not None and aux is not head else around
    if tense == "infinitive":
        fr += clitics
        fr.append(Mot(verb.fr.infinitive, meaning, besides))
        return
    if features.ne is not None:
        link = (aux,) if aux is not None and features.do else ()
        fr.append(Mot("ne", features.ne, link))
    person = agreement.person
    if tense == "going":
        going = group.particles[0]
        fr.append(Mot(_ALLER.present[person], going, () if aux is None else (aux,)))
        fr += features.closing
        fr += clitics
        fr.append(Mot(verb.fr.infinitive, meaning, tuple(word for word in around if word is not going)))
        return
    fr += clitics
    simple = "imperfect" if tense == "past" and verb.state else _SIMPLE.get(tense)
    if simple is not None:
        fr.append(Mot(getattr(verb.fr, simple)[person], meaning, besides))
        fr += features.closing
        return
    helper = _ETRE if verb.etre else _AVOIR
    forms = helper.imperfect if tense == "pluperfect" else helper.present
    fr.append(Mot(forms[person], aux or head))
    fr += features.closing
    fr.append(Mot(agree(verb.fr.participle, agreed), meaning, around))
